//! The finding that a word on the command line names.

use crate::slip::slip;
use crate::{RULES, Rule, Tune};

/// Why a word is no finding that tune has a plan for.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NotPlanned {
    /// No finding has this name.
    #[error("no finding has this name{}", near_words(.0))]
    Unknown(Vec<&'static str>),
    /// Tune has no plan for it.
    #[error("tune has no plan for {id}: {why} (ramline explain {explain})")]
    NoPlan {
        /// The finding.
        id: &'static str,
        /// Why.
        why: &'static str,
        /// The topic that has more.
        explain: &'static str,
    },
}

fn near_words(near: &[&str]) -> String {
    if near.is_empty() { String::new() } else { format!("; near it: {}", near.join(", ")) }
}

/// The rule of this id, where tune has a plan for what it finds.
///
/// # Errors
/// There is none of this id, with at most three whose names are near; or tune has no plan for it.
pub fn planned_finding(id: &str) -> Result<&'static Rule, NotPlanned> {
    if let Some(rule) = RULES.iter().find(|rule| rule.id == id) {
        return match rule.tune {
            Tune::No(why) => Err(NotPlanned::NoPlan { id: rule.id, why, explain: rule.explain }),
            Tune::Settings(_) | Tune::Lines(_) => Ok(rule),
        };
    }
    let planned = RULES.iter().filter(|rule| !matches!(rule.tune, Tune::No(_)));
    let inside = |name: &str| (id.chars().count() > 2 && name.contains(id)).then_some(0);
    let mut near: Vec<(usize, &str)> =
        planned.filter_map(|rule| Some((inside(rule.id).or_else(|| slip(id, rule.id))?, rule.id))).collect();
    near.sort_unstable();
    near.truncate(3);
    Err(NotPlanned::Unknown(near.into_iter().map(|(_, id)| id).collect()))
}
