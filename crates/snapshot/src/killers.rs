//! Programs that end processes before the kernel does: earlyoom, systemd-oomd, and the thresholds they are given.

use ramline_units::Nanos;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// User-space out-of-memory killers.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Killers {
    /// earlyoom, when it runs.
    pub earlyoom: Option<Earlyoom>,
    /// systemd-oomd, when it runs.
    pub oomd: Option<Oomd>,
}

/// earlyoom's thresholds: it acts when both memory and swap are below theirs.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Earlyoom {
    /// Per cent of memory available.
    pub memory_percent: Option<f64>,
    /// Per cent of swap free.
    pub swap_percent: Option<f64>,
    /// Where this was read.
    pub source: String,
}

/// systemd-oomd's thresholds.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Oomd {
    /// Per cent of swap used.
    pub swap_used_percent: Option<f64>,
    /// Per cent of time a group waits for memory.
    pub pressure_percent: Option<f64>,
    /// For how long.
    pub pressure_for: Option<Nanos>,
    /// Groups that asked to be watched.
    pub watched: Option<u64>,
    /// Where this was read.
    pub source: String,
}
