//! Experiments as data: what each asks, takes and needs, and the series it opens.
//!
//! What it is: the row of the table [`crate::experiments::EXPERIMENTS`], and the interface between an experiment and the
//! engine that runs it ([`crate::series`]). What it is not: a place for results; those are functions of records.

use std::time::{Duration, Instant};

use ramline_act::Run;
use ramline_evidence::{Arm, RunRecord};
use ramline_kernel::Root;

use crate::params::{Kind, Parameter, Params, row};
use ramline_sandbox::error::Result;
use ramline_sandbox::progress::Progress;

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
    /// Its page, with "Reading the result".
    pub docs: &'static str,
    /// The text of that page.
    pub page: &'static str,
    /// What can be chosen, beside [`COMMON`].
    pub parameters: &'static [Parameter],
    /// The figures its table leads with.
    pub figures: &'static [&'static str],
    /// Checks the values against the machine; nothing is touched.
    pub open: fn(&Root, &Params) -> Result<Box<dyn Series>>,
}

/// What every experiment takes.
pub const COMMON: &[Parameter] = &[
    row(
        "runs",
        Kind::Count(1, 100),
        Some("7"),
        "Runs of each setting, in alternating order; below 6 no difference is claimed",
    ),
    row("seed", Kind::Count(0, u64::MAX), Some("256"), "Seed of what is random"),
    row("dir", Kind::Path, None, "Scratch place: a directory on a disk"),
    row("allow-busy", Kind::Switch, Some("false"), "Run although the machine is busy; the records say so"),
];

impl Experiment {
    /// All parameters: its own, then the common ones it does not have itself.
    #[must_use]
    pub fn table(&self) -> Vec<Parameter> {
        let own = |name: &str| self.parameters.iter().any(|row| row.name == name);
        self.parameters.iter().chain(COMMON.iter().filter(|row| !own(row.name))).copied().collect()
    }

    /// The table under "Reading the result": what may be seen, and what it says.
    #[must_use]
    pub fn reading(&self) -> Vec<(&'static str, &'static str)> {
        let section = self.page.split_once("\n## Reading the result\n").map_or("", |(_, rest)| rest);
        let lines = section.trim_start().lines().take_while(|line| line.starts_with('|'));
        // The head and the line below it are no rows.
        lines.skip(2).filter_map(|line| line.trim_matches(['|', ' ']).split_once(" | ")).collect()
    }

    /// The defaults of all parameters.
    #[must_use]
    pub fn defaults(&self) -> Params {
        Params::defaults(&self.table())
    }
}

/// What a run may use: the machine, the journal, somebody to tell.
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

/// One series, checked and ready: arms, how often, and how a run is made.
pub trait Series {
    /// The arms, in order.
    fn arms(&self) -> &[Arm];

    /// Runs of each arm.
    fn runs(&self) -> u32;

    /// The plan in sentences, printed before anything is done.
    fn lines(&self) -> Vec<String>;

    /// What is made or changed outside the sandbox; nothing when no consent is needed.
    fn global(&self) -> Vec<String> {
        Vec::new()
    }

    /// The time a run is given at least before it is begun against a deadline.
    fn longest_run(&self) -> Duration;

    /// Takes in the records of a series that is gone on with, before [`Series::prepare`]; for one whose next run depends on them.
    fn recall(&mut self, records: &[RunRecord]) {
        let _ = records;
    }

    /// Whether [`Series::is_over`] ends it long before all runs there may be: then nobody can say how long it will take.
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
    fn prepare(&mut self, bench: &mut Bench<'_>) -> Result<()> {
        let _ = bench;
        Ok(())
    }

    /// Makes one run of `arm` and fills the record, which has its name, place and machine already. What was made in the run is
    /// undone afterwards. A run that thrashes or is killed gives a record; only what prevents a run is an error.
    ///
    /// # Errors
    /// Setting up failed, or SIGINT or SIGTERM came.
    fn once(&mut self, arm: &Arm, record: &mut RunRecord, bench: &mut Bench<'_>) -> Result<()>;
}
