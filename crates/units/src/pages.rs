use crate::{Bytes, Deserialize, JsonSchema, Serialize};

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
    use super::{PageSize, Pages};
    use crate::Bytes;

    #[test]
    fn the_same_count_is_sixteen_times_as_much_on_64_kib_pages() {
        assert_eq!(Pages(3).bytes(PageSize(4096)), Bytes::from_kib(12));
        assert_eq!(Pages(3).bytes(PageSize(65536)), Bytes::from_kib(192));
    }
}
