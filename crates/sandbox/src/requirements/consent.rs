//! What the reader is asked consent for: what is made or changed outside the sandbox, and who else it touches.
//!
//! A swap area of ours is everybody's while it is on, and when it goes its pages come back to their owners, into groups that may
//! have no room for them.

use ramline_model::settings::{Knob, Reach, reach};
use ramline_snapshot::cgroup::Group;

use crate::knobs;
use crate::prelude::*;

/// What a group cannot drop, from this share of its limit on, leaves no room for what comes back.
const FULL: f64 = 0.9;
/// Groups named.
const NAMED: usize = 3;

/// For a run with swappiness of its own, where the group has none.
#[must_use]
pub fn swappiness(version: Option<Version>) -> Option<String> {
    let global = version.is_some_and(|version| reach(Knob::Swappiness, knobs::place(version)) == Reach::Global);
    global.then(|| {
        "vm.swappiness of the whole machine, put back after each run (cgroup v2 has none per group)".to_owned()
    })
}

/// For a run with swap areas of its own: those, and the groups that stand at their limit now.
#[must_use]
pub fn swap_areas(root: &Root, areas: Vec<String>) -> Vec<String> {
    let mut lines = areas;
    if lines.is_empty() {
        return lines;
    }
    lines.push(
        "while it is on, other processes may swap to it too, and when it goes a container at its memory limit may lose a process"
            .to_owned(),
    );
    let seen = gather(root, Wanted { groups: true, ..Wanted::NOTHING });
    let groups = seen.groups.data().map_or(&[][..], |groups| &groups.list);
    let full: Vec<String> = groups.iter().filter_map(full).collect();
    if !full.is_empty() {
        let more = if full.len() > NAMED { format!(" and {} more", full.len() - NAMED) } else { String::new() };
        let named = full[..full.len().min(NAMED)].join(", ");
        lines.push(format!(
            "at their memory limit now: {named}{more}; a setting without swap, or --sandbox vm, leaves them alone"
        ));
    }
    lines
}

fn full(group: &Group) -> Option<String> {
    let limit = group.max?.bytes()?;
    let of = |keys: [&str; 2]| keys.iter().find_map(|key| group.stat.get(*key)).copied().unwrap_or(0);
    // Version 1 first: its own figures leave out the groups below.
    let kept = Bytes(of(["total_rss", "anon"]) + of(["total_shmem", "shmem"]));
    let share = kept.share_of(limit)?;
    (share >= FULL).then(|| format!("{} ({kept} of {limit} is not files)", group.path.escape_debug()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use ramline_units::Limit;

    #[test]
    fn only_where_a_group_has_no_swappiness_that_of_the_machine_is_asked_for() {
        assert_eq!((swappiness(None), swappiness(Some(Version::V1))), (None, None));
        assert!(swappiness(Some(Version::V2)).unwrap().starts_with("vm.swappiness of the whole machine"));
    }

    #[test]
    fn a_group_is_full_by_what_cannot_be_dropped_and_not_by_its_files() {
        let group = |anon: u64, key: &str| Group {
            path: "/app".into(),
            max: Some(Limit::At(Bytes::from_mib(100))),
            stat: [(key.to_owned(), Bytes::from_mib(anon).0), ("file".to_owned(), Bytes::from_mib(90).0)].into(),
            ..Group::default()
        };
        assert_eq!(full(&group(95, "anon")).as_deref(), Some("/app (95.0 MiB of 100.0 MiB is not files)"));
        assert!(full(&group(95, "total_rss")).is_some());
        assert_eq!(full(&group(10, "anon")), None);
        assert_eq!(full(&Group { max: None, ..group(95, "anon") }), None);
    }
}
