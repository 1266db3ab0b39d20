//! From raw values to claims: medians, their intervals, and whether two arms differ.
//!
//! The interval of a median is the percentile bootstrap: draw n values with replacement from the n measured, take the
//! median, do that 2,000 times with a seeded generator, and report the 2.5th and 97.5th percentile (Efron and
//! Tibshirani 1993, chapter 13). With fewer than 6 runs such an interval is narrower than 95 % whatever one does (even
//! the full range covers the median only with probability 1 - 2 * 0.5^n, which first exceeds 95 % at n = 6), so below 6
//! only the range is given, and a difference is claimed only where the two full ranges do not overlap.
//!
//! From 6 runs on a difference is claimed where the intervals do not overlap, or where the runs themselves are at hand and the
//! exact rank test of Wilcoxon, Mann and Whitney tells them apart at 1 %: it asks of all runs which side is larger, so a few
//! disturbed runs that stretch an interval do not hide what the others say. `lab run self-check` tries the rule on known truth.
//!
//! It tests two arms at a time, with no correction for many.
//!
//! ```
//! use ramline_evidence::{Measurement, study};
//! let fast = Measurement::from_values(&[1.0, 1.1, 1.2], "s", "", &[]).unwrap();
//! let slow = Measurement::from_values(&[2.0, 2.2, 2.4], "s", "", &[]).unwrap();
//! let compared = study::compare(&fast, &slow);
//! assert_eq!(compared.ratio_of_medians, Some(2.0));
//! let sentence = "2.0 times as much (3 runs each: an indication, 6 are needed for proof)";
//! assert_eq!(compared.sentence(), sentence);
//! ```

use crate::measurement::{Interval, IntervalKind};
use crate::prelude::*;
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

/// With more values drawing them again and again takes seconds and says what the ranks say at once.
const MOST_TO_DRAW: usize = 1_000;

/// 95 % interval of the median by its ranks: how many of n values lie below the median is binomial, with mean n/2 and deviation √n/2.
fn by_ranks(sorted: &[f64]) -> Option<Interval> {
    let n = sorted.len() as f64;
    let reach = 1.96 * n.sqrt() / 2.0;
    Some(Interval {
        low: nearest_rank(sorted, (n / 2.0 - reach) / n)?,
        high: nearest_rank(sorted, ((n / 2.0 + reach + 1.0) / n).min(1.0))?,
    })
}

/// 95 % interval of the median, by bootstrap or, of more than a thousand values, by its ranks; `None` below [`LEAST_FOR_INTERVAL`] values.
#[must_use]
pub fn bootstrap_median(sorted: &[f64], seed: u64) -> Option<Interval> {
    if sorted.len() < LEAST_FOR_INTERVAL {
        return None;
    }
    if sorted.len() > MOST_TO_DRAW {
        return by_ranks(sorted);
    }
    let n = u64::try_from(sorted.len()).ok()?;
    let mut rng = SplitMix64::new(seed);
    let mut medians = Vec::with_capacity(RESAMPLES);
    let mut indices = vec![0usize; sorted.len()];
    for _ in 0..RESAMPLES {
        for index in &mut indices {
            *index = usize::try_from(rng.below(n)).unwrap_or_default();
        }
        // The values are ascending, so the middle one of the indices is that of the values: no more needs to be in order.
        let middle = indices.len() / 2;
        let (lower, upper, _) = indices.select_nth_unstable(middle);
        let upper = *sorted.get(*upper)?;
        let drawn = match lower.iter().max().filter(|_| n.is_multiple_of(2)) {
            Some(lower) => median(&[*sorted.get(*lower)?, upper])?,
            None => upper,
        };
        medians.push(drawn);
    }
    medians.sort_by(f64::total_cmp);
    Some(Interval { low: nearest_rank(&medians, 0.025)?, high: nearest_rank(&medians, 0.975)? })
}

/// Cliff's delta of `b` over `a`: the share of pairs in which b is larger minus the share in which it is smaller.
/// 1 when every b exceeds every a, 0 when neither tends to. `None` when either is empty.
#[must_use]
pub fn cliffs_delta(a: &[f64], b: &[f64]) -> Option<f64> {
    let pairs = a.len().checked_mul(b.len()).filter(|pairs| *pairs > 0)?;
    // Sorted, each value of the one side is placed among the other's; what is no number is neither more nor less than any.
    let mut sorted: Vec<f64> = b.iter().copied().filter(|y| !y.is_nan()).collect();
    sorted.sort_unstable_by(f64::total_cmp);
    let count = |n: usize| i64::try_from(n).unwrap_or(i64::MAX);
    let of = |x: &f64| {
        let less = sorted.partition_point(|y| y < x);
        let more = sorted.len() - sorted.partition_point(|y| y <= x);
        count(more) - count(less)
    };
    let sum: i64 = a.iter().filter(|x| !x.is_nan()).map(of).sum();
    Some(sum as f64 / pairs as f64)
}

/// One run of each is an indication only from this factor on.
const FAR: f64 = 1.5;
/// A difference is claimed from this probability of the rank test on.
pub const CLAIM: f64 = 0.01;
/// Up to so many values the distribution is counted out; beyond, it is taken to be normal.
const EXACT: usize = 60;

/// Two-sided probability that ranks of `a` and `b` lie as far apart as they do when nothing distinguishes the sides; ties
/// share their mean rank. Counted exactly up to 60 values. `None` when either is empty or a value is not a number.
#[must_use]
pub fn rank_test(a: &[f64], b: &[f64]) -> Option<f64> {
    let all = sorted(&[a, b].concat()).filter(|_| !a.is_empty() && !b.is_empty())?;
    // Twice the mean rank of a value: a whole number, also with ties.
    let double_rank =
        |value: f64| all.partition_point(|other| *other < value) + all.partition_point(|other| *other <= value) + 1;
    let ranks: Vec<usize> = all.iter().map(|value| double_rank(*value)).collect();
    let seen: usize = a.iter().map(|value| double_rank(*value)).sum();
    // The middle of all sums, doubled again so that it is whole.
    let middle = a.len() * (all.len() + 1);
    let distance = seen.abs_diff(middle);
    if all.len() > EXACT {
        let mean = ranks.iter().sum::<usize>() as f64 / ranks.len() as f64;
        let variance = ranks.iter().map(|rank| (*rank as f64 - mean).powi(2)).sum::<f64>() / (ranks.len() - 1) as f64;
        let deviation = (variance * (a.len() * b.len()) as f64 / all.len() as f64).sqrt();
        return Some(if deviation == 0.0 { 1.0 } else { both_tails(distance as f64 / deviation) });
    }
    // ways[k][s]: how many choices of k values have the doubled rank sum s.
    let most: usize = ranks.iter().sum();
    let mut ways = vec![vec![0.0f64; most + 1]; a.len() + 1];
    if let Some(none) = ways.first_mut().and_then(|sums| sums.first_mut()) {
        *none = 1.0;
    }
    for rank in &ranks {
        for chosen in (1..=a.len()).rev() {
            let (fewer, these) = ways.split_at_mut(chosen);
            let (Some(fewer), Some(these)) = (fewer.last(), these.first_mut()) else { continue };
            for (with, without) in these.iter_mut().skip(*rank).zip(fewer) {
                *with += without;
            }
        }
    }
    let sums = ways.last()?;
    let far: f64 = sums.iter().enumerate().filter(|(sum, _)| sum.abs_diff(middle) >= distance).map(|(_, n)| n).sum();
    Some((far / sums.iter().sum::<f64>()).min(1.0))
}

/// The share of a normal distribution further than so many deviations from its middle (Abramowitz and Stegun 7.1.26, good to
/// 1.5e-7).
fn both_tails(deviations: f64) -> f64 {
    let x = deviations.abs() / std::f64::consts::SQRT_2;
    let t = 1.0 / (1.0 + 0.327_591_1 * x);
    let series = [1.061_405_429, -1.453_152_027, 1.421_413_741, -0.284_496_736, 0.254_829_592];
    series.iter().fold(0.0, |sum, factor| (sum + factor) * t) * (-x * x).exp()
}

/// How `b` compares with `a`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Comparison {
    /// Median of b over median of a; `None` when that of a is 0.
    pub ratio_of_medians: Option<f64>,
    /// The intervals do not overlap.
    pub separated: bool,
    /// Two-sided probability of the rank test; `None` where the runs were not at hand or are fewer than 6 on a side.
    #[serde(default)]
    pub p: Option<f64>,
    /// Cliff's delta of b over a, from -1 to 1: how far one tends to be larger; `None` where the runs were not at hand.
    #[serde(default)]
    pub delta: Option<f64>,
    /// What the intervals were: the full ranges as soon as either side has fewer than 6 runs.
    pub by: IntervalKind,
    /// Runs of a and of b.
    pub n: (u64, u64),
}

/// Compares two measurements of the same quantity.
#[must_use]
pub fn compare(a: &Measurement, b: &Measurement) -> Comparison {
    let (by, left, right) = match (a.ci95, b.ci95) {
        (Some(left), Some(right)) => (IntervalKind::Ci95, left, right),
        _ => (IntervalKind::Range, Interval { low: a.min, high: a.max }, Interval { low: b.min, high: b.max }),
    };
    Comparison {
        ratio_of_medians: (a.median != 0.0).then(|| b.median / a.median),
        // One run has a range of no width, which would be apart from almost anything.
        separated: a.n > 1 && b.n > 1 && left.apart_from(right),
        p: None,
        delta: None,
        by,
        n: (a.n, b.n),
    }
}

/// The same with the runs themselves, which say more than their intervals.
#[must_use]
pub fn compare_runs(a: (&Measurement, &[f64]), b: (&Measurement, &[f64])) -> Comparison {
    let enough = a.1.len().min(b.1.len()) >= LEAST_FOR_INTERVAL;
    let p = enough.then(|| rank_test(a.1, b.1)).flatten();
    Comparison { p, delta: cliffs_delta(a.1, b.1), ..compare(a.0, b.0) }
}

impl Comparison {
    /// A difference may be claimed: at least 6 runs on both sides, and intervals that do not overlap or ranks that differ.
    #[must_use]
    pub fn is_claimed(&self) -> bool {
        self.by == IntervalKind::Ci95 && (self.separated || self.p.is_some_and(|p| p <= CLAIM))
    }

    /// How many runs it rests on: `7 runs each`, `6 and 7 runs`.
    #[must_use]
    pub fn runs(&self) -> String {
        match self.n {
            (1, 1) => "1 run each".to_owned(),
            (a, b) if a == b => format!("{a} runs each"),
            (a, b) => format!("{a} and {b} runs"),
        }
    }

    /// What that number of runs can bear: `3 runs each: an indication, 6 are needed for proof`.
    #[must_use]
    pub fn ground(&self) -> String {
        let enough = self.n.0.min(self.n.1) >= LEAST_FOR_INTERVAL as u64;
        let runs = self.runs();
        match (self.is_claimed(), self.may_differ()) {
            (true, _) => runs,
            (false, true) => format!("{runs}: an indication, {LEAST_FOR_INTERVAL} are needed for proof"),
            (false, false) if enough => runs,
            (false, false) => format!("{runs}; {LEAST_FOR_INTERVAL} are needed"),
        }
    }

    /// The runs point to a difference without proving it: fewer than 6, and nothing they have in common.
    #[must_use]
    pub fn may_differ(&self) -> bool {
        let single = self.n.0 < 2 || self.n.1 < 2;
        // One run each says something only where it is far off: the same command twice differs by a tenth without a reason.
        let far = self.ratio_of_medians.is_none_or(|ratio| !(1.0 / FAR..=FAR).contains(&ratio));
        !self.is_claimed() && self.by == IntervalKind::Range && if single { far } else { self.separated }
    }

    /// The claim in words, with what it rests on.
    #[must_use]
    pub fn sentence(&self) -> String {
        let ratio = match (self.ratio_of_medians, self.delta) {
            (Some(ratio), _) => format!("{ratio:.1} times as much"),
            // From a median of 0 there is no ratio; how the runs lie to each other can be told all the same.
            (None, Some(delta)) if delta >= 1.0 => "more than 0 in every run".to_owned(),
            (None, Some(delta)) => format!("more than 0 in some runs (Cliff's delta {delta:.2})"),
            (None, None) => "no ratio".to_owned(),
        };
        let p = self
            .p
            .map(|p| if p < 0.001 { ", rank test p < 0.001".to_owned() } else { format!(", rank test p {p:.3}") })
            .unwrap_or_default();
        let ground = self.ground();
        match (self.is_claimed(), self.separated) {
            (true, true) => format!("{ratio} ({ground}, 95 % intervals apart{p})"),
            (true, false) => format!("{ratio} ({ground}, 95 % intervals overlap, ranks differ{p})"),
            (false, _) if self.may_differ() => format!("{ratio} ({ground})"),
            (false, _) => format!("no significant difference ({ground}{p})"),
        }
    }
}

#[cfg(test)]
mod tests;
