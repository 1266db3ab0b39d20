//! Page tables that are worth reading: those in which many entries were in use.
//!
//! Stands for the Bloom filters of `struct lru_gen_mm_state` (include/linux/mmzone.h) and for `lru_gen_use_mm` (include/linux/mm_types.h); read in 6.1,
//! 6.12 and 7.3. Left out: their false positives.

use crate::load::Extent;

/// Entries of a table.
pub const TABLE: u32 = 512;

/// Other programs have had their turn after so many nanoseconds: the lab looks at a pool every millisecond.
const TURN: u64 = 1_000_000;

/// What is known of tables.
#[derive(Debug, Clone, Default)]
pub struct Tables {
    /// The filters: that of this generation, and that of the next. One that no walk has made yet lets all pass.
    pub worth: [Vec<bool>; 2],
    /// Filters that a walk has made.
    pub is_made: [bool; 2],
    /// A first walk reads all.
    pub has_begun: bool,
    /// The program was given a processor since the last walk, having waited for a disk.
    pub has_waited: bool,
    /// When the last walk was.
    pub walked: u64,
    /// This pass has read tables: from then on it moves pages by itself.
    pub is_open: bool,
}

impl Tables {
    /// Of so many tables.
    #[must_use]
    pub fn new(tables: usize) -> Tables {
        Tables { worth: [vec![true; tables], vec![true; tables]], ..Tables::default() }
    }

    /// Whether a walk at that time reads tables at all, and all of them: those of a program that has not had its turn anew were not used.
    pub fn begin(&mut self, now: u64) -> Option<bool> {
        let is_first = !std::mem::replace(&mut self.has_begun, true);
        let has_run = std::mem::take(&mut self.has_waited) || now - self.walked >= TURN;
        (is_first || has_run).then(|| {
            self.walked = now;
            is_first
        })
    }

    /// The filter of a generation is empty.
    pub fn make(&mut self, number: usize) {
        self.worth[number].fill(false);
        self.is_made[number] = true;
    }
}

/// Tables of these regions.
#[must_use]
pub fn tables_of(regions: &[Extent]) -> usize {
    regions.iter().map(|region| region.pages.div_ceil(TABLE) as usize).sum()
}
