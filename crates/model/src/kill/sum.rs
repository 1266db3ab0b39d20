//! Where memory was: the parts of the machine's RAM, and what is left in no counter.
//!
//! Shared memory, dirty and mapped pages are parts of the lists and are not added twice; CMA that is free is part of what is free.

use ramline_snapshot::kernel_log::{MemoryFigures, Report};
use ramline_units::checked_sum;

use crate::prelude::*;

/// The parts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PartKind {
    /// Memory of processes.
    Anonymous,
    /// tmpfs and other shared memory.
    Shmem,
    /// Page cache.
    File,
    /// Locked, beside shared memory.
    Unevictable,
    /// Kernel objects that cannot be reclaimed.
    SlabUnreclaimable,
    /// Kernel objects that can, when nothing holds them.
    SlabReclaimable,
    /// Page tables.
    PageTables,
    /// Kernel stacks.
    KernelStacks,
    /// Huge pages set aside, free ones too.
    HugePages,
    /// Free.
    Free,
    /// In no counter.
    Unaccounted,
}

/// One part.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct KillPart {
    /// Which.
    pub kind: PartKind,
    /// How much.
    pub bytes: Bytes,
}

/// The sum.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct KillSum {
    /// RAM without what is reserved; `None` where one of the two lines is missing.
    pub usable: Option<Bytes>,
    /// RAM.
    pub ram: Option<Bytes>,
    /// The parts, the largest first.
    pub parts: Vec<KillPart>,
    /// In no counter.
    pub unaccounted: Option<Bytes>,
    /// Free memory of CMA, part of what is free.
    pub free_cma: Option<Bytes>,
    /// Files not written yet, part of the page cache.
    pub dirty: Option<Bytes>,
    /// Swap in all.
    pub swap_total: Option<Bytes>,
    /// Swap that is free.
    pub swap_free: Option<Bytes>,
    /// Only some nodes are printed in full: their parts do not sum to the machine.
    pub partial: bool,
}

impl KillSum {
    /// One part.
    #[must_use]
    pub fn part(&self, kind: PartKind) -> Bytes {
        self.parts.iter().find(|part| part.kind == kind).map_or(Bytes::ZERO, |part| part.bytes)
    }

    /// All parts but what is free.
    #[must_use]
    pub fn used(&self) -> Bytes {
        self.parts.iter().filter(|part| part.kind != PartKind::Free).map(|part| part.bytes).sum()
    }

    /// Kernel objects of both kinds.
    #[must_use]
    pub fn slab(&self) -> Bytes {
        self.part(PartKind::SlabUnreclaimable) + self.part(PartKind::SlabReclaimable)
    }

    /// Swap is absent, or full but for a hundredth: what is left is in clusters of other processors.
    #[must_use]
    pub fn is_swap_used_up(&self) -> Option<bool> {
        let (total, free) = self.swap_total.zip(self.swap_free)?;
        Some(free.0 <= total.0 / 100)
    }
}

/// Counters without which there is no sum.
const NEEDED: [&str; 5] = ["active_anon", "inactive_anon", "active_file", "inactive_file", "free"];

/// The sum of a report; `None` where its first block is cut.
#[must_use]
pub fn sum(report: &Report, page: Bytes) -> Option<KillSum> {
    let memory = &report.memory;
    let both = memory.counter("slab_reclaimable").is_some() && memory.counter("slab_unreclaimable").is_some();
    if NEEDED.iter().any(|name| memory.counter(name).is_none()) || !both && memory.counter("slab").is_none() {
        return None;
    }
    let pages = |name: &str| Bytes(memory.counter(name).unwrap_or_default().saturating_mul(page.0));
    let anon = pages("active_anon") + pages("inactive_anon") + pages("isolated_anon");
    let (unevictable, shmem) = (pages("unevictable"), pages("shmem"));
    // Shared memory lies on the anonymous lists, or is locked with all the rest that is.
    let locked_shmem = if unevictable >= shmem { shmem } else { shmem.saturating_sub(anon) };
    let free = pages("free") + pages("free_pcp");
    let mut parts = vec![
        (PartKind::Anonymous, anon.saturating_sub(shmem.saturating_sub(locked_shmem))),
        (PartKind::Shmem, shmem),
        (PartKind::File, pages("active_file") + pages("inactive_file") + pages("isolated_file")),
        (PartKind::Unevictable, unevictable.saturating_sub(locked_shmem)),
        // One counter before Linux 2.6.32.
        (PartKind::SlabUnreclaimable, if both { pages("slab_unreclaimable") } else { pages("slab") }),
        (PartKind::SlabReclaimable, pages("slab_reclaimable")),
        (PartKind::PageTables, pages("pagetables") + pages("sec_pagetables")),
        (PartKind::KernelStacks, stacks(memory).unwrap_or_default()),
        (PartKind::HugePages, huge(memory)),
        (PartKind::Free, free),
    ];
    let counted = checked_sum(parts.iter().map(|(_, bytes)| bytes.0)).map(Bytes);
    let ram = memory.ram.map(|ram| Bytes(ram.saturating_mul(page.0)));
    let usable = memory.reserved.and_then(|reserved| ram?.checked_sub(Bytes(reserved.saturating_mul(page.0))));
    // Stacks are a part in a hundred; where the line is cut the rest is theirs too.
    let unaccounted = usable.zip(counted).map(|(usable, counted)| usable.saturating_sub(counted));
    parts.extend(unaccounted.map(|bytes| (PartKind::Unaccounted, bytes)));
    parts.retain(|(_, bytes)| *bytes > Bytes::ZERO);
    ramline_units::sort_by_key(&mut parts, |(_, bytes)| std::cmp::Reverse(*bytes));
    Some(KillSum {
        usable,
        ram,
        parts: parts.into_iter().map(|(kind, bytes)| KillPart { kind, bytes }).collect(),
        unaccounted,
        free_cma: memory.counter("free_cma").map(|_| pages("free_cma")),
        dirty: memory.counter("dirty").map(|_| pages("dirty") + pages("writeback")),
        swap_total: memory.swap_total,
        swap_free: memory.swap_free,
        partial: false,
    })
}

/// Kernel stacks, of the nodes or of the zones: they stand in one of the two.
fn stacks(memory: &MemoryFigures) -> Option<Bytes> {
    let nodes = memory.nodes.iter().filter_map(|node| node.counters.get("kernel_stack"));
    let zones = memory.zones.iter().filter_map(|zone| zone.counters.get("kernel_stack"));
    let all: Vec<u64> = nodes.chain(zones).copied().collect();
    (!all.is_empty()).then(|| all.into_iter().map(Bytes).sum())
}

fn huge(memory: &MemoryFigures) -> Bytes {
    memory.huge.iter().map(|pool| Bytes(pool.total.saturating_mul(pool.size.0))).sum()
}
