//! `ramline predict`: a load through the simulator, setting by setting, and the lab's measurement beside it.

use ramline_kernel::output::Output;
use ramline_lab::experiments::code_plus_data::settings::{NAME, Settings};
use ramline_lab::experiments::{code_plus_data, find, known_load};
use ramline_lab::forecast::{Question, RUNS as SIMULATIONS, against, forecast};
use ramline_lab::params::Params;
use ramline_lab::profile;
use ramline_sandbox::LabError;
use ramline_view::Prediction;

use super::lab;
use crate::prelude::*;

/// What is foretold where nothing else is asked for.
const SETTINGS: &str = "no-swap,swap:1,swap:60,swap:100,zram:60,zram:100,zram:180";
/// Runs of each setting that the lab makes for --verify.
const RUNS: &str = "3";

/// Predict what another swap setting, read-ahead or limit would do to a load; --verify measures it too
#[derive(Debug, Args)]
pub struct Predict {
    /// The experiment whose load it is: code-plus-data or known-load
    #[arg(value_name = "EXPERIMENT", default_value = NAME)]
    experiment: String,
    /// Of code-plus-data: size of one unit; the load has 14 units of data and 3 of code, in a limit of 15
    #[arg(long, value_name = "SIZE")]
    unit: Option<String>,
    /// Of code-plus-data: the data in shared instead of private anonymous memory
    #[arg(long)]
    shared: bool,
    /// Of known-load: which load
    #[arg(long, value_name = "NAME")]
    load: Option<String>,
    /// Of known-load: size of the load
    #[arg(long, value_name = "SIZE")]
    size: Option<String>,
    /// Of known-load: how unequal its places are, 0 to 4
    #[arg(long, value_name = "S")]
    skew: Option<String>,
    /// Of known-load: bytes of each read
    #[arg(long, value_name = "SIZE")]
    read_length: Option<String>,
    /// Limit of the group instead of 15 units, or of three quarters of the size; or several, comma-separated
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    limit: Vec<String>,
    /// Seed of what is random
    #[arg(long, value_name = "N")]
    seed: Option<String>,
    /// Rounds
    #[arg(long, value_name = "N")]
    rounds: Option<String>,
    /// Contents of the data, comma-separated: zeros, text, random
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    fill: Vec<String>,
    /// Settings, comma-separated: no-swap, swap:S, zram:S, zram:ALG:S (S is the swappiness)
    #[arg(long, value_name = "LIST", value_delimiter = ',', default_value = SETTINGS)]
    settings: Vec<String>,
    /// Read-ahead of the disk with the code, or several, comma-separated
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    read_ahead: Vec<String>,
    /// Simulations of each setting (up to 4 times as many where they differ much); 1 is the quickest, and gives no range
    #[arg(long, value_name = "N", default_value_t = SIMULATIONS, value_parser = clap::value_parser!(u32).range(1..=1000))]
    simulations: u32,
    /// Time after which a run counts as thrashing
    #[arg(long, value_name = "TIME")]
    timeout: Option<String>,
    /// Kernels, comma-separated: 6.1, 6.12, 6.18, 7.3; without it the one that runs here, or of the nearest of these
    #[arg(long, value_name = "LIST", value_delimiter = ',', conflicts_with = "verify")]
    kernel: Vec<String>,
    /// Page lists, comma-separated: classic, mglru; without it those in use here
    #[arg(long, value_name = "LIST", value_delimiter = ',', conflicts_with = "verify")]
    lru: Vec<String>,
    /// Then run the best, the worst and no-swap in the lab, and show predicted beside measured
    #[arg(long)]
    verify: bool,
    /// With --verify: make swap areas and zram devices without asking; they are removed afterwards
    #[arg(long, requires = "verify")]
    prove: bool,
    /// With --verify: run in the lab although the machine is busy; the records say so
    #[arg(long, requires = "verify")]
    allow_busy: bool,
    /// Predict what a series of the lab measured, its number in 'lab list' or its folder, and show both
    #[arg(long, value_name = "SERIES", conflicts_with_all = ["verify", "unit", "shared", "load", "size", "skew", "read_length", "limit", "seed", "rounds", "fill", "settings", "read_ahead", "timeout", "kernel", "lru"])]
    against: Option<PathBuf>,
    /// Also write it as one HTML file, with charts
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    #[command(flatten)]
    format: Format,
}

impl Predict {
    /// Runs the command.
    ///
    /// # Errors
    /// The options make no sense, or as the lab refuses.
    pub fn run(&self, source: &Source) -> Result<u8> {
        source.must_be_live("predict")?;
        let html =
            self.html.as_deref().map(|path| place::open(path, place::HTML, "ramline predict --html predicted.html"));
        let html = html.transpose()?;
        let limit = self.limit.first();
        let tiers = remembered::tiers(source);
        let seen = source.snapshot(profile::WANTED)?;
        let (here, is_virtual) = (profile::of_machine(&seen), seen.machine.hypervisor.is_some());
        let asked = profile::asked(here, &self.kernel, &self.lru)?;
        let told = |experiment: &str, params: &Params| -> Result<Prediction> {
            let others =
                self.limit.iter().skip(1).map(|limit| question(experiment, &self.params(&self.settings, Some(limit))?));
            let mut question = question(experiment, params)?.with_limits(others.collect::<Result<_>>()?);
            (question.runs, question.is_virtual) = (self.simulations, is_virtual);
            Ok(Prediction::new(forecast(&question, &asked, tiers.as_ref(), &mut Terminal::new())?))
        };
        let both = |experiment: &str, folder: &RunFolder, params: &Params| -> Result<Prediction> {
            let records = folder.read()?.records;
            let of = records.first().map_or(here, |record| profile::of_record(record, here));
            let mut question = question(experiment, params)?;
            (question.runs, question.is_virtual) = (self.simulations, is_virtual);
            Ok(Prediction::new(against(&question, of, tiers.as_ref(), &records, &mut Terminal::new())?))
        };
        let shown = match &self.against {
            Some(series) => {
                let folder = lab::folder_of(Some(series))?;
                let header = folder.header()?;
                let bed = header.parameters.text("sandbox").unwrap_or("cgroup");
                if bed != "cgroup" {
                    let wrong = format!(
                        "that series is {} in a {bed}; only one in a cgroup can be predicted yet\n  try: ramline lab list",
                        header.experiment
                    );
                    return Err(Failure::usage(wrong).into());
                }
                both(&header.experiment, &folder, &header.parameters)?
            }
            None if self.verify => {
                let name = &self.experiment;
                if self.limit.len() > 1 {
                    let wrong = "--verify runs one limit in the lab\n  try: --limit 300MiB --verify";
                    return Err(Failure::usage(wrong).into());
                }
                let chosen = to_verify(&told(name, &self.params(&self.settings, limit)?)?);
                let params = self.params(&chosen, limit)?;
                let (folder, ended) =
                    lab::run::made(lab::known(name)?, &params, None, self.prove).map_err(own_way_out)?;
                if let Some(error) = ended {
                    return Err(error.into());
                }
                both(name, &folder, &params)?
            }
            None => told(&self.experiment, &self.params(&self.settings, limit)?)?,
        };
        if !html.as_ref().is_some_and(Output::is_stdout) {
            self.format.screen(&shown)?;
        }
        if let Some(output) = html {
            output.write(ramline_view::html::prediction(&shown, env!("CARGO_PKG_VERSION")).as_bytes())?;
        }
        Ok(exit::DONE)
    }

    fn params(&self, settings: &[String], limit: Option<&String>) -> Result<Params> {
        let name = self.experiment.as_str();
        let known = find(name).filter(|_| [NAME, known_load::NAME].contains(&name));
        let table = known.ok_or_else(|| not_yet(name))?.table();
        let mut params = Params::defaults(&table);
        let one = |value: &Option<String>| value.iter().cloned().collect();
        let values: [(&str, Vec<String>); 15] = [
            ("allow-busy", self.allow_busy.then(|| "true".to_owned()).into_iter().collect()),
            ("shared", self.shared.then(|| "true".to_owned()).into_iter().collect()),
            ("unit", one(&self.unit)),
            ("load", one(&self.load)),
            ("size", one(&self.size)),
            ("skew", one(&self.skew)),
            ("read-length", one(&self.read_length)),
            ("seed", one(&self.seed)),
            ("limit", limit.into_iter().cloned().collect()),
            ("rounds", one(&self.rounds)),
            ("timeout", one(&self.timeout)),
            ("fill", self.fill.clone()),
            ("read-ahead", self.read_ahead.clone()),
            ("arms", settings.to_vec()),
            ("runs", vec![RUNS.to_owned()]),
        ];
        for (name, values) in values.into_iter().filter(|(_, values)| !values.is_empty()) {
            params.set(&table, name, values)?;
        }
        Ok(params)
    }
}

/// What the lab proposes, as a word of this command: the same command with the option, or as root.
fn own_way_out(error: anyhow::Error) -> anyhow::Error {
    let own = std::env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned());
    let own = format!("ramline {}", ramline_units::command_line(own.collect::<Vec<_>>()));
    match error.downcast::<LabError>() {
        Ok(LabError::Refused { reasons, hint, privilege }) => {
            let hint = match hint.strip_prefix("sudo ") {
                Some(_) => format!("sudo {own}"),
                None if hint.ends_with(" --allow-busy") => format!("{own} --allow-busy"),
                None => hint,
            };
            LabError::Refused { reasons, hint, privilege }.into()
        }
        Ok(other) => other.into(),
        Err(other) => other,
    }
}

/// What is asked of the simulator, by the name of an experiment.
fn question(experiment: &str, params: &Params) -> Result<Question<'static>> {
    Ok(match experiment {
        NAME => code_plus_data::forecast::question(&Settings::of(params)?)?,
        known_load::NAME => known_load::forecast::question(params)?,
        other => return Err(not_yet(other).into()),
    })
}

fn not_yet(experiment: &str) -> Failure {
    let known = known_load::NAME;
    Failure::usage(format!(
        "{experiment} cannot be predicted yet, only {NAME} and {known}\n  try: ramline predict {known} --load server"
    ))
}

/// The settings with the shortest and the longest round, and that without swap, as the lab names them.
fn to_verify(prediction: &Prediction) -> Vec<String> {
    let settings = prediction.forecast.settings.iter();
    let all = settings.filter_map(|setting| Some((setting.name.split(' ').next()?, setting.round()?.median)));
    let (least, most) = (all.clone().min_by(|a, b| a.1.total_cmp(&b.1)), all.max_by(|a, b| a.1.total_cmp(&b.1)));
    let mut chosen: Vec<String> = Vec::new();
    for name in [Some("no-swap"), least.map(|one| one.0), most.map(|one| one.0)].into_iter().flatten() {
        if !chosen.iter().any(|known| known == name) {
            chosen.push(name.to_owned());
        }
    }
    chosen
}
