//! `explain NUMBER`: what any number of a screen or report is, by its name there or by its path in the JSON.
//!
//! One view-model for one number: what it says, unit, scope, source, its value here, what makes it large. How it is
//! complete: the numbers are the numeric leaves of the JSON schemas, whose descriptions say what each is; one table
//! ([`rows`]) adds, by path, what a schema cannot know: the source, the names on the screens, what makes it large. A
//! test walks every leaf and every label of the screens.
//!
//! Worked example: `page tables` is the line of that name in the ledger, `memory.ledger.page_tables` its path, and
//! `tiers[0].latency.p99_ns` a number of `measure tiers`.

mod documents;
mod find;
mod leaves;
mod named;
mod rows;
mod tell;
mod value;

use crate::prelude::*;

pub use documents::Document;
#[cfg(feature = "schema")]
pub use documents::schemas;
pub use find::{FoundNumber, UnknownName, all, find};
pub use leaves::{Leaf, leaves};

/// How a number behaves over time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "Scope")]
pub enum FigureScope {
    /// As it is at the moment.
    Gauge,
    /// Events or time since boot (or since the object was made); no rate by itself.
    Counter,
    /// Growth of a counter over a window.
    Rate,
    /// Later less earlier, over a window.
    Change,
    /// The highest so far.
    Peak,
    /// As it was set.
    Setting,
    /// Measured by ramline itself.
    Measured,
    /// A fact about the machine or the document.
    Fact,
}

impl FigureScope {
    /// For the reader.
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            FigureScope::Gauge => "now: as it is at the moment",
            FigureScope::Counter => "counter: since boot, or since the object was made; no rate by itself",
            FigureScope::Rate => "rate: growth of a counter over a window; needs --for",
            FigureScope::Change => "change: later less earlier, over a window; needs --for",
            FigureScope::Peak => "peak: the highest so far",
            FigureScope::Setting => "setting: as it was set",
            FigureScope::Measured => "measured by ramline, with the method and the spread beside it",
            FigureScope::Fact => "fact: does not change while the machine runs",
        }
    }
}

/// One number, explained.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Figure {
    /// Version of this document.
    pub schema_version: u64,
    /// Its name on the screen, or the last part of its path.
    pub name: String,
    /// The document it stands in: `show-memory`.
    pub document: String,
    /// Its path there; `[]` is every element of a list, `[page_tables]` the one of that name.
    pub path: String,
    /// The command that shows it.
    pub command: String,
    /// What it says.
    pub what: String,
    /// What it is a part of, where it stands inside something.
    pub part_of: Option<String>,
    /// Its unit.
    pub unit: String,
    /// How it behaves over time.
    pub scope: FigureScope,
    /// The file and key it is read from, or the formula it is computed by.
    pub source: String,
    /// What it is here; empty where it cannot be told from what was seen.
    pub here: Vec<ValueHere>,
    /// Why there is no value.
    pub not_here: Option<String>,
    /// What makes it large.
    pub large_when: Option<String>,
    /// The topic that tells the mechanism.
    pub topic: String,
    /// Other numbers of the same name, by path.
    pub also: Vec<String>,
    /// One command to go on with.
    pub next_command: String,
}

/// A value seen here.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Here")]
pub struct ValueHere {
    /// Of what: the names of the list elements on the way; empty where there is only one.
    pub of: String,
    /// With its unit.
    pub value: String,
    /// As in the JSON.
    pub raw: f64,
}

impl Screen for Figure {
    fn sheet(&self) -> Sheet {
        let mut sheet = Sheet::new();
        sheet.answer(Paint::Bold, &self.name);
        sheet.blank();
        sheet.line(&self.what);
        sheet.line(self.part_of.as_ref().map(|whole| format!("Part of: {whole}")));
        sheet.blank();
        let stands = format!("{} ({}: {})", self.command, self.document, self.path);
        let mut lines = vec![
            ("unit", self.unit.as_str()),
            ("scope", self.scope.words()),
            ("source", &self.source),
            ("stands in", &stands),
        ];
        lines.extend(self.large_when.iter().map(|large| ("large when", large.as_str())));
        lines.extend(self.also.iter().map(|path| ("same name", path.as_str())));
        sheet.table(Table::from_rows(lines).left("", |line| line.0).wrapped("", |line| line.1).indented(2));
        sheet.heading("Here");
        sheet.point("  ", self.not_here.as_ref());
        sheet
            .table(Table::from_rows(&self.here).wrapped("", |here| &here.of).right("", |here| &here.value).indented(2));
        sheet.next(&self.next_command);
        sheet
    }
}
