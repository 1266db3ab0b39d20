//! The model's list of tiers with the measured cost of an access beside each.
//!
//! The join of that list with a tier report by name. What the costs imply is `ramline_model::costs`, passed on here.
//!
//! Worked example: a report with `swap:/dev/sda2` prices the tier `/dev/sda2`; one with `zram-lz4` prices a zram device
//! that uses lz4.

pub use ramline_model::costs::{Blend, CostRatio, Implied};
use ramline_model::tiers::{Measured, Tier, TierKind};

use crate::prelude::*;

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
        TierKind::Zram => report.tier(&format!("swap:{}", tier.name)).or_else(|| {
            let name = tier.name.rsplit('/').next()?;
            let device = snapshot.zram.data()?.devices.iter().find(|d| d.name == name)?;
            report.tier(&format!("zram-{}", device.algorithm.as_deref()?))
        }),
        // Its pool is compressed by the same code, but a fault takes another way: no number is better than a wrong one.
        TierKind::Zswap => None,
        TierKind::SwapArea => report.tier(&format!("swap:{}", tier.name)),
        TierKind::Disk => report.disk(),
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
        Tier {
            kind,
            name: name.into(),
            capacity: None,
            used: None,
            ram: None,
            cost: None,
            gives_way: None,
            how: String::new(),
        }
    }

    #[test]
    fn tiers_are_priced_by_name_and_zram_by_its_algorithm() {
        let measured = |id: &str, ns| TierMeasurement {
            tier: id.into(),
            label: id.into(),
            latency: LatencyStats::from_durations(&[Nanos(ns)]),
            batches: None,
            throughput: None,
            method: String::new(),
            notes: vec![],
        };
        let report = TierReport {
            tiers: vec![
                measured("ram", 90),
                measured("zram-lz4", 3000),
                measured("zram-zstd", 7000),
                measured("swap:/dev/sda2", 90_000),
            ],
            ..TierReport::default()
        };
        let mut seen = Snapshot::new(Machine::default());
        let device = ZramDevice { name: "zram0".into(), algorithm: Some("lz4".into()), ..ZramDevice::default() };
        seen.zram = Seen::new(Zram { devices: vec![device], ..Zram::default() });
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
