//! From measured costs to the balance they imply: r = cost of reading a file page again / cost of a swap-in.
//!
//! Not advice of more than low confidence. r says nothing about how often either happens, and swappiness is a
//! weight on scanning, not a price; only an arm of an experiment proves a setting. Pure: a function of the report.
//!
//! swappiness = 200·r/(1+r), rounded (kernel documentation of vm.swappiness: swap twice as fast as the file system, r = 2,
//! gives 133). r is from mean latencies. Charging compression as well: an anonymous page costs a compression on its way out,
//! a clean file page nothing, so with equal chances of coming back r = read / (compress + decompress).

use crate::balance;
use crate::prelude::*;
use ramline_evidence::{TierMeasurement, TierReport, is_swap_area};

/// The formula, for a reader.
pub const FORMULA: &str =
    "swappiness = 200*r/(1+r), r = mean cost of a random 4 KiB file re-read / mean cost of a swap-in";

/// What the costs alone imply.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct CostRatio {
    /// The tier files are read again from.
    pub file_tier: String,
    /// Mean, in ns.
    pub file_ns: f64,
    /// The fastest swap area that is on (`swap:/dev/zram0`); without any, the fastest zram there could be (`zram-lz4`).
    pub swap_tier: String,
    /// Mean, in ns.
    pub swap_ns: f64,
    /// True when no swap area is on: it says what zram would mean, not what is.
    pub hypothetical: bool,
    /// `file_ns / swap_ns`.
    pub r: f64,
    /// What r implies, 0 to 200.
    pub swappiness: u64,
    /// Mean cost of the write that precedes a swap-in to zram, in ns.
    pub compress_ns: Option<f64>,
    /// r and swappiness with the write charged as well.
    pub with_compression: Option<Implied>,
    /// With the fastest zram alone, where that is not what is in use.
    pub if_zram: Option<Implied>,
    /// A fast area (or zram, hypothetically) in front of the slowest one, by the share of swap-ins the fast tier serves.
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

/// Which of the two costs less.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Cheaper {
    /// The swap-in does; else the file page.
    pub swap_in: bool,
    /// The dearer over the cheaper, 1 and more.
    pub times: f64,
}

impl CostRatio {
    /// Which of the two costs less, and how many times.
    #[must_use]
    pub fn cheaper(&self) -> Cheaper {
        let swap_in = self.r >= 1.0;
        Cheaper { swap_in, times: if swap_in { self.r } else { 1.0 / self.r } }
    }
}

/// Two swap tiers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Blend {
    /// The faster one.
    #[serde(default)]
    pub fast_tier: String,
    /// The slower one.
    pub slow_tier: String,
    /// Share of swap-ins served by the fast one, 0 to 1.
    pub fast_share: f64,
    /// The blended ratio.
    pub r: f64,
    /// At most 100, the cautious ceiling with two tiers.
    pub swappiness: u64,
}

/// Shares for which the blend is shown.
const SHARES: [f64; 3] = [0.99, 0.9, 0.5];

fn mean(tier: &TierMeasurement) -> Option<f64> {
    tier.latency.map(|latency| latency.mean_ns).filter(|mean| *mean > 0.0)
}

/// Where a swap-in on text-like pages was measured: `zram-lz4` and the like, not its writes or other data.
fn is_zram_read(tier: &TierMeasurement) -> bool {
    tier.tier.starts_with("zram-") && !tier.tier.contains('/')
}

/// Where a file page is read again: `disk:/`, or the directory that was measured instead.
#[must_use]
pub fn file_tier(report: &TierReport) -> Option<&TierMeasurement> {
    report.disk()
}

/// From a report with a disk tier and at least one of zram and swap areas; `None` without them.
///
/// A real sample of pages, where there is one, would change the cost of zram; its rows stand beside in the report.
#[must_use]
pub fn cost_ratio(report: &TierReport) -> Option<CostRatio> {
    let file = file_tier(report)?;
    let file_ns = mean(file)?;
    let of = |choose: fn(&TierMeasurement) -> bool| {
        let chosen = report.tiers.iter().filter(move |tier| choose(tier));
        let mut found: Vec<(&str, f64)> = chosen.filter_map(|tier| Some((tier.tier.as_str(), mean(tier)?))).collect();
        ramline_units::sort_by(&mut found, |a, b| a.1.total_cmp(&b.1));
        found
    };
    let areas = of(|tier| is_swap_area(&tier.tier));
    let zram = of(is_zram_read).first().copied();
    let (swap, swap_ns) = areas.first().copied().or(zram)?;
    let r = file_ns / swap_ns;
    let write = match swap.strip_prefix("swap:") {
        Some(path) => format!("swap-write:{path}"),
        None => format!("{swap}/write"),
    };
    let compress_ns = report.tier(&write).and_then(mean);
    let with_compression = compress_ns.and_then(|write| implied(file_ns / (swap_ns + write)));
    let if_zram = zram.filter(|(_, ns)| *ns < swap_ns).and_then(|(_, ns)| implied(file_ns / ns));
    // In front of a zram area zram makes no sense; only such areas have a row for writes.
    let single_is_zram = areas.len() == 1 && compress_ns.is_some();
    let fast = if areas.len() > 1 { areas.first().copied() } else { zram.filter(|_| !single_is_zram) };
    let blended = match (fast, areas.last()) {
        (Some(fast), Some(slow)) if fast.1 < slow.1 => blends(file_ns, fast, *slow),
        _ => Vec::new(),
    };
    Some(CostRatio {
        file_tier: file.tier.clone(),
        file_ns,
        swap_tier: swap.to_owned(),
        swap_ns,
        hypothetical: areas.is_empty(),
        r,
        swappiness: balance::swappiness_for_ratio(r)?,
        compress_ns,
        with_compression,
        if_zram,
        blended,
        formula: FORMULA.to_owned(),
        confidence: "low".to_owned(),
    })
}

fn implied(r: f64) -> Option<Implied> {
    balance::swappiness_for_ratio(r).map(|swappiness| Implied { r, swappiness })
}

fn blends(file: f64, (fast_tier, fast): (&str, f64), (slow_tier, slow): (&str, f64)) -> Vec<Blend> {
    let blend = |fast_share| {
        Some(Blend {
            fast_tier: fast_tier.to_owned(),
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
            latency: LatencyStats::from_durations(&[Nanos(ns)]),
            batches: None,
            throughput: None,
            method: String::new(),
            notes: Vec::new(),
        };
        TierReport { tiers: tiers.iter().map(tier).collect(), ..TierReport::default() }
    }

    #[test]
    fn zram_that_is_no_faster_than_the_area_is_not_put_before_it() {
        for zram in [50_000, 90_000] {
            let cost =
                cost_ratio(&report(&[("disk:/", 100_000), ("swap:/dev/sdb1", 50_000), ("zram-lz4", zram)])).unwrap();
            assert_eq!((cost.if_zram, cost.blended.len()), (None, 0), "{zram}");
        }
    }

    #[test]
    fn swap_twice_as_fast_as_the_files_implies_133() {
        let cost = cost_ratio(&report(&[("disk:/", 100_000), ("swap:/dev/sdb1", 50_000)])).unwrap();
        assert_eq!((cost.r, cost.swappiness, cost.hypothetical), (2.0, 133, false));
        assert_eq!((cost.file_tier.as_str(), cost.swap_tier.as_str()), ("disk:/", "swap:/dev/sdb1"));
        assert_eq!((cost.with_compression, cost.confidence.as_str()), (None, "low"));
    }

    #[test]
    fn the_cheaper_of_the_two_is_told_by_a_multiple_above_one() {
        let of = |r| CostRatio { r, ..CostRatio::default() }.cheaper();
        assert_eq!(of(4.0), Cheaper { swap_in: true, times: 4.0 });
        assert_eq!(of(0.25), Cheaper { swap_in: false, times: 4.0 });
    }

    #[test]
    fn zram_that_is_not_in_use_is_hypothetical_and_its_compression_can_be_charged() {
        let tiers = [
            ("disk:/", 80_000),
            ("zram-lz4", 2_000),
            ("zram-lz4/write", 6_000),
            ("zram-lz4/random", 500),
            ("zram-zstd", 6_000),
        ];
        let cost = cost_ratio(&report(&tiers)).unwrap();
        assert_eq!(
            (cost.swap_tier.as_str(), cost.r, cost.swappiness, cost.hypothetical),
            ("zram-lz4", 40.0, 195, true)
        );
        assert_eq!(cost.with_compression, Some(Implied { r: 10.0, swappiness: 182 }));
    }

    #[test]
    fn what_is_in_use_counts_before_what_could_be() {
        let tiers = [
            ("disk:/", 80_000),
            ("zram-lz4", 2_000),
            ("zram-lzo-rle", 4_000),
            ("swap:/dev/zram0", 4_000),
            ("swap-write:/dev/zram0", 16_000),
        ];
        let cost = cost_ratio(&report(&tiers)).unwrap();
        assert_eq!((cost.swap_tier.as_str(), cost.r, cost.hypothetical), ("swap:/dev/zram0", 20.0, false));
        assert_eq!(cost.with_compression, Some(Implied { r: 4.0, swappiness: 160 }));
        assert_eq!(cost.if_zram, Some(Implied { r: 40.0, swappiness: 195 }));
        assert_eq!(cost.blended, []);
    }

    #[test]
    fn two_tiers_blend_by_the_share_of_swap_ins_and_stop_at_100() {
        let cost =
            cost_ratio(&report(&[("disk:/", 100_000), ("swap:/dev/sda2", 390_000), ("zram-lz4", 10_000)])).unwrap();
        let half = cost.blended.last().unwrap();
        assert_eq!((half.fast_share, half.r, half.swappiness), (0.5, 0.5, 67));
        assert_eq!((half.fast_tier.as_str(), half.slow_tier.as_str()), ("zram-lz4", "swap:/dev/sda2"));
        assert!(cost.blended.iter().all(|blend| blend.swappiness <= 100));
        assert_eq!(
            (cost.swap_tier.as_str(), cost.swappiness, cost.if_zram.unwrap().swappiness),
            ("swap:/dev/sda2", 41, 182)
        );
        let both = cost_ratio(&report(&[
            ("disk:/", 100_000),
            ("swap:/dev/sda2", 390_000),
            ("swap:/dev/zram0", 10_000),
            ("zram-lz4", 5_000),
        ]))
        .unwrap();
        assert_eq!(both.blended.last().unwrap().fast_tier, "swap:/dev/zram0");
    }

    #[test]
    fn without_a_disk_or_without_any_swap_tier_there_is_no_ratio() {
        assert_eq!(cost_ratio(&report(&[("zram-lz4", 10)])), None);
        assert_eq!(cost_ratio(&report(&[("disk:/", 10), ("ram", 1)])), None);
        assert_eq!(cost_ratio(&report(&[("disk:/", 10), ("zram-lz4", 0)])), None);
    }
}
