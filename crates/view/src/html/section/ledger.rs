//! Where the memory is: every byte of MemTotal on a line, with its owner and what it takes to free it.

use maud::{Markup, html};
use ramline_model::ledger::{Freeable, Ledger, Line};

use crate::html::draw::{self, Fill, Part, swatch};
use crate::html::format::{percent, size};
use crate::html::parts::{figure, number, remarks, section, table, text};
use crate::report::Drift;

/// The ways to be freed, in the order of the bar: cheapest first.
const WAYS: [(Freeable, Fill, &str); 4] = [
    (Freeable::Now, Fill::Now, "at once"),
    (Freeable::Partly, Fill::Partly, "in part"),
    (Freeable::AtCost, Fill::AtCost, "after a write"),
    (Freeable::No, Fill::No, "only by its owner"),
];

fn way(freeable: Freeable) -> (Fill, &'static str) {
    WAYS.iter()
        .find(|(id, ..)| *id == freeable)
        .map_or((Fill::Leftover, "not known"), |(_, fill, words)| (*fill, *words))
}

/// The lines with something on them, in the order of the bar: by way, then by size.
fn ordered(ledger: &Ledger) -> Vec<&Line> {
    let mut lines: Vec<&Line> = ledger.lines.iter().filter(|line| line.bytes.0 > 0).collect();
    lines.sort_by_key(|line| (WAYS.iter().position(|(id, ..)| *id == line.freeable), std::cmp::Reverse(line.bytes)));
    lines
}

/// The section.
pub fn ledger(ledger: &Ledger, drift: Option<&Drift>) -> Markup {
    let lines = ordered(ledger);
    let lead = html! {
        b { (size(ledger.total)) } " of memory (MemTotal), every byte on one line. "
        (size(ledger.sum(Freeable::Now))) " can be freed at once; "
        (size(ledger.sum(Freeable::No))) " only by its owner."
    };
    section(
        "ledger",
        "Where the memory is",
        &lead,
        &html! {
            (bar(ledger, &lines))
            (rows(ledger, &lines))
            p.note {
                "Sizes are gauges of one reading. The leftover is what drivers, pipes and sockets took straight from the page allocator, and what counters are late by: "
                "each of the " (ledger.counters) " per-CPU counters in these lines may hold back a little, at most " (size(ledger.bound)) " together."
                @if ledger.in_report.0 > 0 {
                    " Free memory is reported to the hypervisor here, up to " (size(ledger.in_report)) " at a time, which until it has answered is in no counter."
                }
                @if let Some(drift) = drift { " " (moved(drift)) }
            }
            @if !ledger.outside.is_empty() {
                h3 { "Outside MemTotal" }
                (table(&[text("What"), number("Size"), text("Why it is not counted")], &ledger.outside.iter().map(|outside| vec![
                    html! { (outside.label) }, html! { (size(outside.bytes)) }, html! { (outside.why) },
                ]).collect::<Vec<_>>()))
            }
            (remarks("Not shown by this kernel or to this user, so part of the leftover", &ledger.missing_terms))
        },
    )
}

fn bar(ledger: &Ledger, lines: &[&Line]) -> Markup {
    let share = |line: &Line| line.bytes.share_of(ledger.total).unwrap_or(0.0);
    let mut parts: Vec<Part> = (1..)
        .zip(lines)
        .map(|(number, line)| Part { number, share: share(line), fill: way(line.freeable).0 })
        .collect();
    let left = ledger.leftover.or_zero();
    parts.push(Part {
        number: lines.len() + 1,
        share: left.share_of(ledger.total).unwrap_or(0.0),
        fill: Fill::Leftover,
    });
    let words: Vec<String> = WAYS
        .iter()
        .map(|(id, _, words)| {
            let sum = ledger.sum(*id);
            format!("{} ({}) {words}", size(sum), percent(sum.share_of(ledger.total).unwrap_or(0.0)))
        })
        .collect();
    let told = words.join(", ");
    figure(
        "ledger-chart",
        "Memory by how it can be freed",
        &format!("One bar for MemTotal, cut into the lines of the table below, in its order: {told}."),
        &draw::stack(&parts, "0", &size(ledger.total)),
        &html! {
            ul.legend {
                @for ((_, fill, _), words) in WAYS.iter().zip(&words) { li { (swatch(*fill)) " " (words) } }
                li { (swatch(Fill::Leftover)) " " (ledger.leftover.to_string()) " leftover" }
            }
            "The numbers above the bar are those of the table."
        },
    )
}

fn rows(ledger: &Ledger, lines: &[&Line]) -> Markup {
    let columns = [
        text("What"),
        number("Size"),
        number("Share"),
        text("Whose"),
        text("Can be freed, by what"),
        text("At what cost"),
    ];
    let mut rows: Vec<Vec<Markup>> = Vec::new();
    for (number, line) in (1..).zip(lines) {
        rows.push(row(ledger, line, &what(number, way(line.freeable).0, &line.label)));
        let children = line.children.iter().filter(|child| child.bytes.0 > 0);
        rows.extend(children.map(|child| {
            row(
                ledger,
                child,
                &html! { div.of { "of which " (child.label) @if child.at_least.is_some() { ", at most" } } },
            )
        }));
    }
    let share = ledger.leftover_share.map_or_else(|| "not known".to_owned(), percent);
    rows.push(vec![
        what(lines.len() + 1, Fill::Leftover, "leftover"),
        html! { (ledger.leftover.to_string().replace(' ', "\u{a0}")) },
        html! { (share) },
        html! { "drivers, pipes, sockets, and counters that lag" },
        html! { "not known" },
        html! { "bound of the counters' error: " (size(ledger.bound)) },
    ]);
    table(&columns, &rows)
}

/// The first cell: the number in the bar, its fill, the name.
fn what(number: usize, fill: Fill, label: &str) -> Markup {
    html! { div.what { span { (number) } (swatch(fill)) span { (label) } } }
}

fn row(ledger: &Ledger, line: &Line, first: &Markup) -> Vec<Markup> {
    vec![
        first.clone(),
        html! { (size(line.bytes)) },
        html! { (line.bytes.share_of(ledger.total).map_or_else(|| "not known".to_owned(), percent)) },
        html! { (line.owner) },
        html! { b { (way(line.freeable).1) } ": " (line.by_what) },
        html! { (line.at_cost) },
    ]
}

fn moved(drift: &Drift) -> String {
    let span = crate::html::format::long(drift.span);
    format!(
        "Over the window of {span} no line moved by more than {}, the leftover by {}: closer numbers are not different.",
        size(drift.largest()),
        drift.leftover
    )
}
