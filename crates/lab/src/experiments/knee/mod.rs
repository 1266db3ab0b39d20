//! The experiment knee: the smallest memory limit at which a command still runs within x % of its unlimited time.
//!
//! Each step is a run at a limit, next to one without; which limit comes next is a function of the records so far
//! ([`ramline_evidence::knee`]). Every run has a fresh memory cgroup and begins with the command's files out of the page cache, so
//! that the cache it fills is charged to it: the first toucher pays, and a limit that others' cache gets round is none. What it
//! is not: a forecast for another machine; the time of a read from this disk is in the result.

use ramline_evidence::knee::{self, Knee, KneeAsked};

mod asking;
mod client;
pub(crate) mod service;

use std::cell::RefCell;

use crate::fileset::{FileSet, Warmth};
use crate::prelude::*;
use ramline_sandbox::child::command::{self, CommandRun, Ran};
use service::Service;

/// Its name on the command line and in records.
pub const NAME: &str = "knee";
/// A search has never needed more pairs of runs: seven halvings, a few runs each, and the counter-checks.
const MOST: u32 = 200;
/// No probe is given less time than this: starting alone may take as long.
const LEAST_TIME: Duration = Duration::from_millis(500);

/// The row of the table.
pub const EXPERIMENT: Experiment = Experiment {
    name: NAME,
    question: "How little memory does a command need to run nearly as fast as with all of it?",
    how: "The command is run in a memory cgroup, in turn without a limit and at one. It searches for the least limit by halving. A limit is enough if \
          all runs are at most x % slower than the median without a limit; too small if all are slower, or one is killed. Far from the answer one run is enough. Limits above and below the answer are tried as a counter-check. Each run begins with the command's files evicted. A command that leaves its work to a server outside its group is noticed, and not measured alone.",
    needs: "root (to see which files the command opens), a memory cgroup (version 1 or 2), memory for the command",
    reading: include_str!(concat!(env!("OUT_DIR"), "/reading/knee.md")),
    parameters: &[
        COMMAND,
        row("within", Kind::Text, Some("10%"), "How much slower than without a limit is still acceptable"),
        row("resolution", Kind::Text, Some("5%"), "How exact the answer must be"),
        row(
            "runs",
            Kind::Count(1, 100),
            Some("3"),
            "Runs at a limit near the answer; where they disagree, up to 7; far from it one",
        ),
        row(
            "patience",
            Kind::Text,
            Some("3"),
            "How many times the unlimited time a run at a limit may take before it is stopped",
        ),
        row(
            "start",
            Kind::Word(&["cold", "warm"]),
            Some("cold"),
            "Time the first run after eviction, or the second one in the same group",
        ),
        row("files", Kind::Path, None, "The command's files, one name a line, instead of finding them"),
        row("timeout", Kind::Time, Some("5min"), "The most time a run without a limit gets"),
        row(
            "with",
            Kind::Text,
            None,
            "Set the limit on this service instead: a unit, a control group or a process id; the command is what asks it",
        ),
        row(
            "client-only",
            Kind::Switch,
            Some("false"),
            "Measure the command alone although a server outside its group does part of the work",
        ),
    ],
    figures: &["wall", "major faults", "read from disks"],
    child: None,
    study: Study::Knee,
    forecast: None,
    open,
};

/// A series of knee.
struct Search {
    argv: Vec<String>,
    list: Option<PathBuf>,
    hierarchy: Hierarchy,
    within: f64,
    resolution: f64,
    patience: f64,
    runs: usize,
    warm: bool,
    timeout: Duration,
    client_only: bool,
    service: Option<Service>,
    // From here on: of the set-up, and what was seen so far.
    files: FileSet,
    start: Bytes,
    least: Bytes,
    floor: Bytes,
    outside: Vec<String>,
    cold: Duration,
    records: Vec<RunRecord>,
}

fn open(root: &Root, params: &Params) -> Result<PlannedSeries> {
    let argv = params.list("command").to_vec();
    refuse_if(argv.is_empty(), NAME, "-- rustc --version", "no command was given")?;
    let share = |name: &str| {
        let text = params.text(name).unwrap_or_default();
        knee::share(text).ok_or_else(|| {
            let message = format!("--{name} '{}' is not a share such as 10%", text.escape_debug());
            LabError::usage(message, format!("ramline lab run {NAME} --{name} 10% -- {}", command_line(&argv)))
        })
    };
    let (within, resolution) = (share("within")?, share("resolution")?);
    let patience = params.text("patience").and_then(|text| text.parse::<f64>().ok()).unwrap_or_default();
    if !(1.0..=100.0).contains(&patience) || patience <= 1.0 + within {
        let least = 1.0 + within;
        let message =
            format!("--patience must be a number above {least} and at most 100: the time to wait, in unlimited times");
        let (within, enough) = (params.text("within").unwrap_or_default(), (2.0 * least).ceil().max(3.0));
        let hint = format!("ramline lab run {NAME} --within {within} --patience {enough} -- {}", command_line(&argv));
        return Err(LabError::usage(message, hint));
    }
    let command = format!("ramline lab run {NAME}");
    let mut check = Check::new(root, Caller { command: &command, ..Caller::default() });
    check.program(&argv, Some("a memory cgroup, and seeing which files a command opens, needs root"));
    let hierarchy = check.group();
    let service = params.text("with").zip(hierarchy.as_ref());
    let service = service.and_then(|(text, hierarchy)| {
        service::find(root, hierarchy, text).map_err(|reason| check.extend([reason])).ok()
    });
    let most = requirements::headroom(root)?;
    if most < Bytes::from_mib(64) {
        check.extend([Reason::new(format!("memory: 64 MiB needed, {most} can be taken"), "ramline show memory")]);
    }
    let doubts = check.busy(params.switch("allow-busy"))?;
    let hierarchy = check.conclude(hierarchy)?;
    let (warm, timeout) = (params.text("start") == Some("warm"), params.time("timeout").unwrap_or_default());
    let subject = service.as_ref().map_or_else(
        || "its files are evicted before each run, so that their pages are charged to it".to_owned(),
        |service| {
            format!("it asks {}, on which the limit is set, until that has warmed up, and is timed then", service.name)
        },
    );
    let global = service.as_ref().map(Service::sentence).into_iter().collect();
    let percent = |share: f64| format!("{:.0} %", share * 100.0);
    let mut sentences = vec![
        format!(
            "the smallest limit within {} of the unlimited time, to {}: about 30 runs, each at most {patience} times as long as one without a limit",
            percent(within),
            percent(resolution)
        ),
        format!("the command runs as user {}: {}", process::uid(), command_line(&argv)),
        subject,
    ];
    if warm && service.is_none() {
        sentences.push("each run is the second one in its group: the first brings in what the limit allows".to_owned());
    }
    let work = Box::new(Search {
        list: params.path("files"),
        argv,
        hierarchy,
        within,
        resolution,
        patience,
        runs: usize::try_from(params.runs()).unwrap_or(usize::MAX),
        warm,
        timeout,
        client_only: params.switch("client-only"),
        service,
        files: FileSet::default(),
        start: Bytes::ZERO,
        least: Bytes::ZERO,
        floor: Bytes::ZERO,
        outside: Vec::new(),
        cold: Duration::ZERO,
        records: Vec::new(),
    });
    let arms = vec![Arm::named(knee::UNLIMITED, &[]), Arm::named("limit", &[])];
    Ok(PlannedSeries { arms, runs: MOST, sentences, global, doubts, longest_run: timeout, work })
}

impl Series for Search {
    fn prepare(&mut self, bench: &mut Bench<'_>) -> Result<()> {
        if self.service.is_some() {
            self.prepare_service(bench)?;
            self.recall_search();
            return Ok(());
        }
        bench.progress.step("running the command without a limit, to see which files and how much memory it uses");
        let mark = bench.run.mark();
        // Numbers no run of the series has.
        let (group, _) = group::limited(&self.hierarchy, None, u32::MAX, bench.run)?;
        let beside = RefCell::new(client::Beside::new(&group, swap::areas(bench.root)?.is_empty()));
        let order = CommandRun { argv: &self.argv, group: Some(&group), timeout: self.timeout, look: Some(&beside) };
        let (files, ran) = FileSet::from_command(order, self.list.as_deref(), bench.run)?;
        let peak = group.stat()?.peak.unwrap_or_default();
        bench.run.undo_to(mark)?;
        self.files = files;
        self.cold = Duration::from_nanos(ran.wall.0);
        // A kernel without a peak (cgroup v2 before 5.19): what the files need and the largest process had.
        self.start = peak.max(if peak.0 == 0 { self.files.needed() + ran.usage.max_rss } else { knee::STEP });
        let beside = beside.into_inner();
        self.least = beside.least;
        self.outside = client::look_at(&beside.outside, &self.asked(&ran), bench.root)?;
        self.recall_search();
        Ok(())
    }

    fn recall(&mut self, records: &[RunRecord]) {
        self.records = records.to_vec();
    }

    fn is_search(&self) -> bool {
        true
    }

    fn is_over(&self) -> bool {
        !self.records.is_empty() && self.knee().next().is_none() && self.records.len().is_multiple_of(2)
    }

    fn once(&mut self, arm: &Arm, record: &mut RunRecord, bench: &mut Bench<'_>) -> Result<()> {
        let limit = match self.knee().next() {
            Some(limit) if arm.name != knee::UNLIMITED => Some(limit),
            _ => None,
        };
        let (start, least) = (self.start.0.to_string(), self.least.0.to_string());
        let (floor, service) = (self.floor.0.to_string(), self.service.as_ref().map(|service| service.name.as_str()));
        let mut from = vec![(knee::START, start.as_str()), (knee::LEAST, least.as_str())];
        from.extend(service.iter().flat_map(|name| [(knee::FLOOR, floor.as_str()), (knee::SERVICE, *name)]));
        record.arm = match limit {
            Some(limit) => {
                let at = limit.0.to_string();
                Arm::named(&format!("limit {limit}"), &[&[(knee::LIMIT, at.as_str())], &from[..]].concat())
            }
            None => Arm::named(knee::UNLIMITED, &from),
        };
        requirements::describe(record, Some(self.hierarchy.version()), None);
        self.run_once(limit, record, bench)?;
        self.records.push(record.clone());
        Ok(())
    }
}

impl Search {
    /// A series that is resumed began where it began.
    fn recall_search(&mut self) {
        let recorded = |name: &str| self.records.iter().find_map(|record| record.arm.settings.get(name)?.parse().ok());
        let (start, least, floor) = (recorded(knee::START), recorded(knee::LEAST), recorded(knee::FLOOR));
        (self.start, self.least) = (start.map_or(self.start, Bytes), least.map_or(self.least, Bytes));
        self.floor = self.floor.max(floor.map_or(self.floor, Bytes));
    }

    fn knee(&self) -> Knee {
        let Search { within, resolution, runs, start, least, floor, .. } = *self;
        Knee::new(&self.records, KneeAsked { within, resolution, runs, start, least, floor })
    }

    fn asked<'a>(&'a self, ran: &Ran) -> client::CommandUse<'a> {
        let (argv, within, client_only) = (self.argv.as_slice(), self.within, self.client_only);
        client::CommandUse { argv, within, client_only, cpu: ran.usage.cpu(), peak: self.start }
    }

    /// The run before this one, where it did not end by itself: what it left may stand in the way.
    fn cut_off(&self) -> Option<String> {
        let last = self.records.last()?;
        let how = match &last.verdict {
            Verdict::Killed(_) => "killed",
            Verdict::Thrashing(_) => "ended by us",
            _ => return None,
        };
        Some(format!("the run before it, within {}, was {how}", setting(last)?))
    }

    /// So long a run at a limit is waited for.
    fn patience(&self) -> Duration {
        let time = self.knee().unlimited.map_or(self.cold, |free| Duration::from_secs_f64(free.median));
        time.mul_f64(self.patience).clamp(LEAST_TIME, self.timeout)
    }

    fn run_once(&self, limit: Option<Bytes>, record: &mut RunRecord, bench: &mut Bench<'_>) -> Result<()> {
        let mark = bench.run.mark();
        let Some(ran) = self.run_in(limit, record, bench)? else { return Ok(()) };
        if limit.is_some() || record.verdict == Verdict::Completed {
            return Ok(());
        }
        // It ran at the set-up. What a run that was killed has left (a pid file, a lock, a socket) may be in the way once.
        let before = self.cut_off();
        if let Some(before) = &before {
            let once = format!("it failed once{}; {before}, and may have left something", ran.last_words());
            bench.run.undo_to(mark)?;
            let again = self.run_in(limit, record, bench)?;
            record.notes.push(once);
            if again.is_some_and(|again| again.verdict() == Verdict::Completed) {
                return Ok(());
            }
        }
        Err(self.fails_now(&ran, record, before))
    }

    /// Nothing can be compared any more.
    fn fails_now(&self, ran: &Ran, record: &RunRecord, before: Option<String>) -> LabError {
        let why = match &record.verdict {
            Verdict::Killed(_) if ran.end.out_of_memory => {
                "the machine has too little memory left for it now".to_owned()
            }
            verdict => format!("{}{}", verdict.reason().unwrap_or_default(), ran.last_words()),
        };
        let mut reasons = vec![format!("without a limit the command fails now, and did not before: {why}")];
        reasons.extend(before.map(|before| {
            format!("{before}: look for what it left, such as a pid file, a lock or a socket, and remove it where the command begins")
        }));
        LabError::ended("the first run", reasons, command_line(&self.argv))
    }

    fn run_in(&self, limit: Option<Bytes>, record: &mut RunRecord, bench: &mut Bench<'_>) -> Result<Option<Ran>> {
        if let Some(service) = &self.service {
            return self.ask(service, limit, record, bench);
        }
        bench.progress.phase("evicting its files");
        let state = self.files.bring_about(Warmth::Cold)?;
        let (group, real) = group::limited(&self.hierarchy, limit, record.order, bench.run)?;
        record.verified.insert("memory limit".to_owned(), real.to_string());
        record.verified.insert("its files in the page cache before the run".to_owned(), state.of_all.to_string());
        record.detail = Some(self.files.detail());
        let stays = self.files.what_stays().map(|what| format!("{what}: the need is up to so much larger"));
        record.notes = self.outside.iter().cloned().chain(stays).collect();
        record.before = observe::counters(bench.root, &group.stat()?);
        let timeout = if limit.is_some() { self.patience() } else { self.timeout };
        let order = CommandRun { argv: &self.argv, group: Some(&group), timeout, look: None };
        let at = limit.map_or_else(|| "without a limit".to_owned(), |limit| format!("within {limit}"));
        bench.progress.phase(&format!("the command runs {at}"));
        let mut ran = command::run(bench.root, order, None, bench.run)?;
        if self.warm && ran.verdict() == Verdict::Completed {
            ran = command::run(bench.root, order, None, bench.run)?;
        }
        let stat = group.stat()?;
        record.after = observe::counters(bench.root, &stat);
        record.verdict = ran.verdict();
        record.reclaim = observe::reclaim(record, ran.usage.majflt);
        ran.note(record);
        let peak = stat.peak.map(|peak| Figure::new("peak of the group", peak.as_f64(), "bytes", Better::Neither));
        record.figures = ran.figures().into_iter().chain(peak).collect();
        without_time(record);
        Ok(Some(ran))
    }
}

/// A run that was cut off took no time that could be compared.
fn without_time(record: &mut RunRecord) {
    if record.verdict != Verdict::Completed {
        record.figures.retain(|figure| !["wall", "user", "system"].contains(&figure.name.as_str()));
    }
}

/// The limit of a run, in words.
fn setting(record: &RunRecord) -> Option<Bytes> {
    record.arm.settings.get(knee::LIMIT)?.parse().ok().map(Bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(set: &[(&str, &[&str])]) -> String {
        let table = EXPERIMENT.table();
        let mut params = EXPERIMENT.defaults();
        for (name, values) in set {
            params.set(&table, name, values.iter().map(|value| (*value).to_owned()).collect()).unwrap();
        }
        match open(&Root::live(), &params) {
            Ok(_) => panic!("opened"),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn bad_input_is_refused_before_anything_starts() {
        assert!(refused(&[]).contains("no command was given"));
        let command: (&str, &[&str]) = ("command", &["true"]);
        assert!(refused(&[command, ("within", &["much"])]).contains("--within 'much' is not a share such as 10%"));
        assert!(refused(&[command, ("resolution", &["0%"])]).contains("--resolution"));
        assert!(refused(&[command, ("patience", &["1.05"])]).contains("--patience must be a number above 1.1"));
        let hasty = refused(&[command, ("within", &["200%"])]);
        assert!(
            hasty.contains("--patience must be a number above 3 ")
                && hasty.contains("--within 200% --patience 6 -- true")
        );
        assert!(refused(&[("command", &["no-such-program"])]).contains("there is no program 'no-such-program'"));
    }
}
