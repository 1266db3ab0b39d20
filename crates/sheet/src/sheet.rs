//! A sheet: what a topic has to say, as data. It is made once per topic; text and the page render it.
//!
//! An answer, sentences, tables, one-bar pictures and commands in their order, with what only some readers want set
//! apart as [`Block::More`].
//!
//! ```
//! use ramline_sheet::{Depth, Sheet};
//! use ramline_sheet::text::{Paint, Style};
//! let mut sheet = Sheet::new();
//! sheet.answer(Paint::Good, "Memory is fine.");
//! sheet.more("How it is known", |more| more.line("MemAvailable of /proc/meminfo"));
//! assert_eq!(sheet.text(&Style::default(), Depth::Brief), "Memory is fine.\n--all shows more.\n");
//! assert!(sheet.text(&Style::default(), Depth::All).contains("How it is known\nMemAvailable"));
//! ```

mod chart;
mod column;
mod picture;
mod table;

pub use chart::{Along, Bar, Bars, Curve, LegendKey, Panel, Panels, Points, Trend};
pub use column::Column;
pub use column::{Flow, NARROWEST};
pub use picture::{Stack, StackPiece, Strip, Timed, Tint};
pub use table::{Cell, Paint, Table};

/// How much of a sheet is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Depth {
    /// The answer and what belongs beside it.
    #[default]
    Brief,
    /// Everything.
    All,
}

/// One thing on a sheet.
#[derive(Debug, Clone, PartialEq)]
pub enum Block {
    /// The sentence that answers the question of the topic.
    Answer(Paint, String),
    /// A heading inside the topic.
    Heading(String),
    /// A sentence; a label hangs in front of it where there is one.
    Line {
        /// How it is meant.
        paint: Paint,
        /// What hangs in front.
        label: String,
        /// The sentence.
        text: String,
    },
    /// Commands to copy, one a line, never broken.
    Commands {
        /// Columns to the right on a terminal.
        indent: usize,
        /// The commands.
        lines: Vec<String>,
    },
    /// A table.
    Table(Table),
    /// A whole cut into named pieces.
    Stack(Stack),
    /// Times of one access on one logarithmic scale; a terminal has them in the table beside.
    Times(Vec<Timed>),
    /// Room between two things, on a terminal.
    Gap,
    /// What to look at next; on a page the next thing is below.
    Next(String),
    /// One of several equals, each with a title in its colour: a finding.
    Card {
        /// How much it matters.
        paint: Paint,
        /// What it is.
        title: String,
        /// What belongs to it.
        sheet: Sheet,
    },
    /// What is shown on request: `--all` or `--more` on a terminal, folded on a page.
    More {
        /// What it is about.
        title: String,
        /// It.
        sheet: Sheet,
    },
    /// How what is shown on request is asked for, where that is not `--all`; said only where it is not shown.
    Ask(String),
    /// An aside of which a terminal shows so many lines; a document has the rest.
    Aside {
        /// At most so many.
        lines: usize,
        /// It.
        text: String,
    },
    /// The same in short, and in full on request.
    Digest {
        /// In short.
        short: Sheet,
        /// What it is in full.
        title: String,
        /// In full.
        full: Sheet,
    },
    /// What stands in place of cards that found no room, after their number.
    LeftOut(String),
    /// Equal parts of a whole, each as full as it is.
    Strip(Strip),
    /// Values beside each other.
    Bars(Bars),
    /// Values over time.
    Panels(Panels),
    /// Values over the last moments, each on a line.
    Trends(Vec<Trend>),
}

/// A text, or none: nothing is put on a sheet for `None`.
pub trait OptionalText {
    /// The text.
    fn into_text(self) -> Option<String>;
}

impl OptionalText for &str {
    fn into_text(self) -> Option<String> {
        Some(self.to_owned())
    }
}

impl OptionalText for String {
    fn into_text(self) -> Option<String> {
        Some(self)
    }
}

impl OptionalText for &String {
    fn into_text(self) -> Option<String> {
        Some(self.clone())
    }
}

impl<T: OptionalText> OptionalText for Option<T> {
    fn into_text(self) -> Option<String> {
        self.and_then(T::into_text)
    }
}

/// What a topic has to say.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Sheet {
    blocks: Vec<Block>,
}

impl Sheet {
    /// An empty sheet.
    #[must_use]
    pub const fn new() -> Self {
        Sheet { blocks: Vec::new() }
    }

    /// Its blocks, in order.
    #[must_use]
    pub fn blocks(&self) -> &[Block] {
        &self.blocks
    }

    /// True without anything on it.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.blocks.is_empty()
    }

    /// Adds a block.
    pub fn push(&mut self, block: Block) {
        self.blocks.push(block);
    }

    /// Everything of another sheet, below.
    pub fn append(&mut self, other: Sheet) {
        self.blocks.extend(other.blocks);
    }

    /// The answer.
    pub fn answer(&mut self, paint: Paint, text: impl Into<String>) {
        self.push(Block::Answer(paint, text.into()));
    }

    /// A sentence.
    pub fn line(&mut self, text: impl OptionalText) {
        self.painted(Paint::Plain, text);
    }

    /// An aside.
    pub fn dim(&mut self, text: impl OptionalText) {
        self.painted(Paint::Dim, text);
    }

    /// What costs something, or must be known first.
    pub fn warn(&mut self, text: impl OptionalText) {
        self.painted(Paint::Warn, text);
    }

    /// A sentence in a colour that says what kind it is.
    pub fn painted(&mut self, paint: Paint, text: impl OptionalText) {
        self.painted_point(paint, "", text);
    }

    /// A heading.
    pub fn heading(&mut self, text: impl Into<String>) {
        self.push(Block::Heading(text.into()));
    }

    /// A point of a list: `label` hangs in front of the text.
    pub fn point(&mut self, label: &str, text: impl OptionalText) {
        self.painted_point(Paint::Plain, label, text);
    }

    /// The same in a colour.
    pub fn painted_point(&mut self, paint: Paint, label: &str, text: impl OptionalText) {
        if let Some(text) = text.into_text() {
            self.push(Block::Line { paint, label: label.to_owned(), text });
        }
    }

    /// A command to copy.
    pub fn command(&mut self, indent: usize, text: &str) {
        match self.blocks.last_mut() {
            Some(Block::Commands { indent: same, lines }) if *same == indent => lines.push(text.to_owned()),
            _ => self.push(Block::Commands { indent, lines: vec![text.to_owned()] }),
        }
    }

    /// A table, unless it is empty.
    pub fn table<R>(&mut self, table: Table<R>) {
        if !table.is_empty() {
            self.push(Block::Table(table.drawn()));
        }
    }

    /// A heading with a table below it, unless the table is empty.
    pub fn headed_table<R>(&mut self, heading: impl Into<String>, table: Table<R>) {
        if !table.is_empty() {
            self.heading(heading);
            self.table(table);
        }
    }

    /// A heading with points below it, unless there are none.
    pub fn headed_points<T: OptionalText>(&mut self, heading: impl Into<String>, points: impl IntoIterator<Item = T>) {
        let mut points = points.into_iter().peekable();
        if points.peek().is_some() {
            self.heading(heading);
        }
        points.for_each(|point| self.point("  ", point));
    }

    /// Values beside each other, unless there are none.
    pub fn bars(&mut self, bars: Bars) {
        if !bars.rows.is_empty() {
            self.push(Block::Bars(bars));
        }
    }

    /// Values over time, unless all are zero.
    pub fn panels(&mut self, panels: Panels) {
        if !panels.is_flat() {
            self.push(Block::Panels(panels));
        }
    }

    /// Room.
    pub fn blank(&mut self) {
        self.push(Block::Gap);
    }

    /// What to look at next.
    pub fn next(&mut self, text: &str) {
        self.push(Block::Next(text.to_owned()));
    }

    /// What is shown on request; nothing where `fill` puts nothing on it.
    pub fn more(&mut self, title: &str, fill: impl FnOnce(&mut Sheet)) {
        let mut sheet = Sheet::new();
        fill(&mut sheet);
        if !sheet.is_empty() {
            self.push(Block::More { title: title.to_owned(), sheet });
        }
    }

    /// The answer it begins with, and what stands below; of a sheet without an answer all of it.
    #[must_use]
    pub fn split_answer(&self) -> (Option<&str>, Sheet) {
        match self.blocks.split_first() {
            Some((Block::Answer(_, text), below)) => (Some(text), Sheet { blocks: below.to_vec() }),
            _ => (None, self.clone()),
        }
    }

    /// What is said in short, and in full on request.
    pub fn digest(&mut self, short: Sheet, title: &str, fill: impl FnOnce(&mut Sheet)) {
        let mut full = Sheet::new();
        fill(&mut full);
        self.push(Block::Digest { short, title: title.to_owned(), full });
    }

    /// How what is shown on request is asked for.
    pub fn ask(&mut self, text: &str) {
        self.push(Block::Ask(text.to_owned()));
    }

    /// An aside of at most so many lines on a terminal.
    pub fn aside(&mut self, lines: usize, text: &str) {
        self.push(Block::Aside { lines, text: text.to_owned() });
    }

    /// True where something is shown on request only.
    #[must_use]
    pub fn has_more(&self) -> bool {
        self.blocks.iter().any(|block| matches!(block, Block::More { .. } | Block::Digest { .. }))
    }

    /// Its blocks, to leave some out.
    pub const fn blocks_mut(&mut self) -> &mut Vec<Block> {
        &mut self.blocks
    }
}
