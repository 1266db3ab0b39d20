//! Several runs in three numbers: the middle, and where most of them lie.

use ramline_units::JsonSchema;
use serde::Serialize;

/// The share of runs that an interval is to hold.
const COVERAGE: f64 = 0.9;

/// The middle of several values, and the ends between which nine of ten lie.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, JsonSchema)]
pub struct Range {
    /// The middle.
    pub median: f64,
    /// The lower end.
    pub low: f64,
    /// The upper end.
    pub high: f64,
}

impl Range {
    /// Of some values; `None` of none. One more value would lie between the ends with about the chance [`COVERAGE`], whatever they are distributed like (order
    /// statistics; Wilks 1941). Of fewer than 19 values the ends are the least and the most, and the chance is less.
    #[must_use]
    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "places among some values"
    )]
    pub fn from_values(mut values: Vec<f64>) -> Option<Range> {
        values.sort_by(f64::total_cmp);
        let last = values.len().checked_sub(1)?;
        let median = f64::midpoint(*values.get(last / 2)?, *values.get(values.len() / 2)?);
        let from_end = ((values.len() + 1) as f64 * (1.0 - COVERAGE) / 2.0 - 1.0).max(0.0);
        let (place, part) = (from_end as usize, from_end.fract());
        let between = |at: usize, next: usize| Some(values.get(at)? * (1.0 - part) + values.get(next)? * part);
        let low = between(place, (place + 1).min(last))?;
        let high = between(last - place, last.saturating_sub(place + 1))?;
        Some(Range { median, low, high })
    }

    /// Whether a value lies in it.
    #[must_use]
    pub fn holds(&self, value: f64) -> bool {
        (self.low..=self.high).contains(&value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_few_values_the_ends_are_the_least_and_the_most_and_of_many_nine_in_ten_lie_between() {
        let of = |n: u32| Range::from_values((1..=n).rev().map(f64::from).collect());
        assert_eq!([of(0), of(1)], [None, Some(Range { median: 1.0, low: 1.0, high: 1.0 })]);
        assert_eq!(of(4), Some(Range { median: 2.5, low: 1.0, high: 4.0 }));
        assert_eq!(of(19), Some(Range { median: 10.0, low: 1.0, high: 19.0 }));
        let of_32 = of(32).unwrap();
        assert!((of_32.low - 1.65).abs() < 1e-9 && (of_32.high - 31.35).abs() < 1e-9, "{of_32:?}");
        assert!(of_32.holds(1.7) && !of_32.holds(1.6));
        let of_999 = of(999).unwrap();
        assert!((of_999.low - 50.0).abs() < 1e-9 && (of_999.high - 950.0).abs() < 1e-9, "{of_999:?}");
    }
}
