//! Whether anything waits for memory, and why: pressure, refaults, reclaim, kills.

use ramline_snapshot::Seen;
use ramline_snapshot::pressure::Pressure;
use ramline_snapshot::vmstat::Vmstat;

use crate::family::{Family, Kind, Samples, Unit, family};
use crate::reading::Reading;
use crate::spelled::seconds;

const EVENTS: (Kind, Unit) = (Kind::Counter, Unit::None);
const SECONDS: (Kind, Unit) = (Kind::Counter, Unit::Seconds);

/// One counter of /proc/vmstat.
type Counted = fn(&Vmstat) -> Option<u64>;

/// A counter by kind.
fn by(seen: &Reading<'_>, out: &mut Samples, label: &'static str, of: &[(&str, Counted)]) {
    let Some(vmstat) = seen.snapshot.vmstat.data() else { return };
    of.iter().for_each(|(kind, count)| out.with(&[(label, kind)], count(vmstat)));
}

fn counter(seen: &Reading<'_>, out: &mut Samples, count: fn(&Vmstat) -> Option<u64>) {
    out.one(seen.snapshot.vmstat.data().and_then(count));
}

pub const FAMILIES: &[Family] = &[
    family(
        "ramline_pressure_waiting_seconds",
        SECONDS,
        "psi",
        "Time in which some task (tasks=some), or all at once (tasks=full), waited for a resource (PSI).",
        |seen, out| {
            let snapshot = seen.snapshot;
            let resources: [(&str, &Seen<Pressure>); 3] =
                [("memory", &snapshot.pressure_memory), ("io", &snapshot.pressure_io), ("cpu", &snapshot.pressure_cpu)];
            for (resource, pressure) in resources {
                let Some(pressure) = pressure.data() else { continue };
                for (tasks, stall) in [("some", pressure.some), ("full", pressure.full)] {
                    out.with(&[("resource", resource), ("tasks", tasks)], stall.map(|stall| seconds(stall.total_us)));
                }
            }
        },
    ),
    family(
        "ramline_refaults",
        EVENTS,
        "pressure",
        "Pages read again after they were evicted. A stream through a cache has many and nothing waits for them.",
        |seen, out| by(seen, out, "kind", &[("anon", |v| v.workingset_refault_anon), ("file", Vmstat::refault_file)]),
    ),
    family(
        "ramline_restored_refaults",
        EVENTS,
        "pressure",
        "Refaults of pages that were in use when they were evicted: the cache is too small for them.",
        |seen, out| {
            by(seen, out, "kind", &[("anon", |v| v.workingset_restore_anon), ("file", |v| v.workingset_restore_file)]);
        },
    ),
    family("ramline_faults", EVENTS, "pressure", "Page faults of all kinds.", |seen, out| {
        counter(seen, out, |v| v.pgfault);
    }),
    family(
        "ramline_major_faults",
        EVENTS,
        "pressure",
        "Page faults that had to read. The first read of a mapped file has them too: compare with ramline_refaults.",
        |seen, out| counter(seen, out, |v| v.pgmajfault),
    ),
    family(
        "ramline_reclaim_scanned_pages",
        EVENTS,
        "pressure",
        "Pages that the machine's own reclaim looked at to evict; reclaim for a group's limit is not in it.",
        |seen, out| {
            by(
                seen,
                out,
                "by",
                &[
                    ("kswapd", |v| v.pgscan_kswapd),
                    ("direct", |v| v.pgscan_direct),
                    ("proactive", |v| v.pgscan_proactive),
                ],
            );
        },
    ),
    family(
        "ramline_reclaimed_pages",
        EVENTS,
        "pressure",
        "Pages that the machine's own reclaim freed.",
        |seen, out| {
            by(
                seen,
                out,
                "by",
                &[
                    ("kswapd", |v| v.pgsteal_kswapd),
                    ("direct", |v| v.pgsteal_direct),
                    ("proactive", |v| v.pgsteal_proactive),
                ],
            );
        },
    ),
    family(
        "ramline_allocation_stalls",
        EVENTS,
        "pressure",
        "Allocations that had to reclaim memory themselves before they could go on.",
        |seen, out| counter(seen, out, Vmstat::allocstall),
    ),
    family("ramline_compaction_stalls", EVENTS, "thp", "Allocations that waited for compaction.", |seen, out| {
        counter(seen, out, |v| v.compact_stall);
    }),
    family(
        "ramline_kills",
        EVENTS,
        "oom",
        "Processes that the kernel killed for want of memory, by a group's limit or the machine's end.",
        |seen, out| counter(seen, out, |v| v.oom_kill),
    ),
];
