//! `ramline lab`: experiments in a sandbox.

use std::path::PathBuf;
use std::time::Duration;

use anyhow::Result;
use clap::{Args, Subcommand};
use ramline_act::{StateDir, recover};
use ramline_kernel::{Root, process, signals};
use ramline_lab::code_plus_data::{self, Consent, Env};
use ramline_lab::experiments::{EXPERIMENTS, find};
use ramline_lab::preflight::Plan;
use ramline_lab::settings::Settings;
use ramline_lab::store::RunFolder;
use ramline_lab::{arm, preflight};
use ramline_units::Bytes;
use ramline_view::ProofTable;

use crate::exit::{self, Failure};
use crate::output::{self, Format};
use crate::progress::Terminal;
use crate::source::Source;
use crate::{consent, duration, state};

/// Prove it: experiments in a sandbox that cannot hurt the machine
#[derive(Debug, Args)]
pub struct Lab {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// List the experiments
    List,
    /// Describe one: its question, how it is done, what it needs
    Describe {
        /// The experiment
        experiment: String,
    },
    Run(Box<Run>),
    /// Show the table of a run again, from its raw records
    Report {
        /// The run's folder; the latest when left out
        folder: Option<PathBuf>,
        #[command(flatten)]
        format: Format,
    },
    /// Remove what an earlier run left behind
    Clean,
}

/// Run an experiment
#[derive(Debug, Args)]
struct Run {
    /// The experiment
    experiment: String,
    /// One unit; 14 of data and 3 of code have to live in 15
    #[arg(long, value_name = "SIZE", default_value = "32MiB")]
    unit: Bytes,
    /// Limit of the sandbox instead of 15 units
    #[arg(long, value_name = "SIZE")]
    limit: Option<Bytes>,
    /// Units of other programs, 0 to 3
    #[arg(long, value_name = "UNITS", default_value_t = 0)]
    ballast: u32,
    /// Rounds, 1 to 11
    #[arg(long, value_name = "N", default_value_t = ramline_lab::settings::ROUNDS)]
    rounds: u32,
    /// Contents of the data, comma-separated: zeros, text, random
    #[arg(long = "fill", visible_alias = "fills", value_name = "FILLS", value_delimiter = ',', default_value = "text")]
    fills: Vec<String>,
    /// Data in shared instead of private anonymous memory
    #[arg(long)]
    shared: bool,
    /// Arms, comma-separated: as-configured, no-swap, swap:S, zram:S, zram:ALG:S (S is the swappiness)
    #[arg(long, value_name = "ARMS", value_delimiter = ',', default_values = arm::DEFAULT_ARMS)]
    arms: Vec<String>,
    /// Runs of each arm, in alternating order
    #[arg(long, value_name = "N", default_value_t = 3)]
    runs: u32,
    /// When the clock ends the rounds of a run
    #[arg(long, value_name = "TIME", default_value = "20s", value_parser = duration::parse)]
    timeout: Duration,
    /// Read-ahead of the scratch device; the host's disks keep theirs
    #[arg(long, value_name = "SIZE", default_value = "128KiB")]
    read_ahead: Bytes,
    /// Scratch place: a directory on a disk
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
    /// Make swap areas and zram devices without asking; they are removed again
    #[arg(long)]
    prove: bool,
    /// Run although the machine is busy; the records say so
    #[arg(long)]
    allow_busy: bool,
    /// Leave the group's statistics up to 2 s old, as in a container, instead of exact, as on a whole machine
    #[arg(long)]
    stale_statistics: bool,
    /// Say what would be done and written, and stop
    #[arg(long)]
    dry_run: bool,
    #[command(flatten)]
    format: Format,
}

impl Lab {
    /// Runs the command.
    ///
    /// # Errors
    /// As the lab refuses, fails or is interrupted.
    pub fn run(&self, source: &Source) -> Result<u8> {
        match &self.verb {
            Verb::List => {
                let lines = EXPERIMENTS.iter().map(|e| format!("{:<16} {}\n", e.name, e.question));
                output::text(&lines.collect::<String>())?;
                Ok(exit::DONE)
            }
            Verb::Describe { experiment } => {
                let e = known(experiment)?;
                output::text(&format!(
                    "{}\n\n{}\n\n{}\n\nNeeds: {}\nPage:  {}\n",
                    e.name, e.question, e.how, e.needs, e.docs
                ))?;
                Ok(exit::DONE)
            }
            Verb::Run(run) => {
                source.must_be_live("lab run")?;
                run.run()
            }
            Verb::Report { folder, format } => report(folder.as_ref(), *format),
            Verb::Clean => clean(),
        }
    }
}

fn known(name: &str) -> Result<&'static ramline_lab::experiments::Experiment> {
    let names: Vec<_> = EXPERIMENTS.iter().map(|e| e.name).collect();
    let unknown = || {
        let text = format!(
            "there is no experiment '{}'; there are: {}\n  try: ramline lab list",
            name.escape_debug(),
            names.join(", ")
        );
        Failure::new(exit::USAGE, text)
    };
    Ok(find(name).ok_or_else(unknown)?)
}

impl Run {
    fn settings(&self) -> Result<Settings> {
        Ok(Settings {
            unit: self.unit,
            limit: self.limit,
            ballast_units: self.ballast,
            rounds: self.rounds,
            shared: self.shared,
            fills: self.fills.iter().map(|text| text.parse()).collect::<Result<_, _>>()?,
            arms: self.arms.iter().map(|text| arm::parse(text)).collect::<Result<_, _>>()?,
            runs: self.runs,
            timeout: self.timeout,
            read_ahead: self.read_ahead,
            dir: self.dir.clone(),
            allow_busy: self.allow_busy,
            fresh_statistics: !self.stale_statistics,
            ..Settings::default()
        })
    }

    fn run(&self) -> Result<u8> {
        known(&self.experiment)?;
        let settings = self.settings()?;
        settings.check()?;
        let root = Root::live();
        if self.dry_run {
            return dry_run(&root, settings);
        }
        if process::uid() != 0 {
            // Refused, with everything else that is missing, before even the state directory is made.
            preflight::plan(&root, &settings)?;
        }
        // What an earlier run left is removed before the machine is judged: it may be what stands in the way.
        let lock = state::lock(&root)?;
        for removed in code_plus_data::clean_up(&lock, &root)? {
            eprintln!("{}", ramline_view::escape(&removed));
        }
        let plan = preflight::plan(&root, &settings)?;
        say(&plan.lines());
        let agreed = consent::given(self.prove, &plan.global)?;
        signals::install();
        let env = Env { root: &root, lock: &lock, deadline: None, crash_after: state::crash_after() };
        let consent = if agreed { Consent::Given } else { Consent::NotGiven };
        let done = code_plus_data::run(&env, &plan, consent, &mut Terminal::rounds(self.rounds))?;
        let folder = done.folder.ok_or_else(|| Failure::new(exit::FAILED, "no run was made"))?;
        print(&folder, self.format)
    }
}

/// Plan and refusals side by side. What is busy now need not be when it is done, so that is a doubt here.
fn dry_run(root: &Root, settings: Settings) -> Result<u8> {
    let seen = preflight::assess(root, &Settings { allow_busy: true, ..settings })?;
    say(&seen.plan.as_ref().map(Plan::lines).unwrap_or_default());
    seen.into_plan()?;
    Ok(exit::DONE)
}

/// To stderr, on a terminal or not.
fn say(lines: &[String]) {
    for line in lines {
        eprintln!("{}", ramline_view::escape(line));
    }
}

fn report(folder: Option<&PathBuf>, format: Format) -> Result<u8> {
    let folder = match folder {
        Some(dir) => RunFolder::open(dir),
        None => RunFolder::latest(&state::path()?, code_plus_data::NAME).ok_or_else(|| {
            Failure::new(exit::FAILED, "there is no run to report\n  try: ramline lab run code-plus-data")
        })?,
    };
    print(&folder, format)
}

fn print(folder: &RunFolder, format: Format) -> Result<u8> {
    let contents = folder.read()?;
    for problem in &contents.unreadable {
        eprintln!("{}", ramline_view::escape(problem));
    }
    let table = ProofTable::of(&contents.records)
        .ok_or_else(|| Failure::new(exit::FAILED, format!("{} holds no record of a run", folder.dir().display())))?;
    format.print(&table, ramline_view::screen::proof)?;
    for doubt in ramline_lab::report::doubts(&contents.records) {
        eprintln!("doubt: {}", ramline_view::escape(&doubt));
    }
    eprintln!("Raw records: {}", folder.dir().display());
    Ok(exit::DONE)
}

fn clean() -> Result<u8> {
    let Some(state) = StateDir::open_existing(&state::path()?)? else {
        output::text("Nothing was left behind.\n")?;
        return Ok(exit::DONE);
    };
    let report = recover(&state, &Root::live())?;
    if report.is_empty() {
        output::text("Nothing was left behind.\n")?;
    }
    for run in &report.runs {
        for what in &run.removed {
            output::text(&format!("removed {}\n", ramline_view::escape(what)))?;
        }
        for what in &run.left_alone {
            output::text(&format!("left alone: {}\n", ramline_view::escape(what)))?;
        }
        for error in &run.errors {
            eprintln!("ramline: {error}");
        }
    }
    Ok(if report.is_clean() { exit::DONE } else { exit::FAILED })
}
