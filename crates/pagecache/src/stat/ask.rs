//! One open file: what is resident of it, or why that is not known. Never a number that may be a lie.

use std::fs::OpenOptions;
use std::os::unix::fs::OpenOptionsExt;

use ramline_kernel::residency::{Method, Residency};
use ramline_snapshot::cache::{Name, Part, Source};

use crate::prelude::*;

/// Residency in pages, or why it is not known.
pub type ResidencyResult = Result<Residency, String>;

/// Why the kernel does not tell.
const NOT_OURS: &str = "the kernel answers only the owner of the file and those who may write it";

/// Asks by the way that tells the truth on this file system, and counts it for whoever waits.
pub fn ask(found: &FoundFile<'_>) -> ResidencyResult {
    let asked = ask_range(found, (0, 0));
    if let Some(so_far) = found.so_far {
        so_far.add(pages(&asked));
    }
    asked
}

/// The same of a range, as offset and length; length 0 is up to the end.
pub fn ask_range(found: &FoundFile<'_>, (offset, length): (u64, u64)) -> ResidencyResult {
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
        return Ok(none(Method::Cachestat));
    }
    let asked = match found.fs.method {
        Method::Cachestat => residency::cachestat(found.file, offset, length),
        Method::Mincore if !residency::mincore_tells_truth(found.file) => return Err(NOT_OURS.to_owned()),
        Method::Mincore => residency::mincore(found.file, offset, if length == 0 { u64::MAX } else { length }),
    };
    asked.map_err(|error| why(&error))
}

fn why(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::PermissionDenied => NOT_OURS.to_owned(),
        io::ErrorKind::Unsupported => "the kernel does not count huge pages by file (hugetlbfs)".to_owned(),
        _ => format!("the kernel gives no answer: {error}"),
    }
}

/// Pages that are resident; 0 where not known.
pub fn pages(asked: &ResidencyResult) -> u64 {
    asked.as_ref().map_or(0, |seen| seen.cached)
}

/// As a part of a sum.
pub fn tally(asked: &ResidencyResult, length: Bytes) -> Tally {
    let Ok(seen) = asked else { return Tally { unknown: 1, unknown_length: length, ..Tally::default() } };
    let sum = |pages: Option<u64>| bytes(pages.unwrap_or(0));
    Tally {
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
    }
}

/// As a row.
pub fn row(asked: &ResidencyResult, name: Name, length: Bytes) -> FileRow {
    match asked {
        Ok(seen) => FileRow {
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
        Err(why) => FileRow { name, length, source: Source::Unknown, why: Some(why.clone()), ..FileRow::default() },
    }
}

/// Where in a file its pages are: the file in equal parts, each counted by itself. Opened again by its name: `None` when it is gone, empty, or its residency is not told.
pub fn map(row: &FileRow, parts: u64) -> Option<Vec<Part>> {
    row.resident?;
    let path = Path::new(std::ffi::OsStr::from_bytes(row.name.bytes()));
    let flags = i32::try_from((rustix::fs::OFlags::NONBLOCK | rustix::fs::OFlags::NOCTTY).bits()).ok()?;
    let file = OpenOptions::new().read(true).custom_flags(flags).open(path).ok()?;
    let all = ranges(residency::size(&file).ok()?, parts, process::page_size());
    let counted = all.into_iter().map(|(offset, length)| {
        let seen = residency::count_ranges(&file, path, &[(offset, length)]).ok()?;
        Some(Part { offset: Bytes(offset), length: Bytes(length), resident: bytes(seen.cached) })
    });
    counted.collect::<Option<Vec<Part>>>().filter(|parts| !parts.is_empty())
}

/// A length in at most so many parts of whole pages, as offset and length.
fn ranges(length: u64, parts: u64, page: u64) -> Vec<(u64, u64)> {
    let pages = length.div_ceil(page);
    let each = pages.div_ceil(parts.max(1)).max(1);
    (0..pages.div_ceil(each)).map(|n| (n * each * page, each.min(pages - n * each) * page)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_whole_pages_and_cover_the_file() {
        assert_eq!(ranges(0, 64, 4096), []);
        assert_eq!(ranges(6000, 64, 4096), [(0, 4096), (4096, 4096)]);
        assert_eq!(ranges(5 * 4096, 2, 4096), [(0, 3 * 4096), (3 * 4096, 2 * 4096)]);
        assert!(ranges(10 << 40, 64, 4096).len() <= 64);
    }
}
