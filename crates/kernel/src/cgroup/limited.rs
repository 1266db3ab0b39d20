//! The limits that this process is under: of its memory cgroup and of each above it, with what is used of them.

use super::hierarchy::Hierarchy;
use super::path::{Version, ancestors};
use super::stat::table;
use super::v1::UNLIMITED_FROM;
use crate::prelude::*;

/// A group with a limit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LimitFigures {
    /// Its name below the mount.
    pub name: PathBuf,
    /// The least of its limits: in version 2 `memory.max` and `memory.high`.
    pub limit: Bytes,
    /// What is charged to it and its children.
    pub usage: Option<Bytes>,
    /// Of these file pages on the inactive list.
    pub inactive_file: Bytes,
    /// And mapped file pages.
    pub mapped_file: Bytes,
}

/// The groups with a limit, this process's own first; none without a memory controller.
#[must_use]
pub fn limits_of_own_group(root: &Root) -> Vec<LimitFigures> {
    let Ok(hierarchy) = Hierarchy::detect(root) else { return Vec::new() };
    let dirs = ancestors(&hierarchy.mount, hierarchy.own());
    dirs.filter_map(|dir| figures(&hierarchy, dir)).collect()
}

/// `None` without a limit.
fn figures(hierarchy: &Hierarchy, dir: &Path) -> Option<LimitFigures> {
    let (limits, usage, [inactive, mapped]): (&[&str], _, _) = match hierarchy.version() {
        // Version 1 counts `inactive_file` for the group alone, `total_inactive_file` with its children.
        Version::V1 => {
            (&["memory.limit_in_bytes"], "memory.usage_in_bytes", ["total_inactive_file", "total_mapped_file"])
        }
        Version::V2 => (&["memory.max", "memory.high"], "memory.current", ["inactive_file", "file_mapped"]),
    };
    let number = |file: &str| read_u64(&dir.join(file)).ok();
    let limit = limits.iter().filter_map(|file| number(file)).filter(|at| *at < UNLIMITED_FROM).min()?;
    let stat = read_text(&dir.join("memory.stat")).map(|text| table(&text)).unwrap_or_default();
    let bytes = |key: &str| Bytes(stat.get(key).copied().unwrap_or(0));
    Some(LimitFigures {
        name: dir.strip_prefix(&hierarchy.mount).unwrap_or(dir).to_owned(),
        limit: Bytes(limit),
        usage: number(usage).map(Bytes),
        inactive_file: bytes(inactive),
        mapped_file: bytes(mapped),
    })
}
