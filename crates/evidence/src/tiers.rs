//! What a tier of memory costs, as measured on one machine.
//!
//! What it is not: a judgement about which tier to use; the model compares, from these.
//!
//! ```
//! use ramline_evidence::{LatencyStats, TierMeasurement, TierReport};
//! use ramline_units::Nanos;
//! let tier = |id: &str, ns: u64| TierMeasurement {
//!     tier: id.to_owned(),
//!     label: id.to_owned(),
//!     latency: LatencyStats::of(&[Nanos(ns)]),
//!     batches: None,
//!     throughput: None,
//!     method: "example".to_owned(),
//!     notes: vec![],
//! };
//! let report = TierReport { tiers: vec![tier("ram", 100), tier("disk", 80_000)], ..TierReport::default() };
//! assert_eq!(report.multiple_of_ram("disk"), Some(800.0));
//! ```

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{LatencyStats, Measurement};

/// The `tier` of main memory, which the others are compared with.
pub const RAM: &str = "ram";

/// The cost of one tier.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TierMeasurement {
    /// Stable name: `ram`, `page-cache-read`, `page-cache-mmap`, `tmpfs`, `zram-lz4`, `disk:/`, `swap:/dev/vda2`.
    pub tier: String,
    /// For the reader: `zram with lz4 (user space)`.
    pub label: String,
    /// Time of one random access of one page.
    pub latency: Option<LatencyStats>,
    /// Medians of the batches in ns: how far they disagree is the spread of the latency.
    #[serde(default)]
    pub batches: Option<Measurement>,
    /// Sequential throughput in bytes/s, with n and spread.
    pub throughput: Option<Measurement>,
    /// How it was measured, in words.
    pub method: String,
    /// What qualifies it: `user space`, `the hypervisor may cache this disk`.
    pub notes: Vec<String>,
}

/// All tiers of one machine, measured together.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct TierReport {
    /// The tiers, in the order measured.
    pub tiers: Vec<TierMeasurement>,
    /// What held during the measurement: kernel, CPUs, busy or quiet, nested virtualisation.
    pub conditions: Vec<String>,
    /// Tiers that were not measured, and why.
    pub skipped: Vec<String>,
    /// What the measurement itself took, in seconds of wall-clock time.
    pub took_s: f64,
}

impl TierReport {
    /// The tier with this stable name.
    #[must_use]
    pub fn tier(&self, id: &str) -> Option<&TierMeasurement> {
        self.tiers.iter().find(|tier| tier.tier == id)
    }

    /// Median latency of `id` over that of RAM; `None` where either was not measured.
    #[must_use]
    pub fn multiple_of_ram(&self, id: &str) -> Option<f64> {
        let p50 = |id| self.tier(id)?.latency.map(|latency| latency.p50_ns.0 as f64);
        let ram = p50(RAM)?;
        (ram > 0.0).then(|| p50(id)).flatten().map(|other| other / ram)
    }

    /// The tier that takes longest, by its label, in multiples of RAM; `None` where nothing is slower than RAM.
    #[must_use]
    pub fn slowest(&self) -> Option<(&str, f64)> {
        let multiples =
            self.tiers.iter().filter_map(|tier| Some((tier.label.as_str(), self.multiple_of_ram(&tier.tier)?)));
        multiples.max_by(|a, b| a.1.total_cmp(&b.1)).filter(|(_, multiple)| *multiple > 1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tier_that_was_not_measured_has_no_multiple() {
        assert_eq!(TierReport::default().multiple_of_ram("disk"), None);
    }

    #[test]
    fn a_report_of_an_older_version_without_later_fields_is_read() {
        let old: TierReport = serde_json::from_str(r#"{"tiers":[]}"#).unwrap();
        assert_eq!(old, TierReport::default());
    }
}
