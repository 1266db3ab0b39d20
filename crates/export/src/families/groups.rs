//! Control groups: the largest, and those that suffer most.

use ramline_model::groups::GroupMemory;
use ramline_snapshot::cgroup::Group;
use ramline_snapshot::containers::Container;
use ramline_units::Limit;

use crate::family::{Family, Kind, Samples, Unit, Value, family};
use crate::reading::Reading;
use crate::spelled::seconds;

const BYTES: (Kind, Unit) = (Kind::Gauge, Unit::Bytes);
const NUMBER: (Kind, Unit) = (Kind::Gauge, Unit::None);
const EVENTS: (Kind, Unit) = (Kind::Counter, Unit::None);
const SECONDS: (Kind, Unit) = (Kind::Counter, Unit::Seconds);

/// The labels of a group: its path, and of a container the name its engine gave it, with pod and name space.
fn put<V: Into<Value>>(out: &mut Samples, group: &GroupMemory, more: (&'static str, &str), value: Option<V>) {
    let container = group.container.as_ref();
    let part =
        |part: fn(&Container) -> &Option<String>| container.and_then(|one| part(one).as_deref()).unwrap_or_default();
    let labels = [
        ("group", group.path.as_str()),
        ("container", part(|one| &one.name)),
        ("pod", part(|one| &one.pod)),
        ("namespace", part(|one| &one.namespace)),
        more,
    ];
    out.with(&labels, value);
}

/// No label beside those of the group.
const NONE: (&str, &str) = ("", "");

fn each<V: Into<Value>>(seen: &Reading<'_>, out: &mut Samples, value: impl Fn(&GroupMemory) -> Option<V>) {
    for (group, _) in &seen.groups {
        put(out, group, NONE, value(group));
    }
}

/// A counter of `memory.stat` by kind; version 1 has it for the group and all below as `total_`.
fn stat(seen: &Reading<'_>, out: &mut Samples, kinds: &[(&str, &[&str])]) {
    for (group, raw) in &seen.groups {
        for (kind, keys) in kinds {
            put(out, group, ("kind", kind), raw.and_then(|raw| first(raw, keys)));
        }
    }
}

fn first(raw: &Group, keys: &[&str]) -> Option<u64> {
    keys.iter().find_map(|key| raw.in_total(key))
}

pub const FAMILIES: &[Family] = &[
    family(
        "ramline_groups_left_out",
        NUMBER,
        "cgroup-memory",
        "Control groups that are not exported: only the largest and those that suffer most are.",
        |seen, out| out.one(seen.groups_left_out),
    ),
    family(
        "ramline_group_memory_bytes",
        BYTES,
        "cgroup-memory",
        "Memory charged to a group and all below it, page cache included.",
        |seen, out| each(seen, out, |group| group.current),
    ),
    family(
        "ramline_group_limit_bytes",
        BYTES,
        "cgroup-memory",
        "The tightest memory limit on the way from the group to the top; missing without any.",
        |seen, out| each(seen, out, |group| group.bound.effective_max),
    ),
    family(
        "ramline_group_own_limit_bytes",
        BYTES,
        "cgroup-memory",
        "The group's own memory limit; missing without any.",
        |seen, out| each(seen, out, |group| group.bound.max.and_then(Limit::bytes)),
    ),
    family(
        "ramline_group_working_set_bytes",
        BYTES,
        "cgroup-memory",
        "What kubelet and cAdvisor call the working set: charged, less inactive page cache. Cache in use counts as used.",
        |seen, out| each(seen, out, ramline_model::groups::working_set),
    ),
    family(
        "ramline_group_unreclaimable_bytes",
        BYTES,
        "cgroup-memory",
        "What reclaim cannot free at once: charged, less clean page cache and kernel objects that can go.",
        |seen, out| each(seen, out, |group| Some(group.current?.saturating_sub(group.reclaim.now))),
    ),
    family("ramline_group_swap_bytes", BYTES, "swap-in-use", "Swap charged to a group.", |seen, out| {
        each(seen, out, |group| group.swap);
    }),
    family(
        "ramline_group_limit_hits",
        EVENTS,
        "cgroup-memory",
        "How often a group met its limit and reclaim began there; a cache that fills its group does all the time.",
        |seen, out| each(seen, out, |group| group.events.limit_hits),
    ),
    family("ramline_group_kills", EVENTS, "oom", "Processes killed in a group for want of memory.", |seen, out| {
        each(seen, out, |group| group.events.oom_kills);
    }),
    family("ramline_group_major_faults", EVENTS, "pressure", "Faults of a group that had to read.", |seen, out| {
        each(seen, out, |group| group.events.major_faults);
    }),
    family("ramline_group_refaults", EVENTS, "pressure", "Pages of a group read again after eviction.", |seen, out| {
        stat(
            seen,
            out,
            &[("anon", &["workingset_refault_anon"]), ("file", &["workingset_refault_file", "workingset_refault"])],
        );
    }),
    family(
        "ramline_group_restored_refaults",
        EVENTS,
        "pressure",
        "Refaults of pages that were in use when they were evicted; control groups of version 2 alone count them.",
        |seen, out| {
            stat(seen, out, &[("anon", &["workingset_restore_anon"]), ("file", &["workingset_restore_file"])]);
        },
    ),
    family(
        "ramline_group_pressure_waiting_seconds",
        SECONDS,
        "psi",
        "Time in which some task of a group, or all of them, waited for memory; control groups of version 2 alone count it.",
        |seen, out| {
            for (group, _) in &seen.groups {
                let Some(pressure) = &group.pressure else { continue };
                for (tasks, stall) in [("some", pressure.some), ("full", pressure.full)] {
                    put(out, group, ("tasks", tasks), stall.map(|stall| seconds(stall.total_us)));
                }
            }
        },
    ),
];
