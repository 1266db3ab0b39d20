//! What each rule fills in.

use std::fmt::Display;

use crate::{Change, Confidence, Evidence, Finding, Inputs, Rule, Weight};

/// A finding without what its rule already says.
#[derive(Default)]
pub(crate) struct Draft {
    pub(crate) title: String,
    pub(crate) weight: Weight,
    pub(crate) group: Option<String>,
    pub(crate) effect: String,
    pub(crate) evidence: Vec<Evidence>,
    pub(crate) confidence: Confidence,
    pub(crate) already: Vec<String>,
    /// Where it is not what the rule says.
    pub(crate) cost_if_wrong: Option<String>,
    pub(crate) change: Option<Change>,
}

impl Rule {
    /// What it finds; `None` when there is nothing to say or not enough was seen.
    pub fn finding(&self, inputs: &Inputs<'_>) -> Option<Finding> {
        let Draft { title, weight, group, effect, evidence, confidence, already, cost_if_wrong, change } =
            (self.check)(inputs)?;
        Some(Finding {
            id: self.id.to_owned(),
            title,
            weight,
            group,
            effect,
            evidence,
            confidence,
            already,
            cost_if_wrong: cost_if_wrong.unwrap_or_else(|| self.cost_if_wrong.to_owned()),
            change,
            explain: self.explain.to_owned(),
            docs: format!("docs/findings/{}.md", self.id),
        })
    }
}

impl Change {
    /// These commands, and those that undo it.
    pub(crate) fn by<const N: usize, const M: usize>(
        what: impl Into<String>,
        commands: [String; N],
        undo: [String; M],
    ) -> Change {
        Change { what: what.into(), commands: commands.into(), undo: undo.into() }
    }

    /// Another value of a setting of vm.
    pub(crate) fn sysctl(what: impl Into<String>, name: &str, new: impl Display, old: impl Display) -> Change {
        Change::by(what, [format!("sysctl -w vm.{name}={new}")], [format!("sysctl -w vm.{name}={old}")])
    }

    /// Another value in a file; its name is a word of a shell command.
    pub(crate) fn echo(what: impl Into<String>, file: &str, new: impl Display, old: impl Display) -> Change {
        Change::by(what, [format!("echo {new} > {file}")], [format!("echo {old} > {file}")])
    }
}
