//! A series of the lab as one page: what came out first, then what happened over time, then everything it rests on.
//!
//! A function of the raw records, for any experiment; those whose runs were looked at every 100 ms have charts over
//! time. Each section is a sheet; the result is the one of the terminal.
//!
//! Worked example: seven runs of two settings make a chart of the leading figure with seven dots in each of two rows.

use maud::{Markup, html};

use crate::lab;
use crate::prelude::*;
use ramline_sheet::format::{count, size};
use ramline_sheet::html::shell::{self, Section, Shell};
use ramline_sheet::html::{parts, render};

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
    /// Two series in one table: each setting of the second is compared with that of the first.
    pub two: bool,
    /// What came out, as on a terminal. Its answer is the headline; without one the difference that matters most is.
    pub sheet: &'a Sheet,
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

/// The sections that have something to say.
fn sections(page: &SeriesPage<'_>) -> Vec<Section> {
    let SeriesPage { table, records, lead, .. } = *page;
    let all = [
        ("result", "Result", "Result", result(page)),
        ("over-time", "Over time", "Over time", lab::over_time(table, records, lead)),
        ("arms", "Settings", "Settings", lab::settings(table, records)),
        ("reading", "Reading the result", "Reading the result", reading(page)),
        ("settings", "Kernel settings", "Kernel settings, read back", lab::read_back(table, records)),
        ("conditions", "Conditions", "Conditions", lab::conditions(table, records, page.how)),
        ("runs", "Every run", "Every run", lab::runs(table, records, lead)),
    ];
    let shown = all.into_iter().filter(|(.., sheet)| !sheet.is_empty());
    shown.map(|(id, name, heading, sheet)| Section { id, name, body: render::topic(id, heading, &sheet) }).collect()
}

/// The sheet below its answer, which is the headline; where it has no chart in which every run stands, also those.
fn result(page: &SeriesPage<'_>) -> Sheet {
    let SeriesPage { table, lead, .. } = *page;
    let (_, mut sheet) = page.sheet.split_answer();
    let every_run =
        |block: &Block| matches!(block, Block::Bars(bars) if bars.rows.iter().any(|row| !row.runs.is_empty()));
    if !sheet.blocks().iter().any(every_run) {
        sheet.append(lab::charts(table, lead, false));
        if !page.two {
            sheet.append(lab::all_figures(table, lead));
        }
    }
    if table.arms.len() > 1 {
        sheet.dim(format!("Compared with {}; a difference is called significant from 6 runs on.", page.against()));
    }
    sheet
}

fn head(page: &SeriesPage<'_>) -> Markup {
    let first = page.records.iter().filter_map(RunRecord::started).min();
    let (answer, _) = page.sheet.split_answer();
    html! {
        p.eyebrow {
            b { "ramline lab" }
            span { (page.table.experiment) @if page.two { ", two series" } }
            @if let Some(machine) = &page.table.machine {
                span { "Linux " (machine.kernel) }
                span { (count(u64::from(machine.cpus))) @if machine.cpus == 1 { " CPU" } @else { " CPUs" } }
                span { (size(machine.mem_total)) " of memory" }
            }
            @if let Some(first) = first { span { (date(first.0)) } }
        }
        h1 { (answer.map_or_else(|| lab::headline(page.table, page.lead), str::to_owned)) }
        p.question { (page.question) }
    }
}

/// The few numbers to remember.
fn facts(page: &SeriesPage<'_>) -> Vec<(&'static str, String, String)> {
    let (completed, others) = page.table.endings();
    let rest: Vec<String> = others.iter().map(|(word, n)| format!("{word} {n}")).collect();
    let fewest = page.table.arms.iter().map(|arm| arm.n).min().unwrap_or_default();
    let each = number::things(fewest, "run");
    let claims =
        if page.table.has_few_runs() { "6 are needed to prove a difference" } else { "enough to prove a difference" };
    let sandbox = match page.table.sandbox.as_str() {
        "vm" => "a virtual machine".to_owned(),
        name if !lab::is_sandbox(name) => "no sandbox".to_owned(),
        name => name.to_owned(),
    };
    let kind = if page.table.emulated { "processor emulated" } else { "on this machine's processor" };
    vec![
        ("Settings", page.table.arms.len().to_string(), format!("at least {each} of each; {claims}")),
        (
            "Completed",
            format!("{completed} of {}", page.table.runs()),
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
    let mut sheet = Sheet::new();
    page.doubts.iter().for_each(|doubt| sheet.warn(format!("Doubt: {doubt}.")));
    html! { @if !sheet.is_empty() { div.warnings { (render::body("before", &sheet)) } } }
}

/// The table of the experiment's page, whose marks of names and of what matters are for another renderer.
fn reading(page: &SeriesPage<'_>) -> Sheet {
    let mut sheet = Sheet::new();
    if page.reading.is_empty() {
        return sheet;
    }
    let plain = |text: &str| text.replace("**", "").replace('`', "");
    sheet.line(format!("What may be seen, and what it says. The whole page is {}.", page.docs));
    let table = Table::from_rows(page.reading);
    sheet.table(table.wrapped("seen", |row| plain(&row.shown)).wrapped("in a sentence", |row| plain(&row.sentence)));
    sheet
}

#[cfg(test)]
mod tests;
