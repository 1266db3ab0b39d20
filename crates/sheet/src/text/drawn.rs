//! A sheet drawn for a screen that is looked at row by row: its text, and where in it the rows of its tables stand.
//!
//! What it is not: a screen. What is selected and how far it is scrolled is the live renderer's.
//!
//! Worked example: of a table `area size` with the row `swap 2.0 GiB` the row stands on line 1, its cell under `size` in columns 6 to 13.

use std::ops::Range;
use std::rc::Rc;

use crate::sheet::Paint;

/// A cell of a row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CellAt {
    /// The head of its column.
    pub head: String,
    /// Its columns on the terminal.
    pub columns: Range<usize>,
}

/// A row of a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RowAt {
    /// Its lines.
    pub lines: Range<usize>,
    /// The line of the heads of its table; `None` without heads.
    pub head: Option<usize>,
    /// What it is called ([`Table::key`](crate::Table::key)).
    pub key: String,
    /// Its cells; none where the terminal is too narrow for columns.
    pub cells: Rc<[CellAt]>,
}

/// A sheet as text, with its rows.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Drawn {
    /// The text, each line ended.
    pub text: String,
    /// The rows of its tables, in order.
    pub rows: Vec<RowAt>,
}

/// A line drawn in colour, in its painted pieces.
///
/// ```
/// use ramline_sheet::text::{Paint, Style, pieces};
/// let line = format!("a {}", Style { colour: true, width: 80 }.paint(Paint::Bad, "stall"));
/// assert_eq!(pieces(&line), [(Paint::Plain, "a "), (Paint::Bad, "stall")]);
/// ```
#[must_use]
pub fn pieces(line: &str) -> Vec<(Paint, &str)> {
    let mut out = Vec::new();
    let mut paint = Paint::Plain;
    // What comes from outside holds no escape: it was written out when the line was made.
    for (at, part) in line.split("\u{1b}[").enumerate() {
        let text = match part.split_once('m').filter(|_| at > 0) {
            Some((code, text)) => {
                paint = super::painted(code);
                text
            }
            None => part,
        };
        if !text.is_empty() {
            out.push((paint, text));
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sheet::{Cell, Column, Depth, Sheet, Table};
    use crate::text::Style;

    #[test]
    fn a_row_is_found_by_its_lines_its_key_and_the_columns_of_its_cells() {
        let mut sheet = Sheet::new();
        sheet.line("two areas");
        let areas = [("swap", "2.0 GiB"), ("zram", "512.0 MiB")];
        let table = Table::from_rows(areas)
            .left("area", |row| row.0)
            .right("size", |row| row.1)
            .keyed(|row| format!("/{}", row.0));
        sheet.headed_table("Areas", table);
        sheet.next("ramline show swap");
        let drawn = sheet.drawn(&Style::default(), Depth::Brief);
        assert_eq!(drawn.text, "two areas\n\nAreas\narea       size\nswap    2.0 GiB\nzram  512.0 MiB\n");
        let size = CellAt { head: "size".into(), columns: 6..15 };
        let lines: Vec<_> = drawn.rows.iter().map(|row| (row.lines.clone(), row.key.as_str())).collect();
        assert_eq!(lines, [(4..5, "/swap"), (5..6, "/zram")]);
        assert_eq!(drawn.rows[1].cells[1], size);
    }

    #[test]
    fn a_row_of_several_lines_has_all_of_them_and_its_first_text_is_its_key() {
        let mut table = Table::new(vec![Column::left("area"), Column::wrapped("why")]);
        table.row([Cell::from("swap"), "a sentence of some length".into()]);
        table.row(["zram".into(), "short".into()]);
        let rows = table.draw_with_rows(&Style { colour: false, width: 20 }).1;
        assert_eq!((rows[0].lines.clone(), rows[1].lines.clone(), rows[0].key.as_str()), (1..3, 3..4, "swap"));
        assert!(rows.iter().all(|row| row.cells.len() == 2));
    }

    #[test]
    fn colours_are_taken_apart_as_they_were_put_together() {
        let style = Style { colour: true, width: 80 };
        for paint in
            [Paint::Bold, Paint::Dim, Paint::Good, Paint::Warn, Paint::Bad, Paint::Blue, Paint::Magenta, Paint::Cyan]
        {
            let line = format!("{}{}", style.paint(paint, "x"), style.paint(Paint::Plain, "y"));
            assert_eq!(pieces(&line), [(paint, "x"), (Paint::Plain, "y")]);
        }
    }
}
