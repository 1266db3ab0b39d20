//! The tree of memory control groups: where the charge of each goes, what could be reclaimed, what others would show of it.
