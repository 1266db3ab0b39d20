//! Whether anything waits for memory: PSI, refaults, and what reclaim does, over a window.
//!
//! The typed judgement and its numbers. Not a judgement by "available" or "used": a
//! machine can thrash with a tenth of its memory available.
//!
//! PSI's averages are rates by themselves (the kernel averages over 10, 60 and 300 s); every other counter needs a
//! [`Window`]. A refault is a page that is read again after it was evicted, however long ago and by whom: DAMON, drop_caches and a
//! group's limit evict as well. So refaults alone say nothing about the machine. That the working set does not fit takes three
//! things at once: the machine reclaims, pages of the working set come back (activated at once, or swapped in), and tasks wait.
//!
//! Worked example: 5,000 file refaults a second and PSI some 3 % while neither kswapd nor any task of the machine reclaims: files
//! that were evicted earlier are read again, and the machine is not short of memory. The same with kswapd at work and 800
//! pages a second activated: the working set does not fit.

mod gap;

use ramline_snapshot::Seen;
use ramline_snapshot::pressure::{Pressure, Stall};
use ramline_snapshot::vmstat::Vmstat;

use crate::available;
use crate::prelude::*;
use crate::watermarks::{self, Band};

pub use gap::PsiGap;

/// From here on some task stood still for memory noticeably: one hundredth of the time.
pub const STALL_PERCENT: f64 = 1.0;
/// From here on everything stood still for memory for a tenth of the time.
pub const THRASH_PERCENT: f64 = 10.0;
/// So much waiting is nothing to act on while there is plenty.
pub const A_LITTLE_PERCENT: f64 = 5.0;
/// With this share of RAM available or more, there is plenty.
pub const PLENTY: f64 = 0.1;
/// So many pages a second are 1 % of one thread's time at 100 us each, a common flash read.
pub const REFAULTS_PER_S: f64 = 100.0;

/// A read from a slow disk with a queue takes so long, and hardly ever longer, in seconds: ten requests of 10 ms.
pub const A_SLOW_READ_S: f64 = 0.1;

/// One resource's stall times.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Psi {
    /// At least one task stood still: the kernel's averages and total.
    pub some: Option<Stall>,
    /// All stood still at once.
    pub full: Option<Stall>,
    /// `some` over the window, in percent of it.
    pub some_percent: Option<f64>,
    /// `full` over the window, in percent of it.
    pub full_percent: Option<f64>,
}

impl Psi {
    /// Percent for judging: over the window, else the average of the last 10 s.
    #[must_use]
    pub fn some_now(&self) -> Option<f64> {
        self.some_percent.or(self.some.map(|s| s.avg10))
    }

    /// The same for `full`.
    #[must_use]
    pub fn full_now(&self) -> Option<f64> {
        self.full_percent.or(self.full.map(|s| s.avg10))
    }

    /// Its lines that were seen: of some task, and of all tasks.
    pub fn lines(&self) -> impl Iterator<Item = StallLine> {
        let line = |all_tasks, stall: Option<Stall>, window: Option<f64>| {
            let stall = stall?;
            Some(StallLine { all_tasks, stall, window, share: window.unwrap_or(stall.avg10) / 100.0 })
        };
        let both = [line(false, self.some, self.some_percent), line(true, self.full, self.full_percent)];
        both.into_iter().flatten()
    }
}

/// One line of a resource's stall times.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StallLine {
    /// All tasks stood still at once; else at least one did.
    pub all_tasks: bool,
    /// The kernel's averages and total.
    pub stall: Stall,
    /// Percent of the window; `None` without one.
    pub window: Option<f64>,
    /// Share of the time, 0 to 1: over the window, else over the last 10 s.
    pub share: f64,
}

/// What reclaim did, per second, over a window. Pages a second unless said.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Rates {
    /// File pages read again after they were evicted, however long ago.
    pub refault_file: Option<f64>,
    /// Anonymous pages needed again after they were swapped out.
    pub refault_anon: Option<f64>,
    /// File pages put straight back among the active ones.
    pub restore_file: Option<f64>,
    /// Pages that came back and belong to the working set by the kernel's own test: activated at once, or swapped in.
    #[serde(default)]
    pub working_set: Option<f64>,
    /// Pages that kswapd and tasks of the machine looked at to evict; reclaim for a group's limit is not in it.
    #[serde(default)]
    pub machine_scanned: Option<f64>,
    /// Faults that had to read, events a second.
    pub major_faults: Option<f64>,
    /// Pages reclaim looked at, anonymous and file.
    pub scanned: Option<f64>,
    /// Pages it freed.
    pub stolen: Option<f64>,
    /// `stolen / scanned`; `None` when nothing was scanned. Below one half reclaim works hard for little.
    pub efficiency: Option<f64>,
    /// Share of scanning done by tasks themselves, not by kswapd; `None` where only control groups reclaimed.
    pub direct_share: Option<f64>,
    /// Times an allocation had to reclaim by itself, events a second.
    pub allocstall: Option<f64>,
    /// Processes killed for memory in the window, in a group at its limit or on the whole machine.
    pub oom_kills: Option<u64>,
    /// Pages were looked at to evict, and none by kswapd and tasks of the machine: groups evicted at their limits.
    /// (Those counters leave out reclaim for the sake of a group's limit, unlike the refaults.)
    #[serde(default)]
    pub groups_only: Option<bool>,
}

impl Rates {
    /// What is evicted is evicted in groups at their limits, but for a tenth at most.
    #[must_use]
    pub fn in_groups(&self) -> bool {
        let mostly = self.scanned.zip(self.machine_scanned).is_some_and(|(all, machine)| machine < all * 0.1);
        // Before 5.8, which does not count what groups look at, it is not known.
        self.scanned.is_some_and(|n| n > 0.0) && (self.groups_only == Some(true) || mostly)
    }

    /// What was read again can be what tasks waited for so much of the time; where it was not counted it may be.
    fn explain(&self, percent: Option<f64>) -> bool {
        let reads = self.refault_file.map(|files| files + self.refault_anon.unwrap_or(0.0));
        reads.zip(percent).is_none_or(|(pages, percent)| pages * A_SLOW_READ_S >= percent / 100.0)
    }

    /// Without stall times (PSI is off) only much tells: the working set comes back, and tasks reclaim for themselves.
    fn thrashes_unmeasured(&self) -> bool {
        self.working_set.is_some_and(|n| n >= 10.0 * REFAULTS_PER_S) && self.allocstall > Some(0.0)
    }
}

worded! {
    /// The judgement.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
    #[serde(rename_all = "snake_case")]
    pub enum PressureState {
        /// Neither PSI nor a window: nothing can be said.
        Unknown = "Whether tasks wait for memory is not known.",
        /// Nothing waits.
        Calm = "No task waits for memory.",
        /// Reclaim works and nothing waits noticeably.
        Reclaiming = "The kernel is reclaiming, and no task waits noticeably.",
        /// Tasks wait for pages that were evicted earlier, and the machine reclaims nothing, or has no reason to: it is not short of memory.
        ReadAgain = "Tasks wait for pages that were evicted earlier; the machine is not short of memory.",
        /// Tasks waited in the last 10 s while there is plenty: in a group, for pages read again, or all of the machine for the programs'
        /// own files; which is not known without a window.
        Elsewhere = "Tasks waited for memory although much is available: --for 2s shows whether one group is at its limit, or the cache is too small.",
        /// Tasks wait, and over the window nothing was evicted and next to nothing read again.
        Unexplained = "Tasks wait while nothing is evicted or read again: for writes in a group, or for large blocks.",
        /// Tasks of a group wait at the group's own limit; the machine reclaims nothing.
        GroupAtLimit = "Tasks of a group wait at its limit; the machine is not short of memory.",
        /// Tasks wait for memory.
        Stalling = "Tasks wait for memory.",
        /// Tasks wait, the machine reclaims, and pages of the working set come back: it does not fit.
        Refaulting = "The working set does not fit: tasks wait, and pages that were just evicted are read again.",
        /// Everything waits for memory.
        Thrashing = "All tasks wait for memory: the machine is thrashing.",
    }
    /// The state in a sentence: the one wording of every screen and page.
    words
}

/// Pressure on this machine.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PressureModel {
    /// Memory; `None` where PSI is off, not built, or was not seen: see `memory_gap`.
    pub memory: Option<Psi>,
    /// Block I/O.
    pub io: Option<Psi>,
    /// CPU.
    pub cpu: Option<Psi>,
    /// Rates; `None` without a window: since boot, no rate.
    pub rates: Option<Rates>,
    /// The window's length.
    pub span: Option<Nanos>,
    /// The judgement.
    pub state: PressureState,
    /// Why `memory` is `None`.
    #[serde(default)]
    pub memory_gap: Option<PsiGap>,
    /// Processes the kernel killed for want of memory since boot (`oom_kill` of /proc/vmstat), in groups at their limits and on the whole
    /// machine; `None` before Linux 4.13.
    #[serde(default)]
    pub kills_since_boot: Option<u64>,
}

impl PressureModel {
    /// Tasks waited, and less than noticeably: enough to be shown as a tenth of a per cent.
    #[must_use]
    pub fn waits_a_little(&self) -> Option<f64> {
        self.memory.and_then(|psi| psi.some_now()).filter(|percent| *percent >= 0.05)
    }

    /// The judgement in a sentence.
    #[must_use]
    pub fn words(&self) -> &'static str {
        match self.state {
            PressureState::Calm if self.waits_a_little().is_some() => "No task waits for memory noticeably.",
            state => state.words(),
        }
    }
}

/// Pressure; `window` supplies the rates.
#[must_use]
pub fn from_snapshot(snapshot: &Snapshot, window: Option<Window<'_>>) -> PressureModel {
    let memory = psi(snapshot, window, |s| &s.pressure_memory);
    let rates = window.map(rates);
    PressureModel {
        io: psi(snapshot, window, |s| &s.pressure_io),
        cpu: psi(snapshot, window, |s| &s.pressure_cpu),
        span: window.map(|w| w.span),
        state: state(memory.as_ref(), rates.as_ref(), Space::from_snapshot(snapshot)),
        memory,
        rates,
        memory_gap: PsiGap::from_snapshot(snapshot),
        kills_since_boot: snapshot.vmstat.data().and_then(|vmstat| vmstat.oom_kill),
    }
}

/// Enough is available that memory at large is not what tasks wait for.
#[must_use]
pub fn plenty(snapshot: &Snapshot) -> bool {
    let share = available::bytes(snapshot).zip(snapshot.mem_total()).and_then(|(all, ram)| all.share_of(ram));
    share.is_some_and(|share| share >= PLENTY)
}

/// A share of RAM is free, not only available, and every node is above its watermarks: reclaim has no reason here. What was looked at to
/// evict was for something else (a huge page, a process that has ended since), and what comes back was evicted by something else.
#[must_use]
pub fn is_free(snapshot: &Snapshot) -> bool {
    let share = snapshot.meminfo.data().and_then(|m| m.mem_free?.share_of(m.mem_total?));
    let above =
        || watermarks::from_snapshot(snapshot, None).is_some_and(|m| m.nodes.iter().all(|n| n.band == Band::AboveHigh));
    share.is_some_and(|share| share >= PLENTY) && above()
}

/// What is left while tasks wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Space {
    /// Reclaim has no reason: [`is_free`].
    Free,
    /// [`plenty`] is available, most of it cache.
    Plenty,
    /// Little.
    Little,
}

impl Space {
    fn from_snapshot(snapshot: &Snapshot) -> Space {
        match (is_free(snapshot), plenty(snapshot)) {
            (true, _) => Space::Free,
            (_, true) => Space::Plenty,
            _ => Space::Little,
        }
    }
}

/// The judgement: whether anything waits, then who makes it wait. With plenty available it is not memory at large that is waited for,
/// and a little waiting while clean cache is replaced is how a machine that works looks.
#[must_use]
pub fn state(memory: Option<&Psi>, rates: Option<&Rates>, space: Space) -> PressureState {
    let plenty = space != Space::Little;
    let (some, full) = (memory.and_then(Psi::some_now), memory.and_then(Psi::full_now));
    let (waits, stands) = (some.is_some_and(|p| p >= STALL_PERCENT), full.is_some_and(|p| p >= THRASH_PERCENT));
    let Some(rates) = rates else {
        return match (stands, waits) {
            _ if some.is_none() => PressureState::Unknown,
            (_, true) if plenty => PressureState::Elsewhere,
            (true, _) => PressureState::Thrashing,
            (_, true) => PressureState::Stalling,
            _ => PressureState::Calm,
        };
    };
    let killed = rates.oom_kills > Some(0);
    // A group of process memory alone, without swap, has nothing to look at before it is killed: nobody scans.
    let idle = rates.machine_scanned == Some(0.0) && !rates.allocstall.is_some_and(|n| n > 0.0);
    if (rates.in_groups() && (waits || killed)) || (killed && idle) {
        return PressureState::GroupAtLimit;
    }
    if killed {
        return if stands { PressureState::Thrashing } else { PressureState::Stalling };
    }
    let scans = [rates.scanned, rates.allocstall].into_iter().flatten().any(|n| n > 0.0);
    match rates.machine_scanned.map(|n| n > 0.0 || rates.allocstall > Some(0.0)) {
        Some(false) if waits && !rates.explain(some) => PressureState::Unexplained,
        Some(false) if waits => PressureState::ReadAgain,
        _ if waits && space == Space::Free && !rates.explain(some) => PressureState::Unexplained,
        _ if waits && space == Space::Free => PressureState::ReadAgain,
        _ if stands => PressureState::Thrashing,
        _ if waits && plenty && some.is_some_and(|p| p < A_LITTLE_PERCENT) => PressureState::Reclaiming,
        Some(true) if waits && rates.working_set.is_some_and(|n| n >= REFAULTS_PER_S) => PressureState::Refaulting,
        _ if waits => PressureState::Stalling,
        Some(true) if some.is_none() && rates.thrashes_unmeasured() => PressureState::Refaulting,
        _ if scans => PressureState::Reclaiming,
        None if some.is_none() && rates.scanned.is_none() && rates.refault_file.is_none() => PressureState::Unknown,
        _ => PressureState::Calm,
    }
}

/// Percent of the time of microseconds a second. The kernel adds up what tasks wait every two seconds (`PSI_FREQ`), so a short window may have some of the
/// waiting from before it: more than all of the time is all of it.
#[must_use]
pub(crate) fn percent_of_time(us_per_second: f64) -> f64 {
    (us_per_second / 10_000.0).min(100.0)
}

fn psi(snapshot: &Snapshot, window: Option<Window<'_>>, section: fn(&Snapshot) -> &Seen<Pressure>) -> Option<Psi> {
    let now = section(snapshot).data()?;
    let percent = |line: fn(&Pressure) -> Option<Stall>| {
        Some(percent_of_time(window?.per_second(|s| Some(line(section(s).data()?)?.total_us))?))
    };
    Some(Psi { some: now.some, full: now.full, some_percent: percent(|p| p.some), full_percent: percent(|p| p.full) })
}

fn rates(window: Window<'_>) -> Rates {
    let rate = |counter: fn(&Vmstat) -> Option<u64>| window.per_second(|s| counter(s.vmstat.data()?));
    // By type first: the counters by caller stay at 0 when only control groups reclaim.
    let scanned = rate(|v| v.pgscan_anon?.checked_add(v.pgscan_file?))
        .or_else(|| rate(|v| v.pgscan_kswapd?.checked_add(v.pgscan_direct?)));
    let stolen = rate(|v| v.pgsteal_anon?.checked_add(v.pgsteal_file?))
        .or_else(|| rate(|v| v.pgsteal_kswapd?.checked_add(v.pgsteal_direct?)));
    let ratio = |part: Option<f64>, whole: Option<f64>| Some(part? / whole.filter(|w| *w > 0.0)?);
    Rates {
        refault_file: rate(Vmstat::refault_file),
        refault_anon: rate(|v| v.workingset_refault_anon),
        restore_file: rate(|v| v.workingset_restore_file),
        working_set: rate(|v| {
            let activated = v.workingset_activate_file?.saturating_add(v.workingset_activate_anon.unwrap_or(0));
            Some(activated.saturating_add(v.pswpin.unwrap_or(0)))
        }),
        machine_scanned: rate(|v| v.pgscan_kswapd?.checked_add(v.pgscan_direct?)),
        major_faults: rate(|v| v.pgmajfault),
        scanned,
        stolen,
        efficiency: ratio(stolen, scanned),
        direct_share: ratio(rate(|v| v.pgscan_direct), rate(|v| v.pgscan_direct?.checked_add(v.pgscan_kswapd?))),
        allocstall: rate(Vmstat::allocstall),
        oom_kills: window.delta(|s| s.vmstat.data()?.oom_kill),
        groups_only: reclaimed_in_groups_only(&window),
    }
}

/// Pages were looked at to evict over the window, and none of them by kswapd and direct reclaim of the machine; `None`
/// where that is not counted. Before 5.8, which does not count by type, the first is taken for granted: what nobody
/// evicts in the window comes back from an eviction before it, and that was not seen.
#[must_use]
pub fn reclaimed_in_groups_only(window: &Window<'_>) -> Option<bool> {
    let delta = |counter: fn(&Vmstat) -> Option<u64>| window.delta(|s| counter(s.vmstat.data()?));
    let machine = delta(|v| v.pgscan_kswapd?.checked_add(v.pgscan_direct?))?;
    let all = delta(|v| v.pgscan_anon?.checked_add(v.pgscan_file?));
    Some(machine == 0 && all != Some(0))
}

#[cfg(test)]
mod tests;
