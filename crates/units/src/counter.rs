//! How much a counter grew between two readings: unknown where it went backwards, never a clean 0.
//!
//! ```
//! use ramline_units::{Nanos, growth};
//! assert_eq!(growth(3_u64, 5), Some(2));
//! assert_eq!(growth(Nanos(5), Nanos(3)), None);
//! ```

use crate::{Bytes, Nanos};

/// What only grows until it is reset: events, bytes or time.
pub trait Counter: Copy {
    /// `after - self`; `None` when that is negative: a reset, or another thing by the same name.
    #[must_use]
    fn until(self, after: Self) -> Option<Self>;
}

impl Counter for u64 {
    fn until(self, after: u64) -> Option<u64> {
        after.checked_sub(self)
    }
}

impl Counter for Bytes {
    fn until(self, after: Bytes) -> Option<Bytes> {
        after.checked_sub(self)
    }
}

impl Counter for Nanos {
    fn until(self, after: Nanos) -> Option<Nanos> {
        self.0.until(after.0).map(Nanos)
    }
}

/// The growth of a counter from the first reading to the second; `None` after a reset.
#[must_use]
pub fn growth<T: Counter>(before: T, after: T) -> Option<T> {
    before.until(after)
}
