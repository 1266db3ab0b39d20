//! The proof in the sandbox as one table: a [`SeriesTable`] of the raw records, and what only code-plus-data knows beside it.
//!
//! For each arm, how often it ran, how it ended, the time per round with its spread, what reclaim did, and how
//! it compares with the first arm. Medians, intervals and claims are those of the series;
//! where the clock ran out before any progress the time is a lower bound.
//!
//! ```
//! use ramline_evidence::RunRecord;
//! let run = RunRecord::parse(r#"{"format":1,"experiment":"code-plus-data","arm":{"name":"as configured"},
//!     "verdict":"completed","rounds":[{"took":2000000000}],"elapsed":2000000000}"#)?;
//! let table = ramline_evidence::proof::ProofTable::from_runs(&[run]).ok_or("no runs")?;
//! assert_eq!(table.arms[0].seconds_per_round.as_ref().map(|m| m.median), Some(2.0));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod made;

pub use made::timeline;

use crate::prelude::*;
use crate::record::{RunMachine, RunOutcome, SwapKind};

/// One point of a run's progress.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ProofPoint {
    /// Seconds since the rounds began.
    pub at_s: f64,
    /// Rounds done by then, with the fraction of the running one.
    pub rounds: f64,
}

/// How a setting compares with the first one, in time per round.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ProofVersus {
    /// Its time over that of the first setting.
    pub ratio: f64,
    /// The clock ran out before any progress: the true ratio is larger.
    pub at_least: bool,
    /// The difference may be claimed: at least 6 runs of both, and intervals that do not overlap or ranks that differ.
    pub separated: bool,
    /// The claim in words, with what it rests on.
    pub sentence: String,
}

/// One setting: all its runs taken together. Counts and CPU times are per round, because runs that were cut short did less work;
/// medians over runs, in pages unless the unit says otherwise.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ProofArm {
    /// As given on the command line.
    pub name: String,
    /// The swap it had.
    pub swap: SwapKind,
    /// vm.swappiness of the group; `None`: as it was.
    pub swappiness: Option<u32>,
    /// Fill of the data: `zeros`, `text`, `random`.
    pub fill: String,
    /// Runs.
    pub n: u64,
    /// Runs that completed all rounds.
    pub completed: u64,
    /// The worst outcome.
    pub outcome: RunOutcome,
    /// The reason of that outcome, where it has one.
    pub why: Option<String>,
    /// Seconds per round.
    pub seconds_per_round: Option<Measurement>,
    /// Where the clock ran out without any progress: a round takes longer than this many seconds.
    pub more_than_s: Option<f64>,
    /// Rounds done.
    pub rounds: Option<Measurement>,
    /// Seconds of user time per round; `None` where the ticks are too few to tell user from system time.
    pub user_s: Option<Measurement>,
    /// Seconds of system time per round; direct reclaim is in here. `None` as above.
    pub system_s: Option<Measurement>,
    /// Seconds of both per round, where they cannot be told apart.
    #[serde(default)]
    pub cpu_s: Option<Measurement>,
    /// Major faults per round.
    pub major_faults: Option<Measurement>,
    /// Refaulted file pages per round.
    pub refault_file: Option<Measurement>,
    /// Refaulted anonymous pages per round.
    pub refault_anon: Option<Measurement>,
    /// Pages swapped in per round.
    pub swap_in: Option<Measurement>,
    /// Pages swapped out per round.
    pub swap_out: Option<Measurement>,
    /// Bytes read from disks per round.
    pub read_bytes: Option<Measurement>,
    /// Largest deviation of limit plus pool from nominal, as a share; arms with zram only.
    pub pool_deviation: Option<f64>,
    /// Against the first arm; `None` for the first itself and where nothing can be compared.
    pub versus_first: Option<ProofVersus>,
    /// Progress of the first run.
    pub timeline: Vec<ProofPoint>,
    /// What qualifies the runs: bystanders hurt, settings that did not take.
    pub notes: Vec<String>,
}

/// All arms of one experiment.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ProofTable {
    /// Which experiment.
    pub experiment: String,
    /// The machine of the first run.
    pub machine: Option<RunMachine>,
    /// One unit of the workload.
    pub unit: Bytes,
    /// Data and code together, ballast included.
    pub demand: Bytes,
    /// Nominal limit of the group.
    pub limit: Bytes,
    /// Demand less limit: what cannot stay in RAM.
    pub excess: Bytes,
    /// Rounds asked for.
    pub rounds: u32,
    /// Data in shared instead of private anonymous memory.
    pub shared: bool,
    /// Read-ahead of the scratch device.
    pub read_ahead: Bytes,
    /// The arms, in the order first run.
    pub arms: Vec<ProofArm>,
}

impl ProofVersus {
    /// How many times the longer time is the shorter one; `None` where one of them is 0.
    #[must_use]
    pub fn factor(&self) -> Option<f64> {
        let ratio = Some(self.ratio).filter(|ratio| *ratio > 0.0 && ratio.is_finite())?;
        Some(ratio.max(1.0 / ratio))
    }

    /// It takes as long as the first one or longer.
    #[must_use]
    pub fn is_slower(&self) -> bool {
        self.ratio >= 1.0
    }
}

impl ProofArm {
    /// The bound that its time per round is above (seconds), where the clock ran out on a run without any progress; else that time.
    #[must_use]
    pub fn time_or_bound(&self) -> Option<f64> {
        self.more_than_s.or(self.seconds_per_round.as_ref().map(|time| time.median))
    }
}

impl ProofTable {
    /// Of each setting its time per round, or the bound that it is above, as a share of the longest, 0 to 1.
    #[must_use]
    pub fn shares(&self) -> Vec<Option<f64>> {
        let longest = self.arms.iter().filter_map(ProofArm::time_or_bound).fold(0.0, f64::max);
        let share = |arm: &ProofArm| arm.time_or_bound().filter(|_| longest > 0.0).map(|time| time / longest);
        self.arms.iter().map(share).collect()
    }
}

#[cfg(test)]
mod tests;
