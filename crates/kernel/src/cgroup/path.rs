//! What the two versions and all of this folder have in common: names and the way up.

use crate::prelude::*;

/// The names of our groups begin with this; nothing else is ever killed or removed.
pub const PREFIX: &str = "ramline-";

pub use ramline_snapshot::cgroup::Version;

/// `own` and its ancestors up to and including `mount`, nearest first.
pub fn ancestors<'a>(mount: &'a Path, own: &'a Path) -> impl Iterator<Item = &'a Path> {
    own.ancestors().take_while(move |dir| dir.starts_with(mount))
}

/// The processes directly in a group.
pub fn pids_in(dir: &Path) -> Result<Vec<u32>> {
    Ok(read_text(&dir.join("cgroup.procs"))?.lines().filter_map(|line| line.trim().parse().ok()).collect())
}

/// The groups directly below a group.
pub fn groups_in(dir: &Path) -> impl Iterator<Item = PathBuf> {
    let entries = std::fs::read_dir(dir).into_iter().flatten().flatten();
    entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir())).map(|entry| entry.path())
}
