//! All memory control groups: the tree, each group with its memory files.

use std::sync::LazyLock;

use crate::cgroup::{Group, Version};
use crate::prelude::*;

/// The tree of memory control groups as seen from here.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Groups {
    /// Interface; `None` where there is no memory controller.
    pub version: Option<Version>,
    /// Where the hierarchy is mounted.
    pub mount: String,
    /// A protection set on a parent passes to children that set none (mount option `memory_recursiveprot`).
    pub recursive_protection: bool,
    /// Every group, a parent before its children, names in order. Of `memory.stat` only the keys of [`KEPT`].
    pub list: Vec<Group>,
    /// The walk reached the end within its bounds.
    pub complete: bool,
    /// Groups that vanished while they were read.
    pub vanished: u64,
    /// Groups without the memory controller (version 2): what they use is charged to the nearest group above that has it.
    pub without_controller: u64,
    /// Files and directories that could not be used, all counted.
    pub unreadable: u64,
    /// The first few of them.
    pub unseen: Vec<Unseen>,
}

/// The keys of `memory.stat` that are kept of every group; version 1 has each twice, alone for the group itself and with
/// `total_` for it and all below. Thousands of groups make the others too dear; `cgroups` has all keys of two groups.
pub static KEPT: LazyLock<Vec<&str>> = LazyLock::new(|| {
    "active_anon active_file anon anon_thp cache dirty file file_dirty file_mapped file_writeback hugetlb \
     inactive_anon inactive_file kernel kernel_stack mapped_file pagetables percpu pgmajfault rss rss_huge \
     sec_pagetables shmem slab slab_reclaimable slab_unreclaimable sock swap swapcached unevictable vmalloc \
     workingset_refault workingset_refault_anon workingset_refault_file workingset_restore_anon workingset_restore_file \
     writeback zswap zswapped"
        .split(' ')
        .collect()
});

/// A parent before its children, names in order: the separator comes before every character of a name.
pub fn in_order(list: &mut [Group]) {
    ramline_units::sort_by(list, |a, b| a.path.split('/').cmp(b.path.split('/')));
}

/// True for a key of `memory.stat` that is kept.
#[must_use]
pub fn is_kept(key: &str) -> bool {
    KEPT.binary_search(&key.strip_prefix("total_").unwrap_or(key)).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_of_kept_keys_is_in_order_and_holds_both_names_of_version_1() {
        assert!(KEPT.is_sorted());
        assert!(is_kept("total_inactive_file") && is_kept("inactive_file") && !is_kept("total_pgpgin"));
    }
}
