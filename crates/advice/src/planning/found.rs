//! What a finding advises, as lines of a plan.
//!
//! A finding names settings with their values, or topics whose planner knows what to do about it. Each line is why the finding is, so that
//! a checkup and a plan say one thing.

use ramline_plan::{PlanLine, Topic};

use super::ask::Ask;
use super::desk::{Desk, Texts};
use super::line::{Draft, reason};
use crate::finding::{Draft as Found, Way};
use crate::prelude::{Rule, Tune};
use crate::{RULES, not_looked};

fn rules(ask: &Ask) -> impl Iterator<Item = &'static Rule> {
    RULES.iter().filter(|rule| ask.findings.iter().any(|id| id == rule.id))
}

/// Topics that are planned for the findings.
pub(super) fn topics(ask: &Ask) -> Vec<Topic> {
    let lines = rules(ask).filter_map(|rule| match rule.tune {
        Tune::Lines(lines) => Some(lines),
        Tune::Settings(_) | Tune::No(_) => None,
    });
    lines.flatten().map(|(topic, _)| *topic).collect()
}

/// Of a topic's lines, those from `from` on, only what the findings are about stays; `texts` are those from before it.
pub(super) fn only(desk: &mut Desk<'_>, topic: Topic, from: usize, texts: Texts) {
    let about = |line: &PlanLine| {
        rules(desk.ask).any(|rule| match rule.tune {
            Tune::Lines(lines) => lines.iter().any(|(of, name)| *of == topic && line.target.starts_with(name)),
            Tune::Settings(_) | Tune::No(_) => false,
        })
    };
    let of_topic = desk.lines.split_off(from);
    let all = of_topic.len();
    let kept: Vec<PlanLine> = of_topic.into_iter().filter(|line| about(line)).collect();
    if kept.len() < all {
        desk.restore(texts, &kept);
    }
    desk.lines.extend(kept);
}

/// The settings that findings name.
pub(super) fn settings(desk: &mut Desk<'_>) {
    for rule in rules(desk.ask) {
        let Tune::Settings(names) = rule.tune else { continue };
        let target = names.first().copied().unwrap_or_default();
        if desk.lines.iter().any(|line| line.target == target) {
            continue;
        }
        let line = line(desk, rule, target);
        desk.lines.push(line);
    }
}

fn line(desk: &mut Desk<'_>, rule: &Rule, target: &str) -> PlanLine {
    let name = target.strip_prefix("vm.").unwrap_or(target);
    let now = desk.inputs.snapshot.settings.data().and_then(|settings| settings.get(name)).map(|now| now.to_string());
    let found = (rule.check)(desk.inputs);
    let Some(Found { title, effect, evidence, cost_if_wrong, way: Way::Settings(settings), .. }) = found else {
        let blind = not_looked(desk.inputs).into_iter().find(|gap| gap.rules.contains(&rule.id));
        let source = format!("finding {}", rule.id);
        return match blind {
            Some(gap) => Draft::new(target, now, reason(gap.why, source)).not_known(gap.fix),
            None => Draft::new(target, now, reason(format!("{} is not found here now", rule.id), source))
                .set_by(desk.set_by(target))
                .keep(),
        };
    };
    let old = settings.last().map(|last| match last.instead {
        Some((other, held)) if last.now == 0 => format!("{held} ({other})"),
        _ => last.now.to_string(),
    });
    let new = settings.last().map_or_else(String::new, |last| last.then.to_string());
    let also = evidence.into_iter().map(|it| reason(format!("{}: {}", it.what, it.value), it.source));
    let draft = Draft::new(target, old, reason(title, format!("finding {}", rule.id))).set_by(desk.set_by(target));
    let risk = cost_if_wrong.unwrap_or_else(|| rule.cost_if_wrong.to_owned());
    let steps = desk.set(&settings);
    draft.also(also).change(new, effect, risk, steps)
}
