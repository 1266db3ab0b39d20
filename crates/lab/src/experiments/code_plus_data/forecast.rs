//! code-plus-data as a question for the simulator.

use ramline_trace::generate::Load;

use super::settings::Settings;
use super::workload::load;
use crate::limited::forecast::{Question, RUNS};
use crate::prelude::*;

/// What is foretold for these settings.
///
/// # Errors
/// The settings make no sense, or their load is not simulated.
pub fn question(settings: &Settings) -> Result<Question<'static>> {
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
    let (load, swap) = (Load::CodePlusData(load(workload)), settings.swap_sizes());
    Ok(Question { name: super::NAME, load, arms, swap, runs: RUNS })
}
