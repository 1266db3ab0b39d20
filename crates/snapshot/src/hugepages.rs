//! Pools of huge pages (`/sys/kernel/mm/hugepages`): memory set aside, whether used or not.

use ramline_units::Bytes;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One pool, of pages of one size.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct HugePool {
    /// Size of one page.
    pub page: Bytes,
    /// Pages in the pool. Gauge.
    pub total: u64,
    /// Pages nobody uses. Gauge.
    pub free: u64,
    /// Pages promised and not yet touched. Gauge.
    pub reserved: u64,
    /// Pages beyond the pool that were made on demand. Gauge.
    pub surplus: u64,
}
