//! The ZFS cache (`/proc/spl/kstat/zfs/arcstats`): page cache in all but name, which no counter of the kernel shows as such.

use ramline_units::Bytes;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The ZFS cache.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Arc {
    /// Held. Gauge.
    pub size: Bytes,
    /// It does not shrink below this.
    pub min: Bytes,
    /// It does not grow beyond this.
    pub max: Bytes,
}
