//! A plan as it is shown and kept: a line for each setting, changed or not, and why.

use ramline_units::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Step;

/// What a plan is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Topic {
    /// Swap areas, their size and order.
    Swap,
    /// Compressed swap in RAM.
    Zram,
    /// Settings below `vm.`.
    Vm,
    /// /tmp in RAM or on disk.
    Tmp,
    /// A timer that maintains zram swap.
    Maintain,
}

/// What is to be gained where gains exclude each other.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Goal {
    /// No more latency than is worth the memory.
    #[default]
    Balanced,
    /// The most data in RAM.
    Capacity,
    /// The shortest waits.
    Latency,
    /// The fewest bytes written to flash.
    FlashWear,
}

/// One number a line rests on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Reason {
    /// In one sentence, with the number.
    pub text: String,
    /// Where it was read or measured.
    pub source: String,
}

/// What is advised for one setting.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Decision {
    /// The steps of the line are to be taken.
    Change,
    /// Keep it as it is, as the best known value.
    Keep,
    /// It cannot be known from here; what would tell.
    NotKnown(String),
    /// It stands in the way and is left to the reader; why.
    Refused(String),
}

/// One setting.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PlanLine {
    /// The setting, as it is called in files and by people: `vm.swappiness`, `zram0`, `/tmp`.
    pub target: String,
    /// Its value now; `None` where it is not there.
    pub old: Option<String>,
    /// The value advised; `None` where nothing is.
    pub new: Option<String>,
    /// What is advised.
    pub decision: Decision,
    /// Why, in numbers; the first one decided.
    pub why: Vec<Reason>,
    /// What it should bring, with its interval where there is one.
    pub effect: String,
    /// What it may cost.
    pub risk: String,
    /// Who sets it today, the one in force last: `/etc/sysctl.d/99-x.conf:3`.
    #[serde(default)]
    pub set_by: Vec<String>,
    /// What makes it so, in order.
    #[serde(default)]
    pub steps: Vec<Step>,
    /// It may leave the machine unable to work, and why: it is applied only with a timer that undoes it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub harsh: Option<String>,
}

/// All lines of one or more topics.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Plan {
    /// What it is about.
    pub topics: Vec<Topic>,
    /// What it is for.
    pub goal: Goal,
    /// Nothing of it stays after a reboot.
    pub runtime_only: bool,
    /// Its lines.
    pub lines: Vec<PlanLine>,
    /// What keeps all of it from being applied here, each with its way out; empty where it can be.
    #[serde(default)]
    pub obstacles: Vec<String>,
    /// A control group in trouble at its own limit, which no setting of the machine relieves.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<GroupAtLimit>,
}

/// A control group in trouble at its own limit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct GroupAtLimit {
    /// Its path below the mount.
    pub path: String,
    /// How it is, in a sentence without its end.
    pub what: String,
    /// What to do, in lower case.
    pub to_do: String,
}

impl GroupAtLimit {
    /// As it is shown beside a plan.
    #[must_use]
    pub fn line(&self) -> String {
        format!("{}. No setting of the machine helps it: {}.", self.what, self.to_do)
    }
}

impl Plan {
    /// The lines that change something.
    pub fn changes(&self) -> impl Iterator<Item = &PlanLine> {
        self.lines.iter().filter(|line| line.decision == Decision::Change)
    }

    /// All steps, in the order in which they are taken; those that last are left out of a plan for this boot alone. Knobs come last: each acts at
    /// once, so that one that does harm is watched from the moment it is set, and is the first to be undone, by one write, however little else
    /// the machine can do by then.
    #[must_use]
    pub fn steps(&self) -> Vec<Step> {
        let steps = self.changes().flat_map(|line| line.steps.iter());
        let mut taken: Vec<Step> = Vec::new();
        for step in steps.filter(|step| !(self.runtime_only && step.lasts())) {
            match merged(&mut taken, step) {
                true => {}
                false => taken.push(step.clone()),
            }
        }
        ramline_units::sort_by_key(&mut taken, Step::is_knob);
        taken
    }
}

/// Two lines that edit one file, or need one directory or module, do it once: edits of one line are made on top of those before it.
fn merged(taken: &mut [Step], step: &Step) -> bool {
    taken.iter_mut().any(|known| match (known, step) {
        (Step::EditFile { path, after, .. }, Step::EditFile { path: other, after: last, .. }) if path == other => {
            after.clone_from(last);
            true
        }
        (known, Step::MakeDirectory { .. } | Step::LoadModule { .. }) => known == step,
        _ => false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(decision: Decision, steps: Vec<Step>) -> PlanLine {
        PlanLine {
            target: "x".into(),
            old: None,
            new: None,
            decision,
            why: vec![],
            effect: String::new(),
            risk: String::new(),
            set_by: vec![],
            steps,
            harsh: None,
        }
    }

    #[test]
    fn lines_that_edit_one_file_make_one_step_and_what_is_kept_makes_none() {
        let edit = |after: &str| Step::EditFile { path: "/f".into(), before: None, after: Some(after.into()) };
        let knob = Step::SetKnob { path: "/k".into(), before: "1".into(), after: "2".into() };
        let lines = vec![
            line(Decision::Change, vec![edit("a"), knob.clone()]),
            line(Decision::Keep, vec![edit("never")]),
            line(Decision::Change, vec![edit("a b"), Step::ReloadUnits]),
        ];
        let plan = Plan { lines, ..Plan::default() };
        assert_eq!(plan.steps(), [edit("a b"), Step::ReloadUnits, knob.clone()], "knobs come last");
        assert_eq!(Plan { runtime_only: true, ..plan }.steps(), [Step::ReloadUnits, knob]);
    }
}
