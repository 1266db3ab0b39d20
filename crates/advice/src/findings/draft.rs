//! What each rule fills in.

use crate::{Change, Confidence, Evidence, Finding, Rule, Weight};

/// A finding without what its rule already says.
pub(super) struct Draft {
    pub(super) title: String,
    pub(super) weight: Weight,
    pub(super) group: Option<String>,
    pub(super) effect: String,
    pub(super) evidence: Vec<Evidence>,
    pub(super) confidence: Confidence,
    pub(super) already: Vec<String>,
    pub(super) cost_if_wrong: String,
    pub(super) change: Option<Change>,
}

impl Draft {
    pub(super) fn of(self, rule: &Rule) -> Finding {
        let Draft { title, weight, group, effect, evidence, confidence, already, cost_if_wrong, change } = self;
        Finding {
            id: rule.id.to_owned(),
            title,
            weight,
            group,
            effect,
            evidence,
            confidence,
            already,
            cost_if_wrong,
            change,
            explain: rule.explain.to_owned(),
            docs: format!("docs/findings/{}.md", rule.id),
        }
    }
}

/// Commands from anything that is text.
pub(super) fn commands<const N: usize>(lines: [String; N]) -> Vec<String> {
    lines.into()
}
