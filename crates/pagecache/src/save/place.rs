//! What is saved when nothing is named: every file system of a disk of this machine, each once.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use ramline_kernel::mount::{self, Mounted};
use ramline_kernel::{KernelError, Root, fs};

/// In memory: gone after a boot.
const IN_MEMORY: &[&str] = &["tmpfs", "ramfs", "devtmpfs", "hugetlbfs"];

/// Where they are mounted; of bind mounts the walk counts each directory once.
///
/// # Errors
/// When the mount table cannot be read.
pub fn disks(root: &Root) -> Result<Vec<PathBuf>, KernelError> {
    let found = choose(mount::list(root)?);
    if found.is_empty() {
        let rule = "no file system of a disk is mounted";
        return Err(
            KernelError::refused("save the hot set of", "this machine", rule, "").hint("ramline cache save FILE PATH")
        );
    }
    Ok(found)
}

fn choose(mounts: Vec<Mounted>) -> Vec<PathBuf> {
    let is_disk = |mounted: &Mounted| {
        let kind = mounted.fs_type.as_str();
        !fs::may_hang(kind) && !fs::has_no_files(kind) && !IN_MEMORY.contains(&kind)
    };
    let mut disks: Vec<Mounted> = mounts.into_iter().filter(is_disk).collect();
    // The whole of a file system before a part of it that is mounted elsewhere.
    disks.sort_by_key(|mounted| (mounted.subtree != "/", mounted.at.components().count()));
    let mut met = HashSet::new();
    disks.retain(|mounted| met.insert((mounted.source.clone(), mounted.fs_type.clone(), overlay(mounted))));
    disks.into_iter().map(|mounted| mounted.at).collect()
}

/// All overlays have one source; they are told apart by their layers.
fn overlay(mounted: &Mounted) -> Option<String> {
    (mounted.fs_type == "overlay").then(|| mounted.super_options.clone())
}

/// From the root: a hot set is read again from anywhere.
///
/// # Errors
/// When a name leads nowhere.
pub fn absolute(names: &[PathBuf]) -> Result<Vec<PathBuf>, KernelError> {
    let full = |path: &PathBuf| {
        std::fs::canonicalize(path).map_err(|error| KernelError::io("save the hot set of", Path::new(path), error))
    };
    names.iter().map(full).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn disks_are_taken_once_and_memory_servers_and_the_kernels_own_are_not() {
        let mounted = |at: &str, subtree: &str, fs_type: &str, source: &str| Mounted {
            at: at.into(),
            subtree: subtree.into(),
            fs_type: fs_type.into(),
            source: source.into(),
            super_options: String::new(),
        };
        let mounts = vec![
            mounted("/home", "/home", "btrfs", "/dev/sda2"),
            mounted("/", "/", "ext4", "/dev/sda1"),
            mounted("/proc", "/", "proc", "proc"),
            mounted("/tmp", "/", "tmpfs", "tmpfs"),
            mounted("/net", "/", "nfs4", "host:/x"),
            mounted("/bound", "/usr", "ext4", "/dev/sda1"),
            mounted("/srv", "/", "xfs", "/dev/sdb"),
        ];
        assert_eq!(choose(mounts), [PathBuf::from("/"), "/srv".into(), "/home".into()]);
    }
}
