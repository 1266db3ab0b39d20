//! The memory limit of our own group: what can be had here ends at it, whatever the machine has.
//!
//! The tightest limit on the way to the root, where it is below MemTotal, and what is left of it. Where the limit belongs to a
//! parent, what the parent's other groups use counts as well; from inside a container it cannot be seen, so `room` is then an
//! upper bound. `own_limit` is false in both cases.
//!
//! `room = limit − current + inactive_file`, at most the limit: the group's cache on the inactive list is dropped
//! before anything waits (`mem_cgroup_margin` and reclaim, mm/memcontrol.c).
//!
//! Worked example: 48 MiB used of 256 MiB, 14 MiB of it idle cache: 222 MiB can be had.

use crate::groups::is_sandbox;
use crate::prelude::*;

/// A limited group.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct GroupRoom {
    /// The group's path.
    pub path: String,
    /// The tightest limit from here to the root.
    pub limit: Bytes,
    /// What the group uses; `None` where it was not seen.
    pub current: Option<Bytes>,
    /// Of it, file pages on the inactive list.
    pub inactive_file: Bytes,
    /// What can be had before the limit makes something wait; the whole limit where its use was not seen.
    pub room: Bytes,
    /// The limit is the group's own; otherwise a parent's, which others may share.
    pub own_limit: bool,
}

impl GroupRoom {
    /// `it uses 48.0 MiB of its limit of 256.0 MiB`.
    #[must_use]
    pub fn words(&self) -> String {
        let whose = if self.own_limit { "its limit" } else { "the limit above it, which others may share," };
        match self.current {
            Some(current) if self.own_limit => format!("it uses {current} of its limit of {}", self.limit),
            Some(current) => {
                format!(
                    "it uses {current}, and a group above it, which others may share, has a limit of {}",
                    self.limit
                )
            }
            None => format!("{whose} is {}; its use was not seen", self.limit),
        }
    }
}

/// The headroom of our group, where it has a limit below MemTotal.
#[must_use]
pub fn from_snapshot(snapshot: &Snapshot) -> Option<GroupRoom> {
    let groups = snapshot.cgroups.data()?;
    // In a cgroup name space our group is what looks like the root.
    let group = groups.own.as_ref().unwrap_or(&groups.root);
    let limit = groups.effective_max.bytes().filter(|limit| snapshot.mem_total().is_none_or(|ram| *limit < ram))?;
    let inactive_file = inactive_file(group);
    let own = group.current.map_or(limit, |current| (limit.saturating_sub(current) + inactive_file).min(limit));
    let room = above(snapshot, group).map_or(own, |left| left.min(own));
    let own_limit = group.max.is_some_and(|own| own == Limit::At(limit));
    Some(GroupRoom { path: group.path.clone(), limit, current: group.current, inactive_file, room, own_limit })
}

/// What the groups above have left below their own limits, with what others there use; `None` where none of them was seen.
fn above(snapshot: &Snapshot, group: &Group) -> Option<Bytes> {
    let seen = crate::groups::seen(snapshot)?;
    let is_above = |path: &str| {
        (path == "/" && group.path != "/") || group.path.strip_prefix(path).is_some_and(|rest| rest.starts_with('/'))
    };
    let left = |one: &Group| {
        let limit = one.max.and_then(Limit::bytes)?;
        Some((limit.saturating_sub(one.current?) + inactive_file(one)).min(limit))
    };
    seen.list.iter().filter(|one| is_above(&one.path)).filter_map(left).min()
}

/// Version 1 counts the group alone under the plain name, and with its children as `total_`; version 2 counts all.
fn inactive_file(group: &Group) -> Bytes {
    let stat = |name: &str| group.stat.get(name).copied();
    Bytes(stat("total_inactive_file").or_else(|| stat("inactive_file")).unwrap_or_default())
}

/// The group that met its own limit most often over the window, or in which most were killed for it; `None` where the groups were not seen
/// twice, or none met its limit. Version 2 counts what happens below a group in it too, so of equals the innermost is taken. A sandbox of
/// the lab is named only where no other group met its limit.
#[must_use]
pub fn at_its_limit<'a>(window: &Window<'a>) -> Option<&'a str> {
    let sorted_by = |(killed, times, path): &(u64, u64, &str)| (!is_sandbox(path), *killed, *times);
    met_a_limit(window).max_by_key(sorted_by).map(|(.., path)| path)
}

/// Of the group at `path` and those above it, the innermost that met its limit over the window.
#[must_use]
pub fn limited_at<'a>(window: &Window<'a>, path: &str) -> Option<&'a str> {
    let holds = |group: &str| path.strip_prefix(group).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
    met_a_limit(window).map(|(.., group)| group).filter(|group| holds(group)).max_by_key(|group| group.len())
}

/// Groups that met their limit over the window: processes killed for it, how often it was met, and their path.
fn met_a_limit<'a>(window: &Window<'a>) -> impl Iterator<Item = (u64, u64, &'a str)> {
    let list = window.after.groups.data().map(|groups| groups.list.as_slice()).unwrap_or_default();
    let limited = list.iter().filter(|group| [group.max, group.high].iter().flatten().any(|l| l.bytes().is_some()));
    limited.filter_map(|group| {
        let delta = |name: &str| {
            let counter =
                |s: &Snapshot| s.groups.data()?.list.iter().find(|g| g.path == group.path)?.events.get(name).copied();
            window.delta(counter)
        };
        let killed = delta("oom_kill").unwrap_or(0);
        let times = ["max", "high", "failcnt"].into_iter().filter_map(delta).max().unwrap_or(0);
        ((killed, times) > (0, 0)).then_some((killed, times, group.path.as_str()))
    })
}

#[cfg(test)]
mod tests {
    use ramline_snapshot::Seen;
    use ramline_snapshot::cgroup::{Cgroups, Version};
    use ramline_snapshot::machine::Machine;
    use ramline_snapshot::meminfo::Meminfo;

    use super::*;

    fn group(current: u64, max: Limit, stat: &[(&str, u64)]) -> Group {
        let stat = stat.iter().map(|(name, n)| ((*name).to_owned(), n << 20)).collect();
        Group { path: "/g".into(), current: Some(Bytes::from_mib(current)), max: Some(max), stat, ..Group::default() }
    }

    fn seen(root: Group, own: Option<Group>, effective_max: Limit) -> Snapshot {
        let mut seen = Snapshot::new(Machine::default());
        seen.meminfo = Seen::new(Meminfo::parse("m", "MemTotal: 1048576 kB\n").unwrap());
        seen.cgroups = Seen::new(Cgroups { version: Version::V2, root, own, effective_max, unseen: vec![] });
        seen
    }

    fn mib(n: u64) -> Limit {
        Limit::At(Bytes::from_mib(n))
    }

    #[test]
    fn what_can_be_had_is_the_limit_less_the_use_and_the_idle_cache_in_it_again() {
        let room = from_snapshot(&seen(group(48, mib(256), &[("inactive_file", 14)]), None, mib(256))).unwrap();
        assert_eq!((room.room, room.own_limit, room.limit), (Bytes::from_mib(222), true, Bytes::from_mib(256)));
        assert_eq!(room.words(), "it uses 48.0 MiB of its limit of 256.0 MiB");
        let near = from_snapshot(&seen(group(64, mib(64), &[("inactive_file", 1)]), None, mib(64))).unwrap();
        assert_eq!(near.room, Bytes::from_mib(1));
        let over = from_snapshot(&seen(group(70, mib(64), &[("inactive_file", 1)]), None, mib(64))).unwrap();
        assert_eq!(over.room, Bytes::from_mib(1), "above its limit only its cache is left");
        let idle = from_snapshot(&seen(group(5, mib(64), &[("inactive_file", 9)]), None, mib(64))).unwrap();
        assert_eq!(idle.room, Bytes::from_mib(64), "never more than the limit");
    }

    #[test]
    fn our_own_group_counts_before_the_root_and_a_parents_limit_is_shared() {
        let own = group(10, Limit::Max, &[("inactive_file", 1), ("total_inactive_file", 4)]);
        let room = from_snapshot(&seen(group(900, Limit::Max, &[]), Some(own), mib(64))).unwrap();
        assert_eq!((room.room, room.own_limit), (Bytes::from_mib(58), false));
        assert!(room.words().contains("others may share"), "{}", room.words());
    }

    #[test]
    fn the_group_that_met_its_limit_is_named_and_of_equals_the_innermost() {
        let look = |seconds: u64, counts: [u64; 4]| {
            let names = ["/shop", "/shop/web", "/free", "/ramline-77-0"];
            let limits = [mib(512), mib(128), Limit::Max, mib(64)];
            let list = names.iter().zip(limits).zip(counts).map(|((path, max), times)| Group {
                path: (*path).into(),
                max: Some(max),
                events: [("max".to_owned(), times)].into(),
                ..Group::default()
            });
            let mut seen = seen(group(0, Limit::Max, &[]), None, Limit::Max);
            seen.machine.boot_id = Some("b".into());
            seen.machine.uptime = Some(ramline_units::Nanos(seconds * 1_000_000_000));
            seen.groups = Seen::new(ramline_snapshot::groups::Groups { list: list.collect(), ..Default::default() });
            seen
        };
        let named = |after| {
            let (before, after) = (look(1, [5, 5, 5, 5]), look(3, after));
            at_its_limit(&Window::new(&before, &after).unwrap()).map(str::to_owned)
        };
        assert_eq!(named([9, 9, 999, 99]).as_deref(), Some("/shop/web"), "without a limit there is none to meet");
        assert_eq!(named([9, 5, 5, 5]).as_deref(), Some("/shop"));
        assert_eq!(named([5, 5, 5, 5]), None);
        let (before, after) = (look(1, [5, 5, 5, 5]), look(3, [9, 9, 9, 5]));
        let limited = |path: &str| limited_at(&Window::new(&before, &after).unwrap(), path).map(str::to_owned);
        assert_eq!(limited("/shop/web/worker").as_deref(), Some("/shop/web"), "the innermost that holds it");
        assert_eq!((limited("/shop/website").as_deref(), limited("/free")), (Some("/shop"), None));
        assert_eq!(named([5, 5, 5, 9]).as_deref(), Some("/ramline-77-0"), "of the lab, as nothing else met one");
    }

    #[test]
    fn a_limit_at_or_above_the_ram_is_none_and_an_unseen_use_is_not_zero() {
        assert_eq!(from_snapshot(&seen(group(1, Limit::Max, &[]), None, Limit::Max)), None);
        assert_eq!(from_snapshot(&seen(group(1, mib(1024), &[]), None, mib(1024))), None);
        assert!(from_snapshot(&seen(group(1, mib(1023), &[]), None, mib(1023))).is_some());
        assert_eq!(from_snapshot(&Snapshot::default()), None);
        let unseen = Group { current: None, ..group(1, mib(64), &[]) };
        let room = from_snapshot(&seen(unseen, None, mib(64))).unwrap();
        assert_eq!((room.current, room.room), (None, Bytes::from_mib(64)));
        assert!(room.words().contains("was not seen"));
    }
}
