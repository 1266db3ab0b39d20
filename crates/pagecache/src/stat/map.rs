//! Where in a file its pages are: the file in equal parts, each counted by itself.
//!
//! What it is not: a list of pages. cachestat counts any range in one call, so a map of a file of many TiB is as cheap as one of a
//! short file; on overlayfs every page has to be asked about.

use std::fs::OpenOptions;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use ramline_kernel::{process, residency};
use ramline_snapshot::cache::{FileRow, Part};
use ramline_units::Bytes;

use crate::shared::bytes;

/// Opened again by its name: `None` when it is gone, empty, or its residency is not told.
pub fn of(row: &FileRow, parts: u64) -> Option<Vec<Part>> {
    row.resident?;
    let path = Path::new(std::ffi::OsStr::from_bytes(row.name.bytes()));
    let flags = i32::try_from((rustix::fs::OFlags::NONBLOCK | rustix::fs::OFlags::NOCTTY).bits()).ok()?;
    let file = OpenOptions::new().read(true).custom_flags(flags).open(path).ok()?;
    let all = ranges(residency::size(&file).ok()?, parts, process::page_size());
    let counted = all.into_iter().map(|(offset, length)| {
        let seen = residency::of_ranges(&file, path, &[(offset, length)]).ok()?;
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
