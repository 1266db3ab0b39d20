//! The multi-generational LRU: pages on lists by generation, each kind with up to four of them.
//!
//! `aging` makes generations (`walk` reads page tables for it), `evict` empties the oldest (`sort` says which of its pages), `shrink` says how much. What
//! is known of generations stands in `crate::generations`, their lists in `crate::memory`, what the coming back of a page means in `crate::refault`. Left
//! out: the lists of groups, `min_ttl_ms`.

mod aging;
pub mod evict;
pub mod shrink;
mod sort;
#[cfg(test)]
mod tests;
mod walk;
