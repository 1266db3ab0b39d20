//! From raw values to claims: medians, their intervals, and whether two arms differ.
//!
//! The interval of a median is the percentile bootstrap: draw n values with replacement from the n measured, take the
//! median, do that 2,000 times with a seeded generator, and report the 2.5th and 97.5th percentile (Efron and
//! Tibshirani 1993, chapter 13). With fewer than 6 runs such an interval is narrower than 95 % whatever one does (even
//! the full range covers the median only with probability 1 - 2 * 0.5^n, which first exceeds 95 % at n = 6), so below 6
//! only the range is given, and a difference is claimed only where the two full ranges do not overlap.
//!
//! What it is not: a test of significance for many arms at once.
//!
//! ```
//! use ramline_evidence::{Measurement, study};
//! let fast = Measurement::of(&[1.0, 1.1, 1.2], "s", "", &[]).unwrap();
//! let slow = Measurement::of(&[2.0, 2.2, 2.4], "s", "", &[]).unwrap();
//! let compared = study::compare(&fast, &slow);
//! assert_eq!(compared.ratio_of_medians, Some(2.0));
//! assert_eq!(compared.sentence(), "2.0 times as much; the full ranges do not overlap (n 3 and 3)");
//! ```

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::measurement::{Interval, Measurement, Spread};
use crate::rng::SplitMix64;

/// The smallest n for which an interval is given; see the module's head.
pub const LEAST_FOR_INTERVAL: usize = 6;
/// Seed of the bootstrap: results are functions of records, so it is fixed.
pub const SEED: u64 = 256;
const RESAMPLES: usize = 2_000;

/// Ascending copy; `None` when empty or when a value is not a number.
#[must_use]
pub fn sorted(values: &[f64]) -> Option<Vec<f64>> {
    if values.is_empty() || values.iter().any(|value| value.is_nan()) {
        return None;
    }
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    Some(sorted)
}

/// The median of ascending values: the middle one, or the mean of the middle two.
#[must_use]
pub fn median(sorted: &[f64]) -> Option<f64> {
    let middle = sorted.len() / 2;
    let upper = sorted.get(middle)?;
    if sorted.len() % 2 == 1 { Some(*upper) } else { Some(f64::midpoint(*sorted.get(middle.checked_sub(1)?)?, *upper)) }
}

/// The smallest of ascending values such that a share `q` (0 to 1) of them is not above it.
#[must_use]
pub fn nearest_rank(sorted: &[f64], q: f64) -> Option<f64> {
    // Counting up instead of rounding a product keeps this free of casts from floating point.
    let n = sorted.len() as f64;
    let below = (1..=sorted.len()).find(|rank| *rank as f64 >= q * n - 1e-9)?;
    sorted.get(below - 1).copied()
}

/// 95 % interval of the median by bootstrap; `None` below [`LEAST_FOR_INTERVAL`] values.
#[must_use]
pub fn bootstrap_median(sorted: &[f64], seed: u64) -> Option<Interval> {
    if sorted.len() < LEAST_FOR_INTERVAL {
        return None;
    }
    let n = u64::try_from(sorted.len()).ok()?;
    let mut rng = SplitMix64::new(seed);
    let mut medians = Vec::with_capacity(RESAMPLES);
    let mut indices = vec![0usize; sorted.len()];
    for _ in 0..RESAMPLES {
        for index in &mut indices {
            *index = usize::try_from(rng.below(n)).unwrap_or_default();
        }
        // The values are ascending, so ascending indices give ascending values.
        indices.sort_unstable();
        let drawn: Vec<f64> = indices.iter().filter_map(|index| sorted.get(*index).copied()).collect();
        medians.push(median(&drawn)?);
    }
    medians.sort_by(f64::total_cmp);
    Some(Interval { low: nearest_rank(&medians, 0.025)?, high: nearest_rank(&medians, 0.975)? })
}

/// Cliff's delta of `b` over `a`: the share of pairs in which b is larger minus the share in which it is smaller.
/// 1 when every b exceeds every a, 0 when neither tends to. `None` when either is empty.
#[must_use]
pub fn cliffs_delta(a: &[f64], b: &[f64]) -> Option<f64> {
    let pairs = a.len().checked_mul(b.len()).filter(|pairs| *pairs > 0)?;
    let mut sum = 0i64;
    for x in a {
        for y in b {
            sum += if y > x {
                1
            } else if y < x {
                -1
            } else {
                0
            };
        }
    }
    Some(sum as f64 / pairs as f64)
}

/// How `b` compares with `a`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Comparison {
    /// Median of b over median of a; `None` when that of a is 0.
    pub ratio_of_medians: Option<f64>,
    /// The intervals do not overlap: the difference may be claimed.
    pub separated: bool,
    /// What the intervals were: the full ranges as soon as either side has fewer than 6 runs.
    pub by: Spread,
    /// Runs of a and of b.
    pub n: (u64, u64),
}

/// Compares two measurements of the same quantity.
#[must_use]
pub fn compare(a: &Measurement, b: &Measurement) -> Comparison {
    let (by, left, right) = match (a.ci95, b.ci95) {
        (Some(left), Some(right)) => (Spread::Ci95, left, right),
        _ => (Spread::Range, Interval { low: a.min, high: a.max }, Interval { low: b.min, high: b.max }),
    };
    Comparison {
        ratio_of_medians: (a.median != 0.0).then(|| b.median / a.median),
        // One run has a range of no width, which would be apart from almost anything.
        separated: a.n > 1 && b.n > 1 && left.apart_from(right),
        by,
        n: (a.n, b.n),
    }
}

impl Comparison {
    /// The claim in words, with what it rests on.
    #[must_use]
    pub fn sentence(&self) -> String {
        let ratio =
            self.ratio_of_medians.map_or_else(|| "no ratio".to_owned(), |ratio| format!("{ratio:.1} times as much"));
        let (a, b) = self.n;
        let ground = match (self.separated, self.by) {
            _ if a < 2 || b < 2 => "one run proves no difference".to_owned(),
            (true, Spread::Range) => "the full ranges do not overlap".to_owned(),
            (false, Spread::Range) => "the full ranges overlap, so no difference is claimed".to_owned(),
            (true, Spread::Ci95) => "the 95 % intervals do not overlap".to_owned(),
            (false, Spread::Ci95) => "the 95 % intervals overlap, so no difference is claimed".to_owned(),
        };
        format!("{ratio}; {ground} (n {a} and {b})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(values: &[f64]) -> Measurement {
        Measurement::of(values, "s", "", &[]).unwrap()
    }

    #[test]
    fn the_median_of_an_even_number_lies_between_the_middle_two() {
        assert_eq!(median(&[1.0, 2.0, 4.0, 8.0]), Some(3.0));
        assert_eq!(median(&[1.0, 2.0, 4.0]), Some(2.0));
        assert_eq!(median(&[]), None);
    }

    #[test]
    fn the_nearest_rank_is_a_measured_value() {
        let ten: Vec<f64> = (1..=10).map(f64::from).collect();
        assert_eq!(nearest_rank(&ten, 0.5), Some(5.0));
        assert_eq!(nearest_rank(&ten, 0.51), Some(6.0));
        assert_eq!(nearest_rank(&ten, 1.0), Some(10.0));
        assert_eq!(nearest_rank(&ten, 0.0), Some(1.0));
    }

    #[test]
    fn overlapping_ranges_claim_no_difference_and_one_run_never_does() {
        assert!(!compare(&of(&[1.0, 3.0]), &of(&[2.0, 4.0])).separated);
        assert!(!compare(&of(&[1.0]), &of(&[9.0])).separated);
        assert!(compare(&of(&[1.0, 2.0]), &of(&[2.1, 4.0])).separated);
    }

    #[test]
    fn with_many_runs_the_intervals_decide_even_where_ranges_touch() {
        let mut a: Vec<f64> = (0..30).map(|i| 10.0 + f64::from(i) * 0.01).collect();
        let b: Vec<f64> = (0..30).map(|i| 11.0 + f64::from(i) * 0.01).collect();
        a.push(11.1);
        let compared = compare(&of(&a), &of(&b));
        assert_eq!(compared.by, Spread::Ci95);
        assert!(compared.separated);
    }

    #[test]
    fn the_bootstrap_repeats_itself_and_covers_the_true_median_about_95_times_in_100() {
        let mut rng = SplitMix64::new(7);
        let mut covered = 0u32;
        for _ in 0..200 {
            let mut values: Vec<f64> = (0..15).map(|_| rng.below(1_000_000) as f64).collect();
            values.sort_by(f64::total_cmp);
            let interval = bootstrap_median(&values, SEED).unwrap();
            assert_eq!(Some(interval), bootstrap_median(&values, SEED));
            covered += u32::from(interval.low <= 500_000.0 && interval.high >= 500_000.0);
        }
        // 200 draws at 95 %: 190 expected, standard deviation 3; the percentile bootstrap of a median is known to be
        // a little off either way, so 4 deviations.
        assert!((178..=200).contains(&covered), "{covered}");
    }

    #[test]
    fn cliffs_delta_is_one_when_every_run_is_slower() {
        assert_eq!(cliffs_delta(&[1.0, 2.0], &[3.0, 4.0]), Some(1.0));
        assert_eq!(cliffs_delta(&[1.0, 2.0], &[1.0, 2.0]), Some(0.0));
        assert_eq!(cliffs_delta(&[3.0], &[1.0, 2.0]), Some(-1.0));
        assert_eq!(cliffs_delta(&[], &[1.0]), None);
    }
}
