//! A load in a limited group foretold: the same touches through the simulator, and what the lab measured beside it.
//!
//! What it is not: for every setting. What the simulator has not is left out and named.

use ramline_evidence::{TierReport, Verdict as Ended, Workload};
use ramline_measure::pages::named;
use ramline_sim::cost::Costs;
/// How often a setting is simulated if nothing else is asked for.
pub use ramline_sim::forecast::RUNS;
use ramline_sim::forecast::{Figures, Forecast, Foretold, Seen, Verdict};
use ramline_sim::kernel::Kernel;
use ramline_sim::load::{Compact, Program};
use ramline_sim::memory::{Setting, Sums, SwapTo};
use ramline_sim::rivals::{self, Simpler};
use ramline_trace::generate::Load;

use ramline_sandbox::progress::Progress;

use super::plan::SwapSizes;
use super::profile;
use crate::prelude::*;
use ramline_sandbox::fill::Filler;
use ramline_sandbox::observe::SAMPLE_EVERY;

/// The kernel's own time between two sums, where the lab does not look at the group (`--stale-statistics`).
const STALE: Duration = Duration::from_secs(2);
/// Where the kernel would choose, most kernels have this one.
const ALGORITHM: &str = "lzo-rle";
/// Slots that one read from a disk brings: vm.page-cluster is 3.
const CLUSTER: u32 = 8;
/// Pages of the data that are compressed to know what the others take.
const COMPRESSED: u64 = 64;

/// What is foretold: a load under several settings.
pub struct Question<'a> {
    /// The experiment.
    pub name: &'a str,
    /// What is touched.
    pub load: Load,
    /// The settings, each with what the lab would record of it.
    pub arms: Vec<(Arm, Workload)>,
    /// Sizes of the swap of those that have one.
    pub swap: SwapSizes,
    /// The program that touches the load, with its own pages.
    pub program: Program,
    /// How many times each setting is simulated.
    pub runs: u32,
}

/// What times rest on.
#[derive(Clone, Copy)]
struct Basis<'a> {
    tiers: Option<&'a TierReport>,
    /// How many times slower the devices of a series were.
    slower: Option<f64>,
}

impl Question<'_> {
    /// The same load in other amounts of RAM as well; each setting's name then says in which.
    #[must_use]
    pub fn with_limits(mut self, others: Vec<Self>) -> Self {
        if others.is_empty() {
            return self;
        }
        self.arms.extend(others.into_iter().flat_map(|other| other.arms));
        self.arms.iter_mut().for_each(|(arm, workload)| arm.name = format!("{} at {}", arm.name, workload.limit));
        self
    }
}

impl Basis<'_> {
    fn costs(&self, algorithm: &str, fill: &str) -> Costs {
        let costs = self.tiers.map_or_else(Costs::default, |tiers| Costs::measured(tiers, algorithm, fill));
        self.slower.map_or(costs, |times| costs.slower(times))
    }

    fn said(&self, setting: &str) -> String {
        let found = |report: &TierReport| report.conditions.first().cloned().unwrap_or_default();
        match (self.tiers, self.slower) {
            (tiers, Some(times)) => {
                let of = if tiers.is_some() { "measure tiers found" } else { "is assumed" };
                format!(
                    "times: reads took {times:.1} times as long as {of}, by a round of {setting}, whose own time is so no prediction"
                )
            }
            (Some(report), None) => format!("times: by what measure tiers found ({})", found(report)),
            (None, None) => {
                "times: by assumed costs of disk and compression; measured here by: sudo ramline measure tiers"
                    .to_owned()
            }
        }
    }
}

/// A setting each.
fn threads() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// Foretells all settings, so many at once as there are processors.
///
/// # Errors
/// The load is too large to be simulated.
pub fn forecast(
    question: &Question<'_>,
    kernels: &[Kernel],
    tiers: Option<&TierReport>,
    progress: &mut dyn Progress,
) -> Result<Forecast> {
    foretold(question, kernels, &decoded(question)?, (Basis { tiers, slower: None }, ""), false, progress)
}

/// Foretells what a series measured, setting by setting, with what was measured beside it. Of the series only the time of one setting is used: it says
/// how fast the disk was, which no other day's measurement does.
///
/// # Errors
/// The load is too large to be simulated.
pub fn against(
    question: &Question<'_>,
    kernel: Kernel,
    tiers: Option<&TierReport>,
    records: &[RunRecord],
    progress: &mut dyn Progress,
) -> Result<Forecast> {
    let touches = decoded(question)?;
    let basis = Basis { tiers, slower: None };
    let reference = reference(question, records);
    progress.step("finding the pace of the disk");
    let slower = match &reference {
        Some((arm, round)) => {
            let (arm, workload) = *arm;
            let of = (arm.clone(), workload.clone(), kernel);
            prepared(&of, question.swap, basis)?.and_then(|(setting, lengths)| {
                let length = |_: u32, page: u64| one_of(&lengths, page);
                ramline_sim::forecast::slower(&touches, &setting, workload.timeout.0, workload.seed, length, *round)
            })
        }
        None => None,
    };
    let name = reference.map_or("", |((arm, _), _)| arm.name.as_str());
    let basis = (Basis { slower, ..basis }, name);
    let mut out = foretold(question, &[kernel], &touches, basis, true, progress)?;
    beside(&mut out, records);
    Ok(out)
}

/// The setting whose time says how fast the disk was, with the seconds of a round: one that reads from it, swappiness 60 if it was measured.
fn reference<'a>(question: &'a Question<'_>, records: &[RunRecord]) -> Option<(&'a (Arm, Workload), f64)> {
    let reads = |arm: &Arm| matches!(arm.swap, SwapKind::None | SwapKind::File);
    let round = |arm: &Arm| {
        let runs: Vec<Seen> =
            records.iter().filter(|record| record.arm.name == arm.name).filter_map(measured).collect();
        let figures = Figures::of(&runs)?;
        figures.major.filter(|major| major.median >= 50.0)?;
        figures.round.map(|range| range.median)
    };
    let mut known: Vec<_> = question.arms.iter().filter(|(arm, _)| reads(arm)).collect();
    known.sort_by_key(|(arm, _)| arm.swappiness != Some(60));
    known.into_iter().find_map(|both| Some((both, round(&both.0)?)))
}

/// The load, once for all settings: none of them changes what is touched.
fn decoded(question: &Question<'_>) -> Result<Compact> {
    let large = || {
        let way_out = format!("ramline predict {}", question.name);
        LabError::usage("a load of more than 2 TiB is not simulated yet".to_owned(), way_out)
    };
    Ok(Compact::of(&question.load).ok_or_else(large)?.with_program(question.program))
}

fn foretold(
    question: &Question<'_>,
    kernels: &[Kernel],
    touches: &Compact,
    (basis, reference): (Basis<'_>, &str),
    compared: bool,
    progress: &mut dyn Progress,
) -> Result<Forecast> {
    let Question { name, arms, swap, runs, .. } = question;
    let arms: Vec<(Arm, Workload, Kernel)> = arms.iter().flat_map(|arm| with_each(arm, kernels)).collect();
    let limit = arms.first().map(|(_, workload, _)| workload.limit).unwrap_or_default();
    let mut out = Forecast { experiment: (*name).to_owned(), limit, ..Forecast::default() };
    let mut left_out = Vec::new();
    for (done, batch) in arms.chunks(threads()).enumerate() {
        progress.step(&format!("predicting {} of {}", done * threads() + batch.len(), arms.len()));
        let all = std::thread::scope(|scope| {
            let begun: Vec<_> =
                batch.iter().map(|arm| scope.spawn(|| one(touches, arm, (*swap, *runs), basis, compared))).collect();
            begun.into_iter().map(std::thread::ScopedJoinHandle::join).collect::<Vec<_>>()
        });
        for ((arm, workload, _), foretold) in batch.iter().zip(all) {
            let foretold =
                foretold.unwrap_or_else(|_| Err(LabError::Workload("the simulator broke off".to_owned())))?;
            if foretold.is_none() {
                left_out.push(arm.name.clone());
            }
            let (foretold, simpler) = foretold.unzip();
            let (foretold, simpler) = (foretold.flatten(), simpler.flatten());
            let (name, limit) = (arm.name.clone(), workload.limit);
            out.settings.push(Foretold { name, limit, foretold, simpler, ..Foretold::default() });
        }
    }
    // What can be chosen is a setting for one load: the same contents, read-ahead and kernel.
    let one_load = |(arm, workload, _): &(Arm, Workload, Kernel)| (arm.fill.clone(), workload.read_ahead);
    if kernels.len() == 1 && arms.windows(2).all(|pair| one_load(&pair[0]) == one_load(&pair[1])) {
        out.front = out.front().into_iter().map(str::to_owned).collect();
    }
    out.notes.push(basis.said(reference));
    if !left_out.is_empty() {
        out.notes.push(format!("not simulated yet: {}", left_out.join(", ")));
    }
    let mut named: Vec<String> = kernels.iter().map(Kernel::named).collect();
    named.dedup();
    out.notes.push(format!("simulated: {}, at its limit", named.join("; ")));
    let mut left: Vec<&str> = kernels.iter().flat_map(Kernel::notes).collect();
    left.sort_unstable();
    left.dedup();
    if !left.is_empty() {
        out.notes.push(format!("left out of it: {}", left.join("; ")));
    }
    Ok(out)
}

/// A setting with each kernel; its name says which, if there are several.
fn with_each((arm, workload): &(Arm, Workload), kernels: &[Kernel]) -> Vec<(Arm, Workload, Kernel)> {
    let name = |kernel: &Kernel| match kernels.len() {
        1 => arm.name.clone(),
        _ => format!("{} {}", arm.name, profile::word(kernel)),
    };
    let with = |kernel: &Kernel| (Arm { name: name(kernel), ..arm.clone() }, workload.clone(), *kernel);
    kernels.iter().map(with).collect()
}

fn one(
    touches: &Compact,
    of: &(Arm, Workload, Kernel),
    (swap, runs): (SwapSizes, u32),
    basis: Basis<'_>,
    compared: bool,
) -> Result<Option<(Option<Figures>, Option<Simpler>)>> {
    let Some((setting, lengths)) = prepared(of, swap, basis)? else { return Ok(None) };
    let (_, workload, _) = of;
    let length = |_: u32, page: u64| one_of(&lengths, page);
    let foretold = ramline_sim::forecast::compact(touches, &setting, workload.timeout.0, (workload.seed, runs), length);
    // What simpler models say takes longer than the forecast: asked only where something was measured that both can be held against.
    Ok(Some((foretold, compared.then(|| rivals::simpler(touches, &setting)))))
}

fn one_of(lengths: &[u16], page: u64) -> u16 {
    let place = usize::try_from(page).unwrap_or(0) % lengths.len().max(1);
    lengths.get(place).copied().unwrap_or(4096)
}

/// What the simulator is asked, and what pages compress to; `None` for a kind of swap that it has not.
fn prepared(
    (arm, workload, kernel): &(Arm, Workload, Kernel),
    swap: SwapSizes,
    basis: Basis<'_>,
) -> Result<Option<(Setting, Vec<u16>)>> {
    let (to, algorithm) = match &arm.swap {
        SwapKind::None => (SwapTo::Nowhere, None),
        SwapKind::File => (SwapTo::Disk, None),
        SwapKind::Zram { algorithm } => (SwapTo::Zram, Some(algorithm.as_deref().unwrap_or(ALGORITHM))),
        SwapKind::AsConfigured | SwapKind::ZramOverFile { .. } | SwapKind::Zswap => return Ok(None),
    };
    let pages = |bytes: Bytes| bytes.0 / 4096;
    let whole = |n: u64| u32::try_from(n).unwrap_or(u32::MAX);
    let ns = |time: Duration| u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
    let sums = if workload.fresh_statistics { Sums::Watched(ns(SAMPLE_EVERY)) } else { Sums::Every(ns(STALE)) };
    let setting = Setting {
        limit: pages(workload.limit),
        swappiness: arm.swappiness.unwrap_or(60).into(),
        swap: to,
        slots: whole(pages(swap.area)),
        read_ahead: whole(pages(workload.read_ahead).max(1)),
        cluster: CLUSTER,
        base: 0,
        sums,
        costs: basis.costs(algorithm.unwrap_or(ALGORITHM), &arm.fill),
        kernel: *kernel,
    };
    Ok(Some((setting, lengths(&arm.fill, algorithm, workload.seed)?)))
}

/// What pages of a fill compress to; 0 for one of zeros. Without an algorithm only that matters.
fn lengths(fill: &str, algorithm: Option<&str>, seed: u64) -> Result<Vec<u16>> {
    let kind: ramline_sandbox::fill::Fill = fill.parse()?;
    let mut filler = Filler::new(kind, seed);
    let (mut page, mut out) = (vec![0_u8; 4096], vec![0_u8; 2 * 4096]);
    let none = |why: String| LabError::usage(why, "ramline predict --settings zram:lz4:60");
    let mut codec = named(algorithm.unwrap_or(ALGORITHM)).map_err(none)?;
    let mut length = |number: u64| {
        filler.fill(number, &mut page);
        let is_zeros = page.iter().all(|byte| *byte == 0);
        let compressed = if is_zeros { Some(0) } else { codec.compress(&page, &mut out) };
        u16::try_from(compressed.unwrap_or(page.len()).min(page.len())).unwrap_or(4096)
    };
    Ok((0..COMPRESSED).map(&mut length).collect())
}

/// Puts what a series measured beside what was foretold, setting by setting.
fn beside(forecast: &mut Forecast, records: &[RunRecord]) {
    if let Some(machine) = records.first().map(|record| &record.machine) {
        let (kernel, version) = (&machine.kernel, machine.cgroup_version);
        forecast.notes.push(format!("measured: on Linux {kernel} in a group of version {version}"));
    }
    for setting in &mut forecast.settings {
        let runs: Vec<Seen> =
            records.iter().filter(|record| record.arm.name == setting.name).filter_map(measured).collect();
        setting.runs = u32::try_from(runs.len()).unwrap_or(u32::MAX);
        setting.measured = Figures::of(&runs);
    }
}

#[expect(clippy::cast_precision_loss, reason = "counts of a run")]
fn measured(record: &RunRecord) -> Option<Seen> {
    let verdict = match &record.verdict {
        Ended::Completed => Verdict::Fine,
        Ended::Thrashing(_) => Verdict::Thrashing,
        Ended::Killed(_) => Verdict::Killed,
        _ => return None,
    };
    let reclaim = &record.reclaim;
    let zeros = reclaim.swap_in_zero.unwrap_or(0);
    Some(Seen {
        verdict,
        rounds: record.rounds.len() as f64 + record.fraction,
        seconds: record.elapsed.0 as f64 / 1e9,
        major: reclaim.major_faults as f64,
        swap_in: (reclaim.swap_in? + zeros) as f64,
        refault_file: reclaim.refault_file? as f64,
        beside: None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_series_measured_stands_beside_what_was_foretold_with_its_place() {
        let mut record = RunRecord { verdict: Ended::Completed, fraction: 2.0, ..RunRecord::default() };
        record.arm.name = "swap:60".to_owned();
        (record.machine.kernel, record.machine.cgroup_version) = ("6.12.1".to_owned(), 2);
        (record.reclaim.swap_in, record.reclaim.refault_file, record.reclaim.major_faults) = (Some(8), Some(6), 4);
        let foretold = Some(Figures::default());
        let settings = vec![Foretold { name: "swap:60".to_owned(), foretold, ..Foretold::default() }];
        let mut forecast = Forecast { settings, ..Forecast::default() };
        beside(&mut forecast, &[record]);
        let setting = forecast.settings.remove(0);
        let major = setting.measured.and_then(|figures| figures.major).map(|range| range.median);
        assert_eq!((setting.foretold, major), (foretold, Some(2.0)));
        assert_eq!(forecast.notes, ["measured: on Linux 6.12.1 in a group of version 2"]);
    }
}
