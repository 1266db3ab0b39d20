//! Who owns what is in swap, and what it costs in RAM: a part of `show swap` and of `show zram`.

use ramline_model::processes::Spread;
use ramline_model::swapped::{CostBy, OwnedArea, OwnedIn, SwapOwner, SwapOwners};

use crate::prelude::*;

/// A name is given so much room, and broken where there is not more.
const NAME: usize = 28;

/// The tables of owners, and how their costs are known.
pub(super) fn owners(sheet: &mut Sheet, owners: &SwapOwners, top: Option<usize>) {
    let most = top.unwrap_or(usize::MAX);
    let several = owners.is_in_several_areas();
    if !owners.processes.is_empty() {
        sheet.heading("Whose pages are in swap (now), and what they cost in RAM");
        sheet.table(table(&owners.processes, most, several, "process"));
        more_rows(sheet, owners.processes.len(), most);
    }
    rest(sheet, owners);
    how(sheet, owners);
    if owners.groups.len() > 1 || owners.groups.iter().any(|group| group.processes > 1) {
        sheet.more("The same by control group, what its processes share counted once", |more| {
            more.table(table(&owners.groups, most, several, "control group"));
            more_rows(more, owners.groups.len(), most);
        });
    }
}

fn more_rows(sheet: &mut Sheet, all: usize, most: usize) {
    let beyond = number::beyond(all, most);
    sheet.dim((beyond > 0).then(|| format!("{} more; try: --top N", number::count(beyond))));
}

fn table<'a>(owners: &'a [SwapOwner], most: usize, several: bool, what: &str) -> Table<&'a SwapOwner> {
    let costs = |owner: &SwapOwner| number::known(owner.costs.map(|costs| costs.value));
    let bound = |owner: &SwapOwner| owner.costs.map(bounds);
    let places = move |owner: &SwapOwner| {
        let words = |area: &OwnedIn| format!("{} {}", area.path, area.swapped);
        several.then(|| owner.areas.iter().map(words).collect::<Vec<_>>().join(", "))
    };
    let pid = |owner: &SwapOwner| owner.pid.map(|pid| pid.to_string());
    Table::from_rows(owners.iter().take(most))
        .column(Column::name(what).at_least(NAME), |owner| &owner.name)
        .right("pid", pid)
        .right("in swap", |owner| owner.swapped)
        .right("costs in RAM", costs)
        .left("at least, at most", bound)
        .right("incompressible", SwapOwner::incompressible)
        .right("cold (1 h)", SwapOwner::cold)
        .wrapped("where", places)
}

fn bounds(costs: Spread) -> String {
    if costs.low == costs.high { "exactly".to_owned() } else { format!("{} to {}", costs.low, costs.high) }
}

/// What no process in the table has.
fn rest(sheet: &mut Sheet, owners: &SwapOwners) {
    for area in owners.areas.iter().filter(|area| area.rest.0 > 0 && area.by.is_some()) {
        sheet.line(format!(
            "{} of {} in {} belong to no process above: shared memory, pages that are in RAM as well, or processes not looked at.",
            area.rest, area.used, area.path
        ));
    }
    let shared = owners.shared_memory.filter(|bytes| bytes.0 > 0);
    sheet.line(
        shared
            .map(|bytes| format!("{bytes} in swap are shared memory: tmpfs files, segments; try: ramline show tmpfs")),
    );
    sheet.line(owners.denied().map(|bytes| {
        format!("{bytes} in swap belong to processes of other users, so only bounds of their cost are known; try: sudo ramline show swap")
    }));
    let late = (owners.left_out.0 > 0).then_some(owners.left_out);
    sheet.line(late.map(|bytes| format!("{bytes} were not looked up in time; try: ramline show swap --budget 30s")));
}

/// By which method each area's costs are known, and with which bound.
fn how(sheet: &mut Sheet, owners: &SwapOwners) {
    for area in &owners.areas {
        sheet.dim(area.by.and_then(method).map(|words| format!("{}: {words}", area.path)));
        sheet.dim(area.without_sample.as_ref().map(|why| format!("{}: no sample of some owners: {why}.", area.path)));
    }
}

const fn method(by: CostBy) -> Option<&'static str> {
    match by {
        CostBy::Disk | CostBy::Unplaced => None,
        CostBy::ListAndSample => Some(
            "incompressible pages counted from zram's list of slots, the others from a sample that was compressed again; bounds: two standard errors and 3 %.",
        ),
        CostBy::List => Some(
            "incompressible pages counted from zram's list of slots, the others at the pool's average; the bounds hold whatever they are.",
        ),
        CostBy::Sample => {
            Some("by a sample of each owner's pages, read and compressed again; bounds: two standard errors and 3 %.")
        }
        CostBy::Average => Some(
            "at the pool's average, whatever the pages are; the bounds hold in any case. Nearer: sudo ramline show swap --sample",
        ),
    }
}

/// Ages of the pages of a zram device, and cold ones that stand in the way of warm ones.
pub(super) fn ages(sheet: &mut Sheet, area: &OwnedArea) {
    if let (Some(cold), Some(warmer)) = (area.cold, area.warmer_on_disk) {
        sheet.warn(format!(
            "{cold} in {} were not touched for an hour, and {warmer} that were swapped out after it was full went to a slower area.",
            area.path
        ));
    }
    let Some(state) = &area.state else {
        sheet.more(&format!("Ages of the pages in {}", area.path), |more| {
            more.dim(area.without_state.as_ref().map(|why| format!("Not known: {why}.")));
        });
        return;
    };
    sheet.line(
        area.idle.map(|idle| format!("{idle} in {} are marked idle: not touched since they were marked.", area.path)),
    );
    if state.has_ages() {
        const NAMES: [&str; 6] = ["1 minute", "10 minutes", "1 hour", "6 hours", "1 day", "longer"];
        let rows: Vec<(&str, u64)> = NAMES.into_iter().zip(state.ages).collect();
        sheet.more(&format!("Time since the last access of the pages in {}", area.path), |more| {
            let table = Table::from_rows(rows.iter()).left("up to", |row| row.0);
            more.table(table.right("pages", |row| number::count(row.1)).indented(2));
        });
    } else {
        sheet.dim(format!("{} keeps no times of access (CONFIG_ZRAM_TRACK_ENTRY_ACTIME).", area.path));
    }
}
