//! What keys do: which view, which order, which row, what is open above it. A state machine; it reads nothing and draws nothing.
//!
//! Worked example: in a view that can be entered, Enter on the row `/system.slice` asks for the page of that group, and Esc for the list again.

use ramline_sheet::{Depth, Sheet};

use crate::document::{Document, Row};
use crate::keys::{self, Key};
use crate::page::{Looks, Page, Time, View, ViewRequest};
use crate::typing::Typing;

/// What is to be done after a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Effect {
    /// Nothing, not even drawing.
    Nothing,
    /// Draw.
    Draw,
    /// Ask for a page, then draw.
    Ask {
        /// What takes long to read, too.
        again: bool,
    },
    /// Explain the first of these names that can be explained.
    Explain(Vec<String>),
    /// Show another time.
    GoTo(Time),
    /// Draw every cell.
    Redraw,
    /// Stop, as Ctrl-Z does elsewhere.
    Stop,
    /// End.
    Quit,
}

/// What is open above the page.
#[derive(Debug, Clone, PartialEq)]
pub struct Open {
    /// Its title.
    pub title: String,
    /// It.
    pub sheet: Sheet,
    /// Lines that are above the screen.
    pub scroll: usize,
}

/// The screen and where one is in it.
#[derive(Debug)]
pub struct App {
    pub(crate) views: &'static [View],
    pub(crate) view: usize,
    sorts: Vec<usize>,
    entered: Vec<String>,
    pub(crate) page: Page,
    pub(crate) filter: String,
    /// What is being typed on the last line.
    pub(crate) typing: Option<Typing>,
    pub(crate) is_paused: bool,
    /// The moment of the record that is shown; `None` where it is now.
    pub(crate) moment: Option<String>,
    pub(crate) open: Option<Open>,
    /// A sentence for the last line, until the next key.
    pub(crate) hint: String,
    pub(crate) looks: Looks,
    pub(crate) document: Document,
    /// Columns and lines that the document was made for; `None` where it is to be made again.
    made_for: Option<(usize, usize)>,
    /// The selected row, and its key: it is followed where it moves.
    row: usize,
    key: String,
    /// The selected column: at first that of the first number, which stands behind the name.
    at: usize,
    pub(crate) scroll: usize,
    /// Lines of the page that are seen.
    pub(crate) seen: usize,
}

impl App {
    /// The first view, without a page.
    #[must_use]
    pub fn new(views: &'static [View], looks: Looks) -> App {
        App {
            views,
            view: 0,
            sorts: vec![0; views.len()],
            entered: Vec::new(),
            page: Page::default(),
            filter: String::new(),
            typing: None,
            is_paused: false,
            moment: None,
            open: None,
            hint: String::new(),
            looks,
            document: Document::default(),
            made_for: None,
            row: 0,
            key: String::new(),
            at: FIRST_NUMBER,
            scroll: 0,
            seen: 1,
        }
    }

    /// What is to be shown.
    #[must_use]
    pub fn ask(&self, again: bool) -> ViewRequest<'_> {
        ViewRequest { view: self.view, sort: self.sort(), entered: &self.entered, again }
    }

    /// No page is asked for: it is paused, or the past, which stays as it is.
    #[must_use]
    pub const fn is_still(&self) -> bool {
        self.is_paused || self.moment.is_some()
    }

    /// Shows another time, or why it cannot.
    pub fn went_to(&mut self, time: Result<Option<String>, String>) {
        match time {
            Ok(moment) => self.moment = moment,
            Err(sentence) => self.hint = sentence,
        }
    }

    /// Shows a page.
    pub fn show(&mut self, page: Page) {
        self.page = page;
        self.made_for = None;
    }

    /// Shows an explanation, or that there is none.
    pub fn explained(&mut self, explained: Result<(String, Sheet), String>) {
        match explained {
            Ok((title, sheet)) => self.open = Some(Open { title, sheet, scroll: 0 }),
            Err(sentence) => self.hint = sentence,
        }
    }

    /// The place of the order.
    pub(crate) fn sort(&self) -> usize {
        self.sorts.get(self.view).copied().unwrap_or_default()
    }

    /// Its name; none where there is one order, and in what was entered.
    pub(crate) fn sorted_by(&self) -> Option<&'static str> {
        self.views.get(self.view)?.sorts.get(self.sort()).copied().filter(|_| self.entered.is_empty())
    }

    /// What was entered, one in the other.
    pub(crate) fn entered(&self) -> &[String] {
        &self.entered
    }

    /// The selected row.
    pub(crate) fn selected(&self) -> Option<&Row> {
        self.document.rows.get(self.row)
    }

    /// The selected cell: its place among those of the row.
    pub(crate) fn column(&self) -> Option<usize> {
        let last = self.selected()?.cells.len().checked_sub(1)?;
        Some(self.at.min(last))
    }

    /// The page for a screen of so many columns, of which so many lines are seen.
    pub(crate) fn lay_out(&mut self, width: usize, seen: usize) {
        self.seen = seen.max(1);
        if self.made_for != Some((width, seen)) {
            self.document = Document::new(&self.page.parts, self.page.depth, width, seen, self.looks, &self.filter);
            self.made_for = Some((width, seen));
            // The first row stays the first; any other is followed.
            let same = |row: &Row| row.key == self.key;
            if self.row > 0 && self.document.rows.get(self.row).is_none_or(|row| !same(row)) {
                self.row = self.document.rows.iter().position(same).unwrap_or(self.row);
            }
            self.row = self.row.min(self.document.rows.len().saturating_sub(1));
        }
        self.scroll = self.scroll.min(self.document.height.saturating_sub(self.seen));
    }

    /// What a key does.
    pub fn key(&mut self, key: Key) -> Effect {
        self.hint.clear();
        match key {
            Key::Control('c') => return Effect::Quit,
            Key::Control('z') => return Effect::Stop,
            Key::Control('l') => return Effect::Redraw,
            _ => {}
        }
        match self.typing.take() {
            Some(Typing::Filter) => return self.type_filter(key),
            Some(Typing::Time(text)) => return self.type_time(text, key),
            None => {}
        }
        if self.open.is_some() {
            return self.in_open(key);
        }
        match key {
            Key::Char('q') => Effect::Quit,
            Key::Char('?') => {
                self.open = Some(Open { title: "Keys".to_owned(), sheet: keys::sheet(), scroll: 0 });
                Effect::Draw
            }
            Key::Char('p' | ' ') => {
                self.is_paused = !self.is_paused;
                if self.is_paused { Effect::Draw } else { Effect::Ask { again: false } }
            }
            Key::Char('r') => Effect::Ask { again: true },
            Key::Char('/') => {
                self.typing = Some(Typing::Filter);
                self.filter.clear();
                self.filtered()
            }
            Key::Char('t') => {
                self.typing = Some(Typing::Time(String::new()));
                Effect::Draw
            }
            Key::Char('<') => Effect::GoTo(Time::Before),
            Key::Char('>') => Effect::GoTo(Time::After),
            Key::Char('e') => self.explain(),
            Key::Char('s') => self.sort_by(1),
            Key::Char('S') => self.sort_by(-1),
            Key::Char(digit @ '1'..='9') => self.choose(digit as usize - '1' as usize),
            Key::Tab => self.choose((self.view + 1) % self.views.len().max(1)),
            Key::BackTab => self.choose((self.view + self.views.len().max(1) - 1) % self.views.len().max(1)),
            Key::Enter => self.enter(),
            Key::Escape | Key::Backspace => self.leave(),
            Key::Left | Key::Char('h') => self.column_by(-1),
            Key::Right | Key::Char('l') => self.column_by(1),
            _ => self.moved(key),
        }
    }

    pub(crate) fn filtered(&mut self) -> Effect {
        self.made_for = None;
        (self.row, self.scroll) = (0, 0);
        Effect::Draw
    }

    /// A key while something is open above the page.
    fn in_open(&mut self, key: Key) -> Effect {
        let seen = self.seen;
        let Some(open) = &mut self.open else { return Effect::Nothing };
        match key {
            Key::Char('q' | 'e' | '?') | Key::Escape | Key::Backspace | Key::Enter => self.open = None,
            Key::Up | Key::Char('k') => open.scroll = open.scroll.saturating_sub(1),
            Key::Down | Key::Char('j') => open.scroll += 1,
            Key::PageUp => open.scroll = open.scroll.saturating_sub(seen),
            Key::PageDown | Key::Char(' ') => open.scroll += seen,
            Key::Home | Key::Char('g') => open.scroll = 0,
            Key::End | Key::Char('G') => open.scroll = OPEN_AT_MOST,
            _ => return Effect::Nothing,
        }
        Effect::Draw
    }

    fn sort_by(&mut self, step: isize) -> Effect {
        let Some(view) = self.views.get(self.view).filter(|view| !view.sorts.is_empty() && self.entered.is_empty())
        else {
            self.hint = "these rows have one order".to_owned();
            return Effect::Draw;
        };
        let next = self.sort().checked_add_signed(step).unwrap_or(view.sorts.len() - 1) % view.sorts.len();
        self.sorts[self.view] = next;
        (self.row, self.scroll) = (0, 0);
        Effect::Ask { again: false }
    }

    fn choose(&mut self, view: usize) -> Effect {
        if view >= self.views.len() {
            return Effect::Nothing;
        }
        self.view = view;
        self.entered.clear();
        self.filter.clear();
        self.at = FIRST_NUMBER;
        self.page.parts.clear();
        self.page.depth = Depth::Brief;
        self.filtered();
        Effect::Ask { again: false }
    }

    fn enter(&mut self) -> Effect {
        let enters = self.views.get(self.view).is_some_and(|view| self.entered.len() < view.enters);
        let key = self.selected().map(|row| row.key.clone()).filter(|key| !key.is_empty());
        match key.filter(|_| enters) {
            Some(key) => {
                self.entered.push(key);
                self.filter.clear();
                self.filtered();
                Effect::Ask { again: false }
            }
            None => {
                self.hint = "nothing to enter here; e explains the number under the cursor".to_owned();
                Effect::Draw
            }
        }
    }

    fn leave(&mut self) -> Effect {
        if !self.filter.is_empty() {
            self.filter.clear();
            return self.filtered();
        }
        let Some(left) = self.entered.pop() else {
            return if self.moment.is_some() { Effect::GoTo(Time::Now) } else { Effect::Nothing };
        };
        (self.key, self.row, self.scroll) = (left, usize::MAX, 0);
        self.made_for = None;
        Effect::Ask { again: false }
    }

    /// Names under the cursor: the head of the column, then the row.
    fn explain(&mut self) -> Effect {
        let Some(row) = self.selected() else {
            self.hint = "no number is under the cursor".to_owned();
            return Effect::Draw;
        };
        let head = self.column().and_then(|at| row.cells.get(at)).map(|cell| cell.head.clone());
        let names = head.into_iter().chain([row.key.clone()]).filter(|name| !name.is_empty()).collect();
        Effect::Explain(names)
    }

    fn column_by(&mut self, step: isize) -> Effect {
        let now = self.column();
        let Some(row) = self.selected() else { return Effect::Nothing };
        let Some(now) = now else { return Effect::Nothing };
        // Bars have no head, and what they draw stands beside them.
        let bare = |at: &usize| row.head.is_some() && row.cells[*at].head.is_empty();
        let next = if step < 0 {
            (0..now).rev().find(|at| !bare(at))
        } else {
            (now + 1..row.cells.len()).find(|at| !bare(at))
        };
        let Some(next) = next else { return Effect::Nothing };
        self.at = next;
        Effect::Draw
    }

    /// A key that moves up or down.
    fn moved(&mut self, key: Key) -> Effect {
        let last = self.document.rows.len().saturating_sub(1);
        let deepest = self.document.height.saturating_sub(self.seen);
        let row = match key {
            Key::Up | Key::Char('k') if self.row == 0 => {
                self.scroll = 0;
                0
            }
            Key::Up | Key::Char('k') => self.row.saturating_sub(1),
            // Below the last row there may be sentences.
            Key::Down | Key::Char('j') if self.row >= last => {
                self.scroll = (self.scroll + 1).min(deepest);
                return Effect::Draw;
            }
            Key::Down | Key::Char('j') => self.row + 1,
            Key::PageUp => {
                self.scroll = self.scroll.saturating_sub(self.seen);
                self.row_at(self.scroll)
            }
            Key::PageDown => {
                self.scroll = (self.scroll + self.seen).min(deepest);
                if self.scroll == deepest { last } else { self.row_at(self.scroll) }
            }
            Key::Home | Key::Char('g') => {
                self.scroll = 0;
                0
            }
            Key::End | Key::Char('G') => {
                self.scroll = deepest;
                last
            }
            _ => return Effect::Nothing,
        };
        self.row = row.min(last);
        self.key = self.selected().map(|row| row.key.clone()).unwrap_or_default();
        if let Some(lines) = self.selected().map(|row| row.lines.clone()) {
            // Its head stays above it.
            let above = usize::from(self.selected().is_some_and(|row| row.head.is_some()));
            self.scroll = self.scroll.min(lines.start.saturating_sub(above));
            self.scroll = self.scroll.max((lines.end + 1).saturating_sub(self.seen + 1));
        }
        Effect::Draw
    }

    /// The first row from this line on.
    fn row_at(&self, line: usize) -> usize {
        self.document.rows.iter().position(|row| row.lines.start >= line).unwrap_or(self.row)
    }
}

/// The place of the column behind the name.
const FIRST_NUMBER: usize = 1;

/// Nothing that is opened has more lines.
const OPEN_AT_MOST: usize = 100_000;
