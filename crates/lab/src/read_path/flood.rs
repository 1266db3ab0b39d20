//! Where a writer sleeps when it is faster than its disk may be: every sleep of it, by the function that put it to sleep, or, where
//! the kernel gives no stacks, by what it had come to just before.
//!
//! The host's limits of dirty memory are left alone: the writer writes to a disk of ours (a loop device), whose own share is set as
//! small as the kernel allows, and held to strictly.

use std::time::Duration;

use ramline_evidence::{Better, Figure, RunRecord};
use ramline_units::Nanos;

use super::All;
use super::parse;
use super::recorder::Recorder;
use crate::error::{LabError, Result};
use crate::experiment::Bench;
use crate::servant::{Done, Job, Servant};

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
    let mut servant = Servant::start(bench.run, None)?;
    servant.ask(&Job::Open { path, write: true }, LIMIT)?;
    let recorder = Recorder::of_stalls(tracefs, record.order, servant.pid(), bench.run)?;
    let piece = u64::try_from(PIECE).unwrap_or(1);
    let write = Job::Pwrite { at: 0, length: PIECE, times: all.plan.flood.0 / piece, step: piece };
    let mut done = Done::default();
    let (text, clock) = recorder.during(|| {
        done = servant.ask(&write, LIMIT)?;
        Ok(())
    })?;
    let seen = parse::sleeps(&text, servant.pid(), clock);
    let all_of_it: u64 = seen.iter().map(|(_, _, time)| time.0).sum();
    let mut add =
        |name: &str, value: f64, unit: &str, better| record.figures.push(Figure::new(name, value, unit, better));
    add("flood: time", done.took.as_secs_f64(), "s", Better::Lower);
    if done.took.0 > 0 {
        add("flood: rate", done.bytes.as_f64() / done.took.as_secs_f64(), "bytes/s", Better::Higher);
    }
    add("flood: time asleep", Nanos(all_of_it).as_secs_f64(), "s", Better::Lower);
    for (name, _, time) in &seen {
        add(&format!("flood: asleep in {name}"), time.as_secs_f64(), "s", Better::Lower);
    }
    record.detail = Some(serde_json::json!({
        "sleeps": seen.iter().map(|(name, times, time)| serde_json::json!({ "in": name, "times": times, "ns": time.0 })).collect::<Vec<_>>(),
    }));
    Ok(())
}
