//! known-load as a question for the simulator, and any other source of touches with the program that plays a known load.

use std::sync::Arc;

use ramline_predict::forecast::RUNS;
use ramline_predict::need::{self, Needs};
use ramline_predict::recorded::Recorded;
use ramline_predict::ways;
use ramline_sandbox::observe::SAMPLE_EVERY;
use ramline_trace::recording::Recording;
use ramline_trace::touch::{Memory, Touches};

use super::NAME;
use super::load_options::{self, LoadOptions};
use crate::limited::forecast::{Overhead, PredictError, Question};
use crate::params::Params;
use crate::prelude::*;

/// A simulated run of a recording times out after this multiple of its CPU time, plus the time below.
const PATIENCE: u32 = 10;
const LEAST_PATIENCE: Duration = Duration::from_secs(10);
/// User time of its runs, less that of the fill: 0.2 to 0.6 µs a touch.
const BETWEEN: f64 = 300.0;

/// The forecast question for these parameters.
///
/// # Errors
/// The parameters make no sense.
pub fn question(params: &Params) -> Result<Question> {
    let options = LoadOptions::from_params(params)?;
    question_for(Arc::new(options.load), NAME.to_owned(), Some(("size", 1)), Vec::new(), &options)
}

/// The forecast question for an access trace, with the settings, limit, contents and read-aheads of these parameters. Where they say nothing of a limit it is that of a known
/// load of this size.
///
/// # Errors
/// As [`question`].
pub fn from_touches(touches: Arc<dyn Touches>, name: String, left_out: &[&str], params: &Params) -> Result<Question> {
    let mut options = LoadOptions::from_params(params)?;
    let command = format!("ramline predict {}", command_line([name.clone()]));
    options.limit = load_options::limit(params, Bytes(touches.size()), &command)?;
    let assumed = format!(
        "assumed beside the touches: {BETWEEN:.0} ns of the program from one touch to the next, and a limit for what is touched alone, without the program's own memory"
    );
    let left_out = (!left_out.is_empty()).then(|| format!("left out of the file: {}", left_out.join("; ")));
    question_for(touches, name, None, [Some(assumed), left_out].into_iter().flatten().collect(), &options)
}

/// The forecast question for a recording, with the settings, contents and read-aheads of these parameters, in a group of this limit. Without a time-out a run may take ten times
/// the CPU time that was recorded, as a command in the lab (swap-command), and ten seconds.
///
/// # Errors
/// As [`question`].
pub fn from_recording(
    recording: &Arc<Recording>,
    params: &Params,
    limit: Bytes,
    needs: &Needs,
    timeout: Option<Duration>,
) -> Result<Question> {
    let mut options = LoadOptions::from_params(params)?;
    let cpu = Duration::from_nanos(recording.extent().cpu_ns);
    options.limit = limit;
    options.timeout = timeout.unwrap_or_else(|| cpu.saturating_mul(PATIENCE).saturating_add(LEAST_PATIENCE));
    // Outside the lab no observer reads the group's statistics every 100 ms.
    options.fresh_statistics = false;
    let mut ways = ways::ways(recording, options.seed);
    let first = ways.remove(0);
    let name = recording.header().origin.name.clone();
    let question = question_for(first, name, None, Vec::new(), &options)?;
    let recorded = Some(Recorded::new(recording, needs));
    Ok(Question { others: ways, recorded, overhead: needs.overhead, between: 0.0, ..question })
}

/// How much memory a recording needs, and the overhead of its group.
///
/// # Errors
/// It cannot be simulated.
pub fn need_of(recording: &Arc<Recording>) -> Result<Needs, PredictError> {
    need::need(recording)
}

fn question_for(
    load: Arc<dyn Touches>,
    name: String,
    sized_by: Option<(&'static str, u64)>,
    notes: Vec<String>,
    options: &LoadOptions,
) -> Result<Question> {
    let arms: Vec<_> = options.arms.iter().map(|arm| (arm.clone(), options.workload(arm))).collect();
    if arms.is_empty() {
        return Err(LabError::usage("no setting is asked for", "ramline predict --settings no-swap,swap:60"));
    }
    let memory = load.regions().into_iter().filter(|region| region.memory != Memory::File);
    let swap = load_options::swap_area(memory.map(|region| region.bytes).fold(0, u64::saturating_add));
    // The worker's own pages are locked and added to its limit.
    let (overhead, between, samples_every) = (Overhead::default(), BETWEEN, SAMPLE_EVERY);
    let (runs, is_virtual) = (RUNS, false);
    let (others, recorded) = (Vec::new(), None);
    Ok(Question {
        name,
        load,
        others,
        recorded,
        sized_by,
        arms,
        swap,
        samples_every,
        overhead,
        between,
        notes,
        runs,
        is_virtual,
    })
}
