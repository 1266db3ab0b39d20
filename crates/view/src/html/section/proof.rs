//! The proof: the same work in a sandbox, once as it is and once otherwise; what it took and what reclaim did.

use maud::{Markup, html};
use ramline_evidence::{Measurement, SwapKind};

use crate::html::draw::{Axes, Bar, Fill, Panel, Points, Stroke, bars, panels};
use crate::html::format::{digits, measured, percent, seconds, size, times};
use crate::html::parts::{figure, number, or_unknown, remarks, section, table, tag, text};
use crate::proof::{Outcome, ProofArm, ProofTable};

/// The section.
pub fn proof(table: &ProofTable) -> Markup {
    let lead = html! {
        "The same work in a sandbox that may use " b { (size(table.limit)) } " and asks for " (size(table.demand)) ": "
        (size(table.excess)) " cannot stay in RAM."
        @if let Some((arm, versus)) = table.arms.iter().filter_map(|a| Some((a, a.versus_first.as_ref()?))).max_by(|a, b| a.1.ratio.total_cmp(&b.1.ratio)) {
            " “" (arm.name) "” takes " @if versus.at_least { "more than " } b { (times(versus.ratio)) } " the time of “" (table.arms.first().map_or("", |a| a.name.as_str())) "”"
            @if !versus.separated { ", but no difference is claimed: fewer than 6 runs, or intervals that overlap" } "."
        }
    };
    section(
        "proof",
        "The proof",
        &lead,
        &html! {
            (time(table))
            (timelines(table))
            (arms(table))
            (reclaimed(table))
            p.note {
                "Experiment " code { (table.experiment) } ": " (table.rounds) " rounds, unit " (size(table.unit)) ", data "
                @if table.shared { "shared" } @else { "private" } ", read-ahead of the scratch device " (size(table.read_ahead)) "."
                @if let Some(machine) = &table.machine {
                    " Kernel " (machine.kernel) ", " (machine.cpus) " CPUs, " (size(machine.mem_total)) " RAM, control groups v" (machine.cgroup_version)
                    ", scratch place on " (machine.scratch_fs) @if let Some(disk) = &machine.scratch_disk { " on " (disk) } "."
                }
            }
            @for arm in &table.arms { (remarks(&format!("Notes on “{}”", arm.name), &arm.notes)) }
        },
    )
}

/// The longest time on the axis, in seconds.
fn longest(table: &ProofTable) -> f64 {
    let ends = table
        .arms
        .iter()
        .flat_map(|arm| [arm.seconds_per_round.as_ref().map(|m| m.interval().0.high.max(m.median)), arm.more_than_s]);
    ends.flatten().fold(0.0, f64::max)
}

fn taken(arm: &ProofArm) -> String {
    match (&arm.seconds_per_round, arm.more_than_s) {
        (_, Some(bound)) => format!("more than {}", seconds(bound)),
        (Some(m), None) => seconds(m.median),
        (None, None) => "no time".to_owned(),
    }
}

fn time(table: &ProofTable) -> Markup {
    let end = longest(table);
    if end <= 0.0 {
        return html! {};
    }
    let drawn: Vec<Bar> = table
        .arms
        .iter()
        .enumerate()
        .map(|(at, arm)| Bar {
            name: arm.name.clone(),
            value: taken(arm),
            share: arm.more_than_s.or(arm.seconds_per_round.as_ref().map(|m| m.median)).unwrap_or(0.0) / end,
            fill: if at == 0 { Fill::Now } else { Fill::AtCost },
            interval: arm
                .seconds_per_round
                .as_ref()
                .filter(|m| m.n > 1 && arm.more_than_s.is_none())
                .map(|m| (m.interval().0.low / end, m.interval().0.high / end)),
            open: arm.more_than_s.is_some(),
        })
        .collect();
    let told: Vec<String> = table
        .arms
        .iter()
        .map(|arm| match (&arm.seconds_per_round, arm.more_than_s) {
            (Some(m), None) => format!("{}: {}", arm.name, measured(m)),
            _ => format!("{}: {}", arm.name, taken(arm)),
        })
        .collect();
    figure(
        "proof-chart",
        "Time per round in each arm",
        &format!("A bar for each arm from zero, with the interval as a thin line: {}.", told.join(", ")),
        &bars(&drawn),
        &html! { "Time per round, from zero; shorter is better. The thin line is the interval over runs: " (told.join("; ")) "." },
    )
}

fn timelines(table: &ProofTable) -> Markup {
    let last = |arm: &ProofArm| arm.timeline.last().copied();
    let shown: Vec<&ProofArm> = table.arms.iter().filter(|arm| last(arm).is_some_and(|p| p.at_s > 0.0)).collect();
    let end = shown.iter().filter_map(|arm| last(arm)).map(|p| p.at_s).fold(0.0, f64::max);
    if end <= 0.0 {
        return html! {};
    }
    let most = shown.iter().filter_map(|arm| last(arm)).map(|p| p.rounds).fold(f64::from(table.rounds), f64::max);
    let reached = |arm: &ProofArm| {
        last(arm).map_or_else(String::new, |p| format!("{} rounds in {}", digits(p.rounds), seconds(p.at_s)))
    };
    let points = |arm: &ProofArm| -> Points { arm.timeline.iter().map(|p| (p.at_s, p.rounds)).collect() };
    let drawn: Vec<Panel> = shown
        .iter()
        .map(|arm| Panel {
            name: arm.name.clone(),
            value: reached(arm),
            areas: vec![(Fill::Pale, points(arm))],
            curves: vec![(Stroke::First, points(arm))],
        })
        .collect();
    let ends = ("0\u{a0}s", seconds(end));
    let axes = Axes { from: 0.0, width: end, height: most, ends: (ends.0, &ends.1), pixels: 60 };
    let told: Vec<String> = shown.iter().map(|arm| format!("{}: {}", arm.name, reached(arm))).collect();
    figure(
        "progress-chart",
        "Rounds done over time",
        &format!("One small chart for each arm on the same axes: {}.", told.join(", ")),
        &panels(&drawn, &axes),
        &html! { "Rounds done over time in the first run of each arm; all on the same axes, " (digits(most)) " rounds high. Steeper is better: " (told.join("; ")) "." },
    )
}

fn arms(table_of: &ProofTable) -> Markup {
    let rows: Vec<Vec<Markup>> = table_of
        .arms
        .iter()
        .map(|arm| {
            let kind = match arm.outcome {
                Outcome::Completed => "good",
                Outcome::Unfinished => "plain",
                Outcome::Thrashing => "warn",
                Outcome::Killed | Outcome::Failed => "bad",
            };
            vec![
                html! { (arm.name) },
                html! { (swap(arm)) },
                html! { (tag(kind, arm.outcome.word())) @if let Some(why) = &arm.why { " " (why) } },
                html! { (arm.completed) " of " (arm.n) },
                html! { @match &arm.seconds_per_round { Some(m) => { (measured(m)) }, None => { (taken(arm)) } } },
                or_unknown(arm.rounds.as_ref().map(|m| digits(m.median))),
                html! { @match &arm.versus_first {
                    Some(versus) => { (versus.sentence) },
                    None => { "the first arm, or nothing to compare" },
                } },
            ]
        })
        .collect();
    table(
        &[
            text("Arm"),
            text("Swap"),
            text("How it ended"),
            number("Completed"),
            text("Time per round"),
            number("Rounds"),
            text("Against the first"),
        ],
        &rows,
    )
}

fn swap(arm: &ProofArm) -> String {
    let kind = match &arm.swap {
        SwapKind::AsConfigured => "as the machine has it".to_owned(),
        SwapKind::None => "none".to_owned(),
        SwapKind::File => "a fresh file".to_owned(),
        SwapKind::Zram { algorithm } => format!("fresh zram, {}", algorithm.as_deref().unwrap_or("default algorithm")),
        SwapKind::ZramOverFile { algorithm } => {
            format!("fresh zram, {}, above a fresh file", algorithm.as_deref().unwrap_or("default algorithm"))
        }
        SwapKind::Zswap => "a fresh file behind zswap".to_owned(),
    };
    let swappiness = arm.swappiness.map_or_else(String::new, |s| format!(", swappiness {s}"));
    format!("{kind}{swappiness}; {} data", if arm.fill.is_empty() { "unknown" } else { &arm.fill })
}

fn reclaimed(table_of: &ProofTable) -> Markup {
    let value = |m: &Option<Measurement>| or_unknown(m.as_ref().map(measured));
    let median = |m: &Option<Measurement>| or_unknown(m.as_ref().map(|m| digits(m.median)));
    let rows: Vec<Vec<Markup>> = table_of.arms.iter().map(|arm| vec![
        html! { (arm.name) },
        median(&arm.major_faults),
        median(&arm.refault_file),
        median(&arm.refault_anon),
        median(&arm.swap_in),
        median(&arm.swap_out),
        value(&arm.read_bytes),
        html! { (or_unknown(arm.user_s.as_ref().map(|m| seconds(m.median)))) " / " (or_unknown(arm.system_s.as_ref().map(|m| seconds(m.median)))) },
        html! { @match arm.pool_deviation { Some(share) => { (percent(share)) }, None => { "no pool" } } },
    ]).collect();
    html! {
        h3 { "What reclaim did in each arm" }
        (table(&[text("Arm"), number("Major faults"), number("File refaults"), number("Anonymous refaults"), number("Swapped in"), number("Swapped out"),
            text("Read from disk"), number("User / system"), number("Limit + pool off by")], &rows))
        p.note { "Medians per round over the runs of the table above; pages unless a unit is given." }
    }
}
