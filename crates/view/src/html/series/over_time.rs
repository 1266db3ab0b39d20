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
use crate::proof;

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
        "All arms on the same axes." @if !which.is_empty() {
            " Shown is the run of each arm that is nearest to its median" @if let Some(name) = lead { " of " (name) } " (" (which.join(", ")) "), looked at every 100 ms."
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
                [first, .., last] => format!("{} to {}", shown(first.1, "s", false), shown(last.1, "s", arm.emulated)),
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
            &format!("One small chart for each arm on the same axes; from the first round to the last: {}.", told.join(", ")),
            &panels(&all, &axes),
            &html! {
                ul.legend { li { (Stroke::First.swatch()) "median of the runs" } li { (Stroke::Run.swatch()) "one run" } }
                "From the first round to the last that was done: " (told.join("; ")) ". Each chart is " (top) " high."
            },
        ))
    }
}

fn rounds(all_shown: &[Shown<'_>]) -> Markup {
    let runs: Vec<(&Shown<'_>, Points)> = all_shown
        .iter()
        .map(|one| (one, proof::timeline(&one.run.samples).iter().map(|p| (p.at_s, p.rounds)).collect()))
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
            &format!("One small chart for each arm on the same axes: {}.", told.join(", ")),
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
            &format!("Two curves for each arm on the same axes; pages in all: {}.", told.join(", ")),
            &drawn(&all, all_shown, height, 80),
            &html! {
                ul.legend { li { (Stroke::First.swatch()) "pages of files" } li { (Stroke::Second.swatch()) "anonymous pages" } }
                "Pages that were evicted and needed again, per second, of the whole machine; beside each name how many in all, of files and anonymous. Each chart is " (digits(height)) " pages per second high. In all: " (told.join("; ")) "."
            },
        ))
    }
}

fn stalls(all_shown: &[Shown<'_>]) -> Markup {
    if !all_shown.iter().any(|one| one.run.samples.iter().any(|sample| sample.psi_full_avg10.is_some_and(|p| p > 0.0)))
    {
        return html! {};
    }
    let mut told = Vec::new();
    let all: Vec<Panel> = all_shown
        .iter()
        .map(|one| {
            let points = one.points(|sample| sample.psi_full_avg10.unwrap_or_default());
            let top = points.iter().map(|point| point.1).fold(0.0, f64::max);
            let value = format!("at most {}", percent(top / 100.0));
            told.push(format!("{}: {value}", one.arm.name));
            let (areas, curves) = (vec![(Fill::Pale, points.clone())], vec![(Stroke::First, points)]);
            Panel { name: one.arm.name.clone(), value, areas, curves }
        })
        .collect();
    let height = most(&all);
    html! {
        h3 { "Stalls" }
        (figure(
            "stalls",
            "Memory stalls over time",
            &format!("Pressure stall information, full, mean of 10 seconds; {}.", told.join(", ")),
            &drawn(&all, all_shown, height, 60),
            &html! {
                "Share of the time in which nothing could go on for want of memory (PSI full, mean of the last 10 s), of the whole machine that ran the workload, so it begins with what was before. Each chart is "
                (percent(height / 100.0)) " high; " (told.join("; ")) "."
            },
        ))
    }
}
