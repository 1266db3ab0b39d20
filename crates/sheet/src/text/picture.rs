//! Pictures of a sheet on a terminal: one line of letters in colour, as wide as the terminal allows, and its pieces by name.
//!
//! Worked example: a quarter of cache and nothing else on 8 columns is `cc......`.

use super::{RowAt, Segment, Style, number, segments};
use crate::sheet::{Cell, Paint, Stack, Strip, Table, Tint};

/// The colour of a piece on a terminal.
#[must_use]
pub const fn paint(tint: Tint) -> Paint {
    match tint {
        Tint::Processes => Paint::Blue,
        Tint::Shared => Paint::Magenta,
        Tint::Locked => Paint::Bad,
        Tint::Compressed => Paint::Cyan,
        Tint::Kernel | Tint::Dirty | Tint::Swap => Paint::Warn,
        Tint::Cache => Paint::Good,
        Tint::Free => Paint::Dim,
    }
}

/// The bar of a whole, and a line for each piece; its rows are the pieces.
#[must_use]
pub fn stack(stack: &Stack, style: &Style) -> (String, Vec<RowAt>) {
    let table = Table::from_rows(&stack.pieces)
        .wrapped("", |piece| Cell::painted(paint(piece.tint), format!("{} {}", piece.letter, piece.name)))
        .right("", |piece| &piece.size)
        .right("", |piece| number::percent(piece.share))
        .wrapped("", |piece| Cell::painted(Paint::Dim, piece.note.as_str()));
    let (text, rows) = table.keyed(|piece| piece.name.clone()).drawn().draw_with_rows(style);
    let below = |row: RowAt| RowAt { lines: row.lines.start + 1..row.lines.end + 1, ..row };
    (format!("{}\n{text}", line(stack, style)), rows.into_iter().map(below).collect())
}

/// The bar alone. Free memory is dotted: what is left when all other pieces are drawn.
fn line(stack: &Stack, style: &Style) -> String {
    let used = || stack.pieces.iter().filter(|piece| piece.tint != Tint::Free);
    let parts: Vec<Segment> = used().map(|piece| Segment { letter: piece.letter, share: piece.share }).collect();
    let bar = segments(&parts, style.width.min(100));
    let tint_of = |letter: char| used().find(|piece| piece.letter == letter).map_or(Tint::Free, |piece| piece.tint);
    let mut out = String::new();
    let mut rest = bar.as_str();
    while let Some(letter) = rest.chars().next() {
        let end = rest.find(|c| c != letter).unwrap_or(rest.len());
        out.push_str(&style.paint(paint(tint_of(letter)), &rest[..end]));
        rest = &rest[end..];
    }
    out
}

/// Columns to the left of a strip.
const INDENT: usize = 2;
/// A strip has at least so many characters in a line.
const NARROWEST: usize = 8;

/// A strip, in as many lines as the terminal needs.
#[must_use]
pub fn strip(strip: &Strip, style: &Style) -> String {
    let letters: Vec<char> = strip.letters().chars().collect();
    let lines = letters.chunks(style.width.saturating_sub(INDENT).max(NARROWEST));
    lines.map(|line| format!("{}{}\n", " ".repeat(INDENT), line.iter().collect::<String>())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sheet::StackPiece;

    #[test]
    fn a_strip_is_cut_where_the_terminal_ends() {
        let parts = Strip { shares: [[1.0, 0.75, 0.5, 0.25, 0.01], [0.0; 5]].concat() };
        assert_eq!(strip(&parts, &Style { colour: false, width: 80 }), "  #++--.....\n");
        assert_eq!(strip(&parts, &Style { colour: false, width: 10 }), "  #++--...\n  ..\n");
        assert_eq!(strip(&Strip { shares: vec![f64::NAN, 2.0] }, &Style::default()), "  .#\n");
    }

    #[test]
    fn each_piece_has_its_letter_and_its_colour() {
        let piece = |letter, tint, share| StackPiece {
            letter,
            tint,
            name: String::new(),
            size: String::new(),
            share,
            note: String::new(),
        };
        let whole = Stack {
            title: String::new(),
            pieces: vec![piece('P', Tint::Processes, 0.5), piece('c', Tint::Cache, 0.25), piece('.', Tint::Free, 0.25)],
        };
        assert_eq!(line(&whole, &Style { colour: false, width: 8 }), "PPPPcc..");
        assert_eq!(
            line(&whole, &Style { colour: true, width: 8 }),
            "\u{1b}[34mPPPP\u{1b}[0m\u{1b}[32mcc\u{1b}[0m\u{1b}[2m..\u{1b}[0m"
        );
    }
}
