//! A load in a limited group foretold: the same touches through the simulator, and what the lab measured beside it.
//!
//! What it is not: for every setting. What the simulator has not is left out and named.

use ramline_evidence::{TierReport, Verdict as Ended, Workload};
use ramline_measure::pages::named;
use ramline_sim::cost::Costs;
use ramline_sim::forecast::{Figures, Forecast, Foretold, Seen, Verdict};
use ramline_sim::kernel::Kernel;
use ramline_sim::load::Compact;
use ramline_sim::memory::{Setting, SwapTo};
use ramline_sim::rivals::{self, Simpler};
use ramline_trace::generate::Load;

use ramline_sandbox::progress::Progress;

use super::plan::SwapSizes;
use super::profile;
use crate::prelude::*;
use ramline_sandbox::fill::Filler;
use ramline_sandbox::observe::SAMPLE_EVERY;

/// What the lab's own looks at the group leave of the kernel's 2 s between two looks.
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
    let Question { name, load, arms, swap } = question;
    let arms: Vec<(Arm, Workload, Kernel)> = arms.iter().flat_map(|arm| with_each(arm, kernels)).collect();
    let limit = arms.first().map(|(_, workload, _)| workload.limit).unwrap_or_default();
    let mut out = Forecast { experiment: (*name).to_owned(), limit, ..Forecast::default() };
    let mut left_out = Vec::new();
    // Decoded once; no setting changes what is touched.
    let large = || {
        LabError::usage("a load of more than 2 TiB is not simulated yet".to_owned(), format!("ramline predict {name}"))
    };
    let touches = Compact::of(load).ok_or_else(large)?.with_program();
    for (done, batch) in arms.chunks(threads()).enumerate() {
        progress.step(&format!("predicting {} of {}", done * threads() + batch.len(), arms.len()));
        let all = std::thread::scope(|scope| {
            let begun: Vec<_> = batch.iter().map(|arm| scope.spawn(|| one(&touches, arm, *swap, tiers))).collect();
            begun.into_iter().map(std::thread::ScopedJoinHandle::join).collect::<Vec<_>>()
        });
        for ((arm, ..), foretold) in batch.iter().zip(all) {
            let foretold =
                foretold.unwrap_or_else(|_| Err(LabError::Workload("the simulator broke off".to_owned())))?;
            if foretold.is_none() {
                left_out.push(arm.name.clone());
            }
            let (foretold, simpler) = foretold.unzip();
            let foretold = foretold.flatten();
            out.settings.push(Foretold { name: arm.name.clone(), foretold, simpler, ..Foretold::default() });
        }
    }
    out.notes.push(match tiers {
        Some(report) => {
            format!("times: by what measure tiers found ({})", report.conditions.first().map_or("", |first| first))
        }
        None => {
            "times: by assumed costs of disk and compression; measured here by: sudo ramline measure tiers".to_owned()
        }
    });
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
    (arm, workload, kernel): &(Arm, Workload, Kernel),
    swap: SwapSizes,
    tiers: Option<&TierReport>,
) -> Result<Option<(Option<Figures>, Simpler)>> {
    let (to, algorithm) = match &arm.swap {
        SwapKind::None => (SwapTo::Nowhere, None),
        SwapKind::File => (SwapTo::Disk, None),
        SwapKind::Zram { algorithm } => (SwapTo::Zram, Some(algorithm.as_deref().unwrap_or(ALGORITHM))),
        SwapKind::AsConfigured | SwapKind::ZramOverFile { .. } | SwapKind::Zswap => return Ok(None),
    };
    let pages = |bytes: Bytes| bytes.0 / 4096;
    let whole = |n: u64| u32::try_from(n).unwrap_or(u32::MAX);
    let stale = if workload.fresh_statistics { SAMPLE_EVERY } else { STALE };
    let setting = Setting {
        limit: pages(workload.limit),
        swappiness: arm.swappiness.unwrap_or(60).into(),
        swap: to,
        slots: whole(pages(swap.area)),
        read_ahead: whole(pages(workload.read_ahead).max(1)),
        cluster: CLUSTER,
        base: 0,
        stale: u64::try_from(stale.as_nanos()).ok(),
        costs: tiers
            .map_or_else(Costs::default, |tiers| Costs::measured(tiers, algorithm.unwrap_or(ALGORITHM), &arm.fill)),
        kernel: *kernel,
    };
    let lengths = lengths(&arm.fill, algorithm, workload.seed)?;
    let length = |_: u32, page: u64| lengths[usize::try_from(page).unwrap_or(0) % lengths.len()];
    let foretold = ramline_sim::forecast::compact(touches, &setting, workload.timeout.0, workload.seed, length);
    Ok(Some((foretold, rivals::simpler(touches, &setting))))
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
pub fn beside(forecast: &mut Forecast, records: &[RunRecord]) {
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
