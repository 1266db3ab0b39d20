//! From measured costs to the balance they imply: r = cost of reading a file page again / cost of a swap-in.
//!
//! What it is not: advice of more than low confidence. r says nothing about how often either happens, and swappiness is a
//! weight on scanning, not a price; only an arm of an experiment proves a setting. Pure: a function of the report.
//!
//! swappiness = 200·r/(1+r), rounded (kernel documentation of vm.swappiness: swap twice as fast as the file system, r = 2,
//! gives 133). r is from mean latencies. Charging compression as well: an anonymous page costs a compression on its way out,
//! a clean file page nothing, so with equal chances of coming back r = read / (compress + decompress).

use ramline_evidence::{TierMeasurement, TierReport};
use ramline_model::balance;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The formula, for a reader.
pub const FORMULA: &str = "swappiness = 200*r/(1+r), r = mean cost of a random 4 KiB file re-read / mean cost of a swap-in";

/// What the costs alone imply.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CostRatio {
    /// The tier files are read again from.
    pub file_tier: String,
    /// Mean, in ns.
    pub file_ns: f64,
    /// The fastest tier swap could be on: an area in use, or zram that may not be set up.
    pub swap_tier: String,
    /// Mean, in ns.
    pub swap_ns: f64,
    /// True when no area in use is on that tier: it says what would be, not what is.
    pub hypothetical: bool,
    /// `file_ns / swap_ns`.
    pub r: f64,
    /// What r implies, 0 to 200.
    pub swappiness: u64,
    /// Mean cost of the write that precedes a swap-in to zram, in ns.
    pub compress_ns: Option<f64>,
    /// r and swappiness with the write charged as well.
    pub with_compression: Option<Implied>,
    /// zram in front of a slower area, by the share of swap-ins the fast tier serves.
    pub blended: Vec<Blend>,
    /// How it was computed.
    pub formula: String,
    /// What the number can bear: `low`, until an experiment has proved it.
    pub confidence: String,
}

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

/// How a report says, in `skipped`, that a zram device is a swap area.
pub(super) const ZRAM_IN_USE: &str = "a zram device in use is left alone";

/// Shares for which the blend is shown.
const SHARES: [f64; 3] = [0.99, 0.9, 0.5];

fn mean(tier: &TierMeasurement) -> Option<f64> {
    tier.latency.map(|latency| latency.mean_ns).filter(|mean| *mean > 0.0)
}

/// Where a swap-in on text-like pages was measured: `zram-lz4` and the like, not its writes or other data.
fn is_zram_read(tier: &TierMeasurement) -> bool {
    tier.tier.starts_with("zram-") && !tier.tier.contains('/')
}

/// From a report with a disk tier and at least one of zram and swap areas; `None` without them.
///
/// A real sample of pages, where there is one, would change the cost of zram; its rows stand beside in the report.
#[must_use]
pub fn cost_ratio(report: &TierReport) -> Option<CostRatio> {
    let file = report.tiers.iter().find(|tier| tier.tier.starts_with("disk:"))?;
    let file_ns = mean(file)?;
    let cheapest = |choose: fn(&TierMeasurement) -> bool| {
        let candidates = report.tiers.iter().filter(|tier| choose(tier)).filter_map(|tier| Some((tier, mean(tier)?)));
        candidates.min_by(|a, b| a.1.total_cmp(&b.1))
    };
    let area = cheapest(|tier| tier.tier.starts_with("swap:"));
    let zram = cheapest(is_zram_read);
    let (swap, swap_ns) = [area, zram].into_iter().flatten().min_by(|a, b| a.1.total_cmp(&b.1))?;
    let r = file_ns / swap_ns;
    let compress_ns = report.tier(&format!("{}/write", swap.tier)).and_then(mean);
    let with_compression = compress_ns.and_then(|write| implied(file_ns / (swap_ns + write)));
    let zram_in_use = report.skipped.iter().any(|line| line.starts_with("swap:") && line.contains(ZRAM_IN_USE));
    let blended = match (area, zram) {
        (Some((slow, slow_ns)), Some((_, fast_ns))) if slow_ns > fast_ns => blends(&slow.tier, file_ns, fast_ns, slow_ns),
        _ => Vec::new(),
    };
    Some(CostRatio {
        file_tier: file.tier.clone(),
        file_ns,
        swap_tier: swap.tier.clone(),
        swap_ns,
        hypothetical: is_zram_read(swap) && !zram_in_use,
        r,
        swappiness: balance::swappiness_for_ratio(r)?,
        compress_ns,
        with_compression,
        blended,
        formula: FORMULA.to_owned(),
        confidence: "low".to_owned(),
    })
}

fn implied(r: f64) -> Option<Implied> {
    balance::swappiness_for_ratio(r).map(|swappiness| Implied { r, swappiness })
}

fn blends(slow_tier: &str, file: f64, fast: f64, slow: f64) -> Vec<Blend> {
    let blend = |fast_share| {
        Some(Blend {
            slow_tier: slow_tier.to_owned(),
            fast_share,
            r: balance::blended_ratio(file, fast, slow, fast_share)?,
            swappiness: balance::swappiness_for_two_tiers(file, fast, slow, fast_share)?,
        })
    };
    SHARES.into_iter().filter_map(blend).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use ramline_evidence::LatencyStats;
    use ramline_units::Nanos;

    fn report(tiers: &[(&str, u64)]) -> TierReport {
        let tier = |&(id, ns): &(&str, u64)| TierMeasurement {
            tier: id.to_owned(),
            label: id.to_owned(),
            latency: LatencyStats::of(&[Nanos(ns)]),
            throughput: None,
            method: String::new(),
            notes: Vec::new(),
        };
        TierReport { tiers: tiers.iter().map(tier).collect(), ..TierReport::default() }
    }

    #[test]
    fn swap_twice_as_fast_as_the_files_implies_133() {
        let cost = cost_ratio(&report(&[("disk:/", 100_000), ("swap:/dev/sdb1", 50_000)])).unwrap();
        assert_eq!((cost.r, cost.swappiness, cost.hypothetical), (2.0, 133, false));
        assert_eq!((cost.file_tier.as_str(), cost.swap_tier.as_str()), ("disk:/", "swap:/dev/sdb1"));
        assert_eq!((cost.with_compression, cost.confidence.as_str()), (None, "low"));
    }

    #[test]
    fn zram_that_is_not_in_use_is_hypothetical_and_its_compression_can_be_charged() {
        let tiers = [("disk:/", 80_000), ("zram-lz4", 2_000), ("zram-lz4/write", 6_000), ("zram-lz4/random", 500), ("zram-zstd", 6_000)];
        let cost = cost_ratio(&report(&tiers)).unwrap();
        assert_eq!((cost.swap_tier.as_str(), cost.r, cost.swappiness, cost.hypothetical), ("zram-lz4", 40.0, 195, true));
        assert_eq!(cost.with_compression, Some(Implied { r: 10.0, swappiness: 182 }));
        let mut in_use = report(&tiers);
        in_use.skipped.push(format!("swap:/dev/zram0: {ZRAM_IN_USE}"));
        assert!(!cost_ratio(&in_use).unwrap().hypothetical);
    }

    #[test]
    fn two_tiers_blend_by_the_share_of_swap_ins_and_stop_at_100() {
        let cost = cost_ratio(&report(&[("disk:/", 100_000), ("swap:/dev/sda2", 390_000), ("zram-lz4", 10_000)])).unwrap();
        let half = cost.blended.last().unwrap();
        assert_eq!((half.fast_share, half.r, half.swappiness, half.slow_tier.as_str()), (0.5, 0.5, 67, "swap:/dev/sda2"));
        assert!(cost.blended.iter().all(|blend| blend.swappiness <= 100));
        assert_eq!(cost.swappiness, 182);
    }

    #[test]
    fn without_a_disk_or_without_any_swap_tier_there_is_no_ratio() {
        assert_eq!(cost_ratio(&report(&[("zram-lz4", 10)])), None);
        assert_eq!(cost_ratio(&report(&[("disk:/", 10), ("ram", 1)])), None);
        assert_eq!(cost_ratio(&report(&[("disk:/", 10), ("zram-lz4", 0)])), None);
    }
}
