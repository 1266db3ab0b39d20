//! What all JSON documents have: a version, and sections that could not be seen.

use ramline_snapshot::Snapshot;
use ramline_snapshot::Unseen;
use ramline_units::JsonSchema;
use serde::{Deserialize, Serialize};

/// Version of the JSON documents of this crate.
pub const SCHEMA_VERSION: u64 = 2;

/// What a command did or saw, as a document.
#[derive(Debug, Clone, Copy, Serialize, JsonSchema)]
#[schemars(rename = "{T}Document")]
pub struct Versioned<'a, T> {
    /// Version of this document.
    pub schema_version: u64,
    /// What it holds.
    #[serde(flatten)]
    pub data: &'a T,
}

impl<'a, T> Versioned<'a, T> {
    /// The data as a document of the current version.
    pub const fn new(data: &'a T) -> Self {
        Versioned { schema_version: SCHEMA_VERSION, data }
    }
}

/// A section that was asked for and not seen.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct UnseenSection {
    /// Which section.
    pub section: String,
    /// The file and the reason.
    #[serde(flatten)]
    pub why: Unseen,
}

impl UnseenSection {
    /// All unseen sections of a snapshot.
    #[must_use]
    pub fn from_snapshot(snapshot: &Snapshot) -> Vec<UnseenSection> {
        let unseen = snapshot.unseen().into_iter();
        unseen.map(|(section, why)| UnseenSection { section: section.to_owned(), why }).collect()
    }
}
