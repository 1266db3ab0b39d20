//! Reclaim (mm/vmscan.c): how much of which list is scanned, what becomes of a folio at its tail, and the multi-generational LRU.

pub mod lru_gen;
pub mod reclaim;
pub mod shrink_list;
