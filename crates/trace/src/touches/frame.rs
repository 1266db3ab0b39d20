//! Frames: the parts of a file, each with its length and checksum before it.

use std::io::{Read, Write};

use super::crc::crc32c;
use super::header::{Header, Origin, fill};
use super::region::Region;
use crate::error::TouchesError;

/// Bytes of a frame before its contents.
pub const HEAD: usize = 24;
/// Contents are never longer; what is read of a false length is bounded by what is there anyway.
pub const LONGEST: u32 = 64 << 20;
/// Zeros kept behind the contents, so that eight bytes can be read at any of them.
pub const PADDING: usize = 8;

/// What a frame holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Regions,
    Block,
    Sample,
    Index,
}

impl Kind {
    const fn letters(self) -> [u8; 4] {
        match self {
            Kind::Regions => *b"RGNS",
            Kind::Block => *b"BLCK",
            Kind::Sample => *b"SMPL",
            Kind::Index => *b"INDX",
        }
    }

    fn from_letters(letters: [u8; 4]) -> Option<Kind> {
        [Kind::Regions, Kind::Block, Kind::Sample, Kind::Index].into_iter().find(|kind| kind.letters() == letters)
    }
}

/// What stands before the contents.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Frame {
    pub kind: Kind,
    /// Bytes of the contents.
    pub length: u32,
    pub records: u32,
    pub time_ns: u64,
}

/// A file of one block with these contents, so many regions before it, and no index: for tests, which reach a block's records so without
/// having to find its checksum.
#[must_use]
pub fn framed(page: u32, regions: u32, records: u32, contents: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    let header = Header { page, origin: Origin::generated("", None) };
    let mut described = Vec::new();
    let done = header.write(&mut out).and_then(|_| {
        (0..regions).try_for_each(|_| Region::anonymous(1 << 30).put(&mut described))?;
        Frame::write(&mut out, Kind::Regions, regions, 0, &described)?;
        Frame::write(&mut out, Kind::Block, records, 0, contents)
    });
    if done.is_ok() { out } else { Vec::new() }
}

/// Result of reading a frame.
#[derive(Debug)]
pub enum FrameResult {
    Frame(Frame),
    /// Nothing more.
    End,
    /// A frame that is cut off.
    Cut,
}

impl Frame {
    fn head(&self) -> Vec<u8> {
        let mut head = self.kind.letters().to_vec();
        head.extend(self.length.to_le_bytes());
        head.extend(self.records.to_le_bytes());
        head.extend(self.time_ns.to_le_bytes());
        head
    }

    /// Writes a frame; how many bytes that are.
    pub fn write(
        out: &mut impl Write,
        kind: Kind,
        records: u32,
        time_ns: u64,
        contents: &[u8],
    ) -> Result<u64, TouchesError> {
        let length = u32::try_from(contents.len()).ok().filter(|&length| length <= LONGEST);
        let length = length.ok_or(TouchesError::Beyond("a part is longer than 64 MiB"))?;
        let mut head = Frame { kind, length, records, time_ns }.head();
        let crc = crc32c(crc32c(0, &head), contents);
        head.extend(crc.to_le_bytes());
        out.write_all(&head)?;
        out.write_all(contents)?;
        Ok(HEAD as u64 + u64::from(length))
    }

    /// Reads the next frame, its contents and [`PADDING`] into `contents`; `at` is where it begins.
    pub fn read(from: &mut impl Read, at: u64, contents: &mut Vec<u8>) -> Result<FrameResult, TouchesError> {
        let damaged = |what| TouchesError::Damaged { at, what };
        let mut head = [0; HEAD];
        match fill(from, &mut head)? {
            0 => return Ok(FrameResult::End),
            HEAD => {}
            _ => return Ok(FrameResult::Cut),
        }
        let (fields, crc) = head.split_at(HEAD - 4);
        let word = |at: usize| fields.get(at..at + 4).and_then(|word| word.try_into().ok()).unwrap_or([0; 4]);
        let kind = Kind::from_letters(word(0)).ok_or_else(|| damaged("no part of the format begins so"))?;
        let length = u32::from_le_bytes(word(4));
        if length > LONGEST {
            return Err(damaged("a part is longer than any"));
        }
        let time_ns = fields.get(12..).and_then(|time| time.try_into().ok()).map_or(0, u64::from_le_bytes);
        let frame = Frame { kind, length, records: u32::from_le_bytes(word(8)), time_ns };
        contents.clear();
        from.take(u64::from(length)).read_to_end(contents)?;
        if contents.len() as u64 != u64::from(length) {
            return Ok(FrameResult::Cut);
        }
        if crc32c(crc32c(0, fields), contents).to_le_bytes() != crc {
            return Err(damaged("the checksum of a part is another"));
        }
        contents.extend([0; PADDING]);
        Ok(FrameResult::Frame(frame))
    }
}
