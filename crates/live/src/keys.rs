//! The keys: one table, which `?` shows and docs/top.md lists.

use ramline_sheet::{Column, Sheet, Table};

/// A key, whatever the terminal sends for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Key {
    /// A character.
    Char(char),
    /// Arrow up.
    Up,
    /// Arrow down.
    Down,
    /// Arrow left.
    Left,
    /// Arrow right.
    Right,
    /// Page up.
    PageUp,
    /// Page down.
    PageDown,
    /// Home.
    Home,
    /// End.
    End,
    /// Enter.
    Enter,
    /// Escape.
    Escape,
    /// Backspace.
    Backspace,
    /// Tab.
    Tab,
    /// Shift and Tab.
    BackTab,
    /// Control and this letter.
    Control(char),
}

/// The keys and what they do.
pub const KEYS: &[(&str, &str)] = &[
    ("1 to 9", "choose a view by its number"),
    ("Tab, Shift-Tab", "the next view, the one before"),
    ("Up, Down, k, j", "the row above, the row below"),
    ("Left, Right, h, l", "the column to the left, to the right"),
    ("PgUp, PgDn", "a screen up, a screen down"),
    ("Home, End, g, G", "the first row, the last row"),
    ("/", "show only rows with this text; Enter keeps it, Esc ends it"),
    ("s, S", "sort by the next figure, by the one before"),
    ("Enter", "enter the group or program under the cursor"),
    ("Esc, Backspace", "leave it, close what is open, end the filter, back to now"),
    ("e", "explain the number under the cursor"),
    ("p, Space", "pause, go on"),
    ("t", "go to a time that ramline record has written: 00:46, 2h for two hours ago; empty for now"),
    ("<, >", "the recorded moment before, the one after"),
    ("r", "read again now, also what is read seldom"),
    ("?", "these keys"),
    ("Ctrl-L", "draw everything again"),
    ("Ctrl-Z", "stop; fg goes on"),
    ("q, Ctrl-C", "quit"),
];

/// The table as a sheet.
#[must_use]
pub fn sheet() -> Sheet {
    let mut sheet = Sheet::new();
    let table = Table::from_rows(KEYS).left("key", |row| row.0).column(Column::wrapped("what it does"), |row| row.1);
    sheet.table(table);
    sheet
}
