//! `ramline measure pages --judge -- COMMAND`: the user's own command under the winners of the table, by the lab.
//!
//! What it is not: an engine of its own. Everything asked of the machine, the runs, the records and the verdicts are those of
//! `ramline lab run swap-command`.

use ramline_evidence::SeriesTable;
use ramline_lab::LabError;
use ramline_lab::experiments::swap_command::EXPERIMENT;
use ramline_lab::params::Params;
use ramline_lab::series::{self, Consent, Env, Order};
use ramline_model::pages::Judged;

use crate::commands::lab::report;
use crate::prelude::*;

/// What of the command line is for it.
#[derive(Debug, Args)]
pub struct Judge {
    /// Also run a command of yours within a memory limit, as the machine is and with a scratch zram device of each algorithm that wins
    /// something (as root; the command after --)
    #[arg(long, requires = "command", conflicts_with = "from")]
    judge: bool,
    /// What that command may have, pools included (two thirds of what it uses without a limit)
    #[arg(long, value_name = "SIZE", requires = "judge")]
    memory: Option<String>,
    /// Runs of that command under each setting; below 6 no difference is claimed (7)
    #[arg(long, value_name = "N", requires = "judge")]
    runs: Option<String>,
    /// Run it although the machine is busy; the records say so
    #[arg(long, requires = "judge")]
    allow_busy: bool,
    /// The command to judge by; it runs without input and with its output thrown away
    #[arg(last = true, num_args = 1.., value_name = "COMMAND", requires = "judge")]
    command: Vec<String>,
}

/// A series that was looked over before anything was measured.
pub struct Ahead {
    params: Params,
    /// What it makes outside its sandbox.
    pub global: Vec<String>,
}

impl Judge {
    /// Refuses what the lab would refuse, before pages are sampled; `None` where no command is to be judged by.
    ///
    /// # Errors
    /// Every reason why the machine or the command will not do.
    pub fn ahead(&self, root: &Root) -> Result<Option<Ahead>> {
        if !self.judge {
            return Ok(None);
        }
        let table = EXPERIMENT.table();
        let mut params = EXPERIMENT.defaults();
        params.set(&table, "command", self.command.clone())?;
        let values = [("memory", self.memory.clone()), ("runs", self.runs.clone())];
        for (name, value) in values.into_iter().filter_map(|(name, value)| Some((name, value?))) {
            params.set(&table, name, vec![value])?;
        }
        params.set(&table, "allow-busy", vec![self.allow_busy.to_string()])?;
        let global = EXPERIMENT.open(root, &params)?.global;
        Ok(Some(Ahead { params, global }))
    }
}

impl Ahead {
    /// Refuses to go on without consent: the runs are what was asked for.
    ///
    /// # Errors
    /// Consent was not given.
    pub fn must_be_agreed(&self, agreed: bool) -> Result<()> {
        if agreed {
            return Ok(());
        }
        let reasons = self.global.iter().map(|what| format!("not agreed to: {what}")).collect();
        let command = self.params.list("command").join(" ");
        Err(LabError::refused(reasons, format!("ramline measure pages --prove --judge -- {command}")).into())
    }

    /// Runs the command under the machine's own setting and each finalist.
    ///
    /// # Errors
    /// No algorithm was measured by the kernel, or as the lab fails or is interrupted.
    pub fn run(mut self, root: &Root, lock: &RunLock, judged: &Judged) -> Result<SeriesTable> {
        let finalists = judged.finalists();
        if finalists.is_empty() {
            let why = "the kernel's own algorithms were not measured, so nothing stands in the final";
            let hint = "sudo ramline measure pages --prove --budget 60s";
            return Err(Failure::new(exit::FAILED, format!("cannot judge by a command: {why}\n  try: {hint}")).into());
        }
        let arms = finalists.iter().map(|name| format!("zram:{name}"));
        let arms = std::iter::once("as-configured".to_owned()).chain(arms).collect();
        self.params.set(&EXPERIMENT.table(), "arms", arms)?;
        let mut series = EXPERIMENT.open(root, &self.params)?;
        for line in series.lines() {
            stdio::tell(&line);
        }
        let env = Env { root, lock, deadline: None, crash_after: state::crash_after() };
        let order = Order { experiment: &EXPERIMENT, params: &self.params, resume: None };
        let done = series::run(&env, &order, &mut series, Consent::Given, &mut Terminal::series(0))?;
        let folder = done.folder.ok_or_else(|| Failure::new(exit::FAILED, "no run was made"))?;
        let (table, records) = report::series_of(&folder)?;
        for doubt in ramline_lab::report::doubts(&records) {
            stdio::tell(&format!("doubt: {doubt}"));
        }
        stdio::tell(&format!("Raw records: {}", folder.dir().display()));
        Ok(table)
    }
}
