//! The experiment cold-warm: a command, or the reading of a file, with its files out of the page cache and in it.
//!
//! Only the files concerned are evicted, never the whole cache of the machine, and before each run the state is proven. What it
//! is not: cold below the page cache. The cache of the drive, that of a hypervisor, and names and inodes stay as they are.

mod reading;

use crate::fileset::{FileSet, State, Warmth};
use crate::prelude::*;
use ramline_sandbox::child::command::{self, CommandRun, Ran};
use ramline_sandbox::requirements::Lack;

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
    reading: include_str!(concat!(env!("OUT_DIR"), "/reading/cold-warm.md")),
    parameters: &[
        COMMAND,
        row("file", Kind::Path, None, "Read this file instead of running a command"),
        params::size("size", "Read a scratch file of this size, random bytes, instead"),
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
    child: None,
    study: Study::Timing,
    forecast: None,
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
struct ColdWarm {
    subject: Subject,
    timeout: Duration,
    place: Option<Place>,
    hierarchy: Option<Hierarchy>,
    // From here on: of the set-up.
    files: FileSet,
    file: PathBuf,
}

fn open(root: &Root, params: &Params) -> Result<PlannedSeries> {
    let subject = subject(params)?;
    let is_command = matches!(subject, Subject::Command { .. });
    let arms = arms(params.list("arms"), is_command)?;
    let command = format!("ramline lab run {NAME}");
    let mut check = Check::new(root, Caller { command: &command, smaller: "--size 200MiB", ..Caller::default() });
    let (mut size, mut file) = (None, PathBuf::new());
    match &subject {
        Subject::Command { argv, list } => {
            check.program(argv, list.is_none().then_some("seeing which files a command opens needs root"));
            check.panics();
        }
        Subject::Size(of) => size = Some(*of),
        Subject::File(path) => {
            if arms.iter().any(|arm| arm.name == "fresh") {
                let looked = std::fs::metadata(path).map_err(|error| LabError::file("look at", path, error))?;
                size = Some(Bytes(looked.len()));
            }
            FileSet::from_files(std::slice::from_ref(path))?;
            file.clone_from(path);
        }
    }
    // Twice that: the file, and the one just written beside it.
    let place = size.and_then(|size| check.place(size + size, params.path("dir").as_deref(), false));
    if let Some(twice) = size.map(|size| size + size) {
        // A file larger than what memory can hold is never warm.
        let most = requirements::headroom(root)?;
        if twice > most {
            let text = format!("memory: {twice} needed to hold the file twice in the page cache, {most} can be taken");
            check.lacks(Lack::Memory, text);
        }
    }
    let doubts = check.busy(params.switch("allow-busy"))?;
    check.conclude(Some(()))?;
    let (runs, timeout) = (params.runs(), params.time("timeout").unwrap_or_default());
    let names: Vec<&str> = arms.iter().map(|arm| arm.name.as_str()).collect();
    let all = names.len() * runs as usize;
    let mut sentences = vec![format!("{all} runs: {}, {runs} times each, interleaved", names.join(", "))];
    sentences.push(match &subject {
        Subject::Command { argv, list } => format!(
            "the command is run {} times more to see what it needs; it runs as user {}: {}",
            if list.is_none() { 2 } else { 1 },
            process::uid(),
            command_line(argv)
        ),
        Subject::File(path) => format!("reading {}", path.display()),
        Subject::Size(size) => format!("reading a scratch file of {size}"),
    });
    let scratch =
        |place: &Place| format!("scratch: below {} ({}), removed afterwards", place.dir.display(), place.fs_type);
    sentences.extend(place.as_ref().map(scratch));
    let known = [
        "only the files concerned are written back and evicted; who else uses them reads them again",
        "not excluded by cold: caches of the drive and of a hypervisor; names and inodes stay cached",
    ];
    sentences.extend(known.map(str::to_owned));
    // Without one nothing holds a command's children together, and all works the same.
    let hierarchy = Hierarchy::detect(root).ok().filter(|_| is_command && !is_unprivileged());
    let longest_run = timeout + Duration::from_secs(10);
    let work = Box::new(ColdWarm { subject, timeout, place, hierarchy, files: FileSet::default(), file });
    Ok(PlannedSeries { arms, runs, sentences, global: Vec::new(), doubts, longest_run, work })
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

fn warmth(arm: &Arm) -> Warmth {
    match arm.name.as_str() {
        "cold" => Warmth::Cold,
        "half-warm" => Warmth::Half,
        _ => Warmth::Warm,
    }
}

impl Series for ColdWarm {
    fn prepare(&mut self, bench: &mut Bench<'_>) -> Result<()> {
        match &self.subject {
            Subject::Command { argv, list } => {
                bench.progress.step("running the command to see which files it needs");
                let mark = bench.run.mark();
                // A number no run of the series has.
                let group = self.group(u32::MAX, bench)?.map(|(group, _)| group);
                let order = CommandRun { argv, group: group.as_ref(), timeout: self.timeout, look: None };
                self.files = FileSet::from_command(order, list.as_deref(), bench.run)?.0;
                bench.run.undo_to(mark)?;
            }
            Subject::File(path) => self.files = FileSet::from_files(std::slice::from_ref(path))?,
            Subject::Size(size) => {
                bench.progress.step(&format!("writing a file of {size}"));
                let dir = self.own_dir(bench)?;
                self.file = bench.run.make_file(&dir.join("file"), |file| scratch::fill(file, *size))?;
                self.files = FileSet::from_files(std::slice::from_ref(&self.file))?;
            }
        }
        self.files.find_what_stays(bench.root)
    }

    fn once(&mut self, arm: &Arm, record: &mut RunRecord, bench: &mut Bench<'_>) -> Result<()> {
        requirements::describe(record, self.hierarchy.as_ref().map(Hierarchy::version), self.place.as_ref());
        if !matches!(self.subject, Subject::Command { .. }) {
            return self.read_once(arm, record, bench);
        }
        bench.progress.phase(&format!("bringing its files into the state {}", arm.name));
        let warmth = warmth(arm);
        let state = match warmth {
            Warmth::Warm => self.warmed_by_a_run(record, bench)?,
            _ => self.files.bring_about(warmth)?,
        };
        self.prove(warmth, state, record);
        bench.progress.phase("the command runs");
        let ran = self.run_once(record, bench)?;
        ran.note(record);
        // A command that failed or was given up took no time that could be compared.
        record.figures = if record.verdict == Verdict::Completed { ran.figures() } else { Vec::new() };
        Ok(())
    }
}

impl ColdWarm {
    /// Group number `n`, limited only so that the machine is safe.
    fn group(&self, n: u32, bench: &mut Bench<'_>) -> Result<Option<(Group, Bytes)>> {
        let limited = |hierarchy| group::limited(hierarchy, None, n, bench.run);
        self.hierarchy.as_ref().map(limited).transpose()
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
        let group = self.group(record.order, bench)?;
        if let Some((group, limit)) = &group {
            record.verified.insert("memory limit, so that the machine is safe".to_owned(), limit.to_string());
            record.before = observe::counters(bench.root, &group.stat()?);
        }
        let group = group.as_ref().map(|(group, _)| group);
        let order = CommandRun { argv, group, timeout: self.timeout, look: None };
        let ran = command::run(bench.root, order, None, bench.run)?;
        if let Some(group) = group {
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
