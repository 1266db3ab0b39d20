//! The clock, and waiting until a directory entry is on the disk.

use std::fs::File;
use std::path::Path;

use ramline_units::Nanos;

use rustix::time::{ClockId, clock_gettime};

use crate::error::{Result, Tried};

/// CLOCK_MONOTONIC: comparable between processes of one boot.
#[must_use]
pub fn monotonic() -> Nanos {
    nanos_of(ClockId::Monotonic)
}

/// CLOCK_BOOTTIME: time since boot, suspended time included.
#[must_use]
pub fn boottime() -> Nanos {
    nanos_of(ClockId::Boottime)
}

fn nanos_of(clock: ClockId) -> Nanos {
    let time = clock_gettime(clock);
    let part = |value| u64::try_from(value).unwrap_or_default();
    Nanos(part(time.tv_sec).saturating_mul(1_000_000_000).saturating_add(part(time.tv_nsec)))
}

/// Writes back a directory entry after creating, renaming or removing in it.
///
/// # Errors
/// When the directory cannot be opened or synced.
pub fn sync_dir(dir: &Path) -> Result<()> {
    File::open(dir).and_then(|file| file.sync_all()).tried("sync", dir)
}

/// Writes back everything dirty of the file system that `dir` is on and waits for it (syncfs).
///
/// # Errors
/// When the directory cannot be opened or writing back fails.
pub fn sync_file_system(dir: &Path) -> Result<()> {
    let tried = "sync the file system of";
    rustix::fs::syncfs(File::open(dir).tried(tried, dir)?).tried(tried, dir)
}
