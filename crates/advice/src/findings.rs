//! The findings: one file a rule, one line in the table.
//!
//! A rule answers `None` when there is nothing to say or not enough was seen. What is found is ranked by weight, then by
//! confidence, then by the order of the table. When no rule fires, that is a finding too: `nothing-to-change` says what
//! was looked at and what could not be seen.

pub(crate) mod dirty_limits_in_seconds;
mod group_at_limit_loses_cache;
mod huge_pages_unused;
mod kernel_memory_growing;
pub(crate) mod killer_cannot_trigger;
mod leaked_tmpfs_files;
mod needs;
mod no_swap_and_refaults;
mod nothing_to_change;
mod other_evictor;
pub(crate) mod page_cluster_against_hits;
mod page_tables_out_of_proportion;
mod process_swap_hot;
mod read_ahead_amplifies_faults;
mod swap_outranked;
mod swap_slower_than_reload;
mod swappiness_against_costs;
mod sysctl_set_twice;
mod tmp_near_limit;
mod tmpfs_near_limit;
mod tmpfs_quota_near_limit;
mod watermark_scale_factor_without_effect;
mod zram_and_zswap;
mod zram_incompressible;
mod zram_limit_fails_writes;

use std::cmp::Reverse;

use ramline_plan::{Decision, Plan, PlanLine};
use ramline_snapshot::setup::{Etc, SetUp};

pub use needs::{NotLooked, not_looked};

use crate::{Finding, Inputs, Rule, Tune, planning, text};

/// Every rule. [`findings`] asks them in this order.
pub const RULES: &[Rule] = &[
    no_swap_and_refaults::RULE,
    swap_outranked::RULE,
    swap_slower_than_reload::RULE,
    zram_and_zswap::RULE,
    zram_limit_fails_writes::RULE,
    zram_incompressible::RULE,
    other_evictor::RULE,
    read_ahead_amplifies_faults::RULE,
    tmpfs_near_limit::RULE,
    tmp_near_limit::RULE,
    tmpfs_quota_near_limit::RULE,
    kernel_memory_growing::RULE,
    killer_cannot_trigger::RULE,
    group_at_limit_loses_cache::RULE,
    process_swap_hot::RULE,
    page_tables_out_of_proportion::RULE,
    huge_pages_unused::RULE,
    leaked_tmpfs_files::RULE,
    page_cluster_against_hits::RULE,
    dirty_limits_in_seconds::RULE,
    swappiness_against_costs::RULE,
    sysctl_set_twice::RULE,
    watermark_scale_factor_without_effect::RULE,
    nothing_to_change::RULE,
];

/// What to do here: never empty, the weightiest and surest first.
#[must_use]
pub fn findings(inputs: &Inputs<'_>) -> Vec<Finding> {
    let mut found: Vec<Finding> = RULES.iter().filter_map(|rule| rule.finding(inputs)).collect();
    if let Some(container) = &inputs.snapshot.machine.container {
        found
            .iter_mut()
            .filter(|finding| finding.change.is_some())
            .for_each(|finding| not_from_here(finding, container));
    }
    ramline_units::sort_by_key(&mut found, |finding| Reverse((finding.weight, finding.confidence)));
    found
}

/// The same on a machine whose set-up was seen: where something stands in the way of what a finding advises, or it cannot stay here, its
/// change says so.
#[must_use]
pub fn findings_on(inputs: &Inputs<'_>, set_up: &SetUp) -> Vec<Finding> {
    let mut found = findings(inputs);
    if set_up.etc == Etc::NotSeen {
        return found;
    }
    for finding in found.iter_mut().filter(|finding| finding.tune.is_some()) {
        let ask = planning::Ask { findings: vec![finding.id.clone()], ..planning::Ask::default() };
        let plan = planning::plan(inputs, set_up, &ask);
        let for_now = || planning::plan(inputs, set_up, &planning::Ask { runtime_only: true, ..ask.clone() });
        let Some(change) = &mut finding.change else { continue };
        if !plan.steps().is_empty() && plan.obstacles.is_empty() {
            change.what = words(&plan);
            continue;
        }
        let for_now = Some(for_now()).filter(|plan| !plan.steps().is_empty() && plan.obstacles.is_empty());
        let blocked = plan.obstacles.iter().cloned().chain(plan.lines.iter().filter_map(refused)).collect::<Vec<_>>();
        let why =
            if blocked.is_empty() { "the plan says why nothing is changed".to_owned() } else { blocked.join("; ") };
        let (what, command, tune) = match for_now {
            Some(plan) => {
                let command = format!("sudo ramline tune apply {} --runtime-only", finding.id);
                (format!("{}, until the next boot ({why})", words(&plan)), command.clone(), Some(command))
            }
            None => (format!("not as things are: {why}"), format!("ramline tune plan {}", finding.id), None),
        };
        if tune.is_none() {
            change.undo.clear();
        }
        (change.what, change.commands, finding.tune) = (what, vec![command], tune);
    }
    found
}

/// What a plan changes: `vm.swappiness: 60 -> 160`.
fn words(plan: &Plan) -> String {
    let line = |line: &PlanLine| {
        let side = |side: &Option<String>| side.clone().unwrap_or_else(|| "none".to_owned());
        format!("{}: {} -> {}", line.target, side(&line.old), side(&line.new))
    };
    plan.changes().map(line).collect::<Vec<_>>().join("; ")
}

fn refused(line: &PlanLine) -> Option<String> {
    match &line.decision {
        Decision::Refused(why) => Some(why.clone()),
        _ => None,
    }
}

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
    let mut near: Vec<(usize, &str)> = planned
        .filter_map(|rule| Some((inside(rule.id).or_else(|| crate::explain::slip(id, rule.id))?, rule.id)))
        .collect();
    near.sort_unstable();
    near.truncate(3);
    Err(NotPlanned::Unknown(near.into_iter().map(|(_, id)| id).collect()))
}

/// The group that stands at its limit and loses its cache, if one does.
pub(crate) fn group_at_its_limit(inputs: &Inputs<'_>) -> Option<Finding> {
    group_at_limit_loses_cache::RULE.finding(inputs)
}

/// Inside a container the host's settings are seen and cannot be changed: the finding stays, its commands do not.
fn not_from_here(finding: &mut Finding, container: &str) {
    (finding.change, finding.tune) = (None, None);
    let value = format!("this is a container ({container}); settings of memory and swap belong to its host");
    finding.evidence.push(text::evidence("no change offered", value, "container marker"));
}
