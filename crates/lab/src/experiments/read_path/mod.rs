//! The experiment read-path: which way does a read or a write take through the kernel, and where does its time go?
//!
//! Single calls are recorded by the kernel itself, with the best tracer it has, in a trace instance of our own. What a recording
//! cannot settle is measured beside it: user and system time on a disk's file system and on tmpfs, memory for each byte, the time
//! of a look-up by file size, and where a writer sleeps when it is too fast for its disk.

mod arms;
mod measured;
mod plan;
mod recorded;
mod recorder;

use ramline_gather::hardware;
use ramline_kernel::{place, tracing};

use self::arms::ArmKind;
pub use self::arms::NAME;
use self::plan::{All, CALLS_FILE, FILE, Made, NEW_FILE, ReadPathPlan, TWICE_FILE};
use self::recorder::Tracer;
use crate::prelude::*;

/// The row of the table.
pub const EXPERIMENT: Experiment = Experiment {
    name: NAME,
    question: "Which way does a read or a write take through the kernel, and where does its time go?",
    how: "Single calls, on a disk's file system and on tmpfs, with the page in memory and without, are timed, and then recorded by the \
          kernel itself: every function with its time where the kernel has the function_graph tracer, functions or tracepoints with stacks \
          where it has not. Beside that: user and system time of many calls, memory taken for each byte, the time of a look-up by file size, and \
          where a writer sleeps when it is too fast for its disk.",
    needs: "root, tracefs, a memory cgroup, mke2fs, a directory on a disk",
    reading: include_str!(concat!(env!("OUT_DIR"), "/reading/read-path.md")),
    parameters: &[
        row("arms", Kind::List, Some(arms::DEFAULT), arms::HELP),
        row(
            "tracer",
            Kind::Word(&["auto", "function_graph", "function", "tracepoints"]),
            Some("auto"),
            "How calls are recorded; auto takes the first of these that the kernel has",
        ),
        row(
            "own-file",
            Kind::Path,
            None,
            "A file of yours for disk-read-*: it is read, and dropped from the page cache",
        ),
        row("calls", Kind::Count(100, 10_000_000), Some("1000000"), "Calls in calls-* and lookup:*"),
        row("flood", Kind::Size, Some("128MiB"), "How much is written in disk-flood"),
    ],
    figures: &["call: time", "call: time asleep"],
    child: None,
    study: Study::Paths,
    forecast: None,
    open,
};

fn open(root: &Root, params: &Params) -> Result<PlannedSeries> {
    let plan = ReadPathPlan::from_params(params)?;
    let mut reasons = Vec::new();
    let mut lacks = |text: Option<String>, options: &str| {
        reasons.extend(text.map(|text| Reason::new(text, format!("ramline lab run {NAME} {options}"))));
    };
    let no_tracefs = "this kernel has no tracefs: it cannot record its own functions".to_owned();
    let missing = plan.records() && !tracing::supported(root);
    lacks(missing.then_some(no_tracefs), "--arms calls-disk,calls-tmpfs,lookup:1MiB");
    lacks(tracing::mounted(root).and_then(|at| no_such_tracer(&at, &plan.tracer)), "--tracer auto");
    lacks(plan.file.as_deref().and_then(not_readable), "--own-file /usr/bin/env");
    let needed = Requirements {
        smaller: "--arms disk-read-cold,disk-read-warm",
        root_for: "memory cgroups, loop devices and mounts need root",
        group: true,
        memory: plan.memory(),
        tools: Tool::OWN_FS,
        scratch: plan.disk(),
        ..params.requirements(NAME)
    };
    let found = needed.check(root, reasons)?;
    let (runs, arms, longest_run) = (params.runs(), plan.arms.clone(), Duration::from_secs(30));
    let mut sentences = vec![counted(arms.len(), "settings", runs), found.scratch_sentence(plan.disk())];
    let own = plan.file.iter().map(|file| format!("{} is read, and dropped from the page cache", file.display()));
    sentences.extend(own);
    let text = "the kernel records what one process of ours does, in a trace instance of our own; for those moments every program's \
                calls into the kernel are a little slower";
    let global = plan.records().then(|| text.to_owned()).into_iter().collect();
    let doubts = found.doubts.clone();
    let work = Box::new(ReadPath { plan, found, made: None });
    Ok(PlannedSeries { arms, runs, sentences, global, doubts, longest_run, work })
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

struct ReadPath {
    plan: ReadPathPlan,
    found: Resources,
    made: Option<Made>,
}

impl Series for ReadPath {
    fn prepare(&mut self, bench: &mut Bench<'_>) -> Result<()> {
        let plan = &self.plan;
        bench.progress.step(&format!("making scratch files below {}", self.found.place.dir.display()));
        let dir = scratch::own_dir(&self.found.place.dir, bench.run)?;
        let tmpfs = bench.run.make_dir(&dir.join("tmpfs"))?;
        bench.run.mount_tmpfs(&tmpfs, FILE + CALLS_FILE + TWICE_FILE + NEW_FILE)?;
        let (mut tracefs, mut tracer) = (None, Tracer::Events);
        if plan.records() {
            let at = bench.run.tracefs()?;
            tracer = Tracer::choose(&plan.tracer, &at, bench.run)?;
            tracefs = Some(at);
        }
        let place = &self.found.place.dir;
        let own_fs = |run| OwnFs::create(place, image_size(plan.flood), Bytes::from_kib(128), run);
        let fs = if plan.floods() { Some(own_fs(bench.run)?) } else { None };
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
        let all = All { plan: &self.plan, found: &self.found, made: prepared(&self.made)? };
        let kind = arms::kind(&arm.name).ok_or_else(|| LabError::Workload(format!("no such setting: {}", arm.name)))?;
        self.found.describe_place(record);
        // By hand inside a guest: nobody outside says what its processor is.
        record.emulated = hardware::is_emulated(bench.root);
        record.notes.extend(requirements::settle(bench.root, Duration::ZERO, bench.run)?);
        bench.progress.phase(match kind {
            ArmKind::Recorded(..) => "timing the call, then recording it",
            ArmKind::Flood => "writing faster than the disk may",
            ArmKind::Calls(_) => "many calls in memory",
            ArmKind::Lookup(_) => "reading at random pages",
            ArmKind::Twice(_) => "counting the memory of a file",
        });
        match kind {
            ArmKind::Recorded(call, on) => recorded::run(all, call, on, record, bench)?,
            ArmKind::Flood => measured::flood(all, record, bench)?,
            ArmKind::Calls(on) => measured::calls(all, on, record, bench)?,
            ArmKind::Lookup(size) => measured::lookup(all, size, record, bench)?,
            ArmKind::Twice(on) => {
                self.found.describe(record);
                measured::twice(all, on, record, bench)?;
            }
        }
        record.verdict = Verdict::Completed;
        Ok(())
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
            ReadPathPlan::from_params(&params)
        };
        assert!(with("flood", "4GiB").unwrap_err().to_string().contains("--flood 128MiB"));
        assert_eq!(with("arms", "lookup:1MiB,lookup:64KiB").unwrap().lookup(), Bytes::from_mib(1));
        assert!(!with("arms", "calls-disk").unwrap().floods());
        assert!(not_readable(Path::new("/no/such/file")).unwrap().contains("/no/such/file"));
        assert!(not_readable(Path::new("/proc/self/status")).is_some());
    }
}
