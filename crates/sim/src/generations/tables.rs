//! Page tables that are worth reading: those in which many entries were in use.
//!
//! Stands for the Bloom filters of `struct lru_gen_mm_state` (include/linux/mmzone.h); read in 6.12 and 6.18. Left out: their false positives.

use crate::load::Extent;

/// Entries of a table.
pub const TABLE: u32 = 512;

/// What is known of tables.
#[derive(Debug, Clone, Default)]
pub struct Tables {
    /// The filters: that of this generation, and that of the next.
    pub worth: [Vec<bool>; 2],
    /// A first walk reads all.
    pub has_begun: bool,
    /// This pass has read tables: from then on it moves pages by itself.
    pub is_open: bool,
}

impl Tables {
    /// Of so many tables.
    #[must_use]
    pub fn new(tables: usize) -> Tables {
        Tables { worth: [vec![true; tables], vec![true; tables]], ..Tables::default() }
    }
}

/// Tables of these regions.
#[must_use]
pub fn tables_of(regions: &[Extent]) -> usize {
    regions.iter().map(|region| region.pages.div_ceil(TABLE) as usize).sum()
}
