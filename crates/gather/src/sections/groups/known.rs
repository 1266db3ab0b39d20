//! Which files of a group need not be read, since others say what is in them: each costs the kernel 6 to 9 microseconds.
//!
//! - A group counts for all below it. Where that is 0, it is 0 in each of them: swap, kernel memory, removed groups, `memory.events`.
//! - `memory.stat` of version 1 has the tightest limit on the way up. Where it is none, or tighter than that of the group above, it is the
//!   group's own limit; `memory.stat` of version 2 has what lies in zswap.
//! - Hits of a limit that is not set say nothing, and of version 1 each group counts its own alone.
//! - Where the kernel has killed no process since boot and no limit holds, no group has a kill and none stands still.
//!
//! Worked example: a service without a limit on a machine that does not swap. Of the 12 files of version 1 five are read: `memory.stat`,
//! `memory.usage_in_bytes`, `memory.max_usage_in_bytes`, `memory.swappiness` and, as its slice has kernel memory, that.

use ramline_snapshot::cgroup::{Group, Version, limit};
use ramline_units::Limit;

use super::super::tightest::{Tightest, value};
use crate::prelude::*;

/// What is known of a file that was not opened.
#[derive(Debug, PartialEq, Eq)]
pub enum Answer {
    /// Nothing: it must be read.
    Read,
    /// Its text.
    Is(String),
    /// What is in it says nothing here.
    Without,
}

/// What the group above counts for all below it, and the limits that hold there.
#[derive(Debug, Clone, Copy, Default)]
pub struct Above {
    /// It does count for those below: version 2, and version 1 with `memory.use_hierarchy`.
    counts_below: bool,
    /// So does its `memory.events` (version 2).
    pub events_below: bool,
    /// It, or one above it, is at a limit.
    pub is_at_limit: bool,
    no_swap: bool,
    no_zswap: bool,
    no_kernel: bool,
    no_tcp: bool,
    no_dying: bool,
    no_events: bool,
    limits: Tightest,
}

impl Above {
    /// Nothing is above the top but whether groups count for those below.
    pub fn the_top(counts_below: bool) -> Above {
        Above { counts_below, ..Above::default() }
    }

    /// What holds for the groups below one that was read.
    pub fn after(&self, group: &Group, limits: Tightest, events_below: bool) -> Above {
        let none = |bytes: Option<Bytes>| self.counts_below && bytes == Some(Bytes::ZERO);
        Above {
            no_swap: none(group.swap_current),
            no_zswap: none(group.zswap_current),
            no_kernel: none(group.kernel),
            no_tcp: none(group.kernel_tcp),
            no_dying: self.counts_below && group.dying == Some(0),
            events_below,
            no_events: events_below && !group.events.is_empty() && group.events.values().all(|n| *n == 0),
            limits,
            ..*self
        }
    }
}

/// What is known of a file: from those of the group that were read before it, from the group above, and whether any process was killed.
pub fn answer(
    version: Version,
    name: &str,
    files: &BTreeMap<String, String>,
    limits: Tightest,
    above: &Above,
    kills: bool,
) -> Answer {
    let is = |known: Option<String>| known.map_or(Answer::Read, Answer::Is);
    let zero = |none: bool| is(none.then(|| "0\n".to_owned()));
    match (version, name) {
        (Version::V1, "memory.limit_in_bytes") => is(own(limits.memory, above.limits.memory)),
        (Version::V1, "memory.memsw.limit_in_bytes") => is(own(limits.both, above.limits.both)),
        (Version::V1, "memory.memsw.usage_in_bytes") if above.no_swap && limits.both.is_some() => {
            is(files.get("memory.usage_in_bytes").cloned())
        }
        (Version::V1, "memory.failcnt") if is_off(files, "memory.limit_in_bytes") => Answer::Without,
        (Version::V1, "memory.memsw.failcnt") if is_off(files, "memory.memsw.limit_in_bytes") => Answer::Without,
        (Version::V1, "memory.oom_control") => {
            is((!kills && limits.is_none()).then(|| "under_oom 0\noom_kill 0\n".to_owned()))
        }
        (Version::V1, "memory.kmem.usage_in_bytes") => zero(above.no_kernel),
        (Version::V1, "memory.kmem.tcp.usage_in_bytes") => zero(above.no_tcp),
        (Version::V2, "memory.swap.current") => zero(above.no_swap),
        (Version::V2, "memory.zswap.current") => match files.get("memory.stat").and_then(|stat| value(stat, "zswap")) {
            Some(bytes) => Answer::Is(bytes.to_owned()),
            None => zero(above.no_zswap),
        },
        (Version::V2, "cgroup.stat") => is(above.no_dying.then(|| "nr_dying_descendants 0\n".to_owned())),
        (Version::V2, "memory.events") => {
            is(above.no_events.then(|| "low 0\nhigh 0\nmax 0\noom 0\noom_kill 0\n".to_owned()))
        }
        _ => Answer::Read,
    }
}

/// The own limit, where the tightest on the way up can only be it.
fn own(here: Option<Limit>, above: Option<Limit>) -> Option<String> {
    match (here?, above) {
        (Limit::Max, _) => Some("max\n".to_owned()),
        (Limit::At(here), Some(Limit::Max)) => Some(here.0.to_string()),
        (Limit::At(here), Some(Limit::At(above))) => (here < above).then(|| here.0.to_string()),
        (Limit::At(_), None) => None,
    }
}

fn is_off(files: &BTreeMap<String, String>, name: &str) -> bool {
    files.get(name).is_some_and(|text| limit("", text) == Ok(Limit::Max))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn files(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
        pairs.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned())).collect()
    }

    fn v1(name: &str, own: &BTreeMap<String, String>, above: &Above) -> Answer {
        let limits = own.get("memory.stat").map(|stat| Tightest::in_stat(stat)).unwrap_or_default();
        answer(Version::V1, name, own, limits, above, true)
    }

    const NONE: &str = "9223372036854771712";

    fn stat(memory: &str) -> BTreeMap<String, String> {
        let both = format!("hierarchical_memsw_limit {NONE}");
        files(&[("memory.stat", &format!("cache 0\nhierarchical_memory_limit {memory}\n{both}\n"))])
    }

    #[test]
    fn the_tightest_limit_on_the_way_up_is_the_groups_own_only_where_it_can_be_no_other() {
        let above = |limit: &str| {
            Above::default().after(&Group::default(), Tightest::in_stat(&stat(limit)["memory.stat"]), false)
        };
        let read = |here: &str, limit: &str| v1("memory.limit_in_bytes", &stat(here), &above(limit));
        assert_eq!(read(NONE, NONE), Answer::Is("max\n".to_owned()));
        assert_eq!(read("4096", NONE), Answer::Is("4096".to_owned()));
        assert_eq!(read("4096", "8192"), Answer::Is("4096".to_owned()));
        assert_eq!(read("4096", "4096"), Answer::Read, "it may be the limit of the group above");
        let top = v1("memory.limit_in_bytes", &stat("4096"), &Above::default());
        assert_eq!(top, Answer::Read, "nothing is known above");
        assert_eq!(v1("memory.limit_in_bytes", &files(&[]), &above(NONE)), Answer::Read);
    }

    #[test]
    fn what_a_group_counts_for_all_below_and_is_0_is_0_below() {
        let group = Group { swap_current: Some(Bytes(0)), kernel: Some(Bytes(4096)), ..Group::default() };
        let below = |top: Above, group: &Group| top.after(group, Tightest::default(), false);
        let mut own = stat(NONE);
        own.insert("memory.usage_in_bytes".to_owned(), "4096\n".to_owned());
        let swap = "memory.memsw.usage_in_bytes";
        let counting = below(Above::the_top(true), &group);
        assert_eq!(v1(swap, &own, &counting), Answer::Is("4096\n".to_owned()));
        assert_eq!(v1("memory.kmem.usage_in_bytes", &own, &counting), Answer::Read);
        assert_eq!(v1(swap, &own, &below(Above::the_top(false), &group)), Answer::Read, "each counts for itself");
        let unknown = Group { swap_current: None, ..group };
        assert_eq!(v1(swap, &own, &below(Above::the_top(true), &unknown)), Answer::Read, "absent is not zero");
    }

    #[test]
    fn events_of_version_2_are_known_below_a_group_without_any_where_it_counts_for_those() {
        let events = |n| BTreeMap::from([("max".to_owned(), n)]);
        let known = |n, events_below| {
            let group = Group { events: events(n), ..Group::default() };
            let above = Above::the_top(true).after(&group, Tightest::default(), events_below);
            answer(Version::V2, "memory.events", &files(&[]), Tightest::default(), &above, true)
        };
        assert!(matches!(known(0, true), Answer::Is(_)));
        assert_eq!((known(0, false), known(1, true)), (Answer::Read, Answer::Read));
    }

    #[test]
    fn kills_are_read_where_there_was_one_or_a_limit_holds() {
        let kills = |limit: &str, any| {
            let limits = Tightest::in_stat(&stat(limit)["memory.stat"]);
            answer(Version::V1, "memory.oom_control", &stat(limit), limits, &Above::default(), any)
        };
        assert_eq!(kills(NONE, false), Answer::Is("under_oom 0\noom_kill 0\n".to_owned()));
        assert_eq!((kills(NONE, true), kills("4096", false)), (Answer::Read, Answer::Read));
    }

    #[test]
    fn hits_of_a_limit_that_is_not_set_are_not_read() {
        let own = files(&[("memory.limit_in_bytes", NONE), ("memory.memsw.limit_in_bytes", "4096")]);
        assert_eq!(v1("memory.failcnt", &own, &Above::default()), Answer::Without);
        assert_eq!(v1("memory.memsw.failcnt", &own, &Above::default()), Answer::Read);
    }
}
