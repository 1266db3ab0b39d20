//! Miss ratio curves: of all page touches, how many would miss in a memory of each size, with plain LRU and with Belady's choice.
//!
//! Not the kernel: it has two lists of each kind, and looks at neither order nor future. Plain LRU is what such a trace is usually judged by; no
//! policy that loads pages when they are touched misses less than Belady's, which takes the page whose next touch is farthest.
//!
//! ```
//! use ramline_trace::curve::{Accesses, belady_misses};
//! let mut accesses = Accesses::default();
//! [1, 2, 3, 1, 2, 3].iter().for_each(|page| assert!(accesses.add(0, *page)));
//! assert_eq!([2, 3].map(|pages| accesses.lru_misses(pages)), [6, 3]);
//! assert_eq!(belady_misses(accesses.order().unwrap(), 2), 4);
//! ```

mod belady;
mod lru;

use std::io::Read;

use ramline_units::{Bytes, JsonSchema};
use serde::{Deserialize, Serialize};

pub use belady::belady_misses;
use lru::Distances;

use crate::numbering::{PageNumbers, touches_within};
use crate::touches::{Backing, EpochAccess, Maker, Reader, Record, TouchesError};

/// The order of touches is kept for Belady's choice up to so many: 4 bytes each, and as much again while it is simulated.
const MOST_KEPT: usize = 200_000_000;
/// Sizes that are shown where none are asked for, in 64ths of the pages that are touched.
const SIZES: [u64; 12] = [1, 2, 4, 8, 12, 16, 24, 32, 40, 48, 56, 64];

/// How many misses there are, by the size of memory.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct MissCurve {
    /// Bytes of a page.
    pub page_size: Bytes,
    /// The file was read to an index that agrees; else this is the curve of what was whole.
    pub whole: bool,
    /// Touches of pages; a read(2) of three pages is three.
    pub touches: u64,
    /// Pages touched at least once: the misses of any memory.
    pub distinct_pages: u64,
    /// The same in bytes.
    pub distinct_size: Bytes,
    /// Sizes, ascending.
    pub points: Vec<CurvePoint>,
    /// Of a recording: a touch is a page in an epoch, in an order that is not known; the most pages of one epoch. The curve is uncertain in a memory that is not several times as
    /// large.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub of_an_epoch: Option<Bytes>,
    /// Of a recording: private and shared memory alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory: Option<Box<MissCurve>>,
    /// Of a recording: files alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub files: Option<Box<MissCurve>>,
}

/// One size of memory.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct CurvePoint {
    /// The size.
    pub size: Bytes,
    /// The size as a share of the pages touched.
    pub share: Option<f64>,
    /// Misses with plain LRU.
    pub lru_misses: u64,
    /// The same, of all touches.
    pub lru_ratio: Option<f64>,
    /// Misses with Belady's choice; absent where there are too many touches to keep their order.
    pub belady_misses: Option<u64>,
    /// The same, of all touches.
    pub belady_ratio: Option<f64>,
}

/// Touches of pages, one after the other.
#[derive(Debug, Default)]
pub struct Accesses {
    pages: PageNumbers,
    distances: Distances,
    order: Vec<u32>,
    dropped: bool,
    /// Of these so many are kept.
    kept: Option<usize>,
}

impl Accesses {
    /// For as many pages and touches as fit into so many bytes.
    #[must_use]
    pub fn within(room: u64) -> Accesses {
        Accesses { pages: PageNumbers::within(room), kept: Some(touches_within(room)), ..Accesses::default() }
    }

    /// The next touch; false where there are more pages than 32 bits can number, or than may be: it is not counted.
    #[must_use]
    pub fn add(&mut self, region: u32, page: u64) -> bool {
        let Some(number) = self.pages.number(region, page) else { return false };
        self.distances.touch(number);
        if !self.dropped && self.order.len() < self.kept.unwrap_or(MOST_KEPT).min(MOST_KEPT) {
            self.order.push(number);
        } else {
            (self.dropped, self.order) = (true, Vec::new());
        }
        true
    }

    fn add_all(&mut self, region: u32, mut pages: std::ops::Range<u64>) -> Result<(), TouchesError> {
        match pages.all(|page| self.add(region, page)) {
            true => Ok(()),
            false => Err(self.pages.beyond()),
        }
    }

    /// Misses of plain LRU in a memory of so many pages.
    #[must_use]
    pub fn lru_misses(&self, pages: u64) -> u64 {
        self.distances.misses(pages)
    }

    /// The pages in their order, by dense numbers; `None` where there were too many.
    #[must_use]
    pub fn order(&self) -> Option<&[u32]> {
        (!self.dropped).then_some(&self.order)
    }
}

impl MissCurve {
    /// The curve of a file, which is read to its end. `sizes`: of memory, or none for twelve of what is touched.
    ///
    /// # Errors
    /// The file is damaged, or reading fails; it touches more than 2^32 pages, or than fit into [`Reader::room`].
    pub fn from_reader(reader: &mut Reader<impl Read>, sizes: &[Bytes]) -> Result<MissCurve, TouchesError> {
        let page_size = reader.header().page;
        // Of a recording there are three.
        let is_recording = reader.header().origin.maker == Maker::Recorder;
        let room = if is_recording { reader.room() / 2 } else { reader.room() };
        let (mut accesses, mut apart) = (Accesses::within(room), [0, 1].map(|_| Accesses::within(room / 2)));
        let (mut time, mut of_epoch, mut most) = (0, 0_u64, 0);
        while let Some(record) = reader.next_record()? {
            match record {
                Record::Touch(touch) => {
                    let pages = touch.pages(page_size);
                    accesses.add_all(touch.region, pages)?;
                }
                Record::Epoch(epoch) => {
                    of_epoch = if epoch.time_ns == time { of_epoch } else { 0 };
                    time = epoch.time_ns;
                    let backing = reader.regions().get(epoch.region as usize).map(|region| &region.backing);
                    let [memory, files] = &mut apart;
                    let kind = if matches!(backing, Some(Backing::File { .. })) { files } else { memory };
                    for run in &epoch.pages {
                        of_epoch += if epoch.by == EpochAccess::Mapped { run.count } else { 0 };
                        accesses.add_all(epoch.region, run.first..run.end())?;
                        kind.add_all(epoch.region, run.first..run.end())?;
                    }
                    most = of_epoch.max(most);
                }
                _ => {}
            }
        }
        let whole = reader.is_whole();
        let curve = accesses.curve(page_size, sizes, whole);
        let [memory, files] = apart
            .map(|one| (is_recording && one.pages.count() > 0).then(|| Box::new(one.curve(page_size, sizes, whole))));
        let of_an_epoch = is_recording.then_some(Bytes(most.saturating_mul(page_size.into())));
        Ok(MissCurve { of_an_epoch, memory, files, ..curve })
    }
}

impl Accesses {
    fn curve(&self, page_size: u32, sizes: &[Bytes], whole: bool) -> MissCurve {
        let (page, distinct) = (u64::from(page_size.max(1)), self.pages.count() as u64);
        let mut pages: Vec<u64> = sizes.iter().map(|size| size.0 / page).collect();
        if pages.is_empty() {
            pages = SIZES.iter().map(|part| (distinct * part).div_ceil(64)).collect();
        }
        pages.retain(|&pages| pages > 0);
        pages.sort_unstable();
        pages.dedup();
        let touches = self.distances.touches();
        let of_all = |misses: u64| Bytes(misses).share_of(Bytes(touches));
        let point = |&pages: &u64| {
            let (lru, belady) = (self.lru_misses(pages), self.order().map(|order| belady_misses(order, pages)));
            CurvePoint {
                size: Bytes(pages.saturating_mul(page)),
                share: Bytes(pages).share_of(Bytes(distinct)),
                lru_misses: lru,
                lru_ratio: of_all(lru),
                belady_misses: belady,
                belady_ratio: belady.and_then(of_all),
            }
        };
        MissCurve {
            page_size: Bytes(page),
            whole,
            touches,
            distinct_pages: distinct,
            distinct_size: Bytes(distinct.saturating_mul(page)),
            points: pages.iter().map(point).collect(),
            of_an_epoch: None,
            memory: None,
            files: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use ramline_evidence::rng::SplitMix64;

    use super::*;

    /// Pages of which a few are touched often.
    fn skewed(touches: usize, pages: u64, seed: u64) -> Vec<u64> {
        let mut random = SplitMix64::new(seed);
        (0..touches)
            .map(|_| {
                let bound = random.below(pages) + 1;
                random.below(bound)
            })
            .collect()
    }

    fn from_order(order: &[u64]) -> Accesses {
        let mut accesses = Accesses::default();
        order.iter().for_each(|page| assert!(accesses.add(0, *page)));
        accesses
    }

    /// A list, the last touched at its end.
    fn lru_by_hand(order: &[u64], size: usize) -> u64 {
        let (mut list, mut misses) = (Vec::new(), 0);
        for page in order {
            match list.iter().position(|held| held == page) {
                Some(at) => drop(list.remove(at)),
                None => misses += 1,
            }
            list.push(*page);
            if list.len() > size {
                list.remove(0);
            }
        }
        misses
    }

    /// Of every choice of what to give up, the best.
    fn least_by_trying_all(order: &[u64], held: &[u64], size: usize) -> u64 {
        let Some((page, rest)) = order.split_first() else { return 0 };
        if held.contains(page) {
            return least_by_trying_all(rest, held, size);
        }
        let with = |held: &[u64]| 1 + least_by_trying_all(rest, &[held, &[*page]].concat(), size);
        if held.len() < size {
            return with(held);
        }
        let without = |gone: &u64| with(&held.iter().copied().filter(|page| page != gone).collect::<Vec<_>>());
        held.iter().map(without).min().unwrap()
    }

    #[test]
    fn lru_misses_are_those_of_a_list_at_every_size() {
        for seed in 0..4 {
            let order = skewed(5000, 300, seed);
            let accesses = from_order(&order);
            for size in [1, 2, 7, 64, 150, 299, 300, 1000] {
                assert_eq!(accesses.lru_misses(size as u64), lru_by_hand(&order, size), "size {size}, seed {seed}");
            }
        }
    }

    #[test]
    fn belady_misses_are_the_least_there_can_be() {
        for seed in 0..200 {
            let (order, size) = (skewed(14, 6, seed), 2 + usize::from(seed % 2 == 0));
            let least = least_by_trying_all(&order, &[], size);
            assert_eq!(belady_misses(from_order(&order).order().unwrap(), size as u64), least, "seed {seed}");
        }
    }

    #[test]
    fn what_does_not_fit_into_memory_is_refused_and_the_order_is_given_up_first() {
        let (mut few, mut one) = (Accesses::within(128 * 2 * 10), Accesses::within(16 * 2 * 64));
        assert!((0..10).all(|page| few.add(0, page)) && few.add(0, 3) && !few.add(0, 10));
        assert!(few.pages.beyond().to_string().contains("memory that can be taken"));
        assert!((0..200).all(|_| one.add(0, 1)));
        assert_eq!((one.order(), one.lru_misses(1), one.order.len()), (None, 1, 0));
    }

    #[test]
    fn no_size_misses_more_than_a_smaller_one_and_belady_never_more_than_lru() {
        let curve = from_order(&skewed(50_000, 5000, 7)).curve(4096, &[], true);
        assert_eq!(curve.points.len(), 12);
        for pair in curve.points.windows(2) {
            assert!(pair[0].lru_misses >= pair[1].lru_misses && pair[0].belady_misses >= pair[1].belady_misses);
        }
        for point in &curve.points {
            let belady = point.belady_misses.unwrap();
            assert!(belady <= point.lru_misses && belady >= curve.distinct_pages);
        }
        let last = curve.points.last().unwrap();
        assert_eq!((last.lru_misses, last.belady_misses), (curve.distinct_pages, Some(curve.distinct_pages)));
    }
}
