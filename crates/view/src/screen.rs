//! The screens of commands that do something: measure, lab, explain, findings, checkup and its comparison.
//!
//! What it is: functions from measured and concluded data to text. Only [`Comparison`] is data of its own; for the others
//! `--json` prints the records and reports themselves. What it is not: the study or the advice.
//!
//! Worked example: [`explain`] of an explanation begins with the answer and ends in one command to run next.

mod checkup;
mod compare;
mod dropped;
mod eat;
mod explain;
pub(crate) mod findings;
mod headline;
mod knee;
mod lab;
mod live;
mod measure;
mod operations;
mod path;
mod series;
mod timing;
mod versus;

pub use checkup::{checkup, summary};
pub use compare::{Comparison, FindingRef, TierMove, compare};
pub use explain::{SHORT, TopicLine, TopicList, explain, explain_more, sheet as explanation};
pub use findings::findings;
pub use headline::headline;
pub use knee::{knee, knee_sheet};
pub use lab::proof;
pub use live::{Live, ended as run_ended, live};
pub(crate) use measure::{batches, implied};
pub use measure::{tiers, tiers_sheet};
pub use path::{ArmPath, ReadPaths};
pub(crate) use series::{is_sandbox, spread_of, value};
pub use series::{series, series_csv};
pub use timing::timing;
pub use versus::versus;
