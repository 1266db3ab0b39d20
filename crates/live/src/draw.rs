//! The screen on a buffer of cells: the answer, the tabs, the page or what is open above it, and a line for keys.
//!
//! Worked example: 80 columns and 24 lines have the answer on the first line, the tabs on the second, 21 lines of the page, and the keys on the
//! last.

use ramline_sheet::escape;
use ramline_sheet::text::{plain, width, wrap};
use ramline_sheet::{Block, Paint};
use ratatui_core::buffer::Buffer;
use ratatui_core::layout::Rect;
use ratatui_core::style::{Color, Modifier, Style};

use crate::app::App;
use crate::document::{Document, Line};
use crate::page::Looks;
use crate::typing::Typing;

/// Of a screen that is smaller nothing can be read.
const LEAST: (u16, u16) = (20, 5);
/// The answer has at most so many lines: under 100 characters, on 40 columns.
const ANSWER: usize = 3;

/// Draws all of it; `area` is the screen.
pub fn draw(app: &mut App, buffer: &mut Buffer) {
    let area = buffer.area;
    if area.width < LEAST.0 || area.height < LEAST.1 {
        let mut pen = Pen { buffer, looks: app.looks, area };
        pen.text(0, 0, Paint::Plain, "too small");
        return;
    }
    let columns = usize::from(area.width);
    let (paint, answer) = answer(app);
    let lines = wrap(&escape(&answer), columns);
    let top = lines.len().min(ANSWER) + 1;
    let seen = usize::from(area.height).saturating_sub(top + 1);
    app.lay_out(columns, seen);
    let mut pen = Pen { buffer, looks: app.looks, area };
    for (y, line) in lines.iter().take(ANSWER).enumerate() {
        pen.text(0, y, paint, line);
    }
    tabs(app, &mut pen, top - 1);
    match &mut app.open {
        Some(open) => {
            let document = Document::new(
                std::slice::from_ref(&open.sheet),
                ramline_sheet::Depth::All,
                columns,
                seen,
                app.looks,
                "",
            );
            open.scroll = open.scroll.min(document.height.saturating_sub(seen));
            document.lines.iter().for_each(|line| pen.line(line, top, seen, open.scroll));
        }
        None => page(app, &mut pen, top),
    }
    keys(app, &mut pen);
}

/// The first line.
fn answer(app: &App) -> (Paint, String) {
    let answers = app.page.first.blocks().iter();
    let first = answers.filter_map(|block| match block {
        Block::Answer(paint, text) => Some((*paint, text.clone())),
        _ => None,
    });
    first.into_iter().next().unwrap_or((Paint::Dim, "reading ...".to_owned()))
}

/// The views, the chosen one marked; where they do not fit with what is inside of it, the others by their numbers alone.
fn tabs(app: &App, pen: &mut Pen<'_>, y: usize) {
    let whole = |at: usize, name: &str| format!("{} {name}", at + 1);
    let open = app.open.as_ref().map(|open| open.title.as_str());
    let inside: Vec<&str> = app.entered().iter().map(String::as_str).chain(open).collect();
    let inside = if inside.is_empty() { String::new() } else { format!("> {}", escape(&inside.join(" > "))) };
    let names: usize = app.views.iter().enumerate().map(|(at, view)| width(&whole(at, view.name))).sum();
    let needs = |gap: usize| names + gap * app.views.len() + width(&inside);
    let room = usize::from(pen.area.width);
    // The last gap is one column, and may be beyond the edge.
    let (fits, gap) = (needs(1) <= room + 1, if needs(2) <= room { 2 } else { 1 });
    let mut x = 0;
    for (at, view) in app.views.iter().enumerate() {
        let chosen = at == app.view;
        let text = if fits || chosen { whole(at, view.name) } else { (at + 1).to_string() };
        let paint = if chosen { Paint::Bold } else { Paint::Dim };
        let (from, end) = (x, pen.text(x, y, paint, &text));
        if chosen {
            pen.reverse(from, end, y);
        }
        x = end + gap;
    }
    pen.text(x, y, Paint::Bold, &inside);
}

/// The page, the selected row and cell marked, and the heads of its table above it where they are not seen.
fn page(app: &App, pen: &mut Pen<'_>, top: usize) {
    let (scroll, seen) = (app.scroll, app.seen);
    app.document.lines.iter().for_each(|line| pen.line(line, top, seen, scroll));
    let Some(row) = app.selected() else { return };
    let head = row.head.and_then(|at| app.document.lines.get(at));
    if let Some(head) = head.filter(|head| head.y < scroll && row.lines.start > scroll) {
        pen.clear(top);
        pen.line(&Line { y: scroll, ..head.clone() }, top, seen, scroll);
    }
    let place = |line: usize| line.checked_sub(scroll).filter(|line| *line < seen).map(|line| top + line);
    for y in row.lines.clone().filter_map(place) {
        let cell = app.column().and_then(|at| row.cells.get(at));
        let all = row.cells.first().zip(row.cells.last());
        let marked =
            all.map_or(row.x..usize::from(pen.area.width), |(a, b)| row.x + a.columns.start..row.x + b.columns.end);
        pen.underline(marked.start, marked.end, y);
        match cell {
            Some(cell) => pen.reverse(row.x + cell.columns.start, row.x + cell.columns.end, y),
            None => pen.reverse(marked.start, marked.end, y),
        }
    }
}

/// The last line: the filter, or what was not possible, or the keys; the time to the right.
fn keys(app: &App, pen: &mut Pen<'_>) {
    let y = usize::from(pen.area.height).saturating_sub(1);
    let note = match &app.moment {
        Some(moment) => format!("recorded {moment}"),
        None if app.is_paused => format!("paused  {}", app.page.note),
        None => app.page.note.clone(),
    };
    let right = usize::from(pen.area.width).saturating_sub(width(&note));
    let sorted = app.sorted_by().map(|by| format!("  s sorted by {by}")).unwrap_or_default();
    let pause = if app.is_paused { "p go on" } else { "p pause" };
    let mut hints = match app.moment {
        Some(_) => format!("q quit  ? keys  Esc now  < > step{sorted}  / filter  e explain"),
        None => format!("q quit  ? keys{sorted}  / filter  e explain  {pause}  t time"),
    };
    // The time has its place; the hints give way from their end.
    while width(&hints) >= right
        && let Some(at) = hints.rfind("  ")
    {
        hints.truncate(at);
    }
    let (paint, text) = match &app.typing {
        Some(Typing::Filter) => (Paint::Bold, format!("/{}_", app.filter)),
        Some(Typing::Time(text)) => (Paint::Bold, format!("time (00:46, 2h; empty: now): {text}_")),
        None => match () {
            () if !app.hint.is_empty() => (Paint::Warn, app.hint.clone()),
            () if app.open.is_some() => (Paint::Dim, "Esc closes  Up, Down, PgUp, PgDn".to_owned()),
            () if !app.filter.is_empty() => (Paint::Bold, format!("/{}  Esc shows all rows", app.filter)),
            () => (Paint::Dim, hints),
        },
    };
    let end = pen.text(0, y, paint, &escape(&text));
    if right > end {
        pen.text(right, y, if app.is_still() { Paint::Warn } else { Paint::Dim }, &note);
    }
}

/// Writes on the buffer, in what the terminal can show.
struct Pen<'a> {
    buffer: &'a mut Buffer,
    looks: Looks,
    area: Rect,
}

impl Pen<'_> {
    /// A text; the column behind it.
    fn text(&mut self, x: usize, y: usize, paint: Paint, text: &str) -> usize {
        let (Ok(x16), Ok(y16)) = (u16::try_from(x), u16::try_from(y)) else { return x };
        if x16 >= self.area.width || y16 >= self.area.height {
            return x;
        }
        let text = if self.looks.ascii { plain(text) } else { text.into() };
        let room = usize::from(self.area.width - x16);
        usize::from(self.buffer.set_stringn(x16, y16, text, room, style(paint, self.looks)).0)
    }

    /// A line of a document, where it is seen.
    fn line(&mut self, line: &Line, top: usize, seen: usize, scroll: usize) {
        let Some(y) = line.y.checked_sub(scroll).filter(|y| *y < seen) else { return };
        let mut x = line.x;
        for (paint, text) in &line.pieces {
            x = self.text(x, top + y, *paint, text);
        }
    }

    fn clear(&mut self, y: usize) {
        let blank = " ".repeat(usize::from(self.area.width));
        self.text(0, y, Paint::Plain, &blank);
    }

    fn underline(&mut self, from: usize, to: usize, y: usize) {
        self.modify(from, to, y, Modifier::BOLD);
    }

    fn reverse(&mut self, from: usize, to: usize, y: usize) {
        self.modify(from, to, y, Modifier::REVERSED);
    }

    fn modify(&mut self, from: usize, to: usize, y: usize, modifier: Modifier) {
        let (Ok(x), Ok(y), Ok(wide)) = (u16::try_from(from), u16::try_from(y), u16::try_from(to.saturating_sub(from)))
        else {
            return;
        };
        let area = Rect::new(x, y, wide, 1).intersection(self.area);
        self.buffer.set_style(area, Style::new().add_modifier(modifier));
    }
}

/// What a paint is to a terminal: the 16 colours, or none.
const fn style(paint: Paint, looks: Looks) -> Style {
    let plain = Style::new();
    let colour = match paint {
        Paint::Plain => return plain,
        Paint::Bold => return plain.add_modifier(Modifier::BOLD),
        Paint::Dim => return plain.add_modifier(Modifier::DIM),
        Paint::Good => Color::Green,
        Paint::Warn => Color::Yellow,
        Paint::Bad => Color::Red,
        Paint::Blue => Color::Blue,
        Paint::Magenta => Color::Magenta,
        Paint::Cyan => Color::Cyan,
    };
    if looks.colour {
        plain.fg(colour)
    } else if matches!(paint, Paint::Warn | Paint::Bad) {
        plain.add_modifier(Modifier::BOLD)
    } else {
        plain
    }
}
