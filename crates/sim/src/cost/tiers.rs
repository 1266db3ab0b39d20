//! Costs by what `measure tiers` has found on this machine.

use ramline_evidence::TierReport;

use super::{Costs, MEASURED_SPREAD, Spread, in_short};

impl Costs {
    /// Disk and compression as the tiers of this machine have them; what was not measured, and all other work of a processor, as assumed.
    #[must_use]
    pub fn measured(tiers: &TierReport, algorithm: &str, fill: &str) -> Costs {
        let assumed = Costs::assumed(algorithm, fill);
        let spread = Spread { processor: assumed.spread.processor, ..Spread::same(MEASURED_SPREAD) };
        let mut costs = Costs { spread, ..assumed };
        let median = |id: &str| median(tiers, id);
        let set = |cost: &mut f64, id: &str| *cost = median(id).unwrap_or(*cost);
        let suffix = if fill == "random" { "/random" } else { "" };
        let [read, write] = ["", "/write"].map(|way| format!("zram-{algorithm}{suffix}{way}"));
        costs.is_codec_measured = fill != "zeros" && median(&read).is_some() && median(&write).is_some();
        if costs.is_codec_measured {
            set(&mut costs.decompress, &read);
            set(&mut costs.compress, &write);
        }
        if let Some(disk) = tiers.disk() {
            set(&mut costs.read[0], &disk.tier);
            // Of reads of 1 MiB.
            let long = |rate: f64| 1e9 * f64::from(1 << 20) / rate.max(1.0);
            let each = |rate: f64| (long(rate) - costs.read[0]).max(0.0) / in_short(256);
            let each = disk.throughput.as_ref().map(|rate| each(rate.median));
            costs.read[1] = each.unwrap_or(costs.read[1]);
            // A long write takes as long as a long read, and each page of it the same.
            let written = |rate: f64| (long(rate) - costs.read[0]).max(0.0) / 256.0;
            costs.swap_written =
                [costs.read[0], disk.throughput.as_ref().map_or(costs.swap_written[1], |rate| written(rate.median))];
            // What a processor has to do with a read is in what was measured.
            let beside = |processor: f64| [(costs.read[0] - processor).max(0.0), costs.read[1]];
            (costs.read, costs.swap_read) = (beside(costs.fetch[0]), beside(costs.swap_fetch));
        }
        costs
    }

    /// With what a load, a fault and a read(2) of a page in RAM cost among the tiers of this machine.
    #[must_use]
    pub fn with_tiers_in_ram(self, tiers: &TierReport) -> Costs {
        let or = |assumed: f64, id: &str| median(tiers, id).unwrap_or(assumed);
        Costs {
            hit: or(self.hit, "ram-load"),
            minor: or(self.minor, "page-cache-mmap-fault"),
            call: or(self.call, "page-cache-read"),
            spread: Spread { processor: MEASURED_SPREAD, ..self.spread },
            ..self
        }
    }
}

#[expect(clippy::cast_precision_loss, reason = "nanoseconds of one access")]
fn median(tiers: &TierReport, id: &str) -> Option<f64> {
    tiers.tier(id).and_then(|tier| tier.latency).map(|latency| latency.p50_ns.0 as f64)
}

#[cfg(test)]
mod tests {
    use ramline_evidence::{LatencyStats, Measurement, TierMeasurement};
    use ramline_units::Nanos;

    use super::*;
    use crate::cost::{read_cost, whole};

    #[test]
    fn of_what_was_measured_of_a_disk_goes_what_a_processor_does_and_a_long_read_takes_as_long_as_it_did() {
        let [latency, long] = [50_000_u32, 1_000_000];
        let rate = 1e9 * f64::from(1 << 20) / f64::from(long);
        let disk = TierMeasurement {
            tier: "disk:/".to_owned(),
            label: String::new(),
            latency: LatencyStats::from_durations(&[Nanos(latency.into())]),
            batches: None,
            throughput: Measurement::from_values(&[rate], "bytes/s", "", &[]),
            method: String::new(),
            notes: Vec::new(),
        };
        let report = TierReport { tiers: vec![disk], ..TierReport::default() };
        let costs = Costs::measured(&report, "lz4", "text");
        assert_eq!(costs.read[0] + costs.fetch[0], f64::from(latency));
        assert_eq!(costs.swap_read[0] + costs.swap_fetch, f64::from(latency));
        let of_256 = whole(costs.fetch[0]) + read_cost(costs.read, 256);
        assert!(of_256.abs_diff(long.into()) <= 2, "{of_256}");
        assert!((costs.swap_written[0] + 256.0 * costs.swap_written[1] - f64::from(long)).abs() < 1.0, "{costs:?}");
    }
}
