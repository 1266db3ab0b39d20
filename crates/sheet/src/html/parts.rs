//! The parts that pages share beside their sheets: the numbers to remember, a figure with its caption, commands.
//!
//! Escaping of markup is maud's; control and direction-changing characters are written out for the whole page at once,
//! line breaks too: one in a name must not look like a second command.
//!
//! Worked example: `facts(&[("Memory", "2.0 GiB".into(), "MemTotal".into())])` is one tile below the headline.

use maud::{Markup, html};

use super::draw::Drawing;

/// The few numbers to remember, below the headline: name, value, note.
pub fn facts(facts: &[(&str, String, String)]) -> Markup {
    html! {
        @if !facts.is_empty() {
            dl.facts { @for (name, value, note) in facts { div { dt { (name) } dd { b { (value) } span { (note) } } } } }
        }
    }
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
