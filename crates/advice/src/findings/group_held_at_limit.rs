//! A group whose tasks wait, stand still or are killed at its own limit, or whose limit filled swap.
//!
//! One reading is enough where the kernel measures a group's waiting by itself (version 2), or says that it stands still (`under_oom`, version 1). The
//! group and the cause are the model's, as the first line has them. Silent where a rule that saw its refaults over a window says more of it.

use ramline_model::groups::Cause;

use super::{group_at_limit_loses_cache, process_swap_hot};
use crate::prelude::*;
use crate::{Finding, in_group};

pub(super) const RULE: Rule = Rule {
    id: "group-held-at-limit",
    looks_for: "a group whose tasks wait, stand still or are killed at its own limit, or whose limit filled swap",
    explain: "cgroup-memory",
    check,
    cost_if_wrong: "what this group gets is missing elsewhere; a limit may be what was paid for",
    tune: Tune::No("the limit of a group belongs to what made the group: its unit, or the program that watches it"),
};

fn check(inputs: &Inputs<'_>) -> Option<Draft> {
    let said = in_group::worst(inputs)?;
    let trouble = &said.trouble;
    let is_same = |draft: Option<Finding>| draft.is_some_and(|found| found.group.as_deref() == Some(&trouble.path));
    let others =
        || is_same(group_at_limit_loses_cache::RULE.finding(inputs)) || is_same(process_swap_hot::RULE.finding(inputs));
    if matches!(trouble.cause, Cause::LosesCache | Cause::Swaps | Cause::Waits) && others() {
        return None;
    }
    let weight = match trouble.cause {
        _ if trouble.is_frozen() => Weight::Critical,
        Cause::OwnsSwap if !trouble.waits_now() => Weight::Note,
        _ => Weight::Warning,
    };
    // The kernel's own average, or its word that the group stands still.
    let is_measured = trouble.cause == Cause::StuckInOom || trouble.waits_now();
    Some(Draft {
        title: said.title,
        weight,
        group: Some(trouble.path.clone()),
        effect: said.to_do,
        evidence: in_group::grounds(trouble),
        confidence: if is_measured { Confidence::High } else { Confidence::Medium },
        change: said.change,
        ..Draft::default()
    })
}
