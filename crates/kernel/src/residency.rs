//! How much of a file is in the page cache, and evicting it with proof.
//!
//! What it is not: a list of which pages; only counts. cachestat(2) (Linux 6.5) where the kernel has it, else mincore(2)
//! over a mapping, which cannot tell dirty pages. [`of_ranges`] asks by the page cache's own truth: cachestat finds nothing of
//! a file on overlayfs (its pages belong to the file below), so there mincore is asked.
//!
//! ```no_run
//! let file = std::fs::File::open("/usr/bin/env").map_err(|e| ramline_kernel::KernelError::io("open", "/usr/bin/env", e))?;
//! let evicted = ramline_kernel::residency::evict(&file, "/usr/bin/env".as_ref())?;
//! println!("{} pages before, {} after", evicted.before.cached, evicted.after.cached);
//! # Ok::<(), ramline_kernel::KernelError>(())
//! ```

#![expect(unsafe_code, reason = "cachestat and mincore")]

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::Path;

use crate::error::{KernelError, Result};
use crate::sys::{check, fadvise, page_size};

/// The same number on every architecture (Linux 6.5).
const SYS_CACHESTAT: libc::c_long = 451;

/// How the counts were obtained.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// cachestat(2).
    Cachestat,
    /// mincore(2): only `cached` is known, and only for files we own or may write (else all pages look resident).
    Mincore,
}

/// Pages of one file in the page cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Residency {
    /// Pages of the file in the page cache.
    pub cached: u64,
    /// Of these, dirty.
    pub dirty: Option<u64>,
    /// Of these, being written back.
    pub writeback: Option<u64>,
    /// Pages evicted whose shadow entry is still there.
    pub evicted: Option<u64>,
    /// Of these, evicted recently enough that a read would count as a refault of the working set.
    pub recently_evicted: Option<u64>,
    /// How it was counted.
    pub method: Method,
}

#[repr(C)]
struct Range {
    off: u64,
    len: u64,
}

#[repr(C)]
#[derive(Default)]
struct Stat {
    cache: u64,
    dirty: u64,
    writeback: u64,
    evicted: u64,
    recently_evicted: u64,
}

/// Counts the pages of the whole file.
///
/// # Errors
/// `Denied` when the file is not ours to ask about, `Io` otherwise.
pub fn of(file: &File, path: &Path) -> Result<Residency> {
    if is_overlay(file).unwrap_or(false) {
        return of_ranges(file, path, &[(0, u64::MAX)]);
    }
    match cachestat(file, 0, 0) {
        Err(error) if matches!(error.raw_os_error(), Some(libc::ENOSYS | libc::EOPNOTSUPP)) => mincore(file),
        other => other,
    }
    .map_err(|error| KernelError::io("count the cached pages of", path, error))
}

/// Counts the pages of parts of a file, given as offset and length in bytes; parts must not overlap.
///
/// # Errors
/// `Denied` where the kernel would not tell the truth about a file that is not ours (mincore then says that every page is
/// there), `Unsupported` on hugetlbfs.
pub fn of_ranges(file: &File, path: &Path, ranges: &[(u64, u64)]) -> Result<Residency> {
    let failed = |error| KernelError::io("count the cached pages of", path, error);
    if !is_overlay(file).map_err(failed)? {
        match ranges_by(file, ranges, cachestat) {
            Err(error) if error.raw_os_error() == Some(libc::ENOSYS) => {}
            other => return other.map_err(failed),
        }
    }
    refuse_to_be_fooled(file, path)?;
    ranges_by(file, ranges, mincore_range).map_err(failed)
}

/// Of a file that is not ours mincore says that every page is there.
fn refuse_to_be_fooled(file: &File, path: &Path) -> Result<()> {
    let failed = |error| KernelError::io("count the cached pages of", path, error);
    let own = file.metadata().map_err(failed)?.uid();
    let me = crate::process::uid();
    // Root of a user namespace is nobody special to files of users it does not know, which look like 65534's.
    if me != own && (me != 0 || own == 65534 && !knows_all_users()) {
        return Err(KernelError::new("count the cached pages of", path, crate::Cause::Denied));
    }
    Ok(())
}

fn knows_all_users() -> bool {
    let map = std::fs::read_to_string("/proc/self/uid_map").unwrap_or_default();
    map.split_whitespace().eq(["0", "0", "4294967295"])
}

fn ranges_by(
    file: &File,
    ranges: &[(u64, u64)],
    ask: fn(&File, u64, u64) -> io::Result<Residency>,
) -> io::Result<Residency> {
    let add = |a: Option<u64>, b: Option<u64>| a.zip(b).map(|(a, b)| a + b);
    let mut all: Option<Residency> = None;
    // Nothing to ask about is still asked once, for the method and the permission; offsets beyond any file hold no page.
    let nothing = [(1 << 62, 1)];
    for (offset, length) in if ranges.is_empty() { &nothing } else { ranges } {
        let one = ask(file, *offset, (*length).max(1))?;
        all = Some(all.map_or(one, |sum| Residency {
            cached: sum.cached + one.cached,
            dirty: add(sum.dirty, one.dirty),
            writeback: add(sum.writeback, one.writeback),
            evicted: add(sum.evicted, one.evicted),
            recently_evicted: add(sum.recently_evicted, one.recently_evicted),
            method: one.method,
        }));
    }
    all.ok_or_else(|| io::Error::from_raw_os_error(libc::EINVAL))
}

/// Overlayfs answers cachestat for its own inode, which has no pages; mincore looks at the file below.
fn is_overlay(file: &File) -> io::Result<bool> {
    // linux/magic.h
    const OVERLAYFS: u64 = 0x794c_7630;
    Ok(u64::try_from(rustix::fs::fstatfs(file)?.f_type).is_ok_and(|kind| kind == OVERLAYFS))
}

/// True for tmpfs, ramfs and hugetlbfs: there the page cache is the file, and evicting means swapping.
///
/// # Errors
/// When the file cannot be asked.
pub fn lives_in_memory(file: &File) -> io::Result<bool> {
    // linux/magic.h
    const KINDS: [u64; 3] = [0x0102_1994, 0x8584_58f6, 0x9584_58f6];
    Ok(u64::try_from(rustix::fs::fstatfs(file)?.f_type).is_ok_and(|kind| KINDS.contains(&kind)))
}

/// `length` 0 means up to the end of the file.
fn cachestat(file: &File, offset: u64, length: u64) -> io::Result<Residency> {
    let range = Range { off: offset, len: length };
    let mut stat = Stat::default();
    // SAFETY: cachestat(fd, range, stat, flags) reads one Range and writes one Stat (linux/mman.h).
    let result = unsafe { libc::syscall(SYS_CACHESTAT, file.as_raw_fd(), &raw const range, &raw mut stat, 0) };
    if result != 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(Residency {
        cached: stat.cache,
        dirty: Some(stat.dirty),
        writeback: Some(stat.writeback),
        evicted: Some(stat.evicted),
        recently_evicted: Some(stat.recently_evicted),
        method: Method::Cachestat,
    })
}

fn mincore(file: &File) -> io::Result<Residency> {
    mincore_range(file, 0, u64::MAX)
}

fn mincore_range(file: &File, offset: u64, length: u64) -> io::Result<Residency> {
    let none = Residency {
        cached: 0,
        dirty: None,
        writeback: None,
        evicted: None,
        recently_evicted: None,
        method: Method::Mincore,
    };
    let mut cached = 0;
    each_page(file, offset, length, |_, present| cached += u64::from(present))?;
    Ok(Residency { cached, ..none })
}

/// Tells of each page of a range, by number, whether it is in the page cache.
fn each_page(file: &File, offset: u64, length: u64, mut tell: impl FnMut(u64, bool)) -> io::Result<()> {
    // One byte a page of answer: 128 MiB of file at a time.
    const AT_ONCE: u64 = 32768;
    let page = page_size();
    let end = file.metadata()?.len().min(offset.saturating_add(length)).div_ceil(page);
    let mut first = offset / page;
    let mut present = Vec::new();
    while first < end {
        let pages = (end - first).min(AT_ONCE);
        let (Ok(bytes), Ok(at)) = (usize::try_from(pages * page), libc::off_t::try_from(first * page)) else {
            return Err(io::Error::from_raw_os_error(libc::EFBIG));
        };
        present.clear();
        present.resize(usize::try_from(pages).unwrap_or(0), 0u8);
        // SAFETY: a fresh mapping of the file that nobody else knows; mincore does not read through it and writes one byte
        // per page into `present`, which has that length; it is unmapped before anyone could use it.
        unsafe {
            let start =
                libc::mmap(std::ptr::null_mut(), bytes, libc::PROT_READ, libc::MAP_SHARED, file.as_raw_fd(), at);
            if start == libc::MAP_FAILED {
                return Err(io::Error::last_os_error());
            }
            let result = check(libc::mincore(start, bytes, present.as_mut_ptr()));
            libc::munmap(start, bytes);
            result?;
        }
        (first..).zip(&present).for_each(|(number, byte)| tell(number, byte & 1 == 1));
        first += pages;
    }
    Ok(())
}

/// Which parts of a file are in the page cache, as offset and length in bytes of whole pages, in order and apart from each other.
///
/// # Errors
/// `Denied` where the kernel would say of every page that it is there: a file that is not ours, and we are not root.
pub fn present(file: &File, path: &Path) -> Result<Vec<(u64, u64)>> {
    let failed = |error| KernelError::io("find the cached pages of", path, error);
    refuse_to_be_fooled(file, path)?;
    let (page, mut ranges) = (page_size(), Vec::<(u64, u64)>::new());
    each_page(file, 0, u64::MAX, |number, there| {
        if !there {
            return;
        }
        match ranges.last_mut() {
            Some((offset, length)) if *offset + *length == number * page => *length += page,
            _ => ranges.push((number * page, page)),
        }
    })
    .map_err(failed)?;
    Ok(ranges)
}

/// How parts of a file are read in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReadIn {
    /// Those pages and no others, without read-ahead; the kernel then keeps them page by page.
    Exactly,
    /// As a reader would, with read-ahead, which may bring in more, and in larger pieces (which are faster to use).
    AsAReader,
}

/// Reads parts of a file into the page cache.
///
/// # Errors
/// When the file cannot be read.
pub fn bring_in(file: &File, path: &Path, ranges: &[(u64, u64)], how: ReadIn) -> Result<()> {
    const PIECE: usize = 1 << 20;
    let failed = |error| KernelError::io("read into the page cache", path, error);
    if how == ReadIn::Exactly {
        fadvise(file.as_raw_fd(), 0, 0, libc::POSIX_FADV_RANDOM).map_err(failed)?;
    }
    let mut buffer = vec![0; PIECE];
    for (offset, length) in ranges {
        let (mut at, end) = (*offset, offset.saturating_add(*length));
        while at < end {
            let most = usize::try_from(end - at).unwrap_or(PIECE).min(PIECE);
            let got = file.read_at(&mut buffer[..most], at).map_err(failed)?;
            if got == 0 {
                break;
            }
            at += u64::try_from(got).unwrap_or(u64::MAX);
        }
    }
    Ok(())
}

/// Before and after an eviction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Evicted {
    /// Pages when we came.
    pub before: Residency,
    /// Pages after it: what was not evicted (mapped, locked, or dirty again) is still counted here.
    pub after: Residency,
}

/// Writes back and drops the cached pages of a file, then counts what is left. The kernel drops only clean pages nobody
/// maps, and pages still on their way to the lists of another CPU stay: three attempts are made.
///
/// # Errors
/// When the file cannot be synced or counted. Pages that stay are not an error; compare `after`.
pub fn evict(file: &File, path: &Path) -> Result<Evicted> {
    let failed = |error| KernelError::io("evict", path, error);
    let before = of(file, path)?;
    file.sync_data().map_err(failed)?;
    let mut after = before;
    for _ in 0..3 {
        fadvise(file.as_raw_fd(), 0, 0, libc::POSIX_FADV_DONTNEED).map_err(failed)?;
        after = of(file, path)?;
        if after.cached == 0 {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    Ok(Evicted { before, after })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    #[test]
    fn mincore_and_cachestat_agree_on_a_file_just_written() {
        let mut file = tempfile::tempfile_in(".").unwrap();
        file.write_all(&vec![1; 64 * 4096]).unwrap();
        assert_eq!(mincore(&file).unwrap().cached, 64 * 4096 / page_size());
        if let Ok(stat) = cachestat(&file, 0, 0) {
            assert_eq!(stat.cached, 64 * 4096 / page_size());
        }
    }

    #[test]
    fn parts_of_a_file_are_counted_by_both_calls_alike() {
        let mut file = tempfile::tempfile_in(".").unwrap();
        let page = page_size();
        file.write_all(&vec![1; usize::try_from(8 * page).unwrap()]).unwrap();
        file.set_len(1 << 30).unwrap();
        let ranges = [(page, 2 * page), (6 * page, 100 * page)];
        let all = of_ranges(&file, Path::new("scratch"), &ranges).unwrap();
        assert_eq!(all.cached, 4);
        assert_eq!(ranges_by(&file, &ranges, mincore_range).unwrap().cached, 4);
        assert_eq!(of_ranges(&file, Path::new("scratch"), &[]).unwrap().cached, 0);
        assert_eq!(mincore(&file).unwrap().cached, 8);
    }

    #[test]
    fn exactly_the_parts_that_are_brought_in_are_present() {
        let (mut file, page) = (tempfile::tempfile_in(".").unwrap(), page_size());
        file.write_all(&vec![1; usize::try_from(64 * page).unwrap()]).unwrap();
        let name = Path::new("scratch");
        assert_eq!(present(&file, name).unwrap(), [(0, 64 * page)]);
        if !crate::place::describe(".".as_ref()).unwrap().is_disk() {
            return eprintln!("SKIP: not on a disk, where eviction means swapping");
        }
        assert_eq!(evict(&file, name).unwrap().after.cached, 0);
        let wanted = [(2 * page, page), (10 * page, 3 * page), (62 * page, 2 * page)];
        bring_in(&file, name, &wanted, ReadIn::Exactly).unwrap();
        assert_eq!(present(&file, name).unwrap(), wanted);
    }

    #[test]
    fn an_evicted_file_has_no_cached_pages() {
        let mut file = tempfile::tempfile_in(".").unwrap();
        file.write_all(&vec![1; 64 * 4096]).unwrap();
        let place = crate::place::describe(".".as_ref()).unwrap();
        if !place.is_disk() {
            eprintln!("skipped: {} is {}, where eviction means swapping", place.dir.display(), place.fs_type);
            return;
        }
        let evicted = evict(&file, Path::new("scratch")).unwrap();
        assert_eq!(evicted.before.cached, 64 * 4096 / page_size());
        assert_eq!(evicted.after.cached, 0);
    }
}
