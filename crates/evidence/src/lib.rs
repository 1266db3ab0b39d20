//! What was measured: values with n, spread, method and conditions; raw records of lab runs; and the study that turns
//! records into results.
//!
//! It measures nothing itself and has no files, clock or randomness other than a seed it is given; `lab` measures
//! and writes the raw record first, and everything shown is a function of records.
//!
//! ```
//! use ramline_evidence::{Measurement, study};
//! let with_swap = Measurement::from_values(&[2.8, 2.7, 2.9, 2.8, 3.0], "s", "wall clock", &["swap:60"]).unwrap();
//! let without = Measurement::from_values(&[18.0, 19.5, 21.0, 18.5, 20.0], "s", "wall clock", &["no-swap"]).unwrap();
//! let compared = study::compare(&with_swap, &without);
//! assert!(compared.separated);
//! assert_eq!(with_swap.to_string(), "2.8 s (n 5, range 2.7 to 3)");
//! ```

mod change;
mod dropped;
mod eat;
pub mod even;
mod fleet;
mod free;
mod ghosts;
pub mod history;
pub mod knee;
mod measurement;
mod outcome;
pub mod over_time;
pub mod pages;
pub mod path;
mod placing;
mod prelude;
pub mod proof;
mod record;
pub mod rng;
mod sample;
mod series;
pub mod study;
mod tiers;
mod trial;
mod versus;
pub mod work;

pub use change::{BootFound, ChangeList, ChangeReport, ChangeState, StepReport, StepStands};
pub use dropped::{DropBalance, DropKind, DropLook, DropMove, DropRun, DropStage, KindCount};
pub use eat::{EatPoint, EatRun, EatStage, EatTaken, SWAPPING_FROM, SwapStart, swap_starts};
pub use fleet::{
    BrokenHost, FileLines, FitModel, FitRule, FleetReport, HostBin, HostGroup, HostShare, HostSize, HostsBeyond,
};
pub use free::{FreeColumn, FreeGauges};
pub use ghosts::{FEWEST_RETURNS, GhostBucket, GhostCurve, NOTHING_LEFT, REACH};
pub use measurement::{Interval, IntervalKind, LatencyStats, Measurement, ranks_of_p99};
pub use outcome::{FigureDifference, no_pressure};
pub use placing::{Lead, NotWon, Paced, RunNote};
pub use record::{
    Arm, Better, FORMAT, Figure, Lru, PoolBalance, Reclaim, RoundTime, RunMachine, RunOutcome, RunRecord, SwapKind,
    TIMES_AS_LONG, Verdict, Workload,
};
pub use sample::{HostPicture, Phase, Sample, SampleMemory};
pub use series::{ArmDetail, ArmResult, FigureResult, SeriesTable};
pub use tiers::{CodecTimes, RAM, TierChange, TierMeasurement, TierReport, is_disk, is_swap_area};
pub use trial::{SizeTrial, SizeVerified, TimeLostBy, TrialDirection, TrialEnd, TrialSample};
pub use versus::{ArmVersus, FIRST, FigureVersus, SECOND, SeriesVersus, together};
