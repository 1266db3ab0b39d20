//! The first line of a series: what came out, its numbers, and how sure it is.
//!
//! It words [`SeriesTable::main_difference`]; terminal and page begin with the same ones.
//!
//! Worked example: "cold 9.70 ms, warm 4.10 ms: cold is 2.4 times slower (3 runs each, 6 needed for proof)".

use ramline_evidence::{Better, FigureDifference, FigureResult, Measurement};

use ramline_sheet::text::number;

use crate::prelude::*;

/// A first line is shorter.
const MOST: usize = 99;

/// The sentence, with its full stop. `lead` names the figures to begin with.
#[must_use]
pub fn headline(table: &SeriesTable, lead: &[&str]) -> String {
    if let Some(unit) = table.no_pressure {
        return format!("No pressure arose, so nothing is shown: try --unit {}.", short_mib(unit.as_mib()));
    }
    let names = super::series::figures(table);
    let lead: Vec<&str> = lead.iter().copied().filter(|name| names.contains(name)).collect();
    let lead = if lead.is_empty() { names } else { lead };
    let Some(found) = table.main_difference(&lead) else { return alone(table, &lead) };
    let grounds = [found.versus.ground(), brief(&found)];
    let (full, short) = (with_values(table, &found), without_values(&found));
    let ended = endings(&table.arms, false);
    let mut heads: Vec<String> = Vec::new();
    heads.extend(ended.iter().flat_map(|ended| [format!("{full}; {ended}"), format!("{short}; {ended}")]));
    heads.extend([full, short]);
    let tries: Vec<String> =
        heads.iter().flat_map(|head| grounds.iter().map(move |ground| format!("{head} ({ground})."))).collect();
    let fits = |text: &&String| ramline_sheet::text::width(text) <= MOST;
    tries.iter().find(fits).or(tries.last()).cloned().unwrap_or_default()
}

fn short_mib(mib: f64) -> String {
    format!("{mib:.0}MiB")
}

/// The same as [`Comparison::ground`](ramline_evidence::Comparison::ground) in few words.
fn brief(found: &FigureDifference<'_>) -> String {
    let runs = found.versus.runs();
    if found.of_other.claimed { runs } else { format!("{runs}, 6 needed for proof") }
}

/// Whether the other one is the faster; `None` where the figure is no speed.
fn is_faster(found: &FigureDifference<'_>) -> Option<bool> {
    let unit = found.of_other.measurement.unit.as_str();
    let timed = unit == "s" || unit.ends_with("/s");
    match found.of_other.better {
        Better::Lower if timed => Some(!found.is_more()),
        Better::Higher if timed => Some(found.is_more()),
        _ => None,
    }
}

/// What is said of nothing but the names: `zram is 9 times faster than no-swap`.
fn without_values(found: &FigureDifference<'_>) -> String {
    let (name, emulated) = (&found.of_other.name, emulated(found));
    let Some(factor) = found.factor().filter(|_| differs(found)) else {
        return format!("No significant difference in {name}{emulated}");
    };
    let (times, first, other) = (factor_of(factor), &found.first.name, &found.other.name);
    match is_faster(found) {
        Some(faster) => {
            let word = if faster { "faster" } else { "slower" };
            format!("{other} is {times} times {word} than {first}{emulated}")
        }
        None if found.is_more() => format!("{name}{emulated}: {other} {times} times that of {first}"),
        None => format!("{name}{emulated}: {first} {times} times that of {other}"),
    }
}

/// The same with the medians, of two settings; of more the sentence alone.
fn with_values(table: &SeriesTable, found: &FigureDifference<'_>) -> String {
    let name = &found.of_other.name;
    let shown = |figure: &FigureResult| value(figure.measurement.median, &figure.measurement.unit, false);
    let (first, other) = (&found.first.name, &found.other.name);
    let both = format!("{first} {}, {other} {}", shown(found.of_first), shown(found.of_other));
    let emulated = emulated(found);
    match (found.factor().filter(|_| differs(found)), is_faster(found)) {
        (None, _) if differs(found) => format!("{name}{emulated}: {both}"),
        (None, _) => format!("No significant difference in {name}{emulated}: {both}"),
        (Some(factor), Some(faster)) if table.arms.len() == 2 => {
            // The first is the subject, as its value stands first.
            let word = if faster { "slower" } else { "faster" };
            format!("{both}: {first} is {} times {word}{emulated}", factor_of(factor))
        }
        (Some(_), Some(_)) => without_values(found),
        (Some(factor), None) => format!("{name}{emulated}: {both}, {} times", factor_of(factor)),
    }
}

fn differs(found: &FigureDifference<'_>) -> bool {
    found.of_other.claimed || found.versus.may_differ()
}

/// Seconds of an emulated processor are those of no machine.
fn emulated(found: &FigureDifference<'_>) -> &'static str {
    let timed = found.of_other.measurement.unit == "s";
    if timed && found.other.emulated { ", emulated" } else { "" }
}

/// `9`, `2.4`, `43`.
pub(crate) fn factor_of(factor: f64) -> String {
    let text = if factor >= 10.0 { format!("{factor:.0}") } else { format!("{factor:.1}") };
    text.strip_suffix(".0").map_or(text.clone(), str::to_owned)
}

/// Without a figure that two settings have.
fn alone(table: &SeriesTable, lead: &[&str]) -> String {
    if let Some(ended) = endings(&table.arms, true) {
        let runs = table.arms.iter().map(|arm| arm.n).min().unwrap_or_default();
        let runs_of = number::things(runs, "run");
        let few = if runs < 6 { "; 6 are needed for proof" } else { "" };
        return format!("{ended} ({runs_of}{few}).");
    }
    let one = |name: &&str| table.arms.iter().find_map(|arm| Some((arm, arm.figure(name)?)));
    match lead.iter().find_map(one) {
        Some((arm, figure)) => {
            let Measurement { median, unit, n, .. } = &figure.measurement;
            format!(
                "{}: {} {} ({}).",
                arm.name,
                figure.name,
                value(*median, unit, arm.emulated),
                number::things(*n, "run")
            )
        }
        None => format!("{}: the runs have no figures.", table.experiment),
    }
}

/// How most of its runs ended that did not finish, and how many; `completed` where all did.
fn word(arm: &ArmResult) -> (&str, u64) {
    let bad = arm.verdicts.iter().filter(|(word, _)| word != "completed").max_by_key(|(_, n)| *n);
    bad.map_or(("completed", arm.n), |(word, n)| (word.as_str(), *n))
}

/// How the runs ended that did not finish: `no-swap thrashed`; with `both`, of two settings also the one that finished.
fn endings(arms: &[ArmResult], both: bool) -> Option<String> {
    let verb = |word: &str| match word {
        "completed" => "finished",
        "thrashing" => "got stuck",
        "killed" => "was killed",
        "failed" => "failed",
        _ => "was cut short",
    };
    let bad: Vec<&ArmResult> = arms.iter().filter(|arm| word(arm).0 != "completed").collect();
    if bad.is_empty() {
        return None;
    }
    let told = |arm: &&ArmResult| {
        let (word, n) = word(arm);
        let some = if n < arm.n { format!(" in {n} of {} runs", arm.n) } else { String::new() };
        format!("{} {}{some}", arm.name, verb(word))
    };
    let mut parts: Vec<String> = Vec::new();
    if let Some(good) = arms.iter().find(|arm| word(arm).0 == "completed") {
        parts.extend((both && arms.len() == 2).then(|| format!("{} finished", good.name)));
    }
    parts.extend(bad.iter().map(told));
    Some(parts.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use ramline_evidence::{Arm, Figure, RunRecord, Verdict};
    use ramline_units::Bytes;

    fn run(arm: &str, name: &str, value: f64, unit: &str, better: Better, verdict: Verdict) -> RunRecord {
        RunRecord {
            arm: Arm::named(arm, &[]),
            figures: vec![Figure::new(name, value, unit, better)],
            verdict,
            ..RunRecord::default()
        }
    }

    fn first_line(runs: &[RunRecord]) -> String {
        headline(&SeriesTable::from_records(runs).unwrap(), &["wall"])
    }

    fn timed(arms: &[(&str, f64)], n: u32) -> Vec<RunRecord> {
        let one = |i: u32, (arm, wall): (&str, f64)| {
            run(arm, "wall", wall * (1.0 + 0.002 * f64::from(i)), "s", Better::Lower, Verdict::Completed)
        };
        (0..n).flat_map(|i| arms.iter().map(move |arm| one(i, *arm))).collect()
    }

    #[test]
    fn two_settings_stand_with_their_times_and_how_sure_it_is() {
        let both = [("cold", 0.0097), ("warm", 0.0041)];
        let text = first_line(&timed(&both, 3));
        assert_eq!(text, "cold 9.72 ms, warm 4.11 ms: cold is 2.4 times slower (3 runs each, 6 needed for proof).");
        assert_eq!(first_line(&timed(&both, 7)), "cold 9.76 ms, warm 4.12 ms: cold is 2.4 times slower (7 runs each).");
        let same = first_line(&timed(&[("cold", 1.0), ("warm", 1.001)], 3));
        assert_eq!(same, "No significant difference in wall: cold 1.00 s, warm 1.00 s (3 runs each; 6 are needed).");
    }

    #[test]
    fn of_several_the_furthest_is_named_and_what_did_not_finish() {
        let mut runs = timed(&[("no-swap", 9.0), ("swap", 3.0), ("zram", 1.0)], 1);
        runs[0].verdict = Verdict::Thrashing("20 s passed".into());
        let text = first_line(&runs);
        assert_eq!(text, "zram is 9 times faster than no-swap; no-swap got stuck (1 run each, 6 needed for proof).");
        let mut stuck = timed(&[("no-swap", 9.0), ("zram", 1.0)], 1);
        stuck[0].figures.clear();
        stuck[0].verdict = Verdict::Thrashing("20 s passed".into());
        assert_eq!(first_line(&stuck), "zram finished, no-swap got stuck (1 run; 6 are needed for proof).");
    }

    #[test]
    fn without_pressure_the_unit_that_would_show_something_is_named() {
        let table = SeriesTable { no_pressure: Some(Bytes::from_mib(14)), ..SeriesTable::default() };
        assert_eq!(headline(&table, &[]), "No pressure arose, so nothing is shown: try --unit 14MiB.");
    }

    #[test]
    fn every_first_line_is_short() {
        let long = "a-setting-with-a-rather-long-name text read-ahead 128KiB";
        for n in [1, 3, 7] {
            let text = first_line(&timed(&[("as-configured", 1.0), (long, 3.0)], n));
            assert!(text.len() < 190, "{text}");
            assert!(
                first_line(&timed(&[("as-configured text", 1.0), ("zram:lz4:100 text", 3.0)], n)).len() <= 100,
                "{n}"
            );
        }
    }
}
