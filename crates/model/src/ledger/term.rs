//! The names of the lines and of their parts.

use ramline_units::{Deserialize, JsonSchema, Serialize};

use super::words;

/// What a line counts; stable names for JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Term {
    /// MemFree.
    Free,
    /// Free lists of the CPUs.
    CpuLists,
    /// Anonymous memory of processes.
    Anon,
    /// tmpfs and shared memory.
    Shmem,
    /// Page cache that equals the disk.
    FileClean,
    /// Page cache that must be written first.
    FileDirty,
    /// Locked files, ramfs, secret memory.
    Unevictable,
    /// Pages taken off the lists for a moment.
    Isolated,
    /// Kernel objects the shrinkers can free.
    SlabReclaimable,
    /// Kernel objects in use.
    SlabUnreclaimable,
    /// Other kernel memory shrinkers can free.
    KernelReclaimable,
    /// vmalloc: modules, large kernel buffers, kernel stacks.
    Vmalloc,
    /// Kernel stacks: of vmalloc, or a line where they are larger than it.
    KernelStacks,
    /// Page tables.
    PageTables,
    /// Page tables of virtual machines and IOMMUs.
    SecPageTables,
    /// Per-CPU data.
    Percpu,
    /// The pool of huge pages.
    Hugetlb,
    /// The compressed pool of zram and zswap.
    CompressedPool,
    /// zswap's pool where it does not use zsmalloc.
    ZswapPool,
    /// Graphics memory in use.
    GpuActive,
    /// Graphics memory its driver can give back.
    GpuReclaim,
    /// Of free: reserved for contiguous allocations, usable for movable pages.
    CmaFree,
    /// Of free: not yet accepted from the hypervisor.
    Unaccepted,
    /// Of process memory: also on swap, unchanged.
    SwapCache,
    /// Of process memory: in transparent huge pages.
    AnonHuge,
    /// Of the clean cache: used at least twice lately.
    FileActive,
    /// Of the cache: mapped into processes.
    FileMapped,
    /// Of the cache: blocks of devices, file-system metadata above all.
    Buffers,
    /// Of process memory: locked.
    AnonLocked,
    /// Of shared memory: locked.
    ShmemLocked,
    /// Of the compressed pool: zswap.
    ZswapShare,
    /// Of the compressed pool: zram.
    ZramShare,
    /// Of the huge-page pool: neither used nor promised.
    HugetlbFree,
    /// Of the huge-page pool: promised to a mapping that has not touched them yet.
    HugetlbPromised,
}

impl Term {
    /// All of them, lines and parts of lines, in order.
    pub const ALL: &'static [Term] = &{
        let mut all = [Term::Free; words::ROWS.len()];
        let mut at = 0;
        while at < all.len() {
            all[at] = words::ROWS[at].0;
            assert!(all[at] as usize == at, "rows are in the order of the terms");
            at += 1;
        }
        all
    };

    /// What it is called on the screen.
    #[must_use]
    pub const fn label(self) -> &'static str {
        words::ROWS[self as usize].1
    }

    /// Whose it is.
    #[must_use]
    pub const fn owner(self) -> &'static str {
        words::ROWS[self as usize].2
    }
}
