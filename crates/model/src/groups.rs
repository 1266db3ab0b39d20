//! The tree of memory control groups: where each one's charge goes, what bounds it, and what could be taken from it.
//!
//! Version 1 and 2 under one set of names, every group with all below it, and apart from that what is charged
//! to the group itself. Not an owner of shared pages; a page is charged to the group that touched it first.
//!
//! Worked example: a group of 100 MiB with two children of 30 and 50 MiB has 20 MiB of its own.

mod chain;
mod huge;
mod missed;
mod notable;
mod others;
mod owner;
mod parts;
mod reclaim;
mod select;
mod swap_owner;
mod trouble;

use ramline_snapshot::containers::{ByGroup, Container};
use ramline_snapshot::groups::Groups;
use ramline_snapshot::pressure::Pressure;

use crate::prelude::*;
pub use chain::{Bound, Protection};
pub use huge::{HugeGroup, huge_at_limit};
pub use missed::missed;
pub use notable::{Stays, most};
pub use others::{NodeEviction, Reading, node_eviction, readings, working_set};
pub use owner::{Owner, OwnerKind, is_sandbox, owner};
pub(crate) use parts::total;
pub use parts::{Part, PartId, Rest, Within};
pub use reclaim::Reclaim;
pub use select::{NoSuchGroup, Selected, Selection, Sort, children, find, select};
pub use swap_owner::{SwapOwner, swap_owner};
pub use trouble::{AT_LIMIT, Cause, Knob, Trouble, worst};

/// Less than this that no group accounts for is what moves while they are read.
const LEAST_REMOVED: Bytes = Bytes::from_mib(1);

/// All groups of one machine.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct GroupTree {
    /// Interface.
    pub version: Version,
    /// Where the hierarchy is mounted.
    pub mount: String,
    /// A parent before its children.
    pub groups: Vec<GroupMemory>,
}

/// One group with all below it. Gauges, unless said otherwise.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct GroupMemory {
    /// Path below the mount.
    pub path: String,
    /// Index of the group above.
    pub parent: Option<usize>,
    /// Steps below the top.
    pub depth: usize,
    /// Groups below.
    pub below: u64,
    /// Container, service or session, by its path.
    pub owner: Option<Owner>,
    /// What its engine calls the container; `None` where no file that may be read has it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub container: Option<Container>,
    /// Memory charged; at the top of version 2, which counts none, the sum of the parts. At the top of version 1, which counts page cache
    /// and anonymous memory only, the kernel memory of the groups is added, as it is in theirs.
    pub current: Option<Bytes>,
    /// `current` is a sum.
    pub summed: bool,
    /// Of `current`, charged to the group itself and not to those below; negative when they moved between two readings. On version 2
    /// what removed groups below still hold is in it, since the kernel does not tell it apart.
    pub own: Option<SignedBytes>,
    /// Of `current`, charged to groups below that were removed: reclaim can take it, no process can be found for it. Version 1 only.
    #[serde(default)]
    pub removed: Option<Bytes>,
    /// The most `current` ever was.
    pub peak: Option<Bytes>,
    /// Where it goes; the parts and the rest add up to `current`.
    pub parts: Vec<Part>,
    /// What no part explains; `None` at the top.
    pub rest: Option<Rest>,
    /// Shares of the parts that matter: dirty, mapped, locked.
    pub within: Within,
    /// Limits, the group's own and the tightest on the way up.
    pub bound: Bound,
    /// What reclaim leaves alone.
    pub protection: Protection,
    /// Swap charged.
    pub swap: Option<Bytes>,
    /// Of swap, kept compressed in RAM: the original size.
    pub zswapped: Option<Bytes>,
    /// What reclaim could take.
    pub reclaim: Reclaim,
    /// The group's waiting for memory; version 2 only.
    pub pressure: Option<Pressure>,
    /// Counters since the group was made.
    pub events: Events,
    /// Groups below that were removed and still hold memory.
    pub dying: Option<u64>,
    /// Over a window.
    pub rates: Option<Rates>,
}

/// Counters since the group was made; version 2 counts all groups below, version 1 the group itself.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Events {
    /// Processes killed because the group, or one below, was out of memory.
    pub oom_kills: Option<u64>,
    /// How often the limit was hit; version 1: `None` where none is set.
    pub limit_hits: Option<u64>,
    /// How often processes were slowed down at `memory.high`.
    pub high_hits: Option<u64>,
    /// How often it was reclaimed below its `memory.low`.
    pub low_hits: Option<u64>,
    /// File pages that came back after eviction, with all groups below.
    pub refaults_file: Option<u64>,
    /// Anonymous pages that did.
    pub refaults_anon: Option<u64>,
    /// Major faults, with all groups below.
    pub major_faults: Option<u64>,
    /// It, or a group above, is out of memory with kills switched off (version 1, `oom_kill_disable`): its tasks stand still at their next allocation.
    #[serde(default)]
    pub stands_out_of_memory: bool,
}

/// What changed over a window; `None` where a counter was reset: the group was made again.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Rates {
    /// Growth of `current` in bytes per second.
    pub growth: Option<f64>,
    /// File refaults per second.
    pub refaults_file: Option<f64>,
    /// Anonymous refaults per second.
    pub refaults_anon: Option<f64>,
    /// Major faults per second.
    #[serde(default)]
    pub major_faults: Option<f64>,
    /// Kills in the window.
    pub oom_kills: Option<u64>,
    /// Hits of the limit in the window.
    pub limit_hits: Option<u64>,
    /// Times its tasks were slowed down at `memory.high` in the window.
    #[serde(default)]
    pub high_hits: Option<u64>,
}

impl GroupMemory {
    /// A part's bytes; `None` where this version or kernel does not count it.
    #[must_use]
    pub fn part(&self, id: PartId) -> Option<Bytes> {
        self.parts.iter().find(|p| p.id == id).map(|p| p.bytes)
    }

    /// Page cache of files: shared memory is not in it.
    #[must_use]
    pub fn file(&self) -> Bytes {
        [PartId::FileActive, PartId::FileInactive, PartId::FileOther].iter().filter_map(|id| self.part(*id)).sum()
    }

    /// Everything the kernel holds for the group.
    #[must_use]
    pub fn kernel(&self) -> Bytes {
        self.parts.iter().filter(|p| p.id.is_kernel()).map(|p| p.bytes).sum()
    }
}

/// The tree; `None` where no group was seen.
#[must_use]
pub fn from_snapshot(snapshot: &Snapshot, window: Option<&Window<'_>>) -> Option<GroupTree> {
    let seen = snapshot.groups.data()?;
    Some(tree(seen, seen.version?, snapshot, window))
}

/// All groups that were seen, or else those that have met a limit.
pub(crate) fn seen(snapshot: &Snapshot) -> Option<&Groups> {
    snapshot.groups.data().or(snapshot.limited.data())
}

/// The group in which most processes were killed since it was made, by its limit or by the machine, and how many. Version 2 counts those of
/// groups below as well: of equals the innermost.
#[must_use]
pub fn most_killed(snapshot: &Snapshot) -> Option<(&Group, u64)> {
    let killed = |group: &Group| group.events.get("oom_kill").copied().filter(|n| *n > 0);
    let list = seen(snapshot)?.list.iter().filter(|group| !is_sandbox(&group.path));
    list.filter_map(|group| Some((group, killed(group)?))).max_by_key(|(group, n)| (*n, group.path.len()))
}

/// How often a group met a limit of its own since it was made.
fn hits(group: &Group) -> Option<u64> {
    ["max", "high", "failcnt"].into_iter().filter_map(|name| group.events.get(name).copied()).max()
}

/// The tree of these groups.
fn tree(seen: &Groups, version: Version, snapshot: &Snapshot, window: Option<&Window<'_>>) -> GroupTree {
    let parents = parents(&seen.list);
    let parts: Vec<_> = seen.list.iter().map(|g| parts::from_group(g, version)).collect();
    let mut below = vec![0_u64; seen.list.len()];
    // Children come after their parent: from the end, each is complete when it is reached.
    for at in (0..below.len()).rev() {
        if let Some(parent) = parents[at] {
            below[parent] += below[at] + 1;
        }
    }
    let containers = ByGroup::new(snapshot.containers.data());
    let chain = chain::bounds(seen, version, &parents, &parts);
    let earlier = window.map(|w| (w, index(self::seen(w.before)), index(self::seen(w.after))));
    let mut groups: Vec<GroupMemory> = Vec::with_capacity(seen.list.len());
    for (at, (group, parts)) in seen.list.iter().zip(&parts).enumerate() {
        let current = parts::current(group, version, parts);
        let (bound, protection) = chain.get(at).cloned().unwrap_or_default();
        let within = parts::within(group, version);
        groups.push(GroupMemory {
            path: group.path.clone(),
            parent: parents[at],
            depth: group.path.split('/').filter(|part| !part.is_empty()).count(),
            below: below[at],
            owner: owner(&group.path),
            container: containers.container(&group.path),
            current,
            summed: group.current.is_none() || (version == Version::V1 && group.path == "/" && group.kernel.is_some()),
            own: None,
            removed: None,
            peak: group.peak,
            rest: parts::rest(group, parts, &within, &snapshot.machine, below[at] + 1),
            reclaim: {
                let forbidden = swap_forbidden(group, version, snapshot);
                reclaim::from_parts(parts, &within, current, &bound, &protection, snapshot.meminfo.data(), forbidden)
            },
            parts: parts.clone(),
            within,
            bound,
            protection,
            swap: group.swap_current.or_else(|| parts::total(group, version, "swap")),
            zswapped: parts::total(group, version, "zswapped"),
            pressure: group.pressure.clone(),
            events: events(group, version),
            dying: group.dying,
            rates: earlier.as_ref().map(|(w, before, after)| rates(w, before, after, &group.path, version)),
        });
    }
    own_shares(&mut groups, seen, version);
    GroupTree { version, mount: seen.mount.clone(), groups }
}

/// A group below the top with swappiness 0: its own in version 1, the machine's in version 2, which has no other.
fn swap_forbidden(group: &Group, version: Version, snapshot: &Snapshot) -> bool {
    let machines = || snapshot.settings.data().and_then(|s| u64::try_from(s.swappiness?).ok());
    let swappiness = if version == Version::V1 { group.swappiness } else { machines() };
    group.path != "/" && swappiness == Some(0)
}

/// The nearest group above each that is in the list; the list has a parent before its children.
fn parents(list: &[Group]) -> Vec<Option<usize>> {
    let mut way: Vec<usize> = Vec::new();
    list.iter()
        .enumerate()
        .map(|(at, group)| {
            while way.last().is_some_and(|last| !is_below(&group.path, &list[*last].path)) {
                way.pop();
            }
            let parent = way.last().copied();
            way.push(at);
            parent
        })
        .collect()
}

/// True for a path inside of `above`.
fn is_below(path: &str, above: &str) -> bool {
    path.strip_prefix(above.trim_end_matches('/')).is_some_and(|rest| rest.len() > 1 && rest.starts_with('/'))
}

fn own_shares(groups: &mut [GroupMemory], seen: &Groups, version: Version) {
    let mut children = vec![Bytes::ZERO; groups.len()];
    for group in groups.iter() {
        if let Some(parent) = group.parent {
            children[parent] += group.current.unwrap_or_default();
        }
    }
    let mut inner: HashMap<(usize, PartId), Bytes> = HashMap::new();
    for group in groups.iter() {
        for part in group.parent.iter().flat_map(|parent| group.parts.iter().map(move |part| (*parent, part))) {
            *inner.entry((part.0, part.1.id)).or_default() += part.1.bytes;
        }
    }
    for (at, group) in groups.iter_mut().enumerate() {
        for part in &mut group.parts {
            let rest = || SignedBytes::difference(part.bytes, inner.get(&(at, part.id)).copied().unwrap_or_default());
            part.own = parts::own(&seen.list[at], version, part.id).unwrap_or_else(rest);
        }
        group.removed = removed(group, &seen.list[at], version, |id| inner.get(&(at, id)).copied().unwrap_or_default());
        // The top's own figure is of other things than those below: only its parts say what is its own.
        group.own = if group.depth == 0 {
            group.current.map(|_| group.parts.iter().map(|p| p.own).sum())
        } else {
            let others = children[at] + group.removed.unwrap_or_default();
            group.current.map(|current| SignedBytes::difference(current, others))
        };
    }
}

/// What is in the figures of the group and all below it, and neither in its own nor in those of a group that is there. Groups are read one after
/// the other: as little as the counters may be apart is nothing.
fn removed(group: &GroupMemory, seen: &Group, version: Version, inner: impl Fn(PartId) -> Bytes) -> Option<Bytes> {
    if version == Version::V2 {
        return None;
    }
    let gone = group.parts.iter().filter(|part| parts::own(seen, version, part.id).is_some()).map(|part| {
        let left = SignedBytes::difference(part.bytes, inner(part.id));
        SignedBytes(left.0.saturating_sub(part.own.0))
    });
    let gone = gone.sum::<SignedBytes>().or_zero();
    let least = group.rest.map_or(LEAST_REMOVED, |rest| rest.bound.max(LEAST_REMOVED));
    Some(if gone >= least { gone } else { Bytes::ZERO })
}

fn events(group: &Group, version: Version) -> Events {
    let event = |key: &str| group.events.get(key).copied();
    let count = |key: &str| parts::total(group, version, key).map(|b| b.0);
    Events {
        oom_kills: event("oom_kill"),
        limit_hits: event(if version == Version::V1 { "failcnt" } else { "max" }),
        high_hits: event("high"),
        low_hits: event("low"),
        // Before 5.9 one counter, which was of file pages only.
        refaults_file: count("workingset_refault_file").or_else(|| count("workingset_refault")),
        refaults_anon: count("workingset_refault_anon"),
        major_faults: count("pgmajfault"),
        stands_out_of_memory: ["oom_kill_disable", "under_oom"]
            .into_iter()
            .all(|key| event(key).is_some_and(|n| n > 0)),
    }
}

type Index<'a> = HashMap<&'a str, &'a Group>;

fn index(groups: Option<&Groups>) -> Index<'_> {
    groups.map(|g| g.list.iter().map(|group| (group.path.as_str(), group)).collect()).unwrap_or_default()
}

fn rates(window: &Window<'_>, before: &Index<'_>, after: &Index<'_>, path: &str, version: Version) -> Rates {
    let find = |s: &Snapshot| if std::ptr::eq(s, window.before) { before.get(path) } else { after.get(path) };
    let event = |pick: fn(&Events) -> Option<u64>| move |s: &Snapshot| pick(&events(find(s)?, version));
    Rates {
        growth: window.slope(|s| find(s)?.current.map(|b| b.0)),
        refaults_file: window.per_second(event(|e| e.refaults_file)),
        refaults_anon: window.per_second(event(|e| e.refaults_anon)),
        major_faults: window.per_second(event(|e| e.major_faults)),
        oom_kills: window.delta(event(|e| e.oom_kills)),
        limit_hits: window.delta(event(|e| e.limit_hits)),
        high_hits: window.delta(event(|e| e.high_hits)),
    }
}

/// The tighter of two limits.
fn tighter(a: Limit, b: Limit) -> Limit {
    match (a, b) {
        (Limit::At(x), Limit::At(y)) => Limit::At(x.min(y)),
        (Limit::Max, other) | (other, Limit::Max) => other,
    }
}

#[cfg(test)]
mod tests;
