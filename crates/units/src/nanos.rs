use crate::{Deserialize, JsonSchema, Serialize};

use std::fmt;
use std::time::Duration;

/// A duration in nanoseconds. Prints as `85 ns`, `3.2 us`, `1.50 ms`, `12.0 s`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct Nanos(pub u64);

impl Nanos {
    /// In seconds.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "durations here are far below 2^53 ns")]
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / 1e9
    }

    /// `self - other`, or zero: the time since `other` on a clock that never goes back.
    #[must_use]
    pub const fn saturating_sub(self, other: Nanos) -> Nanos {
        Nanos(self.0.saturating_sub(other.0))
    }
}

impl From<Duration> for Nanos {
    /// At most 584 years.
    fn from(span: Duration) -> Nanos {
        Nanos(u64::try_from(span.as_nanos()).unwrap_or(u64::MAX))
    }
}

impl fmt::Display for Nanos {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let seconds = self.as_secs_f64();
        let text = match self.0 {
            0..1_000 => format!("{} ns", self.0),
            1_000..1_000_000 => format!("{:.1} us", seconds * 1e6),
            1_000_000..1_000_000_000 => format!("{:.2} ms", seconds * 1e3),
            _ => format!("{seconds:.1} s"),
        };
        f.pad(&text)
    }
}

#[cfg(test)]
mod tests {
    use super::Nanos;

    #[test]
    fn durations_print_with_the_unit_that_fits() {
        for (ns, text) in [(85, "85 ns"), (3_204, "3.2 us"), (1_500_000, "1.50 ms"), (12_000_000_000, "12.0 s")] {
            assert_eq!(Nanos(ns).to_string(), text);
        }
    }
}
