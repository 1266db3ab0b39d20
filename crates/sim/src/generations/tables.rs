//! Page tables that are worth reading: those in which many entries were in use.
//!
//! Stands for the Bloom filters of `struct lru_gen_mm_state` (include/linux/mmzone.h) and for `lru_gen_use_mm` (include/linux/mm_types.h); read in 6.1,
//! 6.12 and 7.3. Left out: their false positives.

use crate::load::Extent;

/// Entries of a table.
pub const TABLE: u32 = 512;

/// The program is switched to after this number of nanoseconds at least: assumed. Only two agings within it differ by this.
const TURN: u64 = 1_000_000;

/// State of page tables.
#[derive(Debug, Clone, Default)]
pub struct Tables {
    /// The filters: that of this generation, and that of the next. One that no walk has made yet lets all pass.
    pub worth: [Vec<bool>; 2],
    /// This pass has aged: from then on it moves pages by itself.
    pub is_open: bool,
    /// The program waited for a disk since the last walk, so that it was switched to.
    pub has_waited: bool,
    /// When the last walk was, if there was one.
    walked: Option<u64>,
}

impl Tables {
    /// For a number of tables.
    #[must_use]
    pub fn new(tables: usize) -> Tables {
        Tables { worth: [vec![true; tables], vec![true; tables]], ..Tables::default() }
    }

    /// Whether a walk at that time reads tables: the kernel takes those of a program that was not switched to since the last walk to be unused.
    pub fn begin(&mut self, now: u64) -> bool {
        let was_switched_to = std::mem::take(&mut self.has_waited);
        let goes = was_switched_to || self.walked.is_none_or(|at| now.saturating_sub(at) >= TURN);
        if goes {
            self.walked = Some(now);
        }
        goes
    }
}

#[must_use]
pub fn tables_of(regions: &[Extent]) -> usize {
    regions.iter().map(|region| region.pages.div_ceil(TABLE) as usize).sum()
}
