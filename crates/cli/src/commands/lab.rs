//! `ramline lab`: experiments in a sandbox.

mod run;

use std::path::PathBuf;

use anyhow::Result;
use clap::{Args, Subcommand};
use ramline_act::{StateDir, recover};
use ramline_kernel::Root;
use ramline_lab::experiments::{EXPERIMENTS, find};
use ramline_lab::store::RunFolder;

use crate::exit::{self, Failure};
use crate::output::{self, Format};
use crate::source::Source;
use crate::state;

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
    /// Describe one: its question, how it is done, what it needs, what can be chosen
    Describe {
        /// The experiment
        experiment: String,
    },
    Run(run::Run),
    /// Go on with a series that was interrupted: runs that have a record are not made again
    Resume(run::Resume),
    /// Show the table of a series again, from its raw records
    Report {
        /// The series' folder; the latest when left out
        folder: Option<PathBuf>,
        /// Print comma-separated values, one line a run and figure
        #[arg(long, conflicts_with = "json")]
        csv: bool,
        #[command(flatten)]
        format: Format,
    },
    /// Remove what an earlier run left behind
    Clean,
}

impl Lab {
    /// Runs the command.
    ///
    /// # Errors
    /// As the lab refuses, fails or is interrupted.
    pub fn run(&self, source: &Source) -> Result<u8> {
        match &self.verb {
            Verb::List => {
                let lines = EXPERIMENTS.iter().map(|e| format!("{:<20} {}\n", e.name, e.question));
                output::text(&lines.collect::<String>())?;
                Ok(exit::DONE)
            }
            Verb::Describe { experiment } => describe(experiment),
            Verb::Run(run) => {
                source.must_be_live("lab run")?;
                run.run()
            }
            Verb::Resume(resume) => {
                source.must_be_live("lab resume")?;
                resume.run()
            }
            Verb::Report { folder, csv, format } => report(folder.as_ref(), *csv, *format),
            Verb::Clean => clean(),
        }
    }
}

fn describe(name: &str) -> Result<u8> {
    let e = known(name)?;
    let mut text =
        format!("{}\n\n{}\n\n{}\n\nNeeds: {}\nPage:  {}\n\nOptions\n", e.name, e.question, e.how, e.needs, e.docs);
    for row in e.table() {
        let default = row.default.map(|value| format!(" [{value}]")).unwrap_or_default();
        text += &format!("  --{:<18} {}{default}\n", row.name, row.help);
    }
    output::text(&text)?;
    Ok(exit::DONE)
}

fn known(name: &str) -> Result<&'static ramline_lab::experiment::Experiment> {
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

/// The folder that was named, or the latest of any experiment.
fn folder_of(named: Option<&PathBuf>) -> Result<RunFolder> {
    if let Some(dir) = named {
        return Ok(RunFolder::open(dir));
    }
    let state = state::path()?;
    let latest = EXPERIMENTS.iter().filter_map(|e| RunFolder::latest(&state, e.name)).max_by_key(RunFolder::began);
    Ok(latest.ok_or_else(|| {
        Failure::new(exit::FAILED, "there is no series to report\n  try: ramline lab run code-plus-data")
    })?)
}

fn report(folder: Option<&PathBuf>, csv: bool, format: Format) -> Result<u8> {
    let folder = folder_of(folder)?;
    if csv {
        output::text(&ramline_view::screen::series_csv(&folder.read()?.records))?;
        return Ok(exit::DONE);
    }
    print(&folder, format)
}

/// The table of a folder: of code-plus-data its own, of the others the one that fits every experiment.
fn print(folder: &RunFolder, format: Format) -> Result<u8> {
    let contents = folder.read()?;
    for problem in &contents.unreadable {
        eprintln!("{}", ramline_view::escape(problem));
    }
    let none = || Failure::new(exit::FAILED, format!("{} holds no record of a run", folder.dir().display()));
    let experiment = contents.records.first().map(|record| record.experiment.clone()).unwrap_or_default();
    if experiment == ramline_lab::code_plus_data::NAME {
        let table = ramline_view::ProofTable::of(&contents.records).ok_or_else(none)?;
        format.print(&table, ramline_view::screen::proof)?;
    } else {
        let table = ramline_evidence::SeriesTable::of(&contents.records).ok_or_else(none)?;
        let lead = find(&experiment).map(|e| e.figures).unwrap_or_default();
        format.print(&output::Versioned::new(&table), |table, style| {
            ramline_view::screen::series(table.data(), lead, style)
        })?;
    }
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
