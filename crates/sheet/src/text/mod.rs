//! Text for a terminal: sheets as headings, wrapped sentences, tables, bars and curves of plain characters.
//!
//! Layout. Everything of a [`Sheet`](crate::sheet::Sheet) or a [`Table`] is escaped here, so that no topic can forget
//! it.
//!
//! ```
//! use ramline_sheet::{Depth, Sheet};
//! use ramline_sheet::text::Style;
//! let mut sheet = Sheet::new();
//! sheet.line("one two three four five");
//! assert_eq!(sheet.text(&Style { colour: false, width: 20 }, Depth::All), "one two three four\nfive\n");
//! ```

mod bar;
mod charts;
mod drawn;
pub mod name;
pub mod number;
mod page;
pub mod picture;
mod plain;
mod table;
mod trends;

pub use crate::sheet::{Cell, Column, Paint, Table};
pub use bar::{Segment, bar, beside, chart, segments};
pub use drawn::{CellAt, Drawn, RowAt, pieces};
pub use plain::plain;

use unicode_width::UnicodeWidthStr;

/// How to draw.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Style {
    /// With colours. Nothing is said by colour alone.
    pub colour: bool,
    /// Columns of the terminal; lines are kept below it where words allow.
    pub width: usize,
}

impl Default for Style {
    fn default() -> Self {
        Style { colour: false, width: 100 }
    }
}

impl Style {
    /// Colours a text that holds no control characters; unchanged without colour.
    #[must_use]
    pub fn paint(&self, paint: Paint, text: &str) -> String {
        let code = CODES.iter().find(|(of, _)| *of == paint).map(|(_, code)| *code);
        let Some(code) = code.filter(|_| self.colour) else { return text.to_owned() };
        format!("\u{1b}[{code}m{text}\u{1b}[0m")
    }
}

/// What each paint is to a terminal (ECMA-48, SGR).
const CODES: [(Paint, &str); 8] = [
    (Paint::Bold, "1"),
    (Paint::Dim, "2"),
    (Paint::Good, "32"),
    (Paint::Warn, "33"),
    (Paint::Bad, "31"),
    (Paint::Blue, "34"),
    (Paint::Magenta, "35"),
    (Paint::Cyan, "36"),
];

/// The paint of such a code; any other ends it.
fn painted(code: &str) -> Paint {
    CODES.iter().find(|(_, known)| *known == code).map_or(Paint::Plain, |(paint, _)| *paint)
}

/// Columns a text takes on a terminal; it must not hold colour codes.
#[must_use]
pub fn width(text: &str) -> usize {
    text.width()
}

/// No text has so many bytes a column: a word that has is cut like one that is too wide.
const LONGEST: usize = 64;

/// Breaks a text into lines of at most `columns`; a word longer than that is cut.
#[must_use]
pub fn wrap(text: &str, columns: usize) -> Vec<String> {
    let columns = columns.max(8);
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        let mut word = word;
        while let Some(last) = lines.last_mut() {
            let gap = usize::from(!last.is_empty());
            // A long word is not measured again and again while it is cut.
            let short = word.len() <= columns.saturating_mul(LONGEST);
            if short && width(last) + gap + width(word) <= columns {
                if gap == 1 {
                    last.push(' ');
                }
                last.push_str(word);
                break;
            }
            if !last.is_empty() {
                lines.push(String::new());
                continue;
            }
            let (head, rest) = word.split_at(cut(word, columns));
            last.push_str(head);
            lines.push(String::new());
            word = rest;
        }
    }
    if lines.len() > 1 && lines.last().is_some_and(String::is_empty) {
        lines.pop();
    }
    lines
}

/// Where to cut `word` so that at most `columns` stand before.
fn cut(word: &str, columns: usize) -> usize {
    let mut used = 0;
    let fits = |c: char, used: usize| used + width(c.encode_utf8(&mut [0; 4])) <= columns;
    for (index, c) in word.char_indices() {
        if !fits(c, used) {
            return index;
        }
        used += width(c.encode_utf8(&mut [0; 4]));
    }
    word.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_kept_whole_and_longer_ones_cut() {
        assert_eq!(wrap("a bb ccc", 8), ["a bb ccc"]);
        assert_eq!(wrap("aaaa bbbb cccc", 9), ["aaaa bbbb", "cccc"]);
        assert_eq!(wrap("abcdefghijklmnop", 8), ["abcdefgh", "ijklmnop"]);
        assert_eq!(wrap("", 8), [""]);
        assert_eq!(wrap(&"a".repeat(1 << 20), 8).len(), 1 << 17);
    }

    #[test]
    fn width_is_that_of_the_terminal_not_of_the_bytes() {
        assert_eq!(wrap("メモリメモリ", 8), ["メモリメ", "モリ"]);
        assert_eq!((width("größe"), width("メモリ")), (5, 6));
    }

    #[test]
    fn colour_is_an_addition_and_never_the_text() {
        let plain = Style::default();
        let colour = Style { colour: true, ..plain };
        assert_eq!(plain.paint(Paint::Bad, "stalls"), "stalls");
        assert_eq!(colour.paint(Paint::Bad, "stalls"), "\u{1b}[31mstalls\u{1b}[0m");
        assert_eq!(colour.paint(Paint::Plain, "x"), "x");
    }
}
