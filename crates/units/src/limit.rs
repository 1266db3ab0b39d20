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
