use std::fmt;

use crate::{Bytes, Deserialize, JsonSchema, Serialize};

/// A compression ratio, original over compressed: 2.74 means 2.74 bytes kept in one.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct Ratio(pub f64);

impl Ratio {
    /// `original / compressed`; `None` when nothing was compressed: an empty device has no ratio.
    #[must_use]
    pub fn of(original: Bytes, compressed: Bytes) -> Option<Ratio> {
        (compressed.0 != 0).then(|| Ratio(original.as_f64() / compressed.as_f64()))
    }
}

impl fmt::Display for Ratio {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&format!("{:.2}:1", self.0))
    }
}

#[cfg(test)]
mod tests {
    use super::Ratio;
    use crate::Bytes;

    #[test]
    fn an_empty_device_has_no_ratio() {
        assert_eq!(Ratio::of(Bytes(100), Bytes::ZERO), None);
        assert_eq!(Ratio::of(Bytes(300), Bytes(100)).map(|r| r.to_string()), Some("3.00:1".to_owned()));
    }
}
