//! What is predicted: the load of an experiment by its name, or a file of touches by its path.

use std::ffi::OsStr;
use std::fs::File;
use std::io::BufReader;

use ramline_advice::planning::nearest_setting;
use ramline_lab::experiment::Experiment;
use ramline_lab::experiments::{find, known_load, simulated};
use ramline_lab::forecast::{PredictError, refusal};
use ramline_lab::params::Params;
use ramline_predict::question::Question;
use ramline_trace::touches::{Maker, TouchFile};

use super::Predict;
use super::recorded::Recorded;
use crate::commands::trace::files;
use crate::prelude::*;
use crate::retry;

/// Runs of each setting that the lab makes for --verify.
const RUNS: &str = "3";
/// Settings that are predicted for a load by default.
const SETTINGS: &str = "no-swap,swap:1,swap:60,swap:100,zram:60,zram:100,zram:180";
/// How the name of a file of touches ends in examples.
const ENDING: &str = "trace";

/// A load, and where it is from.
pub enum Predicted {
    /// Of an experiment, from its options.
    Load(&'static Experiment),
    /// Of a file: what it holds is all that is touched.
    File {
        /// Its name.
        path: PathBuf,
        /// Read once.
        touches: Arc<TouchFile<BufReader<File>>>,
    },
    /// A recording of a program.
    Recorded(Recorded),
}

impl Predicted {
    /// The experiment of that name; else a file, where it is one by its name.
    ///
    /// # Errors
    /// Neither is there; the file cannot be read, or holds what is not simulated; options that are of another kind of load.
    pub fn named(word: &OsStr, options: &Predict) -> Result<Predicted> {
        if options.is_live() {
            if let Some(option) = options.generated_load_options(true).first() {
                let wrong = format!("{option} is of a load that is generated, and a program has its own touches");
                return Err(Failure::usage(format!("{wrong}\n  try: ramline predict --limit 300MiB -- make")).into());
            }
            return Ok(Predicted::Recorded(Recorded::live(options)?));
        }
        let (name, path) = (word.to_string_lossy(), Path::new(word));
        if let Some(experiment) = find(&name) {
            return Ok(Predicted::Load(experiment));
        }
        let is_path = name.contains('/') || path.extension().is_some_and(|ending| ending == ENDING);
        if !is_path && std::fs::symlink_metadata(path).is_err() {
            return Err(neither(&name).into());
        }
        let reader = files::open(path)?;
        let is_recording = reader.header().origin.maker == Maker::Recorder;
        if let Some(option) = options.generated_load_options(is_recording).first() {
            let own = ramline_units::quoted_path(path);
            let wrong = format!("{option} is of a load that is generated, and a file has its touches already");
            return Err(Failure::usage(format!("{wrong}\n  try: ramline predict {own} --limit 72MiB")).into());
        }
        if is_recording {
            return Ok(Predicted::Recorded(Recorded::from_file(path, reader, options)?));
        }
        let touches = TouchFile::new(reader).map_err(|error| files::file_error(path, error))?;
        Ok(Predicted::File { path: path.to_owned(), touches: Arc::new(touches) })
    }

    /// What is asked of the simulator.
    ///
    /// # Errors
    /// The options make no sense, or this experiment has no load that can be simulated.
    pub fn question(&self, limit: Option<&String>, options: &Predict) -> Result<Question> {
        let settings = &options.settings_or(SETTINGS);
        match self {
            Predicted::Recorded(recorded) => recorded.question(options),
            Predicted::Load(experiment) => question(experiment, &params(experiment, settings, limit, options)?),
            Predicted::File { path, touches } => {
                let mut params = params(&known_load::EXPERIMENT, settings, limit, options)?;
                if let (None, Some(seed)) = (&options.seed, touches.header().origin.seed) {
                    params.set(&known_load::EXPERIMENT.table(), "seed", vec![seed.to_string()])?;
                }
                let (name, left_out) = (path.to_string_lossy().into_owned(), touches.left_out());
                Ok(known_load::forecast::from_touches(Arc::clone(touches) as _, name, &left_out, &params)?)
            }
        }
    }

    /// What is wrong, with the file where it is the file's fault.
    pub fn refusal(&self, error: PredictError) -> anyhow::Error {
        match (self, error) {
            (Predicted::File { path, .. }, PredictError::Touches(error)) => files::file_error(path, error),
            // What is proposed is this command with another size: its other options stay.
            (_, PredictError::Refused { reason, hint }) if hint.starts_with("ramline predict ") => {
                let more: Vec<&str> = hint.split_whitespace().skip(3).collect();
                let hint = retry::with(&retry::given(), &more);
                refusal(PredictError::Refused { reason, hint }).into()
            }
            (_, error) => refusal(error).into(),
        }
    }
}

/// What an experiment asks of the simulator.
///
/// # Errors
/// Its load cannot be simulated; the parameters make no sense.
pub fn question(experiment: &Experiment, params: &Params) -> Result<Question> {
    let question = experiment.forecast.ok_or_else(|| not_yet(experiment.name))?;
    // What the lab would propose for a series is proposed of this command.
    let of_predict = |error| retry::whole(error, &format!("ramline lab run {}", experiment.name), &retry::given());
    Ok(question(params).map_err(of_predict)?)
}

/// The parameters of a series of this experiment with these options.
///
/// # Errors
/// It has no such option, or a value makes no sense.
pub fn params(
    experiment: &Experiment,
    settings: &[String],
    limit: Option<&String>,
    options: &Predict,
) -> Result<Params> {
    experiment.forecast.ok_or_else(|| not_yet(experiment.name))?;
    let table = experiment.table();
    let mut params = Params::defaults(&table);
    let one = |value: &Option<String>| value.iter().cloned().collect();
    let values: [(&str, Vec<String>); 15] = [
        ("allow-busy", options.allow_busy.then(|| "true".to_owned()).into_iter().collect()),
        ("shared", options.shared.then(|| "true".to_owned()).into_iter().collect()),
        ("unit", one(&options.unit)),
        ("load", one(&options.load)),
        ("size", one(&options.size)),
        ("skew", one(&options.skew)),
        ("read-length", one(&options.read_length)),
        ("seed", one(&options.seed)),
        ("limit", limit.into_iter().cloned().collect()),
        ("rounds", one(&options.rounds)),
        ("timeout", one(&options.timeout)),
        ("fill", options.fill.clone()),
        ("read-ahead", options.read_ahead.clone()),
        ("arms", settings.to_vec()),
        ("runs", vec![RUNS.to_owned()]),
    ];
    for (name, values) in values.into_iter().filter(|(_, values)| !values.is_empty()) {
        params.set(&table, name, values)?;
    }
    Ok(params)
}

impl Predict {
    /// A program is to be recorded first.
    pub const fn is_live(&self) -> bool {
        self.pid.is_some() || self.cgroup.is_some() || !self.command.is_empty()
    }

    /// The settings that were asked for, or the usual ones.
    pub fn settings_or(&self, usual: &str) -> Vec<String> {
        if !self.swap.is_empty() {
            return self.swap.iter().flat_map(|kind| self.with_swappiness(kind)).collect();
        }
        match self.settings.as_slice() {
            [] => usual.split(',').map(str::to_owned).collect(),
            given => given.to_vec(),
        }
    }

    /// The settings of a kind of swap, as the lab names them.
    fn with_swappiness(&self, kind: &str) -> Vec<String> {
        match kind {
            "none" => vec!["no-swap".to_owned()],
            "disk" => self.swappiness.iter().map(|one| format!("swap:{one}")).collect(),
            other => self.swappiness.iter().map(|one| format!("{other}:{one}")).collect(),
        }
    }

    /// The options that were given and say how a load is generated or measured, which is of no use with a file.
    fn generated_load_options(&self, is_recording: bool) -> Vec<&'static str> {
        let all = [
            ("--unit", self.unit.is_some()),
            ("--shared", self.shared),
            ("--load", self.load.is_some()),
            ("--size", self.size.is_some()),
            ("--skew", self.skew.is_some()),
            ("--read-length", self.read_length.is_some()),
            ("--rounds", self.rounds.is_some()),
            ("--verify", self.verify && !is_recording),
        ];
        all.into_iter().filter_map(|(option, is_given)| is_given.then_some(option)).collect()
    }
}

/// No load of this experiment can be simulated.
pub fn not_yet(experiment: &str) -> Failure {
    let known: Vec<&str> = simulated().map(|experiment| experiment.name).collect();
    Failure::usage(format!(
        "{} cannot be predicted yet, only {}\n  try: ramline predict known-load --load server",
        experiment.escape_debug(),
        known.join(" and ")
    ))
}

/// There is no experiment and no file of that name.
fn neither(name: &str) -> Failure {
    let known: Vec<String> = simulated().map(|experiment| experiment.name.to_owned()).collect();
    let near = nearest_setting(name, &known);
    let meant = near.map(|near| format!("; nearest experiment: {near}")).unwrap_or_default();
    let word = ramline_units::quoted(name);
    let hint = near.map_or_else(
        || {
            format!(
                "sudo ramline predict -- {word} (a command), or sudo ramline predict --pid {word} (a process that runs)"
            )
        },
        |near| format!("ramline predict {near}"),
    );
    Failure::usage(format!(
        "there is no file and no experiment '{}'{meant}; what can be predicted is {}, or a file of 'ramline trace record' or 'trace make'\n  try: {hint}",
        name.escape_debug(),
        known.join(" and ")
    ))
}
