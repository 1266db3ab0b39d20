//! A sheet as a part of the page: the same sentences and tables as on a terminal, with pictures, and details folded.
//!
//! What it is not: words or numbers of its own.
//!
//! Worked example: a sheet with the answer `Swap is empty.` gives `<section id="swap"><h2>Swap</h2><p class="lead">…`.

use maud::{Markup, html};

use super::draw::{self, Room, Span, fit, latencies, reaches, stack};
use super::format::{keep, size};
use super::parts::{commands, figure};
use crate::sheet::{Block, Fits, Reach, Sheet, Stack, Timed};
use crate::text::{Cell, Paint, Table};

/// A section: its heading, the answer, and the sheet below; nothing for an empty sheet.
pub fn topic(id: &str, heading: &str, sheet: &Sheet) -> Markup {
    html! {
        @if !sheet.is_empty() {
            section id=(id) { h2 { (heading) } (body(id, sheet)) }
        }
    }
}

/// The blocks, in order; points that follow each other are one list.
pub fn body(id: &str, sheet: &Sheet) -> Markup {
    let mut out = Vec::new();
    let mut points: Vec<Markup> = Vec::new();
    let mut pictures = 0;
    for block in sheet.blocks() {
        if let Block::Line { paint, label, text } = block
            && !label.trim().is_empty()
        {
            points.push(point(*paint, label, text));
            continue;
        }
        flush(&mut out, &mut points);
        pictures += 1;
        out.push(one(&format!("{id}-{pictures}"), block));
    }
    flush(&mut out, &mut points);
    html! { @for part in out { (part) } }
}

fn flush(out: &mut Vec<Markup>, points: &mut Vec<Markup>) {
    if !points.is_empty() {
        out.push(html! { ul.points { @for point in points.iter() { (point) } } });
        points.clear();
    }
}

/// A point: what hangs in front is a name where it has letters, a dot of the list where it has none.
fn point(paint: Paint, label: &str, text: &str) -> Markup {
    let name = label.trim().trim_end_matches(':');
    let names = name.chars().any(char::is_alphanumeric);
    html! { li class=[tone(paint)] { @if names { b { (name) } " " } (keep(text)) } }
}

/// The class of a colour; none for what is plain.
const fn tone(paint: Paint) -> Option<&'static str> {
    match paint {
        Paint::Good => Some("good"),
        Paint::Warn => Some("warn"),
        Paint::Bad => Some("bad"),
        Paint::Dim => Some("note"),
        Paint::Bold => Some("strong"),
        Paint::Plain | Paint::Blue | Paint::Magenta | Paint::Cyan => None,
    }
}

fn one(id: &str, block: &Block) -> Markup {
    match block {
        Block::Answer(paint, text) => html! { p.lead class=[tone(*paint)] { (keep(text)) } },
        Block::Heading(text) => html! { h3 { (keep(text)) } },
        Block::Line { paint, text, .. } => html! { p class=[tone(*paint)] { (keep(text)) } },
        Block::Commands { lines, .. } => commands(lines),
        Block::Table(table) => table_of(table),
        Block::Stack(stack) => stacked(id, stack),
        Block::Times(times) => timed(id, times),
        Block::Reaches(rows) => reached(id, rows),
        Block::Fits(fits) => fitted(id, fits),
        Block::Drawn(lines) => html! { div.scroll { pre.screen { @for line in lines { (line) br; } } } },
        // What comes next is below.
        Block::Gap | Block::Next(_) => html! {},
        Block::Card { paint, title, sheet } => html! {
            article class=(format!("finding {}", tone(*paint).unwrap_or("plain"))) { h3 { (keep(title)) } (body(id, sheet)) }
        },
        Block::More { title, sheet } => html! {
            details { summary { @if title.is_empty() { "What it rests on" } @else { (keep(title)) } } (body(id, sheet)) }
        },
    }
}

/// A table; on a narrow screen each row is a card, with the columns' names inside.
fn table_of(table: &Table) -> Markup {
    let shown = table.shown();
    let headed = shown.iter().any(|(_, column)| !column.head().is_empty());
    html! {
        div.scroll {
            table {
                @if headed {
                    thead { tr { @for (_, column) in &shown { th scope="col" .n[column.is_number()] { (column.head()) } } } }
                }
                tbody {
                    @for row in table.rows() {
                        tr {
                            @for (nth, (at, column)) in shown.iter().enumerate() {
                                @let cell = row.get(*at);
                                @if nth == 0 { th scope="row" class=[cell.and_then(|c| tone(c.paint()))] .n[column.is_number()] { (filled(cell, column.is_number())) } }
                                @else if cell.is_none_or(|cell| cell.text().is_empty()) { td.empty .n[column.is_number()] {} }
                                @else { td class=[cell.and_then(|c| tone(c.paint()))] .n[column.is_number()] data-label=[Some(column.head()).filter(|head| !head.is_empty())] { div { (filled(cell, column.is_number())) } } }
                            }
                        }
                    }
                }
            }
        }
    }
}

fn filled(cell: Option<&Cell>, number: bool) -> Markup {
    let Some(cell) = cell else { return html! {} };
    match cell.share() {
        Some(share) => draw::meter(share),
        None if number => html! { (cell.text().replace(' ', "\u{a0}")) },
        None => html! { (keep(cell.text())) },
    }
}

fn stacked(id: &str, whole: &Stack) -> Markup {
    let words: Vec<String> = whole.pieces.iter().map(|piece| format!("{} {}", piece.name, piece.size)).collect();
    figure(
        id,
        &whole.title,
        &format!("One bar for {}, cut into pieces: {}.", whole.title, words.join(", ")),
        &stack(&whole.pieces),
        &html! {
            ul.legend {
                @for piece in &whole.pieces { li { (draw::swatch(draw::fill(piece.tint))) " " (piece.name) " " b { (piece.size.replace(' ', "\u{a0}")) } @if !piece.note.is_empty() { " " span.note { (piece.note) } } } }
            }
        },
    )
}

fn timed(id: &str, times: &[Timed]) -> Markup {
    let spans: Vec<Span> =
        times.iter().map(|t| Span { name: t.name.clone(), value: t.value.clone(), p50: t.p50, p99: t.p99 }).collect();
    let Some(drawing) = latencies(&spans) else { return html! {} };
    let words: Vec<String> = times.iter().map(|t| format!("{} {}", t.name, t.value)).collect();
    figure(
        id,
        "Time of one access",
        &format!(
            "A dot at the median and a line to the 99th percentile, on a logarithmic scale: {}.",
            words.join(", ")
        ),
        &drawing,
        &html! { "Dot: median. Line: up to the 99th percentile. The scale is logarithmic." },
    )
}

fn reached(id: &str, rows: &[Reach]) -> Markup {
    let words: Vec<String> = rows.iter().map(|row| format!("{} {}", row.name, row.value)).collect();
    figure(
        id,
        "How much is in use",
        &format!("A bar for each, as long as the share in use: {}.", words.join(", ")),
        &reaches(rows),
        &html! {},
    )
}

fn fitted(id: &str, fits: &Fits) -> Markup {
    let longest = fits.limits.iter().map(|l| l.allows).chain([fits.need]).max().unwrap_or_default();
    let share = |bytes: ramline_units::Bytes| bytes.share_of(longest).unwrap_or(0.0);
    let rooms: Vec<Room> = fits
        .limits
        .iter()
        .map(|l| Room { name: l.name.clone(), value: l.value.clone(), share: share(l.allows), fits: l.fits })
        .collect();
    let words: Vec<String> = rooms.iter().map(|room| format!("{}: {}", room.name, room.value)).collect();
    figure(
        id,
        &format!("Whether {} fits", fits.name),
        &format!("A bar for each limit and a line at the need of {}: {}.", size(fits.need), words.join(", ")),
        &fit(&rooms, share(fits.need), &format!("needs {}", size(fits.need))),
        &html! {},
    )
}
