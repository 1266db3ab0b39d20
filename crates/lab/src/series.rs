//! Running a series: recover what dead runs left, journal, arms interleaved, each record on disk before anything is concluded.
//!
//! What it is: the same for every experiment. What it is not: patient with clean-up that fails: that is the error, whatever
//! else happened. A series that was interrupted is resumed: runs that have a record are not made again.

use std::collections::BTreeSet;

use ramline_act::{ActError, RunLock, clean_up};
use ramline_kernel::signals;

use crate::prelude::*;
use crate::store::{Header, RunFolder};

/// Whether the reader agreed to what [`PlannedSeries::global`] lists: by answering, or with `--prove`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Consent {
    /// Nobody was asked, or the answer was no.
    NotGiven,
    /// Agreed.
    Given,
}

/// Where a series happens.
#[derive(Debug)]
pub struct Env<'a> {
    /// The live machine.
    pub root: &'a Root,
    /// One ramline at a time; also where state is kept.
    pub lock: &'a RunLock,
    /// When all must be over; runs that cannot end by then are not begun.
    pub deadline: Option<Instant>,
    /// Fault injection for tests: die after so many journal records.
    pub crash_after: Option<u64>,
}

/// What a series is called and was asked for.
#[derive(Debug, Clone)]
pub struct Order<'a> {
    /// The experiment.
    pub experiment: &'a Experiment,
    /// Its parameters, for the records and for resuming.
    pub params: &'a Params,
    /// The folder of an interrupted series that is gone on with.
    pub resume: Option<&'a RunFolder>,
}

/// Result of a series.
#[derive(Debug)]
pub struct SeriesResult {
    /// The raw records; `None` when there was time for none.
    pub folder: Option<RunFolder>,
    /// The arms of the runs that were not begun for lack of time.
    pub out_of_time: Vec<String>,
    /// What ended it early; the records that were made by then say what they say.
    pub ended: Option<LabError>,
}

/// Runs all arms, interleaved. Call it from a thread that lives until it returns: workloads are tied to the thread.
///
/// # Errors
/// No consent where it is needed; setting up failed; SIGINT or SIGTERM came. Everything made is undone in every case, and
/// records written so far stay; what cannot be undone is the error, `CleanUp`, whatever else happened.
pub fn run(
    env: &Env<'_>,
    order: &Order<'_>,
    series: &mut PlannedSeries,
    consent: Consent,
    progress: &mut dyn Progress,
) -> Result<SeriesResult> {
    if !series.global.is_empty() && consent == Consent::NotGiven {
        let reasons = series.global.iter().map(|what| format!("not agreed to: {what}")).collect();
        return Err(LabError::refused(reasons, order.experiment.line(order.params, &["--prove"])));
    }
    for removed in clean_up(env.lock, env.root)? {
        progress.step(&removed);
    }
    let mut run = Run::begin(env.lock, env.root, env.crash_after)?;
    let outcome = all(env, order, series, &mut run, progress);
    progress.step("putting everything back");
    ended(outcome, run.finish(), signals::interrupted())
}

/// What counts at the end: first whether everything was put back, then whether a signal ended it, then its own error.
fn ended<T>(outcome: Result<T>, put_back: ramline_act::Result<()>, interrupted: bool) -> Result<T> {
    match (outcome, put_back) {
        (outcome, Err(left)) => Err(LabError::CleanUp { left, outcome: outcome.err().map(Box::new) }),
        (Err(LabError::Act(ActError::Interrupted { .. })), Ok(())) => Err(LabError::Interrupted),
        // A workload that a signal of the terminal has ended is not a failure of its own.
        (Err(_), Ok(())) if interrupted => Err(LabError::Interrupted),
        (outcome, Ok(())) => outcome,
    }
}

fn all(
    env: &Env<'_>,
    order: &Order<'_>,
    series: &mut PlannedSeries,
    run: &mut Run,
    progress: &mut dyn Progress,
) -> Result<SeriesResult> {
    let mut done = SeriesResult { folder: order.resume.cloned(), out_of_time: Vec::new(), ended: None };
    let made = made(order)?;
    if let Some(folder) = order.resume {
        series.work.recall(&folder.read()?.records);
    }
    series.work.prepare(&mut Bench { root: env.root, run, progress, deadline: env.deadline })?;
    let machine = observe::machine(env.root);
    let places = arm::interleaved(series.arms.len(), series.runs);
    let total = if series.work.is_search() { 0 } else { u32::try_from(places.len()).unwrap_or(u32::MAX) };
    for (number, (repetition, index)) in (0u32..).zip(places) {
        let Some(arm) = series.arms.get(index).cloned() else { continue };
        run.check_interrupted()?;
        if series.work.is_over() {
            break;
        }
        if made.contains(&number) {
            continue;
        }
        if env.deadline.is_some_and(|end| end.saturating_duration_since(Instant::now()) < series.longest_run) {
            done.out_of_time.push(arm.name.clone());
            continue;
        }
        progress.begin(number, total, &arm.name);
        let mark = run.mark();
        let mut record = RunRecord {
            format: ramline_evidence::FORMAT,
            experiment: order.experiment.name.to_owned(),
            repetition,
            order: number,
            started_unix_ms: unix_ms(),
            machine: machine.clone(),
            arm: arm.clone(),
            parameters: order.params.all().clone(),
            ..RunRecord::default()
        };
        let mut bench = Bench { root: env.root, run, progress, deadline: env.deadline };
        let outcome = series.work.once(&arm, &mut record, &mut bench);
        if outcome.is_ok() {
            // Written before anything is concluded from it, and before anything else can fail.
            keep(env, order, &mut done.folder, &record)?;
            progress.end(&record);
        }
        match ended(outcome, run.undo_to(mark), false) {
            // What was found until then is not lost.
            Err(error) if done.folder.is_some() && !error.is_interruption() => {
                done.ended = Some(error.after(records_in(done.folder.as_ref())));
                break;
            }
            other => other?,
        }
    }
    Ok(done)
}

/// How many runs there are in a folder.
fn records_in(folder: Option<&RunFolder>) -> usize {
    folder.and_then(|folder| folder.read().ok()).map_or(0, |contents| contents.records.len())
}

/// Places of the runs that have a record already.
fn made(order: &Order<'_>) -> Result<BTreeSet<u32>> {
    let Some(folder) = order.resume else { return Ok(BTreeSet::new()) };
    Ok(folder.read()?.records.iter().map(|record| record.order).collect())
}

/// The folder is made with its first record: a series that never came so far leaves none.
fn keep(env: &Env<'_>, order: &Order<'_>, folder: &mut Option<RunFolder>, record: &RunRecord) -> Result<()> {
    let folder = match folder {
        Some(folder) => folder,
        None => {
            let made = RunFolder::create(env.lock.state().path(), order.experiment.name, unix_ms())?;
            made.write_header(&Header::new(order.experiment.name, order.params))?;
            folder.insert(made)
        }
    };
    folder.write(record).map(drop)
}

/// Milliseconds since 1970.
pub(crate) fn unix_ms() -> u64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use ramline_kernel::KernelError;

    fn stuck() -> ActError {
        ActError::Undo { errors: vec![KernelError::unsupported("unmount", "/x/mnt", "it is busy")] }
    }

    #[test]
    fn only_when_everything_was_put_back_may_a_run_say_so() {
        let signal = || Err::<(), _>(LabError::Act(ActError::Interrupted { signal: 2 }));
        let text = |result: Result<()>| result.unwrap_err().to_string();
        assert!(text(ended(signal(), Ok(()), true)).contains("everything was put back"));
        let failed = text(ended(signal(), Err(stuck()), true));
        assert!(failed.contains("unmount /x/mnt") && !failed.contains("everything was put back"), "{failed}");
    }

    #[test]
    fn a_clean_up_that_failed_is_the_error_whatever_else_happened() {
        let is_clean_up = |result: Result<()>| matches!(result, Err(LabError::CleanUp { .. }));
        assert!(is_clean_up(ended(Ok(()), Err(stuck()), false)));
        assert!(is_clean_up(ended(Err(LabError::Workload("no".to_owned())), Err(stuck()), false)));
        assert!(ended(Ok(()), Ok(()), false).is_ok());
    }

    #[test]
    fn a_workload_ended_by_a_signal_is_an_interruption_and_not_its_failure() {
        let broken = || Err::<(), _>(LabError::Workload("broken pipe".to_owned()));
        assert!(matches!(ended(broken(), Ok(()), true), Err(LabError::Interrupted)));
        assert!(matches!(ended(broken(), Ok(()), false), Err(LabError::Workload(_))));
    }
}
