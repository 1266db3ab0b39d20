//! Who grew before a kill, from two moments that were recorded.

use ramline_units::growth;

use crate::prelude::*;

/// What changed in the minutes before a kill.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct GrowthBefore {
    /// The earlier moment, in milliseconds since 1970.
    pub from_unix_ms: u64,
    /// The last one before the kill.
    pub to_unix_ms: u64,
    /// Seconds between them.
    pub seconds: u64,
    /// MemAvailable at both.
    pub available: Option<(Bytes, Bytes)>,
    /// Shared memory (tmpfs, memfd, System V) at both.
    pub shared: Option<(Bytes, Bytes)>,
    /// Kernel objects that cannot be reclaimed at both.
    pub slab: Option<(Bytes, Bytes)>,
    /// Processes that grew most, the largest growth first.
    pub processes: Vec<Grown>,
    /// Control groups that grew most.
    pub groups: Vec<Grown>,
}

/// Who grew.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Grown {
    /// Name of the process, or path of the group.
    pub name: String,
    /// Process id.
    pub pid: Option<u32>,
    /// Memory and swap at the earlier moment; `None` where it began in between.
    pub before: Option<Bytes>,
    /// And at the later one.
    pub after: Bytes,
    /// How much more.
    pub more: Bytes,
}

/// How many are named.
const NAMED: usize = 5;

impl GrowthBefore {
    /// What grew between two snapshots, and when they were taken. Of a kill in a group, only what is in that group can have filled it.
    #[must_use]
    pub fn between(
        (before, from_unix_ms): (&Snapshot, u64),
        (after, to_unix_ms): (&Snapshot, u64),
        group: Option<&str>,
    ) -> GrowthBefore {
        let both = |size: fn(&Meminfo) -> Option<Bytes>| {
            before.meminfo.data().and_then(size).zip(after.meminfo.data().and_then(size))
        };
        GrowthBefore {
            from_unix_ms,
            to_unix_ms,
            seconds: growth(from_unix_ms, to_unix_ms).unwrap_or_default() / 1000,
            available: both(|m| m.mem_available),
            shared: both(|m| m.shmem),
            slab: both(|m| m.s_unreclaim),
            processes: processes(before, after, group),
            groups: groups(before, after, group),
        }
    }
}

/// What a process has that no other has, as far as it is known without walks.
fn own(process: &Process) -> Option<Bytes> {
    let parts = [process.rss_anon, process.rss_shmem, process.swap];
    let known: Vec<Bytes> = parts.into_iter().flatten().collect();
    (!known.is_empty()).then(|| known.into_iter().sum())
}

/// True for a group and those below it.
fn is_within(path: &str, group: Option<&str>) -> bool {
    let group = group.map(|group| group.trim_end_matches('/')).filter(|group| !group.is_empty());
    group.is_none_or(|group| path.strip_prefix(group).is_some_and(|rest| rest.is_empty() || rest.starts_with('/')))
}

fn processes(before: &Snapshot, after: &Snapshot, group: Option<&str>) -> Vec<Grown> {
    let known: HashMap<(u32, u64), Bytes> = before
        .processes
        .data()
        .into_iter()
        .flat_map(|all| &all.list)
        .filter_map(|process| Some(((process.pid, process.started_ticks), own(process)?)))
        .collect();
    let all = after.processes.data();
    let path = |process: &Process| Some(all?.groups.get(usize::try_from(process.group?).ok()?)?.as_str());
    let is_in = |process: &&Process| group.is_none() || path(process).is_some_and(|path| is_within(path, group));
    let now = all.into_iter().flat_map(|all| &all.list).filter(is_in);
    largest(now.filter_map(|process| {
        let (was, is) = (known.get(&(process.pid, process.started_ticks)).copied(), own(process)?);
        grown(process.name.clone(), Some(process.pid), was, is)
    }))
}

fn groups(before: &Snapshot, after: &Snapshot, within: Option<&str>) -> Vec<Grown> {
    let size = |group: &Group| Some(group.current? + group.swap_current.unwrap_or_default());
    let known: HashMap<&str, Bytes> = before
        .groups
        .data()
        .into_iter()
        .flat_map(|all| &all.list)
        .filter_map(|group| Some((group.path.as_str(), size(group)?)))
        .collect();
    let now = after
        .groups
        .data()
        .into_iter()
        .flat_map(|all| &all.list)
        .filter(|group| group.path != "/" && is_within(&group.path, within));
    largest(
        now.filter_map(|group| grown(group.path.clone(), None, known.get(group.path.as_str()).copied(), size(group)?)),
    )
}

fn grown(name: String, pid: Option<u32>, before: Option<Bytes>, after: Bytes) -> Option<Grown> {
    let more = after.checked_sub(before.unwrap_or_default()).filter(|more| *more >= LEAST)?;
    Some(Grown { name, pid, before, after, more })
}

/// Less is no growth that fills a machine.
const LEAST: Bytes = Bytes::from_mib(1);

fn largest(all: impl Iterator<Item = Grown>) -> Vec<Grown> {
    let mut all: Vec<Grown> = all.collect();
    ramline_units::sort_by_key(&mut all, |grown| std::cmp::Reverse(grown.more.0));
    all.truncate(NAMED);
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use ramline_snapshot::Seen;

    fn seen(list: &[(u32, u64, u64)]) -> Snapshot {
        let process = |(pid, start, mib): &(u32, u64, u64)| Process {
            pid: *pid,
            started_ticks: *start,
            name: format!("p{pid}"),
            rss_anon: Some(Bytes::from_mib(*mib)),
            ..Process::default()
        };
        let list = list.iter().map(process).collect();
        Snapshot { processes: Seen::new(Processes { list, ..Processes::default() }), ..Snapshot::default() }
    }

    #[test]
    fn who_grew_most_is_first_and_a_number_used_anew_is_another_process() {
        let before = seen(&[(1, 10, 100), (2, 10, 500), (3, 10, 50)]);
        let after = seen(&[(1, 10, 400), (2, 99, 20), (3, 10, 50), (4, 50, 30)]);
        let grown = GrowthBefore::between((&before, 1000), (&after, 301_000), None);
        let named: Vec<(&str, Option<u64>, u64)> = grown
            .processes
            .iter()
            .map(|one| (one.name.as_str(), one.before.map(|bytes| bytes.0 >> 20), one.more.0 >> 20))
            .collect();
        assert_eq!(named, [("p1", Some(100), 300), ("p4", None, 30), ("p2", None, 20)]);
        assert_eq!((grown.seconds, grown.available), (300, None));
    }

    #[test]
    fn of_a_kill_in_a_group_only_that_group_and_those_below_it_count() {
        assert!(is_within("/a", Some("/a")) && is_within("/a/b", Some("/a/")) && is_within("/x", Some("/")));
        assert!(is_within("/x", None) && !is_within("/ab", Some("/a")) && !is_within("/", Some("/a")));
        let before = seen(&[(1, 10, 100)]);
        let after = seen(&[(1, 10, 400)]);
        let grown = GrowthBefore::between((&before, 0), (&after, 1000), Some("/a"));
        assert!(grown.processes.is_empty(), "its group is not known");
    }
}
