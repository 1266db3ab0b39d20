//! What becomes of one setting of a plan, in one line: `vm.swappiness: done, 60 -> 100`.

use ramline_plan::{Decision, PlanLine};

/// Whether the plan was applied.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tense {
    /// It would be.
    Would,
    /// It was.
    Did,
}

/// The line.
#[must_use]
pub fn answer_of(line: &PlanLine, tense: Tense) -> String {
    let PlanLine { target, old, new, decision, why, set_by, .. } = line;
    let why = why.first().map(|why| format!(": {}", why.text)).unwrap_or_default();
    let (old, new) = (old.as_deref().unwrap_or("none"), new.as_deref().unwrap_or("none"));
    match decision {
        Decision::Change if tense == Tense::Did => format!("{target}: done, {old} -> {new}"),
        Decision::Change => format!("{target}: would be set, {old} -> {new}"),
        Decision::Keep => format!("{target}: kept at {old}{why}"),
        Decision::NotKnown(tell) => format!("{target}: not known from here{why}; try: {tell}"),
        Decision::Refused(blocked) => {
            // The file and the line, where the reason does not name them.
            let by = set_by.last().filter(|by| !blocked.contains(by.split(" (").next().unwrap_or(by)));
            let by = by.map(|by| format!(" (set by {by})")).unwrap_or_default();
            format!("{target}: blocked ({old} -> {new}): {blocked}{by}")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ramline_plan::Reason;

    fn line(decision: Decision) -> PlanLine {
        PlanLine {
            target: "zram0".into(),
            old: Some("200 MiB".into()),
            new: Some("960 MiB".into()),
            decision,
            why: vec![Reason { text: "asked for".into(), source: String::new() }],
            effect: String::new(),
            risk: String::new(),
            set_by: vec!["/etc/udev/rules.d/60-my.rules:1".into()],
            steps: vec![],
            harsh: None,
        }
    }

    #[test]
    fn a_line_says_what_became_of_it_and_who_stands_in_the_way() {
        let of = |decision| answer_of(&line(decision), Tense::Did);
        assert_eq!(of(Decision::Change), "zram0: done, 200 MiB -> 960 MiB");
        assert_eq!(of(Decision::Keep), "zram0: kept at 200 MiB: asked for");
        assert_eq!(of(Decision::NotKnown("sudo x".into())), "zram0: not known from here: asked for; try: sudo x");
        assert_eq!(
            of(Decision::Refused("no file of zram-generator".into())),
            "zram0: blocked (200 MiB -> 960 MiB): no file of zram-generator (set by /etc/udev/rules.d/60-my.rules:1)"
        );
        let named = "/etc/udev/rules.d/60-my.rules:1 makes it";
        assert_eq!(of(Decision::Refused(named.into())), format!("zram0: blocked (200 MiB -> 960 MiB): {named}"));
    }
}
