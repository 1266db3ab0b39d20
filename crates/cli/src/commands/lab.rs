//! `ramline lab`: experiments in a sandbox.

pub mod report;
pub mod run;

use ramline_act::recover;
use ramline_lab::experiment::Experiment;
use ramline_lab::experiments::{EXPERIMENTS, find};
use ramline_lab::params::Parameter;
use ramline_view::{Cleaned, ExperimentInfo, ExperimentList, ExperimentOption, PastSeries, SCHEMA_VERSION};

use crate::prelude::*;

/// Prove it: experiments in a sandbox that cannot hurt the machine
#[derive(Debug, Args)]
pub struct Lab {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// List the experiments, and the series that were made
    List {
        #[command(flatten)]
        format: Format,
    },
    /// Describe one: its question, how it is done, what it needs, what can be chosen
    Describe {
        /// The experiment
        experiment: String,
        #[command(flatten)]
        format: Format,
    },
    Run(run::Run),
    /// Go on with a series that was interrupted: runs that have a record are not made again
    Resume(run::Resume),
    /// Show the table of a series again, from its raw records
    Report {
        /// The series: its number in `lab list` or its folder; the latest when left out
        #[arg(value_name = "SERIES")]
        folder: Option<PathBuf>,
        /// Print comma-separated values, one line a run and figure
        #[arg(long, conflicts_with_all = ["json", "html"])]
        csv: bool,
        /// Also write it as one HTML file, with charts
        #[arg(long, value_name = "FILE")]
        html: Option<PathBuf>,
        #[command(flatten)]
        format: Format,
    },
    /// Compare two series of one experiment, setting by setting: before and after a change, this machine and another
    Compare {
        /// The first series: its number in `lab list` or its folder
        first: PathBuf,
        /// The second
        second: PathBuf,
        /// Also write both as one HTML file, with charts
        #[arg(long, value_name = "FILE")]
        html: Option<PathBuf>,
        #[command(flatten)]
        format: Format,
    },
    /// Remove what an earlier run left behind
    Clean {
        #[command(flatten)]
        format: Format,
    },
}

impl Lab {
    /// Runs the command.
    ///
    /// # Errors
    /// As the lab refuses, fails or is interrupted.
    pub fn run(&self, source: &Source) -> Result<u8> {
        source.must_be_live("lab")?;
        match &self.verb {
            Verb::List { format } => {
                let experiments = EXPERIMENTS.iter().map(|e| info(e, 0)).collect();
                let list = ExperimentList { schema_version: SCHEMA_VERSION, experiments, series: past()? };
                format.screen(&list)?;
                Ok(exit::DONE)
            }
            Verb::Describe { experiment, format } => {
                format.screen(&info(known(experiment)?, SCHEMA_VERSION))?;
                Ok(exit::DONE)
            }
            Verb::Run(run) => run.run(),
            Verb::Resume(resume) => resume.run(),
            Verb::Report { folder, csv: true, .. } => report::csv(&folder_of(folder.as_ref())?),
            Verb::Report { folder, html, format, .. } => {
                let html = html.as_deref().map(report::target).transpose()?;
                report::print(&folder_of(folder.as_ref())?, *format, html)
            }
            Verb::Compare { first, second, html, format } => {
                let html = html.as_deref().map(report::target).transpose()?;
                report::compare(&folder_of(Some(first))?, &folder_of(Some(second))?, *format, html)
            }
            Verb::Clean { format } => clean(*format),
        }
    }
}

fn info(e: &Experiment, schema_version: u64) -> ExperimentInfo {
    let option = |row: &Parameter| ExperimentOption {
        name: row.name.to_owned(),
        help: row.help.to_owned(),
        default: row.default.map(str::to_owned),
    };
    ExperimentInfo {
        schema_version,
        name: e.name.to_owned(),
        question: e.question.to_owned(),
        how: e.how.to_owned(),
        needs: e.needs.to_owned(),
        docs: e.docs(),
        options: e.table().iter().map(option).collect(),
    }
}

pub fn known(name: &str) -> Result<&'static Experiment> {
    let names: Vec<_> = EXPERIMENTS.iter().map(|e| e.name).collect();
    let unknown = || {
        let text = format!(
            "there is no experiment '{}'; there are: {}\n  try: ramline lab list",
            name.escape_debug(),
            names.join(", ")
        );
        Failure::usage(text)
    };
    Ok(find(name).ok_or_else(unknown)?)
}

/// All series that were made, the oldest first.
fn made() -> Result<Vec<(&'static str, RunFolder)>> {
    let state = state::path()?;
    let of = |e: &'static Experiment| RunFolder::all(&state, e.name).into_iter().map(move |folder| (e.name, folder));
    let mut all: Vec<_> = EXPERIMENTS.iter().flat_map(of).collect();
    ramline_units::sort_by_key(&mut all, |(_, folder)| folder.began());
    Ok(all)
}

fn past() -> Result<Vec<PastSeries>> {
    let one = |(number, (experiment, folder)): (u64, (&str, RunFolder))| PastSeries {
        number,
        experiment: experiment.to_owned(),
        began_unix_ms: folder.began(),
        runs: folder.count(),
        folder: folder.dir().display().to_string(),
    };
    Ok((1..).zip(made()?).map(one).collect())
}

/// The series that was named by number or folder, or the latest of any experiment.
pub fn folder_of(named: Option<&PathBuf>) -> Result<RunFolder> {
    let Some(named) = named else {
        let latest = made()?.pop().map(|(_, folder)| folder);
        let none = || Failure::new(exit::FAILED, "there is no series to report\n  try: ramline lab run code-plus-data");
        return Ok(latest.ok_or_else(none)?);
    };
    // A folder of that name comes first: it stands where the command was typed.
    if named.is_dir() {
        return Ok(RunFolder::open(named));
    }
    let number = named.to_str().and_then(|text| text.parse::<usize>().ok()).and_then(|number| number.checked_sub(1));
    let found = number.map(made_nth).transpose()?.flatten();
    let none = || {
        let what = format!("there is no series '{}'", ramline_view::escape(&named.to_string_lossy()));
        Failure::usage(format!("{what}: neither a number of 'lab list' nor a folder\n  try: ramline lab list"))
    };
    Ok(found.ok_or_else(none)?)
}

fn made_nth(index: usize) -> Result<Option<RunFolder>> {
    Ok(made()?.into_iter().nth(index).map(|(_, folder)| folder))
}

fn clean(format: Format) -> Result<u8> {
    let mut cleaned = Cleaned { schema_version: SCHEMA_VERSION, ..Cleaned::default() };
    let mut code = exit::DONE;
    if let Some(state) = StateDir::open_existing(&state::path()?)? {
        let report = recover(&state, &Root::live())?;
        for run in &report.runs {
            cleaned.removed.extend(run.removed.iter().cloned());
            cleaned.left_alone.extend(run.left_alone.iter().cloned());
            cleaned.errors.extend(run.errors.iter().map(ToString::to_string));
        }
        code = if report.is_clean() { exit::DONE } else { exit::FAILED };
    }
    format.screen(&cleaned)?;
    for error in &cleaned.errors {
        ramline_kernel::stdio::tell(&format!("ramline: {error}"));
    }
    Ok(code)
}
