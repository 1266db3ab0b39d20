//! How many slots one read of a swap area brings.
//!
//! Stands for `swapin_nr_pages` and `__swapin_nr_pages` (mm/swap_state.c); read in 6.12.

/// State of swap read-ahead: hits and slots of the last read.
#[derive(Debug, Clone, Copy)]
pub struct Clusters {
    /// `swapin_readahead_hits`.
    pub hits: u32,
    /// The slot of the last read without hits.
    before: u32,
    /// Slots of the last read.
    window: u32,
}

impl Clusters {
    /// One count serves all areas of a machine, so what was read before the load decides on its first read, of `first` slots.
    #[must_use]
    pub fn behind(first: u32) -> Clusters {
        Clusters { hits: 0, before: 0, window: first * 2 }
    }

    /// Slots of a read at this one, `most` at most: `swapin_nr_pages`.
    pub fn swapin_nr_pages(&mut self, slot: u32, most: u32) -> u32 {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_first_read_is_as_long_as_said_and_without_hits_the_next_are_half() {
        let mut clusters = Clusters::behind(4);
        assert_eq!([100, 300, 500].map(|slot| clusters.swapin_nr_pages(slot, 8)), [4, 2, 1]);
        clusters.hits = 3;
        assert_eq!(clusters.swapin_nr_pages(700, 8), 8);
    }
}
