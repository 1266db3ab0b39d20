//! A table as data: columns, rows, cells with words or a bar. Cells are escaped as they enter; columns without any content are left out.

use super::column::Column;
use crate::escape;

/// What a piece of text is, for colouring.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Paint {
    /// As it comes.
    #[default]
    Plain,
    /// A heading or the deciding word.
    Bold,
    /// Beside the point.
    Dim,
    /// As it should be.
    Good,
    /// Costs something.
    Warn,
    /// Hurts now.
    Bad,
    /// A piece of a whole.
    Blue,
    /// A piece of a whole.
    Magenta,
    /// A piece of a whole.
    Cyan,
}

/// One cell.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Cell {
    pub(crate) text: String,
    pub(crate) short: String,
    pub(crate) paint: Paint,
    pub(crate) share: Option<f64>,
    pub(crate) depth: usize,
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
        Cell { paint, share, ..Cell::default() }
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

    /// Neither words nor a bar.
    fn is_empty(&self) -> bool {
        self.text.is_empty() && self.share.is_none()
    }

    /// Its text; none for a bar.
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
    pub(crate) columns: Vec<Column>,
    pub(crate) rows: Vec<Vec<Cell>>,
    pub(crate) indent: usize,
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
        let filled = |at: usize| self.rows.iter().any(|row| row.get(at).is_some_and(|cell| !cell.is_empty()));
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
