//! A recording as a load: epochs of pages, CPU time and frees, as one of the access traces that it may have been.
//!
//! What it is not: a trace. A recorder sees which pages were touched in an epoch, and the order of reads and writes of files; that of all else, how often, and which touches were stores are open. So a
//! recording is no source of touches by itself: [`Recording::drawn`] gives one of the traces that would leave this recording, by a draw of what is open.
//!
//! Pages are numbered anew: those of all anonymous memory in one region, by address, without what was never touched or held; those of each file at their place.
//!
//! ```
//! use ramline_trace::recording::{Open, Recording};
//! use ramline_trace::touch::{Access, Touches};
//! use ramline_trace::touches::{Epoch, EpochAccess, EpochState, Header, Maker, Origin, Reader, Record, Region, Run, Writer};
//! let header = Header { page: 4096, origin: Origin { maker: Maker::Recorder, name: "example".to_owned(), seed: None } };
//! let mut writer = Writer::new(Vec::new(), &header)?;
//! let region = writer.region(&Region::anonymous(1 << 30))?;
//! writer.record(&Record::State(EpochState { time_ns: 9_000_000, cpu_ns: 8_000_000, ..EpochState::default() }))?;
//! writer.record(&Record::Epoch(Epoch { time_ns: 9_000_000, region, by: EpochAccess::Mapped, pages: vec![Run { first: 1000, count: 2 }] }))?;
//! let mut reader = Reader::new(std::io::Cursor::new(writer.finish()?))?;
//! let recording = Recording::read(&mut reader)?;
//! let drawn = std::sync::Arc::new(recording).drawn(Open { stores: 0.0, block: 1, seed: 7 });
//! let touches: Vec<_> = drawn.rounds().map(|touch| touch.unwrap().access).collect();
//! assert_eq!(touches, [Access::Begin, Access::Store, Access::Compute(4000), Access::Store, Access::Compute(4000)]);
//! # Ok::<(), ramline_trace::touches::TouchesError>(())
//! ```

mod drawn;
mod pages;

use std::io::{Read, Seek};

use crate::error::TouchesError;
use crate::touch::{Memory, Region};
use crate::touches::{Backing, Change, EpochAccess, EpochState, Header, Reader, Record, Run, Sample};

pub use drawn::{Drawn, Open};
use pages::{Numbering, Place};

/// Bytes of the pages that are simulated.
const PAGE: u32 = 4096;
/// Bytes of memory that a run of pages takes here.
const OF_A_RUN: u64 = 16;
/// Bytes that a simulation takes for a touch.
const OF_A_TOUCH: u64 = 4;

/// Pages beside each other in a region.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Stretch {
    region: u32,
    first: u32,
    count: u32,
    by: EpochAccess,
}

/// One epoch: parts of the stretches of a recording.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct EpochParts {
    state: EpochState,
    /// Where the pages that were given back in it begin; they end where those that were touched begin.
    freed: usize,
    touched: usize,
    end: usize,
    /// Pages touched.
    pages: u64,
    /// Of them, those whose order is open.
    unordered: u64,
}

/// A whole recording.
#[derive(Debug, Clone)]
pub struct Recording {
    header: Header,
    regions: Vec<Region>,
    stretches: Vec<Stretch>,
    /// Stretches that were in memory when the recording began.
    held: usize,
    epochs: Vec<EpochParts>,
    whole: bool,
    anonymous_tables: u64,
    sample: Option<Sample>,
}

/// What a recording holds, in numbers.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Extent {
    /// Epochs.
    pub epochs: u64,
    /// Of them, those in which memory was reclaimed.
    pub reclaimed: u64,
    /// Of them, those of which something could not be read.
    pub incomplete: u64,
    /// CPU time of all processes, in nanoseconds.
    pub cpu_ns: u64,
    /// How long it was, in nanoseconds.
    pub time_ns: u64,
    /// The most pages that were present at once.
    pub resident_pages: u64,
    /// Pages touched, summed over epochs.
    pub touched: u64,
    /// Pages that were in memory as it began.
    pub held: u64,
    /// The most pages that one epoch touched in an order that is open.
    pub most_of_an_epoch: u64,
    /// Such pages of the epoch that such a touch is in, in the mean of all.
    pub typical_of_an_epoch: u64,
}

impl Recording {
    /// Reads it twice: which pages there are, and when they were touched. Of one that is cut off all that is there.
    ///
    /// # Errors
    /// Its pages are not of 4 KiB; it is damaged or has no epochs; it holds single touches or more pages than can be simulated; reading fails.
    pub fn read<R: Read + Seek>(reader: &mut Reader<R>) -> Result<Recording, TouchesError> {
        let header = reader.header().clone();
        header.check_page(PAGE)?;
        let (mut pages, mut runs, mut called) = (Numbering::within(reader.room() / 2), 0_u64, 0_u64);
        while let Some(record) = reader.next_record()? {
            let mut add = |region: u32, run: Run| {
                runs += 1;
                pages.add(region, run)
            };
            match record {
                Record::Epoch(epoch) => {
                    epoch.pages.iter().try_for_each(|run| add(epoch.region, *run))?;
                    if epoch.by == EpochAccess::ReadCall {
                        called = epoch.pages.iter().fold(called, |sum, run| sum.saturating_add(run.count));
                    }
                    let backing = reader.regions().get(epoch.region as usize).map(|region| &region.backing);
                    if epoch.by != EpochAccess::Mapped && !matches!(backing, Some(Backing::File { .. })) {
                        return Err(TouchesError::NotSimulated("read(2) of what is no file"));
                    }
                }
                Record::Mapping { region, change: Change::Map(run) } => add(region, run)?,
                Record::Mapping { change: Change::Unmap(_), .. } => runs += 1,
                Record::Mapping { .. } | Record::State(_) | Record::Round(_) => {}
                Record::Touch(_) => return Err(TouchesError::NotSimulated("epochs and single touches in one file")),
            }
        }
        let whole = reader.is_whole();
        // A call takes little memory, and as much time as its pages.
        if runs.saturating_mul(OF_A_RUN) > reader.room() / 4 || called.saturating_mul(OF_A_TOUCH) > reader.room() {
            return Err(TouchesError::Beyond("it holds more than can be taken into memory here"));
        }
        let (regions, places) = pages.numbered(reader.regions(), reader.room() / 2)?;
        let anonymous_tables = pages.anonymous_tables(reader.regions());
        let sample = reader.sample().filter(|sample| !sample.is_empty()).cloned();
        let (stretches, epochs) = (Vec::new(), Vec::new());
        let mut out = Recording { header, regions, stretches, held: 0, epochs, whole, anonymous_tables, sample };
        reader.rewind()?;
        out.fill(reader, &pages, &places)?;
        // The loader of a program reads files before anything of the program was seen.
        if out.epochs.iter().all(|epoch| epoch.unordered == 0) {
            return Err(TouchesError::NoTouches);
        }
        Ok(out)
    }

    fn fill<R: Read + Seek>(
        &mut self,
        reader: &mut Reader<R>,
        pages: &Numbering,
        places: &[Option<Place>],
    ) -> Result<(), TouchesError> {
        let mut freed = Vec::new();
        while let Some(record) = reader.next_record()? {
            match record {
                Record::State(state) => {
                    let at = self.stretches.len();
                    let freed = std::mem::take(&mut freed);
                    let (stretches, regions) = (&mut self.stretches, &self.regions);
                    // What is unmapped of a file stays in the page cache.
                    let is_file = |stretch: &Stretch| {
                        regions.get(stretch.region as usize).is_some_and(|region| region.memory == Memory::File)
                    };
                    for (region, run) in freed {
                        pages.each(places, region, run, |stretch| {
                            if !is_file(&stretch) {
                                stretches.push(stretch);
                            }
                        });
                    }
                    let touched = self.stretches.len();
                    self.epochs.push(EpochParts { state, freed: at, touched, end: touched, pages: 0, unordered: 0 });
                }
                Record::Epoch(epoch) => {
                    // A recorder writes the state first; without it nothing is known of the epoch but its end.
                    if self.epochs.last().is_none_or(|last| last.state.time_ns != epoch.time_ns) {
                        let at = self.stretches.len();
                        let state = EpochState { time_ns: epoch.time_ns, ..EpochState::default() };
                        self.epochs.push(EpochParts { state, freed: at, touched: at, end: at, pages: 0, unordered: 0 });
                    }
                    let mut count = 0;
                    for run in epoch.pages {
                        count += run.count;
                        pages.each(places, epoch.region, run, |stretch| {
                            self.stretches.push(Stretch { by: epoch.by, ..stretch });
                        });
                    }
                    if let Some(last) = self.epochs.last_mut() {
                        last.pages += count;
                        last.unordered += if epoch.by == EpochAccess::Mapped { count } else { 0 };
                        last.end = self.stretches.len();
                    }
                }
                Record::Mapping { region, change: Change::Map(run) } if self.epochs.is_empty() => {
                    pages.each(places, region, run, |stretch| self.stretches.push(stretch));
                    self.held = self.stretches.len();
                }
                Record::Mapping { region, change: Change::Unmap(run) } => freed.push((region, run)),
                Record::Mapping { .. } | Record::Round(_) | Record::Touch(_) => {}
            }
        }
        Ok(())
    }

    /// What its file says of it.
    #[must_use]
    pub const fn header(&self) -> &Header {
        &self.header
    }

    /// What sampled pages compress to; `None` where it has no sample.
    #[must_use]
    pub const fn sample(&self) -> Option<&Sample> {
        self.sample.as_ref()
    }

    /// The file was finished by its recorder.
    #[must_use]
    pub const fn is_whole(&self) -> bool {
        self.whole
    }

    /// A process ran before it: what it held then is known, what it had read of files is not.
    #[must_use]
    pub const fn began_later(&self) -> bool {
        self.held > 0
    }

    /// What it holds.
    #[must_use]
    pub fn extent(&self) -> Extent {
        let count =
            |which: fn(&EpochState) -> bool| self.epochs.iter().filter(|epoch| which(&epoch.state)).count() as u64;
        let held = self.stretches.get(..self.held).unwrap_or_default();
        Extent {
            epochs: self.epochs.len() as u64,
            reclaimed: count(|state| state.reclaimed),
            incomplete: count(|state| state.incomplete),
            cpu_ns: self.epochs.iter().fold(0, |sum, epoch| sum.saturating_add(epoch.state.cpu_ns)),
            time_ns: self.epochs.last().map_or(0, |epoch| epoch.state.time_ns),
            resident_pages: self.epochs.iter().map(|epoch| epoch.state.resident_pages).max().unwrap_or_default(),
            touched: self.epochs.iter().map(|epoch| epoch.pages).sum(),
            held: held.iter().map(|stretch| u64::from(stretch.count)).sum(),
            most_of_an_epoch: self.epochs.iter().map(|epoch| epoch.unordered).max().unwrap_or_default(),
            typical_of_an_epoch: {
                let all: u128 = self.epochs.iter().map(|epoch| u128::from(epoch.unordered)).sum();
                let squares: u128 = self.epochs.iter().map(|epoch| u128::from(epoch.unordered).pow(2)).sum();
                u64::try_from(squares / all.max(1)).unwrap_or(u64::MAX)
            },
        }
    }

    /// Pages of files that were read with read(2) or written, summed over epochs.
    #[must_use]
    pub fn pages_read(&self) -> u64 {
        self.epochs.iter().map(|epoch| epoch.pages - epoch.unordered).sum()
    }

    /// The same without those.
    #[must_use]
    pub fn without_reads(&self) -> Recording {
        let mut out = Recording {
            header: self.header.clone(),
            regions: self.regions.clone(),
            stretches: self.held().to_vec(),
            epochs: self.epochs.clone(),
            sample: self.sample.clone(),
            ..*self
        };
        for epoch in &mut out.epochs {
            let (freed, touched) = (epoch.freed..epoch.touched, epoch.touched..epoch.end);
            epoch.freed = out.stretches.len();
            out.stretches.extend(self.stretches.get(freed).unwrap_or_default());
            epoch.touched = out.stretches.len();
            let touched = self.stretches.get(touched).unwrap_or_default();
            out.stretches.extend(touched.iter().filter(|one| one.by == EpochAccess::Mapped));
            (epoch.end, epoch.pages) = (out.stretches.len(), epoch.unordered);
        }
        out
    }

    /// Page tables that its anonymous memory has beyond those that as many pages beside each other need.
    #[must_use]
    pub fn scattered_tables(&self) -> u64 {
        let anonymous = self.regions.iter().filter(|region| region.memory == Memory::Anonymous);
        let pages = anonymous.map(|region| region.bytes / u64::from(PAGE)).sum::<u64>();
        self.anonymous_tables - pages.div_ceil(pages::CHUNK).min(self.anonymous_tables)
    }
}

/// What a region is.
fn memory_of(backing: &Backing) -> Memory {
    match backing {
        Backing::File { .. } => Memory::File,
        Backing::Anonymous => Memory::Anonymous,
        Backing::Shared => Memory::Shared,
    }
}

#[cfg(test)]
mod tests;
