//! `kernel-memory`: what the kernel uses for itself, and which part can shrink.

use ramline_model::ledger::{Ledger, Term};
use ramline_snapshot::Seen;

use crate::prelude::*;

pub(super) const TOPIC: Topic = Topic {
    id: "kernel-memory",
    area: Area::Owners,
    question: "How much does the kernel use for itself, and can it shrink?",
    wants: Wanted { slab: true, ..LIGHT },
    answer,
    mechanism: &[
        "The kernel keeps its objects in caches of equal pieces (slab). Names and inodes of files are kept until the room is needed, like page cache: that is the reclaimable part.",
        "The rest belongs to something: page tables to processes (8 bytes a mapped page, for every process that maps it), stacks to threads, sockets to connections, per-CPU data to groups and devices. It is freed when they end.",
        "vm.vfs_cache_pressure scales how early names and inodes are freed; it does not touch file contents.",
        "Page tables grow with processes times shared memory: 250 processes over 16 GiB need up to 8 GiB of them, unless huge pages are used. Unreclaimable memory that grows for days without its owners growing is a leak, often of dead groups.",
    ],
    myth: "A large slab is a leak: most of it is names and inodes after a walk over many files (a backup, updatedb), and it shrinks when memory is needed.",
    to_do: "Nothing, unless it grows: to see that, look twice, as root: sudo ramline show --for 60s.",
    next: "ramline show memory",
};

const TERMS: &[(Term, &str)] = &[
    (Term::SlabReclaimable, "/proc/meminfo SReclaimable"),
    (Term::SlabUnreclaimable, "/proc/meminfo SUnreclaim"),
    (Term::KernelReclaimable, "/proc/meminfo KReclaimable - SReclaimable"),
    (Term::Vmalloc, "/proc/meminfo VmallocUsed"),
    (Term::KernelStacks, "/proc/meminfo KernelStack"),
    (Term::PageTables, "/proc/meminfo PageTables"),
    (Term::SecPageTables, "/proc/meminfo SecPageTables"),
    (Term::Percpu, "/proc/meminfo Percpu"),
    (Term::GpuActive, "/proc/meminfo GPUActive"),
    (Term::GpuReclaim, "/proc/meminfo GPUReclaim"),
    (Term::DeviceBuffers, "/proc/meminfo ION_heap"),
    (Term::VendorOther, "/proc/meminfo Misc"),
    (Term::PageDescriptors, "/proc/vmstat nr_memmap_pages"),
    (Term::Isolated, "/proc/vmstat nr_isolated_anon + nr_isolated_file"),
];

/// In MemTotal, and neither the kernel's own nor a process'.
const BESIDE: &[(Term, &str)] = &[
    (Term::Balloon, "/proc/meminfo Balloon, or /proc/vmstat balloon_inflate - balloon_deflate"),
    (Term::Arc, "/proc/spl/kstat/zfs/arcstats size"),
];

/// Lines that shrink under pressure.
const SHRINKS: [Term; 3] = [Term::SlabReclaimable, Term::KernelReclaimable, Term::GpuReclaim];

fn answer(inputs: &Inputs<'_>, out: &mut Explanation) -> String {
    let ledger = Ledger::from_snapshot(inputs.snapshot);
    let rows = BESIDE.iter().chain(TERMS).filter_map(|(term, source)| {
        let line = ledger.as_ref()?.line(*term).filter(|line| line.bytes.0 > 0)?;
        Some((line.label.as_str(), line.bytes, *source))
    });
    let left = ledger.as_ref().map(Ledger::leftover_of_kernel).filter(|left| left.0 > 0);
    let left = left.map(|left| ("in no counter (drivers, pipes, sockets)", left, "MemTotal less every line"));
    let unknown = ledger.as_ref().map(Ledger::leftover_not_known).filter(|left| left.0 > 0);
    let unknown = unknown.map(|left| ("not known: of the kernel or of programs", left, "MemTotal less every line"));
    let mut rows: Vec<_> = rows.chain(left).chain(unknown).collect();
    ramline_units::sort_by_key(&mut rows, |(_, bytes, _)| std::cmp::Reverse(*bytes));
    for (label, bytes, source) in rows {
        out.put(label, bytes, source);
    }
    match &inputs.snapshot.slab {
        Seen::Seen { data, .. } => {
            for cache in data.caches.iter().take(3) {
                let value = format!("{}, {} in use", cache.held, cache.in_use);
                out.put(&format!("largest caches: {}", cache.name), value, "/proc/slabinfo");
            }
        }
        Seen::Denied { .. } => out.put("largest caches", "not seen: for root only", "/proc/slabinfo"),
        _ => {}
    }
    if let Some(found) =
        crate::RULES.iter().find(|rule| rule.id == "memory-without-owner").and_then(|rule| rule.finding(inputs))
    {
        out.to_do = format!("{}.", capital(&found.effect));
    }
    match &ledger {
        None => unseen(inputs, "meminfo"),
        Some(ledger) => sentence(ledger, available::from_snapshot(inputs.snapshot).map_or(Bytes::ZERO, |of| of.arc)),
    }
}

/// The sentence with the same numbers as the picture of `show`: what is not the kernel's own is said beside it.
fn sentence(ledger: &Ledger, arc_shrinks: Bytes) -> String {
    let sum = |terms: &mut dyn Iterator<Item = Term>| terms.map(|term| ledger.bytes(term)).sum::<Bytes>();
    let total = sum(&mut TERMS.iter().map(|(term, _)| *term)) + ledger.leftover_of_kernel();
    let shrinks = sum(&mut SHRINKS.into_iter());
    let share = |bytes: Bytes| bytes.share_of(ledger.total).map(percent).unwrap_or_default();
    let unknown = ledger.leftover_not_known();
    let shrinking = format!(
        "{shrinks} shrinks when memory is short; {} is freed by its owners only.",
        total.saturating_sub(shrinks)
    );
    let no_line = format!("{unknown} ({}) no line tells whether the kernel or programs have it.", share(unknown));
    let mut out = match (unknown, total) {
        (Bytes::ZERO, _) => format!("The kernel uses {total} ({} of RAM) for itself. {shrinking}", share(total)),
        (_, Bytes::ZERO) => format!("What the kernel uses is not known: of {no_line}"),
        _ => format!("The lines of the kernel hold {total} ({} of RAM). {shrinking} Of {no_line}", share(total)),
    };
    let beside = |term, what: &str| {
        let bytes = ledger.bytes(term);
        (bytes.0 > 0).then(|| format!(" {what} {bytes} ({}) beside it.", share(bytes)))
    };
    out.extend(beside(Term::Balloon, "The hypervisor's balloon holds"));
    out.extend(beside(Term::Arc, "The ZFS cache holds"));
    if ledger.bytes(Term::Arc).0 > 0 {
        out += &format!(" {arc_shrinks} of that shrinks when memory is short; zfs_arc_min keeps the rest.");
    }
    out
}
