//! What an open file remembers of its last read-ahead window, and which pages of files are being read.
//!
//! Stands for `struct file_ra_state` (include/linux/fs.h); read in 6.12.

use crate::page::{NONE, Pages, bit};

/// Read-ahead state of an open file, in numbers among all pages.
#[derive(Debug, Clone, Copy)]
pub struct FileRaState {
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
pub struct InFlight {
    /// When the disk has read them.
    pub at: u64,
    /// Those of them that a fault asked for: until then they are locked, and no page table points to them.
    pub pages: Vec<u32>,
}

impl InFlight {
    /// What the disk has read by now is no longer locked.
    #[inline]
    pub fn arrive(&mut self, clock: u64, pages: &mut Pages) {
        if !self.pages.is_empty() && clock >= self.at {
            self.pages.drain(..).for_each(|id| _ = pages.clear(id, bit::LOCKED));
        }
    }
}

impl Default for FileRaState {
    fn default() -> FileRaState {
        FileRaState { start: 0, size: 0, ahead: 0, order: 0, misses: 0, last: NONE, next: NONE }
    }
}
