//! Show it: view-models of everything ramline says, rendered as text and JSON.
//!
//! Pure functions from what was seen, measured and concluded to text. Text and JSON are functions of the same structs.
//!
//! | module | topic |
//! |---|---|
//! | `show`, [`top`] | one view of the machine each, and the live terminal |
//! | `checkup` | the report, its topics and findings, compared with an older one |
//! | `explain` | explanations, and what killed a process |
//! | `lab`, `measure` | series and their pages; tiers and pages of memory |
//! | [`cache`], `need`, `trace`, `predict` | files in the page cache; how much a service needs; files of touches; forecasts |
//! | `tune`, `fleet`, [`history`] | plans and what they left in force; many hosts; what was recorded |
//! | [`figure`], [`schema`], `document` | each number with its explanation; JSON documents and their schema |
//! | [`html`] | the shell of a page; its sections are the sheets of the topics |
//!
//! Every name that comes from the machine passes [`escape`]; every number carries its unit and scope.

pub mod cache;
mod checkup;
mod document;
mod explain;
pub mod figure;
mod fleet;
pub mod history;
pub mod html;
mod lab;
mod measure;
mod need;
mod once;
mod predict;
mod prelude;
pub mod schema;
pub mod screen;
mod show;
mod shown;
pub mod top;
mod trace;
mod tune;

pub use checkup::report::{CheckupCost, CheckupReport, Mode, Skipped};
pub use checkup::who::{GroupUse, ProgramUse, WhoUses};
pub use checkup::{CheckupComparison, ReportTopic, topics};
pub use document::{SCHEMA_VERSION, UnseenSection, Versioned};
pub use lab::lists::{Cleaned, ExperimentInfo, ExperimentList, ExperimentOption, PastSeries};
pub use measure::pages::MeasuredPages;
pub use measure::{measured, pages};
pub use predict::Prediction;
pub use ramline_evidence::proof::{self, ProofArm, ProofPoint, ProofTable, ProofVersus};
pub use ramline_model::costs::CostRatio;
pub use ramline_model::ledger::{Drift, Moved};
pub use ramline_sheet::{sheet, text};
pub use ramline_units::{escape, is_hostile};
pub use show::{
    ShowCgroups, ShowMaps, ShowMemory, ShowPressure, ShowProcesses, ShowSwap, ShowTiers, ShowTmpfs, ShowTranslate,
    ShowZram, SortBy, TmpfsBy, TmpfsOptions,
};
pub use shown::Screen;
pub use tune::TunePlan;
pub use tune::{Tense, answer_of, changes};
