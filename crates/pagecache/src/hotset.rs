//! A hot set: which parts of which files were in the page cache, kept in a file.
//!
//! The file is one line of plain text, `ramline hot set 1`, and behind it one zstd frame with a checksum, of lines of JSON: a
//! header, a line a file in the order in which they are to be read again, and an end with the counts (`tail -n +2 FILE | zstd -d`
//! shows it). What it is not: contents; of each file it holds name, length, time of the last change, inode, device and pages.
//!
//! ```
//! use ramline_pagecache::hotset::Parts;
//! let mut parts = Parts::builder();
//! for (first, pages) in [(2, 1), (3, 4), (100, 2)] {
//!     parts.push(first, pages);
//! }
//! assert_eq!(parts.finish().iter().collect::<Vec<_>>(), [(2, 5), (100, 2)]);
//! ```

mod line;
mod parts;
mod reading;

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

pub use line::{FORMAT, is_name, write};
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

#[cfg(test)]
mod tests;
