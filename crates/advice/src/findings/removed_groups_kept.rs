//! Memory groups that were removed and still exist, because something they were charged for is still there.
//!
//! Page cache and tmpfs files stay charged to the group that made them. Its directory is gone, its counters stay: per-CPU data, kernel objects, and a
//! number of the 65,535 that there are (`MEM_CGROUP_ID_MAX`) while its pages are in swap. Without a free number no new group, and so no container, starts ("No space left on
//! device"). From a tenth of the numbers on it is named: hosts that start containers all day have some hundreds.
//!
//! Worked example: 9,120 removed groups of 65,535 are 14 %.

use ramline_model::ledger::{Ledger, Term};

use crate::prelude::*;

pub(super) const RULE: Rule = Rule {
    id: "removed-groups-kept",
    looks_for: "thousands of removed memory groups that page cache or tmpfs still keeps",
    explain: "cgroup-memory",
    check,
    cost_if_wrong: "files that were in the page cache are read from disk again",
    tune: Tune::No("nothing is set wrong: what the groups left behind has to be freed once"),
};

/// The most groups there can be: their numbers have 16 bits.
const IDS: u64 = 65_535;
/// As elsewhere, a tenth is worth knowing.
const LARGE: u64 = IDS / 10;

fn check(inputs: &Inputs<'_>) -> Option<Draft> {
    let dying = dying(inputs.snapshot).filter(|n| *n >= LARGE)?;
    let alive = inputs.snapshot.groups.data().map(|groups| groups.list.len());
    let mut grounds =
        vec![evidence("removed groups", dying, "cgroup.stat nr_dying_subsys_memory, or nr_dying_descendants")];
    grounds.add("groups that are there", alive, "the tree of groups");
    let ledger = Ledger::from_snapshot(inputs.snapshot);
    let of = |term| ledger.as_ref().map(|ledger| ledger.bytes(term)).filter(|bytes| bytes.0 > 0);
    grounds.add("per-CPU data", of(Term::Percpu), "/proc/meminfo Percpu");
    grounds.add("kernel objects in use", of(Term::SlabUnreclaimable), "/proc/meminfo SUnreclaim");
    Some(Draft {
        title: format!("{dying} memory groups were removed and still exist: page cache or tmpfs keeps them"),
        weight: Weight::Note,
effect: "each keeps counters for every processor, and every reading of memory.stat and every reclaim passes through them; near 65535 no container starts \
                 (No space left on device). To free those that only clean page cache keeps, once: echo 1 > /proc/sys/vm/drop_caches; files are then read from disk again"
            .into(),
        evidence: grounds,
        confidence: Confidence::High,
        ..Draft::default()
    })
}

/// How many there are on the machine, or below the top of what is seen.
pub(crate) fn dying(snapshot: &Snapshot) -> Option<u64> {
    let of_tree = snapshot.groups.data().and_then(|groups| groups.list.first()?.dying);
    of_tree.max(snapshot.cgroups.data().and_then(|groups| groups.root.dying))
}
