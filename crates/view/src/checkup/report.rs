//! The report of a checkup: the JSON contract that text, HTML and `--compare` are functions of.
//!
//! Plain data, complete in itself, so that a report read a year later on another machine shows the same.
//!
//! Every field has a default, so that reports of older versions stay readable.
//!
//! ```
//! let old: ramline_view::CheckupReport = serde_json::from_str(r#"{"schema_version":1,"sentence":"All is well."}"#)?;
//! assert_eq!(old.sentence, "All is well.");
//! assert!(old.ledger.is_none() && old.findings.is_empty());
//! # Ok::<(), serde_json::Error>(())
//! ```

use ramline_model::ledger::{Drift, Ledger};
use ramline_model::pressure::PressureModel;
use ramline_model::swap::SwapState;
use ramline_model::tiers::Tier;
use ramline_model::tmpfs::{Fit, TmpfsState};
use ramline_model::verdict::Verdict;
use ramline_model::watermarks::Watermarks;
use ramline_model::zram::ZramState;
use ramline_snapshot::machine::Machine;

use crate::prelude::*;
use crate::{ProofTable, WhoUses};
use ramline_model::costs::CostRatio;

/// How thorough a checkup was.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// At most 15 s, reads only.
    Quick,
    /// At most 60 s.
    #[default]
    Default,
    /// At most 5 min.
    Full,
}

impl Mode {
    /// The word on the command line.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Mode::Quick => "quick",
            Mode::Default => "default",
            Mode::Full => "full",
        }
    }
}

/// A step that was not done, and why.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Skipped {
    /// What: "the proof".
    pub what: String,
    /// Why: "needs root".
    pub why: String,
    /// The command that would do it; `None` where nothing helps.
    pub fix: Option<String>,
}

/// What the checkup itself cost the machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(rename = "Cost")]
pub struct CheckupCost {
    /// From start to report.
    pub wall: Nanos,
    /// User and system time, children included.
    pub cpu: Nanos,
    /// Largest resident set of the program itself. Peak.
    pub peak_memory: Bytes,
    /// Written to disks, scratch files included.
    pub written: Bytes,
}

/// The report.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct CheckupReport {
    /// Version of this document.
    pub schema_version: u64,
    /// Version of ramline.
    pub ramline: String,
    /// How thorough it was.
    pub mode: Mode,
    /// The machine.
    pub machine: Machine,
    /// When, in nanoseconds since 1970.
    pub taken_unix_ns: Option<u64>,
    /// Length of the window rates come from; `None`: counters since boot only.
    pub window: Option<Nanos>,
    /// The verdict in one sentence.
    pub sentence: String,
    /// What that sentence is made of.
    pub verdict: Option<Verdict>,
    /// Where MemTotal is.
    pub ledger: Option<Ledger>,
    /// How far the ledger moved over the window.
    pub drift: Option<Drift>,
    /// The tiers, fastest first, with the cost of an access where it was measured.
    pub tiers: Vec<Tier>,
    /// What the tiers cost, as measured.
    pub measured: Option<TierReport>,
    /// What those costs alone imply for swappiness.
    pub cost_ratio: Option<CostRatio>,
    /// Zones, watermarks, distances.
    pub watermarks: Option<Watermarks>,
    /// PSI, refaults, reclaim.
    pub pressure: Option<PressureModel>,
    /// Swap areas, stock against flow.
    pub swap: Option<SwapState>,
    /// zram: RAM holding compressed pages.
    pub zram: Option<ZramState>,
    /// File systems in RAM.
    pub tmpfs: Option<TmpfsState>,
    /// Directories held against the RAM: would they fit into a tmpfs?
    pub would_fit: Vec<Fit>,
    /// Who uses the memory: the largest programs and control groups.
    pub who: Option<WhoUses>,
    /// The proof in the sandbox.
    pub proof: Option<ProofTable>,
    /// What to do, ranked by effect.
    pub findings: Vec<Finding>,
    /// What was not done, and why.
    pub skipped: Vec<Skipped>,
    /// What could not be seen, and why.
    pub unseen: Vec<UnseenSection>,
    /// What the checkup cost.
    pub cost: CheckupCost,
    /// What an earlier run left behind, in words.
    pub leftovers: Vec<String>,
    /// What of it this checkup removed before it began, in words.
    pub removed: Vec<String>,
}
