//! code-plus-data as a question for the simulator.

use std::sync::Arc;

use ramline_predict::forecast::RUNS;
use ramline_sandbox::observe::SAMPLE_EVERY;
use ramline_trace::generate::Load;

use super::settings::Settings;
use super::workload::load;
use crate::limited::forecast::{Overhead, Question};
use crate::prelude::*;

/// User time of its runs, less that of the fill: 0.1 to 0.2 µs a touch.
const BETWEEN: f64 = 100.0;

/// The forecast question for these parameters.
///
/// # Errors
/// The settings make no sense, or their load is not simulated.
pub fn question(params: &Params) -> Result<Question> {
    let settings = Settings::from_params(params)?;
    settings.check()?;
    if settings.ballast_units > 0 {
        return Err(LabError::usage("ballast is not simulated yet", "ramline predict code-plus-data"));
    }
    let crossed = settings.crossed()?;
    let arms: Vec<_> =
        crossed.into_iter().map(|arm| (settings.workload(&arm), arm)).map(|(of, arm)| (arm, of)).collect();
    let Some((_, workload)) = arms.first() else {
        return Err(LabError::usage("no setting is asked for", "ramline predict --settings no-swap,swap:60"));
    };
    let load = load(workload);
    Ok(Question {
        name: super::NAME.to_owned(),
        sized_by: Some(("unit", u64::from(load.code + load.data))),
        load: Arc::new(Load::CodePlusData(load)),
        others: Vec::new(),
        recorded: None,
        arms,
        swap: settings.swap_sizes().area,
        samples_every: SAMPLE_EVERY,
        // The worker's own pages are locked and added to its limit.
        overhead: Overhead::default(),
        between: BETWEEN,
        notes: Vec::new(),
        runs: RUNS,
        is_virtual: false,
    })
}
