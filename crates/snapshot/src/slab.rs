//! `/proc/slabinfo`: the kernel's object caches, largest first. Root only.

use ramline_units::Bytes;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The kernel's object caches.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Slab {
    /// Largest first.
    pub caches: Vec<Cache>,
}

/// One cache of objects.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Cache {
    /// Its name.
    pub name: String,
    /// Pages it holds, as bytes. Gauge.
    pub held: Bytes,
    /// Of these, in objects that are in use. Gauge.
    pub in_use: Bytes,
}
