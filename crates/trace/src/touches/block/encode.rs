//! From records to bytes.

use super::super::code::{put, zigzag};
use super::super::record::{Access, Change, Epoch, EpochAccess, PageTouch, Record, Run};
use super::super::{MOST_PAGES, MOST_RUNS};
use super::{
    CPU, DISTANCE_SHIFT, EPOCH, EPOCH_CALL, EPOCH_READ, EPOCH_WRITTEN, EXTENT, GROW, INCOMPLETE, LENGTH, MAP, MASK,
    MORE, NAMED, RECLAIMED, ROUND, STATE, State, THREAD, UNMAP,
};
use crate::error::TouchesError;

impl State {
    /// Appends a record.
    ///
    /// # Errors
    /// It is beyond what the format holds; then nothing was appended.
    pub fn put(&mut self, record: &Record, out: &mut Vec<u8>) -> Result<(), TouchesError> {
        let region = match record {
            Record::Touch(touch) => touch.region,
            Record::Round(_) | Record::State(_) => 0,
            Record::Epoch(epoch) => epoch.region,
            Record::Mapping { region, .. } => *region,
        };
        if !self.knows(region) && !matches!(record, Record::Round(_) | Record::State(_)) {
            return Err(TouchesError::Beyond("a record names a region that was not described"));
        }
        match record {
            Record::Touch(touch) => self.put_touch(touch, out)?,
            Record::Round(round) => {
                out.push(ROUND);
                put(out, u64::from(*round));
            }
            Record::Epoch(epoch) => put_epoch(epoch, out)?,
            Record::State(state) => {
                out.push(STATE);
                [state.time_ns, state.cpu_ns, state.resident_pages].iter().for_each(|&number| put(out, number));
                out.push((u8::from(state.reclaimed) * RECLAIMED) | (u8::from(state.incomplete) * INCOMPLETE));
            }
            Record::Mapping { change, .. } => {
                let (kind, numbers) = match change {
                    Change::Map(run) => (MAP, vec![run.first, run.count]),
                    Change::Unmap(run) => (UNMAP, vec![run.first, run.count]),
                    Change::Grow(bytes) => (GROW, vec![*bytes]),
                };
                if let Change::Map(run) | Change::Unmap(run) = change {
                    check(*run)?;
                }
                out.push(kind);
                put(out, u64::from(region));
                numbers.into_iter().for_each(|number| put(out, number));
            }
        }
        Ok(())
    }

    fn put_touch(&mut self, touch: &PageTouch, out: &mut Vec<u8>) -> Result<(), TouchesError> {
        if !touch.access.is_sound(self.page_size) {
            return Err(TouchesError::Beyond("a read or write is of 1 byte to 16 MiB and begins in its first page"));
        }
        if touch.page >= MOST_PAGES || touch.pages(self.page_size).end > MOST_PAGES {
            return Err(TouchesError::Beyond("a page lies more than 2^40 pages behind the beginning of its region"));
        }
        let (access, extent) = match touch.access {
            Access::Load => (0, None),
            Access::Store => (1, None),
            Access::Read { within, bytes } => (2, Some((within, bytes))),
            Access::Write { within, bytes } => (3, Some((within, bytes))),
        };
        let extent = extent.filter(|&extent| extent != (self.within, self.bytes));
        let follows = self.places.get(self.region as usize).map_or(0, |place| place.next);
        let named = follows != touch.region;
        let (thread, cpu) = (touch.thread != self.thread, touch.cpu_ns != self.cpu_ns);
        let more = (u8::from(thread) * THREAD) | (u8::from(cpu) * CPU) | (u8::from(extent.is_some()) * EXTENT);
        let last = self.places.get(touch.region as usize).map_or(0, |place| place.page);
        let distance = zigzag(touch.page.wrapping_sub(last).cast_signed());
        let code = match distance {
            2 => 0,
            0 => 1,
            _ => (2..7u8).find(|&code| distance <= MASK.get(usize::from(code)).copied().unwrap_or(0)).unwrap_or(6),
        };
        out.push(access | (code << DISTANCE_SHIFT) | (u8::from(named) * NAMED) | (u8::from(more != 0) * MORE));
        if named {
            put(out, u64::from(touch.region));
            self.named.push(touch.region);
        }
        if more != 0 {
            out.push(more);
        }
        if thread {
            put(out, u64::from(touch.thread));
            self.thread = touch.thread;
        }
        if cpu {
            put(out, touch.cpu_ns);
            self.cpu_ns = touch.cpu_ns;
        }
        if let Some((within, bytes)) = extent {
            put(out, u64::from(within));
            put(out, u64::from(bytes));
            self.extent(within, bytes);
        }
        let length = LENGTH.get(usize::from(code)).copied().unwrap_or(0);
        out.extend_from_slice(distance.to_le_bytes().get(..length).unwrap_or_default());
        if let Some(before) = self.places.get_mut(self.region as usize) {
            before.next = touch.region;
        }
        if let Some(place) = self.places.get_mut(touch.region as usize) {
            place.page = touch.page;
        }
        self.region = touch.region;
        Ok(())
    }
}

/// Each run after the first as its distance, less one, from the end of the one before.
fn put_epoch(epoch: &Epoch, out: &mut Vec<u8>) -> Result<(), TouchesError> {
    let mut from = 0;
    for run in &epoch.pages {
        check(*run)?;
        if run.first < from {
            return Err(TouchesError::Beyond("the pages of an epoch are runs that ascend and do not touch each other"));
        }
        from = run.end() + 1;
    }
    if epoch.pages.len() > MOST_RUNS {
        return Err(TouchesError::Beyond("an epoch record has at most 65,536 runs; several of one time are one epoch"));
    }
    out.push(match epoch.by {
        EpochAccess::Mapped => EPOCH,
        EpochAccess::Read => EPOCH_READ,
        EpochAccess::ReadCall => EPOCH_CALL,
        EpochAccess::Written => EPOCH_WRITTEN,
    });
    [epoch.time_ns, u64::from(epoch.region), epoch.pages.len() as u64].iter().for_each(|&number| put(out, number));
    let mut from = 0;
    for run in &epoch.pages {
        put(out, run.first - from);
        put(out, run.count - 1);
        from = run.end() + 1;
    }
    Ok(())
}

fn check(run: Run) -> Result<(), TouchesError> {
    if run.count == 0 || run.first >= MOST_PAGES || run.end() > MOST_PAGES {
        return Err(TouchesError::Beyond("a run of pages is empty, or ends more than 2^40 pages behind the beginning"));
    }
    Ok(())
}
