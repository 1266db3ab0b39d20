//! Reading a hot set: all of it or nothing.
//!
//! It is read twice: once to check length, checksum, counts and every
//! line before anything is done with any of it, keeping nothing; then piece by piece, so that what it costs in memory does not grow with
//! what somebody may have put into it. Nothing in it is trusted: it may come from anywhere.

use std::io::{BufRead, BufReader, Read, Seek};

use ramline_kernel::{Cause, input};

use super::{Entry, Header, Line, MAGIC, MOST_FILES, VERSION};
use crate::prelude::*;

/// A line with the longest name and [`super::MOST_NUMBERS`] of the largest numbers is shorter.
const LONGEST: u64 = 32 << 20;
/// Lines of ours take a thousandth of their length at the least, and a small file may be as regular as it likes.
const MOST_TEXT: (u64, u64) = (256 << 20, 1000);

type Lines = BufReader<zstd::Decoder<'static, BufReader<File>>>;

/// A hot set of which the header has been read.
pub struct Reading {
    /// Where and when it was saved.
    pub header: Header,
    path: PathBuf,
    file: File,
    size: u64,
}

/// Begins to read a hot set.
///
/// # Errors
/// `Refused` for a file that is none, is one of another version, or is damaged.
pub fn read(path: &Path) -> Result<Reading, KernelError> {
    let failed = |error| KernelError::io("read the hot set", path, error);
    let looked = input::Looked::at(path, true).map_err(failed)?;
    if looked.kind() != rustix::fs::FileType::RegularFile {
        return Err(none(path));
    }
    let file = looked.open().map_err(failed)?;
    let mut first = Vec::new();
    BufReader::new(&file).take(64).read_until(b'\n', &mut first).map_err(failed)?;
    let version = std::str::from_utf8(&first).ok().and_then(|line| line.strip_prefix(MAGIC)?.strip_suffix('\n'));
    // As it is written: no sign, no zeros before it.
    match version.map(|text| (text.parse::<u32>().ok().filter(|number| number.to_string() == text), text)) {
        Some((Some(VERSION), _)) => {}
        Some((Some(other), _)) => {
            let rule = format!("it is a hot set of version {other}, and this ramline reads version {VERSION}");
            return Err(KernelError::refused("read the hot set", path, rule, ""));
        }
        _ => return Err(none(path)),
    }
    let size = file.metadata().map_err(failed)?.len();
    let mut reading = Reading { header: Header::default(), path: path.to_owned(), file, size };
    match reading.lines()?.next()? {
        Line::HotSet(header) if header.is_possible(size) => reading.header = header,
        Line::HotSet(header) => {
            let (files, hot, page) = (header.files, header.hot, header.page);
            let numbers = format!("{files} files, {hot} bytes, pages of {page}, in a file of {}", Bytes(size));
            return Err(damaged(path, &format!("its header cannot be true: {numbers}")));
        }
        _ => return Err(damaged(path, "its header is wrong")),
    }
    Ok(reading)
}

fn none(path: &Path) -> KernelError {
    let rule = format!("it is no hot set: it does not begin with '{}'", MAGIC.trim_end());
    KernelError::refused("read the hot set", path, rule, "").hint("ramline cache save FILE")
}

const DAMAGED: &str = "it is damaged";

/// It is a hot set, and cut short or changed since it was written.
#[must_use]
pub fn is_damaged(error: &KernelError) -> bool {
    matches!(&error.cause, Cause::Refused { rule, .. } if rule == DAMAGED)
}

fn damaged(path: &Path, how: &str) -> KernelError {
    KernelError::refused("read the hot set", path, DAMAGED, how).hint("ramline cache save FILE")
}

impl Reading {
    fn lines(&self) -> Result<Reader<'_>, KernelError> {
        let failed = |error| KernelError::io("read the hot set", &self.path, error);
        let mut file = self.file.try_clone().map_err(failed)?;
        file.rewind().map_err(failed)?;
        let mut file = BufReader::new(file);
        file.read_until(b'\n', &mut Vec::new()).map_err(failed)?;
        let frame = zstd::Decoder::with_buffer(file).map_err(|error| damaged(&self.path, &error.to_string()))?;
        let most = MOST_TEXT.0.max(self.size.saturating_mul(MOST_TEXT.1));
        let lines = BufReader::new(frame);
        Ok(Reader { reading: self, lines, left: most, text: Vec::new(), read: (0, 0) })
    }

    /// Reads all of it and keeps nothing: afterwards every line is known to make sense.
    ///
    /// # Errors
    /// `Refused` when it is damaged anywhere: then nothing of it is to be trusted.
    pub fn check(&self) -> Result<(), KernelError> {
        let mut lines = self.lines()?;
        lines.next()?;
        while lines.entry()?.is_some() {
            if ramline_kernel::signals::interrupted() {
                return Err(KernelError::refused("read the hot set", &self.path, "interrupted", ""));
            }
        }
        // The checksum stands behind the last line.
        match lines.lines.read(&mut [0]) {
            Ok(0) => Ok(()),
            Ok(_) => Err(damaged(&self.path, "it goes on behind its end")),
            Err(error) => Err(damaged(&self.path, &error.to_string())),
        }
    }

    /// All files, in the order in which they are to be read, in pieces of a bounded size. What has been [checked](Reading::check) is read
    /// again; should it have been changed since, it ends there with an error.
    ///
    /// # Errors
    /// It cannot be read, or has been changed.
    pub fn pieces(&self) -> Result<Pieces<'_>, KernelError> {
        let mut lines = self.lines()?;
        lines.next()?;
        Ok(Pieces { lines, over: false })
    }
}

/// The files of a hot set, piece by piece.
pub struct Pieces<'a> {
    lines: Reader<'a>,
    over: bool,
}

/// Files of a piece, and what they may take in memory.
const PIECE: (usize, usize) = (1 << 16, 16 << 20);

impl Iterator for Pieces<'_> {
    type Item = Result<Vec<Entry>, KernelError>;

    fn next(&mut self) -> Option<Self::Item> {
        let (mut entries, mut size) = (Vec::new(), 0);
        while !self.over && entries.len() < PIECE.0 && size < PIECE.1 {
            match self.lines.entry() {
                Ok(Some(entry)) => {
                    size += entry.size();
                    entries.push(entry);
                }
                Ok(None) => self.over = true,
                Err(error) => {
                    self.over = true;
                    return Some(Err(error));
                }
            }
        }
        (!entries.is_empty()).then_some(Ok(entries))
    }
}

/// The lines, one after the other.
struct Reader<'a> {
    reading: &'a Reading,
    lines: Lines,
    /// Bytes that may still come.
    left: u64,
    text: Vec<u8>,
    /// Files so far, and what of them was hot.
    read: (u64, u64),
}

impl Reader<'_> {
    fn damaged(&self, how: &str) -> KernelError {
        damaged(&self.reading.path, how)
    }

    /// The next file; `None` at the end, whose counts must be those of what was read.
    fn entry(&mut self) -> Result<Option<Entry>, KernelError> {
        let (next, header) = (self.next()?, &self.reading.header);
        let wanted = (header.files, header.hot);
        match next {
            Line::File(record) => {
                let entry = record.entry(header.page).ok_or_else(|| self.damaged("a file's line makes no sense"))?;
                self.read = (self.read.0.saturating_add(1), self.read.1.saturating_add(entry.hot(header.page)));
                if self.read.0 <= header.files { Ok(Some(entry)) } else { Err(self.damaged("its counts are wrong")) }
            }
            Line::End { files, hot } if (files, hot) == self.read && (files, hot) == wanted => Ok(None),
            Line::End { .. } | Line::HotSet(_) => Err(self.damaged("its counts are wrong")),
        }
    }

    fn next(&mut self) -> Result<Line, KernelError> {
        self.text.clear();
        // What one long line needed is not kept for all.
        self.text.shrink_to(1 << 20);
        let got = (&mut self.lines).take(LONGEST.min(self.left)).read_until(b'\n', &mut self.text);
        match got {
            Ok(got) if self.text.ends_with(b"\n") => {
                self.left -= u64::try_from(got).unwrap_or(self.left).min(self.left)
            }
            Ok(got) if u64::try_from(got).is_ok_and(|got| got >= LONGEST.min(self.left)) => {
                return Err(self.damaged("a line is longer than any that is written"));
            }
            Err(error) if error.kind() != io::ErrorKind::UnexpectedEof => {
                return Err(self.damaged(&error.to_string()));
            }
            _ => return Err(self.damaged("it is cut short")),
        }
        serde_json::from_slice(&self.text).map_err(|error| self.damaged(&error.to_string()))
    }
}

impl Header {
    /// What a file of so many bytes can hold and a machine can have had in memory.
    fn is_possible(&self, size: u64) -> bool {
        // Linux has pages of 4 KiB to 256 KiB, and no physical address beyond 2^52.
        let page = self.page.is_power_of_two() && (4 << 10..=256 << 10).contains(&self.page);
        // Every line differs from the one before in name and inode: it takes more than a quarter of a byte.
        page && self.files <= MOST_FILES && self.files <= size.saturating_mul(4) && self.hot <= 1 << 52
    }
}
