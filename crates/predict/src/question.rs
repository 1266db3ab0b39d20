//! The question: a load, its settings, and what the caller gives to answer it.
//!
//! What it is not: an experiment. Who asks knows how its settings are named and what swap they have.

use std::sync::Arc;
use std::time::Duration;

use ramline_evidence::{Arm, SwapKind, TierReport, Workload};
use ramline_sim::footprint::Footprint;
use ramline_sim::load::Compact;
pub use ramline_sim::load::Overhead;
use ramline_trace::touch::Touches;
use ramline_units::Bytes;

use crate::error::{PredictError, Result};
use crate::lengths::Compress;
use crate::recorded::Recorded;
use crate::workers::Workers;

/// The question of a forecast: a load under several settings.
#[derive(Clone)]
pub struct Question {
    /// Whose load it is: an experiment, or a file.
    pub name: String,
    /// What is touched.
    pub load: Arc<dyn Touches>,
    /// What else may be touched instead, where a recording leaves it open: simulations take turns.
    pub others: Vec<Arc<dyn Touches>>,
    /// What is known of that recording.
    pub recorded: Option<Recorded>,
    /// The option by which the load is made smaller, and how many of its units the load has; `None` where it is as it is.
    pub sized_by: Option<(&'static str, u64)>,
    /// The settings, each with what the lab would record of it.
    pub arms: Vec<(Arm, Workload)>,
    /// Size of the swap area of those that have one.
    pub swap: Bytes,
    /// From one sample of the group in the lab to the next.
    pub samples_every: Duration,
    /// What the group is charged for beside the load.
    pub overhead: Overhead,
    /// Its nanoseconds from one touch to the next, beside the touches.
    pub between: f64,
    /// What else stands under the forecast.
    pub notes: Vec<String>,
    /// How many times each setting is simulated.
    pub runs: u32,
    /// The machine is a virtual one: what its disk takes is not known by measuring it once.
    pub is_virtual: bool,
}

impl Question {
    /// The question for other amounts of RAM as well; each setting's name then says in which.
    #[must_use]
    pub fn with_limits(mut self, others: Vec<Self>) -> Self {
        if others.is_empty() {
            return self;
        }
        self.arms.extend(others.into_iter().flat_map(|other| other.arms));
        self.arms.iter_mut().for_each(|(arm, workload)| arm.name = format!("{} at {}", arm.name, workload.limit));
        self
    }
}

/// Functions of the caller: this crate has no effects.
#[derive(Clone, Copy)]
pub struct Caller<'a> {
    /// Who does what can be done side by side.
    pub workers: Workers<'a>,
    /// Memory that can be taken.
    pub free: Bytes,
    /// What pages compress to.
    pub compress: Compress<'a>,
    /// What `measure tiers` found here.
    pub tiers: Option<&'a TierReport>,
}

/// How many runs, of those that could be, fit into memory at the same time: what they take is known before anything is taken.
///
/// # Errors
/// Not one does; it says up to which size one would.
pub fn at_once(question: &Question, wanted: usize, free: Bytes) -> Result<usize> {
    let has_swap = question.arms.iter().any(|(arm, _)| arm.swap != SwapKind::None);
    let needs = Footprint::for_load(question.load.as_ref(), if has_swap { question.swap.0 } else { 0 });
    let needs = needs.with_loads(1 + question.others.len() as u64);
    // Others take memory meanwhile, and what is left is an estimate: an eighth stays.
    let part = |bytes: Bytes| Bytes(bytes.0 / 8 * 7);
    let room = part(free);
    let fits = |runs: usize| needs.at_once(runs as u64) <= room.0;
    if let Some(runs) = (1..=wanted.max(1)).rev().find(|runs| fits(*runs)) {
        return Ok(runs);
    }
    // All of it grows with the size of the load.
    let (least, size) = (needs.at_once(1), question.load.size());
    let most =
        u64::try_from(u128::from(size) * u128::from(part(room).0) / u128::from(least.max(1))).unwrap_or(u64::MAX);
    let text = format!("memory: {} needed to simulate a load of {}, {room} can be taken", Bytes(least), Bytes(size));
    let Some((option, parts)) = question.sized_by else {
        return Err(PredictError::Refused { reason: text, hint: "ramline show memory".to_owned() });
    };
    let whole = (most / parts) >> 20;
    Err(PredictError::Refused {
        reason: format!("{text}; --{option} {whole}MiB fits"),
        hint: format!("ramline predict {} --{option} {}MiB", question.name, whole.max(1)),
    })
}

/// The load, once for all settings: none of them changes what is touched. Of a recording all that it may have been.
pub fn decoded(question: &Question) -> Result<Vec<Compact>> {
    let large = || PredictError::usage("a load of more than 2 TiB is not simulated yet", "ramline predict");
    let one = |load: &Arc<dyn Touches>| {
        Ok(Compact::from_touches(load.as_ref())?.ok_or_else(large)?.with_overhead(question.overhead))
    };
    std::iter::once(&question.load).chain(&question.others).map(one).collect()
}
