//! `ramline lab run EXPERIMENT` and `ramline lab resume`: one subcommand an experiment, its options from its table.

use clap::{Arg, ArgAction, ArgMatches, Command, FromArgMatches};
use ramline_lab::experiment::{Experiment, PlannedSeries};
use ramline_lab::experiments::{EXPERIMENTS, find};
use ramline_lab::params::{Parameter, ParameterKind as Kind, Params};
use ramline_lab::series::{self, Consent, Env, Order};

use super::{folder_of, known, report};
use crate::prelude::*;
use crate::retry;
use ramline_lab::LabError;

/// Run an experiment
#[derive(Debug, Args)]
pub struct Run {
    #[command(subcommand)]
    chosen: Chosen,
}

// No doc comment: clap would take it for the description of each experiment.
#[derive(Debug, Clone, Args)]
struct How {
    /// Touch more than the sandbox without asking (swap areas, zram devices, settings); it is put back
    #[arg(long)]
    prove: bool,
    /// Say what would be done and written, and stop
    #[arg(long)]
    dry_run: bool,
    /// Also write the result as one HTML file, with charts
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    #[command(flatten)]
    format: Format,
}

/// Go on with a series
#[derive(Debug, Args)]
pub struct Resume {
    /// The series: its number in `lab list` or its folder; the latest when left out
    #[arg(value_name = "SERIES")]
    folder: Option<PathBuf>,
    #[command(flatten)]
    how: How,
}

/// One experiment with its values.
#[derive(Debug)]
struct Chosen {
    name: String,
    params: Params,
    how: Option<How>,
}

impl FromArgMatches for Chosen {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let (name, given) =
            matches.subcommand().ok_or_else(|| clap::Error::new(clap::error::ErrorKind::MissingSubcommand))?;
        let Some(experiment) = find(name) else {
            // Not one of ours: said in our words when it is run.
            return Ok(Chosen { name: name.to_owned(), params: Params::default(), how: None });
        };
        let table = experiment.table();
        let mut params = Params::defaults(&table);
        for row in &table {
            if let Some(values) = values(given, row) {
                let wrong = |e: ramline_sandbox::LabError| {
                    clap::Error::raw(clap::error::ErrorKind::ValueValidation, format!("{e}\n"))
                };
                params.set(&table, row.name, values).map_err(wrong)?;
            }
        }
        Ok(Chosen { name: name.to_owned(), params, how: Some(How::from_arg_matches(given)?) })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Chosen::from_arg_matches(matches)?;
        Ok(())
    }
}

fn values(given: &ArgMatches, row: &Parameter) -> Option<Vec<String>> {
    match row.kind {
        Kind::Switch => given.get_flag(row.name).then(|| vec!["true".to_owned()]),
        _ => Some(given.get_many::<String>(row.name)?.cloned().collect()),
    }
}

impl Subcommand for Chosen {
    fn augment_subcommands(command: Command) -> Command {
        EXPERIMENTS
            .iter()
            .fold(command, |command, experiment| command.subcommand(subcommand(experiment)))
            .allow_external_subcommands(true)
            .subcommand_required(true)
            .disable_help_subcommand(true)
            .subcommand_value_name("EXPERIMENT")
            .subcommand_help_heading("Experiments")
    }

    fn augment_subcommands_for_update(command: Command) -> Command {
        Chosen::augment_subcommands(command)
    }

    fn has_subcommand(name: &str) -> bool {
        find(name).is_some()
    }
}

fn subcommand(experiment: &'static Experiment) -> Command {
    let base = Command::new(experiment.name);
    // What the shared options are described as is not what the experiment is: that is said last.
    How::augment_args(experiment.table().iter().fold(base, |command, row| command.arg(option(row))))
        .about(experiment.question)
        .long_about(format!("{}\n\n{}\n\nNeeds: {}", experiment.question, experiment.how, experiment.needs))
}

fn option(row: &Parameter) -> Arg {
    let arg = Arg::new(row.name).help(row.help);
    let kind = row.kind;
    let checked = move |text: &str| match kind.objection(text) {
        Some(why) => Err(why),
        None => Ok(text.to_owned()),
    };
    let value = match kind {
        Kind::Switch => return arg.long(row.name).action(ArgAction::SetTrue),
        Kind::Command => return arg.num_args(1..).last(true).value_name("COMMAND"),
        Kind::Word(words) => {
            let arg = arg.long(row.name).value_parser(clap::builder::PossibleValuesParser::new(words));
            return row.default.into_iter().fold(arg, Arg::default_value);
        }
        Kind::Size => "SIZE",
        Kind::Count(..) => "N",
        Kind::Time => "TIME",
        Kind::List => "LIST",
        Kind::Path => "PATH",
        Kind::Text => "TEXT",
    };
    let arg = arg.long(row.name).value_name(value).value_parser(checked);
    // What is compared is called a setting; the option keeps the name it has in records and scripts.
    let arg = if row.name == "arms" { arg.visible_alias("settings") } else { arg };
    let arg = if kind == Kind::List { arg.value_delimiter(',') } else { arg };
    match (kind, row.default) {
        (Kind::List, Some(text)) => arg.default_values(text.split(',')),
        (_, Some(text)) => arg.default_value(text),
        (_, None) => arg,
    }
}

impl Run {
    /// Runs the command.
    ///
    /// # Errors
    /// As the lab refuses, fails or is interrupted.
    pub fn run(&self) -> Result<u8> {
        let experiment = known(&self.chosen.name)?;
        let how = self.chosen.how.as_ref().ok_or_else(|| Failure::usage("no options were read"))?;
        go(experiment, &self.chosen.params, None, how)
    }
}

impl Resume {
    /// Runs the command.
    ///
    /// # Errors
    /// There is no such series, or as the lab refuses, fails or is interrupted.
    pub fn run(&self) -> Result<u8> {
        let folder = folder_of(self.folder.as_ref())?;
        let header = folder.header()?;
        go(known(&header.experiment)?, &header.parameters, Some(&folder), &self.how)
    }
}

fn go(experiment: &Experiment, params: &Params, resume: Option<&RunFolder>, how: &How) -> Result<u8> {
    let root = Root::live();
    if how.dry_run {
        // What is busy now need not be when it is done, so that is a doubt here.
        let mut relaxed = params.clone();
        relaxed.set(&experiment.table(), "allow-busy", vec!["true".to_owned()])?;
        plan(&opened(experiment, &root, &relaxed, resume)?);
        return Ok(exit::DONE);
    }
    if process::uid() != 0 {
        // Refused, with everything else that is missing, before even the state directory is made.
        opened(experiment, &root, params, resume)?;
    }
    // Before anything is started: a place that cannot be written.
    let html = how.html.as_deref().map(report::target).transpose()?;
    let (folder, ended) = made(experiment, params, resume, how.prove)?;
    let code = report::print(&folder, how.format, html)?;
    // What was found until then stands above; why there is no more of it is the error.
    ended.map_or(Ok(code), |error| Err(whole(error, experiment, params, resume).into()))
}

/// Checks the values against the machine; an error proposes the command that was given, with what would help.
fn opened(experiment: &Experiment, root: &Root, params: &Params, resume: Option<&RunFolder>) -> Result<PlannedSeries> {
    Ok(experiment.open(root, params).map_err(|error| whole(error, experiment, params, resume))?)
}

fn whole(error: LabError, experiment: &Experiment, params: &Params, resume: Option<&RunFolder>) -> LabError {
    let words = if resume.is_some() { experiment.words(params, &[]) } else { retry::given() };
    retry::whole(error, &format!("ramline lab run {}", experiment.name), &words)
}

/// Makes a series, or what is missing of one, and what ended it early.
///
/// # Errors
/// As the lab refuses, fails or is interrupted.
pub fn made(
    experiment: &Experiment,
    params: &Params,
    resume: Option<&RunFolder>,
    prove: bool,
) -> Result<(RunFolder, Option<LabError>)> {
    let root = Root::live();
    // What an earlier run left is removed before the machine is judged: it may be what stands in the way.
    let lock = state::lock(&root)?;
    for removed in ramline_act::clean_up(&lock, &root)? {
        ramline_kernel::stdio::tell(&removed);
    }
    let mut series = opened(experiment, &root, params, resume)?;
    plan(&series);
    let agreed = consent::given(prove, &series.global)?;
    signals::install();
    let env = Env { root: &root, lock: &lock, deadline: None, crash_after: state::crash_after() };
    let consent = if agreed { Consent::Given } else { Consent::NotGiven };
    let order = Order { experiment, params, resume };
    let rounds = params.count("rounds").and_then(|n| u32::try_from(n).ok()).unwrap_or_default();
    let done = series::run(&env, &order, &mut series, consent, &mut Terminal::series(rounds))
        .map_err(|error| whole(error, experiment, params, resume))?;
    let folder = done.folder.ok_or_else(|| Failure::new(exit::FAILED, "no run was made"))?;
    Ok((folder, done.ended))
}

/// To stderr, on a terminal or not.
fn plan(series: &PlannedSeries) {
    for line in series.lines() {
        ramline_kernel::stdio::tell(&line);
    }
}
