//! The holder: runs inside the group, brings five kinds of pages in and holds them until it is let go.
//!
//! What it is not: a counter; the pages are counted from outside.

use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use ramline_evidence::rng::SplitMix64;
use ramline_kernel::map::Map;
use ramline_kernel::process;
use ramline_units::Bytes;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use ramline_sandbox::child;
use ramline_sandbox::error::{LabError, Result};

/// What it is to do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HoldTask {
    /// Read once and closed.
    pub clean: PathBuf,
    /// Written, not synced, closed.
    pub dirty: PathBuf,
    /// Mapped and locked.
    pub mlocked: PathBuf,
    /// Mapped, every page read.
    pub mapped: PathBuf,
    /// Written, in a tmpfs.
    pub tmpfs: PathBuf,
    /// A directory of empty files that are looked at.
    pub many: PathBuf,
    /// Size of each file.
    pub size: Bytes,
}

/// Does the task, and waits once all pages are in.
///
/// # Errors
/// A file cannot be read, written, mapped or locked.
pub fn hold(task: Value) -> Result<()> {
    let task: HoldTask = child::task(task)?;
    for entry in std::fs::read_dir(&task.many).map_err(|error| LabError::file("list", &task.many, error))? {
        let entry = entry.map_err(|error| LabError::file("list", &task.many, error))?;
        entry.metadata().map_err(|error| LabError::file("look at", &entry.path(), error))?;
    }
    read_once(&task.clean)?;
    let locked = mapped(&task.mlocked)?;
    locked.lock()?;
    let held = mapped(&task.mapped)?;
    write(&task.tmpfs, task.size)?;
    // Last, so that the kernel has no time to write it out by itself.
    write(&task.dirty, task.size)?;
    child::report_and_wait(&())?;
    drop((locked, held));
    Ok(())
}

fn read_once(path: &Path) -> Result<()> {
    let failed = |error| LabError::file("read", path, error);
    let mut file = File::open(path).map_err(failed)?;
    let mut buffer = vec![0u8; 64 * 1024];
    while file.read(&mut buffer).map_err(failed)? > 0 {}
    Ok(())
}

fn mapped(path: &Path) -> Result<Map> {
    let file = File::open(path).map_err(|error| LabError::file("open", path, error))?;
    let map = Map::file(&file, path)?;
    let page = usize::try_from(process::page_size()).unwrap_or(4096);
    for offset in (0..map.len()).step_by(page) {
        map.touch_read(offset)?;
    }
    Ok(map)
}

fn write(path: &Path, size: Bytes) -> Result<()> {
    let failed = |error| LabError::file("write", path, error);
    let mut file = OpenOptions::new().write(true).create_new(true).open(path).map_err(failed)?;
    let mut rng = SplitMix64::new(size.0);
    let chunk: Vec<u8> = (0..128 * 1024 / 8).flat_map(|_| rng.next_u64().to_le_bytes()).collect();
    let mut left = usize::try_from(size.0).unwrap_or(usize::MAX);
    while left > 0 {
        let part = left.min(chunk.len());
        file.write_all(&chunk[..part]).map_err(failed)?;
        left -= part;
    }
    Ok(())
}
