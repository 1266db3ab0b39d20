//! A page for a terminal: a sheet drawn in a style.
//!
//! What it is not: a pager, nor the words. Every text is escaped as it is drawn.
//!
//! Worked example: `page.heading("Swap"); page.line("none"); page.finish()` is `"Swap\nnone\n"`.

use std::ops::{Deref, DerefMut};

use super::{Paint, Style, picture, wrap};
use crate::escape;
use crate::sheet::{Block, Depth, Sheet};

/// A sheet that is put together for a terminal alone, with everything on it.
#[derive(Debug, Clone)]
pub struct Page<'a> {
    style: &'a Style,
    sheet: Sheet,
}

impl<'a> Page<'a> {
    /// An empty page.
    #[must_use]
    pub const fn new(style: &'a Style) -> Self {
        Page { style, sheet: Sheet::new() }
    }

    /// The style it is drawn in.
    #[must_use]
    pub const fn style(&self) -> &'a Style {
        self.style
    }

    /// Lines drawn already: charts and bars. Control characters in them are escaped, line by line.
    pub fn raw(&mut self, lines: &[String]) {
        self.sheet.push(Block::Drawn(lines.to_vec()));
    }

    /// The text, ending in a line break.
    #[must_use]
    pub fn finish(self) -> String {
        self.sheet.text(self.style, Depth::All)
    }
}

impl Deref for Page<'_> {
    type Target = Sheet;

    fn deref(&self) -> &Sheet {
        &self.sheet
    }
}

impl DerefMut for Page<'_> {
    fn deref_mut(&mut self) -> &mut Sheet {
        &mut self.sheet
    }
}

impl Sheet {
    /// The sheet as text for a terminal, each line ended.
    #[must_use]
    pub fn text(&self, style: &Style, depth: Depth) -> String {
        let mut ink = Ink { style, depth, out: String::new() };
        ink.sheet(self);
        let named = self.blocks().iter().any(|block| matches!(block, Block::Next(text) if text.contains("--all")));
        if depth == Depth::Brief && self.has_more() && !named {
            ink.put(Paint::Dim, "", "--all shows more.");
        }
        ink.out
    }
}

/// Text while it is drawn.
struct Ink<'a> {
    style: &'a Style,
    depth: Depth,
    out: String,
}

impl Ink<'_> {
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
            Block::Table(table) => self.out.push_str(&table.draw(self.style)),
            Block::Stack(stack) => self.out.push_str(&picture::stack(stack, self.style)),
            // The table beside them has the numbers.
            Block::Times(_) => {}
            Block::Drawn(lines) => {
                lines.iter().for_each(|line| self.out.push_str(&format!("{}\n", escape(line).trim_end())));
            }
            Block::Gap => self.gap(),
            Block::Next(text) => {
                if self.depth == Depth::All {
                    self.gap();
                }
                self.put(Paint::Dim, "", &format!("Next: {text}"));
            }
            Block::Card { paint, title, sheet } => {
                self.gap();
                self.put(*paint, "", title);
                self.sheet(sheet);
            }
            Block::Strip(strip) => self.out.push_str(&picture::strip(strip, self.style)),
            Block::More { title, sheet } => {
                if self.depth == Depth::All {
                    if !title.is_empty() {
                        self.gap();
                        self.put(Paint::Bold, "", title);
                    }
                    self.sheet(sheet);
                }
            }
        }
    }

    /// An empty line, unless the text is empty or ends in one.
    fn gap(&mut self) {
        if !self.out.is_empty() && !self.out.ends_with("\n\n") {
            self.out.push('\n');
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

    #[test]
    fn headings_stand_apart_and_points_hang() {
        let style = Style { colour: false, width: 20 };
        let mut page = Page::new(&style);
        page.heading("One");
        page.line("text");
        page.heading("Two");
        page.point("  - ", "a point that is too long");
        page.command(4, "a command is never broken");
        assert_eq!(
            page.finish(),
            "One\ntext\n\nTwo\n  - a point that is\n    too long\n    a command is never broken\n"
        );
    }

    #[test]
    fn a_hostile_name_cannot_leave_its_line() {
        let style = Style { colour: true, width: 80 };
        let mut page = Page::new(&style);
        page.line("mount \u{1b}[2J\nroot: fine");
        page.command(0, "swapoff /x\r\u{202e}");
        page.raw(&["\u{7}".to_owned()]);
        let text = page.finish();
        assert_eq!(text, "mount \\u{1b}[2J\\nroot: fine\nswapoff /x\\r\\u{202e}\n\\u{7}\n");
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
}
