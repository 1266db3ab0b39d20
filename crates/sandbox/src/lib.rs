//! Where it is safe: what an experiment or a measurement is made of that cannot hurt the machine.

pub mod error;
pub mod fill;
pub mod progress;

pub use error::{LabError, Result};
