//! How much of a file is in the page cache, and evicting it with proof.
//!
//! What it is not: a list of which pages; only counts. cachestat(2) (Linux 6.5) where the kernel has it, else mincore(2)
//! over a mapping, which cannot tell dirty pages.
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
    match cachestat(file) {
        Err(error) if matches!(error.raw_os_error(), Some(libc::ENOSYS | libc::EOPNOTSUPP)) => mincore(file),
        other => other,
    }
    .map_err(|error| KernelError::io("count the cached pages of", path, error))
}

fn cachestat(file: &File) -> io::Result<Residency> {
    // A length of 0 means up to the end of the file.
    let range = Range { off: 0, len: 0 };
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
    let length = file.metadata()?.len();
    let none = Residency {
        cached: 0,
        dirty: None,
        writeback: None,
        evicted: None,
        recently_evicted: None,
        method: Method::Mincore,
    };
    let Ok(bytes) = usize::try_from(length) else { return Err(io::Error::from_raw_os_error(libc::EFBIG)) };
    if bytes == 0 {
        return Ok(none);
    }
    let pages = usize::try_from(length.div_ceil(page_size())).unwrap_or(usize::MAX);
    let mut present = vec![0u8; pages];
    // SAFETY: a fresh mapping of the file that nobody else knows; mincore does not read through it and writes one byte
    // per page into `present`, which has that length; it is unmapped before anyone could use it.
    unsafe {
        let at = libc::mmap(std::ptr::null_mut(), bytes, libc::PROT_READ, libc::MAP_SHARED, file.as_raw_fd(), 0);
        if at == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        let result = check(libc::mincore(at, bytes, present.as_mut_ptr()));
        libc::munmap(at, bytes);
        result?;
    }
    let cached = present.iter().filter(|byte| *byte & 1 == 1).count();
    Ok(Residency { cached: u64::try_from(cached).unwrap_or(u64::MAX), ..none })
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
        if let Ok(stat) = cachestat(&file) {
            assert_eq!(stat.cached, 64 * 4096 / page_size());
        }
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
