//! The names of the lines and of their parts.

use super::line::{Freeable, LedgerLine};
use crate::prelude::*;
use Freeable::{AtCost, No, Now, Partly, Unknown};

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
    /// Page-table pages that some kernels keep for reuse.
    Quicklists,
    /// Copies of pages for writes under way: bounce buffers, FUSE.
    WriteCopies,
    /// Pages taken out of use because they are broken.
    Poisoned,
    /// The kernel's note on every page of memory that was added at run time.
    PageDescriptors,
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
    /// The cache of ZFS.
    Arc,
    /// Pages that the hypervisor has taken and that MemTotal still counts.
    Balloon,
    /// Buffers that devices and programs share, as a vendor's kernel counts them.
    DeviceBuffers,
    /// What a vendor's kernel counts as its own besides.
    VendorOther,
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
    /// Of the ZFS cache: what it gives back under pressure.
    ArcShrinkable,
}

impl Term {
    /// All of them, lines and parts of lines, in order.
    pub const ALL: &'static [Term] = &{
        let mut all = [Term::Free; ROWS.len()];
        let mut at = 0;
        while at < all.len() {
            all[at] = ROWS[at].0;
            assert!(all[at] as usize == at, "rows are in the order of the terms");
            at += 1;
        }
        all
    };

    /// What it is called on the screen.
    #[must_use]
    pub const fn label(self) -> &'static str {
        ROWS[self as usize].1
    }

    /// Whose it is.
    #[must_use]
    pub const fn owner(self) -> &'static str {
        ROWS[self as usize].2
    }
}

/// A line without children. `meminfo` tells whether there is swap to move anonymous pages to.
pub fn line(id: Term, bytes: Bytes, meminfo: &Meminfo) -> LedgerLine {
    let (_, label, owner, freeable, by_what, at_cost) = ROWS[id as usize];
    let mut line = LedgerLine {
        id,
        label: label.into(),
        bytes,
        at_least: None,
        owner: owner.into(),
        freeable,
        by_what: by_what.into(),
        at_cost: at_cost.into(),
        children: Vec::new(),
    };
    match id {
        Term::Anon | Term::Shmem | Term::AnonHuge => by_swap(&mut line, meminfo),
        Term::Hugetlb if all_in_use(meminfo) => {
            line.freeable = No;
            line.by_what = "ending the programs that use them or were promised them".into();
        }
        _ => {}
    }
    line
}

/// Promised pages count: lowering the pool does not take them.
fn all_in_use(meminfo: &Meminfo) -> bool {
    meminfo.count("HugePages_Free").is_some_and(|free| free <= meminfo.count("HugePages_Rsvd").unwrap_or(0))
}

/// Without free swap, anonymous pages stay where they are; with less than they are, only some can go.
fn by_swap(line: &mut LedgerLine, meminfo: &Meminfo) {
    let none = meminfo.swap_total.filter(|total| *total == Bytes::ZERO);
    let Some(swap_free) = meminfo.swap_free.or(none) else {
        line.freeable = Unknown;
        line.by_what = "swapping out, if swap has free space: the file does not tell".into();
        return;
    };
    if swap_free == Bytes::ZERO {
        line.freeable = No;
        line.by_what = match line.id {
            Term::Shmem => "deleting the file or ending its users: there is no free swap".into(),
            _ => "ending the process: there is no free swap".into(),
        };
        line.at_cost = "the data itself".into();
    } else if swap_free < line.bytes {
        line.freeable = Partly;
    }
}

type Row = (Term, &'static str, &'static str, Freeable, &'static str, &'static str);

/// Label, owner, whether it can be freed, by what, at what cost.
#[rustfmt::skip]
pub const ROWS: [Row; 43] = [
    (Term::Free, "free", "unused", Now, "any allocation", "nothing"),
    (Term::CpuLists, "free, in per-CPU lists", "unused; not in MemFree", Now, "any allocation", "nothing"),
    (Term::Anon, "process memory", "processes: heaps and stacks; their code is page cache", AtCost, "swapping out", "a write now, swap-ins later"),
    (Term::Shmem, "tmpfs and shared memory", "tmpfs files, shared segments, memfd", AtCost, "swapping out", "a write now, swap-ins later"),
    (Term::FileClean, "page cache, clean", "files read or written lately", Now, "reclaim", "a read of what is needed again"),
    (Term::FileDirty, "page cache, to be written", "files written lately", AtCost, "writeback, then reclaim", "a write"),
    (Term::Unevictable, "locked files and ramfs", "mlock of files, ramfs, secret memory", No, "unlocking it, or ending its owner", "the guarantee of its lock"),
    (Term::Isolated, "in transit", "reclaim, compaction or migration at work", Partly, "the code that took it off its list", "nothing more than is being paid"),
    (Term::SlabReclaimable, "kernel objects, reclaimable", "cached names and inodes above all", Partly, "shrinkers", "looking names up again"),
    (Term::SlabUnreclaimable, "kernel objects, in use", "the kernel", No, "closing files, sockets, groups", "their owner's end"),
    (Term::KernelReclaimable, "other reclaimable kernel memory", "drivers and file systems", Partly, "shrinkers", "filling those caches again"),
    (Term::Vmalloc, "vmalloc", "kernel modules, buffers, stacks", No, "ending threads, unloading modules", "their owner's end"),
    (Term::KernelStacks, "kernel stacks", "threads", No, "ending threads", "their owner's end"),
    (Term::PageTables, "page tables", "processes", No, "ending or shrinking them", "their owner's end"),
    (Term::SecPageTables, "page tables of guests and IOMMUs", "virtual machines, devices", No, "ending their users", "their owner's end"),
    (Term::Percpu, "per-CPU data", "kernel statistics, control groups", No, "removing groups and devices", "their owner's end"),
    (Term::Quicklists, "page tables kept for reuse", "the kernel", Partly, "the kernel, when it is short", "making them again"),
    (Term::WriteCopies, "copies for writes under way", "devices that cannot reach all memory, FUSE", Partly, "the end of the writes", "nothing more than is being paid"),
    (Term::Poisoned, "broken memory", "unused: the hardware reported errors in it", No, "a restart, or new memory", "the risk of using it"),
    (Term::PageDescriptors, "page descriptors, added RAM", "the kernel's note on every page of memory added at run time", No, "taking that memory out again", "that memory"),
    (Term::Hugetlb, "huge-page pool", "the programs it was set aside for; nothing else can use it", Partly, "lowering nr_hugepages; unused pages only", "huge pages for those who asked for them"),
    (Term::CompressedPool, "compressed pool", "what was swapped to zram or zswap", Partly, "reading it back", "more RAM than it frees"),
    (Term::ZswapPool, "compressed pool of zswap", "pages swapped out and kept compressed", AtCost, "writeback to the swap area", "a write now, a disk read when touched again"),
    (Term::GpuActive, "graphics memory in use", "graphics drivers and their users", No, "ending the programs that draw", "their owner's end"),
    (Term::GpuReclaim, "graphics memory kept for reuse", "graphics drivers", Partly, "the driver's shrinker", "allocating it again"),
    (Term::Arc, "ZFS cache (ARC)", "files on ZFS, read or written lately", Partly, "its shrinker, down to c_min", "a read of what is needed again"),
    (Term::Balloon, "balloon", "the hypervisor, which has taken it", No, "the hypervisor, when it gives it back", "its host's memory"),
    (Term::DeviceBuffers, "device buffers (ION, dma-buf)", "cameras, displays, codecs and the programs that use them", No, "ending the programs that hold them", "their owner's end"),
    (Term::VendorOther, "a vendor's own (Misc)", "drivers, as the vendor's kernel counts them", No, "their owners", "their owner's end"),
    (Term::CmaFree, "reserved for contiguous allocations", "unused; movable pages may use it", Now, "movable allocations", "nothing"),
    (Term::Unaccepted, "not yet accepted from the hypervisor", "unused", Now, "any allocation, after accepting it", "a call to the hypervisor"),
    (Term::SwapCache, "also on swap", "processes; unchanged since it was read back", Now, "dropping the copy in RAM", "a swap-in when touched again"),
    (Term::AnonHuge, "in transparent huge pages", "processes", AtCost, "splitting and swapping out", "a write now, a swap-in for what is touched again"),
    (Term::FileActive, "used at least twice lately", "files in steady use", Now, "reclaim, after the rest of the cache", "most likely a read from disk soon"),
    (Term::FileMapped, "mapped into processes", "files that programs map, their code among them", Now, "reclaim", "a major fault when touched again"),
    (Term::Buffers, "blocks of devices", "file-system metadata", Now, "reclaim", "a read from disk when needed again"),
    (Term::AnonLocked, "locked by processes", "processes that asked (mlock)", No, "munlock, or ending them", "the guarantee it was locked for"),
    (Term::ShmemLocked, "locked shared memory", "mlock, SHM_LOCK, graphics", No, "unlocking it, or ending its users", "the guarantee it was locked for"),
    (Term::ZswapShare, "zswap", "pages swapped out and kept compressed", AtCost, "writeback to the swap area", "a write now, a disk read when touched again"),
    (Term::ZramShare, "zram", "pages or files stored on zram devices", No, "reading them back, or resetting the device", "more RAM than it frees"),
    (Term::HugetlbFree, "unused huge pages", "no process, yet set aside", Now, "lowering nr_hugepages", "huge pages for those who asked for them"),
    (Term::HugetlbPromised, "promised huge pages", "mappings that have not touched them yet", No, "ending the programs that mapped them", "their owner's end"),
    (Term::ArcShrinkable, "above what ZFS keeps", "files on ZFS", Now, "its shrinker, slower than page cache", "a read of what is needed again"),
];
