//! Sums of numbers that come from outside and may be anything. Not for sizes and pages, whose own `sum` does so.

use crate::Bytes;

/// Whole numbers that add up without wrapping.
pub trait Whole: Copy + Default {
    /// `self + other`, or the end of the range it would pass.
    #[must_use]
    fn plus(self, other: Self) -> Self;
}

macro_rules! whole {
    ($($kind:ty),*) => {
        $(impl Whole for $kind {
            fn plus(self, other: Self) -> Self {
                self.saturating_add(other)
            }
        })*
    };
}

whole!(u32, u64, usize, i64);

impl Whole for Bytes {
    fn plus(self, other: Self) -> Self {
        self + other
    }
}

/// The sum of numbers that come from outside: it stops at the end of the range, where `Iterator::sum` panics or wraps.
///
/// ```
/// use ramline_units::saturating_sum;
/// assert_eq!(saturating_sum([2_u64, 3]), 5);
/// assert_eq!(saturating_sum([u64::MAX, 1]), u64::MAX);
/// ```
#[must_use]
pub fn saturating_sum<T: Whole>(numbers: impl IntoIterator<Item = T>) -> T {
    numbers.into_iter().fold(T::default(), T::plus)
}

/// The sum of counters; `None` (not known) beyond the range: a counter that stopped at its end has no growth.
///
/// ```
/// use ramline_units::checked_sum;
/// assert_eq!(checked_sum([2, 3]), Some(5));
/// assert_eq!(checked_sum([u64::MAX, 1]), None);
/// ```
#[must_use]
pub fn checked_sum(counters: impl IntoIterator<Item = u64>) -> Option<u64> {
    counters.into_iter().try_fold(0, u64::checked_add)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sum_ends_at_the_end_of_its_range_and_does_not_wrap() {
        assert_eq!(saturating_sum([u64::MAX, u64::MAX]), u64::MAX);
        assert_eq!(saturating_sum([usize::MAX, 7]), usize::MAX);
        assert_eq!((saturating_sum([i64::MIN, -1]), saturating_sum([i64::MAX, 1])), (i64::MIN, i64::MAX));
        assert_eq!((saturating_sum([1_u32, 2, 3]), saturating_sum::<u64>([])), (6, 0));
        assert_eq!(
            (checked_sum([u64::MAX, 0]), checked_sum([1, u64::MAX]), checked_sum([])),
            (Some(u64::MAX), None, Some(0))
        );
    }
}
