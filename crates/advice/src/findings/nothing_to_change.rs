//! No rule fires: the settings fit, as far as they could be seen.
//!
//! What it is not: a promise, or an all-clear: where memory is short all the same it says that.
//! It names the evidence each rule had, and what could not be judged for want of it.

use ramline_model::group::{self, GroupRoom};
use ramline_model::pressure::PressureState;
use ramline_model::verdict;
use ramline_snapshot::pressure::Stall;

use super::{RULES, not_looked};
use crate::prelude::*;

pub(super) const RULE: Rule = Rule {
    id: "nothing-to-change",
    looks_for: "no other rule fires",
    explain: "pressure",
    check,
    cost_if_wrong: "a load that was not running while ramline looked stays untreated; look again while it runs",
    tune: Tune::No("there is nothing to change"),
};

fn check(inputs: &Inputs<'_>) -> Option<Draft> {
    let others = || RULES.iter().filter(|rule| rule.id != RULE.id);
    if others().any(|rule| rule.finding(inputs).is_some()) {
        return None;
    }
    let blind = blind_sections(inputs.snapshot);
    let confidence = match (inputs.snapshot.meminfo.data(), inputs.window) {
        (None, _) => Confidence::Low,
        (Some(meminfo), _) if meminfo.mem_total.is_none() => Confidence::Low,
        (Some(_), Some(_)) if blind.is_empty() => Confidence::High,
        _ => Confidence::Medium,
    };
    let count = others().count();
    let short = short_of_memory(inputs);
    let unseen = inputs.snapshot.meminfo.data().is_none_or(|meminfo| meminfo.mem_total.is_none());
    let waits = waits(inputs);
    let missing = inputs.snapshot.unseen().len();
    let gaps =
        if missing == 0 { "memory was not read".to_owned() } else { format!("{missing} sections were not seen") };
    let silent = unjudged(inputs);
    let silent = match silent {
        0 => String::new(),
        1 => format!("; 1 of {count} rules could not be judged for want of figures"),
        n => format!("; {n} of {count} rules could not be judged for want of figures"),
    };
    let about =
        if available::from_snapshot(inputs.snapshot).is_some_and(|of| of.from.is_estimate()) { "about " } else { "" };
    let group = group::from_snapshot(inputs.snapshot);
    let title = match (&short, available::bytes(inputs.snapshot).zip(inputs.snapshot.mem_total())) {
        _ if inputs.snapshot.meminfo.data().is_none() => format!("Could not judge: {gaps}"),
        _ if unseen => format!("Could not judge: no MemTotal was seen; {gaps}"),
        (Some(how), _) => format!("No setting to change, yet {how}: none of {count} rules applies"),
        (None, found) if waits.is_some() => {
            let left = found.map(|(left, total)| format!("; {about}{left} of {total} are available"));
            let (waits, left) = (waits.unwrap_or_default(), left.unwrap_or_default());
            format!("{waits}; no rule names the cause{left}{silent}")
        }
        (None, Some((_, total))) if group.is_some() => {
            let words = group.as_ref().map(GroupRoom::words).unwrap_or_default();
            format!(
                "Nothing to change: none of {count} rules applies; this group has a limit: {words}; the machine has {total}"
            )
        }
        (None, Some((available, total))) => {
            format!("Nothing to change: none of {count} rules applies; {about}{available} of {total} are available")
        }
        (None, None) => format!("Nothing to change: none of {count} rules applies"),
    };
    Some(Draft {
        title,
        // What waits and has no name is no all-clear either, and no setting.
        weight: if short.is_some() || unseen { Weight::Warning } else { Weight::Note },
        effect: match &short {
            _ if unseen => "whether anything should change is not known: what the rules need was not seen".into(),
            Some(_) => {
                "more room helps: a higher limit where a group is at its own, more RAM, or a smaller load".into()
            }
            None => "none: any change would be a guess".into(),
        },
        evidence: seen(inputs).into_iter().chain(not_judged(inputs, &blind)).collect(),
        confidence,
        already: in_place(inputs.snapshot),
        cost_if_wrong: unseen.then(|| "a machine in trouble goes unnoticed: this is no all-clear".into()),
        ..Draft::default()
    })
}

/// Settings may all fit and memory be short all the same; then this is no all-clear.
fn short_of_memory(inputs: &Inputs<'_>) -> Option<String> {
    let state = verdict::pressure_with_groups(inputs.snapshot, inputs.window).state;
    (state >= PressureState::GroupAtLimit).then(|| lower(state.words().trim_end_matches('.')))
}

/// Tasks wait noticeably although memory is available: it has a cause, which no rule found.
fn waits(inputs: &Inputs<'_>) -> Option<String> {
    let pressure = verdict::pressure_with_groups(inputs.snapshot, inputs.window);
    let waits = matches!(pressure.state, PressureState::Elsewhere | PressureState::Unexplained);
    let percent = pressure.memory.filter(|_| waits)?.some_now()?;
    let when = if pressure.span.is_some() { "of the time" } else { "of the last 10 s" };
    Some(format!("Tasks wait for memory, {percent:.1} % {when}"))
}

/// How many rules could not look for want of what they need.
fn unjudged(inputs: &Inputs<'_>) -> usize {
    let rules: std::collections::BTreeSet<&str> = not_looked(inputs).into_iter().flat_map(|gap| gap.rules).collect();
    rules.len()
}

/// The numbers the rules had.
fn seen(inputs: &Inputs<'_>) -> Vec<Evidence> {
    let mut out = Vec::new();
    let snapshot = inputs.snapshot;
    let long = |stall: Stall| format!("{:.2} % of the last 10 s, {:.2} % of the last 300 s", stall.avg10, stall.avg300);
    out.add("tasks waiting for memory", look::stall(snapshot).map(long), "/proc/pressure/memory some");
    let value = inputs.window.as_ref().and_then(look::refaults).map(|seen| rate(seen.per_second, "pages", seen.span));
    out.add("file refaults", value, "/proc/vmstat workingset_refault_file");
    let value = inputs.window.and_then(|w| Some(format!("{} pages over {}", w.delta(look::swapped_in)?, w.span)));
    out.add("swap-ins", value, "/proc/vmstat pswpin + swpin_zero + zswpin");
    let areas = look::areas(snapshot);
    out.add("swap areas", areas.as_ref().filter(|areas| areas.is_empty()).map(|_| "none"), "/proc/swaps");
    for area in areas.into_iter().flatten() {
        out.put(&format!("swap area {}", area.path), look::area_words(area), "/proc/swaps");
    }
    out.add("tiers measured", inputs.tiers.map(|report| report.tiers.len()), "measure tiers");
    let runs = Some(inputs.runs.len()).filter(|runs| *runs > 0);
    out.add("runs in the sandbox", runs, "lab run code-plus-data");
    out
}

/// Sections that were looked for and not seen. A switch this kernel does not have is no gap: there is nothing to see.
fn blind_sections(snapshot: &Snapshot) -> Vec<String> {
    let switches = ["zswap", "evictors", "lru_gen", "thp"];
    let there = |section: &str, reason: &str| reason != "not there" || !switches.contains(&section);
    let unseen = snapshot.unseen().into_iter().filter(|(section, why)| there(section, &why.reason));
    unseen.map(|(section, why)| format!("{section} ({})", why.reason)).collect()
}

/// What could not be judged.
fn not_judged(inputs: &Inputs<'_>, blind: &[String]) -> Vec<Evidence> {
    let mut out = Vec::new();
    out.add("not seen", Some(list(blind)).filter(|_| !blind.is_empty()), "snapshot");
    for gap in not_looked(inputs) {
        let value = format!("{}: {}", gap.rules.join(", "), gap.why);
        out.put("not judged", value, format!("try: {}", gap.fix));
    }
    out
}

/// What is in place and therefore not advised.
fn in_place(snapshot: &Snapshot) -> Vec<String> {
    let kind = |area: &SwapArea| if area.zram().is_some() { "compressed swap" } else { "swap" };
    let one = |area: &SwapArea| format!("{} on {} at priority {}", kind(area), area.path, area.priority);
    let zswap = snapshot.zswap.data().is_some_and(|zswap| zswap.enabled).then(|| "zswap".to_owned());
    look::areas(snapshot).into_iter().flatten().map(one).chain(zswap).collect()
}
