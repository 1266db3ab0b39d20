//! Questions of the lab's experiments to `ramline_predict`: what they have in common.

pub use ramline_predict::error::PredictError;
pub use ramline_predict::question::{Overhead, Question};

pub use super::lengths::compressed;
use crate::prelude::*;

/// As the lab has it: nothing was begun.
#[must_use]
pub fn refusal(error: PredictError) -> LabError {
    match error {
        PredictError::Usage { message, hint } => LabError::Usage { message, hint },
        PredictError::Refused { reason, hint } => LabError::refused(vec![reason], hint),
        other => LabError::Workload(other.to_string()),
    }
}
