//! Pages by dense numbers: the first page that is touched is 0, the next new one 1, and so on.
//!
//! ```
//! use ramline_trace::numbering::PageNumbers;
//! let mut pages = PageNumbers::default();
//! assert_eq!([pages.number(0, 500), pages.number(1, 500), pages.number(0, 500)], [Some(0), Some(1), Some(0)]);
//! assert_eq!(pages.count(), 2);
//! ```

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::hash::{BuildHasherDefault, DefaultHasher};

use crate::touches::TouchesError;

/// Region and page in one number: pages are below 2^40 ([`crate::touches::MOST_PAGES`]), regions below 2^20.
#[must_use]
pub fn key(region: u32, page: u64) -> u64 {
    u64::from(region) << 40 | page
}

/// Bytes of a page in the largest of what is counted by number (a miss curve): 17 of 7/8 of a table that doubles, with the old one beside the new; three arrays
/// that double as well.
const BYTES_OF_A_PAGE: u64 = 128;
/// Bytes of a touch whose place in the order is kept: 4, in an array that doubles, and as much again for what is made of it.
const BYTES_OF_A_TOUCH: u64 = 16;

/// Gives numbers to pages. It takes about 20 bytes a page.
#[derive(Debug, Default)]
pub struct PageNumbers {
    /// The same keys in every run: the order of nothing depends on them.
    numbers: HashMap<u64, u32, BuildHasherDefault<DefaultHasher>>,
    /// No more than so many, where memory is bounded.
    most: Option<u64>,
}

/// How many touches are kept in half of so many bytes; the other half is for pages.
#[must_use]
pub fn touches_within(room: u64) -> usize {
    usize::try_from(room / 2 / BYTES_OF_A_TOUCH).unwrap_or(usize::MAX)
}

impl PageNumbers {
    /// For as many pages as are counted in half of so many bytes.
    #[must_use]
    pub fn within(room: u64) -> PageNumbers {
        PageNumbers { most: Some(room / 2 / BYTES_OF_A_PAGE), ..PageNumbers::default() }
    }

    /// Why a page has no number.
    #[must_use]
    pub fn beyond(&self) -> TouchesError {
        match self.is_full() {
            true => {
                TouchesError::Beyond("it touches more pages than can be counted in the memory that can be taken here")
            }
            false => TouchesError::Beyond("it touches more than 2^32 pages"),
        }
    }

    /// There is no memory for another page.
    #[must_use]
    pub fn is_full(&self) -> bool {
        self.most.is_some_and(|most| self.numbers.len() as u64 >= most)
    }

    /// The number of a page; `None` where there are more than 32 bits of them, or than may be.
    pub fn number(&mut self, region: u32, page: u64) -> Option<u32> {
        self.number_for_key(key(region, page))
    }

    /// The number of a page by any 64 bits that name it.
    pub fn number_for_key(&mut self, key: u64) -> Option<u32> {
        let (next, full) = (u32::try_from(self.numbers.len()).ok()?, self.is_full());
        match self.numbers.entry(key) {
            Entry::Occupied(known) => Some(*known.get()),
            Entry::Vacant(_) if full => None,
            Entry::Vacant(new) => Some(*new.insert(next)),
        }
    }

    /// How many there are.
    #[must_use]
    pub fn count(&self) -> usize {
        self.numbers.len()
    }
}
