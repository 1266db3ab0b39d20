//! The parts every section is made of: a section with its heading, a table that becomes cards on a narrow screen, a
//! figure with its caption, commands.
//!
//! What it is not: a place for numbers. Escaping of markup is maud's; control and direction-changing characters are
//! written out for the whole page at once, line breaks too: one in a name must not look like a second command.
//!
//! ```text
//! table(&[text("Owner"), number("Size")], vec![vec![html! { "files" }, html! { "1.0 GiB" }]])
//! ```

use maud::{Markup, html};

use super::draw::Drawing;

/// A section with its anchor, heading and one sentence that sums it up.
pub fn section(id: &str, heading: &str, lead: &Markup, body: &Markup) -> Markup {
    html! {
        section id=(id) {
            h2 { (heading) }
            p.lead { (lead) }
            (body)
        }
    }
}

/// A column of a table.
#[derive(Debug, Clone, Copy)]
pub struct Column<'a> {
    name: &'a str,
    number: bool,
}

/// A column of text.
pub const fn text(name: &str) -> Column<'_> {
    Column { name, number: false }
}

/// A column of numbers: aligned right, digits of one width.
pub const fn number(name: &str) -> Column<'_> {
    Column { name, number: true }
}

/// A table; the first cell of a row names it. On a narrow screen each row is a card, with the columns' names inside.
pub fn table(columns: &[Column<'_>], rows: &[Vec<Markup>]) -> Markup {
    html! {
        div.scroll {
            table {
                thead { tr { @for column in columns { th scope="col" .n[column.number] { (column.name) } } } }
                tbody {
                    @for row in rows {
                        tr {
                            @for (at, (cell, column)) in row.iter().zip(columns).enumerate() {
                                @if at == 0 { th scope="row" .n[column.number] { (cell) } }
                                @else { td .n[column.number] data-label=(column.name) { div { (cell) } } }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// The few numbers to remember, below the headline: name, value, note.
pub fn facts(facts: &[(&str, String, String)]) -> Markup {
    html! {
        @if !facts.is_empty() {
            dl.facts { @for (name, value, note) in facts { div { dt { (name) } dd { b { (value) } span { (note) } } } } }
        }
    }
}

/// Names with their values, one below the other.
pub fn pairs(rows: &[(&str, Markup)]) -> Markup {
    html! { dl.pairs { @for (name, value) in rows { dt { (name) } dd { (value) } } } }
}

/// A drawing in a figure, with the same in words below it.
pub fn figure(id: &str, title: &str, description: &str, drawing: &Drawing, caption: &Markup) -> Markup {
    let (title_id, description_id) = (format!("{id}-title"), format!("{id}-desc"));
    html! {
        figure id=(id) {
            svg role="img" width="100%" height=(drawing.height) aria-labelledby=(title_id) aria-describedby=(description_id) {
                title id=(title_id) { (title) }
                desc id=(description_id) { (description) }
                (drawing.marks)
            }
            @if !caption.0.is_empty() { figcaption { (caption) } }
        }
    }
}

/// Commands, one a line, to be copied.
pub fn commands(lines: &[String]) -> Markup {
    html! {
        pre { code { @for (at, line) in lines.iter().enumerate() { @if at > 0 { br; } (line) } } }
    }
}

/// A short text in a frame: a state, a degree.
pub fn tag(kind: &str, words: &str) -> Markup {
    html! { span class=(format!("tag {kind}")) { (words) } }
}

/// Remarks: in one line when there are few, as a list when there are many; nothing when there are none.
pub fn remarks(heading: &str, lines: &[String]) -> Markup {
    html! {
        @match lines {
            [] => {}
            [one] => { p.remarks { b { (heading) ": " } (one) "." } }
            many => {
                p.remarks { b { (heading) } }
                ul.remarks { @for line in many { li { (line) } } }
            }
        }
    }
}

/// What is shown where a value is absent: absent is not zero.
pub fn or_unknown(value: Option<String>) -> Markup {
    html! { @match value { Some(text) => { (text) }, None => { span.absent { "not known" } } } }
}
