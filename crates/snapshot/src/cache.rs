//! Files in the page cache: what was seen of them, what was evicted, what was warmed.
//!
//! The documents of `cache stat`, `top`, `evict` and `warm` as plain data. Not a section of the snapshot; it is
//! about the files that were named. All sizes are those of one moment, in bytes of whole pages unless they are lengths of files.
//!
//! ```
//! use ramline_snapshot::cache::Tally;
//! use ramline_units::Bytes;
//! let mut all = Tally::default();
//! let one = Tally { files: 1, length: Bytes(6000), span: Bytes(8192), resident: Bytes(4096), ..Tally::default() };
//! all.add(&one);
//! all.add(&one);
//! assert_eq!((all.files, all.resident, all.share()), (2, Bytes(8192), Some(0.5)));
//! ```

mod done;
mod hotset;
mod machine;
mod traced;

use crate::prelude::*;

pub use done::{Apart, Doing, EvictedFile, EvictedFiles, Holder, Pinned, Ran, Stay, Stop, Warmed, WarmedFile, Why};
pub use hotset::{Restored, Saved};
pub use machine::{CacheHolder, CacheUser, HotFile, Top};
pub use traced::{Level, Look, Pushed, Recorded, Taken, Touched, Traced, TracedFile, TracedProcess, Watched};

/// Sums over files, at one moment.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Tally {
    /// Files whose residency is known; one with several names once.
    pub files: u64,
    /// Their lengths.
    pub length: Bytes,
    /// Their lengths in whole pages: what would be resident if all of each was. Holes count.
    pub span: Bytes,
    /// In the page cache.
    pub resident: Bytes,
    /// Of it, changed and not yet written; of the files for which that is known.
    pub dirty: Bytes,
    /// Of it, being written; of the files for which that is known.
    pub writeback: Bytes,
    /// Evicted by reclaim and not read again; in swap, for files in memory. Of the files for which that is known.
    pub evicted: Bytes,
    /// Of it, evicted so recently that reading it again would show that the cache is too small.
    pub recently_evicted: Bytes,
    /// Files of which only the residency is known (asked by mincore), not what is dirty or evicted.
    pub resident_only: u64,
    /// Files whose residency is not known.
    pub unknown: u64,
    /// Their lengths, where they are known.
    pub unknown_length: Bytes,
}

impl Tally {
    /// Adds another.
    pub fn add(&mut self, other: &Tally) {
        add_each!(self, other; files, length, span, resident, dirty, writeback, evicted, recently_evicted,
            resident_only, unknown, unknown_length);
    }

    /// The share that is resident, 0 to 1; `None` of nothing. Pages beyond the end of a file can make it exceed 1: it is cut there.
    #[must_use]
    pub fn share(&self) -> Option<f64> {
        self.resident.share_of(self.span).map(|share| share.min(1.0))
    }

    /// All files, also those whose residency is not known.
    #[must_use]
    pub const fn all_files(&self) -> u64 {
        self.files.saturating_add(self.unknown)
    }

    /// The lengths of all files, as far as they are known.
    #[must_use]
    pub fn all_length(&self) -> Bytes {
        self.length + self.unknown_length
    }

    /// What would be resident if all of each file was: whole pages, or the length where the residency is not known.
    #[must_use]
    pub fn all_span(&self) -> Bytes {
        self.span + self.unknown_length
    }

    /// True when dirty and evicted are known of at least one file.
    #[must_use]
    pub const fn knows_more(&self) -> bool {
        self.files > self.resident_only
    }
}

/// A name of a file: as text, and as bytes where it is no text.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Name {
    /// The path; bytes that are no UTF-8 are replaced.
    pub path: String,
    /// The bytes of the path, only where it is no UTF-8.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path_bytes: Option<Vec<u8>>,
}

impl Name {
    /// From the bytes of a path.
    #[must_use]
    pub fn new(bytes: &[u8]) -> Name {
        match std::str::from_utf8(bytes) {
            Ok(path) => Name { path: path.to_owned(), path_bytes: None },
            Err(_) => Name { path: String::from_utf8_lossy(bytes).into_owned(), path_bytes: Some(bytes.to_owned()) },
        }
    }

    /// The bytes of the path.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        self.path_bytes.as_deref().unwrap_or(self.path.as_bytes())
    }
}

/// How a residency was learnt.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Source {
    /// cachestat(2).
    #[default]
    Cachestat,
    /// mincore(2): what is dirty or evicted is not known.
    Mincore,
    /// Not at all.
    Unknown,
}

/// One file, at one moment.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct FileRow {
    /// Its name.
    #[serde(flatten)]
    pub name: Name,
    /// Its length.
    pub length: Bytes,
    /// How it was learnt.
    pub source: Source,
    /// In the page cache; `None` where that is not known.
    pub resident: Option<Bytes>,
    /// Of it, changed and not yet written.
    pub dirty: Option<Bytes>,
    /// Of it, being written.
    pub writeback: Option<Bytes>,
    /// Evicted by reclaim and not read again; in swap, for files in memory.
    pub evicted: Option<Bytes>,
    /// Of it, evicted recently.
    pub recently_evicted: Option<Bytes>,
    /// Why its residency is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// Where in the file it is resident: equal parts in order; only when asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub map: Option<Vec<Part>>,
}

impl FileRow {
    /// The share that is resident, of the length in whole pages.
    #[must_use]
    pub fn share(&self, page: u64) -> Option<f64> {
        let span = Bytes(self.length.0.div_ceil(page.max(1)).saturating_mul(page));
        self.resident?.share_of(span).map(|share| share.min(1.0))
    }
}

/// A part of a file.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Part {
    /// Where it begins.
    pub offset: Bytes,
    /// How long it is.
    pub length: Bytes,
    /// Of it in the page cache.
    pub resident: Bytes,
}

/// A directory, or something that was named on the command line.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Tree {
    /// Its name.
    #[serde(flatten)]
    pub name: Name,
    /// Directories between it and the one that was named; 0 for that itself.
    pub depth: u32,
    /// Everything in it and below.
    #[serde(flatten)]
    pub tally: Tally,
}

/// Files that share a reason or a remark.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Remark {
    /// What is to be said.
    pub text: String,
    /// Files it is true of.
    pub files: u64,
    /// One of them, or the directory where it begins.
    pub example: Option<Name>,
}

/// What `cache stat` saw, at one moment.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Stat {
    /// Bytes of a page.
    pub page: Bytes,
    /// All files.
    pub total: Tally,
    /// What was named, in that order.
    pub named: Vec<Tree>,
    /// Directories, the most resident first; only when asked for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub directories: Vec<Tree>,
    /// The files with the most in the page cache, the most first; as many as were asked for.
    pub files: Vec<FileRow>,
    /// Why the residency of files is not known.
    pub unknown: Vec<Remark>,
    /// What is peculiar about the file systems met.
    pub remarks: Vec<Remark>,
    /// What was passed over, and why: other file systems, links, names that are excluded.
    pub skipped: Vec<Remark>,
    /// Directories that were read.
    pub directories_read: u64,
    /// What failed; each was printed on stderr.
    pub failed: u64,
    /// Of it, for want of permission.
    pub denied: u64,
    /// Files and directories that were gone before they could be asked: no failure.
    pub vanished: u64,
    /// What else evicts here, so that these figures fall by themselves: named.
    pub evictors: Vec<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_is_no_text_keeps_its_bytes() {
        assert_eq!(Name::new(b"a b").path_bytes, None);
        let name = Name::new(b"a\xff");
        assert_eq!((name.path.as_str(), name.path_bytes), ("a\u{fffd}", Some(vec![b'a', 0xff])));
    }

    #[test]
    fn the_share_of_a_short_file_is_that_of_its_pages() {
        let row = FileRow { length: Bytes(6000), resident: Some(Bytes(4096)), ..FileRow::default() };
        assert_eq!(row.share(4096), Some(0.5));
        assert_eq!(FileRow::default().share(4096), None);
    }

    #[test]
    fn files_of_which_nothing_is_known_are_among_all_files() {
        let tally = Tally {
            files: 2,
            length: Bytes(6000),
            span: Bytes(8192),
            unknown: 1,
            unknown_length: Bytes(100),
            ..Tally::default()
        };
        assert_eq!((tally.all_files(), tally.all_length(), tally.all_span()), (3, Bytes(6100), Bytes(8292)));
    }

    #[test]
    fn sums_of_impossible_counts_end_at_the_end_of_the_range() {
        let most = u64::MAX;
        let mut sum = Tally { files: most, resident_only: 1, unknown: most, resident: Bytes(most), ..Tally::default() };
        let other = sum;
        sum.add(&other);
        assert_eq!((sum.files, sum.resident_only, sum.unknown, sum.resident), (most, 2, most, Bytes(most)));
        let text =
            "{\"read_hits\":M,\"read_misses\":M,\"faults\":M,\"mapped_misses\":5}".replace('M', &most.to_string());
        let mut touched: Touched = serde_json::from_str(&text).unwrap();
        assert_eq!((touched.hits(), touched.misses(), touched.asked()), (most, most, most));
        let other = touched;
        touched.add(&other);
        assert_eq!((touched.read_hits, touched.mapped_misses, touched.reads), (most, 10, 0));
    }
}
