//! Tables that fit the terminal: numbers to the right, words to the left, long words wrapped in their column.
//!
//! What it is not: a spreadsheet. Cells are escaped as they enter; columns without any content are left out.
//!
//! Worked example: rows `swap, 2.0 GiB` and `zram, 512.0 MiB` under `area` and `size` give
//!
//! ```text
//! area       size
//! swap    2.0 GiB
//! zram  512.0 MiB
//! ```

use super::{Paint, Style, width, wrap};
use crate::escape;

/// Columns between two columns.
const GAP: usize = 2;
/// A wrapped column is not made narrower than this.
const NARROWEST: usize = 12;

/// A column.
#[derive(Debug, Clone)]
pub struct Column {
    head: String,
    right: bool,
    wraps: bool,
    most: usize,
}

impl Column {
    /// Words, to the left; never broken.
    #[must_use]
    pub fn left(head: &str) -> Self {
        Column { head: head.to_owned(), right: false, wraps: false, most: usize::MAX }
    }

    /// Numbers, to the right.
    #[must_use]
    pub fn right(head: &str) -> Self {
        Column { head: head.to_owned(), right: true, wraps: false, most: usize::MAX }
    }

    /// Sentences, wrapped when the table is too wide.
    #[must_use]
    pub fn wrapped(head: &str) -> Self {
        Column { head: head.to_owned(), right: false, wraps: true, most: usize::MAX }
    }

    /// The same, never wider than this; only for wrapped columns.
    #[must_use]
    pub const fn at_most(mut self, columns: usize) -> Self {
        self.most = columns;
        self
    }
}

/// One cell.
#[derive(Debug, Clone, Default)]
pub struct Cell {
    text: String,
    paint: Paint,
}

impl Cell {
    /// A cell in a colour.
    #[must_use]
    pub fn painted(paint: Paint, text: &str) -> Self {
        Cell { text: escape(text).into_owned(), paint }
    }
}

impl<T: AsRef<str>> From<T> for Cell {
    fn from(text: T) -> Self {
        Cell { text: escape(text.as_ref()).into_owned(), paint: Paint::Plain }
    }
}

/// A table.
#[derive(Debug, Clone)]
pub struct Table {
    columns: Vec<Column>,
    rows: Vec<Vec<Cell>>,
    indent: usize,
}

impl Table {
    /// An empty table.
    #[must_use]
    pub const fn new(columns: Vec<Column>) -> Self {
        Table { columns, rows: Vec::new(), indent: 0 }
    }

    /// The same, moved to the right.
    #[must_use]
    pub const fn indented(mut self, by: usize) -> Self {
        self.indent = by;
        self
    }

    /// Adds a row; missing cells are empty.
    pub fn row<const N: usize>(&mut self, cells: [Cell; N]) {
        self.rows.push(cells.into());
    }

    /// Adds a row of as many cells as there happen to be.
    pub fn cells(&mut self, cells: Vec<Cell>) {
        self.rows.push(cells);
    }

    /// True without rows.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// The text: heads (unless all are empty) and rows, each line ended.
    #[must_use]
    pub fn draw(&self, style: &Style) -> String {
        let shown: Vec<usize> =
            (0..self.columns.len()).filter(|i| self.rows.iter().any(|r| !text(r, *i).is_empty())).collect();
        let widths = self.widths(&shown, style.width.saturating_sub(self.indent));
        let mut out = String::new();
        if self.columns.iter().any(|c| !c.head.is_empty()) {
            let heads: Vec<Cell> =
                self.columns.iter().map(|c| Cell { text: c.head.clone(), paint: Paint::Dim }).collect();
            self.line(&heads, &shown, &widths, style, &mut out);
        }
        for row in &self.rows {
            self.line(row, &shown, &widths, style, &mut out);
        }
        out
    }

    fn widths(&self, shown: &[usize], available: usize) -> Vec<usize> {
        let natural = |i: usize| {
            let cells = self.rows.iter().map(|r| width(text(r, i))).max().unwrap_or(0);
            cells.max(width(&self.columns[i].head)).min(self.columns[i].most)
        };
        let mut widths: Vec<usize> = shown.iter().map(|i| natural(*i)).collect();
        let gaps = GAP * shown.len().saturating_sub(1);
        loop {
            let total: usize = widths.iter().sum::<usize>() + gaps;
            let widest = (0..shown.len()).filter(|at| self.columns[shown[*at]].wraps).max_by_key(|at| widths[*at]);
            match widest {
                Some(at) if total > available && widths[at] > NARROWEST => widths[at] -= 1,
                _ => return widths,
            }
        }
    }

    fn line(&self, row: &[Cell], shown: &[usize], widths: &[usize], style: &Style, out: &mut String) {
        let wrapped = |at: usize| {
            let text = text(row, shown[at]);
            if self.columns[shown[at]].wraps { wrap(text, widths[at]) } else { vec![text.to_owned()] }
        };
        let cells: Vec<Vec<String>> = (0..shown.len()).map(wrapped).collect();
        let height = cells.iter().map(Vec::len).max().unwrap_or(0);
        for line in 0..height {
            // Padding is kept back until more text comes, so that no line ends in blanks.
            let mut pending = self.indent;
            for (at, cell) in cells.iter().enumerate() {
                let text = cell.get(line).map_or("", String::as_str);
                let padding = widths[at].saturating_sub(width(text));
                if !text.is_empty() {
                    let before = if self.columns[shown[at]].right { padding } else { 0 };
                    out.push_str(&" ".repeat(pending + before));
                    out.push_str(&style.paint(row.get(shown[at]).map_or(Paint::Plain, |c| c.paint), text));
                    pending = if self.columns[shown[at]].right { GAP } else { padding + GAP };
                } else {
                    pending += widths[at] + GAP;
                }
            }
            out.push('\n');
        }
    }
}

fn text(row: &[Cell], column: usize) -> &str {
    row.get(column).map_or("", |c| c.text.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_stand_to_the_right_and_empty_columns_are_left_out() {
        let mut table = Table::new(vec![Column::left("area"), Column::left("nothing"), Column::right("size")]);
        table.row(["swap".into(), "".into(), "2.0 GiB".into()]);
        table.row(["zram".into(), "".into(), "512.0 MiB".into()]);
        assert_eq!(table.draw(&Style::default()), "area       size\nswap    2.0 GiB\nzram  512.0 MiB\n");
    }

    #[test]
    fn a_table_that_is_too_wide_wraps_its_sentences_and_keeps_its_numbers() {
        let mut table = Table::new(vec![Column::right("n"), Column::wrapped("why"), Column::right("m")]);
        table.row(["1".into(), "a sentence of some length that does not fit".into(), "2".into()]);
        let text = table.draw(&Style { colour: false, width: 30 });
        assert_eq!(
            text,
            "n  why                       m\n1  a sentence of some        2\n   length that does not fit\n"
        );
        assert!(text.lines().all(|l| width(l) <= 30));
    }

    #[test]
    fn wide_characters_do_not_shift_the_columns_and_hostile_ones_are_written_out() {
        let mut table = Table::new(vec![Column::left(""), Column::right("")]);
        table.row(["メモリ".into(), "1".into()]);
        table.row(["a\u{1b}[2J".into(), "22".into()]);
        assert_eq!(table.draw(&Style::default()), "メモリ       1\na\\u{1b}[2J  22\n");
    }
}
