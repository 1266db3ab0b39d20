//! What a tier of memory costs, as measured on one machine.
//!
//! Which tier to use is judged by the model, from these.
//!
//! ```
//! use ramline_evidence::{LatencyStats, TierMeasurement, TierReport};
//! use ramline_units::Nanos;
//! let tier = |id: &str, ns: u64| TierMeasurement {
//!     tier: id.to_owned(),
//!     label: id.to_owned(),
//!     latency: LatencyStats::from_durations(&[Nanos(ns)]),
//!     batches: None,
//!     throughput: None,
//!     method: "example".to_owned(),
//!     notes: vec![],
//! };
//! let report = TierReport { tiers: vec![tier("ram", 100), tier("disk", 80_000)], ..TierReport::default() };
//! assert_eq!(report.multiple_of_ram("disk"), Some(800.0));
//! ```

use crate::prelude::*;
use crate::{LatencyStats, Measurement};

/// The `tier` of main memory, which the others are compared with.
pub const RAM: &str = "ram";

/// One load from main memory.
const RAM_LOAD: &str = "ram-load";

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

/// The name is that of the files on a disk.
#[must_use]
pub fn is_disk(tier: &str) -> bool {
    tier.starts_with("disk:")
}

/// The name is that of a swap area on a disk.
#[must_use]
pub fn is_swap_area(tier: &str) -> bool {
    tier.starts_with("swap:")
}

/// What one page took to be compressed into the zram of a run and to be read back, in the middle of many; measured before the run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct CodecTimes {
    /// A write of one page.
    pub compress: Nanos,
    /// A read of one page.
    pub decompress: Nanos,
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

    /// Where a page of a file is read: `disk:/`, or the directory that was measured instead.
    #[must_use]
    pub fn disk(&self) -> Option<&TierMeasurement> {
        self.tiers.iter().find(|tier| is_disk(&tier.tier))
    }

    /// Median latency of `id` over that of RAM; `None` where either was not measured, and of one load, which is no page.
    #[must_use]
    pub fn multiple_of_ram(&self, id: &str) -> Option<f64> {
        if id == RAM_LOAD {
            return None;
        }
        let p50 = |id| self.tier(id)?.latency.map(|latency| latency.p50_ns.0 as f64);
        let ram = p50(RAM)?;
        (ram > 0.0).then(|| p50(id)).flatten().map(|other| other / ram)
    }

    /// The tier that takes longest, in multiples of RAM; `None` where nothing is slower than RAM.
    #[must_use]
    pub fn slowest_tier(&self) -> Option<(&TierMeasurement, f64)> {
        let multiples = self.tiers.iter().filter_map(|tier| Some((tier, self.multiple_of_ram(&tier.tier)?)));
        multiples.max_by(|a, b| a.1.total_cmp(&b.1)).filter(|(_, multiple)| *multiple > 1.0)
    }
}

/// Two measurements of an unchanged machine, one run each, differ by up to this factor: in two checkups 6 s apart medians went to
/// 0.91, 1.17, 1.04 and 1.54 times what they were, though the spreads within each did not overlap. Twice leaves room for a
/// neighbour on the host, for turbo and for a drive's cache.
pub const BETWEEN_RUNS: f64 = 2.0;

/// One quantity of a tier, then and now.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TierChange {
    /// Median then: of an access in ns, of the throughput in bytes/s.
    pub old: f64,
    /// Median now.
    pub new: f64,
    /// Now over then; `None` when then was 0.
    pub ratio: Option<f64>,
    /// It differs by more than runs on an unchanged machine do, and the spreads do not overlap.
    pub differs: bool,
}

impl TierChange {
    fn between(old: f64, new: f64, apart: bool) -> TierChange {
        let ratio = (old > 0.0).then(|| new / old);
        let far = ratio.is_some_and(|ratio| !(1.0 / BETWEEN_RUNS..=BETWEEN_RUNS).contains(&ratio));
        TierChange { old, new, ratio, differs: apart && far }
    }
}

impl TierMeasurement {
    /// The access of 4 KiB against an earlier measurement. Neither median lies in the other's spread, from the shortest access to
    /// the 99th percentile, where it is said to differ.
    #[must_use]
    pub fn access_since(&self, then: &TierMeasurement) -> Option<TierChange> {
        let (old, new) = (then.latency?, self.latency?);
        let inside = |x: &LatencyStats, of: &LatencyStats| (of.min_ns..=of.p99_ns).contains(&x.p50_ns);
        let apart = !inside(&old, &new) && !inside(&new, &old);
        Some(TierChange::between(old.p50_ns.0 as f64, new.p50_ns.0 as f64, apart))
    }

    /// The throughput against an earlier measurement.
    #[must_use]
    pub fn throughput_since(&self, then: &TierMeasurement) -> Option<TierChange> {
        let (old, new) = (then.throughput.as_ref()?, self.throughput.as_ref()?);
        Some(TierChange::between(old.median, new.median, study::compare(old, new).separated))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_runs_of_an_unchanged_machine_do_not_differ_and_a_drive_five_times_slower_does() {
        let tier = |rates: &[f64]| TierMeasurement {
            tier: RAM.to_owned(),
            label: String::new(),
            latency: None,
            batches: None,
            throughput: Measurement::from_values(rates, "bytes/s", "", &[]),
            method: String::new(),
            notes: vec![],
        };
        // As measured, 6 s apart: the spread within a run is a hundredth, between the runs a tenth to a half.
        for (old, new) in [(15.9, 14.4), (10.0, 11.7), (10.0, 10.4), (2.5, 3.85)] {
            let near = |v: f64| [v * 0.995, v, v * 1.005];
            let change = tier(&near(new)).throughput_since(&tier(&near(old))).unwrap();
            assert!(!change.differs, "{old} {new}: {change:?}");
        }
        let change = tier(&[0.49, 0.5, 0.51]).throughput_since(&tier(&[2.4, 2.5, 2.6])).unwrap();
        assert!(change.differs && change.ratio == Some(0.2), "{change:?}");
    }

    #[test]
    fn the_slowest_tier_is_slower_than_ram() {
        let tier = |id: &str, ns: u64| TierMeasurement {
            tier: id.to_owned(),
            label: format!("label of {id}"),
            latency: LatencyStats::from_durations(&[ramline_units::Nanos(ns)]),
            batches: None,
            throughput: None,
            method: String::new(),
            notes: vec![],
        };
        let report = |tiers: &[(&str, u64)]| TierReport {
            tiers: tiers.iter().map(|(id, ns)| tier(id, *ns)).collect(),
            ..TierReport::default()
        };
        let three = report(&[("ram", 100), ("disk", 80_000), ("tmpfs", 200)]);
        let slowest = three.slowest_tier().map(|(tier, multiple)| (tier.label.as_str(), multiple));
        assert_eq!(slowest, Some(("label of disk", 800.0)));
        assert_eq!(report(&[("ram", 100), ("tmpfs", 90)]).slowest_tier(), None);
    }

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
