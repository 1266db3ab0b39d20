//! Calibration from a measured series: the machine, and the program that was run. It uses fill times, and the round times of one or two reference settings, whose own
//! times are then no predictions; never the counts that are predicted.
//!
//! Found are: memory of the program before its load, and when the load began; how its rounds began; processor speed, by the processor time of a round of one setting or by
//! a fill; disk speed, by the time of that round and of one of a setting that reads many pages at once; the variation from run to run, by the rounds of all settings;
//! compression cost, as it was measured before each run; and whether swap had been read on that machine before.

use crate::apparatus::reader::RoundsBegin;
use crate::forecast::{Figures, Range, RunFigures};
use crate::pace;
use ramline_evidence::{Arm, CodecTimes, Phase, RunRecord, SwapKind, Workload};
use ramline_sim::cost::MEASURED_SPREAD;
use ramline_sim::load::PAGE;

use ramline_units::Nanos;

use crate::measured::measured;

/// What a record has among what was verified where files lie on the disk itself.
pub const PLAIN: &str = "scratch without loop device";
/// A round with fewer major faults and refaults of file pages shows nothing about disks.
const READS: f64 = 50.0;

/// Pages charged to the group when its workload was ready to begin, of the program and of the kernel: from the least to below the most of the runs, but
/// for a tenth of them at each end. `None` where no record has them. Nothing is added for pages that other processors have charged ahead: of 476 samples
/// of a stopped load three quarters had none.
pub fn overhead_pages(records: &[RunRecord]) -> Option<[u64; 2]> {
    let of = |record: &RunRecord| {
        let bytes = |name: &str| record.ready.get(name).copied();
        Some((bytes("group.anon_bytes")? + bytes("group.kernel_bytes")?) / PAGE)
    };
    let mut all: Vec<u64> = records.iter().filter_map(of).collect();
    all.sort_unstable();
    let few = all.len() / 10;
    Some([*all.get(few)?, all.iter().nth_back(few)? + 1])
}

/// Time of the lab's first sample of a group after its load began, in nanoseconds from there: samples begin with the program and follow each
/// `every`. The least and the most, but for a tenth of the runs at each end; any time where they lie in different turns.
pub fn first_read(records: &[RunRecord], every: u64) -> Option<[u64; 2]> {
    let begun = |record: &RunRecord| Some(done(record)?.saturating_sub(Nanos(record.fill.0 + record.elapsed.0)).0);
    let mut all: Vec<u64> = records.iter().filter_map(begun).collect();
    all.sort_unstable();
    let few = all.len() / 10;
    let (soon, late) = (*all.get(few)?, *all.iter().nth_back(few)?);
    let every = every.max(1);
    Some(if soon / every == late / every { [every - late % every, every - soon % every] } else { [0, every] })
}

/// Time of the first sample in the rounds of each run of a setting, and how much was filled at the one before. None of fewer than five runs, or on an emulated
/// processor: each sample is 0.1 to 0.2 ms late, there many times as much, so that after a hundred of them their time is not known.
#[expect(clippy::cast_precision_loss, reason = "nanoseconds of a fill")]
pub fn rounds_begin(arm: &Arm, records: &[RunRecord], every: u64) -> Vec<RoundsBegin> {
    const FEW: usize = 5;
    const KNOWN: u64 = 100;
    let every = every.max(1);
    let one = |record: &RunRecord| {
        let (fill, begun) = (record.fill.0, done(record)?.saturating_sub(record.elapsed).0);
        let since = begun % every;
        let filled = fill.saturating_sub(since) as f64 / fill as f64;
        (fill > 0 && begun / every < KNOWN && !record.emulated)
            .then_some(RoundsBegin { first_read: every - since, filled })
    };
    let all: Vec<RoundsBegin> = records_for(arm, records).filter_map(one).collect();
    if all.len() < FEW { Vec::new() } else { all }
}

/// Time at which a sample showed that the load was done; sampling goes on while the program ends.
fn done(record: &RunRecord) -> Option<Nanos> {
    record.samples.iter().find(|sample| sample.phase == Phase::Done).map(|sample| sample.at)
}

/// Share of the runs of a setting before which nothing was read from swap since the machine was started. `None` where no record has it.
#[expect(clippy::cast_precision_loss, reason = "a number of runs")]
pub fn fresh(arm: &Arm, records: &[RunRecord]) -> Option<f64> {
    let before = |record: &RunRecord| record.before.get("vm.pswpin").copied();
    let read: Vec<u64> = records_for(arm, records).map(before).collect::<Option<_>>()?;
    let fresh = read.iter().filter(|pages| **pages == 0).count();
    (!read.is_empty()).then(|| fresh as f64 / read.len() as f64)
}

/// Cost of compression before the runs of a setting: nanoseconds to compress and to decompress a page, the median, and the uncertainty factor.
#[expect(clippy::cast_precision_loss, reason = "nanoseconds of a page")]
pub fn compression_cost(arm: &Arm, records: &[RunRecord]) -> Option<([f64; 2], f64)> {
    let of = |pick: fn(&CodecTimes) -> Nanos| {
        let each = records_for(arm, records).filter_map(|record| record.codec.as_ref());
        each.map(|times| pick(times).0 as f64).filter(|took| *took > 0.0).collect::<Vec<_>>()
    };
    let (compress, decompress) = (of(|times| times.compress), of(|times| times.decompress));
    let spread = pace::spread(&compress).max(pace::spread(&decompress));
    let middle = |all: Vec<f64>| Range::from_values(all).map(|range| range.median);
    Some(([middle(compress)?, middle(decompress)?], spread))
}

/// Whether files were on the disk itself: without root no loop device is made.
pub fn is_without_loop(records: &[RunRecord]) -> bool {
    records.iter().any(|record| record.verified.contains_key(PLAIN))
}

/// Whether the processor was emulated: the time of rounds then depends on how busy the emulating machine was. In guests they took up to eight times as long as others of
/// the same setting, and what was counted had nothing to do with it (bench/runs/accuracy-found-2.json and -4: in the middle of 36 settings the correlation was 0.1).
pub fn is_emulated(records: &[RunRecord]) -> bool {
    records.iter().any(|record| record.emulated)
}

/// The setting whose fill calibrates the processor, with its seconds: one without swap, if there is one, else one that writes to a disk. Of several
/// the one that took the least: what else there was only made a fill longer (a hypervisor that has to give 14 GiB first: 28 s, 8 s after that).
#[expect(clippy::cast_precision_loss, reason = "nanoseconds of a fill")]
pub fn fill_setting<'a>(arms: &'a [(Arm, Workload)], records: &[RunRecord]) -> Option<(&'a (Arm, Workload), Vec<f64>)> {
    let took = |(arm, _): &(Arm, Workload)| {
        let filled = records_for(arm, records).filter(|record| record.fill.0 > 0);
        let took: Vec<f64> = filled.map(|record| record.fill.0 as f64 / 1e9).collect();
        (!took.is_empty()).then_some(took)
    };
    let middle = |took: &[f64]| Range::from_values(took.to_vec()).map_or(0.0, |range| range.median);
    let by = |swap: SwapKind| {
        let known = arms.iter().filter(|(arm, _)| arm.swap == swap).filter_map(|both| Some((both, took(both)?)));
        known.min_by(|(_, one), (_, other)| middle(one).total_cmp(&middle(other)))
    };
    by(SwapKind::None).or_else(|| by(SwapKind::File))
}

/// The setting whose rounds calibrate the disks, with the seconds of one: it reads from them; one that is steady, one with
/// swap, since without any only files are reclaimed, and swappiness 60, if they were measured.
pub fn round_setting<'a>(
    arms: &'a [(Arm, Workload)],
    records: &[RunRecord],
) -> Option<(&'a (Arm, Workload), Vec<f64>)> {
    let mut all: Vec<_> = arms.iter().collect();
    ramline_units::sort_by_key(&mut all, |(arm, _)| {
        (!is_steady(arm, records), arm.swap == SwapKind::None, arm.swappiness != Some(60))
    });
    all.into_iter().find_map(|both| Some((both, round_seconds(&both.0, records)?)))
}

/// The setting that calibrates the cost of each page of a request, with the seconds of one of its rounds: it is steady, has the same read-ahead as `than`, by whose rounds both paces cannot be
/// known, and reads the most pages at once, at least twice as many.
pub fn page_cost_setting<'a>(
    arms: &'a [(Arm, Workload)],
    records: &[RunRecord],
    than: &(Arm, Workload),
) -> Option<(&'a (Arm, Workload), Vec<f64>)> {
    const LONGER: f64 = 2.0;
    let least = LONGER * pages_of_a_fault(&than.0, records)?;
    let all = arms.iter().filter(|(arm, load)| load.read_ahead == than.1.read_ahead && is_steady(arm, records));
    let long =
        all.filter_map(|both| Some((both, pages_of_a_fault(&both.0, records)?, round_seconds(&both.0, records)?)));
    let (both, pages, took) = long.max_by(|(_, one, _), (_, other, _)| one.total_cmp(other))?;
    (pages >= least).then_some((both, took))
}

/// Pages that a fault of a setting reads, the median of its runs; `None` where it hardly has any.
fn pages_of_a_fault(arm: &Arm, records: &[RunRecord]) -> Option<f64> {
    let runs: Vec<RunFigures> = records_for(arm, records).filter_map(measured).collect();
    let figures = Figures::from_runs(&runs)?;
    let faults = figures.major.filter(|major| major.median >= READS)?.median;
    let pages = figures.refault_file?.median + figures.swap_in?.median;
    (pages >= READS).then_some(pages / faults)
}

/// Seconds of a round of a setting that reads from disks.
pub fn round_seconds(arm: &Arm, records: &[RunRecord]) -> Option<Vec<f64>> {
    matches!(arm.swap, SwapKind::None | SwapKind::File).then_some(())?;
    let runs: Vec<RunFigures> = records_for(arm, records).filter_map(measured).collect();
    let figures = Figures::from_runs(&runs)?;
    (figures.major?.median + figures.refault_file?.median >= READS).then_some(())?;
    let done = runs.iter().filter(|run| run.rounds > 0.0 && run.seconds > 0.0);
    let all: Vec<f64> = done.map(|run| run.seconds / run.rounds).collect();
    (!all.is_empty()).then_some(all)
}

/// Whether rounds read nearly the same from run to run; else their time shows what happened in them, not the speed of the machine. Here they differ by a factor of 1.5
/// at most, but with shared data and swappiness 60 or more, where it is 1.2 to 4.0.
fn is_steady(arm: &Arm, records: &[RunRecord]) -> bool {
    const STEADY: f64 = 1.5;
    let runs = records_for(arm, records).filter_map(measured).filter(|run| run.rounds > 0.0);
    let read: Vec<f64> = runs.map(|run| (run.major + run.refault_file).max(1.0) / run.rounds).collect();
    read.len() < 2 || pace::spread(&read) <= STEADY
}

/// Variation of a machine's speed from run to run, a factor, by the time of rounds: the median over settings, since rounds of one setting also differ by what happens
/// in it; over those whose I/O is steady, if there are any.
pub fn run_spread(arms: &[(Arm, Workload)], records: &[RunRecord], times: impl Fn(&Arm) -> Option<Vec<f64>>) -> f64 {
    let each = arms.iter().filter_map(|(arm, _)| Some((is_steady(arm, records), pace::spread(&times(arm)?))));
    let (steady, others): (Vec<_>, Vec<_>) = each.partition(|(is_steady, _)| *is_steady);
    let counts = if steady.is_empty() { others } else { steady };
    Range::from_values(counts.into_iter().map(|(_, spread)| spread).collect())
        .map_or(MEASURED_SPREAD, |range| range.median)
}

/// Uncertainty factor of a processor's speed, where rounds differ by this factor. By a setting without swap it is less certain for others: of 21 with zram the time was 0.7 to 1.45
/// times what such a speed gives, a factor of 1.5 by two standard deviations (bench/runs/accuracy-found-6, -9 and -10.json).
pub fn processor_spread(differs: f64, by: Option<&Arm>, arms: &[(Arm, Workload)]) -> f64 {
    let swaps = |arm: &Arm| arm.swap != SwapKind::None;
    let is_unlike = by.is_some_and(|by| !swaps(by)) && arms.iter().any(|(arm, _)| swaps(arm));
    if is_unlike { differs.max(1.5) } else { differs }
}

/// Processor seconds of a round of a setting; `None` where no record has it.
#[expect(clippy::cast_precision_loss, reason = "nanoseconds of a run")]
pub fn round_cpu_seconds(arm: &Arm, records: &[RunRecord]) -> Option<Vec<f64>> {
    let of_a_round = |record: &RunRecord| {
        let rounds = record.rounds.len() as f64 + record.fraction;
        let is_known = rounds > 0.0 && measured(record).is_some();
        Some(record.worked?.0 as f64 / 1e9 / rounds).filter(|worked| is_known && *worked > 0.0)
    };
    let all: Vec<f64> = records_for(arm, records).filter_map(of_a_round).collect();
    (!all.is_empty()).then_some(all)
}

fn records_for<'a>(arm: &Arm, records: &'a [RunRecord]) -> impl Iterator<Item = &'a RunRecord> + use<'a> {
    let name = arm.name.clone();
    records.iter().filter(move |record| record.arm.name == name)
}

#[cfg(test)]
mod tests;
