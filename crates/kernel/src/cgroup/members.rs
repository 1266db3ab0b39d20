//! Who is in a control group.

use std::path::{Path, PathBuf};

use super::hierarchy::Hierarchy;
use crate::Root;
use crate::error::{Cause, KernelError, Result};
use crate::kernel_file::read_text;

/// The processes of a group and of all below it; `path` is its directory, or its name in the hierarchy that has the memory controller.
///
/// # Errors
/// `Absent` when there is no such group.
pub fn processes_below(root: &Root, path: &Path) -> Result<Vec<u32>> {
    let named = || Some(Hierarchy::detect(root).ok()?.mount_point().join(path.strip_prefix("/").unwrap_or(path)));
    let is_group = |dir: &PathBuf| dir.join("cgroup.procs").exists();
    let dir = Some(path.to_owned()).filter(is_group).or_else(|| named().filter(is_group));
    let dir = dir.ok_or_else(|| KernelError::new("find the control group", path, Cause::Absent))?;
    let (mut left, mut pids) = (vec![dir], Vec::new());
    while let Some(dir) = left.pop() {
        // One that is removed meanwhile has no processes.
        pids.extend(pids_in(&dir).unwrap_or_default());
        left.extend(groups_in(&dir));
    }
    Ok(pids)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_processes_of_a_group_are_those_of_its_children_too() {
        let dir = tempfile::tempdir().unwrap();
        let child = dir.path().join("a/b");
        std::fs::create_dir_all(&child).unwrap();
        std::fs::write(dir.path().join("a/cgroup.procs"), "7\n").unwrap();
        std::fs::write(child.join("cgroup.procs"), "8\n9\n").unwrap();
        let root = Root::live();
        assert_eq!(processes_below(&root, &dir.path().join("a")).unwrap(), [7, 8, 9]);
        assert!(processes_below(&root, &dir.path().join("no-such-group")).unwrap_err().is_absent());
    }
}
