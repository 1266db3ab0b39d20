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

use super::column::Flow;
use super::picture::BAR;
use super::{Column, Paint, bar};
use crate::escape;

/// Columns between two columns.
const GAP: usize = 2;
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
    fn a_path_is_whole_where_there_is_room_and_loses_its_middle_where_there_is_not() {
        let mut table =
            Table::new(vec![Column::path("file").at_least(24), Column::right("size"), Column::left("users").spare()]);
        table.row(["/usr/lib/x86_64-linux-gnu/libcrypto.so.3".into(), "4.4 MiB".into(), "ramline".into()]);
        let row = |width| table.draw(&Style { colour: false, width }).lines().nth(1).unwrap_or_default().to_owned();
        assert_eq!(row(80), "/usr/lib/x86_64-linux-gnu/libcrypto.so.3  4.4 MiB  ramline");
        assert_eq!(row(44), "/usr/.../libcrypto.so.3     4.4 MiB  ramline");
        assert_eq!(row(38), "/usr/lib/.../libcrypto.so.3    4.4 MiB");
    }

    #[test]
    fn a_name_of_one_line_keeps_its_blanks_in_front_and_loses_its_end() {
        let mut table = Table::new(vec![Column::right("at"), Column::cut("step")]);
        table.row(["1 ns".into(), "    ext4_file_read_iter".into()]);
        let row = |width| table.draw(&Style { colour: false, width }).lines().nth(1).unwrap_or_default().to_owned();
        assert_eq!(row(80), "1 ns      ext4_file_read_iter");
        assert_eq!(row(20), "1 ns      ext4_fil..");
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
        assert_eq!(draw(22), "share  more  file\n 50 %     7  /a\n", "one that does not fit makes room for the next");
        assert_eq!(draw(16), "share  file\n 50 %  /a\n");
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
