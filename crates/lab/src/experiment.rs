//! Experiments as data: what each asks, takes and needs, and the series it opens.
//!
//! The row of the table [`crate::experiments::EXPERIMENTS`], and the interface between an experiment and the
//! engine that runs it ([`crate::series`]).

use crate::limited::forecast::Question;
use crate::prelude::*;

/// What is made of the records of a series.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Study {
    /// The table that fits every experiment.
    Series,
    /// The table of the sandbox, which proves something for this machine.
    Proof,
    /// Ways through the kernel.
    Paths,
    /// A limit, by which its settings are ordered.
    Knee,
    /// Times alone.
    Timing,
    /// Memory over time, and the columns of `free`.
    Eaten,
    /// Kinds of pages before and after a drop of caches.
    Dropped,
}

/// One experiment.
#[derive(Debug, Clone, Copy)]
pub struct Experiment {
    /// Its name on the command line and in records.
    pub name: &'static str,
    /// What it answers.
    pub question: &'static str,
    /// How it is done, in a few sentences.
    pub how: &'static str,
    /// What it needs.
    pub needs: &'static str,
    /// "Reading the result" of its page.
    pub reading: &'static str,
    /// What can be chosen, beside [`COMMON`].
    pub parameters: &'static [Parameter],
    /// The figures its table leads with.
    pub figures: &'static [&'static str],
    /// What the process it starts of this binary does with its task, where it has one of its own.
    pub child: Option<fn(Value) -> Result<()>>,
    /// The study that fits its records.
    pub study: Study,
    /// The question it is to the simulator, where its load can be simulated.
    pub forecast: Option<fn(&Params) -> Result<Question>>,
    /// Checks the values against the machine; nothing is touched.
    pub open: fn(&Root, &Params) -> Result<PlannedSeries>,
}

/// What every experiment takes.
pub const COMMON: &[Parameter] = &[
    row(
        "runs",
        Kind::Count(1, 100),
        Some("7"),
        "Runs of each setting, in alternating order; below 6 no difference is called significant",
    ),
    row("seed", Kind::Count(0, u64::MAX), Some("256"), "Seed of what is random"),
    row("dir", Kind::Path, None, "Scratch place: a directory on a disk"),
    row("allow-busy", Kind::Switch, Some("false"), "Run although the machine is busy; the records say so"),
];

impl Experiment {
    /// Where its page is.
    #[must_use]
    pub fn docs(&self) -> String {
        format!("docs/experiments/{}.md", self.name)
    }

    /// All parameters: its own, then the common ones it does not have itself.
    #[must_use]
    pub fn table(&self) -> Vec<Parameter> {
        let own = |name: &str| self.parameters.iter().any(|row| row.name == name);
        self.parameters.iter().chain(COMMON.iter().filter(|row| !own(row.name))).copied().collect()
    }

    /// The table under "Reading the result": what may be seen, and what it says.
    #[must_use]
    pub fn reading(&self) -> Vec<(&'static str, &'static str)> {
        let lines = self.reading.trim_start().lines().take_while(|line| line.starts_with('|'));
        // The head and the line below it are no rows.
        lines.skip(2).filter_map(|line| line.trim_matches(['|', ' ']).split_once(" | ")).collect()
    }

    /// The defaults of all parameters.
    #[must_use]
    pub fn defaults(&self) -> Params {
        Params::defaults(&self.table())
    }

    /// The command line that asks for these values, and for `more`: whatever is not as it would be by default, and the command last.
    #[must_use]
    pub fn line(&self, params: &Params, more: &[&str]) -> String {
        command_line(self.words(params, more))
    }

    /// The same, word for word.
    #[must_use]
    pub fn words(&self, params: &Params, more: &[&str]) -> Vec<String> {
        let table = self.table();
        let defaults = Params::defaults(&table);
        let mut words: Vec<String> = ["ramline", "lab", "run", self.name].map(str::to_owned).into();
        let mut last: Vec<String> = Vec::new();
        for row in &table {
            let values = params.list(row.name);
            let usual = row.name != "arms" && values == defaults.list(row.name);
            match row.kind {
                _ if values.is_empty() || usual => {}
                Kind::Switch => words.extend(params.switch(row.name).then(|| format!("--{}", row.name))),
                Kind::Command => last = [&["--".to_owned()], values].concat(),
                _ => words.extend([format!("--{}", row.name), values.join(",")]),
            }
        }
        words.extend(more.iter().map(|word| (*word).to_owned()));
        words.extend(last);
        words
    }

    /// Checks the values against the machine; what is not given has its default. Nothing is touched.
    ///
    /// # Errors
    /// Values that make no sense, or every reason why the machine will not do.
    pub fn open(&self, root: &Root, params: &Params) -> Result<PlannedSeries> {
        (self.open)(root, &params.over(self.defaults()))
    }
}

/// What a run may use: the machine, the journal, a listener.
pub struct Bench<'a> {
    /// The live machine.
    pub root: &'a Root,
    /// Everything made goes through it, and is undone after the run (or, in [`Series::prepare`], after the series).
    pub run: &'a mut Run,
    /// Listener.
    pub progress: &'a mut dyn Progress,
    /// When all must be over.
    pub deadline: Option<Instant>,
}

impl Bench<'_> {
    /// Makes the group of a run: limited where there is a limit, kept from swapping where that is asked. What was set is
    /// in the record as it is read back, and the counters before the run.
    ///
    /// # Errors
    /// It cannot be made or set.
    pub(crate) fn group(
        &mut self,
        found: &Resources,
        limit: Option<Bytes>,
        no_swap: bool,
        record: &mut RunRecord,
    ) -> Result<Group> {
        let group = found.make_group(record.order, self.run)?;
        let mut changes = limit.map_or(Ok(Vec::new()), |limit| group.set_memory_limit(Limit::At(limit)))?;
        if no_swap {
            changes.extend(group::forbid_swap(self.root, &group)?);
        }
        record.verified.extend(group::verified(changes));
        record.before = observe::counters(self.root, &group.stat()?);
        Ok(group)
    }
}

/// One series, checked and ready: what is known of it before it begins, and what makes its runs.
pub struct PlannedSeries {
    /// The arms, in order.
    pub arms: Vec<Arm>,
    /// Runs of each arm.
    pub runs: u32,
    /// What will be done, in sentences.
    pub sentences: Vec<String>,
    /// What is made or changed outside the sandbox; nothing when no consent is needed.
    pub global: Vec<String>,
    /// What makes timing doubtful but not impossible.
    pub doubts: Vec<String>,
    /// The time a run is given at least before it is begun against a deadline.
    pub longest_run: Duration,
    /// What makes the runs.
    pub work: Box<dyn Series>,
}

impl PlannedSeries {
    /// The plan in sentences, printed before anything is done.
    #[must_use]
    pub fn lines(&self) -> Vec<String> {
        let global = self.global.iter().map(|what| format!("outside the sandbox: {what}"));
        let doubts = self.doubts.iter().map(|what| format!("doubt: {what}"));
        self.sentences.iter().cloned().chain(global).chain(doubts).collect()
    }
}

/// The sentence that counts the runs: `what` there are, each so often.
pub(crate) fn counted(count: usize, what: &str, runs: u32) -> String {
    let all = count.saturating_mul(usize::try_from(runs).unwrap_or(usize::MAX));
    format!("{all} runs: {count} {what}, {runs} times each, interleaved")
}

/// What [`Series::prepare`] has made.
pub(crate) fn prepared<T>(made: &Option<T>) -> Result<&T> {
    made.as_ref().ok_or_else(|| LabError::Workload("the scratch place is not prepared".to_owned()))
}

/// What makes the runs of a series.
pub trait Series {
    /// Takes in the records of a series that is gone on with, before [`Series::prepare`]; for one whose next run depends on them.
    fn recall(&mut self, _records: &[RunRecord]) {}

    /// Whether [`Series::is_over`] ends it long before all runs there may be: then how long it will take is not known.
    fn is_search(&self) -> bool {
        false
    }

    /// True when no further run is needed; asked before each.
    fn is_over(&self) -> bool {
        false
    }

    /// Makes what all runs share. Undone after the last run.
    ///
    /// # Errors
    /// The first step that fails; the journal undoes what was made before.
    fn prepare(&mut self, _bench: &mut Bench<'_>) -> Result<()> {
        Ok(())
    }

    /// Makes one run of `arm` and fills the record, which has its name, place and machine already. What was made in the run is
    /// undone afterwards. A run that thrashes or is killed gives a record; only what prevents a run is an error.
    ///
    /// # Errors
    /// Setting up failed, or SIGINT or SIGTERM came.
    fn once(&mut self, arm: &Arm, record: &mut RunRecord, bench: &mut Bench<'_>) -> Result<()>;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_that_is_proposed_asks_for_what_was_asked() {
        let experiment = crate::experiments::find("eat-memory").unwrap();
        let table = experiment.table();
        let mut params = Params::defaults(&table);
        params.set(&table, "limit", vec!["64MiB".to_owned()]).unwrap();
        params.set(&table, "allow-busy", vec!["true".to_owned()]).unwrap();
        let line = experiment.line(&params, &["--prove"]);
        assert_eq!(line, "ramline lab run eat-memory --limit 64MiB --arms no-swap,cache+no-swap --allow-busy --prove");
    }

    #[test]
    fn a_command_comes_last_and_as_a_shell_reads_it() {
        let experiment = crate::experiments::find("knee").unwrap();
        let table = experiment.table();
        let mut params = Params::defaults(&table);
        params.set(&table, "within", vec!["30%".to_owned()]).unwrap();
        params.set(&table, "command", ["sh", "-c", "echo $X"].map(str::to_owned).into()).unwrap();
        let line = experiment.line(&params, &["--allow-busy"]);
        assert_eq!(line, "ramline lab run knee --within 30% --allow-busy -- sh -c 'echo $X'");
    }
}
