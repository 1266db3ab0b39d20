//! `tune plan`: each setting with its value now and the one advised, why, what it risks, and the steps.

mod answers;
pub mod changes;
mod upkeep;

use ramline_plan::{Decision, Plan, PlanLine, Step};
use ramline_sheet::{Paint, Sheet, Table};
use ramline_snapshot::{Snapshot, Unseen};
use ramline_units::JsonSchema;
use serde::{Deserialize, Serialize};

pub use self::answers::{Tense, answer_of};
use crate::{SCHEMA_VERSION, Screen, UnseenSection};

/// A plan, as it is shown.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct TunePlan {
    /// Version of this document.
    pub schema_version: u64,
    /// Lines, obstacles, what it is for.
    pub plan: Plan,
    /// All steps in the order in which they are taken; those of one file are one.
    pub steps: Vec<Step>,
    /// What could not be seen, and why.
    pub unseen: Vec<UnseenSection>,
}

/// Sections without which lines are missing or not known; a kernel without MGLRU or zswap lacks nothing here.
const SECTIONS: [&str; 9] =
    ["meminfo", "vmstat", "zoneinfo", "swaps", "mounts", "blocks", "settings", "dirs", "configured"];

impl TunePlan {
    /// Of a plan made from a snapshot and a set-up with parts that could not be read.
    #[must_use]
    pub fn new(plan: Plan, snapshot: &Snapshot, unseen: &[Unseen]) -> TunePlan {
        let mut all = crate::show::unseen_of(snapshot, &SECTIONS);
        all.extend(unseen.iter().map(|why| UnseenSection { section: "set-up".to_owned(), why: why.clone() }));
        TunePlan { schema_version: SCHEMA_VERSION, steps: plan.steps(), plan, unseen: all }
    }

    fn answer(&self) -> (Paint, String) {
        let changes: Vec<&str> = self.plan.changes().map(|line| line.target.as_str()).collect();
        let settings = |n: usize| if n == 1 { "1 setting".to_owned() } else { format!("{n} settings") };
        let of = |of: fn(&Decision) -> bool| self.plan.lines.iter().filter(|line| of(&line.decision)).count();
        let open = of(|decision| matches!(decision, Decision::NotKnown(_)));
        let refused = of(|decision| matches!(decision, Decision::Refused(_)));
        let open = match open {
            0 => None,
            1 => Some(", 1 is not known from here".to_owned()),
            n => Some(format!(", {n} are not known from here")),
        };
        let refused = (refused > 0).then(|| format!(", {refused} blocked"));
        let rest: String = open.into_iter().chain(refused).collect();
        match changes.as_slice() {
            [] if of(|decision| *decision == Decision::Keep) == self.plan.lines.len() => (
                Paint::Good,
                format!(
                    "Nothing to change: no measurement speaks for other values of {}.",
                    these(self.plan.lines.len())
                ),
            ),
            [] => (Paint::Good, format!("Nothing to change now{rest}.")),
            changes => {
                let of = settings(self.plan.lines.len());
                (Paint::Warn, format!("{} of {of} to change: {}{rest}.", changes.len(), changes.join(", ")))
            }
        }
    }
}

fn these(n: usize) -> String {
    if n == 1 { "this setting".to_owned() } else { format!("these {n} settings") }
}

impl Screen for TunePlan {
    fn sheet(&self) -> Sheet {
        let mut sheet = Sheet::new();
        let (paint, answer) = self.answer();
        sheet.answer(paint, &answer);
        for obstacle in &self.plan.obstacles {
            sheet.painted_point(Paint::Bad, "It cannot be applied here: ", obstacle);
        }
        if let Some(group) = &self.plan.group {
            sheet.painted_point(Paint::Warn, "", group.line());
        }
        self.plan.changes().for_each(|line| change(&mut sheet, line));
        let of = |wanted: fn(&Decision) -> bool| self.plan.lines.iter().filter(move |line| wanted(&line.decision));
        for line in of(|decision| matches!(decision, Decision::Refused(_))) {
            refused(&mut sheet, line);
        }
        let open: Vec<&PlanLine> = of(|decision| matches!(decision, Decision::NotKnown(_))).collect();
        if !open.is_empty() {
            sheet.heading("Not known from here");
            open.iter().for_each(|line| not_known(&mut sheet, line));
        }
        let kept: Vec<&PlanLine> = of(|decision| *decision == Decision::Keep).collect();
        if !kept.is_empty() {
            sheet.heading("Keep");
            sheet.table(keep(&kept));
        }
        if !self.steps.is_empty() {
            sheet.more("The steps, in order", |more| {
                self.steps.iter().for_each(|step| more.command(2, &step.line()));
            });
            sheet.more("The same as commands, for reading", |more| {
                self.steps.iter().flat_map(Step::shell).for_each(|line| more.command(2, &line));
            });
        }
        crate::show::unseen(&mut sheet, &self.unseen);
        sheet
    }
}

fn change(sheet: &mut Sheet, line: &PlanLine) {
    let old = line.old.as_deref().unwrap_or("none");
    sheet.heading(format!("{}: {old} -> {}", line.target, line.new.as_deref().unwrap_or("none")));
    grounds(sheet, line);
    for (label, text) in [("  gain: ", &line.effect), ("  risk: ", &line.risk)] {
        if !text.is_empty() {
            sheet.point(label, text);
        }
    }
    sources(sheet, line);
}

fn refused(sheet: &mut Sheet, line: &PlanLine) {
    let old = line.old.as_deref().unwrap_or("none");
    let new = line.new.as_deref().map(|new| format!(" -> {new}")).unwrap_or_default();
    sheet.heading(format!("{}: {old}{new}, blocked", line.target));
    if let Decision::Refused(why) = &line.decision {
        sheet.painted_point(Paint::Warn, "  blocked: ", why);
    }
    grounds(sheet, line);
    sources(sheet, line);
}

fn grounds(sheet: &mut Sheet, line: &PlanLine) {
    for (at, why) in line.why.iter().enumerate() {
        sheet.point(if at == 0 { "  why: " } else { "  and: " }, &why.text);
    }
    if let Some(last) = line.set_by.last() {
        sheet.point("  set by: ", last);
    }
}

fn sources(sheet: &mut Sheet, line: &PlanLine) {
    sheet.more(&format!("Sources for {}", line.target), |more| {
        line.why.iter().for_each(|why| more.dim(format!("  {}: {}", why.source, why.text)));
        line.set_by.iter().for_each(|who| more.dim(format!("  set by {who}")));
    });
}

fn not_known(sheet: &mut Sheet, line: &PlanLine) {
    let now = line.old.as_deref().map(|old| format!(" ({old})")).unwrap_or_default();
    sheet.point("  ", format!("{}{now}: {}", line.target, line.why.first().map_or("", |why| why.text.as_str())));
    if let Decision::NotKnown(tell) = &line.decision {
        sheet.command(4, tell);
    }
}

fn keep<'a>(lines: &[&'a PlanLine]) -> Table<&'a PlanLine> {
    let why = |line: &PlanLine| line.why.iter().map(|why| why.text.as_str()).collect::<Vec<_>>().join("; ");
    Table::from_rows(lines.iter().copied())
        .left("setting", |line| line.target.as_str())
        .left("now", |line| line.old.as_deref().unwrap_or("none"))
        .wrapped("why", why)
        .wrapped("set by", |line| line.set_by.last().map(String::as_str).unwrap_or_default())
        .indented(2)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ramline_plan::Reason;
    use ramline_sheet::Depth;
    use ramline_sheet::text::Style;

    fn line(target: &str, new: Option<&str>, decision: Decision) -> PlanLine {
        let steps = match decision {
            Decision::Change => {
                vec![Step::SetKnob { path: "/proc/sys/vm/x".into(), before: "60".into(), after: "160".into() }]
            }
            _ => vec![],
        };
        PlanLine {
            target: target.into(),
            old: Some("60".into()),
            new: new.map(str::to_owned),
            decision,
            why: vec![Reason { text: "r = 4.00".into(), source: "measure tiers".into() }],
            effect: "more room".into(),
            risk: "more swap-ins".into(),
            set_by: vec!["/etc/sysctl.d/a.conf:1 (10)".into(), "/etc/sysctl.d/b.conf:3 (60)".into()],
            steps,
            harsh: None,
        }
    }

    fn shown(lines: Vec<PlanLine>, depth: Depth) -> String {
        TunePlan::new(Plan { lines, ..Plan::default() }, &Snapshot::default(), &[])
            .sheet()
            .text(&Style::default(), depth)
    }

    #[test]
    fn each_decision_stands_under_its_own_heading_and_the_first_line_counts_them() {
        let lines = vec![
            line("vm.swappiness", Some("160"), Decision::Change),
            line("zram0", Some("1 GiB"), Decision::Refused("zramswap.service makes it".into())),
            line("vm.dirty_bytes", None, Decision::NotKnown("sudo ramline measure tiers".into())),
            line("vm.page-cluster", None, Decision::Keep),
        ];
        assert_eq!(
            shown(lines, Depth::Brief),
            "\
1 of 4 settings to change: vm.swappiness, 1 is not known from here, 1 blocked.

vm.swappiness: 60 -> 160
  why: r = 4.00
  set by: /etc/sysctl.d/b.conf:3 (60)
  gain: more room
  risk: more swap-ins

zram0: 60 -> 1 GiB, blocked
  blocked: zramswap.service makes it
  why: r = 4.00
  set by: /etc/sysctl.d/b.conf:3 (60)

Not known from here
  vm.dirty_bytes (60): r = 4.00
    sudo ramline measure tiers

Keep
  setting          now  why       set by
  vm.page-cluster  60   r = 4.00  /etc/sysctl.d/b.conf:3 (60)
--all shows more.
"
        );
    }

    #[test]
    fn a_group_in_trouble_at_its_limit_stands_below_the_first_line() {
        let group = ramline_plan::GroupAtLimit {
            path: "/web".into(),
            what: "Group /web is at its limit of 4.0 GiB: its tasks wait 12.0 % of the time".into(),
            to_do: "raise its limit".into(),
        };
        let plan = Plan { lines: vec![line("vm.x", None, Decision::Keep)], group: Some(group), ..Plan::default() };
        let text = TunePlan::new(plan, &Snapshot::default(), &[]).sheet().text(&Style::default(), Depth::Brief);
        let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
        let said = "no measurement speaks for other values of this setting. Group /web is at its limit of 4.0 GiB: its tasks wait 12.0 % of the time. \
                    No setting of the machine helps it: raise its limit.";
        assert!(words.contains(said), "{text}");
    }

    #[test]
    fn where_all_is_kept_the_first_line_says_so_and_steps_come_with_all() {
        let kept = shown(vec![line("vm.x", None, Decision::Keep)], Depth::Brief);
        assert!(
            kept.starts_with("Nothing to change: no measurement speaks for other values of this setting.\n"),
            "{kept}"
        );
        let all = shown(vec![line("vm.x", Some("160"), Decision::Change)], Depth::All);
        assert!(all.contains("write /proc/sys/vm/x: 60 -> 160") && all.contains("echo 160 > /proc/sys/vm/x"), "{all}");
        assert!(all.contains("/etc/sysctl.d/a.conf:1 (10)"), "{all}");
    }
}
