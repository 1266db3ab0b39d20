//! What the workload of code-plus-data is to do, and what it reports.

use std::path::PathBuf;

use ramline_evidence::{Phase, Sample};
use ramline_units::{Bytes, Nanos};
use serde::{Deserialize, Serialize};

use ramline_sandbox::fill::Fill;

/// What the workload is to do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkTask {
    /// One unit.
    pub unit: Bytes,
    /// Units of data.
    pub data_units: u32,
    /// Units of code.
    pub code_units: u32,
    /// Units of ballast.
    pub ballast_units: u32,
    /// Rounds.
    pub rounds: u32,
    /// Shared anonymous memory (shmem) instead of private.
    pub shared: bool,
    /// Contents of data and ballast.
    pub fill: Fill,
    /// Seed of the access pattern.
    pub seed: u64,
    /// The code file.
    pub code: PathBuf,
    /// A file whose first byte holds the workload while it is not 0; only where a pool must be followed.
    pub hold: Option<PathBuf>,
    /// When the rounds are given up.
    pub timeout: Nanos,
}

/// One report.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct WorkReport {
    /// What it is doing; at `Start` and `Done` it waits.
    pub phase: Phase,
    /// CLOCK_MONOTONIC when it was written.
    pub now: Nanos,
    /// Rounds completed.
    pub rounds: u32,
    /// Share of the phase or round done.
    pub fraction: f64,
    /// Sum of all bytes read in the round just completed, or so far.
    pub checksum: u64,
    /// How long the phase or round took that ends here.
    pub took: Option<Nanos>,
    /// User time so far.
    pub user: Nanos,
    /// System time so far.
    pub system: Nanos,
    /// Major faults so far.
    pub major_faults: u64,
    /// How long it was held so far.
    pub held: Nanos,
    /// In the last report: share of the ballast that is still resident.
    pub ballast_resident: Option<f64>,
    /// In the last report: the clock ended it.
    pub timed_out: bool,
}

impl WorkReport {
    /// As a sample shows it.
    #[must_use]
    pub fn sample(&self) -> Sample {
        let WorkReport { phase, rounds, fraction, user, system, major_faults, .. } = *self;
        Sample { phase, rounds, fraction, user, system, major_faults, ..Sample::default() }
    }
}
