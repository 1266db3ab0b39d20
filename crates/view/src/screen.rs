//! The screens of commands that do something: measure, lab, explain, findings, checkup and its comparison.
//!
//! What it is: functions from measured and concluded data to text. What it is not: view-models with data of their own;
//! the data are the records and reports themselves, which `--json` prints as they are.
//!
//! Worked example: [`explain`] of an explanation begins with its question and ends in one command to run next.

mod checkup;
mod compare;
mod explain;
mod findings;
mod lab;
mod measure;

pub use checkup::checkup;
pub use compare::{Comparison, FindingRef, LineMove, TierMove, compare};
pub use explain::explain;
pub use findings::findings;
pub use lab::{live, proof};
pub use measure::tiers;
