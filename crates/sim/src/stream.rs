//! What an open file remembers of what was read, and how long its next window is.
//!
//! Stands for `struct file_ra_state` (include/linux/fs.h), `get_init_ra_size` and `get_next_ra_size` (mm/readahead.c); read in 6.12.

use crate::page::{NONE, Pages, bit};

/// What an open file remembers, in numbers among all pages.
#[derive(Debug, Clone, Copy)]
pub struct Stream {
    /// The first page of the last window.
    pub start: u32,
    /// Its pages.
    pub size: u32,
    /// So many pages before its end the next window is asked for.
    pub ahead: u32,
    /// `order` of the folios of the last window.
    pub order: u32,
    /// `mmap_miss`.
    pub misses: u32,
    /// The page with the last byte that was read.
    pub last: u32,
    /// The page with the byte behind it.
    pub next: u32,
}

/// Pages of files that were asked for before anyone needs them.
#[derive(Debug, Default)]
pub struct Coming {
    /// When the disk has read them.
    pub at: u64,
    /// Those of them that a fault asked for: until then they are locked, and no page table points to them.
    pub pages: Vec<u32>,
}

impl Coming {
    /// What the disk has read by now is no longer locked.
    #[inline]
    pub fn arrive(&mut self, clock: u64, pages: &mut Pages) {
        if !self.pages.is_empty() && clock >= self.at {
            self.pages.drain(..).for_each(|id| _ = pages.clear(id, bit::LOCKED));
        }
    }
}

impl Default for Stream {
    fn default() -> Stream {
        Stream { start: 0, size: 0, ahead: 0, order: 0, misses: 0, last: NONE, next: NONE }
    }
}

/// `get_init_ra_size`.
#[must_use]
pub const fn first_window(n: u32, most: u32) -> u32 {
    let size = n.next_power_of_two();
    if size <= most / 32 {
        size * 4
    } else if size <= most / 4 {
        size * 2
    } else {
        most
    }
}

/// `get_next_ra_size`.
#[must_use]
pub const fn next_window(size: u32, most: u32) -> u32 {
    if size < most / 16 {
        size * 4
    } else if size <= most / 2 {
        size * 2
    } else {
        most
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_begin_small_and_double() {
        // With 128 KiB: the first window has four pages, the next ones 8, 16 and 32.
        assert_eq!([1, 2, 8, 9].map(|n| first_window(n, 32)), [4, 4, 16, 32]);
        assert_eq!([1, 4, 8, 16, 32].map(|n| next_window(n, 32)), [4, 8, 16, 32, 32]);
    }
}
