//! The workload of code-plus-data: this binary again, inside the sandbox.
//!
//! A file stands for program code: mapped read-only and shared. Anonymous memory stands for data. The data is filled
//! first; what is read then is said by the generator, the same that a simulator is given.

use ramline_trace::generate::{CodePlusData, Load};

use super::report::WorkTask;
use crate::limited::report::WorkReport;
use crate::limited::work::{self, Brake, Rounds, Target, now, send};
use crate::prelude::*;

/// Does the task.
///
/// # Errors
/// Memory or the code cannot be mapped, or the supervisor is gone.
pub fn work(task: Value) -> Result<()> {
    let task: &WorkTask = &child::task(task)?;
    let (workload, load) = (&task.workload, Load::CodePlusData(load(&task.workload)));
    // What it touches with is made and locked before it reports: it is the same in every run, and added to the limit.
    let (touches, buffer, mut filler) = (load.rounds(), work::buffer(&load), Filler::new(task.fill, workload.seed));
    let mut brake = Brake::new(task.hold.as_deref())?;
    process::lock_present()?;
    child::report_and_wait(&now(WorkReport::default())?)?;
    let code = scratch::map(&task.code)?;
    // First-touch charging: this read charges the first window of the file to the sandbox.
    let first = u64::from(code.touch_read(0)?);
    send(WorkReport { phase: Phase::Map, checksum: first, took: Some(Nanos(0)), ..WorkReport::default() })?;

    let mut ballast = region(task, workload.ballast_units)?;
    let Some(mut data) = region(task, workload.data_units)? else {
        return Err(LabError::usage("no data to work on", "ramline lab run code-plus-data --unit 32MiB"));
    };
    // Ballast first, as programs that were there before; then the data.
    let total = units(task, workload.data_units + workload.ballast_units);
    let took = work::fill(ballast.iter_mut().chain([&mut data]), total, &mut filler, &mut brake)?;
    let filled =
        WorkReport { phase: Phase::Fill, fraction: 1.0, took: Some(took), held: brake.held, ..WorkReport::default() };
    send(filled)?;
    let rounds = Rounds { load: &load, touches, fill: task.fill, buffer, timeout: workload.timeout };
    let mut targets = [code, data].map(|map| Target { map, file: None });
    let mut last = rounds.run(&mut targets, &mut brake)?;
    if !last.timed_out {
        last.ballast_resident = ballast.as_ref().and_then(resident);
    }
    // The last counters are read while the memory is still ours.
    child::report_and_wait(&now(last)?)?;
    // It was there in all rounds.
    drop(filler);
    Ok(())
}

/// The touches of a workload.
#[must_use]
pub fn load(workload: &ramline_evidence::Workload) -> CodePlusData {
    CodePlusData {
        unit: workload.unit.0,
        code: workload.code_units,
        data: workload.data_units,
        rounds: workload.rounds,
        seed: workload.seed,
        shared: workload.shared,
    }
}

fn units(task: &WorkTask, count: u32) -> Bytes {
    Bytes(task.workload.unit.0.saturating_mul(u64::from(count)))
}

fn region(task: &WorkTask, count: u32) -> Result<Option<Map>> {
    let sharing = if task.workload.shared { Sharing::Shared } else { Sharing::Private };
    (count > 0).then(|| small_pages(units(task, count), sharing)).transpose()
}

/// The share of a mapping that is resident.
fn resident(map: &Map) -> Option<f64> {
    let pages = u64::try_from(map.len()).ok()? / process::page_size();
    Some(map.resident_pages().ok()? as f64 / pages.max(1) as f64)
}
