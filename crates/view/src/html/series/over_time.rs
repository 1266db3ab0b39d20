//! What a run looked like while it went on: rounds, memory, refaults, stalls; one run of each arm, all on the same axes.
//!
//! The run of an arm that is shown is the one nearest to the arm's median of the leading figure.

mod memory;

use maud::{Markup, html};
use ramline_evidence::{ArmResult, RunRecord, Sample};

use super::{SeriesPage, figures, runs_of, shown};
use crate::html::draw::{Axes, Drawing, Fill, Panel, Points, Stroke, panels};
use crate::html::format::{digits, percent};
use crate::html::parts::{figure, section};

/// Points kept of a run.
const POINTS: usize = 90;

/// An arm and the run of it that is shown.
struct Shown<'a> {
    arm: &'a ArmResult,
    run: &'a RunRecord,
}

impl Shown<'_> {
    fn samples(&self) -> Vec<&Sample> {
        let all = &self.run.samples;
        let step = all.len().div_ceil(POINTS).max(1);
        all.iter()
            .enumerate()
            .filter(|(at, _)| at % step == 0 || at + 1 == all.len())
            .map(|(_, sample)| sample)
            .collect()
    }

    fn points(&self, value: impl Fn(&Sample) -> f64) -> Points {
        self.samples().into_iter().map(|sample| (sample.at.as_secs_f64(), value(sample))).collect()
    }
}

/// The section; nothing where no run was looked at and none had rounds.
pub fn over_time(page: &SeriesPage<'_>) -> Markup {
    let lead = figures::names(page).first().copied();
    let shown: Vec<Shown<'_>> = page.table.arms.iter().filter_map(|arm| chosen(page, arm, lead)).collect();
    let body = html! {
        (each_round(page))
        (rounds(&shown))
        (memory::memory(&shown))
        (refaults(&shown))
        (stalls(&shown))
    };
    if body.0.is_empty() {
        return body;
    }
    let which: Vec<String> =
        shown.iter().map(|one| format!("{}: run {}", one.arm.name, u64::from(one.run.order) + 1)).collect();
    let lead = html! {
        "All settings on the same axes." @if !which.is_empty() {
            " Shown is the run of each setting that is nearest to its median" @if let Some(name) = lead { " of " (name) } " (" (which.join(", ")) "), looked at every 100 ms."
        }
    };
    section("over-time", "Over time", &lead, &body)
}

fn chosen<'a>(page: &SeriesPage<'a>, arm: &'a ArmResult, lead: Option<&str>) -> Option<Shown<'a>> {
    let median = lead.and_then(|name| arm.figure(name)).map(|figure| figure.measurement.median);
    let off = |run: &RunRecord| {
        let value = run.figures.iter().find(|figure| Some(figure.name.as_str()) == lead).map(|figure| figure.value);
        value.zip(median).map_or(f64::INFINITY, |(value, median)| (value - median).abs())
    };
    let looked_at = runs_of(page, arm).filter(|run| run.samples.len() > 1);
    looked_at.min_by(|a, b| off(a).total_cmp(&off(b))).map(|run| Shown { arm, run })
}

/// The ends of the time axis of these runs, in seconds, and how its end is written.
fn end_of(shown: &[Shown<'_>]) -> (f64, String) {
    let last = |one: &Shown<'_>| one.run.samples.last().map_or(0.0, |sample| sample.at.as_secs_f64());
    let end = shown.iter().map(last).fold(0.0, f64::max);
    (end, super::shown(end, "s", shown.iter().any(|one| one.arm.emulated)))
}

fn most(all: &[Panel]) -> f64 {
    let areas = all.iter().flat_map(|panel| panel.areas.iter().map(|(_, points)| points));
    let curves = all.iter().flat_map(|panel| panel.curves.iter().map(|(_, points)| points));
    areas.chain(curves).flatten().map(|point| point.1).fold(0.0, f64::max)
}

/// On the time axis of these runs.
fn drawn(all: &[Panel], shown: &[Shown<'_>], height: f64, pixels: u32) -> Drawing {
    let (end, word) = end_of(shown);
    panels(all, &Axes { from: 0.0, width: end, height, ends: ("0\u{a0}s", &word), pixels })
}

/// The time of each round, every run a thin line.
fn each_round(page: &SeriesPage<'_>) -> Markup {
    let rounds = page.records.iter().map(|run| run.rounds.len()).max().unwrap_or_default();
    if rounds < 2 {
        return html! {};
    }
    let line = |run: &RunRecord| -> Points {
        run.rounds.iter().enumerate().map(|(at, round)| ((at + 1) as f64, round.took.as_secs_f64())).collect()
    };
    let mut told = Vec::new();
    let all: Vec<Panel> = page
        .table
        .arms
        .iter()
        .map(|arm| {
            let runs: Vec<Points> = runs_of(page, arm).map(line).collect();
            let medians: Points = (0..rounds)
                .filter_map(|at| {
                    let took: Vec<f64> = runs.iter().filter_map(|run| run.get(at)).map(|point| point.1).collect();
                    let sorted = ramline_evidence::study::sorted(&took)?;
                    Some(((at + 1) as f64, ramline_evidence::study::median(&sorted)?))
                })
                .collect();
            let value = match medians.as_slice() {
                [] => "no round done".to_owned(),
                [first, .., last] => first_to_last(first.1, last.1, arm.emulated),
                [one] => shown(one.1, "s", arm.emulated),
            };
            told.push(format!("{}: {value}", arm.name));
            let mut curves: Vec<(Stroke, Points)> = runs.into_iter().map(|run| (Stroke::Run, run)).collect();
            curves.push((Stroke::First, medians));
            Panel { name: arm.name.clone(), value, areas: Vec::new(), curves }
        })
        .collect();
    let height = most(&all);
    let last = format!("round {rounds}");
    let axes = Axes { from: 1.0, width: rounds as f64, height, ends: ("round 1", &last), pixels: 90 };
    let top = shown(height, "s", page.table.emulated);
    html! {
        h3 { "Time of each round" }
        (figure(
            "each-round",
            "Time of each round",
            &format!("One small chart for each setting on the same axes; from the first round to the last: {}.", told.join(", ")),
            &panels(&all, &axes),
            &html! {
                ul.legend { li { (Stroke::First.swatch()) "median of the runs" } li { (Stroke::Run.swatch()) "one run" } }
                "From the first round to the last that was done: " (told.join("; ")) ". Each chart is " (top) " high."
            },
        ))
    }
}

fn first_to_last(first: f64, last: f64, emulated: bool) -> String {
    let text = crate::text::number::interval(first, last, "s").replace(' ', "\u{a0}").replace("\u{a0}to\u{a0}", " to ");
    if emulated { format!("{text}\u{a0}emulated") } else { text }
}

fn rounds(all_shown: &[Shown<'_>]) -> Markup {
    let runs: Vec<(&Shown<'_>, Points)> = all_shown
        .iter()
        .map(|one| (one, ramline_evidence::proof::timeline(one.run).iter().map(|p| (p.at_s, p.rounds)).collect()))
        .collect();
    let most = runs.iter().flat_map(|(_, points): &(_, Points)| points).map(|point| point.1).fold(0.0, f64::max);
    let end = runs.iter().flat_map(|(_, points)| points).map(|point| point.0).fold(0.0, f64::max);
    if most <= 0.0 || end <= 0.0 {
        return html! {};
    }
    let mut told = Vec::new();
    let all: Vec<Panel> = runs
        .into_iter()
        .filter(|(_, points)| points.len() > 1)
        .map(|(one, points)| {
            let last = points.last().copied().unwrap_or_default();
            let value = format!("{} rounds in {}", digits(last.1), shown(last.0, "s", one.arm.emulated));
            told.push(format!("{}: {value}", one.arm.name));
            let (areas, curves) = (vec![(Fill::Pale, points.clone())], vec![(Stroke::First, points)]);
            Panel { name: one.arm.name.clone(), value, areas, curves }
        })
        .collect();
    let word = shown(end, "s", all_shown.iter().any(|one| one.arm.emulated));
    let axes = Axes { from: 0.0, width: end, height: most, ends: ("0\u{a0}s", &word), pixels: 60 };
    html! {
        h3 { "Rounds done" }
        (figure(
            "rounds",
            "Rounds done over time",
            &format!("One small chart for each setting on the same axes: {}.", told.join(", ")),
            &panels(&all, &axes),
            &html! { "Since the rounds began. Steeper is better: " (told.join("; ")) ". Each chart is " (digits(most)) " rounds high." },
        ))
    }
}

/// Pages a second between two looks.
fn rate(one: &Shown<'_>, counter: fn(&Sample) -> u64) -> Points {
    let samples = one.samples();
    samples
        .windows(2)
        .filter_map(|pair| match pair {
            [a, b] if b.at > a.at => {
                let span = b.at.as_secs_f64() - a.at.as_secs_f64();
                Some((b.at.as_secs_f64(), counter(b).saturating_sub(counter(a)) as f64 / span))
            }
            _ => None,
        })
        .collect()
}

fn refaults(all_shown: &[Shown<'_>]) -> Markup {
    let mut told = Vec::new();
    let all: Vec<Panel> = all_shown
        .iter()
        .map(|one| {
            let curves =
                vec![(Stroke::First, rate(one, |s| s.refault_file)), (Stroke::Second, rate(one, |s| s.refault_anon))];
            let sum = |counter: fn(&Sample) -> u64| one.run.samples.last().map_or(0, counter);
            let count = |n: u64| crate::html::format::digits(n as f64);
            let (file, anon) = (count(sum(|s| s.refault_file)), count(sum(|s| s.refault_anon)));
            told.push(format!("{}: {file} file, {anon} anonymous", one.arm.name));
            let value = format!("{file} / {anon}");
            Panel { name: one.arm.name.clone(), value, areas: Vec::new(), curves }
        })
        .collect();
    let height = most(&all);
    if height <= 0.0 {
        return html! {};
    }
    html! {
        h3 { "Refaults" }
        (figure(
            "refaults",
            "Refaults per second over time",
            &format!("Two curves for each setting on the same axes; pages in all: {}.", told.join(", ")),
            &drawn(&all, all_shown, height, 80),
            &html! {
                ul.legend { li { (Stroke::First.swatch()) "pages of files" } li { (Stroke::Second.swatch()) "anonymous pages" } }
                "Pages that were evicted and needed again, per second, of the whole machine; beside each name how many in all, of files and anonymous. Each chart is " (digits(height)) " pages per second high. In all: " (told.join("; ")) "."
            },
        ))
    }
}

/// Share of the time between two looks in which nothing could go on, by the counter of the group.
fn stalled(one: &Shown<'_>) -> Points {
    let counted = one.samples().into_iter().filter_map(|sample| Some((sample.at.as_secs_f64(), sample.psi_full_us?)));
    let counted: Vec<(f64, u64)> = counted.collect();
    let between = counted.windows(2).filter_map(|pair| match pair {
        [(from, before), (to, after)] if to > from => {
            // The kernel adds up per processor and a little late: a look may find more than has passed.
            Some((*to, (after.saturating_sub(*before) as f64 / 1e6 / (to - from)).min(1.0)))
        }
        _ => None,
    });
    between.collect()
}

fn stalls(all_shown: &[Shown<'_>]) -> Markup {
    let curves: Vec<(&Shown<'_>, Points)> = all_shown.iter().map(|one| (one, stalled(one))).collect();
    if !curves.iter().any(|(_, points)| points.iter().any(|point| point.1 > 0.0)) {
        return html! {};
    }
    let mut told = Vec::new();
    let all: Vec<Panel> = curves
        .into_iter()
        .map(|(one, points)| {
            let total = one.run.samples.iter().rev().find_map(|sample| sample.psi_full_us).unwrap_or_default();
            let whole = one.run.samples.last().map_or(0.0, |sample| sample.at.as_secs_f64());
            let share = if whole > 0.0 { (total as f64 / 1e6 / whole).min(1.0) } else { 0.0 };
            let value = format!("{} of the time", percent(share));
            told.push(format!("{}: {value}", one.arm.name));
            let (areas, curves) = (vec![(Fill::Pale, points.clone())], vec![(Stroke::First, points)]);
            Panel { name: one.arm.name.clone(), value, areas, curves }
        })
        .collect();
    html! {
        h3 { "Stalls" }
        (figure(
            "stalls",
            "Memory stalls over time",
            &format!("Share of the time in which every task waited for memory; {}.", told.join(", ")),
            &drawn(&all, all_shown, 1.0, 60),
            &html! {
                "Share of the time in which every task waited for memory, between two looks (PSI full, of the group where the kernel keeps it, else of the machine). Each chart is 100 % high; "
                (told.join("; ")) "."
            },
        ))
    }
}
