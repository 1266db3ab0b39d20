//! Which pages of a recording there are, and their numbers in the simulation.
//!
//! What it is not: a table of single pages. Pages are bits, 512 in a row, as many as a page table points to.

use std::collections::BTreeMap;

use super::{PAGE, Stretch, memory_of};
use crate::error::TouchesError;
use crate::touch::{Memory, Region};
use crate::touches::{self, EpochAccess, Run};

/// Pages that one page table points to, and of a row of bits.
pub const CHUNK: u64 = 512;
/// Bytes of memory for a row: its bits, its key and its number, in nodes that are half full.
const OF_A_ROW: u64 = 2 * (64 + 16 + 8);
/// Pages around one that read-ahead and the mapping of a fault may bring: a block of 16 before it, a window of 128 KiB behind it.
const BEFORE: u64 = 16;
const BEHIND: u64 = 32;
const TOO_MANY: &str = "it touches more pages than can be counted in the memory that can be taken here";
/// Pages have numbers below this in a simulation.
const MOST: u64 = 1 << 29;
/// Bytes of memory that a page of a simulation takes at least, its marks here among it.
const OF_A_PAGE: u64 = 64;
/// A file that is touched at places so far apart, and in fewer of its pages than one of so many: those are counted without gaps.
const LARGE: u64 = 1 << 18;
const SPARSE: u64 = 16;
/// Files that are regions of their own; pages of the others lie in one region behind each other.
const FILES: usize = 4000;

/// The pages of each region.
#[derive(Debug, Default)]
pub struct Numbering {
    rows: BTreeMap<(u32, u64), Row>,
    most: u64,
}

#[derive(Debug, Default, Clone, Copy)]
struct Row {
    bits: [u64; 8],
    /// Pages of the same simulated region before it.
    before: u32,
}

/// Where the pages of a region are in the simulation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    region: u32,
    /// Of a file: its page at the beginning of the region, and where this stands; of others they are counted without gaps.
    from: Option<(u64, u32)>,
}

impl Row {
    fn set(&mut self, at: u64) {
        if let Some(word) = self.bits.get_mut((at / 64) as usize) {
            *word |= 1 << (at % 64);
        }
    }

    fn count(&self) -> u32 {
        self.bits.iter().map(|word| word.count_ones()).sum()
    }

    /// Pages of the row before one; all of it where that is behind the row.
    fn rank(&self, at: u64) -> u32 {
        if at >= CHUNK {
            return self.count();
        }
        let whole: u32 = self.bits.iter().take((at / 64) as usize).map(|word| word.count_ones()).sum();
        let part = self.bits.get((at / 64) as usize).map_or(0, |word| (word & ((1 << (at % 64)) - 1)).count_ones());
        whole + part
    }

    fn ends(&self) -> Option<(u64, u64)> {
        let mut set =
            (0..CHUNK).filter(|at| self.bits.get((at / 64) as usize).is_some_and(|word| word >> (at % 64) & 1 == 1));
        let first = set.next()?;
        Some((first, set.next_back().unwrap_or(first)))
    }
}

impl Numbering {
    /// For as many pages as are kept in so many bytes.
    pub fn within(room: u64) -> Numbering {
        Numbering { rows: BTreeMap::new(), most: room / OF_A_ROW }
    }

    /// These pages are there.
    pub fn add(&mut self, region: u32, run: Run) -> Result<(), TouchesError> {
        let mut page = run.first;
        while page < run.end() {
            let row = self.rows.entry((region, page / CHUNK)).or_default();
            let end = run.end().min((page / CHUNK + 1) * CHUNK);
            (page..end).for_each(|page| row.set(page % CHUNK));
            page = end;
            if self.rows.len() as u64 > self.most {
                return Err(TouchesError::Beyond(TOO_MANY));
            }
        }
        Ok(())
    }

    /// Page tables of private anonymous memory.
    pub fn anonymous_tables(&self, regions: &[touches::Region]) -> u64 {
        let is_anonymous = |region: &u32| {
            regions.get(*region as usize).is_some_and(|one| memory_of(&one.backing) == Memory::Anonymous)
        };
        self.rows.keys().filter(|(region, _)| is_anonymous(region)).count() as u64
    }

    /// Gives the simulated regions, and where each recorded one is among them.
    /// They have so many bytes of memory.
    pub fn numbered(
        &mut self,
        regions: &[touches::Region],
        room: u64,
    ) -> Result<(Vec<Region>, Vec<Option<Place>>), TouchesError> {
        let mut ends: BTreeMap<u32, (u64, u64)> = BTreeMap::new();
        for ((region, chunk), row) in &self.rows {
            let Some((first, last)) = row.ends() else { continue };
            let (first, last) = (chunk * CHUNK + first, chunk * CHUNK + last);
            let known = ends.entry(*region).or_insert((first, last));
            known.1 = last.max(known.1);
        }
        let mut out: Vec<Region> = Vec::new();
        let mut places = vec![None; regions.len()];
        let too_many = || TouchesError::Beyond("it touches more than 2^29 pages");
        let (mut last, mut sparse): (Option<u32>, Vec<u32>) = (None, Vec::new());
        for (region, (first, end)) in ends {
            let Some(one) = regions.get(region as usize) else { continue };
            if memory_of(&one.backing) != Memory::File {
                continue;
            }
            let known =
                self.rows.range((region, 0)..=(region, u64::MAX)).map(|(_, row)| u64::from(row.count())).sum::<u64>();
            if end - first >= LARGE && (end - first) / SPARSE > known {
                sparse.push(region);
                continue;
            }
            let first = first - first % BEFORE;
            let whole = one.bytes.div_ceil(PAGE.into()).max(end + 1);
            let pages = (end + 1 + BEHIND).min(whole) - first;
            let at = if out.len() < FILES {
                out.push(Region { memory: Memory::File, bytes: 0 });
                last = u32::try_from(out.len() - 1).ok();
                0
            } else {
                out.last().map_or(0, |region| region.bytes / u64::from(PAGE))
            };
            let at = u32::try_from(at).map_err(|_| too_many())?;
            if let Some(region) = out.last_mut() {
                region.bytes += pages * u64::from(PAGE);
            }
            if let (Some(place), Some(last)) = (places.get_mut(region as usize), last) {
                *place = Some(Place { region: last, from: Some((first, at)) });
            }
        }
        for memory in [Memory::File, Memory::Anonymous, Memory::Shared] {
            let number = u32::try_from(out.len()).map_err(|_| too_many())?;
            let mut pages = 0_u32;
            for ((region, _), row) in &mut self.rows {
                let is_of_it = regions.get(*region as usize).is_some_and(|one| memory_of(&one.backing) == memory);
                if !is_of_it || (memory == Memory::File && !sparse.contains(region)) {
                    continue;
                }
                row.before = pages;
                pages = pages.checked_add(row.count()).ok_or_else(too_many)?;
                if let Some(place) = places.get_mut(*region as usize) {
                    *place = Some(Place { region: number, from: None });
                }
            }
            if pages > 0 {
                out.push(Region { memory, bytes: u64::from(pages) * u64::from(PAGE) });
            }
        }
        let all = out.iter().map(|region| region.bytes / u64::from(PAGE)).fold(0, u64::saturating_add);
        if all >= MOST {
            return Err(too_many());
        }
        if all.saturating_mul(OF_A_PAGE) > room {
            return Err(TouchesError::Beyond(TOO_MANY));
        }
        Ok((out, places))
    }

    /// Gives the simulated pages of a run that are known, in order.
    pub fn each(&self, places: &[Option<Place>], region: u32, run: Run, mut give: impl FnMut(Stretch)) {
        let Some(place) = places.get(region as usize).copied().flatten() else { return };
        if let Some((from, at)) = place.from {
            let small = |page: u64| u32::try_from(page).ok();
            let first = run.first.checked_sub(from).and_then(small).and_then(|first| first.checked_add(at));
            if let (Some(first), Some(count)) = (first, small(run.count)) {
                give(Stretch { region: place.region, first, count, by: EpochAccess::Mapped });
            }
            return;
        }
        let mut next: Option<Stretch> = None;
        let chunks = (region, run.first / CHUNK)..=(region, run.end().saturating_sub(1) / CHUNK);
        // What is given back may be more than was ever seen: pages without a number are passed over.
        for ((_, chunk), row) in self.rows.range(chunks) {
            let (begin, end) = (chunk * CHUNK, (chunk + 1) * CHUNK);
            let before = row.rank(run.first.saturating_sub(begin).min(CHUNK));
            let (first, behind) = (row.before + before, row.before + row.rank(run.end().min(end) - begin));
            match &mut next {
                _ if first == behind => {}
                Some(stretch) if stretch.first + stretch.count == first => stretch.count += behind - first,
                other => {
                    let (count, by) = (behind - first, EpochAccess::Mapped);
                    let stretch = Stretch { region: place.region, first, count, by };
                    other.replace(stretch).into_iter().for_each(&mut give);
                }
            }
        }
        next.into_iter().for_each(give);
    }
}
