//! A sheet as a part of the page: the same sentences and tables as on a terminal, with pictures, and details folded.
//!
//! Worked example: a sheet with the answer `Swap is empty.` gives `<section id="swap"><h2>Swap</h2><p class="lead">…`.

use maud::{Markup, html};

use super::charts;
use super::draw::{self, latencies, stack};
use super::parts::{commands, figure};
use crate::format::keep;
use crate::sheet::{Block, Sheet, Stack, Timed};
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
    let (mut points, mut folds): (Vec<Markup>, Vec<Markup>) = (Vec::new(), Vec::new());
    for (nth, block) in sheet.blocks().iter().enumerate() {
        let drawn = || one(&format!("{id}-{nth}"), block);
        match block {
            Block::Line { paint, label, text } if !label.trim().is_empty() => {
                flush(&mut out, &mut folds, |all| html! { div.folds { (all) } });
                points.push(point(*paint, label, text));
            }
            Block::More { .. } => {
                flush(&mut out, &mut points, |all| html! { ul.points { (all) } });
                folds.push(drawn());
            }
            _ => {
                flush(&mut out, &mut points, |all| html! { ul.points { (all) } });
                flush(&mut out, &mut folds, |all| html! { div.folds { (all) } });
                out.push(drawn());
            }
        }
    }
    flush(&mut out, &mut points, |all| html! { ul.points { (all) } });
    flush(&mut out, &mut folds, |all| html! { div.folds { (all) } });
    html! { @for part in out { (part) } }
}

/// What follows each other and is alike, in one place.
fn flush(out: &mut Vec<Markup>, alike: &mut Vec<Markup>, place: impl Fn(Markup) -> Markup) {
    if !alike.is_empty() {
        let all = std::mem::take(alike);
        out.push(place(html! { @for one in all { (one) } }));
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
        // What comes next is below.
        Block::Gap | Block::Next(_) => html! {},
        Block::Card { paint, title, sheet } => html! {
            article class=(format!("finding {}", tone(*paint).unwrap_or("plain"))) { h3 { (keep(title)) } (body(id, sheet)) }
        },
        Block::Strip(strip) => html! { div.scroll { pre.screen { (strip.letters()) } } },
        Block::More { title, sheet } => html! {
            details { summary { @if title.is_empty() { "What it rests on" } @else { (keep(title)) } } (body(id, sheet)) }
        },
        // What is folded is there to be opened, and nothing is left out.
        Block::Ask(_) | Block::LeftOut(_) => html! {},
        Block::Aside { text, .. } => html! { p.note { (keep(text)) } },
        Block::Digest { short, title, full } => html! {
            (body(id, short))
            details { summary { (keep(title)) } (body(&format!("{id}-full"), full)) }
        },
        Block::Bars(bars) => charts::bars(id, bars),
        Block::Panels(panels) => charts::panels(id, panels),
        // The moments are those of a live screen.
        Block::Trends(trends) => {
            table_of(&Table::pairs(trends.iter().map(|trend| (trend.name.as_str(), trend.value.as_str()))).drawn())
        }
    }
}

/// A table; on a narrow screen each row is a card, with the columns' names inside.
fn table_of(table: &Table) -> Markup {
    let shown = table.shown();
    let headed = shown.iter().any(|(_, column)| !column.head.is_empty());
    html! {
        div.scroll {
            table {
                @if headed {
                    thead { tr { @for (_, column) in &shown { th scope="col" class=[class(None, column.right)] { (column.head) } } } }
                }
                tbody {
                    @for row in &table.rows {
                        tr {
                            @for (nth, (at, column)) in shown.iter().enumerate() {
                                @let cell = row.get(*at);
                                @let class = class(cell, column.right);
                                @if nth == 0 { th scope="row" class=[class] { (filled(cell, column.right)) } }
                                @else if cell.is_none_or(|cell| cell.text.is_empty()) { td.empty {} }
                                @else { td class=[class] data-label=[Some(&column.head).filter(|head| !head.is_empty())] { div { (filled(cell, column.right)) } } }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// The classes of a cell: numbers stand to the right, and a colour says how it is meant. Of two attributes a browser takes the first.
fn class(cell: Option<&Cell>, number: bool) -> Option<String> {
    let tone = cell.and_then(|cell| tone(cell.paint));
    let all: Vec<&str> = number.then_some("n").into_iter().chain(tone).collect();
    Some(all.join(" ")).filter(|all| !all.is_empty())
}

fn filled(cell: Option<&Cell>, number: bool) -> Markup {
    let Some(cell) = cell else { return html! {} };
    match cell.share {
        Some(share) => draw::meter(share),
        None if number => html! { (cell.text.replace(' ', "\u{a0}")) },
        None => html! { (draw::indent(cell.depth)) (keep(&cell.text)) },
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
    let Some(drawing) = latencies(times) else { return html! {} };
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sheet::Strip;
    use crate::text::Column;

    #[test]
    fn a_cell_has_its_colour_and_its_side_in_one_attribute() {
        let mut table = Table::new(vec![Column::wrapped("setting"), Column::right("n"), Column::right("rest")]);
        table.row(["a".into(), Cell::painted(Paint::Warn, "1"), "".into()]);
        table.row(["b".into(), "2".into(), "3".into()]);
        let drawn = table_of(&table).0;
        assert!(drawn.contains(r#"<td class="n warn" data-label="n">"#), "{drawn}");
        assert!(drawn.contains(r#"<td class="empty"></td>"#) && drawn.contains(r#"<th scope="row">a</th>"#), "{drawn}");
        assert!(!drawn.contains(r#"class="""#), "{drawn}");
    }

    #[test]
    fn a_tree_is_indented_and_what_is_said_in_full_is_folded() {
        let mut tree = Table::new(vec![Column::name("group"), Column::right("charged")]);
        tree.row([Cell::from("/"), "2.0 GiB".into()]);
        tree.row([Cell::from("a").at_depth(2), "1.0 GiB".into()]);
        let mut short = Sheet::new();
        short.table(tree);
        let mut sheet = Sheet::new();
        sheet.digest(short, "Why?", |full| full.line("because"));
        sheet.aside(1, "an aside of any length");
        sheet.ask("--more");
        let page = body("x", &sheet).into_string();
        assert!(page.contains("\u{a0}\u{a0}\u{a0}\u{a0}a<") && page.contains(">/<"), "{page}");
        assert!(page.contains("<summary>Why?</summary><p>because</p></details>"), "{page}");
        assert!(page.contains("<p class=\"note\">an aside of any length</p>") && !page.contains("--more"), "{page}");
    }

    #[test]
    fn a_strip_is_one_line_that_can_be_scrolled() {
        let mut sheet = Sheet::new();
        sheet.push(Block::Strip(Strip { shares: vec![1.0, 0.0, 0.5] }));
        assert_eq!(body("x", &sheet).0, r#"<div class="scroll"><pre class="screen">#.+</pre></div>"#);
    }
}
