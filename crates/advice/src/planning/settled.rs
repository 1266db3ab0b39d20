//! Findings with what a plan makes of their advice on this machine: done, done for this boot, or what is in the way.

use ramline_plan::{Decision, Plan, PlanLine};
use ramline_snapshot::setup::{Etc, SetUp};

use super::ask::Ask;
use crate::{Finding, Inputs, findings};

/// The findings on a machine whose set-up was seen: where something stands in the way of what a finding advises, or it cannot stay here, its
/// change says so.
#[must_use]
pub fn findings_on(inputs: &Inputs<'_>, set_up: &SetUp) -> Vec<Finding> {
    let mut found = findings(inputs);
    if set_up.etc == Etc::NotSeen {
        return found;
    }
    for finding in found.iter_mut().filter(|finding| finding.tune.is_some()) {
        let ask = Ask { findings: vec![finding.id.clone()], ..Ask::default() };
        let plan = super::plan(inputs, set_up, &ask);
        let for_now = || super::plan(inputs, set_up, &Ask { runtime_only: true, ..ask.clone() });
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
