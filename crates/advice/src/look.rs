//! What several rules look at: swap areas with the device behind them, measured costs, arms of the proof.
//!
//! What it is not: a judgement. Everything here is `None` where it was not seen or not measured.

use ramline_evidence::{LatencyStats, Measurement, RunRecord, SwapKind, study};
use ramline_snapshot::blocks::{self, BlockDevice};
use ramline_snapshot::mounts;
use ramline_snapshot::swaps::SwapArea;
use ramline_snapshot::zram::ZramDevice;
use ramline_snapshot::{Snapshot, Window};
use ramline_units::{Bytes, Nanos};

use crate::text::{evidence, nanos_of};
use crate::{Evidence, Inputs};

/// The swap areas, the one used first in front; `None` when /proc/swaps was not seen.
pub(crate) fn areas(snapshot: &Snapshot) -> Option<Vec<&SwapArea>> {
    let mut areas: Vec<&SwapArea> = snapshot.swaps.data()?.iter().collect();
    areas.sort_by_key(|area| std::cmp::Reverse(area.priority));
    Some(areas)
}

/// The zram device behind a swap area.
pub(crate) fn zram_of<'a>(snapshot: &'a Snapshot, area: &SwapArea) -> Option<&'a ZramDevice> {
    let name = area.zram()?;
    snapshot.zram.data()?.devices.iter().find(|device| device.name == name)
}

/// The whole block device behind a swap area: a partition, or the disk of the file system that holds the file.
pub(crate) fn disk_of<'a>(snapshot: &'a Snapshot, area: &SwapArea) -> Option<&'a BlockDevice> {
    let all = snapshot.blocks.data()?;
    match area.kind.as_str() {
        "file" => disk_under(snapshot, &area.path),
        _ => blocks::behind_node(all, &area.path),
    }
}

/// The whole block device under the file system that holds `path`.
pub(crate) fn disk_under<'a>(snapshot: &'a Snapshot, path: &str) -> Option<&'a BlockDevice> {
    let all = snapshot.blocks.data()?;
    let mount = mounts::holding(snapshot.mounts.data()?, path)?;
    blocks::behind(all, &mount.dev).or_else(|| blocks::behind_node(all, &mount.source))
}

/// What one random page costs from a tier.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Cost<'a> {
    /// Stable name of the tier.
    pub tier: &'a str,
    /// As measured.
    pub latency: LatencyStats,
    /// What qualifies the measurement.
    pub notes: &'a [String],
}

impl Cost<'_> {
    /// Median in nanoseconds.
    pub fn p50(&self) -> f64 {
        self.latency.p50_ns.as_secs_f64() * 1e9
    }

    /// As evidence.
    pub fn evidence(&self, what: &str) -> Evidence {
        let LatencyStats { p50_ns, p99_ns, n, .. } = self.latency;
        let notes: String = self.notes.iter().map(|note| format!("; {note}")).collect();
        evidence(what, format!("{p50_ns} median, {p99_ns} p99 (n {n}){notes}"), format!("measure tiers: {}", self.tier))
    }
}

fn cost<'a>(inputs: &Inputs<'a>, tier: &str) -> Option<Cost<'a>> {
    let tier = inputs.tiers?.tier(tier)?;
    Some(Cost { tier: &tier.tier, latency: tier.latency?, notes: &tier.notes })
}

/// A swap-in from this area, as measured.
pub(crate) fn swap_in_cost<'a>(inputs: &Inputs<'a>, area: &SwapArea) -> Option<Cost<'a>> {
    match zram_of(inputs.snapshot, area) {
        Some(device) => cost(inputs, &format!("zram-{}", device.algorithm.as_deref()?)),
        None => cost(inputs, &format!("swap:{}", area.path)),
    }
}

/// A random re-read of one page of a file on the root file system, as measured.
pub(crate) fn reload_cost<'a>(inputs: &Inputs<'a>) -> Option<Cost<'a>> {
    cost(inputs, "disk:/")
}

/// Swap in use, over all areas.
pub(crate) fn swap_used(areas: &[&SwapArea]) -> Bytes {
    areas.iter().map(|area| area.used).sum()
}

/// Pages swapped in over the window, zero-filled ones included.
pub(crate) fn swap_ins(window: &Window<'_>) -> Option<u64> {
    window.delta(|s| {
        let counters = s.vmstat.data()?;
        Some(counters.pswpin? + counters.swpin_zero.unwrap_or(0) + counters.zswpin.unwrap_or(0))
    })
}

/// Pages swapped out over the window, zero-filled ones included.
pub(crate) fn swap_outs(window: &Window<'_>) -> Option<u64> {
    window.delta(|s| {
        let counters = s.vmstat.data()?;
        Some(counters.pswpout? + counters.swpout_zero.unwrap_or(0) + counters.zswpout.unwrap_or(0))
    })
}

/// File refaults of the window: pages that were evicted and had to be read again.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Refaults {
    /// Pages per second.
    pub per_second: f64,
    /// Of these, pages that came back so soon that a working set with room would have kept them, per second;
    /// `None` before 4.20.
    pub activated: Option<f64>,
    /// The window's length.
    pub span: Nanos,
}

/// File refaults over the window.
pub(crate) fn refaults(window: &Window<'_>) -> Option<Refaults> {
    Some(Refaults {
        per_second: window.per_second(|s| s.vmstat.data()?.refault_file())?,
        activated: window.per_second(|s| s.vmstat.data()?.workingset_activate_file),
        span: window.span,
    })
}

/// Seconds per round of the runs that match, as a measurement; `None` when none got anywhere.
fn rounds(runs: &[RunRecord], arm: impl Fn(&RunRecord) -> bool) -> Option<Measurement> {
    let times: Vec<f64> = runs.iter().filter(|run| arm(run)).filter_map(RunRecord::seconds_per_round).collect();
    Measurement::of(&times, "s", "wall-clock time per round of code-plus-data", &[])
}

/// What the sandbox said when two arms were compared.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Proof {
    /// The first arm is faster, beyond the spread.
    Faster(Evidence),
    /// It is not: slower, or no difference beyond the spread.
    NotFaster(Evidence),
}

/// Compares two arms of the proof; `None` unless both ran.
pub(crate) fn prove(
    runs: &[RunRecord],
    what: &str,
    candidate: impl Fn(&RunRecord) -> bool,
    present: impl Fn(&RunRecord) -> bool,
) -> Option<Proof> {
    let (candidate, present) = (rounds(runs, candidate)?, rounds(runs, present)?);
    let compared = study::compare(&candidate, &present);
    let value = format!("{candidate} a round against {present}: {}", compared.sentence());
    let seen = evidence(what, value, "lab run code-plus-data");
    let faster = compared.separated && candidate.median < present.median;
    Some(if faster { Proof::Faster(seen) } else { Proof::NotFaster(seen) })
}

/// The kind of swap an arm had, for rules that compare "with" and "without".
pub(crate) fn has_swap(run: &RunRecord) -> bool {
    matches!(run.arm.swap, SwapKind::File | SwapKind::Zram { .. })
}

/// Time per second spent waiting if each of `per_second` events takes `cost`.
pub(crate) fn time_per_second(per_second: f64, cost: &Cost<'_>) -> Nanos {
    nanos_of(per_second * cost.p50())
}
