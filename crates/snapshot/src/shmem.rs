//! Shared memory by kind: tmpfs files, System V segments, memfd and deleted files that are still open, graphics objects.

use ramline_units::Bytes;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Shared memory by kind, as far as it could be seen.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Shmem {
    /// System V segments (`/proc/sysvipc/shm`).
    pub segments: Vec<Segment>,
}

/// One System V segment.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Segment {
    /// Its id.
    pub id: i64,
    /// In RAM. Gauge.
    pub resident: Bytes,
    /// In swap. Gauge.
    pub swapped: Bytes,
}
