//! What a series rests on: settings as read back, what was asked for, the machines, what disturbed.

use std::collections::BTreeMap;

use maud::{Markup, html};
use ramline_evidence::{ArmResult, Machine, RunRecord};

use super::{SeriesPage, runs_of};
use crate::html::format::{count, date, size};
use crate::html::parts::{pairs, section, table, text};

/// Values of one setting that differ from run to run are told up to this many.
const VALUES: usize = 2;

/// Settings as read back from inside the sandbox: those that every run had once, the others by arm.
pub fn settings(page: &SeriesPage<'_>) -> Markup {
    let mut names: Vec<&str> = page.records.iter().flat_map(|run| run.verified.keys().map(String::as_str)).collect();
    names.sort_unstable();
    names.dedup();
    if names.is_empty() {
        return html! {};
    }
    let same = |name: &str| {
        let first = page.records.first()?.verified.get(name)?;
        page.records.iter().all(|run| run.verified.get(name) == Some(first)).then_some(first.as_str())
    };
    let everywhere: Vec<(&str, Markup)> =
        names.iter().filter_map(|name| Some((*name, html! { code { (same(name)?) } }))).collect();
    let rows: Vec<Vec<Markup>> = names
        .iter()
        .filter(|name| same(name).is_none())
        .map(|name| {
            let mut row = vec![html! { (name) }];
            row.extend(page.table.arms.iter().map(|arm| html! { (of_arm(page, arm, name)) }));
            row
        })
        .collect();
    let mut columns = vec![text("Setting")];
    columns.extend(page.table.arms.iter().map(|arm| text(&arm.name)));
    let lead = html! { "Read back from inside the sandbox before or after each run, not as asked for." };
    section(
        "settings",
        "Kernel settings, read back",
        &lead,
        &html! {
            @if !everywhere.is_empty() { h3 { "The same in every run" } (pairs(&everywhere)) }
            @if !rows.is_empty() { h3 { "By setting" } (table(&columns, &rows)) }
        },
    )
}

fn of_arm(page: &SeriesPage<'_>, arm: &ArmResult, name: &str) -> String {
    let mut values: Vec<&str> = Vec::new();
    for value in runs_of(page, arm).filter_map(|run| run.verified.get(name)) {
        if !values.contains(&value.as_str()) {
            values.push(value);
        }
    }
    let more = values.len().saturating_sub(VALUES);
    let told = values.iter().take(VALUES).copied().collect::<Vec<_>>().join("; ");
    match (values.is_empty(), more) {
        (true, _) => "-".to_owned(),
        (_, 0) => told,
        (_, more) => format!("{told}; {more} more"),
    }
}

/// The machine, the sandbox, what was asked for, and what disturbed.
pub fn conditions(page: &SeriesPage<'_>) -> Markup {
    let lead = html! { "What held while this was measured." };
    section(
        "conditions",
        "Conditions",
        &lead,
        &html! {
            (pairs(&facts(page)))
            (disturbed(page))
            h3 { "How it is done" }
            p { (page.how) }
            (asked(page))
        },
    )
}

/// Each value once, in the order in which they came.
fn each<'a>(page: &SeriesPage<'a>, of: impl Fn(&'a RunRecord) -> String) -> String {
    let mut all: Vec<String> = Vec::new();
    for value in page.records.iter().map(of).filter(|value| !value.is_empty()) {
        if !all.contains(&value) {
            all.push(value);
        }
    }
    if all.is_empty() { "not recorded".to_owned() } else { all.join("; ") }
}

fn facts<'a>(page: &SeriesPage<'a>) -> Vec<(&'static str, Markup)> {
    let of = |what: fn(&Machine) -> String| each(page, move |record: &'a RunRecord| what(&record.machine));
    let began = page.records.iter().map(|run| run.started_unix_ms).filter(|at| *at > 0);
    let at = |ms: Option<u64>| ms.map_or_else(|| "not recorded".to_owned(), |ms| date(ms.saturating_mul(1_000_000)));
    let groups = of(|machine| match machine.cgroup_version {
        0 => String::new(),
        version => format!("version {version}"),
    });
    let scratch = of(|machine| {
        let disk = machine.scratch_disk.as_ref().map(|disk| format!(" on {disk}")).unwrap_or_default();
        if machine.scratch_fs.is_empty() { String::new() } else { format!("{}{disk}", machine.scratch_fs) }
    });
    let processor = each(page, |run| if run.emulated { "emulated" } else { "this machine's own" }.to_owned());
    vec![
        ("Kernel", html! { (of(|machine| machine.kernel.clone())) }),
        ("CPUs, memory", html! { (of(|machine| format!("{} CPUs, {}", machine.cpus, size(machine.mem_total)))) }),
        ("Pages of", html! { (of(|machine| size(ramline_units::Bytes(machine.page_size)))) }),
        ("Sandbox", html! { (each(page, |run| run.sandbox.clone())) }),
        ("Processor", html! { (processor) }),
        ("Control groups", html! { (groups) }),
        ("Scratch place", html! { (scratch) }),
        ("First and last run began", html! { (at(began.clone().min())) ", " (at(began.max())) }),
        ("Made by", html! { "ramline " (of(|machine| machine.ramline.clone())) }),
    ]
}

/// What qualifies runs, each with the arms and the number of runs it was written down for.
fn disturbed(page: &SeriesPage<'_>) -> Markup {
    let mut notes: Vec<(&str, Vec<&str>, u64)> = Vec::new();
    for arm in &page.table.arms {
        for note in runs_of(page, arm).flat_map(|run| &run.notes) {
            match notes.iter_mut().find(|(known, ..)| *known == note.as_str()) {
                Some((_, arms, n)) => {
                    *n += 1;
                    if !arms.contains(&arm.name.as_str()) {
                        arms.push(&arm.name);
                    }
                }
                None => notes.push((note, vec![&arm.name], 1)),
            }
        }
    }
    let rows: Vec<Vec<Markup>> = notes
        .iter()
        .map(|(note, arms, n)| {
            let which =
                if arms.len() == page.table.arms.len() && arms.len() > 1 { "all".to_owned() } else { arms.join(", ") };
            vec![html! { (note) }, html! { (which) }, html! { (count(*n)) }]
        })
        .collect();
    html! {
        h3 { "What disturbed, and what qualifies runs" }
        @if rows.is_empty() { p { "Nothing was noted in any run." } }
        @else { (table(&[text("Noted"), text("Settings"), text("Runs")], &rows)) }
    }
}

/// The parameters, as asked for.
fn asked(page: &SeriesPage<'_>) -> Markup {
    let mut all: BTreeMap<&str, String> = BTreeMap::new();
    for (name, values) in page.records.iter().flat_map(|run| &run.parameters) {
        all.entry(name).or_insert_with(|| values.join(", "));
    }
    let rows: Vec<(&str, Markup)> = all.iter().map(|(name, value)| (*name, html! { code { (value) } })).collect();
    html! { @if !rows.is_empty() { h3 { "Asked for" } (pairs(&rows)) } }
}
