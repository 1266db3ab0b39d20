//! What a series rests on: the machines, how it is done, what was asked for, what disturbed.

use std::collections::BTreeMap;

use ramline_evidence::{RunMachine, RunNote};

use crate::prelude::*;

/// The sheet; `how` is how the experiment is done.
#[must_use]
pub fn conditions(table: &SeriesTable, records: &[RunRecord], how: &str) -> Sheet {
    let mut sheet = Sheet::new();
    sheet.table(facts(records));
    sheet.heading("What disturbed, and what qualifies runs");
    let noted = noted(table, records);
    if noted.is_empty() {
        sheet.line("Nothing was noted in any run.");
    } else {
        sheet.table(noted);
    }
    if !how.is_empty() {
        sheet.heading("How it is done");
        sheet.line(how);
    }
    sheet.headed_table("Asked for", asked(records));
    sheet
}

/// Each value once, in the order in which they came.
fn each(records: &[RunRecord], of: impl Fn(&RunRecord) -> String) -> String {
    let all = crate::once::once(records.iter().map(of).filter(|value| !value.is_empty()));
    if all.is_empty() { "not recorded".to_owned() } else { all.join("; ") }
}

fn facts(records: &[RunRecord]) -> Table {
    let of = |what: fn(&RunMachine) -> String| each(records, |record| what(&record.machine));
    let groups = of(|machine| match machine.cgroup_version {
        0 => String::new(),
        version => format!("version {version}"),
    });
    let scratch = of(|machine| {
        let disk = machine.scratch_disk.as_ref().map(|disk| format!(" on {disk}")).unwrap_or_default();
        if machine.scratch_fs.is_empty() { String::new() } else { format!("{}{disk}", machine.scratch_fs) }
    });
    let lists = of(|machine| machine.lru.map_or("", ramline_evidence::Lru::word).to_owned());
    let processor = each(records, |run| if run.emulated { "emulated" } else { "this machine's own" }.to_owned());
    let began = records.iter().filter_map(RunRecord::started);
    let at = |began: Option<ramline_units::Nanos>| began.map_or_else(|| "not recorded".to_owned(), |at| date(at.0));
    let first_and_last = format!("{}, {}", at(began.clone().min()), at(began.max()));
    let rows = [
        ("Kernel", of(|machine| machine.kernel.clone())),
        ("CPUs, memory", of(|machine| format!("{} CPUs, {}", machine.cpus, machine.mem_total))),
        ("Page lists", lists),
        ("Pages of", of(|machine| ramline_units::Bytes(machine.page_size).to_string())),
        ("Sandbox", each(records, |run| run.sandbox.clone())),
        ("Processor", processor),
        ("Control groups", groups),
        ("Scratch place", scratch),
        ("First and last run began", first_and_last),
        ("Made by", of(|machine| format!("ramline {}", machine.ramline))),
    ];
    Table::pairs(rows)
}

/// What qualifies runs, each with the settings and the number of runs it was written down for.
fn noted(table: &SeriesTable, records: &[RunRecord]) -> Table {
    let which = |noted: &RunNote<'_>| {
        let all = noted.arms.len() == table.arms.len() && noted.arms.len() > 1;
        if all { "all".to_owned() } else { noted.arms.join(", ") }
    };
    let noted = table.noted(records);
    Table::from_rows(&noted)
        .wrapped("noted", |it| it.note)
        .wrapped("settings", which)
        .right("runs", |it| it.runs)
        .drawn()
}

/// The parameters, as asked for.
fn asked(records: &[RunRecord]) -> Table {
    let mut all: BTreeMap<&str, String> = BTreeMap::new();
    for (name, values) in records.iter().flat_map(|run| &run.parameters) {
        all.entry(name).or_insert_with(|| values.join(", "));
    }
    Table::from_rows(&all).left("option", |(name, _)| *name).wrapped("value", |(_, value)| value).drawn()
}
