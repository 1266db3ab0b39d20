//! What became of each setting of a plan, a line each, and the exit code that says it.
//!
//! | exit code | what became of them |
//! |---|---|
//! | 0 | all are as asked for: set, or kept since no number speaks for another value |
//! | 5 | none was changed, and one is blocked |
//! | 7 | some were changed, and one is blocked |

use ramline_plan::{Decision, GroupAtLimit, Plan};
use ramline_view::{Tense, answer_of};

use crate::prelude::*;

/// The lines of what is changed or was.
pub fn changed(plan: &Plan, tense: Tense) -> Vec<String> {
    plan.changes().map(|line| answer_of(line, tense)).collect()
}

/// The lines of all that is not changed: kept, blocked or not known.
pub fn unchanged(plan: &Plan) -> Vec<String> {
    let lines = plan.lines.iter().filter(|line| line.decision != Decision::Change);
    lines.map(|line| answer_of(line, Tense::Would)).collect()
}

/// What the exit code says, where nothing failed.
pub fn code(plan: &Plan) -> u8 {
    let blocked = plan.lines.iter().any(|line| matches!(line.decision, Decision::Refused(_)));
    match (blocked, plan.changes().next().is_some()) {
        (false, _) => exit::DONE,
        (true, false) => exit::REFUSED,
        (true, true) => exit::PARTLY,
    }
}

/// Where nothing is to be done: why, setting by setting.
pub fn nothing(plan: &Plan) -> Result<u8> {
    let of = |of: fn(&Decision) -> bool| plan.lines.iter().filter(|line| of(&line.decision)).count();
    let blocked = of(|decision| matches!(decision, Decision::Refused(_)));
    let open = of(|decision| matches!(decision, Decision::NotKnown(_)));
    let first = match (blocked, open) {
        (0, 0) => "Nothing to change: every setting is kept as it is.".to_owned(),
        (0, 1) => "Nothing was changed: 1 setting is not known from here.".to_owned(),
        (0, n) => format!("Nothing was changed: {n} settings are not known from here."),
        (1, _) => "Nothing was changed: 1 setting is blocked.".to_owned(),
        (n, _) => format!("Nothing was changed: {n} settings are blocked."),
    };
    let group = plan.group.iter().map(GroupAtLimit::line);
    let lines: Vec<String> = std::iter::once(first).chain(group).chain(unchanged(plan)).collect();
    output::text(&(lines.join("\n") + "\n"))?;
    Ok(code(plan))
}

#[cfg(test)]
mod tests {
    use super::*;
    use ramline_plan::PlanLine;

    fn plan(decisions: &[Decision]) -> Plan {
        let line = |decision: &Decision| PlanLine {
            target: "vm.x".into(),
            old: Some("1".into()),
            new: Some("2".into()),
            decision: decision.clone(),
            why: vec![],
            effect: String::new(),
            risk: String::new(),
            set_by: vec![],
            steps: vec![],
            harsh: None,
        };
        Plan { lines: decisions.iter().map(line).collect(), ..Plan::default() }
    }

    #[test]
    fn the_code_says_whether_all_some_or_none_of_it_was_done() {
        let blocked = || Decision::Refused("/etc/sysctl.d/z.conf:3 sets it".into());
        assert_eq!(code(&plan(&[Decision::Change, Decision::Keep])), exit::DONE);
        assert_eq!(code(&plan(&[Decision::Keep, Decision::NotKnown("x".into())])), exit::DONE);
        assert_eq!(code(&plan(&[Decision::Change, blocked()])), exit::PARTLY);
        assert_eq!(code(&plan(&[Decision::Keep, blocked()])), exit::REFUSED);
    }

    #[test]
    fn each_line_that_is_not_changed_is_answered() {
        let all = plan(&[Decision::Change, Decision::Keep, Decision::Refused("/etc/a.conf:3 sets it".into())]);
        assert_eq!(unchanged(&all), ["vm.x: kept at 1", "vm.x: blocked (1 -> 2): /etc/a.conf:3 sets it"]);
        assert_eq!(changed(&all, Tense::Did), ["vm.x: done, 1 -> 2"]);
    }
}
