//! A line of the ledger: what it counts, how much that is, whose it is and what it takes to free it.

use super::term::Term;
use crate::prelude::*;

/// Whether a line can be freed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Freeable {
    /// At once, all of it.
    Now,
    /// Some of it; how much is not known beforehand.
    Partly,
    /// After a write, or by moving it to a slower tier.
    AtCost,
    /// As that, if there is a place to move it to, which is not known.
    Unknown,
    /// Only by its owner.
    No,
}

/// One line of the ledger.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Line")]
pub struct LedgerLine {
    /// What it counts.
    pub id: Term,
    /// Its name in plain words.
    pub label: String,
    /// How much; the most it can be where `at_least` says that it is known within bounds only. Gauge.
    pub bytes: Bytes,
    /// An estimate: the truth is between this and `bytes`. `None`: `bytes` is known. Gauge.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_least: Option<Bytes>,
    /// Whose it is.
    pub owner: String,
    /// Whether it can be freed.
    pub freeable: Freeable,
    /// By what.
    pub by_what: String,
    /// And at what cost.
    pub at_cost: String,
    /// "Of which": parts of this line. They may overlap and need not add up to it.
    pub children: Vec<LedgerLine>,
}

/// Memory known to exist outside MemTotal.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Outside {
    /// What.
    pub label: String,
    /// How much.
    pub bytes: Bytes,
    /// Why it is not in MemTotal.
    pub why: String,
}
