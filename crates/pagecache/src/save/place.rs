//! What is saved when nothing is named: every file system of a disk of this machine, each once.

use std::path::{Path, PathBuf};

use ramline_kernel::{KernelError, Root};

/// Where they are mounted, as `cache top` walks them.
///
/// # Errors
/// When no file system of a disk is mounted.
pub fn disks(root: &Root) -> Result<Vec<PathBuf>, KernelError> {
    let found = crate::top::places::file_systems(root).0;
    if found.is_empty() {
        let rule = "no file system of a disk is mounted";
        return Err(
            KernelError::refused("save the hot set of", "this machine", rule, "").hint("ramline cache save FILE PATH")
        );
    }
    Ok(found)
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
