//! A sheet drawn for a terminal, in a style.
//!
//! Every text is escaped as it is drawn.
//!
//! Worked example: a sheet with the heading `Swap` and the line `none` is `"Swap\nnone\n"`.

use super::{Drawn, Paint, RowAt, Style, charts, picture, trends, wrap};
use crate::escape;
use crate::sheet::{Block, Depth, Sheet};

impl Sheet {
    /// The sheet as text for a terminal, each line ended.
    #[must_use]
    pub fn text(&self, style: &Style, depth: Depth) -> String {
        ink(self, Ink::new(style, depth)).out
    }

    /// The sheet for a live screen, with its rows: without the hints to options and commands that a live screen has keys for.
    #[must_use]
    pub fn drawn(&self, style: &Style, depth: Depth) -> Drawn {
        let ink = ink(self, Ink { live: true, ..Ink::new(style, depth) });
        Drawn { text: ink.out, rows: ink.rows }
    }

    /// The same on a screen of so many lines: cards stand close together, and what does not fit is left out, the last first: what
    /// belongs to a card, then cards, then rows of tables that may be shorter. What cannot be left out is shown however long it is.
    #[must_use]
    pub fn text_within(&self, style: &Style, depth: Depth, lines: usize) -> String {
        let (mut sheet, mut left_out) = (self.clone(), 0);
        loop {
            let text = ink(&sheet, Ink { dense: true, left_out, ..Ink::new(style, depth) }).out;
            if text.lines().count() <= lines || !shorten(&mut sheet, &mut left_out) {
                return text;
            }
        }
    }
}

/// Draws a sheet, and says how to ask for the rest.
fn ink<'a>(sheet: &Sheet, mut ink: Ink<'a>) -> Ink<'a> {
    ink.sheet(sheet);
    let named = |block: &Block| match block {
        Block::Next(text) => text.contains("--all"),
        Block::Ask(_) => true,
        _ => false,
    };
    if !ink.live && ink.depth == Depth::Brief && sheet.has_more() && !sheet.blocks().iter().any(named) {
        ink.put(Paint::Dim, "", "--all shows more.");
    }
    ink
}

/// Leaves out what can be spared most; false where nothing can.
fn shorten(sheet: &mut Sheet, left_out: &mut u64) -> bool {
    let blocks = sheet.blocks_mut();
    let full = blocks.iter_mut().rev().find_map(|block| match block {
        Block::Card { sheet, .. } if !sheet.is_empty() => Some(sheet),
        _ => None,
    });
    if let Some(full) = full {
        *full = Sheet::new();
        return true;
    }
    if let Some(last) = blocks.iter().rposition(|block| matches!(block, Block::Card { .. })) {
        blocks.remove(last);
        *left_out += 1;
        return true;
    }
    blocks.iter_mut().rev().any(|block| match block {
        Block::Table(table) => table.shrink(),
        Block::Digest { short, .. } => shorten(short, left_out),
        _ => false,
    })
}

/// Text while it is drawn.
struct Ink<'a> {
    style: &'a Style,
    depth: Depth,
    /// No room between cards.
    dense: bool,
    /// Cards that were left out.
    left_out: u64,
    /// Keys do what the hints to options and commands would say.
    live: bool,
    out: String,
    /// Where the rows of its tables stand.
    rows: Vec<RowAt>,
}

impl<'a> Ink<'a> {
    const fn new(style: &'a Style, depth: Depth) -> Self {
        Ink { style, depth, dense: false, left_out: 0, live: false, out: String::new(), rows: Vec::new() }
    }
}

impl Ink<'_> {
    /// A text with rows, below what is there.
    fn rows(&mut self, (text, rows): (String, Vec<RowAt>)) {
        let above = if self.live { self.out.matches('\n').count() } else { 0 };
        let moved = |row: RowAt| RowAt {
            lines: row.lines.start + above..row.lines.end + above,
            head: row.head.map(|head| head + above),
            ..row
        };
        self.rows.extend(rows.into_iter().map(moved));
        self.out.push_str(&text);
    }

    fn sheet(&mut self, sheet: &Sheet) {
        for block in sheet.blocks() {
            self.block(block);
        }
    }

    fn block(&mut self, block: &Block) {
        match block {
            Block::Answer(paint, text) => self.put(*paint, "", text),
            Block::Heading(text) => {
                self.gap();
                self.put(Paint::Bold, "", text);
            }
            Block::Line { paint, label, text } => self.put(*paint, label, text),
            Block::Commands { indent, lines } => {
                let room = " ".repeat(*indent);
                lines.iter().for_each(|line| self.out.push_str(&format!("{room}{}\n", escape(line))));
            }
            Block::Table(table) => self.rows(table.draw_with_rows(self.style)),
            Block::Stack(stack) => self.rows(picture::stack(stack, self.style)),
            Block::Trends(trends) => self.rows(trends::trends(trends, self.style)),
            // The table beside them has the numbers.
            Block::Times(_) => {}
            Block::Gap => self.gap(),
            Block::Next(_) | Block::Ask(_) if self.live => {}
            Block::Next(text) => {
                if self.depth == Depth::All {
                    self.gap();
                }
                self.put(Paint::Dim, "", &format!("Next: {text}"));
            }
            Block::Card { paint, title, sheet } => {
                if !self.dense {
                    self.gap();
                }
                self.put(*paint, "", title);
                self.sheet(sheet);
            }
            Block::Strip(strip) => self.out.push_str(&picture::strip(strip, self.style)),
            Block::More { title, sheet } => {
                if self.depth == Depth::All {
                    self.titled(title, sheet);
                }
            }
            Block::Digest { short, title, full } => match self.depth {
                Depth::Brief => self.sheet(short),
                Depth::All => self.titled(title, full),
            },
            Block::Ask(text) => {
                if self.depth == Depth::Brief {
                    self.put(Paint::Dim, "", text);
                }
            }
            Block::Aside { lines, text } => self.clipped(*lines, text),
            Block::LeftOut(text) => {
                if self.left_out > 0 {
                    self.put(Paint::Dim, "", &format!("{} {text}", self.left_out));
                }
            }
            Block::Bars(bars) => {
                let lines = charts::bars(bars, self.style);
                if !lines.is_empty() {
                    self.gap();
                    self.put(Paint::Bold, "", &bars.title);
                    self.drawn(&lines);
                }
            }
            Block::Panels(panels) => {
                if let Some((lines, letters)) = charts::panels(panels, self.style) {
                    self.gap();
                    self.drawn(&lines);
                    self.put(Paint::Dim, "", &letters);
                }
            }
        }
    }

    /// Lines as they are, but for what steers a terminal.
    fn drawn(&mut self, lines: &[String]) {
        lines.iter().for_each(|line| self.out.push_str(&format!("{}\n", escape(line).trim_end())));
    }

    fn titled(&mut self, title: &str, sheet: &Sheet) {
        if !title.is_empty() {
            self.gap();
            self.put(Paint::Bold, "", title);
        }
        self.sheet(sheet);
    }

    /// An empty line, unless the text is empty or ends in one.
    fn gap(&mut self) {
        if !self.out.is_empty() && !self.out.ends_with("\n\n") {
            self.out.push('\n');
        }
    }

    /// At most so many lines of a sentence.
    fn clipped(&mut self, most: usize, text: &str) {
        const ON: &str = " ...";
        let lines = wrap(&escape(text), self.style.width.saturating_sub(ON.len()));
        match lines.get(..most).filter(|_| lines.len() > most) {
            Some(first) => self.put(Paint::Dim, "", &format!("{}{ON}", first.join(" "))),
            None => self.put(Paint::Dim, "", text),
        }
    }

    /// A sentence, wrapped; what hangs in front of it is as wide on every line.
    fn put(&mut self, paint: Paint, label: &str, text: &str) {
        let (label, text) = (escape(label), escape(text));
        let hang = super::width(&label);
        let columns = self.style.width.saturating_sub(hang);
        for (index, line) in wrap(&text, columns).iter().enumerate() {
            if index == 0 {
                self.out.push_str(&label);
            } else {
                self.out.push_str(&" ".repeat(hang));
            }
            self.out.push_str(&self.style.paint(paint, line));
            self.out.push('\n');
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sheet::{Bar, Bars};
    use crate::text::{Column, Table};

    #[test]
    fn headings_stand_apart_and_points_hang() {
        let style = Style { colour: false, width: 20 };
        let mut sheet = Sheet::new();
        sheet.heading("One");
        sheet.line("text");
        sheet.heading("Two");
        sheet.point("  - ", "a point that is too long");
        sheet.command(4, "a command is never broken");
        assert_eq!(
            sheet.text(&style, Depth::All),
            "One\ntext\n\nTwo\n  - a point that is\n    too long\n    a command is never broken\n"
        );
    }

    #[test]
    fn a_hostile_name_cannot_leave_its_line() {
        let style = Style { colour: true, width: 80 };
        let mut sheet = Sheet::new();
        sheet.line("mount \u{1b}[2J\nroot: fine");
        sheet.command(0, "swapoff /x\r\u{202e}");
        let row = Bar { name: "\u{7}".to_owned(), value: "1\u{9b}".to_owned(), at: Some(1.0), ..Bar::default() };
        sheet.bars(Bars { title: "a\nb".to_owned(), rows: vec![row], ..Bars::default() });
        let text = sheet.text(&style, Depth::All);
        assert!(text.starts_with("mount \\u{1b}[2J\\nroot: fine\nswapoff /x\\r\\u{202e}\n\n"), "{text}");
        assert!(text.contains("a\\nb") && text.contains("\n  \\u{7}  ##") && text.ends_with("# 1\\u{9b}\n"), "{text}");
    }

    #[test]
    fn what_is_shown_on_request_is_left_out_of_the_brief() {
        let mut sheet = Sheet::new();
        sheet.answer(Paint::Good, "Yes.");
        sheet.more("Why", |more| more.line("because"));
        sheet.more("Nothing", |_| {});
        assert_eq!(sheet.text(&Style::default(), Depth::Brief), "Yes.\n--all shows more.\n");
        assert_eq!(sheet.text(&Style::default(), Depth::All), "Yes.\n\nWhy\nbecause\n");
        assert!(sheet.has_more());
    }

    #[test]
    fn a_short_form_stands_for_the_full_one_and_says_how_to_ask_for_it() {
        let line = |text: &str| {
            let mut sheet = Sheet::new();
            sheet.line(text);
            sheet
        };
        let mut sheet = Sheet::new();
        sheet.push(Block::Digest { short: line("two numbers"), title: "Why?".to_owned(), full: line("nine numbers") });
        sheet.ask("More: --more");
        assert_eq!(sheet.text(&Style::default(), Depth::Brief), "two numbers\nMore: --more\n");
        assert_eq!(sheet.text(&Style::default(), Depth::All), "Why?\nnine numbers\n");
    }

    #[test]
    fn on_a_screen_of_few_lines_the_last_cards_lose_their_contents_and_then_go() {
        let mut sheet = Sheet::new();
        sheet.answer(Paint::Plain, "Three.");
        for n in 1..=3 {
            let mut inside = Sheet::new();
            inside.line("why");
            sheet.push(Block::Card { paint: Paint::Plain, title: format!("{n}."), sheet: inside });
        }
        sheet.push(Block::LeftOut("more, in the report".to_owned()));
        let mut table = Table::new(vec![Column::left("")]).shrinks();
        table.row(["a".into()]);
        sheet.table(table);
        let within = |lines| sheet.text_within(&Style::default(), Depth::Brief, lines);
        assert_eq!(within(40), "Three.\n1.\nwhy\n2.\nwhy\n3.\nwhy\na\n");
        assert_eq!(within(6), "Three.\n1.\nwhy\n2.\n3.\na\n");
        assert_eq!(within(4), "Three.\n1.\n2 more, in the report\na\n");
        assert_eq!(within(1), "Three.\n3 more, in the report\n");
    }

    #[test]
    fn an_aside_ends_after_its_lines() {
        let mut sheet = Sheet::new();
        sheet.aside(1, "Not done: one, two, three.");
        let draw = |width| sheet.text(&Style { colour: false, width }, Depth::Brief);
        assert_eq!((draw(40).as_str(), draw(20).as_str()), ("Not done: one, two, three.\n", "Not done: one, ...\n"));
    }
}
