//! A table as data: columns, rows, cells with words or a bar. Cells are escaped as they enter; columns without any content are left out.

use std::borrow::Cow;

use ramline_units::{Bytes, Nanos, SignedBytes};

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
    /// Its text; none for a bar.
    pub text: String,
    /// What it is called where there is no room for its text; only in a column of names.
    pub short: String,
    /// How it is meant.
    pub paint: Paint,
    /// The share it draws; `None` for words and numbers.
    pub share: Option<f64>,
    /// Steps below the top of a tree.
    pub depth: usize,
}

impl Cell {
    /// A cell in a colour.
    #[must_use]
    pub fn painted(paint: Paint, text: impl Into<Cell>) -> Self {
        Cell { paint, ..text.into() }
    }

    /// A bar as long as a share, 0 to 1; empty where there is none.
    #[must_use]
    pub fn bar(share: Option<f64>) -> Self {
        Cell { share, ..Cell::default() }
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
}

impl From<&str> for Cell {
    fn from(text: &str) -> Self {
        Cell { text: escape(text).into_owned(), ..Cell::default() }
    }
}

/// Nothing stands in it where there is no value.
impl<T: Into<Cell>> From<Option<T>> for Cell {
    fn from(value: Option<T>) -> Self {
        value.map(Into::into).unwrap_or_default()
    }
}

/// What is written as it is displayed.
macro_rules! displayed {
    ($($kind:ty),*) => {$(
        impl From<$kind> for Cell {
            fn from(value: $kind) -> Self {
                value.to_string().as_str().into()
            }
        }
    )*};
}
displayed!(String, &String, Cow<'_, str>, Bytes, SignedBytes, Nanos);

/// A table. One [`from_rows`](Table::from_rows) is filled column by column.
///
/// ```
/// use ramline_sheet::Table;
/// let table = Table::from_rows([("a", 1000), ("b", 2)]).left("name", |row| row.0).right("count", |row| row.1);
/// assert_eq!(table.rows[0][1].text, "1,000");
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Table<R = ()> {
    /// Its columns.
    pub columns: Vec<Column>,
    /// Its rows; missing cells are empty.
    pub rows: Vec<Vec<Cell>>,
    /// Columns to the right on a terminal.
    pub indent: usize,
    /// What names each row for who selects one; empty where no row has a name but its first text.
    pub keys: Vec<String>,
    shrinks: bool,
    items: Vec<R>,
}

impl Table {
    /// An empty table.
    #[must_use]
    pub const fn new(columns: Vec<Column>) -> Self {
        Table { columns, rows: Vec::new(), indent: 0, keys: Vec::new(), shrinks: false, items: Vec::new() }
    }

    /// Two columns without a head.
    #[must_use]
    pub fn pairs<A: Into<Cell>, B: Into<Cell>>(pairs: impl IntoIterator<Item = (A, B)>) -> Self {
        let rows = pairs.into_iter().map(|(a, b)| vec![a.into(), b.into()]).collect();
        Table { rows, ..Table::new(vec![Column::wrapped(""), Column::wrapped("")]) }
    }
}

impl<R: Copy> Table<R> {
    /// A table of these rows, without columns.
    #[must_use]
    pub fn from_rows(rows: impl IntoIterator<Item = R>) -> Self {
        let items: Vec<R> = rows.into_iter().collect();
        Table {
            columns: Vec::new(),
            rows: vec![Vec::new(); items.len()],
            indent: 0,
            keys: Vec::new(),
            shrinks: false,
            items,
        }
    }

    /// The same with one more column, and what stands there for each row.
    #[must_use]
    pub fn column<C: Into<Cell>>(mut self, column: Column, mut cell: impl FnMut(R) -> C) -> Self {
        self.columns.push(column);
        self.items.iter().zip(&mut self.rows).for_each(|(row, cells)| cells.push(cell(*row).into()));
        self
    }

    /// A column of sentences or numbers for each of these, and what stands there for each row.
    #[must_use]
    pub fn columns<I, C: Into<Cell>>(
        self,
        each: impl IntoIterator<Item = I>,
        column: impl Fn(&I) -> Column,
        cell: impl Fn(&I, R) -> C,
    ) -> Self {
        each.into_iter().fold(self, |table, one| table.column(column(&one), |row| cell(&one, row)))
    }

    /// The same with a key for each row: what it is called by who selects it, whatever its columns show.
    #[must_use]
    pub fn keyed(mut self, key: impl FnMut(R) -> String) -> Self {
        self.keys = self.items.iter().copied().map(key).collect();
        self
    }

    /// A column of words.
    #[must_use]
    pub fn left<C: Into<Cell>>(self, head: &str, cell: impl FnMut(R) -> C) -> Self {
        self.column(Column::left(head), cell)
    }

    /// A column of numbers.
    #[must_use]
    pub fn right<C: Into<Cell>>(self, head: &str, cell: impl FnMut(R) -> C) -> Self {
        self.column(Column::right(head), cell)
    }

    /// A column of sentences.
    #[must_use]
    pub fn wrapped<C: Into<Cell>>(self, head: &str, cell: impl FnMut(R) -> C) -> Self {
        self.column(Column::wrapped(head), cell)
    }

    /// A column of bars.
    #[must_use]
    pub fn bar(self, mut share: impl FnMut(R) -> Option<f64>) -> Self {
        self.left("", |row| Cell::bar(share(row)))
    }
}

impl<R> Table<R> {
    /// The table alone, without what it was made of.
    #[must_use]
    pub fn drawn(self) -> Table {
        let Table { columns, rows, indent, keys, shrinks, .. } = self;
        Table { columns, rows, indent, keys, shrinks, items: Vec::new() }
    }

    /// The same, moved to the right.
    #[must_use]
    pub fn indented(mut self, by: usize) -> Self {
        self.indent = by;
        self
    }

    /// The same; where lines are few its last rows may be left out.
    #[must_use]
    pub fn shrinks(mut self) -> Self {
        self.shrinks = true;
        self
    }

    /// Leaves the last row out, where rows may be left out and there is one.
    pub fn shrink(&mut self) -> bool {
        self.shrinks && self.rows.pop().is_some()
    }

    /// The key of a row: its own, else its first text.
    #[must_use]
    pub fn key(&self, at: usize) -> &str {
        let first = || self.rows.get(at)?.iter().map(|cell| cell.text.as_str()).find(|text| !text.is_empty());
        self.keys.get(at).map(String::as_str).or_else(first).unwrap_or_default()
    }

    /// Adds a row; missing cells are empty.
    pub fn row<const N: usize>(&mut self, cells: [Cell; N]) {
        self.rows.push(cells.into());
    }

    /// Its columns that have any content, each with its place in a row.
    #[must_use]
    pub fn shown(&self) -> Vec<(usize, &Column)> {
        let filled = |at: usize| self.rows.iter().any(|row| row.get(at).is_some_and(|cell| !cell.is_empty()));
        self.columns.iter().enumerate().filter(|(at, _)| filled(*at)).collect()
    }

    /// True without rows.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }
}
