//! Reads a file of touches, one block in memory at a time; from its beginning, or from any block where there is an index.

use std::io::{Read, Seek, SeekFrom};

use super::block::State;
use super::frame::{Frame, FrameResult, HEAD, Kind, PADDING};
use super::header::fill;
use super::index::{END, Index, TAIL};
use super::record::{PageTouch, Record};
use super::region::get_all;
use super::{BLOCK_RECORDS, Header, Region, Sample};
use crate::error::TouchesError;

/// Gives the records of a file.
#[derive(Debug)]
pub struct Reader<R: Read> {
    from: R,
    header: Header,
    first: u64,
    regions: Vec<Region>,
    sample: Option<Sample>,
    state: State,
    contents: Vec<u8>,
    /// Where the frame that is read, or that comes next, stands.
    block: u64,
    next: u64,
    /// Where in its contents the next record is, and how many there are still.
    at: usize,
    left: u32,
    seen: Index,
    /// All regions are known from the index; some of the file may have been passed over.
    all_regions: bool,
    skipped: bool,
    end: End,
    room: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    NotYet,
    Whole,
    Cut,
    Damaged,
}

impl<R: Read> Reader<R> {
    /// What is made of the file has so many bytes of memory; without it no bound.
    #[must_use]
    pub fn within(self, room: u64) -> Self {
        Reader { room, ..self }
    }

    /// See [`Reader::within`].
    pub const fn room(&self) -> u64 {
        self.room
    }

    /// Begins to read.
    ///
    /// # Errors
    /// It is no file of touches, or of another version; reading fails.
    pub fn new(mut from: R) -> Result<Self, TouchesError> {
        let (header, first) = Header::read(&mut from)?;
        let state = State::new(header.page);
        let (regions, sample, contents, seen) = (Vec::new(), None, Vec::new(), Index::default());
        let end = End::NotYet;
        let (block, next, at, left) = (first, first, 0, 0);
        let (all_regions, skipped) = (false, false);
        Ok(Reader {
            from,
            header,
            first,
            regions,
            sample,
            state,
            contents,
            block,
            next,
            at,
            left,
            seen,
            all_regions,
            skipped,
            end,
            room: u64::MAX,
        })
    }

    /// What holds for the whole file.
    pub const fn header(&self) -> &Header {
        &self.header
    }

    /// The regions that are known so far: all that the records read so far name.
    pub fn regions(&self) -> &[Region] {
        &self.regions
    }

    /// What sampled pages compress to, once all records were read; `None` where the file has no sample.
    pub const fn sample(&self) -> Option<&Sample> {
        self.sample.as_ref()
    }

    /// Everything was read, up to an index that agrees. False before the end, and where the file is cut off.
    pub const fn is_whole(&self) -> bool {
        matches!(self.end, End::Whole)
    }

    /// Bytes of the file up to the end of the last part that was read whole.
    pub const fn bytes(&self) -> u64 {
        self.next
    }

    /// The next record; `None` at the end, which [`Reader::is_whole`] says more of.
    ///
    /// # Errors
    /// The file is damaged: nothing more is read. Reading fails.
    #[inline]
    pub fn next_record(&mut self) -> Result<Option<Record>, TouchesError> {
        while self.left == 0 {
            if !self.next_block()? {
                return Ok(None);
            }
        }
        let record = self.state.get(&self.contents, &mut self.at);
        self.left -= 1;
        match record {
            Ok(_) if self.left == 0 && self.at + PADDING != self.contents.len() => {
                Err(self.damaged("something follows the records of a block"))
            }
            Ok(record) => Ok(Some(record)),
            Err(what) => Err(self.damaged(what)),
        }
    }

    /// What was read of the last part.
    fn contents(&self) -> &[u8] {
        self.contents.get(..self.contents.len().saturating_sub(PADDING)).unwrap_or_default()
    }

    #[cold]
    fn damaged(&mut self, what: &'static str) -> TouchesError {
        (self.left, self.end) = (0, End::Damaged);
        TouchesError::Damaged { at: self.block, what }
    }

    /// Reads up to the next block; false at the end.
    fn next_block(&mut self) -> Result<bool, TouchesError> {
        while self.end == End::NotYet {
            self.block = self.next;
            // Bytes that make no sense, and a disk that fails: what follows is lost.
            let found = Frame::read(&mut self.from, self.next, &mut self.contents);
            let frame = match found.inspect_err(|_| self.end = End::Damaged)? {
                FrameResult::Frame(frame) => frame,
                FrameResult::End | FrameResult::Cut => {
                    self.end = End::Cut;
                    break;
                }
            };
            self.next += HEAD as u64 + u64::from(frame.length);
            let contents = self.contents.get(..self.contents.len() - PADDING).unwrap_or_default();
            match frame.kind {
                Kind::Regions => {
                    if !self.all_regions
                        && let Err(what) = get_all(contents, frame.records, &mut self.regions)
                    {
                        return Err(self.damaged(what));
                    }
                    self.seen.add(self.block, frame);
                }
                Kind::Block if !(1..=BLOCK_RECORDS).contains(&frame.records) => {
                    return Err(self.damaged("a block has no records, or more than any"));
                }
                Kind::Block => {
                    self.seen.add(self.block, frame);
                    (self.at, self.left) = (0, frame.records);
                    self.state.begin(u32::try_from(self.regions.len()).unwrap_or(u32::MAX));
                    return Ok(true);
                }
                Kind::Sample => {
                    self.sample = Sample::get(contents, self.header.page);
                    if self.sample.is_none() {
                        return Err(self.damaged("its sample of pages makes no sense"));
                    }
                }
                Kind::Index => {
                    let index = Index::get(self.contents());
                    self.finish(index)?;
                }
            }
        }
        Ok(false)
    }

    /// The index is there: it agrees with what was read, and only the tail follows.
    fn finish(&mut self, index: Option<Index>) -> Result<(), TouchesError> {
        let Some(index) = index else { return Err(self.damaged("its index makes no sense")) };
        if !self.skipped && index != self.seen {
            return Err(self.damaged("its index names other parts than there are"));
        }
        let mut tail = [0; TAIL + 1];
        let got = fill(&mut self.from, &mut tail).inspect_err(|_| self.end = End::Damaged)?;
        let want = [self.block.to_le_bytes(), *END].concat();
        match tail.get(..got) {
            Some(tail) if *tail == *want => self.end = End::Whole,
            Some(tail) if want.starts_with(tail) => self.end = End::Cut,
            _ => return Err(self.damaged("something else follows its index")),
        }
        self.next += got as u64;
        Ok(())
    }
}

/// Gives every touch that is left to `each`; other records are passed over.
///
/// # Errors
/// Those of `each`; the file is damaged, or reading fails.
pub fn each_touch(
    reader: &mut Reader<impl Read>,
    mut each: impl FnMut(PageTouch) -> Result<(), TouchesError>,
) -> Result<(), TouchesError> {
    while let Some(record) = reader.next_record()? {
        if let Record::Touch(touch) = record {
            each(touch)?;
        }
    }
    Ok(())
}

impl<R: Read + Seek> Reader<R> {
    /// Reads the index, and all regions with it; the next record is that at the beginning.
    ///
    /// # Errors
    /// The file has no index, or it is damaged; reading fails.
    pub fn index(&mut self) -> Result<Index, TouchesError> {
        let tail_at = self.from.seek(SeekFrom::End(0))?.checked_sub(TAIL as u64).ok_or(TouchesError::NoIndex)?;
        self.from.seek(SeekFrom::Start(tail_at))?;
        let mut tail = [0; TAIL];
        fill(&mut self.from, &mut tail)?;
        let (at, end) = tail.split_at(8);
        let at = at.try_into().map_or(0, u64::from_le_bytes);
        if end != END || at >= tail_at {
            return Err(TouchesError::NoIndex);
        }
        let damaged = |at, what| TouchesError::Damaged { at, what };
        let frame = self.frame_at(at)?;
        let index = Index::get(self.contents()).filter(|_| frame.kind == Kind::Index);
        let index = index.ok_or(damaged(at, "its index makes no sense"))?;
        self.regions.clear();
        self.all_regions = true;
        let mut behind = self.first;
        for entry in index.entries().iter().filter(|entry| !entry.is_block) {
            let frame = self.frame_at(entry.at)?;
            // Parts do not overlap: so no part is read twice.
            if frame.kind != Kind::Regions || entry.at < behind {
                return Err(damaged(at, "its index names other parts than there are"));
            }
            behind = entry.at + HEAD as u64 + u64::from(frame.length);
            let contents = self.contents.get(..self.contents.len() - PADDING).unwrap_or_default();
            get_all(contents, frame.records, &mut self.regions).map_err(|what| damaged(entry.at, what))?;
        }
        self.go(self.first, false)?;
        Ok(index)
    }

    /// Goes back to the first record.
    ///
    /// # Errors
    /// Reading fails.
    pub fn rewind(&mut self) -> Result<(), TouchesError> {
        if !self.all_regions {
            self.regions.clear();
        }
        self.go(self.first, false)
    }

    /// Goes to a block, counted from 0: the next record is its first one.
    ///
    /// # Errors
    /// There is no such block; reading fails.
    pub fn seek(&mut self, index: &Index, block: usize) -> Result<(), TouchesError> {
        let entry = index.blocks().nth(block).ok_or(TouchesError::Beyond("the file has fewer blocks"))?;
        self.go(entry.at, true)
    }

    fn go(&mut self, at: u64, skipped: bool) -> Result<(), TouchesError> {
        self.from.seek(SeekFrom::Start(at))?;
        (self.next, self.block, self.left, self.end) = (at, at, 0, End::NotYet);
        (self.seen, self.skipped) = (Index::default(), skipped);
        Ok(())
    }

    fn frame_at(&mut self, at: u64) -> Result<Frame, TouchesError> {
        self.from.seek(SeekFrom::Start(at))?;
        match Frame::read(&mut self.from, at, &mut self.contents)? {
            FrameResult::Frame(frame) => Ok(frame),
            FrameResult::End | FrameResult::Cut => {
                Err(TouchesError::Damaged { at, what: "its index leads to no part of it" })
            }
        }
    }
}

#[cfg(test)]
mod tests;
