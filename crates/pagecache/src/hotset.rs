//! A hot set: which parts of which files were in the page cache, kept in a file.
//!
//! The file is one line of plain text, `ramline hot set 1`, and behind it one zstd frame with a checksum, of lines of JSON: a
//! header, a line a file in the order in which they are to be read again, and an end with the counts (`tail -n +2 FILE | zstd -d`
//! shows it). Contents are not in it: of each file it holds name, length, time of the last change, inode, device and pages.
//!
//! ```
//! use ramline_pagecache::hotset::Parts;
//! let mut parts = Parts::builder();
//! for (first, pages) in [(2, 1), (3, 4), (100, 2)] {
//!     parts.push(first, pages);
//! }
//! assert_eq!(parts.finish().iter().collect::<Vec<_>>(), [(2, 5), (100, 2)]);
//! ```

mod parts;
mod reading;

use std::io::Write;

use ramline_kernel::output::{Format, Output};
use serde::{Deserialize, Serialize};

use crate::prelude::*;

pub use parts::{Building, Parts};
pub use reading::{Pieces, Reading, is_damaged, read};

/// The version of the file that is written and read.
pub const VERSION: u32 = 1;
/// Files of a hot set, at most: each costs a moment of memory when it is read. What goes beyond is left out when it is saved, and counted.
pub const MOST_FILES: u64 = 4 << 20;
/// Numbers of one line. A file of more parts is in several lines that follow each other.
pub const MOST_NUMBERS: usize = 1 << 20;

/// Where and when a hot set was saved.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Header {
    /// Milliseconds since 1970.
    pub saved_ms: u64,
    /// What tells machines apart (/etc/machine-id, hashed); `None` where there is none.
    pub machine: Option<String>,
    /// The boot in which it was saved.
    pub boot: String,
    /// Seconds since that boot.
    pub up_s: u64,
    /// Bytes of a page: parts are counted in them.
    pub page: u64,
    /// Files.
    pub files: u64,
    /// Bytes that were in the page cache, in whole pages.
    pub hot: u64,
}

/// One file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// Its name, from the root.
    pub path: PathBuf,
    /// Its length.
    pub length: u64,
    /// Its last change, in nanoseconds since 1970.
    pub mtime_ns: i64,
    /// Its inode.
    pub inode: u64,
    /// Its device; numbers may differ after a boot.
    pub device: u64,
    /// What of it was in the page cache; `None` is all.
    pub parts: Option<Parts>,
}

impl Entry {
    /// Pages that were in the page cache.
    #[must_use]
    pub fn pages(&self, page: u64) -> u64 {
        self.parts.as_ref().map_or_else(|| self.length.div_ceil(page.max(1)), Parts::pages)
    }

    /// The same in bytes, in whole pages.
    #[must_use]
    pub fn hot(&self, page: u64) -> u64 {
        self.pages(page).saturating_mul(page)
    }

    /// About what it takes in memory.
    #[must_use]
    pub fn size(&self) -> usize {
        let parts = self.parts.as_ref().map_or(0, Parts::size);
        std::mem::size_of::<Entry>() + self.path.as_os_str().len() + parts
    }

    /// In pieces of as many parts as a line may have.
    #[must_use]
    pub fn split(self) -> Vec<Entry> {
        match self.parts.as_ref().map(|parts| parts.split(MOST_NUMBERS / 2)) {
            Some(pieces) if pieces.len() > 1 => {
                pieces.into_iter().map(|parts| Entry { parts: Some(parts), ..self.clone() }).collect()
            }
            _ => vec![self],
        }
    }

    /// What is to be read, as offset and length in bytes; never beyond the file.
    #[must_use]
    pub fn ranges(&self, page: u64) -> Vec<(u64, u64)> {
        let whole = || vec![(0, self.length)];
        let cut = |(first, pages): (u64, u64)| {
            let at = first.saturating_mul(page);
            let length = pages.saturating_mul(page).min(self.length.saturating_sub(at));
            (length > 0).then_some((at, length))
        };
        self.parts.as_ref().map_or_else(whole, |parts| parts.iter().filter_map(cut).collect())
    }
}

/// Ranges that were cut by pages of one size, in pages of another: where those are larger several ranges may lie in one.
#[must_use]
pub fn in_pages(ranges: Vec<(u64, u64)>, page: u64, own: u64, length: u64) -> Vec<(u64, u64)> {
    if own <= page {
        return ranges;
    }
    let mut out: Vec<(u64, u64)> = Vec::new();
    for (at, bytes) in ranges {
        let begin = at / own * own;
        let end = at.saturating_add(bytes).div_ceil(own).saturating_mul(own).min(length);
        match out.last_mut() {
            Some((last, size)) if *last + *size >= begin => *size = end.saturating_sub(*last),
            _ => out.push((begin, end.saturating_sub(begin))),
        }
    }
    out
}

/// Last change in nanoseconds, as stat(2) gives it.
#[must_use]
pub fn mtime_ns(stat: &rustix::fs::Stat) -> i64 {
    let nanos = i64::try_from(stat.st_mtime_nsec).unwrap_or(0);
    stat.st_mtime.saturating_mul(1_000_000_000).saturating_add(nanos)
}

/// How the first line begins; behind it stands the version.
const MAGIC: &str = "ramline hot set ";
/// How the file begins, and who may read it.
pub const FORMAT: Format = Format { begins: MAGIC.as_bytes(), mode: 0o600 };
/// linux/limits.h: PATH_MAX, the NUL counted. The kernel opens nothing longer.
const PATH_MAX: usize = 4096;
/// No file is longer: off_t.
const MOST_LENGTH: u64 = i64::MAX.unsigned_abs();
/// More gains little here and costs time.
const LEVEL: i32 = 3;

/// One line.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Line {
    HotSet(Header),
    File(Record),
    End { files: u64, hot: u64 },
}

#[derive(Serialize, Deserialize)]
struct Record {
    path: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    path_bytes: Option<Vec<u8>>,
    length: u64,
    mtime_ns: i64,
    inode: u64,
    device: u64,
    /// Gap and length in pages by turns; left out where all of the file was hot.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    parts: Option<Parts>,
}

impl Record {
    fn new(entry: &Entry) -> Record {
        let name = crate::shared::name(&entry.path);
        let parts = entry.parts.clone();
        let Entry { length, mtime_ns, inode, device, .. } = *entry;
        Record { path: name.path, path_bytes: name.path_bytes, length, mtime_ns, inode, device, parts }
    }

    /// `None` where it makes no sense.
    fn entry(self, page: u64) -> Option<Entry> {
        let Record { length, mtime_ns, inode, device, .. } = self;
        let path = match self.path_bytes {
            Some(bytes) => PathBuf::from(std::ffi::OsStr::from_bytes(&bytes)),
            None => PathBuf::from(self.path),
        };
        let entry = Entry { path, length, mtime_ns, inode, device, parts: self.parts };
        // Pages are of the file, and a page that is only begun counts.
        let within = entry.parts.as_ref().is_none_or(|parts| parts.end() <= length.div_ceil(page));
        (entry.path.is_absolute() && is_name(&entry.path) && length <= MOST_LENGTH && within).then_some(entry)
    }
}

/// The kernel could open it.
pub fn is_name(path: &Path) -> bool {
    let bytes = path.as_os_str().as_bytes();
    bytes.len() < PATH_MAX && !bytes.contains(&0)
}

/// Writes a hot set to its place; its size.
///
/// # Errors
/// When it cannot be written whole; what was there stays.
pub fn write(output: Output, header: &Header, entries: &[Entry]) -> Result<Bytes, KernelError> {
    output.write_with(|out| fill(out, header, entries)).map(Bytes)
}

fn fill(mut out: &mut dyn Write, header: &Header, entries: &[Entry]) -> io::Result<()> {
    writeln!(out, "{MAGIC}{VERSION}")?;
    let mut frame = zstd::Encoder::new(&mut out, LEVEL)?;
    frame.include_checksum(true)?;
    let mut text = Vec::new();
    let mut put = |line: &Line| {
        text.clear();
        serde_json::to_writer(&mut text, line)?;
        text.push(b'\n');
        frame.write_all(&text)
    };
    put(&Line::HotSet(header.clone()))?;
    for entry in entries {
        put(&Line::File(Record::new(entry)))?;
    }
    put(&Line::End { files: header.files, hot: header.hot })?;
    frame.finish()?.flush()
}

#[cfg(test)]
mod tests;
