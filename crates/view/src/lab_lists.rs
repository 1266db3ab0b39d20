//! What `lab list`, `lab describe` and `lab clean` say, as data and as text.
//!
//! What it is not: the experiments themselves; the binary fills these in from their table.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::escape;
use crate::text::Style;

/// `lab list`: the experiments there are.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ExperimentList {
    /// Version of this document.
    pub schema_version: u64,
    /// In the order of the table.
    pub experiments: Vec<ExperimentInfo>,
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

impl ExperimentList {
    /// A line an experiment.
    #[must_use]
    pub fn text(&self, _style: &Style) -> String {
        self.experiments.iter().map(|e| format!("{:<20} {}\n", e.name, e.question)).collect()
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
