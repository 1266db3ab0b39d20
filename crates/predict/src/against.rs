//! Forecast of a measured series: machine and program are taken from it, counts are not.

use ramline_evidence::{Arm, RunRecord, SwapKind, TIMES_AS_LONG, Workload};
use ramline_sim::cost::{Disk, Pace, Spread};
use ramline_sim::kernel::Kernel;
use ramline_sim::load::Overhead;

use crate::apparatus::LOOP_NS;
use crate::basis::{Basis, FIRST_READ};
use crate::calibration;
use crate::error::{PredictError, Result};
use crate::forecast::{Figures, Forecast, Range, RunFigures};
use crate::lengths::Lengths;
use crate::measured::{command, measured};
use crate::pace::{self, PaceBy, Timed};
use crate::question::{Caller, Question, at_once, decoded};
use crate::settings::{first, forecast_settings, ns, prepared};
use crate::workers::Workers;

/// A fill of fewer touches says nothing about a processor.
const FILLED: usize = 256;

/// Foretells what a series measured, setting by setting, with what was measured beside it. Of the series only that is used which says how its machine
/// and program were ([`known`]), which no other day's measurement does.
///
/// # Errors
/// The load is too large to be simulated.
pub fn against(
    question: &Question,
    kernel: Kernel,
    caller: Caller<'_>,
    records: &[RunRecord],
    progress: &mut dyn FnMut(&str),
) -> Result<Forecast> {
    let pages = calibration::overhead_pages(records).unwrap_or(question.overhead.pages);
    let question = &Question { overhead: Overhead { pages, ..question.overhead }, ..question.clone() };
    // A search for paces has a run on each processor.
    let at_once = at_once(question, caller.workers.count, caller.free)?;
    let sizes = (question.swap, question.samples_every);
    let all = decoded(question)?;
    let touches = first(&all)?;
    let arms = &question.arms;
    let [of_work, of_rounds] = [calibration::round_cpu_seconds, calibration::round_seconds]
        .map(|times| calibration::run_spread(arms, records, |arm| times(arm, records)));
    // How long an emulated machine took says how busy the one below it was.
    let of_rounds = if calibration::is_emulated(records) { 1.0 } else { of_rounds };
    let timed = |(arm, workload): &(Arm, Workload), basis: Basis<'_>| {
        let of = (arm.clone(), workload.clone(), kernel);
        let Some((mut setting, lengths)) = prepared(&of, sizes, basis)? else { return Ok(None) };
        // Both differ as they will in the forecast, if the disk's pace is found.
        let processor = basis.spread_beside_a_disk(setting.costs.spread.processor);
        setting.costs.spread = Spread { device: of_rounds, processor, ..setting.costs.spread };
        let length = |_: u32, page: u64| lengths.length(page);
        let draws = (workload.seed, question.runs);
        Ok::<_, PredictError>(Some(Timed::new(touches, setting, workload.timeout.0, draws, length, caller.workers)))
    };
    let found = |by: PaceBy, basis: Basis<'_>, of: Option<(&(Arm, Workload), &[f64])>, spread: f64| {
        let Some((setting, took)) = of else { return Ok(None) };
        let times = timed(setting, basis)?.and_then(|timed| timed.pace(by, took, spread));
        Ok::<_, PredictError>(times.map(|times| Pace { times, spread }))
    };
    let (layer, lengths) = (
        if calibration::is_without_loop(records) { 0.0 } else { LOOP_NS },
        Lengths::for_load(touches, caller.compress),
    );
    let first_read = calibration::first_read(records, ns(question.samples_every)).unwrap_or(FIRST_READ);
    let basis = Basis { layer, follows: true, first_read, records, ..Basis::assumed(question, caller.tiers, &lengths) };
    let by_round = if calibration::is_emulated(records) { PaceBy::EmulatedRound } else { PaceBy::Round };
    let rounds = calibration::round_setting(&question.arms, records);
    let round = rounds.as_ref().map(|(setting, took)| (*setting, took.as_slice()));
    let worked = round.and_then(|(setting, _)| Some((setting, calibration::round_cpu_seconds(&setting.0, records)?)));
    progress("finding the paces of disk and processor");
    let by_work = worked.as_ref().map(|(setting, took)| (*setting, took.as_slice()));
    let of_work = calibration::processor_spread(of_work, round.map(|(setting, _)| &setting.0), arms);
    let mut basis = Basis { processor: found(PaceBy::Work, basis, by_work, of_work)?, by_work: true, ..basis };
    if basis.processor.is_none() {
        let filled = calibration::fill_setting(&question.arms, records).filter(|_| touches.fill.len() >= FILLED);
        let filled = filled.as_ref().map(|(setting, took)| (*setting, took.as_slice()));
        // A fill with swap on a disk waits for its writes, so something is known of the disk first.
        let writes = filled.is_some_and(|((arm, _), _)| arm.swap == SwapKind::File);
        let disk = if writes { found(by_round, basis, round, of_rounds)?.map(Disk::same_pace) } else { None };
        // Fills of other settings wait for swap.
        let spread = filled.map_or(1.0, |(_, took)| pace::spread(took));
        let processor = found(PaceBy::Fill, Basis { disk, ..basis }, filled, spread)?;
        basis = Basis { processor, by_work: false, ..basis };
    }
    let disk = found(by_round, basis, round, of_rounds)?.map(Disk::same_pace);
    let long = round.and_then(|(setting, _)| calibration::page_cost_setting(&question.arms, records, setting));
    let long = long.as_ref().map(|(setting, took)| (*setting, took.as_slice())).filter(|_| by_round == PaceBy::Round);
    let parted = match (disk, round, long) {
        (Some(both), Some((short, short_took)), Some((long, long_took))) => {
            match (timed(short, basis)?, timed(long, basis)?) {
                (Some(short), Some(long)) => pace::parted([&short, &long], [short_took, long_took], both),
                _ => None,
            }
        }
        _ => None,
    };
    let reference = round.map_or("", |((arm, _), _)| arm.name.as_str());
    let by_long = parted.and(long).map(|((arm, _), _)| arm.name.as_str());
    let basis = Basis { disk: parted.or(disk), ..basis };
    let mut out = forecast_settings(
        question,
        &[kernel],
        &all,
        (basis, (reference, by_long)),
        (true, Workers { count: at_once, ..caller.workers }),
        progress,
    )?;
    out.calibrated = true;
    beside(&mut out, records);
    Ok(out)
}

/// Puts what runs of the command itself measured beside the forecast of its recording, at the limit of the runs.
pub fn beside_recording(forecast: &mut Forecast, records: &[RunRecord]) {
    for setting in &mut forecast.settings {
        let (limit, name) = (setting.limit, setting.short_name());
        let of_it: Vec<&RunRecord> =
            records.iter().filter(|record| record.workload.limit == limit && record.arm.name == name).collect();
        let runs: Vec<RunFigures> = of_it.iter().filter_map(|record| command(record)).collect();
        let times = of_it.iter().flat_map(|record| &record.figures).filter(|figure| figure.name == TIMES_AS_LONG);
        let times = times.map(|figure| figure.value).collect();
        setting.runs = u32::try_from(runs.len()).unwrap_or(u32::MAX);
        setting.measured =
            Figures::from_runs(&runs).map(|figures| Figures { slower: Range::from_values(times), ..figures });
    }
}

/// Puts the measurements of a series beside the forecast, setting by setting.
fn beside(forecast: &mut Forecast, records: &[RunRecord]) {
    if let Some(machine) = records.first().map(|record| &record.machine) {
        let (kernel, version) = (&machine.kernel, machine.cgroup_version);
        forecast.notes.push(format!("measured: on Linux {kernel} in a cgroup v{version}"));
    }
    for setting in &mut forecast.settings {
        let runs: Vec<RunFigures> =
            records.iter().filter(|record| record.arm.name == setting.name).filter_map(measured).collect();
        setting.runs = u32::try_from(runs.len()).unwrap_or(u32::MAX);
        setting.measured = Figures::from_runs(&runs);
    }
}

#[cfg(test)]
mod tests {
    use ramline_evidence::Verdict as Ended;

    use super::*;
    use crate::forecast::SettingForecast;

    #[test]
    fn what_a_series_measured_stands_beside_the_forecast_with_its_place() {
        let mut record = RunRecord { verdict: Ended::Completed, fraction: 2.0, ..RunRecord::default() };
        record.arm.name = "swap:60".to_owned();
        (record.machine.kernel, record.machine.cgroup_version) = ("6.12.1".to_owned(), 2);
        (record.reclaim.swap_in, record.reclaim.refault_file, record.reclaim.major_faults) = (Some(8), Some(6), 4);
        let figures = Some(Figures::default());
        let name = "swap:60".to_owned();
        let settings = vec![SettingForecast { name, forecast: figures, ..SettingForecast::default() }];
        let mut forecast = Forecast { settings, ..Forecast::default() };
        beside(&mut forecast, &[record]);
        let setting = forecast.settings.remove(0);
        let major = setting.measured.and_then(|figures| figures.major).map(|range| range.median);
        assert_eq!((setting.forecast, major), (figures, Some(2.0)));
        assert_eq!(forecast.notes, ["measured: on Linux 6.12.1 in a cgroup v2"]);
    }
}
