//! `ramline predict`: a load through the simulator, setting by setting, and the lab's measurement beside it.

use ramline_lab::experiments::code_plus_data::forecast::{beside, forecast};
use ramline_lab::experiments::code_plus_data::settings::{NAME, Settings};
use ramline_lab::experiments::find;
use ramline_lab::params::Params;
use ramline_view::Prediction;

use super::lab;
use crate::prelude::*;

/// What is foretold where nothing else is asked for.
const SETTINGS: &str = "no-swap,swap:1,swap:60,swap:100,zram:60,zram:100,zram:180";
/// Runs of each setting that the lab makes for --verify.
const RUNS: &str = "3";

/// Predict what another swap setting, read-ahead or limit would do, and hold it against the kernel
#[derive(Debug, Args)]
pub struct Predict {
    /// The experiment whose load it is: code-plus-data
    #[arg(value_name = "EXPERIMENT", default_value = NAME)]
    experiment: String,
    /// One unit; 14 of data and 3 of code have to live in 15
    #[arg(long, value_name = "SIZE")]
    unit: Option<String>,
    /// Limit of the group instead of 15 units
    #[arg(long, value_name = "SIZE")]
    limit: Option<String>,
    /// Rounds, 1 to 11
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
    /// When the clock ends the rounds
    #[arg(long, value_name = "TIME")]
    timeout: Option<String>,
    /// Then run the best, the worst and no-swap in the lab, and show predicted beside measured
    #[arg(long)]
    verify: bool,
    /// With --verify: make swap areas and zram devices without asking; they go again
    #[arg(long, requires = "verify")]
    prove: bool,
    /// Predict what a series of the lab measured, its number in 'lab list' or its folder, and show both
    #[arg(long, value_name = "SERIES", conflicts_with_all = ["verify", "unit", "limit", "rounds", "fill", "settings", "read_ahead", "timeout"])]
    against: Option<PathBuf>,
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
        if self.experiment != NAME {
            let wrong =
                format!("{} cannot be predicted yet, only {NAME}\n  try: ramline predict {NAME}", self.experiment);
            return Err(Failure::usage(wrong).into());
        }
        let tiers = remembered::tiers(source);
        let told = |params: &Params| -> Result<Prediction> {
            Ok(Prediction::new(forecast(&Settings::of(params)?, tiers.as_ref(), &mut Terminal::new())?))
        };
        let both = |folder: &RunFolder, params: &Params| -> Result<Prediction> {
            let mut all = told(params)?.forecast;
            beside(&mut all, &folder.read()?.records);
            Ok(Prediction::new(all))
        };
        let shown = match &self.against {
            Some(series) => {
                let folder = lab::folder_of(Some(series))?;
                let header = folder.header()?;
                let (name, bed) = (&header.experiment, header.parameters.text("sandbox").unwrap_or("cgroup"));
                if name != NAME || bed != "cgroup" {
                    let wrong = format!(
                        "that series is {name} in a {bed}; only {NAME} in a cgroup can be predicted yet\n  try: ramline lab list"
                    );
                    return Err(Failure::usage(wrong).into());
                }
                both(&folder, &header.parameters)?
            }
            None if self.verify => {
                let params = self.params(&self.settings)?;
                let chosen = to_verify(&told(&params)?);
                let params = self.params(&chosen)?;
                let folder = lab::run::made(lab::known(NAME)?, &params, None, self.prove)?;
                both(&folder, &params)?
            }
            None => told(&self.params(&self.settings)?)?,
        };
        self.format.screen(&shown)?;
        Ok(exit::DONE)
    }

    fn params(&self, settings: &[String]) -> Result<Params> {
        let table = find(NAME).map(|experiment| experiment.table()).unwrap_or_default();
        let mut params = Params::defaults(&table);
        let one = |value: &Option<String>| value.iter().cloned().collect();
        let values: [(&str, Vec<String>); 8] = [
            ("unit", one(&self.unit)),
            ("limit", one(&self.limit)),
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
