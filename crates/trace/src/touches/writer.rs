//! Writes a file of touches, block by block; never more of it in memory than one.

use std::io::Write;

use super::block::State;
use super::frame::{Frame, Kind};
use super::index::{END, Index};
use super::record::Record;
use super::{BLOCK_RECORDS, Header, MOST_REGIONS, Region, Sample};
use crate::error::TouchesError;

/// A block ends before its records are complete where it has so many bytes: epochs are long.
const FULL: usize = 4 << 20;

/// Takes records and writes them.
#[derive(Debug)]
pub struct Writer<W: Write> {
    out: W,
    state: State,
    /// Where the next frame will stand.
    at: u64,
    index: Index,
    regions: u32,
    /// Regions that were described since the last frame of regions.
    described: Vec<u8>,
    undescribed: u32,
    contents: Vec<u8>,
    records: u32,
    began_ns: u64,
    clock_ns: u64,
}

impl<W: Write> Writer<W> {
    /// Begins a file.
    ///
    /// # Errors
    /// The page size or the name of the maker is none; writing fails.
    pub fn new(mut out: W, header: &Header) -> Result<Self, TouchesError> {
        let at = header.write(&mut out)?;
        Ok(Writer {
            out,
            state: State::new(header.page),
            at,
            index: Index::default(),
            regions: 0,
            described: Vec::new(),
            undescribed: 0,
            contents: Vec::new(),
            records: 0,
            began_ns: 0,
            clock_ns: 0,
        })
    }

    /// Describes the next region; its number. It must be known before it is touched.
    ///
    /// # Errors
    /// There are too many, or its name is too long; writing fails.
    pub fn region(&mut self, region: &Region) -> Result<u32, TouchesError> {
        if self.regions >= MOST_REGIONS {
            return Err(TouchesError::Beyond("there are more than a million regions"));
        }
        let mut described = Vec::new();
        region.put(&mut described)?;
        // What a block says stands behind the regions it names.
        self.end_block()?;
        if self.described.len() + described.len() > FULL {
            self.end_regions()?;
        }
        self.described.append(&mut described);
        self.undescribed += 1;
        self.regions += 1;
        Ok(self.regions - 1)
    }

    /// Appends a record.
    ///
    /// # Errors
    /// The format cannot hold it: then nothing was appended; writing fails.
    #[inline]
    pub fn record(&mut self, record: &Record) -> Result<(), TouchesError> {
        if self.records == 0 {
            self.end_regions()?;
            self.state.begin(self.regions);
            self.began_ns = self.clock_ns;
        }
        self.state.put(record, &mut self.contents)?;
        match record {
            Record::Touch(touch) => self.clock_ns = self.clock_ns.saturating_add(touch.cpu_ns),
            Record::Epoch(epoch) => self.clock_ns = self.clock_ns.max(epoch.time_ns),
            Record::State(state) => self.clock_ns = self.clock_ns.max(state.time_ns),
            Record::Round(_) | Record::Mapping { .. } => {}
        }
        self.records += 1;
        if self.records == BLOCK_RECORDS || self.contents.len() >= FULL { self.end_block() } else { Ok(()) }
    }

    fn end_regions(&mut self) -> Result<(), TouchesError> {
        if self.undescribed > 0 {
            self.frame(Kind::Regions, self.undescribed, self.clock_ns)?;
            self.undescribed = 0;
        }
        Ok(())
    }

    fn end_block(&mut self) -> Result<(), TouchesError> {
        if self.records > 0 {
            self.frame(Kind::Block, self.records, self.began_ns)?;
            self.records = 0;
        }
        Ok(())
    }

    fn frame(&mut self, kind: Kind, records: u32, time_ns: u64) -> Result<(), TouchesError> {
        let contents = if kind == Kind::Regions { &mut self.described } else { &mut self.contents };
        let length = Frame::write(&mut self.out, kind, records, time_ns, contents)?;
        contents.clear();
        self.index.add(self.at, Frame { kind, length: 0, records, time_ns });
        self.at += length;
        Ok(())
    }

    /// Writes what sampled pages compress to, behind everything so far.
    ///
    /// # Errors
    /// It has more algorithms or pages than the format holds: then nothing was written; writing fails.
    pub fn sample(&mut self, sample: &Sample) -> Result<(), TouchesError> {
        let mut contents = Vec::new();
        sample.put(&mut contents)?;
        self.end_block()?;
        self.end_regions()?;
        self.at += Frame::write(&mut self.out, Kind::Sample, 0, self.clock_ns, &contents)?;
        Ok(())
    }

    /// Ends the file: what is left, the index, and where that is.
    ///
    /// # Errors
    /// Writing fails.
    pub fn finish(mut self) -> Result<W, TouchesError> {
        self.end_block()?;
        self.end_regions()?;
        let mut contents = Vec::new();
        self.index.put(&mut contents);
        Frame::write(&mut self.out, Kind::Index, 0, self.clock_ns, &contents)?;
        self.out.write_all(&self.at.to_le_bytes())?;
        self.out.write_all(END)?;
        self.out.flush()?;
        Ok(self.out)
    }
}
