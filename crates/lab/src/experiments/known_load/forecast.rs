//! known-load as a question for the simulator, and any other source of touches with the program that plays a known load.

use std::sync::Arc;

use ramline_predict::forecast::RUNS;
use ramline_sandbox::observe::SAMPLE_EVERY;
use ramline_trace::touch::{Memory, Touches};

use super::NAME;
use super::asked::{self, Asked};
use crate::limited::forecast::{Program, Question};
use crate::limited::work::program;
use crate::params::Params;
use crate::prelude::*;

/// What the program has before it maps its load is locked in RAM, all that it touches with among it: as many anonymous pages as there were then were there at
/// the end of every run. Reports need no more.
const PROGRAM: Program = program(0, &[]);
/// User time of its runs, less that of the fill: 0.2 to 0.6 µs a touch.
const BETWEEN: f64 = 300.0;

/// The forecast question for these parameters.
///
/// # Errors
/// The parameters make no sense.
pub fn question(params: &Params) -> Result<Question> {
    let asked = Asked::of(params)?;
    asked_of(Arc::new(asked.load), NAME.to_owned(), Some(("size", 1)), Vec::new(), &asked)
}

/// The forecast question for an access trace, with the settings, limit, contents and read-aheads of these parameters. Where they say nothing of a limit it is that of a known
/// load of this size.
///
/// # Errors
/// As [`question`].
pub fn of_touches(touches: Arc<dyn Touches>, name: String, left_out: &[&str], params: &Params) -> Result<Question> {
    let mut asked = Asked::of(params)?;
    let command = format!("ramline predict {}", command_line([name.clone()]));
    asked.limit = asked::limit(params, Bytes(touches.size()), &command)?;
    let [least, most] = PROGRAM.own;
    let assumed = format!(
        "assumed beside the touches: a program of {least} to {most} pages of its own, and {BETWEEN:.0} ns of it from one touch to the next"
    );
    let left_out = (!left_out.is_empty()).then(|| format!("left out of the file: {}", left_out.join("; ")));
    asked_of(touches, name, None, [Some(assumed), left_out].into_iter().flatten().collect(), &asked)
}

fn asked_of(
    load: Arc<dyn Touches>,
    name: String,
    sized_by: Option<(&'static str, u64)>,
    notes: Vec<String>,
    asked: &Asked,
) -> Result<Question> {
    let arms: Vec<_> = asked.arms.iter().map(|arm| (arm.clone(), asked.workload(arm))).collect();
    if arms.is_empty() {
        return Err(LabError::usage("no setting is asked for", "ramline predict --settings no-swap,swap:60"));
    }
    let memory = load.regions().into_iter().filter(|region| region.memory != Memory::File);
    let swap = asked::swap_area(memory.map(|region| region.bytes).fold(0, u64::saturating_add));
    let (program, between, looks_every) = (PROGRAM, BETWEEN, SAMPLE_EVERY);
    let (runs, is_virtual) = (RUNS, false);
    Ok(Question { name, load, sized_by, arms, swap, looks_every, program, between, notes, runs, is_virtual })
}
