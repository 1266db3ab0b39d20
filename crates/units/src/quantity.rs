//! Limits, ratios and pages.

use std::fmt;

use crate::{Bytes, Deserialize, JsonSchema, Serialize};

/// A limit that may be absent: unlimited is not a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Limit {
    /// No limit.
    Max,
    /// A limit of so many bytes.
    At(Bytes),
}

impl Limit {
    /// The bytes of the limit, if there is one.
    #[must_use]
    pub const fn bytes(self) -> Option<Bytes> {
        match self {
            Limit::Max => None,
            Limit::At(bytes) => Some(bytes),
        }
    }
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Limit::Max => f.pad("no limit"),
            Limit::At(bytes) => bytes.fmt(f),
        }
    }
}

/// A compression ratio, original over compressed: 2.74 means 2.74 bytes kept in one.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct Ratio(pub f64);

impl Ratio {
    /// `original / compressed`; `None` when nothing was compressed: an empty device has no ratio.
    #[must_use]
    pub fn from_sizes(original: Bytes, compressed: Bytes) -> Option<Ratio> {
        (compressed.0 != 0).then(|| Ratio(original.as_f64() / compressed.as_f64()))
    }
}

impl fmt::Display for Ratio {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&format!("{:.2}:1", self.0))
    }
}

/// The size of one page in bytes: 4096 on x86, 16384 or 65536 on some ARM and POWER kernels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct PageSize(pub u64);

/// A count of pages. It becomes bytes only together with a [`PageSize`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct Pages(pub u64);

impl Pages {
    /// The bytes these pages hold.
    #[must_use]
    pub const fn bytes(self, page: PageSize) -> Bytes {
        Bytes(self.0.saturating_mul(page.0))
    }
}

impl std::ops::Add for Pages {
    type Output = Pages;
    fn add(self, other: Pages) -> Pages {
        Pages(self.0.saturating_add(other.0))
    }
}

impl std::iter::Sum for Pages {
    fn sum<I: Iterator<Item = Pages>>(iter: I) -> Pages {
        iter.fold(Pages(0), std::ops::Add::add)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_device_has_no_ratio() {
        assert_eq!(Ratio::from_sizes(Bytes(100), Bytes::ZERO), None);
        assert_eq!(Ratio::from_sizes(Bytes(300), Bytes(100)).map(|r| r.to_string()), Some("3.00:1".to_owned()));
    }

    #[test]
    fn the_same_count_is_sixteen_times_as_much_on_64_kib_pages() {
        assert_eq!(Pages(3).bytes(PageSize(4096)), Bytes::from_kib(12));
        assert_eq!(Pages(3).bytes(PageSize(65536)), Bytes::from_kib(192));
    }
}
