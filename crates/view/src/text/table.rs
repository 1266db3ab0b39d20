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

use super::picture::BAR;
use super::{Paint, Style, bar, width, wrap};
use crate::escape;

/// Columns between two columns.
const GAP: usize = 2;
/// A wrapped column is not made narrower than this.
const NARROWEST: usize = 12;

/// A column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Column {
    head: String,
    right: bool,
    wraps: bool,
    most: usize,
    least: usize,
    spare: bool,
}

impl Column {
    /// Words, to the left; never broken.
    #[must_use]
    pub fn left(head: &str) -> Self {
        Column { head: head.to_owned(), right: false, wraps: false, most: usize::MAX, least: NARROWEST, spare: false }
    }

    /// Numbers, to the right.
    #[must_use]
    pub fn right(head: &str) -> Self {
        Column { head: head.to_owned(), right: true, wraps: false, most: usize::MAX, least: NARROWEST, spare: false }
    }

    /// Sentences, wrapped when the table is too wide.
    #[must_use]
    pub fn wrapped(head: &str) -> Self {
        Column { head: head.to_owned(), right: false, wraps: true, most: usize::MAX, least: NARROWEST, spare: false }
    }

    /// The same, left out where the terminal is too narrow for all columns; the last such one goes first. A column of bars goes before
    /// all of these, unless it is one of them.
    #[must_use]
    pub const fn spare(mut self) -> Self {
        self.spare = true;
        self
    }

    /// Its head.
    #[must_use]
    pub fn head(&self) -> &str {
        &self.head
    }

    /// True for numbers.
    #[must_use]
    pub const fn is_number(&self) -> bool {
        self.right
    }

    /// The same, not narrower than this while bars, or columns that can be spared, take room; only for wrapped columns.
    #[must_use]
    pub const fn at_least(mut self, columns: usize) -> Self {
        self.least = columns;
        self
    }

    /// The same, never wider than this; only for wrapped columns.
    #[must_use]
    pub const fn at_most(mut self, columns: usize) -> Self {
        self.most = columns;
        self
    }
}

/// One cell.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Cell {
    text: String,
    paint: Paint,
    share: Option<f64>,
}

impl Cell {
    /// A cell in a colour.
    #[must_use]
    pub fn painted(paint: Paint, text: &str) -> Self {
        Cell { text: escape(text).into_owned(), paint, share: None }
    }

    /// A bar as long as a share, 0 to 1; empty where there is none.
    #[must_use]
    pub fn bar(paint: Paint, share: Option<f64>) -> Self {
        let text = share.map(|share| bar(share, BAR)).unwrap_or_default();
        Cell { text, paint, share }
    }

    /// Its text.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// How it is meant.
    #[must_use]
    pub const fn paint(&self) -> Paint {
        self.paint
    }

    /// The share it draws; `None` for words and numbers.
    #[must_use]
    pub const fn share(&self) -> Option<f64> {
        self.share
    }
}

impl<T: AsRef<str>> From<T> for Cell {
    fn from(text: T) -> Self {
        Cell { text: escape(text.as_ref()).into_owned(), paint: Paint::Plain, share: None }
    }
}

/// A table.
#[derive(Debug, Clone, PartialEq)]
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

    /// Its columns that have any content, each with its place in a row.
    #[must_use]
    pub fn shown(&self) -> Vec<(usize, &Column)> {
        let filled = |at: usize| self.rows.iter().any(|row| !text(row, at).is_empty());
        self.columns.iter().enumerate().filter(|(at, _)| filled(*at)).collect()
    }

    /// Its rows.
    #[must_use]
    pub fn rows(&self) -> &[Vec<Cell>] {
        &self.rows
    }

    /// True without rows.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// The text: heads (unless all are empty) and rows, each line ended. What does not fit loses its bars first, then the columns
    /// that can be spared; if that is not enough, each row becomes a few lines of its own, with all but the bars.
    #[must_use]
    pub fn draw(&self, style: &Style) -> String {
        let available = style.width.saturating_sub(self.indent);
        let roomy = |at: usize| self.columns[at].least;
        let is_bar = |at: &usize| self.rows.iter().any(|row| row.get(*at).is_some_and(|cell| cell.share.is_some()));
        let mut shown: Vec<usize> = self.shown().into_iter().map(|(at, _)| at).collect();
        let mut widths = self.widths(&shown, available, roomy);
        if total(&widths) > available {
            shown.retain(|at| self.columns[*at].spare || !is_bar(at));
            widths = self.widths(&shown, available, roomy);
        }
        let all: Vec<usize> = shown.iter().copied().filter(|at| !is_bar(at)).collect();
        while total(&widths) > available
            && let Some(last) = shown.iter().rposition(|at| self.columns[*at].spare)
        {
            shown.remove(last);
            widths = self.widths(&shown, available, roomy);
        }
        if total(&widths) > available {
            widths = self.widths(&shown, available, |_| NARROWEST);
        }
        let mut out = String::new();
        if total(&widths) > available && shown.len() > 1 {
            self.rows.iter().for_each(|row| self.card(row, &all, style, &mut out));
            return out;
        }
        if self.columns.iter().any(|c| !c.head.is_empty()) {
            let heads: Vec<Cell> =
                self.columns.iter().map(|c| Cell { text: c.head.clone(), paint: Paint::Dim, share: None }).collect();
            self.line(&heads, &shown, &widths, style, &mut out);
        }
        for row in &self.rows {
            self.line(row, &shown, &widths, style, &mut out);
        }
        out
    }

    /// A row where the terminal is too narrow for its columns: what it is on a line, and below it each value with its head.
    fn card(&self, row: &[Cell], shown: &[usize], style: &Style, out: &mut String) {
        let cell = |at: &usize| row.get(*at).filter(|cell| !cell.text.is_empty());
        let mut cells = shown.iter().filter_map(|at| Some((&self.columns[*at], cell(at)?)));
        let mut put = |indent: usize, paint: Paint, text: &str| {
            for line in wrap(text, style.width.saturating_sub(indent)) {
                out.push_str(&format!("{}{}\n", " ".repeat(indent), style.paint(paint, &line)));
            }
        };
        if let Some((_, first)) = cells.next() {
            put(self.indent, if first.paint == Paint::Plain { Paint::Bold } else { first.paint }, &first.text);
        }
        let rest: Vec<String> = cells
            .map(|(column, cell)| match column.head.as_str() {
                "" => cell.text.clone(),
                head => format!("{head} {}", cell.text),
            })
            .collect();
        if !rest.is_empty() {
            put(self.indent + GAP, Paint::Plain, &rest.join("; "));
        }
    }

    /// Natural widths, with the widest wrapped columns cut to what fits; none below what `least` says of it.
    fn widths(&self, shown: &[usize], available: usize, least: impl Fn(usize) -> usize) -> Vec<usize> {
        let natural = |i: usize| {
            let cells = self.rows.iter().map(|r| width(text(r, i))).max().unwrap_or(0);
            cells.max(width(&self.columns[i].head)).min(self.columns[i].most)
        };
        let mut widths: Vec<usize> = shown.iter().map(|i| natural(*i)).collect();
        loop {
            let total = total(&widths);
            let narrows = |at: &usize| self.columns[shown[*at]].wraps && widths[*at] > least(shown[*at]);
            match (0..shown.len()).filter(narrows).max_by_key(|at| widths[*at]) {
                Some(at) if total > available => widths[at] -= 1,
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

/// Columns of a line: the widths and the gaps between them.
fn total(widths: &[usize]) -> usize {
    widths.iter().sum::<usize>() + GAP * widths.len().saturating_sub(1)
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
    fn a_table_without_room_loses_its_bars_and_then_becomes_cards() {
        let mut table =
            Table::new(vec![Column::left("area"), Column::right("size"), Column::left(""), Column::left("device")]);
        table.row(["/dev/zram0".into(), "2.0 GiB".into(), Cell::bar(Paint::Plain, Some(0.5)), "compressed".into()]);
        let draw = |width| table.draw(&Style { colour: false, width });
        assert_eq!(draw(80), "area           size              device\n/dev/zram0  2.0 GiB  #####.....  compressed\n");
        assert_eq!(draw(32), "area           size  device\n/dev/zram0  2.0 GiB  compressed\n");
        assert_eq!(draw(20), "/dev/zram0\n  size 2.0 GiB;\n  device compressed\n");
    }

    #[test]
    fn a_column_that_can_be_spared_goes_before_the_rows_become_cards() {
        let mut table = Table::new(vec![Column::left("area"), Column::right("size").spare(), Column::right("used")]);
        table.row(["/dev/zram0".into(), "2.0 GiB".into(), "1.0 GiB".into()]);
        let draw = |width| table.draw(&Style { colour: false, width });
        assert_eq!(draw(80), "area           size     used\n/dev/zram0  2.0 GiB  1.0 GiB\n");
        assert_eq!(draw(20), "area           used\n/dev/zram0  1.0 GiB\n");
    }

    #[test]
    fn names_keep_their_room_while_columns_can_be_spared_and_rows_of_their_own_have_all_columns() {
        let mut table = Table::new(vec![
            Column::right("found"),
            Column::right("ahead").spare(),
            Column::wrapped("file").at_least(20),
        ]);
        table.row(["1".into(), "2".into(), "/a/name/of/20/columns".into()]);
        let draw = |table: &Table, width| table.draw(&Style { colour: false, width });
        assert_eq!(draw(&table, 40), "found  ahead  file\n    1      2  /a/name/of/20/columns\n");
        assert_eq!(draw(&table, 28), "found  file\n    1  /a/name/of/20/columns\n");
        assert_eq!(draw(&table, 20), "found  file\n    1  /a/name/of/20\n       /columns\n");
        let mut whole = Table::new(vec![Column::right("found"), Column::right("ahead").spare(), Column::left("file")]);
        whole.row(["1".into(), "2".into(), "/a/name/of/20/columns".into()]);
        assert_eq!(draw(&whole, 26), "1\n  ahead 2; file\n  /a/name/of/20/columns\n");
    }

    #[test]
    fn a_bar_that_can_be_spared_itself_goes_in_its_turn() {
        let mut table = Table::new(vec![
            Column::right("share"),
            Column::left("").spare(),
            Column::right("more").spare(),
            Column::left("file"),
        ]);
        table.row(["50 %".into(), Cell::bar(Paint::Plain, Some(0.5)), "7".into(), "/a".into()]);
        let draw = |width| table.draw(&Style { colour: false, width });
        assert_eq!(draw(29), "share              more  file\n 50 %  #####.....     7  /a\n");
        assert_eq!(draw(28), "share              file\n 50 %  #####.....  /a\n");
        assert_eq!(draw(22), "share  file\n 50 %  /a\n");
        assert_eq!(draw(9), "50 %\n  more 7;\n  file /a\n");
    }

    #[test]
    fn wide_characters_do_not_shift_the_columns_and_hostile_ones_are_written_out() {
        let mut table = Table::new(vec![Column::left(""), Column::right("")]);
        table.row(["メモリ".into(), "1".into()]);
        table.row(["a\u{1b}[2J".into(), "22".into()]);
        assert_eq!(table.draw(&Style::default()), "メモリ       1\na\\u{1b}[2J  22\n");
    }
}
