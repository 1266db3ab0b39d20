//! RAM: where it is, what is available, and how far reclaim is.

use ramline_model::ledger::{Ledger, Term};
use ramline_units::Bytes;

use crate::family::{Family, Kind, Unit, family};
use crate::reading::MOST_OBJECTS;
use crate::spelled::word;

const BYTES: (Kind, Unit) = (Kind::Gauge, Unit::Bytes);
const RATIO: (Kind, Unit) = (Kind::Gauge, Unit::Ratio);

/// Kernel memory that no reclaim takes, each a counter of its own; what no counter has comes with them, for a leak is mostly there.
const KERNEL: [Term; 6] =
    [Term::SlabUnreclaimable, Term::Vmalloc, Term::KernelStacks, Term::PageTables, Term::SecPageTables, Term::Percpu];

fn kernel(ledger: &Ledger) -> Bytes {
    let counted: Bytes = KERNEL.iter().map(|term| ledger.bytes(*term)).sum();
    counted + Bytes(u64::try_from(ledger.leftover.0).unwrap_or(0))
}

pub const FAMILIES: &[Family] = &[
    family(
        "ramline_memory_total_bytes",
        BYTES,
        "ledger.total",
        "RAM that the kernel manages (MemTotal).",
        |seen, out| {
            out.one(seen.ledger.as_ref().map(|ledger| ledger.total));
        },
    ),
    family(
        "ramline_memory_available_bytes",
        BYTES,
        "available",
        "What programs can take without swapping (MemAvailable, and what a ZFS cache gives back).",
        |seen, out| out.one(seen.verdict.as_ref().map(|verdict| verdict.machine_available)),
    ),
    family(
        "ramline_memory_cache_in_use_bytes",
        BYTES,
        "page-cache",
        "Of what is available, page cache that is in use: taking it costs reads later.",
        |seen, out| out.one(seen.verdict.as_ref().map(|verdict| verdict.cache_in_use)),
    ),
    family(
        "ramline_memory_ledger_bytes",
        BYTES,
        "used",
        "Where RAM is: each byte on one line; with the line leftover they add up to the total.",
        |seen, out| {
            let Some(ledger) = &seen.ledger else { return };
            for line in &ledger.lines {
                out.with(&[("line", &word(&line.id))], Some(line.bytes));
            }
            out.with(&[("line", "leftover")], Some(ledger.leftover));
        },
    ),
    family(
        "ramline_memory_locked_bytes",
        BYTES,
        "used",
        "Locked by programs (mlock): neither reclaim nor swap takes it.",
        |seen, out| out.one(seen.ledger.as_ref().map(|ledger| ledger.locked)),
    ),
    family(
        "ramline_kernel_unreclaimable_bytes",
        BYTES,
        "kernel-memory",
        "Kernel memory that nothing can reclaim, and memory that no counter has; a leak grows here.",
        |seen, out| out.one(seen.ledger.as_ref().map(kernel)),
    ),
    family(
        "ramline_reclaim_distance_bytes",
        BYTES,
        "watermarks",
        "What allocations can take on a NUMA node before kswapd wakes (to=low) and before they wait (to=min).",
        |seen, out| {
            for node in seen.marks.iter().flat_map(|marks| &marks.nodes).take(MOST_OBJECTS) {
                let name = node.node.to_string();
                out.with(&[("node", &name), ("to", "low")], Some(node.to_low.bytes));
                out.with(&[("node", &name), ("to", "min")], Some(node.to_min.bytes));
            }
        },
    ),
    family(
        "ramline_reclaim_start_bytes",
        BYTES,
        "watermarks",
        "Free memory below which kswapd wakes: the low watermarks of all nodes.",
        |seen, out| out.one(seen.marks.as_ref().map(|m| m.nodes.iter().map(|node| node.low).sum::<Bytes>())),
    ),
    family("ramline_tmpfs_used_bytes", BYTES, "tmpfs", "What a tmpfs holds, in RAM or in swap.", |seen, out| {
        for mount in seen.tmpfs.iter().flat_map(|tmpfs| &tmpfs.mounts).filter(|m| m.fillable).take(MOST_OBJECTS) {
            out.with(&[("mount", &mount.at)], mount.used);
        }
    }),
    family(
        "ramline_tmpfs_used_ratio",
        RATIO,
        "tmpfs",
        "Share of a limit of a tmpfs: of=size, of=inodes, or of=quota (of the user or group that has used most of theirs).",
        |seen, out| {
            for mount in seen.tmpfs.iter().flat_map(|tmpfs| &tmpfs.mounts).filter(|m| m.fillable).take(MOST_OBJECTS) {
                let quota = mount.quotas.as_ref().and_then(|quotas| Some(quotas.uses.first()?.fullest()));
                for (of, share) in [("size", mount.share), ("inodes", mount.inode_share), ("quota", quota)] {
                    out.with(&[("mount", &mount.at), ("of", of)], share);
                }
            }
        },
    ),
    family(
        "ramline_tmpfs_elsewhere_bytes",
        BYTES,
        "shmem",
        "Shared memory in no visible tmpfs (segments, memfd, graphics); negative when tmpfs pages are in swap.",
        |seen, out| out.one(seen.tmpfs.as_ref().and_then(|tmpfs| tmpfs.elsewhere)),
    ),
];
