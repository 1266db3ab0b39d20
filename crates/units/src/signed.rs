//! A difference of two sizes: margins and leftovers may be negative, sizes may not.

use std::fmt;

use crate::{Bytes, Deserialize, JsonSchema, Serialize};

/// A signed number of bytes. Prints like [`Bytes`] with a sign when negative: `-1.5 GiB`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct SignedBytes(pub i64);

impl SignedBytes {
    /// `a - b`, exact up to 8 EiB either way, saturating beyond.
    #[must_use]
    pub fn difference(a: Bytes, b: Bytes) -> Self {
        SignedBytes::saturating(i128::from(a.0) - i128::from(b.0))
    }

    /// As many, or the end of the range it lies beyond.
    #[must_use]
    pub fn saturating(wide: i128) -> Self {
        SignedBytes(i64::try_from(wide).unwrap_or(if wide < 0 { i64::MIN } else { i64::MAX }))
    }

    /// Without the sign.
    #[must_use]
    pub const fn magnitude(self) -> Bytes {
        Bytes(self.0.unsigned_abs())
    }

    /// Below zero.
    #[must_use]
    pub const fn is_negative(self) -> bool {
        self.0 < 0
    }

    /// The positive part: what is there, or nothing.
    #[must_use]
    pub fn or_zero(self) -> Bytes {
        Bytes(u64::try_from(self.0).unwrap_or(0))
    }

    /// Share of a total, with its sign; `None` when the total is zero.
    #[must_use]
    pub fn share_of(self, total: Bytes) -> Option<f64> {
        let share = self.magnitude().share_of(total)?;
        Some(if self.is_negative() { -share } else { share })
    }
}

/// Exact as long as the sum itself is in the range, whatever lies on the way.
impl std::iter::Sum for SignedBytes {
    fn sum<I: Iterator<Item = SignedBytes>>(iter: I) -> SignedBytes {
        SignedBytes::saturating(iter.fold(0, |sum: i128, next| sum.saturating_add(i128::from(next.0))))
    }
}

impl fmt::Display for SignedBytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.is_negative() { "-" } else { "" };
        f.pad(&format!("{sign}{}", self.magnitude()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_difference_keeps_its_sign_and_never_wraps() {
        assert_eq!(SignedBytes::difference(Bytes(3), Bytes(5)), SignedBytes(-2));
        assert_eq!(SignedBytes::difference(Bytes(5), Bytes(3)), SignedBytes(2));
        assert_eq!(SignedBytes::difference(Bytes(0), Bytes(u64::MAX)), SignedBytes(i64::MIN));
        assert_eq!(SignedBytes::difference(Bytes(u64::MAX), Bytes(0)), SignedBytes(i64::MAX));
        assert_eq!(SignedBytes(-(3 << 29)).to_string(), "-1.5 GiB");
        assert_eq!(SignedBytes(1024).to_string(), "1.0 KiB");
        assert_eq!((SignedBytes(-7).or_zero(), SignedBytes(7).or_zero()), (Bytes(0), Bytes(7)));
        assert_eq!((SignedBytes(-1).is_negative(), SignedBytes(0).is_negative()), (true, false));
        assert_eq!(SignedBytes(-5).share_of(Bytes(10)), Some(-0.5));
        assert_eq!(SignedBytes(5).share_of(Bytes(10)), Some(0.5));
        assert_eq!(SignedBytes(5).share_of(Bytes(0)), None);
        let sum = |all: &[i64]| all.iter().copied().map(SignedBytes).sum::<SignedBytes>().0;
        assert_eq!(
            (sum(&[i64::MAX, 1, -2]), sum(&[i64::MAX, 1]), sum(&[i64::MIN, -1])),
            (i64::MAX - 1, i64::MAX, i64::MIN)
        );
    }
}
