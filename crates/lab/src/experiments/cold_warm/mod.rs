//! The experiment cold-warm: a command, or the reading of a file, with its files out of the page cache and in it.
//!
//! Only the files concerned are evicted, never the whole cache of the machine, and before each run the state is proven. What it
//! is not: cold below the page cache. The cache of the drive, that of a hypervisor, and names and inodes stay as they are.

mod reading;

use std::path::PathBuf;
use std::time::Duration;

use ramline_evidence::{Arm, RunRecord, Verdict};
use ramline_kernel::Root;
use ramline_kernel::cgroup::Hierarchy;
use ramline_kernel::place::Place;
use ramline_units::Bytes;

use crate::experiment::{Bench, Experiment, Series};
use crate::fileset::{FileSet, State, Trace, Warmth};
use crate::params::{COMMAND, Kind, Params, row};
use ramline_sandbox::child::command::{self, CommandRun, Ran};
use ramline_sandbox::error::{LabError, Result};
use ramline_sandbox::requirements::{self, Caller, Check, Lack, Reason, is_unprivileged};
use ramline_sandbox::{group, observe, scratch};

/// Its name on the command line and in records.
pub const NAME: &str = "cold-warm";

/// The row of the table.
pub const EXPERIMENT: Experiment = Experiment {
    name: NAME,
    question: "How much slower is a command, or the reading of a file, when its files are not in the page cache?",
    how: "The command is run once to see which files it and its children open, then once more from cold to see which pages of \
          them it needs. Before each timed run exactly those pages are evicted, half of them brought in, or all, and the page cache \
          is asked whether that is so. With --file or --size a file is read from its beginning to its end instead.",
    needs: "for a command: root (to see which files it opens), or a list of its files; for a file: one that is ours; a disk",
    docs: "docs/experiments/cold-warm.md",
    page: include_str!("../../../../../docs/experiments/cold-warm.md"),
    parameters: &[
        COMMAND,
        row("file", Kind::Path, None, "Read this file instead of running a command"),
        row("size", Kind::Size, None, "Read a scratch file of this size, random bytes, instead"),
        row("files", Kind::Path, None, "The command's files, one name a line, instead of finding them"),
        row(
            "arms",
            Kind::List,
            None,
            "Settings, comma-separated: warm, half-warm, cold, and of a file fresh (just written). Left out: all that are possible",
        ),
        row("timeout", Kind::Time, Some("60s"), "The most time a run gets"),
    ],
    figures: &["wall", "user", "system", "CPU time"],
    open,
};

/// What is run.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Subject {
    Command { argv: Vec<String>, list: Option<PathBuf> },
    File(PathBuf),
    Size(Bytes),
}

/// A series of cold-warm.
#[derive(Debug)]
struct ColdWarm {
    subject: Subject,
    arms: Vec<Arm>,
    runs: u32,
    timeout: Duration,
    place: Option<Place>,
    hierarchy: Option<Hierarchy>,
    doubts: Vec<String>,
    // From here on: of the set-up.
    files: FileSet,
    file: PathBuf,
}

fn open(root: &Root, params: &Params) -> Result<Box<dyn Series>> {
    let subject = subject(params)?;
    let is_command = matches!(subject, Subject::Command { .. });
    let arms = arms(params.list("arms"), is_command)?;
    let command = format!("ramline lab run {NAME}");
    let mut check = Check::new(root, Caller { command: &command, smaller: "--size 200MiB", ..Caller::default() });
    if let Subject::Command { argv, list } = &subject {
        let program = argv.first().map(String::as_str).unwrap_or_default();
        check.extend(command::find(program).is_none().then(|| Reason::no_program(program)));
        if list.is_none() && is_unprivileged() {
            let text = "seeing which files a command opens needs root";
            check.extend([Reason::privilege(text, format!("sudo {command} -- {}", argv.join(" ")))]);
        }
        check.panics();
    }
    let size = match &subject {
        Subject::Size(size) => Some(*size),
        Subject::File(path) if arms.iter().any(|arm| arm.name == "fresh") => {
            Some(Bytes(std::fs::metadata(path).map_err(|error| LabError::file("look at", path, error))?.len()))
        }
        _ => None,
    };
    if let Subject::File(path) = &subject {
        FileSet::of_files(std::slice::from_ref(path))?;
    }
    // Twice that: the file, and the one just written beside it.
    let place = size.and_then(|size| check.place(size + size, params.path("dir").as_deref(), false));
    if let Some(size) = size {
        // A file larger than what memory can hold is never warm.
        let most = requirements::headroom(root)?;
        if size + size > most {
            let text =
                format!("memory: {} needed to hold the file twice in the page cache, {most} can be taken", size + size);
            check.lacks(Lack::Memory, text);
        }
    }
    let doubts = check.busy(params.switch("allow-busy"))?;
    check.conclude(Some(()))?;
    Ok(Box::new(ColdWarm {
        arms,
        runs: params.count("runs").and_then(|n| u32::try_from(n).ok()).unwrap_or(7),
        timeout: params.time("timeout").unwrap_or(Duration::from_secs(60)),
        place,
        // Without one nothing holds a command's children together, and all works the same.
        hierarchy: Hierarchy::detect(root).ok().filter(|_| is_command && !is_unprivileged()),
        doubts,
        files: FileSet::default(),
        file: match &subject {
            Subject::File(path) => path.clone(),
            _ => PathBuf::new(),
        },
        subject,
    }))
}

fn subject(params: &Params) -> Result<Subject> {
    let argv = params.list("command").to_vec();
    let example = format!("ramline lab run {NAME} -- python3 -c 'print(1)'");
    match (argv.is_empty(), params.path("file"), params.size("size"), params.path("files")) {
        (false, None, None, list) => Ok(Subject::Command { argv, list }),
        (true, Some(path), None, None) => Ok(Subject::File(path)),
        (true, None, Some(size), None) if size >= Bytes::from_kib(64) => Ok(Subject::Size(size)),
        (true, None, Some(size), None) => Err(LabError::usage(
            format!("--size {size} is below 64 KiB: too little to time"),
            format!("ramline lab run {NAME} --size 200MiB"),
        )),
        (true, None, None, _) => Err(LabError::usage("neither a command nor --file nor --size was given", example)),
        _ => Err(LabError::usage(
            "a command, --file and --size exclude each other, and --files belongs to a command",
            example,
        )),
    }
}

fn arms(asked: &[String], is_command: bool) -> Result<Vec<Arm>> {
    const ALL: [&str; 4] = ["warm", "fresh", "half-warm", "cold"];
    let possible: Vec<&str> = ALL.into_iter().filter(|name| !is_command || *name != "fresh").collect();
    let asked: Vec<&str> = if asked.is_empty() { possible.clone() } else { asked.iter().map(String::as_str).collect() };
    let mut out: Vec<Arm> = Vec::new();
    for name in asked {
        if !possible.contains(&name) {
            let why =
                if name == "fresh" { "is for files: a command's files are not written anew" } else { "is unknown" };
            let message = format!("setting '{}' {why}; there are {}", name.escape_debug(), possible.join(", "));
            return Err(LabError::usage(message, format!("ramline lab run {NAME} --arms warm,cold")));
        }
        if out.iter().all(|arm| arm.name != name) {
            out.push(Arm::named(name, &[("page cache", name)]));
        }
    }
    Ok(out)
}

impl Series for ColdWarm {
    fn arms(&self) -> &[Arm] {
        &self.arms
    }

    fn runs(&self) -> u32 {
        self.runs
    }

    fn lines(&self) -> Vec<String> {
        let names: Vec<&str> = self.arms.iter().map(|arm| arm.name.as_str()).collect();
        let mut lines = vec![format!(
            "{} runs: {}, {} times each, interleaved",
            names.len() * self.runs as usize,
            names.join(", "),
            self.runs
        )];
        lines.push(match &self.subject {
            Subject::Command { argv, .. } => format!(
                "the command is run {} times more to see what it needs; it runs as user {}: {}",
                if self.searches() { 2 } else { 1 },
                ramline_kernel::process::uid(),
                argv.join(" ")
            ),
            Subject::File(path) => format!("reading {}", path.display()),
            Subject::Size(size) => format!("reading a scratch file of {size}"),
        });
        if let Some(place) = &self.place {
            lines.push(format!("scratch: below {} ({}), removed afterwards", place.dir.display(), place.fs_type));
        }
        lines.push(
            "only the files concerned are written back and evicted; who else uses them reads them again".to_owned(),
        );
        lines.push(
            "not excluded by cold: caches of the drive and of a hypervisor; names and inodes stay cached".to_owned(),
        );
        lines.extend(self.doubts.iter().map(|what| format!("doubt: {what}")));
        lines
    }

    fn longest_run(&self) -> Duration {
        self.timeout + Duration::from_secs(10)
    }

    fn prepare(&mut self, bench: &mut Bench<'_>) -> Result<()> {
        match &self.subject {
            Subject::Command { argv, list } => {
                bench.progress.step("running the command to see which files it needs");
                let mark = bench.run.mark();
                // A number no run of the series has.
                let group = match &self.hierarchy {
                    Some(hierarchy) => Some(group::limited(bench.root, hierarchy, None, u32::MAX, bench.run)?.0),
                    None => None,
                };
                let trace = Trace { argv, group: group.as_ref(), timeout: self.timeout, list: list.as_deref() };
                self.files = FileSet::of_command(bench.root, &trace, bench.run)?.0;
                bench.run.undo_to(mark)?;
            }
            Subject::File(path) => self.files = FileSet::of_files(std::slice::from_ref(path))?,
            Subject::Size(size) => {
                bench.progress.step(&format!("writing a file of {size}"));
                let dir = self.own_dir(bench)?;
                self.file = bench.run.make_file(&dir.join("file"), |file| scratch::fill(file, *size))?;
                self.files = FileSet::of_files(std::slice::from_ref(&self.file))?;
            }
        }
        self.files.find_what_stays(bench.root)
    }

    fn once(&mut self, arm: &Arm, record: &mut RunRecord, bench: &mut Bench<'_>) -> Result<()> {
        requirements::describe(record, self.hierarchy.as_ref().map(Hierarchy::version), self.place.as_ref());
        let warmth = match arm.name.as_str() {
            "cold" => Warmth::Cold,
            "half-warm" => Warmth::Half,
            _ => Warmth::Warm,
        };
        if !matches!(self.subject, Subject::Command { .. }) {
            return self.read_once(arm, warmth, record, bench);
        }
        bench.progress.phase(&format!("bringing its files into the state {}", arm.name));
        let state = match warmth {
            Warmth::Warm => self.warmed_by_a_run(record, bench)?,
            _ => self.files.bring_about(warmth)?,
        };
        self.prove(warmth, state, record);
        bench.progress.phase("the command runs");
        let ran = self.run_once(record, bench)?;
        (record.user, record.system, record.elapsed) = (ran.usage.user, ran.usage.system, ran.wall);
        record.reclaim.major_faults = ran.usage.majflt;
        record.reclaim.read_bytes = Some(ran.usage.read);
        // A command that failed or was given up took no time that could be compared.
        record.figures = if record.verdict == Verdict::Completed { ran.figures() } else { Vec::new() };
        Ok(())
    }
}

impl ColdWarm {
    /// Whether the command is run watched, to find its files.
    fn searches(&self) -> bool {
        matches!(&self.subject, Subject::Command { list: None, .. })
    }

    /// Warm as the command itself leaves it: read in by us the pages would be the same, but kept in smaller or larger pieces, and
    /// those are slower or faster to map.
    fn warmed_by_a_run(&self, record: &mut RunRecord, bench: &mut Bench<'_>) -> Result<State> {
        self.files.bring_about(Warmth::Cold)?;
        let mark = bench.run.mark();
        self.run_once(record, bench)?;
        bench.run.undo_to(mark)?;
        match self.files.state()?.must_be_warm() {
            Ok(state) => Ok(state),
            // A command that is not the same each time.
            Err(_) => self.files.bring_about(Warmth::Warm),
        }
    }

    fn run_once(&self, record: &mut RunRecord, bench: &mut Bench<'_>) -> Result<Ran> {
        let Subject::Command { argv, .. } = &self.subject else {
            return Err(LabError::Workload("there is no command".to_owned()));
        };
        let group = match &self.hierarchy {
            Some(hierarchy) => {
                let (group, limit) = group::limited(bench.root, hierarchy, None, record.order, bench.run)?;
                record.verified.insert("memory limit, so that the machine is safe".to_owned(), limit.to_string());
                record.before = observe::counters(bench.root, &group.stat()?);
                Some(group)
            }
            None => None,
        };
        let order = CommandRun { argv, group: group.as_ref(), timeout: self.timeout, watch: None };
        let ran = command::run(bench.root, order, bench.run)?;
        if let Some(group) = &group {
            record.after = observe::counters(bench.root, &group.stat()?);
        }
        record.verdict = ran.verdict();
        Ok(ran)
    }

    /// Writes down the state before the run, and what qualifies it.
    fn prove(&self, warmth: Warmth, state: State, record: &mut RunRecord) {
        let of = |what: &str| format!("{what} in the page cache before the run");
        record.verified.insert(of("needed pages"), state.text());
        record.verified.insert(of("all pages of its files"), state.of_all.to_string());
        record.verified.insert("files".to_owned(), self.files.len().to_string());
        record.detail = Some(self.files.detail());
        if warmth == Warmth::Cold {
            record.notes.extend(self.files.what_stays());
            // A little more than at the set-up is others at work; much more is a run that was not cold.
            if state.of_all > self.files.staying() + Bytes(self.files.needed().0 / 50) {
                record.notes.push(format!("not as cold as at the set-up: {} were in the page cache", state.of_all));
            }
        }
        if warmth == Warmth::Half && !(0.4..=0.6).contains(&state.share()) {
            record.notes.push("half-warm is not a half here: what cannot be evicted is too large a part".to_owned());
        }
    }

    fn own_dir(&self, bench: &mut Bench<'_>) -> Result<PathBuf> {
        let place =
            self.place.as_ref().ok_or_else(|| LabError::Workload("no scratch place was looked for".to_owned()))?;
        scratch::own_dir(&place.dir, bench.run)
    }
}

#[cfg(test)]
mod tests;
