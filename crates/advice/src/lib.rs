//! What to do: findings with evidence, and explanations in the reader's own numbers.
//!
//! What it is: rules over a snapshot, a window and measurements; one file a rule, one table. What it is
//! not: it changes nothing and reads nothing; the change a finding names is shown, not applied.
//!
//! A rule fires only on what it saw: a counter since boot is never judged as a rate, a section that was
//! not seen makes a rule silent, and nothing is recommended that is already on.

mod finding;

pub use finding::{Change, Confidence, Evidence, Finding, Inputs, Rule, Weight};
