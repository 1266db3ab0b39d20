//! The group that is worst off at a limit of its own, from one reading or, with rates, from two.
//!
//! One function for the first line, the checkup, the explanations and the plan, so that all name the same group. Not a group that waits
//! because the machine is short: it has to stand at its own limit and to have met it. What one reading tells now is what the kernel averages
//! by itself (memory.pressure, version 2), what stands still (`under_oom`, version 1), and where swap is; counters of one reading are "since it was
//! made", and only their growth between two says what happens.
//!
//! A group is reported where its tasks wait at least a hundredth of the time ([`STALL_PERCENT`], as on the machine), where it met its limit or lost
//! a process between the readings, or where it stands still. Why, in this order: kills are off and it is out of memory; a process was killed;
//! what could be reclaimed must be written first; next to nothing can be reclaimed (less than a twentieth, [`LITTLE`]); it has most of the swap that is
//! used; its swapped pages are needed again; its files are read again. A wait that none of these explains is reported as a wait only.
//!
//! Worked example: 272 MiB at a memory.high of 272 MiB, 271 of them anonymous, no swap, and all its tasks wait 87 % of the time: 0.4 MiB can be
//! reclaimed, so they wait for nothing.

use std::collections::HashSet;

use ramline_snapshot::groups::Groups;
use ramline_snapshot::pressure::{Pressure, Stall};

use super::{GroupMemory, is_sandbox};
use crate::prelude::*;
use crate::pressure::{A_SLOW_READ_S, STALL_PERCENT, THRASH_PERCENT, percent_of_time};

/// At the limit reclaim frees a little more than was asked for: a group that is held there stands within some percent of it.
pub const AT_LIMIT: f64 = 0.9;
/// Less than this share of what a group uses is next to nothing.
pub const LITTLE: f64 = 0.05;
/// A group with this share of all used swap has most of it.
pub const MOST: f64 = 0.5;
/// Less swap than this share of RAM is not worth an owner.
const WORTH_OWNING: f64 = 0.05;

/// Why a group is in trouble at its limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Cause {
    /// It is out of memory with kills switched off: its tasks sleep until something is freed (version 1).
    StuckInOom,
    /// Processes of it were killed between the readings.
    Killed,
    /// What could be reclaimed must be written first.
    Dirty,
    /// Next to nothing of it can be reclaimed.
    NothingToReclaim,
    /// It has most of the swap that is used, put there by its limit.
    OwnsSwap,
    /// Its swapped pages are needed again.
    Swaps,
    /// Its files are evicted and read again.
    LosesCache,
    /// Its tasks wait; for what is not known.
    Waits,
}

/// A limit of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Knob {
    /// `memory.max`, or version 1's `memory.limit_in_bytes`.
    Max,
    /// `memory.high`: beyond it tasks are slowed down.
    High,
}

/// A group in trouble at its limit. Bytes are gauges.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Trouble {
    /// Its path below the mount.
    pub path: String,
    /// Interface.
    pub version: Version,
    /// Why.
    pub cause: Cause,
    /// Which limit holds it.
    pub knob: Knob,
    /// The limit.
    pub limit: Bytes,
    /// What is charged.
    pub current: Bytes,
    /// Percent of the time in which some task of it waited for memory, over the window or the last 10 s; `None` on version 1, which does not
    /// measure it.
    pub waits: Option<f64>,
    /// The same of all its tasks at once.
    pub stands: Option<f64>,
    /// Percent of the last 60 s in which some task waited.
    pub waits_60: Option<f64>,
    /// How often it met the limit since it was made, with all groups below on version 2.
    pub hits: Option<u64>,
    /// Processes killed in it since it was made.
    pub kills: Option<u64>,
    /// Met the limit between the readings; `None` with one.
    pub hits_now: Option<u64>,
    /// Killed between the readings; `None` with one.
    pub kills_now: Option<u64>,
    /// What reclaim could take at once, and by moving it to swap.
    pub reclaimable: Bytes,
    /// What it could take after it was written.
    pub unwritten: Bytes,
    /// Anonymous memory.
    pub anon: Option<Bytes>,
    /// Its swap.
    pub swap: Option<Bytes>,
    /// All swap that is used.
    pub swap_used: Option<Bytes>,
    /// Its files read again, pages a second; `None` with one reading.
    pub refaults_file: Option<f64>,
    /// Its swapped pages needed again, pages a second; `None` with one reading.
    pub refaults_anon: Option<f64>,
    /// Files in RAM among it: tmpfs, shared memory.
    #[serde(default)]
    pub shared: Option<Bytes>,
    /// A setting of the group keeps it out of swap.
    #[serde(default)]
    pub swap_forbidden: bool,
}

impl Trouble {
    /// All its tasks stand still for a tenth of the time, or for good, and nothing they do ends it.
    #[must_use]
    pub fn is_frozen(&self) -> bool {
        let stands = self.stands.is_some_and(|percent| percent >= THRASH_PERCENT);
        self.cause == Cause::StuckInOom || (self.cause == Cause::NothingToReclaim && stands)
    }

    /// Its tasks wait, stand still or were killed; that it meets its limit alone is how a group works that reads files.
    #[must_use]
    pub fn is_telling(&self) -> bool {
        matches!(self.cause, Cause::StuckInOom | Cause::Killed) || self.waits_now() || self.is_full()
    }

    /// It has filled its limit with what cannot be reclaimed, and met it before: the next allocation fails, or something is killed. One reading shows
    /// this; between two it shows whether the limit was met again.
    #[must_use]
    pub fn is_full(&self) -> bool {
        let left = self.limit.saturating_sub(self.current);
        let is_little = left.share_of(self.limit).is_some_and(|share| share < LITTLE);
        self.hits_now.is_none() && self.knob == Knob::Max && self.cause == Cause::NothingToReclaim && is_little
    }

    /// Its tasks wait, or are killed, now.
    #[must_use]
    pub fn is_now(&self) -> bool {
        let grew = |n: Option<u64>| n.is_some_and(|n| n > 0);
        self.cause == Cause::StuckInOom
            || self.waits_now()
            || grew(self.kills_now)
            || grew(self.hits_now)
            || self.is_full()
    }

    /// Its tasks wait noticeably.
    #[must_use]
    pub fn waits_now(&self) -> bool {
        self.waits.is_some_and(|percent| percent >= STALL_PERCENT)
    }

    /// Its share of all swap that is used.
    #[must_use]
    pub fn share_of_swap(&self) -> Option<f64> {
        self.swap?.share_of(self.swap_used?)
    }

    /// The worst comes last.
    fn order(&self) -> (bool, u8, [f64; 4]) {
        let class = match self.cause {
            Cause::StuckInOom => 5,
            _ if self.is_frozen() => 4,
            Cause::Killed => 3,
            _ if self.waits_now() => 2,
            _ if self.is_now() => 1,
            _ => 0,
        };
        let percent = |p: Option<f64>| p.unwrap_or_default();
        let again = self.refaults_file.unwrap_or_default() + self.refaults_anon.unwrap_or_default();
        let times = self.kills_now.filter(|n| *n > 0).or(self.hits_now).unwrap_or_default();
        (!is_sandbox(&self.path), class, [percent(self.stands), percent(self.waits), again, to_f64(times)])
    }
}

/// The worst of them; `None` where no group was seen, or none is in trouble. A sandbox of the lab is named only where no other is.
#[must_use]
pub fn worst(snapshot: &Snapshot, window: Option<&Window<'_>>) -> Option<Trouble> {
    let less = |a: &Trouble, b: &Trouble| a.order().partial_cmp(&b.order()).unwrap_or(std::cmp::Ordering::Equal);
    // Of equals the last is taken, and a parent comes before its children: the innermost.
    all(snapshot, window).into_iter().max_by(less)
}

/// All that are in trouble.
#[must_use]
pub fn all(snapshot: &Snapshot, window: Option<&Window<'_>>) -> Vec<Trouble> {
    let Some(seen) = super::seen(snapshot) else { return Vec::new() };
    let Some(version) = seen.version else { return Vec::new() };
    let met = that_met_a_limit(seen);
    let tree = super::tree(&met, version, snapshot, window);
    let before = super::index(window.and_then(|w| super::seen(w.before)));
    let both = tree.groups.iter().zip(&met.list);
    let look = |(group, seen): (&GroupMemory, &Group)| {
        let before = before.get(seen.path.as_str()).copied();
        for_group(group, seen, version, snapshot, window.zip(before))
    };
    both.filter_map(look).collect()
}

/// The groups that have met a limit, with those above them: a tree of thousands is mostly of groups that never did.
fn that_met_a_limit(seen: &Groups) -> Groups {
    let met = |group: &Group| {
        ["high", "max", "oom", "oom_kill", "failcnt", "under_oom"]
            .iter()
            .any(|key| group.events.get(*key).is_some_and(|n| *n > 0))
    };
    let paths: Vec<&str> = seen.list.iter().filter(|g| met(g)).map(|g| g.path.as_str()).collect();
    let mut kept: HashSet<&str> = HashSet::new();
    for path in paths {
        let ways = std::iter::successors(Some(path), |path| path.rfind('/').map(|cut| &path[..cut]));
        kept.extend(ways.map(|way| if way.is_empty() { "/" } else { way }));
    }
    let list = seen.list.iter().filter(|g| kept.contains(g.path.as_str())).cloned().collect();
    Groups {
        version: seen.version,
        mount: seen.mount.clone(),
        recursive_protection: seen.recursive_protection,
        list,
        ..Groups::default()
    }
}

fn for_group(
    group: &GroupMemory,
    seen: &Group,
    version: Version,
    snapshot: &Snapshot,
    window: Option<(&Window<'_>, &Group)>,
) -> Option<Trouble> {
    let max = group.bound.max.and_then(Limit::bytes);
    let high = group.bound.high.and_then(Limit::bytes).filter(|high| max.is_none_or(|max| *high < max));
    let (knob, limit) = high.map(|high| (Knob::High, high)).or(max.map(|max| (Knob::Max, max)))?;
    let current = group.current?;
    let flag = |key: &str| seen.events.get(key).is_some_and(|n| *n > 0);
    let is_full = |used: Bytes, limit: Bytes| used.share_of(limit).is_some_and(|share| share >= AT_LIMIT);
    // Version 1 limits memory and swap together.
    let both = group.bound.swap_max.and_then(Limit::bytes).filter(|_| version == Version::V1);
    let is_there = is_full(current, limit)
        || both.is_some_and(|more| is_full(current + group.swap.unwrap_or_default(), limit + more));
    // The kernel marks all groups below as well.
    let stuck = is_there && flag("oom_kill_disable") && flag("under_oom");
    let rates = group.rates.unwrap_or_default();
    let hits = if knob == Knob::High { group.events.high_hits } else { group.events.limit_hits };
    let hits_now = if knob == Knob::High { rates.high_hits } else { rates.limit_hits };
    let kills_now = rates.oom_kills;
    let killed = kills_now.is_some_and(|n| n > 0);
    if !(stuck || killed || (is_there && hits.is_some_and(|n| n > 0))) {
        return None;
    }
    let pressure = group.pressure.as_ref();
    let over = |pick: fn(&Pressure) -> Option<Stall>| {
        let total = |group: &Group| pick(group.pressure.as_ref()?).map(|stall| stall.total_us);
        let rate = |(window, before): (&Window<'_>, &Group)| {
            window.per_second(|s| total(if std::ptr::eq(s, window.before) { before } else { seen }))
        };
        window.and_then(rate).map(percent_of_time).or_else(|| pick(pressure?).map(|stall| stall.avg10))
    };
    let (reclaim, waits) = (&group.reclaim, over(|p| p.some));
    let mut trouble = Trouble {
        path: group.path.clone(),
        version,
        cause: Cause::Waits,
        knob,
        limit,
        current,
        waits,
        stands: over(|p| p.full),
        waits_60: pressure.and_then(|p| p.some).map(|some| some.avg60),
        hits,
        kills: group.events.oom_kills,
        hits_now,
        kills_now,
        reclaimable: reclaim.now + reclaim.with_swap,
        unwritten: reclaim.after_writing,
        anon: group.part(super::PartId::Anon),
        swap: group.swap,
        swap_used: snapshot.meminfo.data().and_then(Meminfo::swap_used),
        refaults_file: rates.refaults_file,
        refaults_anon: rates.refaults_anon,
        shared: group.part(super::PartId::Shmem),
        swap_forbidden: reclaim.swap_forbidden
            || (version == Version::V2 && group.bound.swap_max.and_then(Limit::bytes) == Some(Bytes::ZERO)),
    };
    trouble.cause = cause(&trouble, group, stuck, killed, snapshot.mem_total());
    (trouble.is_now() || trouble.cause == Cause::OwnsSwap).then_some(trouble)
}

fn cause(of: &Trouble, group: &GroupMemory, stuck: bool, killed: bool, ram: Option<Bytes>) -> Cause {
    let is_little = |bytes: Bytes| bytes.share_of(of.current).is_some_and(|share| share < LITTLE);
    let events = &group.events;
    // Over a window what was read again in it; from one reading what was since the group was made.
    let count = |rate: Option<f64>, total: Option<u64>| rate.unwrap_or_else(|| total.map_or(0.0, to_f64));
    let (files, swapped) =
        (count(of.refaults_file, events.refaults_file), count(of.refaults_anon, events.refaults_anon));
    // Each takes so long at most: fewer cannot be what is waited for.
    let explained = |pages: f64| match (of.refaults_file, of.waits) {
        (Some(_), Some(waits)) => pages * A_SLOW_READ_S >= waits / 100.0,
        _ => pages > 0.0,
    };
    let owns = of.share_of_swap().is_some_and(|share| share >= MOST)
        && of.swap.zip(ram).and_then(|(swap, ram)| swap.share_of(ram)).is_some_and(|share| share >= WORTH_OWNING);
    match () {
        () if stuck => Cause::StuckInOom,
        () if killed => Cause::Killed,
        () if of.unwritten > of.reclaimable && !is_little(of.unwritten) => Cause::Dirty,
        () if is_little(of.reclaimable + of.unwritten) => Cause::NothingToReclaim,
        () if owns => Cause::OwnsSwap,
        () if swapped > files && explained(swapped) => Cause::Swaps,
        () if explained(files) => Cause::LosesCache,
        () if !is_little(of.unwritten) => Cause::Dirty,
        () => Cause::Waits,
    }
}

#[expect(clippy::cast_precision_loss, reason = "an order does not need the last bits")]
const fn to_f64(n: u64) -> f64 {
    n as f64
}

#[cfg(test)]
mod tests;
