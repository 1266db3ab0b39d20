//! One open file: what is resident of it, or why that is not known. Never a number that may be a lie.

use std::io;

use ramline_kernel::process;
use ramline_kernel::residency::{self, Method, Residency};
use ramline_snapshot::cache::{FileRow, Name, Source, Tally};
use ramline_units::Bytes;

use crate::shared::bytes;
use crate::walk::FoundFile;

/// What the kernel told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Asked {
    /// In pages.
    Known(Residency),
    /// Why not.
    Unknown(String),
}

/// Why the kernel does not tell.
const NOT_OURS: &str = "the kernel answers only the owner of the file and those who may write it";

/// Asks by the way that tells the truth on this file system, and counts it for whoever waits.
pub fn ask(found: &FoundFile<'_>) -> Asked {
    let asked = ask_range(found, (0, 0));
    if let Some(so_far) = found.so_far {
        so_far.add(asked.pages());
    }
    asked
}

/// The same of a range, as offset and length; length 0 is up to the end.
pub fn ask_range(found: &FoundFile<'_>, (offset, length): (u64, u64)) -> Asked {
    let none = |method| Residency {
        cached: 0,
        dirty: Some(0),
        writeback: Some(0),
        evicted: Some(0),
        recently_evicted: Some(0),
        method,
    };
    // Nothing can be cached of an empty file, and of a file mapped directly (cachestat would take its entries for evicted pages).
    if found.fs.dax || found.length() == 0 {
        return Asked::Known(none(Method::Cachestat));
    }
    let asked = match found.fs.method {
        Method::Cachestat => residency::cachestat(found.file, offset, length),
        Method::Mincore if !residency::mincore_tells_truth(found.file) => return Asked::Unknown(NOT_OURS.to_owned()),
        Method::Mincore => residency::mincore(found.file, offset, if length == 0 { u64::MAX } else { length }),
    };
    match asked {
        Ok(seen) => Asked::Known(seen),
        Err(error) => Asked::Unknown(why(&error)),
    }
}

fn why(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::PermissionDenied => NOT_OURS.to_owned(),
        io::ErrorKind::Unsupported => "the kernel does not count huge pages by file (hugetlbfs)".to_owned(),
        _ => format!("the kernel gives no answer: {error}"),
    }
}

impl Asked {
    /// Pages that are resident; 0 where not known.
    pub const fn pages(&self) -> u64 {
        match self {
            Asked::Known(seen) => seen.cached,
            Asked::Unknown(_) => 0,
        }
    }

    /// As a part of a sum.
    pub fn tally(&self, length: Bytes) -> Tally {
        let sum = |pages: Option<u64>| bytes(pages.unwrap_or(0));
        match self {
            Asked::Known(seen) => Tally {
                files: 1,
                length,
                span: length.whole_pages(process::page_size()),
                resident: bytes(seen.cached),
                dirty: sum(seen.dirty),
                writeback: sum(seen.writeback),
                evicted: sum(seen.evicted),
                recently_evicted: sum(seen.recently_evicted),
                resident_only: u64::from(seen.dirty.is_none()),
                ..Tally::default()
            },
            Asked::Unknown(_) => Tally { unknown: 1, unknown_length: length, ..Tally::default() },
        }
    }

    /// As a row.
    pub fn row(&self, name: Name, length: Bytes) -> FileRow {
        match self {
            Asked::Known(seen) => FileRow {
                name,
                length,
                source: if seen.method == Method::Cachestat { Source::Cachestat } else { Source::Mincore },
                resident: Some(bytes(seen.cached)),
                dirty: seen.dirty.map(bytes),
                writeback: seen.writeback.map(bytes),
                evicted: seen.evicted.map(bytes),
                recently_evicted: seen.recently_evicted.map(bytes),
                ..FileRow::default()
            },
            Asked::Unknown(why) => {
                FileRow { name, length, source: Source::Unknown, why: Some(why.clone()), ..FileRow::default() }
            }
        }
    }
}
