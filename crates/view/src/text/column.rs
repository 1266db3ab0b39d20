//! A column of a table: its head, to which side it stands, and what happens to it where the terminal is narrow.
//!
//! What it is not: its width on a terminal, which the table works out for all columns together; a page lets the browser do that.
//!
//! Worked example: `Column::path("file").at_least(24)` shows `/usr/lib/x86_64-linux-gnu/libc.so.6` whole where there is room, and as
//! `/usr/lib/.../libc.so.6` in 24 columns.

use super::{cut_end, shorter, wrap};

/// A column is not made narrower than this, unless it says so itself.
const NARROWEST: usize = 12;

/// What becomes of a text that is wider than its column may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fit {
    /// The column is as wide as its widest text.
    Whole,
    /// It goes on on the next line.
    Wrapped,
    /// A path: directories are left out of its middle; wrapped only where that is not enough.
    Path,
    /// Its end is left out.
    Cut,
}

/// A column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Column {
    pub(super) head: String,
    pub(super) right: bool,
    fit: Fit,
    pub(super) least: usize,
    pub(super) most: usize,
    pub(super) spare: bool,
}

impl Column {
    fn new(head: &str, fit: Fit) -> Self {
        Column { head: head.to_owned(), right: false, fit, least: NARROWEST, most: usize::MAX, spare: false }
    }

    /// Words, to the left; never broken.
    #[must_use]
    pub fn left(head: &str) -> Self {
        Column::new(head, Fit::Whole)
    }

    /// Numbers, to the right.
    #[must_use]
    pub fn right(head: &str) -> Self {
        Column { right: true, ..Column::new(head, Fit::Whole) }
    }

    /// Sentences, wrapped when the table is too wide.
    #[must_use]
    pub fn wrapped(head: &str) -> Self {
        Column::new(head, Fit::Wrapped)
    }

    /// Paths, whole where there is room, else without directories in the middle.
    #[must_use]
    pub fn path(head: &str) -> Self {
        Column::new(head, Fit::Path)
    }

    /// Names of one line each, whole where there is room, else without their end; blanks in front are kept.
    #[must_use]
    pub fn cut(head: &str) -> Self {
        Column::new(head, Fit::Cut)
    }

    /// The same, left out where the terminal is too narrow for all columns; the last such one goes first.
    #[must_use]
    pub const fn spare(mut self) -> Self {
        self.spare = true;
        self
    }

    /// The same, not made narrower than this while something else can be left out; only for columns that can be made narrower.
    #[must_use]
    pub const fn at_least(mut self, columns: usize) -> Self {
        self.least = columns;
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

    /// The same, never wider than this; only for wrapped columns.
    #[must_use]
    pub const fn at_most(mut self, columns: usize) -> Self {
        self.most = columns;
        self
    }

    /// True where it can be made narrower than its widest text.
    pub(super) fn narrows(&self) -> bool {
        self.fit != Fit::Whole
    }

    /// A text in so many columns, as lines.
    pub(super) fn fitted(&self, text: &str, columns: usize) -> Vec<String> {
        match self.fit {
            Fit::Whole => vec![text.to_owned()],
            Fit::Wrapped => wrap(text, columns),
            Fit::Path => wrap(&shorter(text, columns), columns),
            Fit::Cut => vec![cut_end(text, columns)],
        }
    }
}
