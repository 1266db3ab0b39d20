use std::fmt;
use std::ops::{Add, AddAssign};
use std::str::FromStr;

use crate::{Deserialize, JsonSchema, Serialize, UnitError};

const GRAMMAR: &str = "write a whole number and a unit, for example 4096B, 64KiB, 32MiB or 2GiB";

/// A number of bytes. Prints in binary units with one decimal: `1.5 GiB`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct Bytes(pub u64);

impl Bytes {
    /// Nothing.
    pub const ZERO: Bytes = Bytes(0);

    /// From the kernel's "kB", which is KiB.
    #[must_use]
    pub const fn from_kib(kib: u64) -> Self {
        Bytes(kib.saturating_mul(1024))
    }

    /// From MiB.
    #[must_use]
    pub const fn from_mib(mib: u64) -> Self {
        Bytes(mib.saturating_mul(1024 * 1024))
    }

    /// From GiB.
    #[must_use]
    pub const fn from_gib(gib: u64) -> Self {
        Bytes(gib.saturating_mul(1024 * 1024 * 1024))
    }

    /// As a floating-point number, for ratios and charts only.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "a ratio does not need the last bits of an exabyte")]
    pub fn as_f64(self) -> f64 {
        self.0 as f64
    }

    /// In MiB, for charts and tables.
    #[must_use]
    pub fn as_mib(self) -> f64 {
        self.as_f64() / (1024.0 * 1024.0)
    }

    /// `self - other`; `None` where that would be negative: of two readings that were torn apart, or of what is no part of it.
    #[must_use]
    pub fn checked_sub(self, other: Bytes) -> Option<Bytes> {
        self.0.checked_sub(other.0).map(Bytes)
    }

    /// `self - other`, or zero: what is left where more than all was taken, a lower bound, or a part that cannot be the larger one.
    #[must_use]
    pub const fn saturating_sub(self, other: Bytes) -> Bytes {
        Bytes(self.0.saturating_sub(other.0))
    }

    /// `self * numerator / denominator` without overflow; `None` when the denominator is zero.
    #[must_use]
    pub fn scale(self, numerator: u64, denominator: u64) -> Option<Bytes> {
        let wide = u128::from(self.0) * u128::from(numerator);
        u64::try_from(wide.checked_div(u128::from(denominator))?).ok().map(Bytes)
    }

    /// Up to whole pages of this size; as it is where that is 0 or beyond the range.
    #[must_use]
    pub fn whole_pages(self, page: u64) -> Bytes {
        self.0.checked_next_multiple_of(page).map_or(self, Bytes)
    }

    /// `self / total`, in the range 0 to 1 when `self <= total`; `None` when total is zero.
    #[must_use]
    pub fn share_of(self, total: Bytes) -> Option<f64> {
        (total.0 != 0).then(|| self.as_f64() / total.as_f64())
    }
}

/// Ends at 16 EiB. There is no `-`: a difference is [checked](Bytes::checked_sub), [saturating](Bytes::saturating_sub) or
/// [signed](crate::SignedBytes::difference), and says so.
impl Add for Bytes {
    type Output = Bytes;
    fn add(self, other: Bytes) -> Bytes {
        Bytes(self.0.saturating_add(other.0))
    }
}

impl AddAssign for Bytes {
    fn add_assign(&mut self, other: Bytes) {
        *self = *self + other;
    }
}

impl std::iter::Sum for Bytes {
    fn sum<I: Iterator<Item = Bytes>>(iter: I) -> Bytes {
        iter.fold(Bytes::ZERO, Add::add)
    }
}

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = if self.0 < 1024 {
            format!("{} B", self.0)
        } else {
            let mut value = self.as_f64() / 1024.0;
            let mut unit = "KiB";
            for next in ["MiB", "GiB", "TiB", "PiB", "EiB"] {
                if value < 1023.95 {
                    break;
                }
                value /= 1024.0;
                unit = next;
            }
            format!("{value:.1} {unit}")
        };
        f.pad(&text)
    }
}

impl FromStr for Bytes {
    type Err = UnitError;

    fn from_str(text: &str) -> Result<Self, UnitError> {
        let bad = || UnitError { text: text.to_owned(), what: "a size", grammar: GRAMMAR };
        let trimmed = text.trim();
        let split = trimmed.find(|c: char| !c.is_ascii_digit()).ok_or_else(bad)?;
        let (digits, unit) = trimmed.split_at(split);
        let number: u64 = digits.parse().map_err(|_| bad())?;
        let shift = match unit.trim() {
            "B" => 0,
            "KiB" | "K" => 10,
            "MiB" | "M" => 20,
            "GiB" | "G" => 30,
            "TiB" | "T" => 40,
            _ => return Err(bad()),
        };
        number.checked_mul(1 << shift).map(Bytes).ok_or_else(bad)
    }
}

#[cfg(test)]
mod tests {
    use super::Bytes;

    #[test]
    fn sizes_print_in_binary_units_with_one_decimal() {
        for (bytes, text) in [
            (0, "0 B"),
            (1023, "1023 B"),
            (1024, "1.0 KiB"),
            (1024 * 1024 - 1, "1.0 MiB"),
            (32 << 20, "32.0 MiB"),
            (3 << 29, "1.5 GiB"),
        ] {
            assert_eq!(Bytes(bytes).to_string(), text);
        }
    }

    #[test]
    fn a_size_needs_a_unit_and_the_error_shows_the_grammar() {
        assert_eq!("32MiB".parse(), Ok(Bytes::from_mib(32)));
        assert_eq!("2 GiB".parse(), Ok(Bytes::from_gib(2)));
        for bad in ["32", "", "MiB", "-1MiB", "1.5GiB", "12 XB", "99999999TiB"] {
            let error = bad.parse::<Bytes>().unwrap_err().to_string();
            assert!(error.contains("for example") && error.contains(bad), "{error}");
        }
    }

    #[test]
    fn a_share_of_nothing_is_unknown_not_zero() {
        assert_eq!(Bytes(5).share_of(Bytes::ZERO), None);
        assert_eq!(Bytes(5).share_of(Bytes(10)), Some(0.5));
        assert_eq!(Bytes(7).scale(1, 0), None);
        assert_eq!(Bytes(u64::MAX).scale(1, 2), Some(Bytes(u64::MAX / 2)));
    }

    #[test]
    fn a_difference_that_would_be_negative_is_unknown_or_zero_by_name() {
        assert_eq!((Bytes(5).checked_sub(Bytes(3)), Bytes(3).checked_sub(Bytes(5))), (Some(Bytes(2)), None));
        assert_eq!(Bytes(3).saturating_sub(Bytes(5)), Bytes::ZERO);
    }

    #[test]
    fn the_last_page_is_whole_and_a_page_of_nothing_changes_nothing() {
        assert_eq!((Bytes(1).whole_pages(4096), Bytes(8192).whole_pages(4096)), (Bytes(4096), Bytes(8192)));
        assert_eq!((Bytes(7).whole_pages(0), Bytes(u64::MAX).whole_pages(4096)), (Bytes(7), Bytes(u64::MAX)));
    }
}
