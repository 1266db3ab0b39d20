//! The clock, and waiting until a directory entry is on the disk.

#![expect(unsafe_code, reason = "clock_gettime")]

use std::fs::File;
use std::path::Path;

use ramline_units::Nanos;

use crate::error::{KernelError, Result};

/// CLOCK_MONOTONIC: comparable between processes of one boot.
#[must_use]
pub fn monotonic() -> Nanos {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: writes one timespec; the clock exists on every Linux.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &raw mut time) };
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

/// Writes back everything dirty of the file system that `dir` is on and waits for it (syncfs).
///
/// # Errors
/// When the directory cannot be opened or writing back fails.
pub fn sync_file_system(dir: &Path) -> Result<()> {
    let failed = |error| KernelError::io("sync the file system of", dir, error);
    let open = File::open(dir).map_err(failed)?;
    rustix::fs::syncfs(&open).map_err(|error| failed(error.into()))
}
