//! A measured value: never a bare number, always with how many runs, their spread, how and under what conditions.
//!
//! Two are compared by [`crate::study::compare`].
//!
//! ```
//! let five = ramline_evidence::Measurement::from_values(&[5.0, 1.0, 3.0, 2.0, 4.0], "s", "wall clock", &[]).unwrap();
//! assert_eq!((five.n, five.median, five.min, five.max), (5, 3.0, 1.0, 5.0));
//! assert_eq!(five.ci95, None); // fewer than 6 runs: the range is all that can be said
//! ```

use std::fmt;

use crate::prelude::*;

/// From `low` to `high`, both included, in the unit of the measurement.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Interval {
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

impl Interval {
    /// True when no value lies in both.
    #[must_use]
    pub fn apart_from(self, other: Interval) -> bool {
        self.high < other.low || other.high < self.low
    }
}

/// What an interval means.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum IntervalKind {
    /// Smallest to largest of all runs; all that can be said with fewer than 6.
    Range,
    /// 95 % interval of the median by bootstrap.
    Ci95,
}

/// A value with n, spread, method and conditions.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Measurement {
    /// How many runs (or operations) it is made of.
    pub n: u64,
    /// Their median.
    pub median: f64,
    /// 99th percentile (nearest rank), only where n is at least 100.
    pub p99: Option<f64>,
    /// Smallest.
    pub min: f64,
    /// Largest.
    pub max: f64,
    /// 95 % interval of the median, only where n is at least [`study::LEAST_FOR_INTERVAL`].
    pub ci95: Option<Interval>,
    /// The unit of the numbers above: `s`, `ns`, `bytes/s`.
    pub unit: String,
    /// How it was measured, in words.
    pub method: String,
    /// Under what conditions: settings, machine, what could not be excluded.
    pub conditions: Vec<String>,
}

impl Measurement {
    /// The measurement of raw values; `None` when there are none or one is not a number: an empty series has no median.
    #[must_use]
    pub fn from_values(values: &[f64], unit: &str, method: &str, conditions: &[&str]) -> Option<Measurement> {
        let sorted = study::sorted(values)?;
        let (min, max) = (*sorted.first()?, *sorted.last()?);
        Some(Measurement {
            n: u64::try_from(sorted.len()).ok()?,
            median: study::median(&sorted)?,
            p99: (sorted.len() >= 100).then(|| study::nearest_rank(&sorted, 0.99)).flatten(),
            min,
            max,
            ci95: study::bootstrap_median(&sorted, study::SEED),
            unit: unit.to_owned(),
            method: method.to_owned(),
            conditions: conditions.iter().map(|condition| (*condition).to_owned()).collect(),
        })
    }

    /// The interval to show and to judge by, and what it means.
    #[must_use]
    pub fn interval(&self) -> (Interval, IntervalKind) {
        match self.ci95 {
            Some(interval) => (interval, IntervalKind::Ci95),
            None => (Interval { low: self.min, high: self.max }, IntervalKind::Range),
        }
    }
}

impl fmt::Display for Measurement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (interval, spread) = self.interval();
        let word = match spread {
            IntervalKind::Range => "range",
            IntervalKind::Ci95 => "95 % interval",
        };
        let [median, low, high] = [self.median, interval.low, interval.high].map(three_digits);
        let text = format!("{median} {} (n {}, {word} {low} to {high})", self.unit, self.n);
        f.pad(&text)
    }
}

/// Three significant digits without trailing zeros; whole numbers from 100 on.
fn three_digits(value: f64) -> String {
    let decimals = match value.abs() {
        v if v >= 100.0 || v == 0.0 => 0,
        v if v >= 10.0 => 1,
        v if v >= 1.0 => 2,
        _ => 3,
    };
    let text = format!("{value:.decimals$}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

/// How long single operations took.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LatencyStats {
    /// How many operations.
    pub n: u64,
    /// Median.
    pub p50_ns: Nanos,
    /// 99th percentile.
    pub p99_ns: Nanos,
    /// The 99th percentile is at least this in 39 of 40 cases; `None` in reports of versions before 0.2.
    #[serde(default)]
    pub p99_low_ns: Option<Nanos>,
    /// And at most this; `None` where so few operations have no upper bound: 368 are the fewest that do.
    #[serde(default)]
    pub p99_high_ns: Option<Nanos>,
    /// Arithmetic mean, in nanoseconds.
    pub mean_ns: f64,
    /// Shortest.
    pub min_ns: Nanos,
    /// Longest.
    pub max_ns: Nanos,
}

/// The ranks (from 1) between which the 99th percentile of `n` operations lies in 95 of 100 cases: how many of them are below it is
/// binomial, with mean 0.99 n and variance 0.0099 n. The upper one is `None` where it would be beyond the largest.
#[must_use]
pub fn ranks_of_p99(n: u64) -> (u64, Option<u64>) {
    let (mean, deviation) = (0.99 * n as f64, (0.0099 * n as f64).sqrt());
    // Both are within a few deviations of the end: counted down, this is free of casts from floating point.
    let up_to = |limit: f64| (0..=n).rev().find(|rank| *rank as f64 <= limit).unwrap_or(0);
    let (low, high) = (mean - 1.96 * deviation, mean + 1.96 * deviation + 1.0);
    (up_to(low).max(1), (high <= n as f64).then(|| up_to(high)))
}

impl LatencyStats {
    /// Statistics of raw durations, percentiles by nearest rank; `None` when there are none.
    #[must_use]
    pub fn from_durations(durations: &[Nanos]) -> Option<LatencyStats> {
        let mut sorted = durations.to_vec();
        sorted.sort_unstable();
        let n = u64::try_from(sorted.len()).ok()?;
        let rank = |per_cent: u64| {
            let index = (n * per_cent).div_ceil(100).max(1) - 1;
            sorted.get(usize::try_from(index).ok()?).copied()
        };
        let (low, high) = ranks_of_p99(n);
        let nth = |rank: u64| sorted.get(usize::try_from(rank.checked_sub(1)?).ok()?).copied();
        let total: f64 = sorted.iter().map(|ns| ns.as_secs_f64() * 1e9).sum();
        Some(LatencyStats {
            n,
            p50_ns: rank(50)?,
            p99_ns: rank(99)?,
            p99_low_ns: nth(low),
            p99_high_ns: high.and_then(nth),
            mean_ns: total / n as f64,
            min_ns: *sorted.first()?,
            max_ns: *sorted.last()?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_series_has_no_median_and_nan_is_not_a_measurement() {
        assert_eq!(Measurement::from_values(&[], "s", "", &[]), None);
        assert_eq!(Measurement::from_values(&[1.0, f64::NAN], "s", "", &[]), None);
        assert_eq!(LatencyStats::from_durations(&[]), None);
    }

    #[test]
    fn below_six_runs_only_the_range_is_claimed_and_from_six_on_an_interval_inside_it() {
        let five = Measurement::from_values(&[1.0, 2.0, 3.0, 4.0, 5.0], "s", "", &[]).unwrap();
        assert_eq!(five.interval(), (Interval { low: 1.0, high: 5.0 }, IntervalKind::Range));
        let many: Vec<f64> = (0..21).map(f64::from).collect();
        let (interval, spread) = Measurement::from_values(&many, "s", "", &[]).unwrap().interval();
        assert_eq!(spread, IntervalKind::Ci95);
        assert!(
            interval.low > 0.0 && interval.low < 10.0 && interval.high > 10.0 && interval.high < 20.0,
            "{interval:?}"
        );
    }

    #[test]
    fn the_99th_percentile_needs_a_hundred_values() {
        let hundred: Vec<f64> = (1..=100).map(f64::from).collect();
        assert_eq!(Measurement::from_values(&hundred, "ns", "", &[]).unwrap().p99, Some(99.0));
        assert_eq!(Measurement::from_values(&hundred[..99], "ns", "", &[]).unwrap().p99, None);
    }

    #[test]
    fn latencies_are_summed_up_by_nearest_rank() {
        let durations: Vec<Nanos> = (1..=200).map(Nanos).collect();
        let stats = LatencyStats::from_durations(&durations).unwrap();
        assert_eq!((stats.n, stats.p50_ns, stats.p99_ns), (200, Nanos(100), Nanos(198)));
        assert_eq!((stats.min_ns, stats.max_ns), (Nanos(1), Nanos(200)));
        assert!((stats.mean_ns - 100.5).abs() < 1e-9);
        let one = LatencyStats::from_durations(&[Nanos(7)]).unwrap();
        assert_eq!((one.p50_ns, one.p99_ns), (Nanos(7), Nanos(7)));
    }

    #[test]
    fn a_99th_percentile_of_few_reads_is_unsure_and_of_many_is_not() {
        assert_eq!(ranks_of_p99(300), (293, None), "the largest of 300 reads may still lie below it");
        assert_eq!(ranks_of_p99(10_000), (9880, Some(9920)));
        assert_eq!(ranks_of_p99(1), (1, None));
        let few: Vec<Nanos> = (1..=300).map(Nanos).collect();
        let stats = LatencyStats::from_durations(&few).unwrap();
        assert_eq!((stats.p99_low_ns, stats.p99_ns, stats.p99_high_ns), (Some(Nanos(293)), Nanos(297), None));
        let many: Vec<Nanos> = (1..=10_000).map(Nanos).collect();
        let stats = LatencyStats::from_durations(&many).unwrap();
        assert_eq!((stats.p99_low_ns, stats.p99_high_ns), (Some(Nanos(9880)), Some(Nanos(9920))));
    }

    #[test]
    fn values_print_with_three_digits() {
        for (value, text) in
            [(0.0, "0"), (0.12345, "0.123"), (2.8, "2.8"), (12.34, "12.3"), (1234.6, "1235"), (100.0, "100")]
        {
            assert_eq!(three_digits(value), text);
        }
    }
}
