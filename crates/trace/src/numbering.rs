//! Pages by dense numbers: the first page that is touched is 0, the next new one 1, and so on.
//!
//! ```
//! use ramline_trace::numbering::PageNumbers;
//! let mut pages = PageNumbers::default();
//! assert_eq!([pages.of(0, 500), pages.of(1, 500), pages.of(0, 500)], [Some(0), Some(1), Some(0)]);
//! assert_eq!(pages.count(), 2);
//! ```

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, DefaultHasher};

/// Region and page in one number: pages are below 2^40 ([`crate::touches::MOST_PAGES`]), regions below 2^20.
#[must_use]
pub fn key(region: u32, page: u64) -> u64 {
    u64::from(region) << 40 | page
}

/// Gives numbers to pages. It takes about 20 bytes a page.
#[derive(Debug, Default)]
pub struct PageNumbers {
    /// The same keys in every run: the order of nothing depends on them.
    numbers: HashMap<u64, u32, BuildHasherDefault<DefaultHasher>>,
}

impl PageNumbers {
    /// The number of a page; `None` where there are more than 32 bits of them.
    pub fn of(&mut self, region: u32, page: u64) -> Option<u32> {
        self.of_key(key(region, page))
    }

    /// The same by any 64 bits that name it.
    pub fn of_key(&mut self, key: u64) -> Option<u32> {
        let next = u32::try_from(self.numbers.len()).ok()?;
        Some(*self.numbers.entry(key).or_insert(next))
    }

    /// How many there are.
    #[must_use]
    pub fn count(&self) -> usize {
        self.numbers.len()
    }
}
