//! The screens of commands that do something: measure, lab, explain, findings, checkup and its comparison.
//!
//! Functions from measured and concluded data to text. Only [`CheckupComparison`] is data of its own; for the others
//! `--json` prints the records and reports themselves.
//!
//! Worked example: [`explain`] of an explanation begins with the answer and ends in one command to run next.

mod checkup;
mod compare;
mod conditions;
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
mod over_time;
mod path;
mod record;
mod series;
mod settings;
mod timing;
mod topics;
mod versus;

pub use checkup::{checkup, summary};
pub use compare::{CheckupComparison, Compared, FindingRef, TierMove};
pub(crate) use conditions::conditions;
pub use explain::{SHORT, TopicLine, TopicList, explain, explain_more, sheet as explanation};
pub use findings::findings;
pub use headline::headline;
pub use knee::knee_sheet;
pub use lab::{proof_answer, proof_sheet};
pub use live::{Live, ended as run_ended, live};
pub(crate) use measure::{batches, implied, rate};
pub use measure::{tiers, tiers_sheet};
pub(crate) use over_time::over_time;
pub use path::{ArmPath, ReadPaths};
pub(crate) use record::record;
pub(crate) use series::{all_figures, charts, is_sandbox};
pub use series::{series_csv, series_sheet};
pub(crate) use settings::{read_back, runs, settings};
pub use timing::timing_sheet;
pub use topics::{ReportTopic, topics};
pub use versus::versus_sheet;

/// Each of them once, in the order in which they come.
fn once<T: PartialEq>(all: impl IntoIterator<Item = T>) -> Vec<T> {
    let mut kept: Vec<T> = Vec::new();
    for one in all {
        if !kept.contains(&one) {
            kept.push(one);
        }
    }
    kept
}
