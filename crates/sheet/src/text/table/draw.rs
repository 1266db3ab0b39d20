//! A table as lines of a terminal.

use std::rc::Rc;

use super::fit::{Layout, Shown};
use super::{GAP, text};
use crate::sheet::{Cell, Flow, Paint, Table};
use crate::text::{CellAt, RowAt, Style, width, wrap};

impl Table {
    /// The text: heads (unless all are empty) and rows, each line ended. What does not fit loses its bars first, then the columns
    /// that can be spared; if that is not enough, each row becomes a few lines of its own, with all but the bars.
    #[must_use]
    pub fn draw(&self, style: &Style) -> String {
        self.draw_with_rows(style).0
    }

    /// The same, and where in the text each row stands.
    #[must_use]
    pub fn draw_with_rows(&self, style: &Style) -> (String, Vec<RowAt>) {
        let available = style.width.saturating_sub(self.indent);
        let layout = Layout::for_width(self, available);
        if let Some(folded) = self.folded(&layout) {
            return folded.draw_with_rows(style);
        }
        let (mut out, mut rows, mut line) = (String::new(), Vec::new(), 0);

        if layout.total() > available && layout.columns.len() > 1 {
            let all: Vec<usize> = self.shown().into_iter().map(|(at, _)| at).filter(|at| !self.has_bar(*at)).collect();
            for (at, row) in self.rows.iter().enumerate() {
                let from = out.len();
                self.card(row, &all, style, &mut out);
                let end = line + out[from..].matches('\n').count();
                rows.push(RowAt { lines: line..end, head: None, key: self.key(at).to_owned(), cells: Rc::from([]) });
                line = end;
            }
            return (out, rows);
        }
        let cells = self.places(&layout);
        let headed = self.columns.iter().any(|c| !c.head.is_empty());
        if headed {
            let heads: Vec<Cell> = self.columns.iter().map(|c| Cell::painted(Paint::Dim, c.head.as_str())).collect();
            self.line(&heads, &layout, style, &mut out);
            line = out.matches('\n').count();
        }
        for (at, row) in self.rows.iter().enumerate() {
            let from = out.len();
            self.line(row, &layout, style, &mut out);
            let end = line + out[from..].matches('\n').count();
            rows.push(RowAt {
                lines: line..end,
                head: headed.then_some(0),
                key: self.key(at).to_owned(),
                cells: Rc::clone(&cells),
            });
            line = end;
        }
        (out, rows)
    }

    /// Where the columns stand.
    fn places(&self, layout: &Layout) -> Rc<[CellAt]> {
        let mut from = self.indent;
        let place = |shown: &Shown| {
            let columns = from..from + shown.width;
            from = columns.end + GAP;
            CellAt { head: self.columns[shown.at].head.clone(), columns }
        };
        layout.columns.iter().map(place).collect()
    }

    /// A row where the terminal is too narrow for its columns: what it is on a line, and below it each value with its head.
    fn card(&self, row: &[Cell], all: &[usize], style: &Style, out: &mut String) {
        let cell = |at: usize| row.get(at).filter(|cell| !cell.text.is_empty());
        let mut cells = all.iter().filter_map(|at| Some((&self.columns[*at], cell(*at)?)));
        let mut put = |indent: usize, paint: Paint, text: &str| {
            for line in wrap(text, style.width.saturating_sub(indent)) {
                out.push_str(&format!("{}{}\n", " ".repeat(indent), style.paint(paint, &line)));
            }
        };
        if let Some((_, first)) = cells.next() {
            put(
                self.indent + first.depth.min(style.width / 4),
                if first.paint == Paint::Plain { Paint::Bold } else { first.paint },
                &first.text,
            );
        }
        let rest: Vec<String> = cells
            .map(|(column, cell)| match column.head.as_str() {
                "" => cell.text.clone(),
                head => format!("{head} {}", cell.text),
            })
            .collect();
        if !rest.is_empty() {
            put(self.indent + GAP, Paint::Plain, &rest.join("; "));
        }
    }

    fn line(&self, row: &[Cell], layout: &Layout, style: &Style, out: &mut String) {
        let cells: Vec<Vec<String>> =
            layout.columns.iter().map(|shown| shown.lines(&self.columns[shown.at], row.get(shown.at))).collect();
        let height = cells.iter().map(Vec::len).max().unwrap_or(0);
        for line in 0..height {
            // Padding is kept back until more text comes, so that no line ends in blanks.
            let mut pending = self.indent;
            for (shown, cell) in layout.columns.iter().zip(&cells) {
                let text = cell.get(line).map_or("", String::as_str);
                let padding = shown.width.saturating_sub(width(text));
                let right = self.columns[shown.at].right;
                if !text.is_empty() {
                    out.push_str(&" ".repeat(pending + if right { padding } else { 0 }));
                    out.push_str(&style.paint(row.get(shown.at).map_or(Paint::Plain, |c| c.paint), text));
                    pending = if right { GAP } else { padding + GAP };
                } else {
                    pending += shown.width + GAP;
                }
            }
            out.push('\n');
        }
    }

    /// The same with the texts of columns that found no room in the last wrapped one; `None` where all of them did.
    fn folded(&self, layout: &Layout) -> Option<Table> {
        let is_shown = |at: usize| layout.columns.iter().any(|shown| shown.at == at);
        let gone: Vec<usize> =
            self.shown().into_iter().filter(|(at, column)| column.folds && !is_shown(*at)).map(|(at, _)| at).collect();
        let into = self.columns.iter().rposition(|column| column.flow == Flow::Wrapped && !column.folds)?;
        if gone.is_empty() {
            return None;
        }
        let all = || gone.iter().copied().chain([into]);
        let mut table = self.clone();
        table.columns[into].head = joined(all().map(|at| self.columns[at].head.as_str()), ", ");
        for row in &mut table.rows {
            let texts = joined(all().map(|at| text(row, at)), "; ");
            row.resize(self.columns.len(), Cell::default());
            row[into].text = texts;
            gone.iter().for_each(|at| row[*at] = Cell::default());
        }
        Some(table)
    }
}

fn joined<'a>(texts: impl Iterator<Item = &'a str>, with: &str) -> String {
    texts.filter(|text| !text.is_empty()).collect::<Vec<_>>().join(with)
}
