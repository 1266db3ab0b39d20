//! A command of the reader's own under several settings, for `measure pages --judge` and `tune plan --judge`, by the lab.
//!
//! What it is not: an engine of its own. Everything asked of the machine, the runs, the records and the verdicts are those of
//! `ramline lab run swap-command`.

use ramline_lab::LabError;
use ramline_lab::experiments::swap_command::EXPERIMENT;
use ramline_lab::params::Params;
use ramline_lab::series::{self, Consent, Env, Order};

use crate::prelude::*;
use crate::retry;

/// The command, and what it is given; the option `--judge` is each caller's own, since what is compared is.
#[derive(Debug, Args)]
pub struct Judging {
    /// What that command may have, pools included (two thirds of what it uses without a limit)
    #[arg(long, value_name = "SIZE", requires = "judge")]
    memory: Option<String>,
    /// Runs of that command under each setting; below 6 no difference is called significant (7)
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
#[derive(Clone)]
pub struct Ahead {
    params: Params,
    /// What it makes outside its sandbox.
    pub global: Vec<String>,
}

impl Judging {
    /// Refuses what the lab would refuse, before anything is measured; without `arms` these are given to [`Ahead::run`].
    ///
    /// # Errors
    /// Every reason why the machine or the command will not do.
    pub fn ahead(&self, root: &Root, arms: Option<Vec<String>>) -> Result<Ahead> {
        let table = EXPERIMENT.table();
        let mut params = EXPERIMENT.defaults();
        params.set(&table, "command", self.command.clone())?;
        let values = [("memory", self.memory.clone()), ("runs", self.runs.clone())];
        for (name, value) in values.into_iter().filter_map(|(name, value)| Some((name, value?))) {
            params.set(&table, name, vec![value])?;
        }
        params.set(&table, "allow-busy", vec![self.allow_busy.to_string()])?;
        if let Some(arms) = arms {
            params.set(&table, "arms", arms)?;
        }
        let global = EXPERIMENT.open(root, &params).map_err(whole)?.global;
        Ok(Ahead { params, global })
    }
}

/// What the lab proposes is an option of this very command, which has those of the experiment.
fn whole(error: LabError) -> LabError {
    retry::whole(error, &format!("ramline lab run {}", EXPERIMENT.name), &retry::given())
}

/// Runs of each setting that is nearly the fastest, for one of the first series.
const CLOSER: u32 = 2;
/// As many runs as the lab takes.
const MOST_RUNS: u32 = 100;

impl Ahead {
    /// The same within this limit under some of its settings alone, each run so often that they can be told apart.
    ///
    /// # Errors
    /// A setting is none.
    pub fn closer(mut self, arms: Vec<String>, limit: Bytes) -> Result<Ahead> {
        let (table, runs) = (EXPERIMENT.table(), (self.params.runs() * CLOSER).min(MOST_RUNS));
        self.params.set(&table, "arms", arms)?;
        self.params.set(&table, "runs", vec![runs.to_string()])?;
        self.params.set(&table, "memory", vec![format!("{}B", limit.0)])?;
        Ok(self)
    }

    /// Refuses to go on without consent: the runs are what was asked for. `caller` is the command that was given, with its `--prove`.
    ///
    /// # Errors
    /// Consent was not given.
    pub fn must_be_agreed(&self, agreed: bool, caller: &str) -> Result<()> {
        if agreed {
            return Ok(());
        }
        let reasons = self.global.iter().map(|what| format!("not agreed to: {what}")).collect();
        let command = ramline_units::command_line(self.params.list("command"));
        Err(LabError::refused(reasons, format!("ramline {caller} -- {command}")).into())
    }

    /// Runs the command under each setting; its runs as recorded.
    ///
    /// # Errors
    /// As the lab fails or is interrupted.
    pub fn run(mut self, root: &Root, lock: &RunLock, arms: Option<Vec<String>>) -> Result<RunFolder> {
        if let Some(arms) = arms {
            self.params.set(&EXPERIMENT.table(), "arms", arms)?;
        }
        let mut series = EXPERIMENT.open(root, &self.params).map_err(whole)?;
        for line in series.lines() {
            stdio::tell(&line);
        }
        let env = Env { root, lock, deadline: None, crash_after: state::crash_after() };
        let order = Order { experiment: &EXPERIMENT, params: &self.params, resume: None };
        let done = series::run(&env, &order, &mut series, Consent::Given, &mut Terminal::series(0)).map_err(whole)?;
        if let Some(error) = done.ended {
            return Err(whole(error).into());
        }
        Ok(done.folder.ok_or_else(|| Failure::new(exit::FAILED, "no run was made"))?)
    }
}
