//! Evicted pages that are still out of the cache (ghosts), and how far each was behind when it returned.
//!
//! Fed with the evictions and additions of one group, in order, it makes a [`GhostCurve`]: what would be left of the misses with more memory. A distance is
//! counted in *distinct pages still out*, not in evictions since: a page that went and returned ten times needs room once. A miss is the first page that one
//! task reads; the pages of the same read-ahead behind it are no misses of their own.
//!
//! What a page would have needed is that distance and what the group held when it returned. Reclaim in whole large folios moves a group's size by megabytes,
//! and more is out while it is smaller: a distance counts from the mean size of the last second.
//!
//! Memory is bounded: beyond [`MOST`] ghosts every second page, by a hash of its place, is no longer followed, and each that is counts twice.
//!
//! ```
//! use ramline_trace::{FileId, ghosts::Ghosts};
//! let file = FileId { device: 1, inode: 2 };
//! let mut ghosts = Ghosts::default();
//! for (n, page) in (0..2).cycle().take(400).enumerate() {
//!     let at = ramline_units::Nanos(n as u64 * 1_000_000);
//!     ghosts.evicted(file, page, 1);
//!     ghosts.added(at, 7, file, 1 - page, 1);
//! }
//! let curve = ghosts.curve(ramline_units::Nanos(400_000_000), ramline_units::Bytes(4096));
//! assert_eq!((curve.misses, curve.returns), (400, 399));
//! ```

mod held;
mod order;

use std::collections::BTreeMap;

use foldhash::{HashMap, HashMapExt};
use ramline_evidence::GhostBucket;
pub use ramline_evidence::{FEWEST_RETURNS, GhostCurve};
use ramline_units::{Bytes, Nanos};

use crate::FileId;
use held::Held;
use order::Order;

/// Ghosts that are followed at once, at about 85 bytes each: half of what a hash map of 2^19 places holds, so that it is tidied up in place where pages come and go,
/// and never copied into one of twice the size.
pub const MOST: usize = (1 << 19) / 16 * 7;
/// Pages of one read-ahead are added back to back; a read that waits for a disk, or a program between two reads, takes longer.
const SAME_BATCH: Nanos = Nanos(25_000);
/// So far behind the page before, a page of the same batch begins.
const NEAR: u64 = 64;
/// Tasks whose last page is remembered.
const MOST_TASKS: usize = 4096;

type Page = (FileId, u64);

/// The ghosts of one group.
#[derive(Debug)]
pub struct Ghosts {
    most: usize,
    /// One page of so many is followed: a power of two.
    sampled: u64,
    out: HashMap<Page, usize>,
    order: Order,
    last: HashMap<u32, (Page, Nanos)>,
    held: Held,
    seen: BTreeMap<u64, (u64, u64)>,
    devices: HashMap<u32, u64>,
    total: GhostCurve,
}

impl Default for Ghosts {
    fn default() -> Self {
        Ghosts::at_most(MOST)
    }
}

impl Ghosts {
    /// Follows at most so many ghosts at once.
    #[must_use]
    pub fn at_most(most: usize) -> Ghosts {
        Ghosts {
            most: most.max(2),
            sampled: 1,
            out: HashMap::new(),
            order: Order::default(),
            last: HashMap::new(),
            held: Held::default(),
            seen: BTreeMap::new(),
            devices: HashMap::new(),
            total: GhostCurve::default(),
        }
    }

    /// Reclaim evicted a folio of so many pages.
    pub fn evicted(&mut self, file: FileId, index: u64, pages: u64) {
        self.total.pages_evicted += pages;
        self.held.change(-signed(pages));
        for page in (0..pages).map(|n| (file, index.saturating_add(n))) {
            if !self.follows(page) {
                continue;
            }
            if self.out.len() >= self.most {
                self.follow_half();
                if !self.follows(page) {
                    continue;
                }
            }
            if self.order.is_full() {
                self.move_together();
            }
            let slot = self.order.push();
            if let Some(earlier) = self.out.insert(page, slot) {
                self.order.remove(earlier);
            }
        }
    }

    /// A folio of a file that was truncated, deleted or dropped went: nothing is gained by keeping it.
    pub fn dropped(&mut self, file: FileId, index: u64, pages: u64) {
        self.total.pages_dropped += pages;
        self.held.change(-signed(pages));
        for page in (0..pages).map(|n| (file, index.saturating_add(n))) {
            if let Some(slot) = self.out.remove(&page) {
                self.order.remove(slot);
            }
        }
    }

    /// A task had a folio of so many pages read.
    pub fn added(&mut self, at: Nanos, task: u32, file: FileId, index: u64, pages: u64) {
        self.total.pages_added += pages;
        *self.devices.entry(file.device).or_default() += pages;
        let begins_batch = self.begins_batch(at, task, file, index, pages);
        self.total.misses += u64::from(begins_batch);
        let above_mean = self.held.add(at, signed(pages));
        for n in 0..pages {
            let page = (file, index.saturating_add(n));
            let is_first = n == 0 && begins_batch;
            if !self.follows(page) {
                continue;
            }
            let returned = self.out.remove(&page).map(|slot| {
                let behind = self.order.from(slot);
                self.order.remove(slot);
                behind
            });
            if is_first {
                self.total.returns += u64::from(returned.is_some());
                let distance = returned.unwrap_or(self.out.len() as u64).saturating_mul(self.sampled);
                let bucket = self.seen.entry(rounded(distance.saturating_add_signed(above_mean).max(1))).or_default();
                let count = if returned.is_some() { &mut bucket.0 } else { &mut bucket.1 };
                *count += self.sampled;
            }
        }
    }

    fn begins_batch(&mut self, at: Nanos, task: u32, file: FileId, index: u64, pages: u64) -> bool {
        if self.last.len() >= MOST_TASKS && !self.last.contains_key(&task) {
            self.last.clear();
        }
        let end = index.saturating_add(pages.saturating_sub(1));
        let before = self.last.insert(task, ((file, end), at));
        !before.is_some_and(|((same, last), then)| {
            same == file && index > last && index - last <= NEAR && at.saturating_sub(then) < SAME_BATCH
        })
    }

    fn follows(&self, page: Page) -> bool {
        self.sampled == 1 || hash(page) & (self.sampled - 1) == 0
    }

    fn follow_half(&mut self) {
        self.sampled *= 2;
        let gone: Vec<(Page, usize)> =
            self.out.iter().filter(|(page, _)| !self.follows(**page)).map(|(page, slot)| (*page, *slot)).collect();
        for (page, slot) in gone {
            self.out.remove(&page);
            self.order.remove(slot);
        }
    }

    /// Slots from 0 on again, in their order.
    fn move_together(&mut self) {
        let mut all: Vec<(usize, Page)> = self.out.iter().map(|(page, slot)| (*slot, *page)).collect();
        all.sort_unstable_by_key(|(slot, _)| *slot);
        self.order = Order::with_room(2 * all.len() + 1024);
        for (_, page) in all {
            let slot = self.order.push();
            self.out.insert(page, slot);
        }
    }

    /// What was seen so far.
    #[must_use]
    pub fn curve(&self, watched: Nanos, page_size: Bytes) -> GhostCurve {
        let buckets =
            self.seen.iter().map(|(&pages, &(returned, beyond))| GhostBucket { pages, returned, beyond }).collect();
        let pages_out = (self.out.len() as u64).saturating_mul(self.sampled);
        // As the kernel counts devices: 12 bits and 20.
        let device = self
            .devices
            .iter()
            .max_by_key(|(_, pages)| **pages)
            .map(|(dev, _)| format!("{}:{}", dev >> 20, dev & 0xf_ffff));
        GhostCurve { watched, page_size, pages_out, sampled: self.sampled, device, buckets, ..self.total.clone() }
    }
}

fn signed(pages: u64) -> i64 {
    i64::try_from(pages).unwrap_or(i64::MAX)
}

/// To 128 steps a doubling, upwards: less than a hundredth too much.
fn rounded(distance: u64) -> u64 {
    let step = 1_u64 << (64 - distance.leading_zeros()).saturating_sub(8);
    distance.div_ceil(step).saturating_mul(step)
}

/// Murmur3's finaliser over the place of a page.
fn hash((file, index): Page) -> u64 {
    let mut x = file.inode.rotate_left(32) ^ index ^ (u64::from(file.device) << 40);
    for multiplier in [0xff51_afd7_ed55_8ccd, 0xc4ce_b9fe_1a85_ec53] {
        x = (x ^ (x >> 33)).wrapping_mul(multiplier);
    }
    x ^ (x >> 33)
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: FileId = FileId { device: 8, inode: 1311 };

    /// An LRU cache of so many pages, whose evictions and additions the ghosts see.
    struct Lru {
        room: usize,
        pages: Vec<u64>,
        now: u64,
        misses: u64,
    }

    impl Lru {
        fn new(room: usize) -> Lru {
            Lru { room, pages: Vec::new(), now: 0, misses: 0 }
        }

        fn touch(&mut self, page: u64, mut ghosts: Option<&mut Ghosts>) {
            self.now += 1_000_000;
            if let Some(at) = self.pages.iter().position(|held| *held == page) {
                self.pages.remove(at);
                self.pages.push(page);
                return;
            }
            self.misses += 1;
            if self.pages.len() == self.room {
                let gone = self.pages.remove(0);
                ghosts.iter_mut().for_each(|ghosts| ghosts.evicted(FILE, gone, 1));
            }
            ghosts.iter_mut().for_each(|ghosts| ghosts.added(Nanos(self.now), 1, FILE, page, 1));
            self.pages.push(page);
        }
    }

    /// Random pages of 0 to 999, the low ones more often, seeded.
    fn touches(n: u64) -> impl Iterator<Item = u64> {
        let mut state = 88_172_645_463_325_252_u64;
        (0..n).map(move |_| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            // The square of a number below 2^32, as a part of 1,000.
            let unit = state >> 32;
            (((unit * unit) >> 32) * 1000) >> 32
        })
    }

    #[test]
    fn what_is_left_with_more_memory_is_what_a_larger_lru_misses() {
        let curve_of = |most: usize| {
            let mut ghosts = Ghosts::at_most(most);
            let mut small = Lru::new(200);
            touches(60_000).for_each(|page| small.touch(page, Some(&mut ghosts)));
            (ghosts.curve(Nanos(1), Bytes(4096)), small.misses)
        };
        let (exact, small) = curve_of(MOST);
        let (halved, _) = curve_of(300);
        assert_eq!((exact.sampled, exact.misses), (1, small));
        assert!(halved.sampled > 1 && halved.pages_out.abs_diff(exact.pages_out) < exact.pages_out / 4, "{halved:?}");
        for more in [50_u64, 200, 500] {
            let mut larger = Lru::new(200 + usize::try_from(more).unwrap());
            touches(60_000).for_each(|page| larger.touch(page, None));
            let truth = larger.misses as f64 / small as f64;
            let estimate = exact.left(Bytes(4096 * more)).unwrap();
            assert!((estimate - truth).abs() < 0.01, "+{more}: {estimate} of {truth}");
            let estimate = halved.left(Bytes(4096 * more)).unwrap();
            assert!((estimate - truth).abs() < 0.05, "+{more}, half followed: {estimate} of {truth}");
        }
    }

    #[test]
    fn a_loop_over_more_than_there_is_room_for_has_its_cliff_where_it_fits() {
        let mut ghosts = Ghosts::default();
        let mut lru = Lru::new(100);
        (0..3_000_u64).for_each(|n| lru.touch(n % 150, Some(&mut ghosts)));
        let curve = ghosts.curve(Nanos(1), Bytes(4096));
        assert_eq!((curve.pages_out, curve.left(Bytes(4096 * 38))), (50, Some(1.0)));
        // The page that was evicted for the one that returns is one of 51, and the group holds one less at that moment.
        assert_eq!((curve.knee(), curve.left(Bytes(4096 * 50))), (Some(Bytes(4096 * 50)), Some(0.0)));
    }

    #[test]
    fn reclaim_of_many_pages_at_once_moves_no_distance() {
        let mut ghosts = Ghosts::default();
        let (loop_pages, room, at_once) = (1500_u64, 1000, 400);
        let mut held = std::collections::VecDeque::new();
        for n in 0..200_000_u64 {
            if held.len() == room {
                held.drain(..at_once).for_each(|page| ghosts.evicted(FILE, page, 1));
            }
            ghosts.added(Nanos(n * 100_000), 1, FILE, n % loop_pages, 1);
            held.push_back(n % loop_pages);
        }
        let curve = ghosts.curve(Nanos(20_000_000_000), Bytes(4096));
        // On the average it held 800 of 1,500; it needed 700 more, where up to 900 were out.
        let knee = curve.knee().unwrap().0 / 4096;
        assert!(knee.abs_diff(700) <= 10, "{knee}");
    }

    #[test]
    fn pages_of_one_read_ahead_are_one_miss_and_another_tasks_are_not() {
        let mut ghosts = Ghosts::default();
        let added = |ghosts: &mut Ghosts, at, task, index, pages| ghosts.added(Nanos(at), task, FILE, index, pages);
        added(&mut ghosts, 1_000, 1, 0, 1);
        added(&mut ghosts, 2_000, 1, 1, 4);
        added(&mut ghosts, 3_000, 1, 5, 1);
        assert_eq!(ghosts.curve(Nanos(1), Bytes(4096)).misses, 1);
        added(&mut ghosts, 4_000, 2, 6, 1);
        added(&mut ghosts, 90_000, 1, 6, 1);
        added(&mut ghosts, 91_000, 1, 900, 1);
        let curve = ghosts.curve(Nanos(1), Bytes(4096));
        assert_eq!((curve.misses, curve.pages_added), (4, 9));
    }

    #[test]
    fn a_page_that_is_dropped_or_evicted_again_is_one_ghost_or_none() {
        let mut ghosts = Ghosts::default();
        ghosts.evicted(FILE, 0, 4);
        ghosts.evicted(FILE, 2, 2);
        ghosts.dropped(FILE, 0, 1);
        let curve = ghosts.curve(Nanos(1), Bytes(4096));
        assert_eq!((curve.pages_out, curve.pages_evicted, curve.pages_dropped), (3, 6, 1));
        ghosts.added(Nanos(1), 1, FILE, 1, 1);
        let bucket = ghosts.curve(Nanos(1), Bytes(4096)).buckets[0];
        assert_eq!((bucket.pages, bucket.returned), (3, 1), "2 and 3 were evicted after it");
    }
}
