//! What every page is: the policy, the style, the list of contents, the foot.
//!
//! Names from the machine are escaped by maud as markup; what steers a terminal or turns text round is written out
//! here, in the whole page at once, so that no section can forget to.
//!
//! Worked example: a section `("ledger", "Memory", …)` is linked to from the contents by `#ledger`.

use std::io::Read;

use flate2::read::DeflateDecoder;
use maud::{DOCTYPE, Markup, html};

use super::draw;
use crate::escape;

/// assets/report.css, packed (build.rs).
const STYLE: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/report.css.deflate"));

/// Nothing may be loaded or run; style stands in the page.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; img-src data:";

/// A part of a page that the contents lead to.
pub struct Section {
    /// Its anchor, which the body has as id.
    pub id: &'static str,
    /// Its name among the contents.
    pub name: &'static str,
    /// The part.
    pub body: Markup,
}

/// A page.
pub struct Shell<'a> {
    /// In the window's title.
    pub title: String,
    /// Headline and what stands with it.
    pub header: Markup,
    /// What stands before the sections.
    pub before: Markup,
    /// The sections.
    pub sections: Vec<Section>,
    /// The version that made it.
    pub ramline: &'a str,
}

/// The page as text.
pub fn whole(shell: &Shell<'_>) -> String {
    // Sections write no line breaks: those there are stand in names, and are written out like all that steers a
    // terminal or turns text round. The first style element is ours: in a name it would be escaped.
    let page = document(shell).into_string();
    escape(&page).replacen("<style></style>", &format!("<style>{}</style>", style()), 1)
}

/// What was packed when this was built.
fn style() -> String {
    let mut text = String::new();
    DeflateDecoder::new(STYLE).read_to_string(&mut text).ok().map(|_| text).unwrap_or_default()
}

fn document(shell: &Shell<'_>) -> Markup {
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta http-equiv="Content-Security-Policy" content=(POLICY);
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                meta name="referrer" content="no-referrer";
                title { (shell.title) }
                style {}
            }
            body {
                (draw::patterns())
                header { (shell.header) }
                nav aria-label="Contents" { ul { @for section in &shell.sections { li { a href=(format!("#{}", section.id)) { (section.name) } } } } }
                main {
                    (shell.before)
                    @for section in &shell.sections { (section.body) }
                }
                footer { p { "Made by ramline " (shell.ramline) ". This file is complete: it loads nothing, runs nothing and sends nothing." } }
            }
        }
    }
}
