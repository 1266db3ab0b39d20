//! What can go wrong with a forecast, with one command to try.

use ramline_trace::touches::TouchesError;

/// What functions of this crate return.
pub type Result<T, E = PredictError> = std::result::Result<T, E>;

/// Why there is no forecast.
#[derive(Debug, thiserror::Error)]
pub enum PredictError {
    /// A request that makes no sense, and one that does.
    #[error("{message}\n  try: {hint}")]
    Usage {
        /// What is wrong.
        message: String,
        /// One command.
        hint: String,
    },
    /// It would take more memory than can be had: with the numbers.
    #[error("{reason}\n  try: {hint}")]
    Refused {
        /// Why.
        reason: String,
        /// One command.
        hint: String,
    },
    /// The source of the touches failed.
    #[error(transparent)]
    Touches(#[from] TouchesError),
    /// A simulation panicked.
    #[error("the simulator broke off")]
    BrokeOff,
}

impl PredictError {
    /// A request that makes no sense, and one that does.
    pub fn usage(message: impl Into<String>, hint: impl Into<String>) -> PredictError {
        PredictError::Usage { message: message.into(), hint: hint.into() }
    }
}
