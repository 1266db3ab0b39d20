//! File systems in RAM, and whether a directory would fit into one: four models and the inodes, with margins.

use maud::{Markup, html};
use ramline_model::tmpfs::{Fit, Margin, Model, TmpfsMount, TmpfsState};
use ramline_units::Bytes;

use crate::html::draw::{Bar, Fill, Room, bars, fit};
use crate::html::format::{count, percent, size};
use crate::html::parts::{figure, number, or_unknown, section, table, tag, text};

/// Mounts drawn at most; the table lists all.
const DRAWN: usize = 8;

/// The section; nothing where nothing was seen.
pub fn tmpfs(state: Option<&TmpfsState>, fits: &[Fit]) -> Markup {
    if state.is_none() && fits.is_empty() {
        return html! {};
    }
    let lead = html! {
        @match state {
            Some(state) => {
                b { (size(state.used)) } " in file systems in RAM, which may hold " (size(state.limits)) " together"
                @if let Some(over) = state.limits_over_ram { ", " (percent(over)) " of RAM" } "."
                @if let Some(elsewhere) = state.elsewhere {
                    " Shared memory in no visible mount: " (elsewhere.to_string()) @if elsewhere.is_negative() { " (part of it is on swap)" } "."
                }
            }
            None => "The mounts were not seen.",
        }
    };
    section(
        "tmpfs",
        "Files in RAM",
        &lead,
        &html! {
            @if let Some(state) = state { (mounts(state)) }
            @for (number, fit) in (1..).zip(fits) { (would_fit(number, fit)) }
        },
    )
}

fn mounts(state: &TmpfsState) -> Markup {
    let mut fullest: Vec<&TmpfsMount> = state.mounts.iter().filter(|mount| mount.share.is_some()).collect();
    fullest.sort_by_key(|mount| std::cmp::Reverse(mount.used));
    fullest.truncate(DRAWN);
    let drawn: Vec<Bar> = fullest
        .iter()
        .map(|mount| Bar {
            name: mount.at.clone(),
            value: format!("{} · {}", or_nothing(mount.used), percent(mount.share.unwrap_or(0.0))),
            share: mount.share.unwrap_or(0.0),
            fill: Fill::AtCost,
            interval: None,
            open: false,
        })
        .collect();
    let told: Vec<String> = drawn.iter().map(|bar| format!("{} {}", bar.name, bar.value.replace('·', "="))).collect();
    html! {
        @if !drawn.is_empty() {
            (figure("tmpfs-chart", "How full each file system in RAM is", &format!("A bar for each mount, as long as its share in use: {}.", told.join(", ")),
                &bars(&drawn), &html! { "What the fullest hold, as a share of what each may hold: " (told.join("; ")) "." }))
        }
        @if !state.mounts.is_empty() {
            (table(&[text("Mounted at"), text("Kind"), number("Used"), number("May hold"), number("Of RAM"), number("Inodes used"), text("Can go to swap")],
                &state.mounts.iter().map(mount_row).collect::<Vec<_>>()))
        }
        @let quotas: Vec<Vec<Markup>> = state.mounts.iter().flat_map(quota_rows).collect();
        @if !quotas.is_empty() {
            (table(&[text("Quota on"), text("Of"), number("Used"), number("Allowed"), number("Inodes used")], &quotas))
            p.note { "At its quota a user's writes fail with \"Disk quota exceeded\", whatever room df shows." }
        }
    }
}

fn or_nothing(bytes: Option<Bytes>) -> String {
    bytes.map_or_else(|| "not known".to_owned(), size)
}

fn mount_row(mount: &TmpfsMount) -> Vec<Markup> {
    vec![
        html! { code { (mount.at) } @if !mount.also_at.is_empty() { " (also " (mount.also_at.join(", ")) ")" } },
        html! { (mount.fs) },
        or_unknown(mount.used.map(size)),
        or_unknown(mount.size.map(|limit| limit.to_string())),
        or_unknown(mount.share_of_ram.map(percent)),
        or_unknown(mount.inode_share.map(percent)),
        html! { @if mount.swappable { "yes" } @else { "no" } },
    ]
}

fn quota_rows(mount: &TmpfsMount) -> Vec<Vec<Markup>> {
    let uses = mount.quotas.iter().flat_map(|quotas| &quotas.uses);
    uses.map(|it| {
        vec![
            html! { code { (mount.at) } },
            html! { (it.who()) },
            html! { (size(it.quota.used)) @if let Some(share) = it.share { " (" (percent(share)) ")" } },
            html! { (it.quota.limit.map_or_else(|| "no limit".to_owned(), size)) },
            or_unknown(it.inode_share.map(percent)),
        ]
    })
    .collect()
}

const fn model(model: Model) -> (&'static str, &'static str) {
    match model {
        Model::HalfOfRam => ("half of RAM", "what tmpfs allows by default"),
        Model::Mount => ("its own tmpfs", "its own bytes and what is free there"),
        Model::Quota => ("a user's quota", "what the user or group with least room has left there"),
        Model::HalfOfFree => ("half of free memory", "nothing else has to move"),
        Model::Available => ("available memory", "clean cache gives way"),
        Model::FreePlusSwap => ("free memory and swap", "everything there is"),
        Model::Inodes => ("inodes", "by default one for every two pages of RAM; on tmpfs already, what its mount has"),
    }
}

fn margin(margin: &Margin) -> String {
    let size = size(margin.margin.magnitude());
    if margin.margin.is_negative() { format!("lacks {size}") } else { format!("{size} to spare") }
}

fn would_fit(number_of: usize, it: &Fit) -> Markup {
    let longest =
        it.margins.iter().map(|m| m.limit).chain([it.need]).max().unwrap_or_default().as_f64().max(1.0) * 1.02;
    let rooms: Vec<Room> = it
        .margins
        .iter()
        .map(|m| Room {
            name: model(m.model).0.to_owned(),
            value: margin(m),
            share: m.limit.as_f64() / longest,
            fits: !m.margin.is_negative(),
        })
        .collect();
    let at_least = if it.lower_bound { "at least " } else { "" };
    let told: Vec<String> =
        it.margins.iter().map(|m| format!("{} ({}): {}", model(m.model).0, size(m.limit), margin(m))).collect();
    let heading = if it.already_tmpfs { "is in RAM already" } else { "in RAM?" };
    let mut rows: Vec<Vec<Markup>> = it
        .margins
        .iter()
        .map(|m| {
            vec![
                html! { (model(m.model).0) },
                html! { (size(m.limit)) },
                html! { (margin(m)) },
                html! { (model(m.model).1) },
            ]
        })
        .collect();
    rows.push(vec![
        html! { "inodes" },
        html! { @if it.inode_limit == u64::MAX { "no limit" } @else { (count(it.inode_limit)) } },
        html! { @if it.inode_limit == u64::MAX { "no limit" } @else if it.inode_margin < 0 { "lacks " (count(it.inode_margin.unsigned_abs())) } @else { (count(it.inode_margin.unsigned_abs())) " to spare" } },
        html! { (model(Model::Inodes).1) "; needs " (count(it.inodes)) },
    ]);
    html! {
        h3 { code { (it.path) } " " (heading) " " @if it.fits { (tag("good", "fits")) } @else { (tag("warn", "does not fit")) } }
        p { "It needs " (at_least) b { (size(it.need)) } " and " (count(it.inodes)) " inodes." @if let Some(first) = it.breaks_first { " As it grows, " (model(first).0) " is the first to break." } @else { " That is far from every limit." }
            @if let Some(cached) = it.cached.filter(|_| !it.already_tmpfs) { " " (size(cached)) " of it is in the page cache already: moving that needs no further RAM, but it can then no longer be dropped (without swap it stays). The models below credit no cache." }
            @if it.lower_bound { " The walk was cut short or refused in places." } }
        @if !rooms.is_empty() {
            (figure(&format!("fit-chart-{number_of}"), &format!("Whether {} fits", it.path),
                &format!("A bar for each limit and a line at the need of {}: {}.", size(it.need), told.join(", ")),
                &fit(&rooms, it.need.as_f64() / longest, &format!("needs {}", size(it.need))),
                &html! { "The line is the need, " (at_least) (size(it.need)) "; a bar that reaches it has room: " (told.join("; ")) "." }))
        }
        (table(&[text("Model"), number("Allows"), number("Margin"), text("What it means")], &rows))
        @if let Some(out) = it.pushed_out {
            p.note { "Filled, it would push out " (size(out.cache)) " of clean cache and " (size(out.swap)) " to swap; " (size(out.nowhere)) " would have no place to go." }
        }
    }
}
