//! A large file that is already there, for measurements that must not write.
//!
//! Ordinary places are looked through for a short time, on one file system,
//! without following links; only files without holes count, because a hole is read from nowhere.

use std::os::unix::fs::{MetadataExt, OpenOptionsExt};

use ramline_kernel::input::Looked;

use crate::prelude::*;

/// Where large files of an installed system are.
const PLACES: &[&str] =
    &["/usr/lib", "/usr/lib64", "/usr/bin", "/usr/share", "/var/lib", "/var/cache", "/opt", "/boot", "/home", "/srv"];
/// Below this a file says little about its disk.
pub const LEAST: Bytes = Bytes::from_mib(8);
/// Large enough to stop looking.
const PLENTY: Bytes = Bytes::from_mib(512);
const TIME: Duration = Duration::from_millis(250);
const DEEPEST: usize = 4;

/// The largest readable file without holes on the file system of `dir`: below `dir`, or in the usual places for `/`.
pub fn largest(dir: &Path) -> Option<(File, PathBuf, Bytes)> {
    let device = std::fs::metadata(dir).ok()?.dev();
    let mut folders: Vec<(PathBuf, usize)> = if dir == Path::new("/") {
        PLACES.iter().rev().map(|place| (PathBuf::from(place), 0)).collect()
    } else {
        vec![(dir.to_owned(), 0)]
    };
    let start = Instant::now();
    let mut best: Option<(File, PathBuf, Bytes)> = None;
    while let Some((folder, depth)) = folders.pop() {
        if start.elapsed() > TIME || best.as_ref().is_some_and(|(_, _, size)| *size >= PLENTY) {
            break;
        }
        // Looked at without being entered: a link to a folder is none, and what an automounter would mount stays unmounted.
        if !Looked::at(&folder, false).is_ok_and(|it| it.is_dir() && it.stat.st_dev == device) {
            continue;
        }
        for entry in std::fs::read_dir(&folder).into_iter().flatten().flatten() {
            let Ok(it) = Looked::at(&entry.path(), false) else { continue };
            if it.is_dir() && depth < DEEPEST {
                folders.push((entry.path(), depth + 1));
            }
            let of = |n: i64| u64::try_from(n).unwrap_or(0);
            let (length, on_disk) = (of(it.stat.st_size), of(it.stat.st_blocks).saturating_mul(512));
            let size = Bytes(length);
            let better = best.as_ref().map_or(LEAST, |(_, _, size)| *size);
            if it.is_file() && it.stat.st_dev == device && on_disk >= length && size > better {
                best = open(&entry.path()).map(|file| (file, entry.path(), size)).or(best);
            }
        }
    }
    best
}

fn open(path: &Path) -> Option<File> {
    // Without O_NOATIME reading would write the time of access later; only owner and root may ask for it.
    let with = |flags| File::options().read(true).custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK | flags).open(path);
    with(libc::O_NOATIME).or_else(|_| with(0)).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_file_without_holes_is_found_and_links_are_not_followed() {
        let dir = tempfile::tempdir_in(".").unwrap();
        let inner = dir.path().join("inner");
        std::fs::create_dir(&inner).unwrap();
        std::fs::write(inner.join("whole"), vec![1u8; 9 << 20]).unwrap();
        std::fs::write(dir.path().join("small"), vec![1u8; 1 << 20]).unwrap();
        File::create(dir.path().join("hole")).unwrap().set_len(64 << 20).unwrap();
        std::os::unix::fs::symlink(inner.join("whole"), dir.path().join("link")).unwrap();
        // Delayed allocation: blocks are counted once they are allocated.
        File::open(inner.join("whole")).unwrap().sync_all().unwrap();
        let (_, path, size) = largest(dir.path()).unwrap();
        assert_eq!((path, size), (inner.join("whole"), Bytes::from_mib(9)));
    }

    #[test]
    fn small_files_are_not_enough() {
        let dir = tempfile::tempdir_in(".").unwrap();
        std::fs::write(dir.path().join("small"), vec![1u8; 1 << 20]).unwrap();
        assert!(largest(dir.path()).is_none());
    }
}
