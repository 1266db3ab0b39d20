//! The holder: runs inside the group, brings five kinds of pages in and holds them until it is let go.

use crate::fileops::loops;
use crate::prelude::*;

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
    loops::read_all(&task.clean, &mut vec![0; 64 * 1024])?;
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

/// Every page read.
fn mapped(path: &Path) -> Result<Map> {
    let map = scratch::map(path)?;
    scratch::touch(&map)?;
    Ok(map)
}

/// Not synced.
fn write(path: &Path, size: Bytes) -> Result<()> {
    let mut rng = SplitMix64::new(size.0);
    let chunk: Vec<u8> = (0..128 * 1024 / 8).flat_map(|_| rng.next_u64().to_le_bytes()).collect();
    loops::write_new(path, &chunk, size.0, loops::Sync::Never)
}
