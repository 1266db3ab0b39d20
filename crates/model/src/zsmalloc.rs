//! zsmalloc, the allocator below zram and zswap: what a pool of compressed pages takes from memory.
//!
//! Objects have sizes from 32 bytes in steps of page/256 (16 bytes); 8 bytes of each are its handle. A zspage is a chain of 1 to `chain`
//! pages that holds as many objects of one size as fit; for each size the kernel takes the chain that wastes least, and sizes with the same
//! chain and the same number of objects share a class (mm/zsmalloc.c: calculate_zspage_chain_size, can_merge). An object for which a zspage
//! has no room beside others is huge: zram stores the page as it is. Pages of one repeated word take no object at all.
//!
//! What it is not: fragmentation by frees; a pool that lived long is larger by what `compact` would give back.
//!
//! Worked example, chain 8: objects of 2016 to 2048 bytes. 2048 is a power of two: chain 1, 2 objects a page. A length of 2000 needs an
//! object of 2008, rounded up to 2016: 8 pages hold 16 of them (512 bytes left), 1 page holds 2 (64 left): chain 1, 2 objects as well, so both are one class.
//!
//! ```
//! use ramline_evidence::pages::Lengths;
//! use ramline_model::zsmalloc::Zsmalloc;
//! let mut lengths = Lengths::new(4096);
//! [2000, 2040, 500].iter().for_each(|length| lengths.add(*length));
//! let pool = Zsmalloc::new(4096, 8).pool(&lengths);
//! // One page for the first two; 512 is a power of two: one page more.
//! assert_eq!((pool.used.0, pool.stored.0, pool.huge), (8192, 4540, 0));
//! ```

use std::collections::BTreeMap;

use ramline_evidence::pages::{HANDLE, LEAST_OBJECT, Lengths};
use ramline_units::{Bytes, JsonSchema};
use serde::{Deserialize, Serialize};

/// Chains the kernel can be built with (mm/Kconfig: ZSMALLOC_CHAIN_SIZE).
pub const CHAINS: std::ops::RangeInclusive<u64> = 4..=16;

/// A class of objects.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Class {
    /// Largest object it takes, in bytes.
    pub size: u64,
    /// Pages of a zspage.
    pub pages: u64,
    /// Objects of a zspage.
    pub objects: u64,
}

/// The classes of one kernel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Zsmalloc {
    page: u64,
    /// By object size, ascending, after merging.
    classes: BTreeMap<u64, Class>,
    huge_from: u64,
}

/// What a pool would take.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Pool {
    /// `compr_data_size`: lengths, incompressible pages as whole ones.
    pub stored: Bytes,
    /// `mem_used_total` of exactly these pages, with a zspage partly filled in each class.
    pub used: Bytes,
    /// Pages stored as they are.
    pub huge: u64,
    /// Bytes a page takes in a pool so large that partly filled zspages do not count: mean and deviation.
    pub each: f64,
    /// Standard deviation of the bytes a page takes.
    pub deviation: f64,
}

impl Zsmalloc {
    /// Of a kernel with pages of `page` bytes and chains of up to `chain` pages.
    #[must_use]
    pub fn new(page: u64, chain: u64) -> Zsmalloc {
        let step = Lengths::step(page);
        let sizes = (0..).map(|index| LEAST_OBJECT + index * step).take_while(|size| *size <= page);
        let mut classes: BTreeMap<u64, Class> = BTreeMap::new();
        let mut above: Option<Class> = None;
        let mut largest_shared = 0;
        for size in sizes.collect::<Vec<_>>().into_iter().rev() {
            let pages = chain_of(page, size, chain);
            let class = Class { size, pages, objects: pages * page / size };
            let merged = above.filter(|a| (a.pages, a.objects) == (class.pages, class.objects)).unwrap_or(class);
            if class.pages != 1 && class.objects != 1 && largest_shared == 0 {
                largest_shared = size;
            }
            classes.insert(size, merged);
            above = Some(merged);
        }
        // The kernel's watermark: the first length whose object, with its handle, is larger than that size.
        Zsmalloc { page, classes, huge_from: largest_shared.saturating_sub(HANDLE - 1) }
    }

    /// zram stores pages that compress to this many bytes or more as they are (`zs_huge_class_size`).
    #[must_use]
    pub fn huge_from(&self) -> u64 {
        self.huge_from
    }

    /// Where objects of this size go; `None` for one that is stored as it is.
    #[must_use]
    pub fn class(&self, object: u64) -> Option<Class> {
        let class = self.classes.get(&object).copied();
        class.filter(|_| object < self.huge_from + HANDLE)
    }

    /// The shortest chain of a kernel whose watermark was found to lie at `huge_from`; `None` where no chain has it.
    #[must_use]
    pub fn chain_with(page: u64, huge_from: u64) -> Option<u64> {
        CHAINS.into_iter().find(|chain| Zsmalloc::new(page, *chain).huge_from == huge_from)
    }

    /// Where a page of this compressed length goes, a page stored as it is too; nowhere if it is one repeated word (length 0).
    #[must_use]
    pub fn class_of(&self, length: u64) -> Option<Class> {
        if length == 0 {
            return None;
        }
        let step = Lengths::step(self.page);
        let object = LEAST_OBJECT + (length + HANDLE).saturating_sub(LEAST_OBJECT).div_ceil(step) * step;
        let class = (length < self.huge_from).then(|| self.class(object)).flatten();
        Some(class.unwrap_or(Class { size: self.page, pages: 1, objects: 1 }))
    }

    /// Bytes that one page of this compressed length takes in a large pool.
    #[must_use]
    pub fn bytes_of(&self, length: u64) -> u64 {
        self.class_of(length).map_or(0, |class| (class.pages * self.page).div_ceil(class.objects))
    }

    /// What pages of these lengths take.
    #[must_use]
    pub fn pool(&self, lengths: &Lengths) -> Pool {
        let mut objects: BTreeMap<Class, u64> = BTreeMap::new();
        let mut pool = Pool::default();
        let (mut sum, mut squares) = (0.0, 0.0);
        for bucket in &lengths.buckets {
            let each = match self.class(bucket.object) {
                Some(class) => {
                    *objects.entry(class).or_default() += bucket.pages;
                    pool.stored.0 += bucket.bytes;
                    (class.pages * self.page) as f64 / class.objects as f64
                }
                None => {
                    pool.huge += bucket.pages;
                    pool.stored.0 += bucket.pages * self.page;
                    self.page as f64
                }
            };
            sum += each * bucket.pages as f64;
            squares += each * each * bucket.pages as f64;
        }
        let zspages = objects.iter().map(|(class, n)| n.div_ceil(class.objects) * class.pages);
        pool.used = Bytes((zspages.sum::<u64>() + pool.huge) * self.page);
        let n = lengths.pages() as f64;
        if n > 0.0 {
            pool.each = sum / n;
            pool.deviation = (squares / n - pool.each * pool.each).max(0.0).sqrt();
        }
        pool
    }
}

/// The chain that wastes least; the first of equals.
fn chain_of(page: u64, size: u64, most: u64) -> u64 {
    if size.is_power_of_two() {
        return 1;
    }
    (1..=most).min_by_key(|pages| pages * page % size).unwrap_or(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lengths(of: &[(u64, u64)]) -> Lengths {
        let mut lengths = Lengths::new(4096);
        of.iter().for_each(|(length, pages)| (0..*pages).for_each(|_| lengths.add(*length)));
        lengths
    }

    #[test]
    fn the_chain_of_a_class_is_the_one_that_wastes_least() {
        // 8 pages hold 9 objects of 3632 bytes and leave 80; one page would leave 464.
        assert_eq!(chain_of(4096, 3632, 8), 8);
        // 9 of 3648 do not fit into 8 pages: a page each, and the rest is lost.
        assert_eq!(chain_of(4096, 3648, 8), 1);
        assert_eq!(chain_of(4096, 3264, 4), 4);
        assert_eq!(chain_of(4096, 2048, 8), 1);
    }

    #[test]
    fn the_watermark_of_huge_pages_tells_the_chain() {
        assert_eq!([4, 8].map(|chain| Zsmalloc::new(4096, chain).huge_from()), [3257, 3625]);
        let told = |chain| Zsmalloc::chain_with(4096, Zsmalloc::new(4096, chain).huge_from());
        // With 15 and with 16 it lies at the same length.
        assert!({ CHAINS }.all(|chain| told(chain) == Some(chain.min(15))));
        assert_eq!(Zsmalloc::chain_with(4096, 3000), None);
    }

    #[test]
    fn a_pool_is_counted_by_hand() {
        let zs = Zsmalloc::new(4096, 8);
        // 9 objects of 3632 fill one zspage of 8 pages, the tenth takes another; 4 huge pages are kept as they are.
        let pool = zs.pool(&lengths(&[(3624, 10), (3625, 4)]));
        assert_eq!((pool.used.0, pool.stored.0, pool.huge), ((16 + 4) * 4096, 10 * 3624 + 4 * 4096, 4));
        // In a large pool each of the ten takes 8/9 of a page.
        assert!((pool.each - (10.0 * 8.0 * 4096.0 / 9.0 + 4.0 * 4096.0) / 14.0).abs() < 1e-6, "{}", pool.each);
        assert_eq!(zs.pool(&lengths(&[])), Pool::default());
    }

    #[test]
    fn sizes_with_the_same_chain_and_number_of_objects_share_a_class() {
        let zs = Zsmalloc::new(4096, 8);
        assert_eq!(zs.class(2016), zs.class(2048));
        let distinct: std::collections::BTreeSet<Class> = zs.classes.values().copied().collect();
        assert_eq!((zs.classes.len(), distinct.len()), (255, distinct.len()));
        assert!(distinct.len() < 255 && zs.class(3648).is_none() && zs.class(4096).is_none());
    }
}
