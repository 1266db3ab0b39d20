//! Walks /tmp and the directories like it: bytes, inodes, and what of them is cached already.
//!
//! The walk stays on one file system, follows no link, counts hard links once and stops at its budget. What is mounted
//! below, and a place on a network file system, is not even looked at: a dead server never answers.

use std::os::unix::fs::OpenOptionsExt;

use ramline_kernel::residency::{self, Method};
use ramline_kernel::{mount, process};
use ramline_snapshot::dirs::DirUse;
use ramline_snapshot::mounts::{Mount, holding};

use super::mounts::is_local;
use super::reader::Reader;
use crate::prelude::*;

/// What a checkup looks at.
const PLACES: &[&str] = &["/tmp", "/var/tmp", "/dev/shm", "/run"];

/// At most this many inodes a directory, and this much time for all; beyond, the figures are lower bounds.
const INODES: u64 = 200_000;
const TIME: Duration = Duration::from_secs(3);
/// Kept for each directory still to come, so that a large /tmp does not take the time of all.
const SHARE: Duration = Duration::from_millis(250);

pub fn dirs(reader: &Reader<'_>) -> Seen<Vec<DirUse>> {
    if let Some(meta) = reader.meta() {
        let dirs = Some(meta.dirs.clone()).filter(|dirs| !dirs.is_empty());
        return dirs.map_or_else(|| Seen::Absent { path: "meta.json: dirs".into() }, Seen::new);
    }
    reader.timed(|| {
        let end = reader.ends(TIME);
        let mounts = mount::list(&Root::live()).unwrap_or_default();
        let after = (0..PLACES.len()).rev().map(|count| SHARE * u32::try_from(count).unwrap_or(0));
        let places = PLACES.iter().map(Path::new).zip(after);
        places.filter_map(|(place, after)| walk_within(place, true, &mounts, end - after)).collect()
    })
}

fn refused(dir: &Path) -> DirUse {
    DirUse { path: dir.to_string_lossy().into_owned(), refused: 1, complete: false, ..DirUse::default() }
}

/// Walks one directory; `None` when there is none. With `cached` every regular file is opened to ask how much of it is in the page cache.
fn walk_within(dir: &Path, cached: bool, mounts: &[Mount], end: Instant) -> Option<DirUse> {
    // Even to look at the root of a network file system can hang; the one everything is on has answered already.
    if holding(mounts, dir).is_some_and(|mounted| mounted.at != "/" && !is_local(&mounted.fs)) {
        return Some(refused(dir));
    }
    let real = fs::canonicalize(dir).ok().filter(|real| real.is_dir())?;
    let covered: HashSet<&Path> = mounts.iter().map(|mounted| Path::new(&mounted.at)).collect();
    Some(DirUse { path: dir.to_string_lossy().into_owned(), ..walk_real(&real, cached, &covered, end) })
}

/// `covered` are not looked at: a stat of a mount point is answered by what is mounted there, or never.
fn walk_real(dir: &Path, cached: bool, covered: &HashSet<&Path>, end: Instant) -> DirUse {
    let page = process::page_size();
    let Ok(top) = fs::metadata(dir) else { return refused(dir) };
    let mut out = DirUse { complete: true, inodes: 1, allocated: Bytes(top.blocks() * 512), ..DirUse::default() };
    let mut resident = cached.then_some(Bytes::ZERO);
    let mut linked = HashSet::new();
    let mut pending: Vec<PathBuf> = vec![dir.to_owned()];
    while let Some(next) = pending.pop() {
        let Ok(entries) = fs::read_dir(&next) else {
            out.refused += 1;
            continue;
        };
        for entry in entries.flatten() {
            if out.inodes >= INODES || Instant::now() > end {
                out.complete = false;
                out.cached = resident;
                return out;
            }
            let path = entry.path();
            if covered.contains(path.as_path()) {
                continue;
            }
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
                pending.push(path);
            } else if meta.is_file() {
                // A tmpfs allocates whole pages, and only for what is written: holes stay holes.
                let written = meta.len().min(meta.blocks().saturating_mul(512));
                out.on_tmpfs += Bytes(written.div_ceil(page) * page);
                resident = resident.map(|sum| sum + resident_bytes(&path, page).unwrap_or(Bytes::ZERO));
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
    let owner = file.metadata().ok()?.uid();
    let seen = residency::count(&file, path).ok()?;
    is_told(seen.method, owner, process::uid()).then(|| Bytes(seen.cached.saturating_mul(page)))
}

/// Of a file that is not ours, mincore(2) says that every page is resident.
fn is_told(method: Method, owner: u32, us: u32) -> bool {
    method != Method::Mincore || us == 0 || owner == us
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
        let seen = walk_within(dir.path(), true, &[], Instant::now() + TIME).unwrap();
        assert_eq!(seen.inodes, 5, "the directory, a, sub, c and the link");
        assert_eq!(seen.on_tmpfs, Bytes(4096 + 8192));
        assert!(seen.complete && seen.refused == 0);
        assert!(seen.cached.is_some_and(|c| c >= Bytes(4096)), "a freshly written file is warm");
    }

    #[test]
    fn what_is_mounted_below_is_not_looked_at() {
        let dir = tempfile::tempdir().unwrap();
        let real = fs::canonicalize(dir.path()).unwrap();
        fs::create_dir(real.join("dead")).unwrap();
        fs::write(real.join("dead/far"), "x").unwrap();
        let end = Instant::now() + Duration::from_secs(60);
        let seen = walk_real(&real, false, &HashSet::from([real.join("dead").as_path()]), end);
        assert_eq!((seen.inodes, seen.complete), (1, true), "neither the mount point nor what is below it");
    }

    #[test]
    fn a_directory_on_a_network_file_system_is_refused_without_a_look() {
        let on = |at: &str, fs: &str| Mount {
            dev: "0:1".to_owned(),
            at: at.into(),
            root: "/".into(),
            fs: fs.into(),
            source: "x".into(),
            ..Mount::default()
        };
        let mounts = [on("/", "9p"), on("/no/such", "ext4"), on("/no/such", "nfs4"), on("/no/such/local", "ext4")];
        let end = Instant::now() + Duration::from_secs(60);
        let seen =
            |dir: &str| walk_within(Path::new(dir), true, &mounts, end).map(|seen| (seen.refused, seen.complete));
        assert_eq!(seen("/no/such/tmp"), Some((1, false)));
        assert_eq!(seen("/no/such/local/tmp"), None, "looked at, and not there");
        assert_eq!(seen("/no/tmp"), None);
    }

    #[test]
    fn past_its_time_a_walk_says_that_it_is_not_complete() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("a"), "x").unwrap();
        assert!(!walk_real(dir.path(), false, &HashSet::new(), Instant::now() - Duration::from_millis(1)).complete);
    }

    #[test]
    fn mincore_is_believed_only_about_our_own_files() {
        assert!(is_told(Method::Cachestat, 1, 2) && is_told(Method::Mincore, 2, 2) && is_told(Method::Mincore, 1, 0));
        assert!(!is_told(Method::Mincore, 0, 1000));
    }
}
