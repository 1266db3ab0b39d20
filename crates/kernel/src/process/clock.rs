//! Clocks, and waiting until something is on the disk.

#![expect(unsafe_code, reason = "clock_gettime, syncfs, sync_file_range")]

use std::fs::File;
use std::os::fd::AsRawFd;
use std::path::Path;

use ramline_units::Nanos;

use crate::error::{KernelError, Result};
use crate::sys::check;

/// CLOCK_MONOTONIC: comparable between processes of one boot.
#[must_use]
pub fn monotonic() -> Nanos {
    clock(libc::CLOCK_MONOTONIC)
}

/// CPU time of the calling thread.
#[must_use]
pub fn thread_cpu() -> Nanos {
    clock(libc::CLOCK_THREAD_CPUTIME_ID)
}

/// CPU time of this process.
#[must_use]
pub fn process_cpu() -> Nanos {
    clock(libc::CLOCK_PROCESS_CPUTIME_ID)
}

fn clock(which: libc::clockid_t) -> Nanos {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: writes one timespec; the clocks used exist on every Linux.
    unsafe { libc::clock_gettime(which, &raw mut time) };
    let part = |value| u64::try_from(value).unwrap_or_default();
    Nanos(part(time.tv_sec).saturating_mul(1_000_000_000).saturating_add(part(time.tv_nsec)))
}

/// Writes back a directory entry after creating, renaming or removing in it.
///
/// # Errors
/// When the directory cannot be opened or synced.
pub fn sync_dir(dir: &Path) -> Result<()> {
    File::open(dir).and_then(|file| file.sync_all()).map_err(|error| KernelError::io("sync", dir, error))
}

/// Writes back all of the file system `file` is on.
///
/// # Errors
/// When writing fails.
pub fn sync_fs(file: &File, path: &Path) -> Result<()> {
    // SAFETY: syncfs touches no memory of ours.
    check(unsafe { libc::syncfs(file.as_raw_fd()) })
        .map(drop)
        .map_err(|error| KernelError::io("sync the file system of", path, error))
}

/// Starts and awaits write-back of a file's dirty pages, without its metadata (sync_file_range).
///
/// # Errors
/// When writing fails.
pub fn write_back(file: &File, path: &Path) -> Result<()> {
    let flags = libc::SYNC_FILE_RANGE_WAIT_BEFORE | libc::SYNC_FILE_RANGE_WRITE | libc::SYNC_FILE_RANGE_WAIT_AFTER;
    // SAFETY: sync_file_range touches no memory of ours.
    check(unsafe { libc::sync_file_range(file.as_raw_fd(), 0, 0, flags) })
        .map(drop)
        .map_err(|error| KernelError::io("write back", path, error))
}
