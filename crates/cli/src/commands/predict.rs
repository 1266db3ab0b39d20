//! `ramline predict`: a load through the simulator, setting by setting, and the lab's measurement beside it.

mod contents;
mod load;
mod recorded;

use ramline_gather::headroom::own_headroom;
use ramline_kernel::output::Output;
use ramline_kernel::worker;
use ramline_lab::experiment::Experiment;
use ramline_lab::forecast::{compressed, refusal};
use ramline_lab::params::Params;
use ramline_predict::against::against;
use ramline_predict::forecast::RUNS as SIMULATIONS;
use ramline_predict::profile;
use ramline_predict::question::{Caller, Question};
use ramline_predict::settings::forecast;
use ramline_predict::workers::Workers;
use ramline_sandbox::LabError;
use ramline_sandbox::progress::Progress;
use ramline_view::Prediction;

use self::load::Predicted;
use super::lab;
use crate::prelude::*;

/// Simulations of each setting and limit in a search for the least memory.
const SEARCHED: u32 = 8;

/// Predict what another swap setting or amount of RAM would do to a program, or to a load of the lab; --verify measures it too
///
/// A program is recorded first (root; as 'trace record' does), for 60 s where it runs already, else until it ends; its output goes to standard error. Then the recording is simulated
/// with what it needs, with three quarters and half of that, without swap, with a swap file and with zram.
#[derive(Debug, Args)]
#[command(override_usage = "ramline predict [OPTIONS] -- <COMMAND>...\n       \
    ramline predict --pid <PID|NAME> | --cgroup <GROUP> [--for <TIME>] [OPTIONS]\n       \
    ramline predict [EXPERIMENT|FILE] [OPTIONS]")]
pub struct Predict {
    /// The experiment whose load it is, code-plus-data or known-load; or a file of touches, of 'trace record', 'trace make' or 'trace import'
    #[arg(value_name = "EXPERIMENT|FILE", default_value = "code-plus-data")]
    load_of: OsString,
    /// Record and predict this process, by id or name
    #[arg(long, value_name = "PID|NAME", conflicts_with_all = ["cgroup", "command", "against"])]
    pid: Option<String>,
    /// Record and predict the processes of this control group and of those below it
    #[arg(long, value_name = "GROUP", conflicts_with_all = ["command", "against"])]
    cgroup: Option<PathBuf>,
    /// How long to record; a command is ended then [default: 60s, a command until it ends, or Ctrl-C]
    #[arg(long = "for", value_name = "TIME", value_parser = duration::parse)]
    time: Option<Duration>,
    /// The share of time that recording may take
    #[arg(long, value_name = "PERCENT", default_value = "2%", value_parser = crate::commands::trace::record::share)]
    overhead: f64,
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
    /// Limit of the group instead of 15 units, or of three quarters of the size, or of all, three quarters and half of what a program needs; or several, comma-separated
    #[arg(long, visible_alias = "ram", value_name = "LIST", value_delimiter = ',')]
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
    /// Settings, comma-separated: no-swap, swap:S, zram:S, zram:ALG:S (S is the swappiness) [default: no-swap, swap and zram by swappiness; of a program no-swap,swap:60,zram:lz4:60,zram:zstd:60]
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    settings: Vec<String>,
    /// Kinds of swap instead of settings, comma-separated: none, disk, zram, zram:ALG
    #[arg(long, value_name = "LIST", value_delimiter = ',', conflicts_with_all = ["settings", "against"])]
    swap: Vec<String>,
    /// With --swap: swappiness, or several, comma-separated
    #[arg(long, value_name = "LIST", value_delimiter = ',', default_value = "60", requires = "swap")]
    swappiness: Vec<String>,
    /// Of a program: the least memory with which each setting is as fast, in steps of a twentieth of what it needs
    #[arg(long, conflicts_with_all = ["limit", "against", "verify"])]
    min_ram: bool,
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
    /// This command and all it starts: recorded and predicted
    #[arg(last = true, value_name = "COMMAND", conflicts_with = "against")]
    command: Vec<OsString>,
}

impl Predict {
    /// Runs the command.
    ///
    /// # Errors
    /// The options make no sense, or as the lab refuses.
    pub fn run(&self, source: &Source) -> Result<u8> {
        source.must_be_live("predict")?;
        let begun = Instant::now();
        let html =
            self.html.as_deref().map(|path| place::open(path, place::HTML, "ramline predict --html predicted.html"));
        let html = html.transpose()?;
        let limit = self.limit.first();
        let tiers = remembered::tiers(source);
        let seen = source.snapshot(profile::WANTED)?;
        let (here, is_virtual) = (profile::from_machine(&seen), seen.machine.hypervisor.is_some());
        let asked = profile::asked(here, &self.kernel, &self.lru).map_err(refusal)?;
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        let workers = Workers { count: threads, each: &|count, what| worker::side_by_side("simulation", count, what) };
        let caller =
            Caller { workers, free: own_headroom(&Root::live())?, compress: &compressed, tiers: tiers.as_ref() };
        let with = |mut question: Question| {
            // A search has many limits, and asks for medians alone.
            let runs = if self.min_ram { self.simulations.min(SEARCHED) } else { self.simulations };
            (question.runs, question.is_virtual) = (runs, is_virtual);
            question
        };
        let both = |experiment: &'static Experiment, folder: &RunFolder, params: &Params| -> Result<Prediction> {
            let records = folder.read()?.records;
            let of = records.first().map_or(here, |record| profile::from_record(record, here));
            let (question, mut terminal) = (with(load::question(experiment, params)?), Terminal::new());
            let told = against(&question, of, caller, &records, &mut |what| terminal.step(what));
            Ok(Prediction::new(told.map_err(refusal)?))
        };
        let shown = if let Some(series) = &self.against {
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
            let experiment = ramline_lab::experiments::find(&header.experiment);
            both(experiment.ok_or_else(|| load::not_yet(&header.experiment))?, &folder, &header.parameters)?
        } else {
            let predicted = Predicted::named(&self.load_of, self)?;
            let is_recorded = matches!(predicted, Predicted::Recorded(_));
            if self.verify && self.limit.len() > 1 && !is_recorded {
                let wrong = "--verify runs one limit in the lab\n  try: --limit 300MiB --verify";
                return Err(Failure::usage(wrong).into());
            }
            // A recording has all its limits in one question.
            let others = self.limit.iter().skip(1).filter(|_| !is_recorded);
            let others = others.map(|limit| predicted.question(Some(limit), self));
            let question = predicted.question(limit, self)?;
            let question = with(question.with_limits(others.collect::<Result<_>>()?));
            let mut terminal = Terminal::new();
            let sampled = |fill: &str, algorithm: Option<&str>, seed: u64, pages: u32| match &predicted {
                Predicted::Recorded(recorded) => recorded.lengths((fill, algorithm), seed, pages),
                _ => compressed(fill, algorithm, seed, pages),
            };
            let caller = Caller { compress: &sampled, ..caller };
            let told = forecast(&question, &asked, caller, &mut |what| terminal.step(what));
            drop(terminal);
            let told = told.map_err(|error| predicted.refusal(error))?;
            match predicted {
                Predicted::Load(experiment) if self.verify => {
                    let params = load::params(experiment, &told.to_verify(), limit, self)?;
                    let (folder, ended) = lab::run::made(experiment, &params, None, self.prove).map_err(own_way_out)?;
                    if let Some(error) = ended {
                        return Err(error.into());
                    }
                    both(experiment, &folder, &params)?
                }
                Predicted::Recorded(_) if self.verify => Prediction::new(recorded::verify(told, self, begun)?),
                _ => Prediction::new(told),
            }
        };
        if !html.as_ref().is_some_and(Output::is_stdout) {
            self.format.screen(&shown)?;
        }
        if let Some(output) = html {
            output.write(ramline_view::html::prediction(&shown, env!("CARGO_PKG_VERSION")).as_bytes())?;
        }
        Ok(exit::DONE)
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
