//! What is wanted of a reading, and its sums.

use ramline_snapshot::maps::Usage;
use ramline_units::{Bytes, Deserialize, JsonSchema, Serialize};

use super::files::Sort;

/// What is wanted of a reading.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Options {
    /// Order of the files.
    pub sort: Sort,
    /// Executable ranges alone.
    pub code_only: bool,
    /// List every range.
    pub ranges: bool,
}

/// Sums over files. Gauges; each page of a file counts once.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Totals {
    /// Files of file systems: what eviction drops and reads again.
    pub files: u64,
    /// Of these, with a known residency.
    pub known: u64,
    /// Resident, of those.
    pub resident: Bytes,
    /// Of it, in executable ranges.
    pub code: Bytes,
    /// Address space of files whose residency is not known, each part of a file once.
    pub unknown_size: Bytes,
    /// Files without a name, or whose name leads to another file.
    pub gone: u64,
    /// Resident of those.
    pub gone_resident: Bytes,
    /// Shared memory and files in RAM: resident, each page once.
    pub memory: Bytes,
}

impl Totals {
    /// Resident of file systems, without what is in executable ranges.
    #[must_use]
    pub const fn data(&self) -> Bytes {
        self.resident.saturating_sub(self.code)
    }
}

pub(super) fn count(n: usize) -> u64 {
    u64::try_from(n).unwrap_or(u64::MAX)
}

/// Adds up what walks said.
pub(super) fn add(sum: &mut Option<Usage>, more: Option<Usage>) {
    more.into_iter().for_each(|more| sum.get_or_insert_default().add(more));
}
