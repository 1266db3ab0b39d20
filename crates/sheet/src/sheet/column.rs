//! A column of a table: its head, to which side it stands, and what happens to it where the terminal is narrow.
//!
//! Worked example: `Column::path("file").at_least(24)` shows `/usr/lib/x86_64-linux-gnu/libc.so.6` whole where there is room, and as
//! `/usr/lib/.../libc.so.6` in 24 columns.

/// A column is not made narrower than this, unless it says so itself.
pub const NARROWEST: usize = 12;

/// What becomes of a text that is wider than its column may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flow {
    /// The column is as wide as its widest text.
    Whole,
    /// It goes on on the next line.
    Wrapped,
    /// A path: directories are left out of its middle; wrapped only where that is not enough.
    Path,
    /// A name, perhaps of a tree: its middle is left out.
    Name,
    /// Its end is left out.
    Cut,
}

/// A column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Column {
    /// Its head.
    pub head: String,
    /// Numbers, which stand to the right.
    pub right: bool,
    /// What becomes of a text that is too wide.
    pub flow: Flow,
    /// Not narrower than this for the sake of a column that can be left out.
    pub least: usize,
    /// Never wider than this.
    pub most: usize,
    /// Lines of each text on a terminal.
    pub lines: usize,
    /// Left out where the terminal is too narrow: the highest rank first.
    pub rank: Option<u8>,
    /// Where it is left out its texts stand in the last wrapped column.
    pub folds: bool,
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
        Column::new(head, Flow::Name)
    }

    /// Paths, whole where there is room, else without directories in the middle.
    #[must_use]
    pub fn path(head: &str) -> Self {
        Column::new(head, Flow::Path)
    }

    /// Texts of one line each, whole where there is room, else without their end; blanks in front are kept.
    #[must_use]
    pub fn cut(head: &str) -> Self {
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
