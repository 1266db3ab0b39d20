//! What the measured costs of the tiers mean side by side: priced tiers, and the swappiness the costs alone imply.
//!
//! What it is: the join of the model's list of tiers with a tier report by name. What it is not: a measurement, or advice:
//! the ratio says nothing about how often either access happens.
//!
//! Worked example: a report with `swap:/dev/sda2` prices the tier `/dev/sda2`; one with `zram-lz4` prices a zram device
//! that uses lz4.

use ramline_evidence::TierReport;
use ramline_model::tiers::{Measured, Tier, TierKind};
use ramline_snapshot::Snapshot;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A ratio and the swappiness it implies.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Implied {
    /// The ratio.
    pub r: f64,
    /// 0 to 200.
    pub swappiness: u64,
}

/// Two swap tiers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Blend {
    /// The slower one.
    pub slow_tier: String,
    /// Share of swap-ins served by the fast one, 0 to 1.
    pub fast_share: f64,
    /// The blended ratio.
    pub r: f64,
    /// At most 100, the cautious ceiling with two tiers.
    pub swappiness: u64,
}

/// What the costs alone imply, as the lab's `cost_ratio` finds it.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct CostRatio {
    /// The tier files are read again from.
    pub file_tier: String,
    /// Mean, in ns.
    pub file_ns: f64,
    /// The fastest tier swap could be on.
    pub swap_tier: String,
    /// Mean, in ns.
    pub swap_ns: f64,
    /// No area in use is on that tier: it says what would be, not what is.
    pub hypothetical: bool,
    /// `file_ns / swap_ns`.
    pub r: f64,
    /// What r implies, 0 to 200.
    pub swappiness: u64,
    /// Mean cost of the write that precedes a swap-in to zram, in ns.
    pub compress_ns: Option<f64>,
    /// r and swappiness with that write charged as well.
    pub with_compression: Option<Implied>,
    /// zram in front of a slower area, by the share of swap-ins the fast tier serves.
    pub blended: Vec<Blend>,
    /// How it was computed.
    pub formula: String,
    /// What the number can bear.
    pub confidence: String,
}

/// The tiers with the cost of an access filled in where the report has it.
#[must_use]
pub fn priced(snapshot: &Snapshot, mut tiers: Vec<Tier>, report: &TierReport) -> Vec<Tier> {
    for tier in &mut tiers {
        tier.cost = cost(snapshot, tier, report);
    }
    tiers
}

fn cost(snapshot: &Snapshot, tier: &Tier, report: &TierReport) -> Option<Measured> {
    let measured = match tier.kind {
        TierKind::Processes => report.tier("ram"),
        TierKind::PageCache => report.tier("page-cache-read"),
        TierKind::Tmpfs => report.tier("tmpfs"),
        TierKind::Zram => {
            let name = tier.name.rsplit('/').next()?;
            let device = snapshot.zram.data()?.devices.iter().find(|d| d.name == name)?;
            report.tier(&format!("zram-{}", device.algorithm.as_deref()?))
        }
        // Its pool is compressed by the same code, but a fault takes another way: no number is better than a wrong one.
        TierKind::Zswap => None,
        TierKind::SwapArea => report.tier(&format!("swap:{}", tier.name)),
        TierKind::Disk => report.tiers.iter().find(|t| t.tier.starts_with("disk:")),
    }?;
    let latency = measured.latency?;
    Some(Measured { ns_p50: latency.p50_ns, ns_p99: latency.p99_ns })
}

#[cfg(test)]
mod tests {
    use super::*;
    use ramline_evidence::{LatencyStats, TierMeasurement};
    use ramline_snapshot::{Seen, machine::Machine, zram::Zram, zram::ZramDevice};
    use ramline_units::Nanos;

    fn tier(kind: TierKind, name: &str) -> Tier {
        Tier { kind, name: name.into(), capacity: None, used: None, ram: None, cost: None, gives_way: None, how: String::new() }
    }

    #[test]
    fn tiers_are_priced_by_name_and_zram_by_its_algorithm() {
        let measured = |id: &str, ns| TierMeasurement {
            tier: id.into(),
            label: id.into(),
            latency: LatencyStats::of(&[Nanos(ns)]),
            throughput: None,
            method: String::new(),
            notes: vec![],
        };
        let report = TierReport {
            tiers: vec![measured("ram", 90), measured("zram-lz4", 3000), measured("zram-zstd", 7000), measured("swap:/dev/sda2", 90_000)],
            ..TierReport::default()
        };
        let mut seen = Snapshot::new(Machine::default());
        let device = ZramDevice { name: "zram0".into(), algorithm: Some("lz4".into()), ..ZramDevice::default() };
        seen.zram = Seen::of(Zram { devices: vec![device], ..Zram::default() });
        let tiers = vec![
            tier(TierKind::Processes, "process memory"),
            tier(TierKind::Zram, "/dev/zram0"),
            tier(TierKind::SwapArea, "/dev/sda2"),
            tier(TierKind::SwapArea, "/dev/sdb"),
            tier(TierKind::Tmpfs, "tmpfs"),
        ];
        let p50: Vec<Option<u64>> = priced(&seen, tiers, &report).iter().map(|t| t.cost.map(|c| c.ns_p50.0)).collect();
        assert_eq!(p50, [Some(90), Some(3000), Some(90_000), None, None]);
    }
}
