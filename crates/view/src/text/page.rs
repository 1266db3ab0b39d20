//! A page: headings, sentences and tables one below the other.
//!
//! What it is not: a pager. Every text is escaped as it enters.
//!
//! Worked example: `page.heading("Swap"); page.line("none"); page.finish()` is `"Swap\nnone\n"`.

use super::{Paint, Style, Table, wrap};
use crate::escape;

/// Text while it is put together.
#[derive(Debug, Clone)]
pub struct Page<'a> {
    style: &'a Style,
    out: String,
}

impl<'a> Page<'a> {
    /// An empty page.
    #[must_use]
    pub const fn new(style: &'a Style) -> Self {
        Page { style, out: String::new() }
    }

    /// The style it is drawn in.
    #[must_use]
    pub const fn style(&self) -> &'a Style {
        self.style
    }

    /// A sentence, wrapped.
    pub fn line(&mut self, text: &str) {
        self.put(Paint::Plain, "", "", text);
    }

    /// The sentence that matters, wrapped.
    pub fn bold(&mut self, text: &str) {
        self.put(Paint::Bold, "", "", text);
    }

    /// An aside, wrapped.
    pub fn dim(&mut self, text: &str) {
        self.put(Paint::Dim, "", "", text);
    }

    /// A sentence in a colour that says what kind it is.
    pub fn painted(&mut self, paint: Paint, text: &str) {
        self.put(paint, "", "", text);
    }

    /// A heading, after an empty line unless it is the first.
    pub fn heading(&mut self, text: &str) {
        self.blank();
        self.bold(text);
    }

    /// A point of a list: `label` hangs in front of the wrapped text.
    pub fn point(&mut self, label: &str, text: &str) {
        self.painted_point(Paint::Plain, label, text);
    }

    /// The same in a colour.
    pub fn painted_point(&mut self, paint: Paint, label: &str, text: &str) {
        let label = escape(label).into_owned();
        let rest = " ".repeat(super::width(&label));
        self.put(paint, &label, &rest, text);
    }

    /// A command to copy: never wrapped.
    pub fn command(&mut self, indent: usize, text: &str) {
        self.out.push_str(&" ".repeat(indent));
        self.out.push_str(&escape(text));
        self.out.push('\n');
    }

    /// Lines drawn already: charts and bars. Control characters in them are escaped, line by line.
    pub fn raw(&mut self, lines: &[String]) {
        for line in lines {
            self.out.push_str(escape(line).trim_end());
            self.out.push('\n');
        }
    }

    /// A table.
    pub fn table(&mut self, table: &Table) {
        self.out.push_str(&table.draw(self.style));
    }

    /// An empty line, unless the page is empty or ends in one.
    pub fn blank(&mut self) {
        if !self.out.is_empty() && !self.out.ends_with("\n\n") {
            self.out.push('\n');
        }
    }

    /// The text, ending in a line break.
    #[must_use]
    pub fn finish(self) -> String {
        self.out
    }

    fn put(&mut self, paint: Paint, first: &str, next: &str, text: &str) {
        let text = escape(text);
        let columns = self.style.width.saturating_sub(super::width(first));
        for (index, line) in wrap(&text, columns).iter().enumerate() {
            self.out.push_str(if index == 0 { first } else { next });
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
}
