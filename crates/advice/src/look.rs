//! What several rules look at: swap areas with the device behind them, measured costs, arms of the proof.
//!
//! What it is not: a judgement. Everything here is `None` where it was not seen or not measured.

use std::collections::BTreeMap;

use ramline_evidence::{
    IntervalKind, LatencyStats, Measurement, SwapKind, TierMeasurement, TierReport, Verdict, is_disk, study,
};
use ramline_model::costs::file_tier;
use ramline_model::tmpfs::Model;
use ramline_snapshot::blocks::{self, BlockDevice};
use ramline_snapshot::mounts;
use ramline_snapshot::pressure::Stall;
use ramline_snapshot::switches::LruGen;
use ramline_snapshot::zram::ZramDevice;
use ramline_units::checked_sum;

use crate::prelude::*;

/// The swap areas, the one used first in front; `None` when /proc/swaps was not seen.
pub(crate) fn areas(snapshot: &Snapshot) -> Option<Vec<&SwapArea>> {
    let mut areas: Vec<&SwapArea> = snapshot.swaps.data()?.iter().collect();
    ramline_units::sort_by_key(&mut areas, |area| std::cmp::Reverse(area.priority));
    Some(areas)
}

/// Reclaim goes by generations.
pub(crate) fn is_mglru(snapshot: &Snapshot) -> bool {
    snapshot.lru_gen.data().is_some_and(LruGen::is_on)
}

/// From this share on an area is full: slots are given out in clusters, and some stay behind on each CPU.
const FULL: f64 = 0.95;

/// What comes next where no swap area has room, in words; `None` while one has.
pub(crate) fn kill_ahead(snapshot: &Snapshot) -> Option<&'static str> {
    let areas = areas(snapshot)?;
    let full = areas.iter().all(|area| area.used.share_of(area.size).is_some_and(|share| share >= FULL));
    full.then_some(
        "no swap area has room left: what needs memory beyond its limit, or the machine's, is killed; \
         an area of lower priority on a disk takes what zram cannot",
    )
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

/// What a directory has to fit into.
pub(crate) fn limit_words(model: Model) -> &'static str {
    match model {
        Model::HalfOfRam => "half of RAM",
        Model::Mount => "the tmpfs it is on",
        Model::Quota => "the quota of a user there",
        Model::HalfOfFree => "half of free memory",
        Model::Available => "available memory",
        Model::FreePlusSwap => "free memory and free swap",
        Model::Inodes => "inodes",
    }
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
    /// Mean in nanoseconds: the sum over many accesses is what a load waits.
    pub fn mean(&self) -> f64 {
        self.latency.mean_ns
    }

    /// As evidence.
    pub fn evidence(&self, what: &str) -> Evidence {
        let LatencyStats { p50_ns, p99_ns, n, .. } = self.latency;
        let notes: String = self.notes.iter().map(|note| format!("; {note}")).collect();
        let value = format!("{} mean, {p50_ns} median, {p99_ns} p99 (n {n}){notes}", nanos_of(self.mean()));
        evidence(what, value, format!("measure tiers: {}", self.tier))
    }
}

fn cost<'a>(inputs: &Inputs<'a>, tier: &str) -> Option<Cost<'a>> {
    cost_of(inputs.tiers?.tier(tier)?)
}

fn cost_of(tier: &TierMeasurement) -> Option<Cost<'_>> {
    Some(Cost { tier: &tier.tier, latency: tier.latency?, notes: &tier.notes })
}

/// A swap-in from this area, as measured on it; for zram otherwise on a scratch device with its algorithm.
pub(crate) fn swap_in_cost<'a>(inputs: &Inputs<'a>, area: &SwapArea) -> Option<Cost<'a>> {
    cost(inputs, &format!("swap:{}", area.path)).or_else(|| {
        let algorithm = zram_of(inputs.snapshot, area)?.algorithm.as_deref()?;
        cost(inputs, &format!("zram-{algorithm}"))
    })
}

/// The write that goes before a swap-in, where it is work of the CPU (compression) and so paid by the task that swaps.
pub(crate) fn compression_cost<'a>(inputs: &Inputs<'a>, area: &SwapArea) -> Option<Cost<'a>> {
    let algorithm = zram_of(inputs.snapshot, area)?.algorithm.as_deref()?;
    cost(inputs, &format!("swap-write:{}", area.path)).or_else(|| cost(inputs, &format!("zram-{algorithm}/write")))
}

/// A swap-in from a zram with an algorithm, and the compression before it, as measured on a scratch device.
pub(crate) fn zram_costs<'a>(inputs: &Inputs<'a>, algorithm: &str) -> (Option<Cost<'a>>, Option<Cost<'a>>) {
    (cost(inputs, &format!("zram-{algorithm}")), cost(inputs, &format!("zram-{algorithm}/write")))
}

/// A fault that finds its page in RAM.
pub(crate) fn fault_cost(inputs: &Inputs<'_>) -> Option<f64> {
    cost(inputs, "page-cache-mmap-fault").map(|cost| cost.mean())
}

/// A random re-read of one page of a file, as measured: on the root file system, or in the directory that was named instead.
pub(crate) fn reload_cost<'a>(inputs: &Inputs<'a>) -> Option<Cost<'a>> {
    cost_of(file_tier(inputs.tiers?)?)
}

/// Reads of a disk, below which their mean is chance.
const ENOUGH_READS: u64 = 1000;

/// What a read from the root disk has taken on the mean since it is there: with the waiting, the cold data and the sizes that this machine has, which a
/// measurement of data just written has not.
pub(crate) fn usual_read(snapshot: &Snapshot) -> Option<(&BlockDevice, f64)> {
    let disk = disk_under(snapshot, "/")?;
    let reads = disk.reads.filter(|reads| reads.count >= ENOUGH_READS)?;
    Some((disk, reads.mean_ns()?))
}

/// A fast area is full, and a slow one behind it takes its pages.
pub(crate) fn is_spilling(areas: &[&SwapArea]) -> bool {
    let is_full = |area: &&SwapArea| area.used.share_of(area.size).is_some_and(|share| share >= FULL);
    areas.first().is_some_and(is_full) && slow_behind(areas).is_some()
}

/// The area on a disk behind zram.
pub(crate) fn slow_behind<'a>(areas: &[&'a SwapArea]) -> Option<&'a SwapArea> {
    let (first, others) = areas.split_first()?;
    others.iter().copied().find(|area| first.zram().is_some() && area.zram().is_none())
}

/// What disturbed the measurement of this tier, as the report of the tiers has it: disturbances of the whole machine count, noise
/// within other tiers does not, nor does slow code where it is the disk that is measured.
pub(crate) fn noise(tiers: &TierReport, tier: &str) -> Option<String> {
    let line = tiers.conditions.iter().find_map(|line| line.strip_prefix("trust: noisy"))?;
    let reasons = line.trim().trim_start_matches('(').trim_end_matches(')').split("; ");
    let others = |reason: &str| {
        tiers
            .tiers
            .iter()
            .any(|t| t.tier != tier && reason.strip_prefix(t.tier.as_str()).is_some_and(|r| r.starts_with(':')))
    };
    let found = reasons.filter(|reason| !(others(reason) || is_disk(tier) && reason.contains("unoptimised build")));
    found.map(str::to_owned).next()
}

/// `priority 100, 1.0 GiB of 2.0 GiB used`.
pub(crate) fn area_words(area: &SwapArea) -> String {
    format!("priority {}, {} of {} used", area.priority, area.used, area.size)
}

/// The share of the last seconds in which some task waited for memory.
pub(crate) fn stall(snapshot: &Snapshot) -> Option<Stall> {
    snapshot.pressure_memory.data()?.some
}

/// Swap in use, over all areas.
pub(crate) fn swap_used(areas: &[&SwapArea]) -> Bytes {
    areas.iter().map(|area| area.used).sum()
}

/// Pages swapped in, zero-filled and compressed ones included.
pub(crate) fn swapped_in(snapshot: &Snapshot) -> Option<u64> {
    moved(snapshot, ["pswpin", "swpin_zero", "zswpin"])
}

/// Pages swapped out, zero-filled and compressed ones included.
pub(crate) fn swapped_out(snapshot: &Snapshot) -> Option<u64> {
    moved(snapshot, ["pswpout", "swpout_zero", "zswpout"])
}

/// The first counter is as old as swap, the others are not.
fn moved(snapshot: &Snapshot, [disk, zero, zswap]: [&str; 3]) -> Option<u64> {
    let seen = snapshot.vmstat.data()?;
    checked_sum([seen.get(disk)?, seen.get(zero).unwrap_or(0), seen.get(zswap).unwrap_or(0)])
}

/// File refaults of the window: pages that were evicted and had to be read again.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Refaults {
    /// Pages per second.
    pub per_second: f64,
    /// Of these, pages that came back so soon that a working set with room would have kept them, per second;
    /// `None` before 4.20.
    pub activated: Option<f64>,
    /// Major faults per second: programs that stopped until a page was read.
    pub faults: Option<f64>,
    /// The window's length.
    pub span: Nanos,
}

/// kswapd or tasks of the machine looked for pages to evict in the window, as far as is known, and had a reason; reclaim for the sake of a
/// group's limit is not that.
pub(crate) fn machine_reclaims(window: &Window<'_>) -> bool {
    let scanned = window.delta(|s| s.vmstat.data()?.pgscan_kswapd?.checked_add(s.vmstat.data()?.pgscan_direct?));
    scanned != Some(0) && !pressure::is_free(window.after)
}

/// File refaults over the window.
pub(crate) fn refaults(window: &Window<'_>) -> Option<Refaults> {
    Some(Refaults {
        per_second: window.per_second(|s| s.vmstat.data()?.refault_file())?,
        activated: window.per_second(|s| s.vmstat.data()?.workingset_activate_file),
        faults: window.per_second(|s| s.vmstat.data()?.pgmajfault),
        span: window.span,
    })
}

/// Seconds per round of one run. One that was given up before a thousandth of a round took at least a thousand times
/// what it had: a lower bound, so it can make an arm look better than it is, never worse.
fn seconds_per_round(run: &RunRecord) -> Option<f64> {
    let stuck = matches!(run.verdict, Verdict::Thrashing(_)).then(|| run.elapsed.as_secs_f64() * 1000.0);
    run.seconds_per_round().or(stuck.filter(|seconds| *seconds > 0.0))
}

/// Of the arms that match, with this fill, the one with the shortest median round; `None` when none got anywhere.
fn best_arm(runs: &[RunRecord], fill: &str, matching: impl Fn(&RunRecord) -> bool) -> Option<Measurement> {
    let mut arms: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
    // An emulated processor's seconds are those of no machine, least of all the reader's.
    let native = runs.iter().filter(|run| !run.emulated);
    for run in native.filter(|run| run.arm.fill == fill && matching(run)) {
        arms.entry(&run.arm.name).or_default().extend(seconds_per_round(run));
    }
    let measured = arms.into_iter().filter_map(|(name, seconds)| {
        Measurement::from_values(&seconds, "s", "wall-clock time per round of code-plus-data", &[name])
    });
    measured.min_by(|a, b| a.median.total_cmp(&b.median))
}

/// Compares the best arm of one kind with the best of another, at the same fill. Faster beyond the spread is a proof; slower, or no
/// difference beyond the spread, is one against it, and `None`; without both, or from too few runs, it is as sure as `unproved`. Data of
/// zeros never reaches swap on kernels since 6.12, so it is taken only when nothing else ran.
pub(crate) fn prove(
    runs: &[RunRecord],
    what: &str,
    candidate: impl Fn(&RunRecord) -> bool,
    present: impl Fn(&RunRecord) -> bool,
    unproved: Confidence,
) -> Option<(Confidence, Option<Evidence>)> {
    let mut fills: Vec<&str> = runs.iter().map(|run| run.arm.fill.as_str()).collect();
    ramline_units::sort_by_key(&mut fills, |fill| (*fill == "zeros", *fill));
    fills.dedup();
    let best = fills.into_iter().find_map(|fill| best_arm(runs, fill, &candidate).zip(best_arm(runs, fill, &present)));
    let Some((candidate, present)) = best else { return Some((unproved, None)) };
    let compared = study::compare(&candidate, &present);
    if compared.is_claimed() && candidate.median < present.median {
        let value = format!("{candidate} a round against {present}: {}", compared.sentence());
        return Some((Confidence::High, Some(evidence(what, value, "lab run code-plus-data"))));
    }
    // Too few runs prove nothing, neither way.
    (compared.by == IntervalKind::Range).then_some((unproved, None))
}

/// The arm had swap of its own.
pub(crate) fn has_swap(run: &RunRecord) -> bool {
    !matches!(run.arm.swap, SwapKind::AsConfigured | SwapKind::None)
}

/// The arm swapped to what this area is: the machine's own areas, or a scratch one of its kind.
pub(crate) fn swaps_like(area: &SwapArea, run: &RunRecord) -> bool {
    match run.arm.swap {
        SwapKind::AsConfigured => true,
        SwapKind::Zram { .. } => area.zram().is_some(),
        SwapKind::File => area.zram().is_none(),
        // Two layers at once tell nothing about one of them.
        SwapKind::None | SwapKind::ZramOverFile { .. } | SwapKind::Zswap => false,
    }
}

/// The area and the root file system are on one device: their costs differ by noise only.
pub(crate) fn on_root_disk(snapshot: &Snapshot, area: &SwapArea) -> bool {
    let disk = disk_of(snapshot, area);
    disk.is_some() && disk == disk_under(snapshot, "/")
}
