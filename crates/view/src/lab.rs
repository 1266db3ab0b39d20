//! The lab: a series on a terminal and as a page, its runs while they go on, and what experiments add to it.

mod conditions;
mod dropped;
mod eat;
mod headline;
mod knee;
pub(crate) mod lists;
mod live;
mod operations;
mod over_time;
pub mod page;
mod path;
pub(crate) mod proof;
mod series;
mod settings;
mod timing;
mod versus;

pub(crate) use conditions::conditions;
pub use headline::headline;
pub use knee::knee_sheet;
pub use live::{Live, ended as run_ended, live};
pub(crate) use over_time::over_time;
pub use path::{ArmPath, ReadPaths};
pub use proof::{proof_answer, proof_sheet};
pub(crate) use series::{all_figures, charts, is_sandbox};
pub use series::{dropped_sheet, eaten_sheet, series_csv, series_sheet};
pub(crate) use settings::{read_back, runs, settings};
pub use timing::timing_sheet;
pub use versus::versus_sheet;
