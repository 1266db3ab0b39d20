//! The waterfall: where a group's charge goes, under the names of version 2.
//!
//! `file` counts shared memory and the swap cache too, so both are taken off it; the swap cache's pages are counted as
//! anonymous once they are mapped again. `kernel` (Linux 5.18) holds slab, stacks, page tables, per-CPU memory, vmalloc and
//! the zswap pool; sockets and huge pages of the pool are charged beside it. Version 1 tells the kernel's share as one number.
//!
//! The rest: each CPU charges 64 pages ahead (`MEMCG_CHARGE_BATCH`), since 6.16 for up to 7 groups at a time
//! (`NR_MEMCG_STOCK`), and `memory.stat` may lag by 64 pages a CPU before a reading makes it exact (mm/memcontrol.c).

use ramline_snapshot::machine::Machine;

use crate::prelude::*;

worded! {
    /// What a part is.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
    #[serde(rename_all = "snake_case")]
    pub enum PartId {
        /// Memory of processes.
        Anon = "anonymous",
        /// Page cache used again lately.
        FileActive = "page cache, active",
        /// Page cache used once, or long ago.
        FileInactive = "page cache, inactive",
        /// Page cache on neither list: locked, or just read.
        FileOther = "page cache, locked or new",
        /// tmpfs and shared memory.
        Shmem = "shared memory, tmpfs",
        /// Dentries, inodes and the like.
        SlabReclaimable = "slab, reclaimable",
        /// Other kernel objects.
        SlabUnreclaimable = "slab, unreclaimable",
        /// Stacks of threads in the kernel.
        KernelStack = "kernel stacks",
        /// Page tables.
        PageTables = "page tables",
        /// Page tables of virtual machines and devices.
        SecPageTables = "page tables of guests",
        /// Per-CPU memory.
        Percpu = "per-CPU memory",
        /// vmalloc.
        Vmalloc = "vmalloc",
        /// Compressed swap in RAM.
        Zswap = "zswap pool",
        /// Kernel memory that is none of these; on version 1 all of it.
        KernelOther = "kernel, not told apart",
        /// Buffers of sockets.
        Sockets = "sockets",
        /// Huge pages of the pool, where they are charged.
        Hugetlb = "huge pages of the pool",
    }
    /// Words for a line.
    label
}

impl PartId {
    /// Held by the kernel for the group.
    #[must_use]
    pub fn is_kernel(self) -> bool {
        (PartId::SlabReclaimable..=PartId::Sockets).contains(&self)
    }
}

/// One part of a group's charge.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Part {
    /// Which.
    pub id: PartId,
    /// The group with all below it. Gauge.
    pub bytes: Bytes,
    /// The group itself; negative when pages moved between two readings.
    pub own: SignedBytes,
    /// Inside `current`. Version 1 counts TCP buffers beside it.
    pub counted: bool,
}

/// What no part explains.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Rest {
    /// `current` less the parts.
    pub bytes: SignedBytes,
    /// How far the counters may be apart without anything being wrong.
    pub bound: Bytes,
}

/// Shares of the parts, the group with all below it. Gauges.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Within {
    /// Page cache waiting to be written.
    pub dirty: Option<Bytes>,
    /// Page cache being written.
    pub writeback: Option<Bytes>,
    /// Page cache, shared memory included, that is mapped by a process.
    pub mapped: Option<Bytes>,
    /// Anonymous memory in huge pages.
    pub anon_huge: Option<Bytes>,
    /// Swapped in, with the slot in swap still held.
    pub swap_cached: Option<Bytes>,
    /// Locked memory, and other pages that cannot be taken.
    pub unevictable: Option<Bytes>,
    /// Anonymous and shared memory on the lists: what swap could take.
    pub swappable: Option<Bytes>,
    /// Page cache on the inactive list.
    pub inactive_file: Option<Bytes>,
    /// TCP buffers that version 1 counts beside `current`.
    pub tcp_beside: Option<Bytes>,
}

/// The name of version 2 as version 1 has it.
fn v1_name(name: &str) -> &str {
    match name {
        "anon" => "rss",
        "anon_thp" => "rss_huge",
        "file" => "cache",
        "file_mapped" => "mapped_file",
        "file_dirty" => "dirty",
        "file_writeback" => "writeback",
        same => same,
    }
}

/// A line of `memory.stat`, by its name in version 2, for the group with all below it.
pub fn total(group: &Group, version: Version, name: &str) -> Option<Bytes> {
    if (version, name) == (Version::V1, "anon") {
        // Huge pages are in rss, and were counted beside it before 3.10: a part is not larger than its whole.
        let [rss, huge] = ["rss", "rss_huge"].map(|name| group.in_total(name));
        let huge = huge.filter(|huge| rss.is_some_and(|rss| *huge > rss)).unwrap_or(0);
        return rss.map(|rss| Bytes(rss) + Bytes(huge));
    }
    let found = match version {
        Version::V2 => group.stat.get(name).copied(),
        Version::V1 => group.in_total(v1_name(name)),
    };
    found.map(Bytes)
}

const SINGLE: &[(PartId, &str)] = &[
    (PartId::Anon, "anon"),
    (PartId::FileActive, "active_file"),
    (PartId::FileInactive, "inactive_file"),
    (PartId::Shmem, "shmem"),
    (PartId::SlabReclaimable, "slab_reclaimable"),
    (PartId::SlabUnreclaimable, "slab_unreclaimable"),
    (PartId::KernelStack, "kernel_stack"),
    (PartId::PageTables, "pagetables"),
    (PartId::SecPageTables, "sec_pagetables"),
    (PartId::Percpu, "percpu"),
    (PartId::Vmalloc, "vmalloc"),
    (PartId::Zswap, "zswap"),
    (PartId::Sockets, "sock"),
    (PartId::Hugetlb, "hugetlb"),
];

/// All parts this kernel tells of a group.
pub fn from_group(group: &Group, version: Version) -> Vec<Part> {
    let get = |name: &str| total(group, version, name);
    let mut out: Vec<Part> = Vec::with_capacity(SINGLE.len() + 2);
    let mut push = |id, bytes: Option<Bytes>| {
        out.extend(bytes.map(|bytes| Part { id, bytes, own: SignedBytes(0), counted: true }));
    };
    for (id, name) in SINGLE {
        push(*id, get(name));
    }
    push(PartId::FileOther, file_other(get));
    let inside = || SINGLE.iter().filter(|(id, _)| id.is_kernel() && *id != PartId::Sockets);
    push(
        PartId::KernelOther,
        match version {
            Version::V1 => group.kernel,
            Version::V2 => {
                get("kernel").map(|all| all.saturating_sub(inside().filter_map(|(_, name)| get(name)).sum()))
            }
        },
    );
    ramline_units::sort_by_key(&mut out, |part| part.id);
    out
}

fn file_other(get: impl Fn(&str) -> Option<Bytes>) -> Option<Bytes> {
    let known = ["shmem", "swapcached", "active_file", "inactive_file"].iter().filter_map(|name| get(name)).sum();
    get("file").map(|file| file.saturating_sub(known))
}

/// What the group itself has of a part, where the kernel says so (version 1); otherwise the groups below are taken off.
pub fn own(group: &Group, version: Version, id: PartId) -> Option<SignedBytes> {
    if version == Version::V2 {
        return None;
    }
    let get = |name: &str| group.stat.get(v1_name(name)).copied().map(Bytes);
    let bytes = match id {
        PartId::FileOther => file_other(get),
        id => SINGLE.iter().find(|(known, _)| *known == id).and_then(|(_, name)| get(name)),
    }?;
    Some(SignedBytes::difference(bytes, Bytes::ZERO))
}

/// Memory charged; the sum of the parts where the kernel does not say. The top of version 1 counts all page cache and anonymous memory and
/// no kernel memory, which is in the figures of the groups below it: a child must not be larger than its parent.
pub fn current(group: &Group, version: Version, parts: &[Part]) -> Option<Bytes> {
    let sum = || (!parts.is_empty()).then(|| parts.iter().map(|p| p.bytes).sum());
    let beside = group.kernel.filter(|_| version == Version::V1 && group.path == "/");
    group.current.map(|charged| charged + beside.unwrap_or_default()).or_else(sum)
}

/// What is left; nothing at the top, whose figure is made of the same counters.
pub fn rest(group: &Group, parts: &[Part], within: &Within, machine: &Machine, branch: u64) -> Option<Rest> {
    let current = group.current.filter(|_| group.path != "/" && !parts.is_empty())?;
    let sum = parts.iter().map(|p| p.bytes).sum();
    // Charged ahead for each group of the branch, up to seven, and one batch that the counters may lag by.
    let pages = machine.cpus.saturating_mul(64 * (branch.min(7) + 1));
    let bound = Bytes(pages.saturating_mul(machine.page_size.0)) + within.swap_cached.unwrap_or_default();
    Some(Rest { bytes: SignedBytes::difference(current, sum), bound })
}

/// The shares.
pub fn within(group: &Group, version: Version) -> Within {
    let get = |name: &str| total(group, version, name);
    Within {
        dirty: get("file_dirty"),
        writeback: get("file_writeback"),
        mapped: get("file_mapped"),
        anon_huge: get("anon_thp"),
        swap_cached: get("swapcached"),
        unevictable: get("unevictable"),
        swappable: get("active_anon").zip(get("inactive_anon")).map(|(a, b)| a + b),
        inactive_file: get("inactive_file"),
        tcp_beside: group.kernel_tcp,
    }
}
