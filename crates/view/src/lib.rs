//! Show it: view-models of everything ramline says, rendered as text and JSON.
//!
//! Pure functions from what was seen, measured and concluded to text. Text and JSON are functions of the same structs.
//!
//! Every name that comes from the machine passes [`escape`]; every number carries its unit and scope.

mod answers;
pub mod cache;
pub mod changes;
pub mod figure;
mod fleet;
pub mod history;
pub mod html;
mod kill;
mod lab_lists;
pub mod measured;
mod need;
pub mod pages;
mod predict;
mod prelude;
mod report;
pub mod schema;
pub mod screen;
mod show;
mod shown;
pub mod top;
mod touches;
mod tune;
mod upkeep;
mod who;

pub use answers::{Tense, answer_of};
pub use lab_lists::{Cleaned, ExperimentInfo, ExperimentList, ExperimentOption, PastSeries};
pub use pages::MeasuredPages;
pub use predict::Prediction;
pub use ramline_evidence::proof::{self, ProofArm, ProofPoint, ProofTable, ProofVersus};
pub use ramline_model::costs::CostRatio;
pub use ramline_model::ledger::{Drift, Moved};
pub use ramline_sheet::{sheet, text};
pub use ramline_units::{escape, is_hostile};
pub use report::{CheckupCost, CheckupReport, Mode, SCHEMA_VERSION, Skipped, UnseenSection, Versioned};
pub use screen::{CheckupComparison, ReportTopic, topics};
pub use show::{
    ShowCgroups, ShowMaps, ShowMemory, ShowPressure, ShowProcesses, ShowSwap, ShowTiers, ShowTmpfs, ShowTranslate,
    ShowZram, SortBy, TmpfsBy, TmpfsOptions,
};
pub use shown::Screen;
pub use tune::TunePlan;
pub use who::{GroupUse, ProgramUse, WhoUses};
