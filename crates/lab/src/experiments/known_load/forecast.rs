//! known-load as a question for the simulator.

use ramline_sim::load::Program;

use super::NAME;
use super::asked::Asked;
use crate::limited::forecast::{Question, RUNS};
use crate::limited::work::program;
use crate::params::Params;
use crate::prelude::*;

/// What the program has before it maps its load is locked in RAM, all that it touches with among it: as many anonymous pages as there were then were there at
/// the end of every run. Reports need no more.
const PROGRAM: Program = program(0, &[]);
/// User time of its runs, less that of the fill: 0.2 to 0.6 µs a touch.
const BETWEEN: f64 = 300.0;

/// What is foretold for these parameters.
///
/// # Errors
/// The parameters make no sense.
pub fn question(params: &Params) -> Result<Question<'static>> {
    let asked = Asked::of(params)?;
    let (load, swap) = (asked.load, asked.swap_sizes());
    let arms: Vec<_> = asked.arms.iter().map(|arm| (arm.clone(), asked.workload(arm))).collect();
    if arms.is_empty() {
        return Err(LabError::usage("no setting is asked for", "ramline predict --settings no-swap,swap:60"));
    }
    Ok(Question { name: NAME, load, arms, swap, program: PROGRAM, between: BETWEEN, runs: RUNS, is_virtual: false })
}
