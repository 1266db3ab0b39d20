//! What one pass did: one JSON line.

use ramline_units::{Bytes, JsonSchema};
use serde::{Deserialize, Serialize};

use super::UpkeepGates;

/// How idle pages were found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Marked {
    /// The kernel keeps the time of each page's last use.
    ByAge,
    /// It does not: what was marked by an earlier pass and not used since is idle; all pages are marked for the next one.
    SinceLastPass,
    /// The same, and no earlier pass has marked them long enough ago: none is known to be idle yet.
    ForNextPass,
}

/// The budget of writeback.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct UpkeepBudget {
    /// What may be written in 24 hours.
    pub per_day: Bytes,
    /// What was written in the last 24 hours, this pass included.
    pub written: Bytes,
    /// What is left of it.
    pub left: Bytes,
}

/// One device. What was not done, or cannot be counted here, is `None`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct UpkeepDevice {
    /// `zram0`.
    pub device: String,
    /// The backing device.
    pub backing: Option<String>,
    /// How idle pages were found.
    pub marked: Option<Marked>,
    /// What went to the backing device, by its own counter.
    pub written_back: Option<Bytes>,
    /// By how much the compressed data became less by recompression.
    pub recompressed: Option<Bytes>,
    /// By how much the pool became smaller by compaction.
    pub compacted: Option<Bytes>,
    /// By how much the pool became smaller in all; what was swapped meanwhile counts too.
    pub freed: Option<Bytes>,
    /// What was not done, and why.
    pub skipped: Vec<String>,
    /// What failed.
    pub failed: Vec<String>,
    /// The kernel has neither writeback nor recompression.
    pub bare: bool,
    /// With `--dry-run`: the writes in order.
    pub would_write: Vec<String>,
}

/// One pass over all devices.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct UpkeepPass {
    /// When it began, in milliseconds since 1970.
    pub time_ms: u64,
    /// Nothing was written.
    pub dry_run: bool,
    /// Pages not used for so many seconds are idle.
    pub idle_s: u64,
    /// What the machine was doing.
    pub gates: UpkeepGates,
    /// The budget of writeback.
    pub budget: UpkeepBudget,
    /// Why the whole pass was left out.
    pub skipped: Option<String>,
    /// Devices left alone, and why.
    pub left_alone: Vec<String>,
    /// The devices.
    pub devices: Vec<UpkeepDevice>,
}

impl UpkeepPass {
    /// Something was tried and failed.
    #[must_use]
    pub fn has_failed(&self) -> bool {
        self.devices.iter().any(|device| !device.failed.is_empty())
    }
}
