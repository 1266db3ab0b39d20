//! Where a writer sleeps when it is faster than its disk may be: every sleep of it, by the function that put it to sleep, or, where
//! the kernel gives no stacks, by what it had come to just before.
//!
//! The host's limits of dirty memory are left alone: the writer writes to a disk of ours (a loop device), whose own share is set as
//! small as the kernel allows, and held to strictly.

use std::time::Duration;

use ramline_evidence::{Better, Figure, RunRecord};
use ramline_trace::text::sleeps;
use ramline_units::Nanos;

use super::plan::All;
use super::recorder::Recorder;
use crate::experiment::Bench;
use ramline_sandbox::child::{Request, Response, Worker};
use ramline_sandbox::error::{LabError, Result};

const LIMIT: Duration = Duration::from_secs(60);
/// What cp writes in one go.
const PIECE: usize = 128 << 10;

/// Runs the arm.
///
/// # Errors
/// The writer cannot be recorded.
pub fn run(all: All<'_>, record: &mut RunRecord, bench: &mut Bench<'_>) -> Result<()> {
    let lost = |what: &str| LabError::Workload(format!("{what} is not there"));
    let fs = all.made.fs.as_ref().ok_or_else(|| lost("the scratch disk"))?;
    let tracefs = all.made.tracefs.as_ref().ok_or_else(|| lost("tracefs"))?;
    for (knob, value) in [("max_ratio", "1"), ("strict_limit", "1")] {
        let path = fs.device().dirty_knob(knob);
        if path.exists() {
            let change = bench.run.set_knob(&path, value)?;
            record.verified.insert(format!("{knob} of the scratch disk"), change.after.unwrap_or_default());
        }
    }
    let path = fs.at().join("flood");
    if std::fs::exists(&path).unwrap_or(false) {
        std::fs::remove_file(&path).map_err(|error| LabError::file("remove", &path, error))?;
    }
    let mut worker = Worker::start(bench.run, None)?;
    worker.execute(&Request::Open { path, write: true }, LIMIT)?;
    let recorder = Recorder::of_stalls(tracefs, record.order, worker.pid(), bench.run)?;
    let piece = u64::try_from(PIECE).unwrap_or(1);
    let write = Request::Pwrite { at: 0, length: PIECE, times: all.plan.flood.0 / piece, step: piece };
    let mut done = Response::default();
    let (text, clock) = recorder.during(|| {
        done = worker.execute(&write, LIMIT)?;
        Ok(())
    })?;
    let seen = sleeps(&text, worker.pid(), clock);
    let all_of_it: u64 = seen.iter().map(|sleep| sleep.time.0).sum();
    let mut add =
        |name: &str, value: f64, unit: &str, better| record.figures.push(Figure::new(name, value, unit, better));
    add("flood: time", done.took.as_secs_f64(), "s", Better::Lower);
    if done.took.0 > 0 {
        add("flood: rate", done.bytes.as_f64() / done.took.as_secs_f64(), "bytes/s", Better::Higher);
    }
    add("flood: time asleep", Nanos(all_of_it).as_secs_f64(), "s", Better::Lower);
    for sleep in &seen {
        add(&format!("flood: asleep in {}", sleep.place), sleep.time.as_secs_f64(), "s", Better::Lower);
    }
    record.detail = Some(serde_json::json!({
        "sleeps": seen.iter().map(|sleep| serde_json::json!({ "in": sleep.place, "times": sleep.times, "ns": sleep.time.0 })).collect::<Vec<_>>(),
    }));
    Ok(())
}
