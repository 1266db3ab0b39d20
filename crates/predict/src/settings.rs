//! Forecasts of the settings of a question: the same touches through the simulator, once for each.
//!
//! What it is not: for every setting. What the simulator has not is left out and named.

use std::time::Duration;

use ramline_evidence::{Arm, SwapKind, Workload};
use ramline_sim::kernel::Kernel;
use ramline_sim::load::Compact;
use ramline_sim::memory::{Flushes, Setting, SwapTo};
use ramline_sim::rivals::{self, Simpler};
use ramline_units::Bytes;

use crate::apparatus::follower::Follower;
use crate::apparatus::reader::Reads;
use crate::basis::Basis;
use crate::error::{PredictError, Result};
use crate::forecast::{self, Forecast, SettingForecast, Simulated};
use crate::lengths::{Lengths, PageLengths};
use crate::question::{Caller, Question, at_once, decoded};
use crate::workers::Workers;
use crate::{calibration, profile};

/// The kernel's own time between two sums, where the lab does not look at the group (`--stale-statistics`).
const STALE: Duration = Duration::from_secs(2);
/// Why a group may be out of memory that has swap.
const KILLED: &str = "killed in a part of the runs, though it has swap: this kernel sees too late that no page is left on the inactive list, since it goes \
                      by sizes up to 2 s old";
/// Where the kernel would choose, most kernels have this one.
const ALGORITHM: &str = "lzo-rle";
/// Slots that one read from a disk brings: vm.page-cluster is 3.
const CLUSTER: u32 = 8;
/// The chance that nothing was read from swap since boot, where no record says it.
const FRESH: f64 = 0.5;
/// Foretells all settings, so many at once as there are processors.
///
/// # Errors
/// The load is too large to be simulated.
pub fn forecast(
    question: &Question,
    kernels: &[Kernel],
    caller: Caller<'_>,
    progress: &mut dyn FnMut(&str),
) -> Result<Forecast> {
    let at_once = at_once(question, caller.workers.count.min(question.arms.len() * kernels.len()), caller.free)?;
    let touches = decoded(question)?;
    let lengths = Lengths::for_load(first(&touches)?, caller.compress);
    let basis = (Basis::assumed(question, caller.tiers, &lengths), ("", None));
    forecast_settings(
        question,
        kernels,
        &touches,
        basis,
        (false, Workers { count: at_once, ..caller.workers }),
        progress,
    )
}

/// The load, or the first of those that it may be.
pub(crate) fn first(loads: &[Compact]) -> Result<&Compact> {
    loads.first().ok_or(PredictError::BrokeOff)
}

/// All settings with all kernels, so many at once as there are workers.
///
/// # Errors
/// A simulation broke off, or contents are not known.
pub fn forecast_settings(
    question: &Question,
    kernels: &[Kernel],
    touches: &[Compact],
    (basis, (reference, long)): (Basis<'_>, (&str, Option<&str>)),
    (compared, workers): (bool, Workers<'_>),
    progress: &mut dyn FnMut(&str),
) -> Result<Forecast> {
    let Question { name, arms, swap, runs, samples_every, .. } = question;
    let threads = workers.count.max(1);
    let arms: Vec<(Arm, Workload, Kernel)> = arms.iter().flat_map(|arm| with_each(arm, kernels)).collect();
    let limit = arms.first().map(|(_, workload, _)| workload.limit).unwrap_or_default();
    let recorded = question.recorded.clone();
    let mut out = Forecast { experiment: name.clone(), limit, recorded, ..Forecast::default() };
    let mut left_out = Vec::new();
    // A thread for each setting.
    for (done, batch) in arms.chunks(threads).enumerate() {
        progress(&format!("predicting {} of {}", done * threads + batch.len(), arms.len()));
        let one = |at: usize| one(touches, &batch[at], ((*swap, *samples_every), *runs), basis, compared);
        let all = workers.map(batch.len(), one);
        for ((arm, workload, _), forecast) in batch.iter().zip(all) {
            let forecast = forecast.unwrap_or(Err(PredictError::BrokeOff))?;
            if forecast.is_none() {
                left_out.push(arm.name.clone());
            }
            let (forecast, simpler) = forecast.unzip();
            let (forecast, simpler) = (forecast.flatten(), simpler.flatten());
            let (mut forecast, rounds) = forecast.map(|found: Simulated| (found.figures, found.rounds)).unzip();
            if let (Some(figures), Some(recorded)) = (&mut forecast, &question.recorded) {
                figures.unknown_counts |= figures.is_slower() && recorded.is_coarse(workload.limit);
            }
            let (name, limit, rounds) = (arm.name.clone(), workload.limit, rounds.unwrap_or_default());
            out.settings.push(SettingForecast { name, limit, forecast, rounds, simpler, ..SettingForecast::default() });
        }
    }
    // What can be chosen is a setting for one load: the same contents, read-ahead and kernel.
    let one_load = |(arm, workload, _): &(Arm, Workload, Kernel)| (arm.fill.clone(), workload.read_ahead);
    if kernels.len() == 1 && arms.windows(2).all(|pair| one_load(&pair[0]) == one_load(&pair[1])) {
        out.front = out.front().into_iter().map(str::to_owned).collect();
    }
    let by_old_sizes = |((arm, _, kernel), setting): (&(Arm, Workload, Kernel), &SettingForecast)| {
        let can_be = arm.swap != SwapKind::None && !kernel.flushes_first && kernel.mglru().is_none();
        can_be && setting.forecast.is_some_and(|figures| 0.0 < figures.killed && figures.killed < 1.0)
    };
    if arms.iter().zip(&out.settings).any(by_old_sizes) {
        out.notes.push(KILLED.to_owned());
    }
    out.notes.extend(unsettled(&out.settings));
    out.notes.push(basis.note(reference, long));
    if !left_out.is_empty() {
        out.notes.push(format!("not simulated yet: {}", left_out.join(", ")));
    }
    out.notes.extend(question.notes.iter().cloned());
    let mut named: Vec<String> = kernels.iter().map(Kernel::named).collect();
    named.dedup();
    out.notes.push(format!("simulated kernel: {} at its limit", named.join("; ")));
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
    touches: &[Compact],
    of: &(Arm, Workload, Kernel),
    (sizes, runs): ((Bytes, Duration), u32),
    basis: Basis<'_>,
    compared: bool,
) -> Result<Option<(Option<Simulated>, Option<Simpler>)>> {
    let Some((setting, lengths)) = prepared(of, sizes, basis)? else { return Ok(None) };
    let (_, workload, _) = of;
    let length = |_: u32, page: u64| lengths.length(page);
    let forecast = forecast::compact(touches, &setting, workload.timeout.0, (workload.seed, runs), length);
    // What simpler models say takes longer than the forecast: asked only where something was measured that both can be held against.
    Ok(Some((forecast, compared.then(|| touches.first().map(|load| rivals::simpler(load, &setting))).flatten())))
}

/// Nanoseconds of a time.
#[must_use]
pub fn ns(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

/// Setting of the simulator, and compressed lengths of pages; `None` for a kind of swap that it has not.
pub fn prepared(
    (arm, workload, kernel): &(Arm, Workload, Kernel),
    (swap, samples_every): (Bytes, Duration),
    basis: Basis<'_>,
) -> Result<Option<(Setting, PageLengths)>> {
    let (to, algorithm) = match &arm.swap {
        SwapKind::None => (SwapTo::Nowhere, None),
        SwapKind::File => (SwapTo::Disk, None),
        SwapKind::Zram { algorithm } => (SwapTo::Zram, Some(algorithm.as_deref().unwrap_or(ALGORITHM))),
        SwapKind::AsConfigured | SwapKind::ZramOverFile { .. } | SwapKind::Zswap => return Ok(None),
    };
    let pages = |bytes: Bytes| bytes.0 / 4096;
    let whole = |n: u64| u32::try_from(n).unwrap_or(u32::MAX);
    let every = ns(samples_every);
    let rounds = calibration::rounds_begin(arm, basis.records, every);
    let flushes = if workload.fresh_statistics {
        Flushes::By(Reads::shared(every, basis.first_read, rounds))
    } else {
        Flushes::Every(ns(STALE))
    };
    let setting = Setting {
        limit: pages(workload.limit),
        // On a machine of its own a pool takes RAM at once.
        beside: (basis.follows && to == SwapTo::Zram).then_some(Follower::beside as _),
        swappiness: arm.swappiness.unwrap_or(60).into(),
        swap: to,
        slots: whole(pages(swap)),
        read_ahead: whole(pages(workload.read_ahead).max(1)),
        cluster: CLUSTER,
        fresh: calibration::fresh(arm, basis.records).unwrap_or(FRESH),
        base: 0,
        flushes,
        costs: basis.costs(algorithm.unwrap_or(ALGORITHM), arm),
        kernel: *kernel,
    };
    Ok(Some((setting, basis.lengths.find(&arm.fill, algorithm, workload.seed)?)))
}

/// That the middle of some settings is not known.
pub(crate) fn unsettled(settings: &[SettingForecast]) -> Option<String> {
    let of = |setting: &SettingForecast| setting.forecast.filter(|figures| figures.unsettled)?.simulations;
    let most = settings.iter().filter_map(of).max()?;
    let names: Vec<&str> =
        settings.iter().filter(|setting| of(setting).is_some()).map(|setting| setting.name.as_str()).collect();
    let names = names.join(", ");
    Some(format!(
        "uncertain: {names}: simulations differ too much for their median to be known to a tenth, even {most} of them; use the range"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::forecast::Figures;

    #[test]
    fn settings_whose_middle_is_not_known_are_named() {
        let of = |name: &str, simulations: usize, unsettled: bool| {
            let figures = Figures { simulations: Some(simulations), unsettled, ..Figures::default() };
            SettingForecast { name: name.to_owned(), forecast: Some(figures), ..SettingForecast::default() }
        };
        assert_eq!(unsettled(&[of("no-swap", 32, false)]), None);
        let note = unsettled(&[of("no-swap", 32, false), of("swap:1", 128, true), of("swap:60", 128, true)]).unwrap();
        assert!(note.starts_with("uncertain: swap:1, swap:60: ") && note.contains(" 128 of them;"), "{note}");
    }
}
