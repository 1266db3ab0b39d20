//! How many slots one read of a swap area brings.
//!
//! Stands for `swapin_nr_pages` and `__swapin_nr_pages` (mm/swap_state.c); read in 6.12.

/// What the last reads were worth.
#[derive(Debug, Clone, Copy)]
pub struct Clusters {
    /// `swapin_readahead_hits`.
    pub hits: u32,
    /// The slot of the last read without hits.
    before: u32,
    /// Slots of the last read.
    window: u32,
}

impl Default for Clusters {
    fn default() -> Clusters {
        Clusters { hits: 4, before: 0, window: 0 }
    }
}

impl Clusters {
    /// Slots of a read at this one, `most` at most.
    pub fn window(&mut self, slot: u32, most: u32) -> u32 {
        let hits = std::mem::take(&mut self.hits);
        let is_beside = slot.abs_diff(self.before) == 1;
        let pages = match hits {
            0 if is_beside => 2,
            0 => 1,
            hits => (hits + 2).next_power_of_two().max(4),
        };
        if hits == 0 {
            self.before = slot;
        }
        self.window = pages.min(most).max(self.window / 2).max(1);
        self.window
    }
}
