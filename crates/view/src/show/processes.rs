//! `show processes`: who holds memory.

use ramline_snapshot::Snapshot;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::report::{SCHEMA_VERSION, UnseenSection};
use crate::text::{Page, Style};

/// `show processes`: who holds memory.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ShowProcesses {
    /// Version of this document.
    pub schema_version: u64,
    /// What could not be seen, and why.
    pub unseen: Vec<UnseenSection>,
}

impl ShowProcesses {
    /// From a snapshot.
    #[must_use]
    pub fn new(snapshot: &Snapshot) -> Self {
        ShowProcesses { schema_version: SCHEMA_VERSION, unseen: super::unseen_of(snapshot, &[]) }
    }

    /// The screen.
    #[must_use]
    pub fn text(&self, style: &Style) -> String {
        let mut page = Page::new(style);
        super::unseen(&mut page, &self.unseen);
        page.finish()
    }
}
