//! A series of the lab as one page: what came out first, then what happened over time, then everything it rests on.
//!
//! What it is: a function of the raw records, for any experiment; those whose runs were looked at every 100 ms have charts over
//! time. What it is not: a study; medians, intervals and claims are those of [`SeriesTable`].
//!
//! Worked example: seven runs of two arms make a chart of the leading figure with seven dots in each of two rows.

mod arms;
mod conditions;
mod figures;
mod over_time;

use maud::{Markup, html};
use ramline_evidence::{ArmResult, RunRecord, SeriesTable};
use ramline_units::saturating_sum;

use super::format::{count, date, size};
use super::parts::{self, section, table, tag, text};
use super::shell::{self, Section, Shell};
use crate::screen;
use crate::text::number;

/// What the page is made of.
#[derive(Debug, Clone, Copy)]
pub struct SeriesPage<'a> {
    /// The study of the records.
    pub table: &'a SeriesTable,
    /// The raw records.
    pub records: &'a [RunRecord],
    /// What the experiment answers.
    pub question: &'a str,
    /// How it is done.
    pub how: &'a str,
    /// Its page in the documentation, relative to the project.
    pub docs: &'a str,
    /// The figures to begin with.
    pub lead: &'a [&'a str],
    /// How its results are read.
    pub reading: &'a [Reading],
    /// Reasons to doubt the table.
    pub doubts: &'a [String],
    /// Two series in one table: each arm of the second is compared with that of the first.
    pub two: bool,
    /// The answer, where the experiment has one that is no difference between arms.
    pub answer: Option<&'a str>,
    /// The same as on a terminal, with what only this experiment shows.
    pub screen: &'a str,
    /// The version that makes the page.
    pub ramline: &'a str,
}

/// One row of "Reading the result".
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reading {
    /// What may be seen.
    pub shown: String,
    /// What it says.
    pub sentence: String,
}

impl SeriesPage<'_> {
    /// What differences are claimed against, in words.
    const fn against(&self) -> &'static str {
        if self.two { "the first series" } else { "the first setting" }
    }
}

/// The page of a series.
#[must_use]
pub fn series(page: &SeriesPage<'_>) -> String {
    shell::whole(&Shell {
        title: format!("{}{} · ramline lab", page.table.experiment, if page.two { ", two series" } else { "" }),
        header: html! {
            (head(page))
            (parts::facts(&facts(page)))
        },
        before: before(page),
        sections: sections(page),
        ramline: page.ramline,
    })
}

fn sections(page: &SeriesPage<'_>) -> Vec<Section> {
    let all = vec![
        ("result", "Result", figures::result(page)),
        ("over-time", "Over time", over_time::over_time(page)),
        ("arms", "Settings", arms::arms(page)),
        ("reading", "Reading the result", reading(page)),
        ("figures", "All figures", figures::all(page)),
        ("screen", "As on a terminal", terminal(page)),
        ("settings", "Kernel settings", conditions::settings(page)),
        ("conditions", "Conditions", conditions::conditions(page)),
        ("runs", "Every run", arms::runs(page)),
    ];
    all.into_iter().map(Section::from).filter(|section| !section.body.0.is_empty()).collect()
}

fn head(page: &SeriesPage<'_>) -> Markup {
    let first = page.records.iter().map(|record| record.started_unix_ms).filter(|at| *at > 0).min();
    html! {
        p.eyebrow {
            b { "ramline lab" }
            span { (page.table.experiment) @if page.two { ", two series" } }
            @if let Some(machine) = &page.table.machine {
                span { "Linux " (machine.kernel) }
                span { (count(u64::from(machine.cpus))) @if machine.cpus == 1 { " CPU" } @else { " CPUs" } }
                span { (size(machine.mem_total)) " of memory" }
            }
            @if let Some(first) = first { span { (date(first.saturating_mul(1_000_000))) } }
        }
        h1 { (page.answer.map_or_else(|| figures::headline(page), str::to_owned)) }
        p.question { (page.question) }
    }
}

/// The few numbers to remember.
fn facts(page: &SeriesPage<'_>) -> Vec<(&'static str, String, String)> {
    let runs = page.records.len();
    let endings = |arm: &ArmResult| arm.verdicts.clone();
    let ended_so = page.table.arms.iter().flat_map(endings).filter(|(word, _)| word == "completed");
    let completed = saturating_sum(ended_so.map(|(_, n)| n));
    let mut others: Vec<(String, u64)> = Vec::new();
    for (word, n) in page.table.arms.iter().flat_map(endings).filter(|(word, _)| word != "completed") {
        match others.iter_mut().find(|(known, _)| *known == word) {
            Some((_, sum)) => *sum = sum.saturating_add(n),
            None => others.push((word, n)),
        }
    }
    let rest: Vec<String> = others.iter().map(|(word, n)| format!("{word} {n}")).collect();
    let fewest = page.table.arms.iter().map(|arm| arm.n).min().unwrap_or_default();
    let each = number::things(fewest, "run");
    let claims = if fewest < 6 { "6 are needed to prove a difference" } else { "enough to prove a difference" };
    let sandbox = match page.table.sandbox.as_str() {
        "vm" => "a virtual machine".to_owned(),
        name if !screen::is_sandbox(name) => "no sandbox".to_owned(),
        name => name.to_owned(),
    };
    let kind = if page.table.emulated { "processor emulated" } else { "on this machine's processor" };
    vec![
        ("Settings", count(page.table.arms.len() as u64), format!("at least {each} of each; {claims}")),
        (
            "Completed",
            format!("{completed} of {runs}"),
            if rest.is_empty() {
                "every run came to its end".to_owned()
            } else {
                format!("the others: {}", rest.join(", "))
            },
        ),
        ("Ran in", sandbox, kind.to_owned()),
    ]
}

/// What must be known before a number is read.
fn before(page: &SeriesPage<'_>) -> Markup {
    html! {
        @if page.table.emulated || !page.doubts.is_empty() {
            div.warnings {
                @if page.table.emulated {
                    p { (tag("warn", "emulated")) " The processor was emulated: its seconds compare with each other, with those of no real machine. Counts are what they are." }
                }
                @for doubt in page.doubts { p { (tag("warn", "doubt")) " " (doubt) "." } }
            }
        }
    }
}

fn reading(page: &SeriesPage<'_>) -> Markup {
    if page.reading.is_empty() {
        return html! {};
    }
    let rows: Vec<Vec<Markup>> = page
        .reading
        .iter()
        .map(|row| vec![html! { (marked(&row.shown)) }, html! { (marked(&row.sentence)) }])
        .collect();
    let lead = html! { "What may be seen, and what it says. The whole page is " code { (page.docs) } "." };
    section("reading", "Reading the result", &lead, &table(&[text("Seen"), text("In a sentence")], &rows))
}

/// Our own pages mark names of settings with backticks and what matters with asterisks.
fn marked(text: &str) -> Markup {
    html! {
        @for (index, part) in text.split('`').enumerate() {
            @if index % 2 == 1 { code { (part) } }
            @else { @for (strong, part) in part.split("**").enumerate() { @if strong % 2 == 1 { b { (part) } } @else { (part) } } }
        }
    }
}

fn terminal(page: &SeriesPage<'_>) -> Markup {
    let lead = html! { "What " code { "ramline lab report" } " prints, with what only this experiment shows." };
    let lines: Vec<&str> = page.screen.trim_end().lines().collect();
    if lines.is_empty() {
        return html! {};
    }
    section(
        "screen",
        "As on a terminal",
        &lead,
        &html! { div.scroll tabindex="0" { pre.screen { @for (at, line) in lines.iter().enumerate() { @if at > 0 { br; } (line) } } } },
    )
}

/// The records of an arm of the table: where real and emulated runs are mixed, these are apart there.
fn runs_of<'a>(page: &SeriesPage<'a>, arm: &'a ArmResult) -> impl Iterator<Item = &'a RunRecord> + use<'a> {
    let same = |record: &&RunRecord| {
        let own = record.arm.name.as_str();
        record.emulated == arm.emulated && (own == arm.name || arm.name.strip_suffix(" (emulated)") == Some(own))
    };
    page.records.iter().filter(same)
}

/// A value with its unit; seconds of an emulated processor say so.
fn shown(value: f64, unit: &str, emulated: bool) -> String {
    if value == 0.0 && unit == "s" {
        return "0\u{a0}s".to_owned();
    }
    screen::value(value, unit, emulated).replace(' ', "\u{a0}")
}

#[cfg(test)]
mod tests;
