//! `show translate`: what other tools would call used here.

use ramline_snapshot::Snapshot;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::report::{SCHEMA_VERSION, UnseenSection};
use crate::text::{Page, Style};

/// `show translate`: what other tools would call used here.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ShowTranslate {
    /// Version of this document.
    pub schema_version: u64,
    /// What could not be seen, and why.
    pub unseen: Vec<UnseenSection>,
}

impl ShowTranslate {
    /// From a snapshot.
    #[must_use]
    pub fn new(snapshot: &Snapshot) -> Self {
        ShowTranslate { schema_version: SCHEMA_VERSION, unseen: super::unseen_of(snapshot, &[]) }
    }

    /// The screen.
    #[must_use]
    pub fn text(&self, style: &Style) -> String {
        let mut page = Page::new(style);
        super::unseen(&mut page, &self.unseen);
        page.finish()
    }
}
