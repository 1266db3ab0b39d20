//! What a feed is asked for, and what it gives.

use ramline_sheet::{Depth, Sheet};

/// One of the screens that a key chooses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct View {
    /// Its name on its tab.
    pub name: &'static str,
    /// What its rows can be sorted by, the usual one first; empty where there is one order.
    pub sorts: &'static [&'static str],
    /// So often a row can be entered, one in the other.
    pub enters: usize,
}

/// Request for a page of a view.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ViewRequest<'a> {
    /// The place of the view.
    pub view: usize,
    /// The place of the order in its list.
    pub sort: usize,
    /// The keys of the rows that were entered, one in the other.
    pub entered: &'a [String],
    /// What takes long to read is read now all the same.
    pub again: bool,
}

/// What is shown.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Page {
    /// Above everything: the answer, in one sentence.
    pub first: Sheet,
    /// The parts, below each other, or beside where there is room.
    pub parts: Vec<Sheet>,
    /// How much of them is shown.
    pub depth: Depth,
    /// When it was seen, and what is old about it.
    pub note: String,
}

/// A time that pages are to be of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Time {
    /// Now.
    Now,
    /// A moment of the record, as it was typed.
    At(String),
    /// The recorded moment before the one that is shown.
    Before,
    /// The recorded moment after it.
    After,
}

/// Where pages come from.
pub trait Feed {
    /// The views, in the order of their tabs.
    fn views(&self) -> &'static [View];

    /// A page; it is waited for, so what takes long is done beside it.
    fn page(&mut self, ask: &ViewRequest<'_>) -> Page;

    /// Makes the pages those of another time; its name, `None` where it is now.
    ///
    /// # Errors
    /// There is no such moment: the sentence says why, and the time stays as it is.
    fn go_to(&mut self, time: &Time) -> Result<Option<String>, String>;

    /// The explanation of the first of these names of a view that has one, with its title.
    ///
    /// # Errors
    /// None has: the sentence says so.
    fn explain(&mut self, view: usize, names: &[String]) -> Result<(String, Sheet), String>;
}

/// What the terminal can show.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Looks {
    /// The 16 colours.
    pub colour: bool,
    /// Nothing but ASCII.
    pub ascii: bool,
}
