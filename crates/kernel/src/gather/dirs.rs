//! Walks /tmp and the directories like it: bytes, inodes, and what of them is cached already.
//!
//! The walk stays on one file system, follows no link, counts hard links once and stops at its budget.

use std::collections::HashSet;
use std::fs;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use ramline_snapshot::Seen;
use ramline_snapshot::dirs::DirUse;
use ramline_units::Bytes;

use super::reader::Reader;
use crate::residency;

/// What a checkup looks at.
const PLACES: &[&str] = &["/tmp", "/var/tmp", "/dev/shm", "/run"];

/// At most this many inodes and this much time a directory; beyond, the figures are lower bounds.
const BUDGET: (u64, Duration) = (200_000, Duration::from_secs(2));

pub fn dirs(reader: &Reader<'_>) -> Seen<Vec<DirUse>> {
    if let Some(meta) = reader.meta() {
        return if meta.dirs.is_empty() {
            Seen::Absent { path: "meta.json: dirs".into() }
        } else {
            Seen::of(meta.dirs.clone())
        };
    }
    reader.timed("/tmp", || PLACES.iter().filter(|p| Path::new(p).is_dir()).map(|p| walk(Path::new(p), true)).collect())
}

/// Walks one directory. With `cached` every regular file is opened to ask how much of it is in the page cache.
#[must_use]
pub fn walk(dir: &Path, cached: bool) -> DirUse {
    let start = Instant::now();
    let page = u64::try_from(rustix::param::page_size()).unwrap_or(4096);
    let mut out = DirUse { path: dir.to_string_lossy().into_owned(), complete: true, ..DirUse::default() };
    let Ok(top) = fs::metadata(dir) else { return DirUse { refused: 1, complete: false, ..out } };
    out.inodes = 1;
    out.allocated = Bytes(top.blocks() * 512);
    let mut resident = cached.then_some(Bytes::ZERO);
    let mut linked = HashSet::new();
    let mut pending: Vec<PathBuf> = vec![dir.to_owned()];
    while let Some(next) = pending.pop() {
        let Ok(entries) = fs::read_dir(&next) else {
            out.refused += 1;
            continue;
        };
        for entry in entries.flatten() {
            let Ok(meta) = entry.metadata() else {
                out.refused += 1;
                continue;
            };
            if meta.dev() != top.dev() || (meta.nlink() > 1 && meta.is_file() && !linked.insert(meta.ino())) {
                continue;
            }
            out.inodes += 1;
            out.allocated += Bytes(meta.blocks() * 512);
            if meta.is_dir() {
                pending.push(entry.path());
            } else if meta.is_file() {
                // A tmpfs allocates whole pages, and only for what is written: holes stay holes.
                let written = meta.len().min(meta.blocks().saturating_mul(512));
                out.on_tmpfs += Bytes(written.div_ceil(page) * page);
                resident = resident.map(|sum| sum + resident_bytes(&entry.path(), page).unwrap_or(Bytes::ZERO));
            }
            if out.inodes >= BUDGET.0 || start.elapsed() > BUDGET.1 {
                out.complete = false;
                out.cached = resident;
                return out;
            }
        }
    }
    out.cached = resident;
    out
}

/// Bytes of a regular file in the page cache; `None` when it cannot be opened or asked.
fn resident_bytes(path: &Path, page: u64) -> Option<Bytes> {
    let flags = i32::try_from((rustix::fs::OFlags::NOFOLLOW | rustix::fs::OFlags::NONBLOCK).bits()).ok()?;
    let file = fs::OpenOptions::new().read(true).custom_flags(flags).open(path).ok()?;
    residency::of(&file, path).ok().map(|seen| Bytes(seen.cached.saturating_mul(page)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hard_links_count_once_and_small_files_fill_whole_pages() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("a"), [1; 10]).unwrap();
        fs::hard_link(dir.path().join("a"), dir.path().join("b")).unwrap();
        fs::create_dir(dir.path().join("sub")).unwrap();
        fs::write(dir.path().join("sub/c"), vec![1; 4097]).unwrap();
        std::os::unix::fs::symlink("/", dir.path().join("loop")).unwrap();
        let seen = walk(dir.path(), true);
        assert_eq!(seen.inodes, 5, "the directory, a, sub, c and the link");
        assert_eq!(seen.on_tmpfs, Bytes(4096 + 8192));
        assert!(seen.complete && seen.refused == 0);
        assert!(seen.cached.is_some_and(|c| c >= Bytes(4096)), "a freshly written file is warm");
    }
}
