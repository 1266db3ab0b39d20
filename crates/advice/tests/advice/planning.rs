//! Plans: a line changes where a number speaks for it, and keeps where none does.

mod areas;
mod by_load;
mod found;
mod healthy;
mod maintain;
mod tmp;
mod vm;
mod zram;

use ramline_advice::planning::{Ask, plan};
use ramline_plan::{Decision, Goal, Plan, PlanLine, Step, Topic};
use ramline_snapshot::setup::{Etc, SetUp};

use crate::cases::Case;

/// A machine under systemd whose /etc may be written.
pub fn systemd() -> SetUp {
    SetUp { systemd: true, etc: Etc::Writable, tuned_yields: true, ..SetUp::default() }
}

pub fn planned(case: &Case, set_up: &SetUp, topics: &[Topic], goal: Goal) -> Plan {
    let ask = Ask { topics: topics.to_vec(), goal, ..Ask::default() };
    case.inputs(|inputs| plan(inputs, set_up, &ask))
}

pub fn line(case: &Case, set_up: &SetUp, topic: Topic, target: &str) -> PlanLine {
    let plan = planned(case, set_up, &[topic], Goal::Balanced);
    let found = plan.lines.iter().find(|line| line.target == target);
    found.unwrap_or_else(|| panic!("no line of {target}: {plan:?}")).clone()
}

/// What each step does, in order.
pub fn steps(line: &PlanLine) -> Vec<String> {
    line.steps.iter().map(Step::line).collect()
}

pub fn why(line: &PlanLine) -> String {
    line.why.iter().map(|why| why.text.as_str()).collect::<Vec<_>>().join("; ")
}

pub fn is_refused(line: &PlanLine, with: &str) -> bool {
    matches!(&line.decision, Decision::Refused(why) if why.contains(with))
}
