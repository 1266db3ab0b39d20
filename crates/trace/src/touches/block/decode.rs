//! From bytes to records: the part that has to be fast.
//!
//! A touch of which nothing is named takes one look at a table for its distance, and no loop.

use super::super::code::{Numbers, unzigzag};
use super::super::frame::PADDING;
use super::super::record::{Access, Change, Epoch, EpochAccess, EpochState, PageTouch, Record, Run};
use super::super::{MOST_BYTES, MOST_PAGES, MOST_RUNS};
use super::{
    CONTROL, CPU, DISTANCE_SHIFT, EPOCH, EPOCH_CALL, EPOCH_READ, EPOCH_WRITTEN, EXTENT, FIXED, GROW, INCOMPLETE,
    LENGTH, MAP, MASK, MORE, NAMED, RECLAIMED, ROUND, STATE, State, THREAD, UNMAP,
};

const CUT: &str = "a record of a block is cut off";

impl State {
    /// The record at `at`, which is moved behind it. `contents` ends with [`PADDING`].
    #[inline]
    pub fn get(&mut self, contents: &[u8], at: &mut usize) -> Result<Record, &'static str> {
        let end = contents.len().saturating_sub(PADDING);
        let tag = match contents.get(*at) {
            Some(&tag) if *at < end => tag,
            _ => return Err(CUT),
        };
        if tag & CONTROL == 0 {
            return self.touch(tag, contents, end, at).map(Record::Touch);
        }
        let mut from = Numbers::new(contents.get(*at + 1..end).unwrap_or_default());
        let record = self.control(tag, &mut from)?;
        *at = end - from.left();
        Ok(record)
    }

    #[inline]
    fn touch(&mut self, tag: u8, contents: &[u8], end: usize, at: &mut usize) -> Result<PageTouch, &'static str> {
        let mut next = *at + 1;
        let mut region = self.places.get(self.region as usize).map_or(0, |place| place.next);
        if tag & (NAMED | MORE) != 0 {
            let mut from = Numbers::new(contents.get(next..end).unwrap_or_default());
            if tag & NAMED != 0 {
                region = self.region(&mut from)?;
                self.named.push(region);
            }
            if tag & MORE != 0 {
                self.more(&mut from)?;
            }
            next = end - from.left();
        }
        if let Some(before) = self.places.get_mut(self.region as usize) {
            before.next = region;
        }
        self.region = region;
        let code = usize::from(tag >> DISTANCE_SHIFT & 7);
        let eight = contents.get(next..).and_then(|from| from.first_chunk::<8>()).ok_or(CUT)?;
        let raw = u64::from_le_bytes(*eight) & MASK[code] | FIXED[code];
        *at = next + LENGTH[code];
        if *at > end {
            return Err(CUT);
        }
        let place = self.places.get_mut(region as usize).ok_or("there is no such region")?;
        let page = place.page.wrapping_add_signed(unzigzag(raw));
        place.page = page;
        let (within, bytes) = (self.within, self.bytes);
        let (access, pages) = match tag & 3 {
            0 => (Access::Load, 1),
            1 => (Access::Store, 1),
            2 => (Access::Read { within, bytes }, self.pages),
            _ => (Access::Write { within, bytes }, self.pages),
        };
        if code == 7 {
            return Err("the distance of a touch has no such length");
        }
        if page > MOST_PAGES - pages {
            return Err("a page lies outside its region");
        }
        Ok(PageTouch { region, page, access, thread: self.thread, cpu_ns: self.cpu_ns })
    }

    fn region(&self, from: &mut Numbers<'_>) -> Result<u32, &'static str> {
        let region = from.number().ok_or(CUT)?;
        u32::try_from(region).ok().filter(|&region| self.knows(region)).ok_or("there is no such region")
    }

    #[cold]
    fn more(&mut self, from: &mut Numbers<'_>) -> Result<(), &'static str> {
        let more = from.byte().ok_or(CUT)?;
        if more == 0 || more & !(THREAD | CPU | EXTENT) != 0 {
            return Err("a touch has no such part");
        }
        if more & THREAD != 0 {
            self.thread = from.small().ok_or(CUT)?;
        }
        if more & CPU != 0 {
            self.cpu_ns = from.number().ok_or(CUT)?;
        }
        if more & EXTENT != 0 {
            let (within, bytes) = (from.small().ok_or(CUT)?, from.small().ok_or(CUT)?);
            if within >= self.page_size || !(1..=MOST_BYTES).contains(&bytes) {
                return Err("the extent of a read or write makes no sense");
            }
            self.extent(within, bytes);
        }
        Ok(())
    }

    #[cold]
    fn control(&self, tag: u8, from: &mut Numbers<'_>) -> Result<Record, &'static str> {
        if tag == ROUND {
            return from.small().map(Record::Round).ok_or(CUT);
        }
        let by = match tag {
            EPOCH => Some(EpochAccess::Mapped),
            EPOCH_READ => Some(EpochAccess::Read),
            EPOCH_CALL => Some(EpochAccess::ReadCall),
            EPOCH_WRITTEN => Some(EpochAccess::Written),
            _ => None,
        };
        if let Some(by) = by {
            let time_ns = from.number().ok_or(CUT)?;
            let region = self.region(from)?;
            return Ok(Record::Epoch(Epoch { time_ns, region, by, pages: runs(from)? }));
        }
        if tag == STATE {
            return state(from).map(Record::State);
        }
        if !matches!(tag, MAP | UNMAP | GROW) {
            return Err("there is no such record");
        }
        let region = self.region(from)?;
        let change = match tag {
            MAP => Change::Map(run(from, 0)?),
            UNMAP => Change::Unmap(run(from, 0)?),
            _ => Change::Grow(from.number().ok_or(CUT)?),
        };
        let sound = match change {
            Change::Map(run) | Change::Unmap(run) => run.count > 0,
            Change::Grow(_) => true,
        };
        if sound { Ok(Record::Mapping { region, change }) } else { Err("a mapping has no pages") }
    }
}

fn state(from: &mut Numbers<'_>) -> Result<EpochState, &'static str> {
    let mut number = || from.number().ok_or(CUT);
    let (time_ns, cpu_ns, resident_pages) = (number()?, number()?, number()?);
    let flags = from.byte().ok_or(CUT)?;
    if flags & !(RECLAIMED | INCOMPLETE) != 0 {
        return Err("the state of an epoch has no such flag");
    }
    let (reclaimed, incomplete) = (flags & RECLAIMED != 0, flags & INCOMPLETE != 0);
    Ok(EpochState { time_ns, cpu_ns, resident_pages, reclaimed, incomplete })
}

/// A first page behind `from`, and how many.
fn run(from: &mut Numbers<'_>, after: u64) -> Result<Run, &'static str> {
    let (first, count) = (from.number().ok_or(CUT)?, from.number().ok_or(CUT)?);
    let first = first.checked_add(after).filter(|&first| first < MOST_PAGES);
    let run = first.map(|first| Run { first, count }).filter(|run| run.end() <= MOST_PAGES);
    run.ok_or("a page lies outside its region")
}

fn runs(from: &mut Numbers<'_>) -> Result<Vec<Run>, &'static str> {
    let count = from.number().ok_or(CUT)?;
    if count > MOST_RUNS as u64 {
        return Err("an epoch has more runs than any");
    }
    let (mut runs, mut after) = (Vec::new(), 0);
    for _ in 0..count {
        let mut next = run(from, after)?;
        next.count =
            next.count.checked_add(1).filter(|_| next.end() < MOST_PAGES).ok_or("a page lies outside its region")?;
        after = next.end() + 1;
        runs.push(next);
    }
    Ok(runs)
}
