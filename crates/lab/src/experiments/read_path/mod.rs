//! The experiment read-path: which way does a read or a write take through the kernel, and where does its time go?
//!
//! Single calls are recorded by the kernel itself, with the best tracer it has, in a trace instance of our own. What a recording
//! cannot settle is measured beside it: user and system time on a disk's file system and on tmpfs, memory for each byte, the time
//! of a look-up by file size, and where a writer sleeps when it is too fast for its disk.

mod arms;
mod flood;
mod measured;
mod plan;
mod recorded;
mod recorder;

use std::path::Path;
use std::time::Duration;

use ramline_evidence::{Arm, RunRecord, Verdict};
use ramline_gather::hardware;
use ramline_kernel::{Root, place, tracing};
use ramline_units::Bytes;

use self::arms::Kind;
pub use self::arms::NAME;
use self::plan::{All, CALLS_FILE, FILE, Made, NEW_FILE, Plan, TWICE_FILE};
use self::recorder::Tracer;
use crate::experiment::{Bench, Experiment, Series};
use crate::params::{self, Params, row};
use ramline_sandbox::error::{LabError, Result, first_line};
use ramline_sandbox::own_fs::{OwnFs, image_size};
use ramline_sandbox::requirements::{self, Caller, Reason, Requirements, Resources, Tool};
use ramline_sandbox::scratch;

/// The row of the table.
pub const EXPERIMENT: Experiment = Experiment {
    name: NAME,
    question: "Which way does a read or a write take through the kernel, and where does its time go?",
    how: "Single calls, on a disk's file system and on tmpfs, with the page in memory and without, are timed, and then recorded by the \
          kernel itself: every function with its time where the kernel has the function_graph tracer, functions or tracepoints with stacks \
          where it has not. Beside that: user and system time of many calls, memory taken for each byte, the time of a look-up by file size, and \
          where a writer sleeps when it is too fast for its disk.",
    needs: "root, tracefs, a memory cgroup, mke2fs, a directory on a disk",
    docs: "docs/experiments/read-path.md",
    page: include_str!("../../../../../docs/experiments/read-path.md"),
    parameters: &[
        row("arms", params::Kind::List, Some(arms::DEFAULT), arms::HELP),
        row(
            "tracer",
            params::Kind::Word(&["auto", "function_graph", "function", "tracepoints"]),
            Some("auto"),
            "How calls are recorded; auto takes the first of these that the kernel has",
        ),
        row(
            "own-file",
            params::Kind::Path,
            None,
            "A file of yours for disk-read-*: it is read, and dropped from the page cache",
        ),
        row("calls", params::Kind::Count(100, 10_000_000), Some("1000000"), "Calls in calls-* and lookup:*"),
        row("flood", params::Kind::Size, Some("128MiB"), "How much is written in disk-flood"),
    ],
    figures: &["call: time", "call: time asleep"],
    open,
};

fn open(root: &Root, params: &Params) -> Result<Box<dyn Series>> {
    let plan = Plan::of(params)?;
    let mut reasons = Vec::new();
    let recorded = plan.kinds().any(|kind| matches!(kind, Kind::Recorded(..) | Kind::Flood));
    if recorded && !tracing::supported(root) {
        let text = "this kernel has no tracefs: it cannot record its own functions";
        reasons.push(Reason::new(text, format!("ramline lab run {NAME} --arms calls-disk,calls-tmpfs,lookup:1MiB")));
    }
    if let Some(text) = tracing::mounted(root).and_then(|at| no_such_tracer(&at, &plan.tracer)) {
        reasons.push(Reason::new(text, format!("ramline lab run {NAME} --tracer auto")));
    }
    reasons.extend(plan.file.as_deref().and_then(|file| {
        not_readable(file).map(|text| Reason::new(text, format!("ramline lab run {NAME} --own-file /usr/bin/env")))
    }));
    let (command, dir) = (format!("ramline lab run {NAME}"), params.path("dir"));
    let needed = Requirements {
        caller: Caller { command: &command, smaller: "--arms disk-read-cold,disk-read-warm", ..Caller::default() },
        root_for: "memory cgroups, loop devices and mounts need root",
        group: true,
        memory: plan.memory(),
        tools: Tool::OWN_FS,
        scratch: plan.disk(),
        dir: dir.as_deref(),
        allow_busy: params.switch("allow-busy"),
        ..Requirements::default()
    };
    let found = needed.check(root, reasons)?;
    Ok(Box::new(ReadPath { plan, found, made: None }))
}

fn no_such_tracer(tracefs: &Path, wanted: &str) -> Option<String> {
    let there = tracing::tracers(tracefs).ok()?;
    let missing = Tracer::candidates(wanted, &there).is_empty();
    missing.then(|| format!("this kernel has no tracer {wanted}; it has {}", there.join(", ")))
}

/// What is wrong with a file of the user's.
fn not_readable(file: &Path) -> Option<String> {
    let meta = match std::fs::metadata(file) {
        Ok(meta) => meta,
        Err(error) => return Some(format!("{}: {error}", file.display())),
    };
    if !meta.is_file() || meta.len() < 4096 {
        return Some(format!("{} is no file of at least 4 KiB", file.display()));
    }
    let dir = file.parent()?;
    let place = place::describe(dir).and_then(|place| place.refuse_unless_disk("record reads of a file in"));
    place.err().map(|error| first_line(&error.to_string()))
}

#[derive(Debug)]
struct ReadPath {
    plan: Plan,
    found: Resources,
    made: Option<Made>,
}

impl Series for ReadPath {
    fn arms(&self) -> &[Arm] {
        &self.plan.arms
    }

    fn runs(&self) -> u32 {
        self.plan.runs
    }

    fn lines(&self) -> Vec<String> {
        let (plan, place) = (&self.plan, &self.found.place);
        let runs = plan.arms.len() * usize::try_from(plan.runs).unwrap_or(usize::MAX);
        let mut lines = vec![
            format!("{runs} runs: {} settings, {} times each, interleaved", plan.arms.len(), plan.runs),
            format!("scratch: {} below {} ({}), removed afterwards", plan.disk(), place.dir.display(), place.fs_type),
        ];
        lines.extend(
            plan.file.iter().map(|file| format!("{} is read, and dropped from the page cache", file.display())),
        );
        lines.extend(self.global().iter().map(|what| format!("outside the sandbox: {what}")));
        lines.extend(self.found.doubts.iter().map(|what| format!("doubt: {what}")));
        lines
    }

    fn global(&self) -> Vec<String> {
        let recorded = self.plan.kinds().any(|kind| matches!(kind, Kind::Recorded(..) | Kind::Flood));
        let text = "the kernel records what one process of ours does, in a trace instance of our own; for those moments every program's \
                    calls into the kernel are a little slower";
        if recorded { vec![text.to_owned()] } else { Vec::new() }
    }

    fn longest_run(&self) -> Duration {
        Duration::from_secs(30)
    }

    fn prepare(&mut self, bench: &mut Bench<'_>) -> Result<()> {
        let plan = &self.plan;
        bench.progress.step(&format!("making scratch files below {}", self.found.place.dir.display()));
        let dir = scratch::own_dir(&self.found.place.dir, bench.run)?;
        let tmpfs = bench.run.make_dir(&dir.join("tmpfs"))?;
        bench.run.mount_tmpfs(&tmpfs, FILE + CALLS_FILE + TWICE_FILE + NEW_FILE)?;
        let recorded = plan.kinds().any(|kind| matches!(kind, Kind::Recorded(..) | Kind::Flood));
        let (mut tracefs, mut tracer) = (None, Tracer::Events);
        if recorded {
            let at = bench.run.tracefs()?;
            tracer = Tracer::choose(&plan.tracer, &at, bench.run)?;
            tracefs = Some(at);
        }
        let fs = match plan.floods() {
            true => {
                Some(OwnFs::create(&self.found.place.dir, image_size(plan.flood), Bytes::from_kib(128), bench.run)?)
            }
            false => None,
        };
        for (name, size) in [("recorded", FILE), ("calls", CALLS_FILE), ("lookup", plan.lookup())] {
            if size > Bytes::ZERO {
                bench.run.make_file(&dir.join(name), |file| scratch::fill(file, size))?;
            }
        }
        for (name, size) in [("recorded", FILE), ("calls", CALLS_FILE)] {
            // In the mounted tmpfs, which takes them with it.
            scratch::new_file(&tmpfs.join(name), size)?;
        }
        self.made = Some(Made { dir, tmpfs, tracefs, tracer, fs });
        Ok(())
    }

    fn once(&mut self, arm: &Arm, record: &mut RunRecord, bench: &mut Bench<'_>) -> Result<()> {
        let made =
            self.made.as_ref().ok_or_else(|| LabError::Workload("the scratch place is not prepared".to_owned()))?;
        let kind = arms::kind(&arm.name).ok_or_else(|| LabError::Workload(format!("no such setting: {}", arm.name)))?;
        self.found.describe_place(record);
        // By hand inside a guest: nobody outside says what its processor is.
        record.emulated = hardware::is_emulated(bench.root);
        record.notes.extend(requirements::settle(bench.root, Duration::ZERO, bench.run)?);
        bench.progress.phase(match kind {
            Kind::Recorded(..) => "timing the call, then recording it",
            Kind::Flood => "writing faster than the disk may",
            Kind::Calls(_) => "many calls in memory",
            Kind::Lookup(_) => "reading at random pages",
            Kind::Twice(_) => "counting the memory of a file",
        });
        match kind {
            Kind::Recorded(call, on) => recorded::run(self.all(made), call, on, record, bench)?,
            Kind::Flood => flood::run(self.all(made), record, bench)?,
            Kind::Calls(on) => measured::calls(self.all(made), on, record, bench)?,
            Kind::Lookup(size) => measured::lookup(self.all(made), size, record, bench)?,
            Kind::Twice(on) => {
                self.found.describe(record);
                measured::twice(self.all(made), on, record, bench)?;
            }
        }
        record.verdict = Verdict::Completed;
        Ok(())
    }
}

impl ReadPath {
    fn all<'a>(&'a self, made: &'a Made) -> All<'a> {
        All { plan: &self.plan, found: &self.found, made }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_done_is_refused_before_anything_is_made() {
        let with = |name: &str, value: &str| {
            let mut params = EXPERIMENT.defaults();
            params.set(&EXPERIMENT.table(), name, vec![value.to_owned()]).unwrap();
            Plan::of(&params)
        };
        assert!(with("flood", "4GiB").unwrap_err().to_string().contains("--flood 128MiB"));
        assert_eq!(with("arms", "lookup:1MiB,lookup:64KiB").unwrap().lookup(), Bytes::from_mib(1));
        assert!(!with("arms", "calls-disk").unwrap().floods());
        assert!(not_readable(Path::new("/no/such/file")).unwrap().contains("/no/such/file"));
        assert!(not_readable(Path::new("/proc/self/status")).is_some());
    }
}
