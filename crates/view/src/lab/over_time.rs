//! What runs looked like while they went on: the time of each round, rounds, memory, refaults and stalls, on the same axes for all
//! settings.
//!
//! Shown is the run of a setting that is nearest to its median of the leading figure.

use ramline_evidence::over_time::{HeldMemory, MemoryPart, limit, stacked};
use ramline_evidence::proof::timeline;

use super::series::leading;
use crate::prelude::*;
use ramline_sheet::text::number;
use ramline_sheet::{Along, Curve, LegendKey, Panel, Panels, Points, Tint};

/// A setting and the run of it that is shown.
struct Shown<'a> {
    arm: &'a ArmResult,
    run: &'a RunRecord,
}

/// The sheet; nothing where no run was looked at and none had rounds.
#[must_use]
pub fn over_time(table: &SeriesTable, records: &[RunRecord], lead: &[&str]) -> Sheet {
    let lead = leading(table, lead).first().copied();
    let shown: Vec<Shown<'_>> =
        table.arms.iter().filter_map(|arm| Some(Shown { arm, run: arm.typical(records, lead)? })).collect();
    let mut charts = Sheet::new();
    charts.panels(each_round(table, records));
    for chart in [rounds, memory, refaults, stalls] {
        charts.panels(chart(&shown));
    }
    if charts.is_empty() {
        return charts;
    }
    let mut sheet = Sheet::new();
    sheet.line(which(&shown, lead));
    sheet.append(charts);
    sheet
}

fn which(shown: &[Shown<'_>], lead: Option<&str>) -> String {
    let runs: Vec<String> = shown.iter().map(|one| format!("{}: run {}", one.arm.name, one.run.place())).collect();
    let of = lead.map(|name| format!(" of {name}")).unwrap_or_default();
    let runs = runs.join(", ");
    match runs.as_str() {
        "" => "All settings on the same axes.".to_owned(),
        runs => format!(
            "All settings on the same axes. Shown is the run of each setting that is nearest to its median{of} ({runs}), looked at every \
             100 ms."
        ),
    }
}

/// Charts of the runs that are shown, over their time.
fn charts(title: &str, unit: &str, shown: &[Shown<'_>], panel: impl Fn(&Shown<'_>) -> Panel) -> Panels {
    Panels {
        title: title.to_owned(),
        unit: unit.to_owned(),
        emulated: shown.iter().any(|one| one.arm.emulated),
        panels: shown.iter().map(|one| Panel { name: one.arm.name.clone(), ..panel(one) }).collect(),
        ..Panels::default()
    }
}

fn legend(curves: [(Curve, &str); 2]) -> Vec<(LegendKey, String)> {
    curves.map(|(line, name)| (LegendKey::Curve(line), name.to_owned())).into()
}

fn seconds(seconds: f64, arm: &ArmResult) -> String {
    value(seconds, "s", arm.emulated)
}

/// The time of each round, every run a thin line.
fn each_round(table: &SeriesTable, records: &[RunRecord]) -> Panels {
    let panel = |arm: &ArmResult| {
        let medians = arm.median_rounds(records);
        let word = if arm.emulated { " emulated" } else { "" };
        let value = match medians.as_slice() {
            [] => "no round done".to_owned(),
            [(_, one)] => seconds(*one, arm),
            [(_, first), .., (_, last)] => format!("{}{word}", number::interval(*first, *last, "s")),
        };
        let runs = arm.runs(records).map(RunRecord::round_times).filter(|points| !points.is_empty());
        let curves = runs.map(|points| (Curve::Run, points)).chain([(Curve::First, medians)]).collect();
        Panel { name: arm.name.clone(), value, curves, ..Panel::default() }
    };
    // One round a run is in the tables.
    let several = records.iter().any(|run| run.rounds.len() > 1);
    Panels {
        title: "Time of each round".to_owned(),
        along: Along::Rounds,
        unit: "s".to_owned(),
        emulated: table.emulated,
        legend: legend([(Curve::First, "median of the runs"), (Curve::Run, "one run")]),
        panels: if several { table.arms.iter().map(panel).collect() } else { Vec::new() },
        note: "Beside each name from the first round to the last that was done.".to_owned(),
        ..Panels::default()
    }
}

fn rounds(shown: &[Shown<'_>]) -> Panels {
    let all = charts("Rounds done", "rounds", shown, |one| {
        let points: Points = timeline(one.run).iter().map(|point| (point.at_s, point.rounds)).collect();
        let (end, done) = points.last().copied().unwrap_or_default();
        let value = format!("{} rounds in {}", number::trimmed(done), seconds(end, one.arm));
        Panel { value, curves: vec![(Curve::First, points)], ..Panel::default() }
    });
    let panels =
        all.panels.into_iter().filter(|panel| panel.curves.iter().all(|(_, points)| points.len() > 1)).collect();
    Panels { panels, note: "Since the rounds began; steeper is better.".to_owned(), ..all }
}

/// What a part of the memory is drawn as, and its name.
const fn drawn(part: MemoryPart) -> (Tint, &'static str) {
    match part {
        MemoryPart::Anonymous => (Tint::Processes, "anonymous"),
        MemoryPart::Shared => (Tint::Shared, "shared memory, and code that is mapped"),
        MemoryPart::Files => (Tint::Cache, "files, and the kernel's own"),
        MemoryPart::Pool => (Tint::Compressed, "compressed pool"),
        MemoryPart::Free => (Tint::Free, "free below the limit"),
        MemoryPart::Swapped => (Tint::Swap, "in swap (not in memory)"),
    }
}

/// Areas on one another, with the limit as a line.
fn memory(shown: &[Shown<'_>]) -> Panels {
    let held =
        |one: &Shown<'_>, part| one.run.samples.iter().any(|at| HeldMemory::from_sample(at, one.run).bytes(part).0 > 0);
    let parts: Vec<MemoryPart> =
        MemoryPart::ALL.into_iter().filter(|part| shown.iter().any(|one| held(one, *part))).collect();
    let mut all = charts("Where the memory was", "bytes", shown, |one| {
        let edges = parts.iter().map(|part| drawn(*part).0).zip(stacked(one.run, &parts));
        let mut areas: Vec<(Tint, Points)> = edges.collect();
        areas.reverse();
        let limit = limit(one.run).map(|points| (Curve::Bound, points));
        let most = one.run.samples.iter().map(|at| at.usage).max();
        let last = one.run.samples.last().map(|at| HeldMemory::from_sample(at, one.run));
        let note = last.map(|held| {
            let of = |part| held.bytes(part);
            format!("at the end {} anonymous, {} in swap", of(MemoryPart::Anonymous), of(MemoryPart::Swapped))
        });
        Panel {
            value: most.map(|most| format!("at most {most}")).unwrap_or_default(),
            note: note.unwrap_or_default(),
            areas,
            curves: limit.into_iter().collect(),
            ..Panel::default()
        }
    });
    let named = parts.iter().map(|part| drawn(*part)).map(|(tint, name)| (LegendKey::Area(tint), name.to_owned()));
    let limited = all.panels.iter().any(|panel| !panel.curves.is_empty());
    let limited = limited.then(|| (LegendKey::Curve(Curve::Bound), "limit".to_owned()));
    all.legend = named.chain(limited).collect();
    all.note = "Since the workload was let go, the fill included.".to_owned();
    all
}

fn refaults(shown: &[Shown<'_>]) -> Panels {
    let mut all = charts("Refaults", "pages per second", shown, |one| {
        let last = one.run.samples.last();
        let [file, anon] = [last.map(|at| at.refault_file), last.map(|at| at.refault_anon)]
            .map(|pages| pages.flatten().map_or_else(|| "not counted".to_owned(), number::count));
        let (of_files, of_anon) = (one.run.rate(|at| at.refault_file), one.run.rate(|at| at.refault_anon));
        Panel {
            value: format!("{file} / {anon}"),
            curves: vec![(Curve::First, of_files), (Curve::Second, of_anon)],
            ..Panel::default()
        }
    });
    all.legend = legend([(Curve::First, "pages of files"), (Curve::Second, "anonymous pages")]);
    all.note = "Pages that were evicted and needed again, per second, of the whole machine; beside each name how many in all, of files \
                and anonymous."
        .to_owned();
    all
}

fn stalls(shown: &[Shown<'_>]) -> Panels {
    let all = charts("Stalls", "share", shown, |one| {
        let share = number::percent(one.run.stalled_share().unwrap_or_default());
        Panel {
            value: format!("{share} of the time"),
            curves: vec![(Curve::First, one.run.stalled())],
            ..Panel::default()
        }
    });
    let note = "Share of the time in which every task waited for memory, between two readings (PSI full, of the group where the kernel keeps \
                it, else of the machine).";
    Panels { least: 1.0, note: note.to_owned(), ..all }
}
