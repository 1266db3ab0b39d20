//! What else evicts here: DAMON schemes, `damon_reclaim`, `damon_lru_sort`, users of `memory.reclaim`.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Unseen;

/// One scheme of a DAMON thread.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct DamonScheme {
    /// `kdamonds/N`.
    pub kdamond: u64,
    /// `on` or `off`.
    pub state: String,
    /// `pageout`, `lru_prio`, `stat`…
    pub action: String,
    /// Bytes the action was applied to; `None` where the kernel does not keep the count up to date. Counter.
    pub applied_bytes: Option<u64>,
}

/// Everything known to evict besides reclaim itself.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Evictors {
    /// Schemes set through sysfs.
    pub schemes: Vec<DamonScheme>,
    /// Kernel threads named `kdamond*`, whoever started them.
    pub kdamond_threads: Option<u64>,
    /// Parameters of `damon_reclaim`; empty when it is not there.
    pub damon_reclaim: BTreeMap<String, String>,
    /// Parameters of `damon_lru_sort`; empty when it is not there.
    pub damon_lru_sort: BTreeMap<String, String>,
    /// Files that could not be used.
    pub unseen: Vec<Unseen>,
}

impl Evictors {
    /// True when a DAMON pageout scheme or `damon_reclaim` runs.
    #[must_use]
    pub fn damon_evicts(&self) -> bool {
        self.schemes.iter().any(|s| s.state == "on" && s.action == "pageout")
            || self.damon_reclaim.get("enabled").is_some_and(|v| v == "Y")
    }
}
