//! What `lab list`, `lab describe` and `lab clean` say, as data and as text.
//!
//! What it is not: the experiments themselves; the binary fills these in from their table.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::escape;
use crate::html::date;
use crate::text::{Column, Page, Style, Table, number};

/// `lab list`: the experiments there are.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ExperimentList {
    /// Version of this document.
    pub schema_version: u64,
    /// In the order of the table.
    pub experiments: Vec<ExperimentInfo>,
    /// Series that were made here, the oldest first.
    pub series: Vec<PastSeries>,
}

/// One series that was made.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct PastSeries {
    /// What `lab report`, `lab compare` and `lab resume` take instead of the folder: 1 is the oldest there is.
    pub number: u64,
    /// Which experiment.
    pub experiment: String,
    /// When it was begun, in milliseconds since 1970.
    pub began_unix_ms: u64,
    /// Runs that have a record.
    pub runs: u64,
    /// Where its records are.
    pub folder: String,
}

/// `lab describe`: one experiment.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ExperimentInfo {
    /// Version of this document; 0 inside a list.
    pub schema_version: u64,
    /// Its name on the command line and in records.
    pub name: String,
    /// What it answers.
    pub question: String,
    /// How it is done, in a few sentences.
    pub how: String,
    /// What it needs.
    pub needs: String,
    /// Its page, relative to the project.
    pub docs: String,
    /// What can be chosen.
    pub options: Vec<ExperimentOption>,
}

/// One thing that can be chosen.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ExperimentOption {
    /// Its name, without the dashes.
    pub name: String,
    /// What it means.
    pub help: String,
    /// What is taken when it is not given; `None` where that depends on the machine.
    pub default: Option<String>,
}

/// `lab clean`: what an earlier run left behind.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Cleaned {
    /// Version of this document.
    pub schema_version: u64,
    /// Removed now, in words.
    pub removed: Vec<String>,
    /// Left alone because it is in use or no longer what was made, in words.
    pub left_alone: Vec<String>,
    /// What could not be removed, and why.
    pub errors: Vec<String>,
}

/// Series shown; the older ones are in the document.
const NEWEST: usize = 20;

impl ExperimentList {
    /// The experiments, and what was made.
    #[must_use]
    pub fn text(&self, style: &Style) -> String {
        let mut page = Page::new(style);
        for e in &self.experiments {
            page.point(&format!("{:<20} ", e.name), &e.question);
        }
        if self.series.is_empty() {
            return page.finish();
        }
        page.heading("Series made here");
        let mut drawn = Table::new(vec![
            Column::right("number"),
            Column::left("began"),
            Column::left("experiment"),
            Column::right("runs"),
            Column::wrapped("folder"),
        ]);
        let older = self.series.len().saturating_sub(NEWEST);
        for one in self.series.iter().skip(older) {
            drawn.row([
                one.number.to_string().into(),
                date(one.began_unix_ms.saturating_mul(1_000_000)).into(),
                one.experiment.as_str().into(),
                number::count(one.runs).into(),
                one.folder.as_str().into(),
            ]);
        }
        page.table(&drawn);
        if older > 0 {
            page.dim(&format!("{} older ones: ramline lab list --json", number::count(older as u64)));
        }
        let last = self.series.last().map_or(1, |one| one.number);
        page.dim(&format!(
            "Show one again: ramline lab report {last}; two side by side: ramline lab compare {} {last}",
            last.saturating_sub(1).max(1)
        ));
        page.finish()
    }
}

impl ExperimentInfo {
    /// The page in short.
    #[must_use]
    pub fn text(&self, _style: &Style) -> String {
        let ExperimentInfo { name, question, how, needs, docs, .. } = self;
        let mut text = format!("{name}\n\n{question}\n\n{how}\n\nNeeds: {needs}\nPage:  {docs}\n\nOptions\n");
        for option in &self.options {
            let default = option.default.as_ref().map(|value| format!(" [{value}]")).unwrap_or_default();
            text += &format!("  --{:<18} {}{default}\n", option.name, option.help);
        }
        text
    }
}

impl Cleaned {
    /// A line each; errors are messages and go elsewhere.
    #[must_use]
    pub fn text(&self, _style: &Style) -> String {
        if self == &(Cleaned { schema_version: self.schema_version, ..Cleaned::default() }) {
            return "Nothing was left behind.\n".to_owned();
        }
        let removed = self.removed.iter().map(|what| format!("removed {}\n", escape(what)));
        removed.chain(self.left_alone.iter().map(|what| format!("left alone: {}\n", escape(what)))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn past_series_stand_by_number_below_the_experiments() {
        let one = |number: u64| PastSeries {
            number,
            experiment: "cold-warm".into(),
            began_unix_ms: 1_795_000_000_000 + number * 60_000,
            runs: 14,
            folder: format!("/var/lib/ramline/lab/cold-warm-{number}"),
        };
        let list = ExperimentList { series: (1..=22).map(one).collect(), ..ExperimentList::default() };
        let text = list.text(&Style::default());
        assert!(
            text.contains("    22  ") && text.contains("cold-warm     14  /var/lib/ramline/lab/cold-warm-22"),
            "{text}"
        );
        assert!(!text.contains("cold-warm-2\n") && text.contains("2 older ones"), "{text}");
        assert!(text.contains("ramline lab report 22; two side by side: ramline lab compare 21 22"), "{text}");
    }
}
