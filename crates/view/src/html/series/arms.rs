//! The arms: what each was and how its runs ended; and every run in the order in which they were made.

use maud::{Markup, html};
use ramline_evidence::{ArmResult, Figure, RunRecord, SwapKind, Verdict, verdict_word};

use super::{SeriesPage, figures, runs_of, shown};
use crate::html::format::{count, date};
use crate::html::parts::{number, section, table, tag, text};

/// Runs listed: the raw records have the others.
const MOST_RUNS: usize = 150;
/// Figures beside a run.
const BESIDE: usize = 3;

/// The table of arms.
pub fn arms(page: &SeriesPage<'_>) -> Markup {
    let rows: Vec<Vec<Markup>> = page
        .table
        .arms
        .iter()
        .map(|arm| {
            vec![
                html! { (arm.name) },
                html! { (settings(page, arm)) },
                html! { (count(arm.n)) },
                endings(arm),
                reasons(page, arm),
            ]
        })
        .collect();
    let mut columns = vec![text("Setting"), text("Varied"), number("Runs"), text("Ended")];
    // Where every run completed there is nothing to tell.
    columns.extend(rows.iter().any(|row| row.last().is_some_and(|why| !why.0.is_empty())).then_some(text("Why")));
    let lead = html! { "What was varied, and how the runs of each setting ended." };
    section("arms", "Settings", &lead, &table(&columns, &rows))
}

/// What is varied, as asked for.
fn settings(page: &SeriesPage<'_>, arm: &ArmResult) -> String {
    let Some(record) = runs_of(page, arm).next() else { return String::new() };
    let asked = &record.arm;
    let swap = match &asked.swap {
        SwapKind::AsConfigured => None,
        SwapKind::None => Some("no swap".to_owned()),
        SwapKind::File => Some("a fresh swap area".to_owned()),
        SwapKind::Zram { algorithm } => Some(format!("fresh zram{}", by(algorithm.as_deref()))),
        SwapKind::ZramOverFile { algorithm } => {
            Some(format!("fresh zram{} above a swap area", by(algorithm.as_deref())))
        }
        SwapKind::Zswap => Some("a fresh swap area behind zswap".to_owned()),
    };
    let swappiness = asked.swappiness.map(|value| format!("swappiness {value}"));
    let fill = (!asked.fill.is_empty()).then(|| format!("{} data", asked.fill));
    let others = asked.settings.iter().map(|(name, value)| format!("{name} {value}"));
    let all: Vec<String> = swap.into_iter().chain(swappiness).chain(fill).chain(others).collect();
    if all.is_empty() { "as named".to_owned() } else { all.join(", ") }
}

fn by(algorithm: Option<&str>) -> String {
    algorithm.map_or_else(String::new, |name| format!(" ({name})"))
}

const fn kind(word: &str) -> &'static str {
    match word.as_bytes() {
        b"completed" => "good",
        b"thrashing" => "warn",
        b"killed" | b"failed" => "bad",
        _ => "plain",
    }
}

fn endings(arm: &ArmResult) -> Markup {
    html! {
        @for (index, (word, n)) in arm.verdicts.iter().enumerate() {
            @if index > 0 { " " }
            (tag(kind(word), word)) @if arm.verdicts.len() > 1 { " " (count(*n)) }
        }
    }
}

fn why(verdict: &Verdict) -> Option<&str> {
    match verdict {
        Verdict::Thrashing(why) | Verdict::Killed(why) | Verdict::Failed(why) => Some(why),
        Verdict::Completed | Verdict::Unfinished => None,
    }
}

/// The reasons of its runs, each once.
fn reasons(page: &SeriesPage<'_>, arm: &ArmResult) -> Markup {
    let mut all: Vec<&str> = Vec::new();
    for reason in runs_of(page, arm).filter_map(|record| why(&record.verdict)) {
        if !all.contains(&reason) {
            all.push(reason);
        }
    }
    let more = all.len().saturating_sub(BESIDE);
    html! {
        @for (index, reason) in all.iter().take(BESIDE).enumerate() { @if index > 0 { "; " } (reason) }
        @if more > 0 { "; and " (count(more as u64)) " more" }
    }
}

/// Every run.
pub fn runs(page: &SeriesPage<'_>) -> Markup {
    let names: Vec<&str> = figures::names(page).into_iter().take(BESIDE).collect();
    let mut columns = vec![text("Run"), text("Setting"), text("Began"), text("Ended")];
    columns.extend(names.iter().map(|name| number(name)));
    let figures = ramline_evidence::even::figures(page.records);
    let value = |record: &RunRecord, figures: &[Figure], name: &str| {
        let figure = figures.iter().find(|figure| figure.name == name);
        figure.map_or_else(|| "-".to_owned(), |figure| shown(figure.value, &figure.unit, record.emulated))
    };
    let rows: Vec<Vec<Markup>> = page
        .records
        .iter()
        .zip(&figures)
        .take(MOST_RUNS)
        .map(|(record, figures)| {
            let word = verdict_word(&record.verdict);
            let mut row = vec![
                html! { (count(u64::from(record.order) + 1)) },
                html! { (record.arm.name) @if record.emulated && !page.table.arms.iter().all(|arm| arm.emulated) { " (emulated)" } },
                html! { (date(record.started_unix_ms.saturating_mul(1_000_000))) },
                html! { (tag(kind(word), word)) },
            ];
            row.extend(names.iter().map(|name| html! { (value(record, figures, name)) }));
            row
        })
        .collect();
    let lead = html! {
        "In the order in which they were made; settings take turns."
        @if page.records.len() > MOST_RUNS { " The first " (count(MOST_RUNS as u64)) " of " (count(page.records.len() as u64)) "." }
        " " code { "ramline lab report --csv" } " prints all figures of every run."
    };
    section("runs", "Every run", &lead, &table(&columns, &rows))
}
