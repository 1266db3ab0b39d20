//! The screens of commands that do something, by topic: checkup, explain, lab, measure.
//!
//! Functions from measured and concluded data to text. Only [`CheckupComparison`] is data of its own; for the others
//! `--json` prints the records and reports themselves.
//!
//! Worked example: [`explain`] of an explanation begins with the answer and ends in one command to run next.

pub use crate::checkup::{
    CheckupComparison, Compared, FindingRef, ReportTopic, TierMove, checkup, findings, summary, topics,
};
pub use crate::explain::{SHORT, TopicLine, TopicList, explain, explain_more, explanation};
pub use crate::lab::{
    ArmPath, Live, ReadPaths, dropped_sheet, eaten_sheet, headline, knee_sheet, live, proof_answer, proof_sheet,
    run_ended, series_csv, series_sheet, timing_sheet, versus_sheet,
};
pub use crate::measure::{tiers, tiers_sheet};
