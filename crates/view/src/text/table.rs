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

mod draw;
mod fit;

use super::picture::BAR;
use super::{Paint, bar};
use crate::escape;

/// Columns between two columns.
const GAP: usize = 2;
/// A wrapped or cut column is not made narrower than this.
const NARROWEST: usize = 12;

/// What is done with a text that is wider than its column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Flow {
    /// Nothing: the column is as wide as it.
    Whole,
    /// It is broken into lines.
    Wrapped,
    /// Its middle is left out.
    Cut,
}

/// A column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Column {
    head: String,
    right: bool,
    flow: Flow,
    least: usize,
    most: usize,
    lines: usize,
    rank: Option<u8>,
    folds: bool,
}

impl Column {
    fn new(head: &str, flow: Flow) -> Self {
        Column {
            head: head.to_owned(),
            right: false,
            flow,
            least: NARROWEST,
            most: usize::MAX,
            lines: usize::MAX,
            rank: None,
            folds: false,
        }
    }

    /// Words, to the left; never broken.
    #[must_use]
    pub fn left(head: &str) -> Self {
        Column::new(head, Flow::Whole)
    }

    /// Numbers, to the right.
    #[must_use]
    pub fn right(head: &str) -> Self {
        Column { right: true, ..Column::new(head, Flow::Whole) }
    }

    /// Sentences, wrapped when the table is too wide.
    #[must_use]
    pub fn wrapped(head: &str) -> Self {
        Column::new(head, Flow::Wrapped)
    }

    /// Names, on one line each, without their middle when the table is too wide; those of a tree stand at their depth.
    #[must_use]
    pub fn name(head: &str) -> Self {
        Column::new(head, Flow::Cut)
    }

    /// The same, left out where the terminal is too narrow for all columns; the last such one goes first.
    #[must_use]
    pub const fn spare(self) -> Self {
        self.rank(0)
    }

    /// The same, left out where the terminal is too narrow for all columns; the one of the highest rank goes first.
    #[must_use]
    pub const fn rank(mut self, rank: u8) -> Self {
        self.rank = Some(rank);
        self
    }

    /// The same; where it is left out its texts stand in the last wrapped column, before what stands there.
    #[must_use]
    pub const fn folds(mut self) -> Self {
        self.folds = true;
        self.spare()
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

    /// The same, never wider than this; only for wrapped columns.
    #[must_use]
    pub const fn at_most(mut self, columns: usize) -> Self {
        self.most = columns;
        self
    }

    /// The same, not narrower than this for the sake of a column that can be left out; for wrapped columns and names.
    #[must_use]
    pub const fn at_least(mut self, columns: usize) -> Self {
        self.least = columns;
        self
    }

    /// The same, with so many lines of each text on a terminal; only for wrapped columns.
    #[must_use]
    pub const fn lines(mut self, lines: usize) -> Self {
        self.lines = lines;
        self
    }
}

/// One cell.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Cell {
    text: String,
    short: String,
    paint: Paint,
    share: Option<f64>,
    depth: usize,
}

impl Cell {
    /// A cell in a colour.
    #[must_use]
    pub fn painted(paint: Paint, text: &str) -> Self {
        Cell { text: escape(text).into_owned(), paint, ..Cell::default() }
    }

    /// A bar as long as a share, 0 to 1; empty where there is none.
    #[must_use]
    pub fn bar(paint: Paint, share: Option<f64>) -> Self {
        let text = share.map(|share| bar(share, BAR)).unwrap_or_default();
        Cell { text, paint, share, ..Cell::default() }
    }

    /// The same, so many steps below the top of a tree; only in a column of names.
    #[must_use]
    pub const fn at_depth(mut self, depth: usize) -> Self {
        self.depth = depth;
        self
    }

    /// The same, called otherwise where there is no room for its name; only in a column of names.
    #[must_use]
    pub fn or(mut self, short: &str) -> Self {
        self.short = escape(short).into_owned();
        self
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

    /// Steps below the top of a tree.
    #[must_use]
    pub const fn depth(&self) -> usize {
        self.depth
    }
}

impl<T: AsRef<str>> From<T> for Cell {
    fn from(text: T) -> Self {
        Cell::painted(Paint::Plain, text.as_ref())
    }
}

/// A table.
#[derive(Debug, Clone, PartialEq)]
pub struct Table {
    columns: Vec<Column>,
    rows: Vec<Vec<Cell>>,
    indent: usize,
    shrinks: bool,
}

impl Table {
    /// An empty table.
    #[must_use]
    pub const fn new(columns: Vec<Column>) -> Self {
        Table { columns, rows: Vec::new(), indent: 0, shrinks: false }
    }

    /// The same, moved to the right.
    #[must_use]
    pub const fn indented(mut self, by: usize) -> Self {
        self.indent = by;
        self
    }

    /// The same; where lines are few its last rows may be left out.
    #[must_use]
    pub const fn shrinks(mut self) -> Self {
        self.shrinks = true;
        self
    }

    /// Leaves the last row out, where rows may be left out and there is one.
    pub(crate) fn shrink(&mut self) -> bool {
        self.shrinks && self.rows.pop().is_some()
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
}

fn text(row: &[Cell], column: usize) -> &str {
    row.get(column).map_or("", |c| c.text.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::{Style, width};

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
    fn wide_characters_do_not_shift_the_columns_and_hostile_ones_are_written_out() {
        let mut table = Table::new(vec![Column::left(""), Column::right("")]);
        table.row(["メモリ".into(), "1".into()]);
        table.row(["a\u{1b}[2J".into(), "22".into()]);
        assert_eq!(table.draw(&Style::default()), "メモリ       1\na\\u{1b}[2J  22\n");
    }
}
