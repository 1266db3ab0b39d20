//! `cache stat`: how much of files is in the page cache.

use ramline_snapshot::cache::{FileRow, Part, Stat, Tally, Tree};
use ramline_units::Bytes;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::report::SCHEMA_VERSION;
use crate::text::{Cell, Column, Page, Paint, Style, Table, number};

/// `cache stat`: how much of files is in the page cache.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct CacheStat {
    /// Version of this document.
    pub schema_version: u64,
    /// What was seen.
    #[serde(flatten)]
    pub seen: Stat,
    /// What the text shows of it; the document holds all.
    #[serde(skip)]
    pub shown: Shown,
}

/// What the text shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Shown {
    /// Rows of a table.
    pub top: usize,
}

/// Below this width only the columns that answer the question are shown.
const WIDE: usize = 90;

impl CacheStat {
    /// As a document.
    #[must_use]
    pub const fn new(seen: Stat, shown: Shown) -> Self {
        CacheStat { schema_version: SCHEMA_VERSION, seen, shown }
    }

    /// The screen.
    #[must_use]
    pub fn text(&self, style: &Style) -> String {
        let (mut page, seen) = (Page::new(style), &self.seen);
        page.bold(&self.answer());
        if seen.total.knows_more() {
            page.line(&more(&seen.total));
        }
        super::remarks(&mut page, Paint::Warn, "Unknown: ", "file", &seen.unknown);
        if seen.directories.is_empty() && seen.named.len() > 1 && seen.files.len() < seen.named.len() {
            page.heading("What was named");
            page.table(&trees(&seen.named, self.shown.top, style));
        }
        if !seen.directories.is_empty() {
            page.heading("By directory, with everything below it");
            page.table(&trees(&seen.directories, self.shown.top, style));
            left_out(&mut page, seen.directories.len(), self.shown.top, "directories");
        }
        if !seen.files.is_empty() {
            page.blank();
            page.table(&files(&seen.files, seen.page, style));
        }
        maps(&mut page, &seen.files, style);
        if !(seen.remarks.is_empty() && seen.skipped.is_empty()) {
            page.blank();
        }
        super::remarks(&mut page, Paint::Plain, "Note: ", "file", &seen.remarks);
        super::remarks(&mut page, Paint::Dim, "Passed over: ", "name", &seen.skipped);
        if seen.vanished > 0 {
            page.dim(&format!("{} gone before they could be opened.", number::things(seen.vanished, "name")));
        }
        super::failures(&mut page, seen.failed);
        page.finish()
    }

    fn answer(&self) -> String {
        let total = &self.seen.total;
        if total.files == 0 && total.unknown == 0 {
            return "There is no file to ask about.".to_owned();
        }
        let unknown = number::things(total.unknown, "file");
        if total.files == 0 {
            return format!("How much of {unknown} is in the page cache is not known.");
        }
        let share = total.share().map(|share| format!(" ({})", number::percent(share))).unwrap_or_default();
        let rest = if total.unknown > 0 { format!("; of {unknown} it is not known") } else { String::new() };
        let of = number::things(total.files, "file");
        format!("{} of {} in {of} are in the page cache{share}{rest}.", total.resident, total.span)
    }
}

fn more(total: &Tally) -> String {
    let only = if total.resident_only > 0 {
        format!(" Of {} only the residency is known.", number::things(total.resident_only, "file"))
    } else {
        String::new()
    };
    format!(
        "Dirty {}, being written {}; evicted by reclaim and not read again {}, of it recently {} (now).{only}",
        total.dirty, total.writeback, total.evicted, total.recently_evicted
    )
}

fn share(share: Option<f64>) -> String {
    share.map_or_else(String::new, number::percent)
}

fn unless_zero(bytes: Bytes) -> String {
    if bytes == Bytes::ZERO { "0".to_owned() } else { bytes.to_string() }
}

fn trees(trees: &[Tree], top: usize, style: &Style) -> Table {
    let wide = style.width >= WIDE;
    let mut columns = vec![Column::right("resident"), Column::right("share"), Column::left("")];
    if wide {
        columns.extend(["dirty", "evicted"].map(Column::right));
    }
    columns.extend([Column::right("length"), Column::right("files"), Column::left("name")]);
    let mut table = Table::new(columns);
    for tree in trees.iter().take(top.max(1)) {
        let tally = &tree.tally;
        let bar = super::bar_of(tally.share(), style);
        let mut cells: Vec<Cell> = vec![tally.resident.to_string().into(), share(tally.share()).into(), bar.into()];
        if wide {
            let told = |bytes: Bytes| if tally.knows_more() { unless_zero(bytes) } else { "?".to_owned() };
            cells.extend([told(tally.dirty), told(tally.evicted)].map(Cell::from));
        }
        let unknown = if tally.unknown > 0 { format!("+{}?", number::count(tally.unknown)) } else { String::new() };
        cells.push((tally.length + tally.unknown_length).to_string().into());
        cells.push(format!("{}{unknown}", number::count(tally.files)).into());
        cells.push(tree.name.path.as_str().into());
        table.cells(cells);
    }
    table
}

fn files(files: &[FileRow], page: Bytes, style: &Style) -> Table {
    let wide = style.width >= WIDE;
    let mut columns = vec![Column::right("resident"), Column::right("share"), Column::left("")];
    if wide {
        columns.extend(["dirty", "written", "evicted", "recently"].map(Column::right));
    }
    columns.extend([Column::right("length"), Column::left("file")]);
    let mut table = Table::new(columns);
    for row in files {
        let told = |bytes: Option<Bytes>| bytes.map_or_else(|| "?".to_owned(), unless_zero);
        let resident = row.resident.map_or_else(|| "unknown".to_owned(), |bytes| bytes.to_string());
        let part = row.share(page.0);
        let mut cells: Vec<Cell> = vec![resident.into(), share(part).into(), super::bar_of(part, style).into()];
        if wide {
            let all = [row.dirty, row.writeback, row.evicted, row.recently_evicted];
            cells.extend(all.map(|bytes| Cell::from(told(bytes))));
        }
        cells.extend([row.length.to_string().into(), row.name.path.as_str().into()]);
        table.cells(cells);
    }
    table
}

/// One character a part: `#` all of it, `+` half or more, `-` less, `.` nothing.
fn maps(page: &mut Page<'_>, files: &[FileRow], style: &Style) {
    let mapped: Vec<(&FileRow, &Vec<Part>)> = files.iter().filter_map(|row| Some((row, row.map.as_ref()?))).collect();
    let Some((_, first)) = mapped.first() else { return };
    page.heading("Where in the file (# all of a part, + half or more, - less, . nothing)");
    let each = first.first().map_or(Bytes::ZERO, |part| part.length);
    for (row, parts) in &mapped {
        let each = parts.first().map_or(each, |part| part.length);
        page.line(&format!("{} (a character is {each})", row.name.path));
        let cells: Vec<char> = parts.iter().map(cell).collect();
        let lines: Vec<String> =
            cells.chunks(style.width.saturating_sub(2).max(8)).map(|line| line.iter().collect()).collect();
        page.raw(&lines.iter().map(|line: &String| format!("  {line}")).collect::<Vec<_>>());
    }
}

fn cell(part: &Part) -> char {
    match part.resident.share_of(part.length) {
        Some(share) if share >= 1.0 => '#',
        Some(share) if share >= 0.5 => '+',
        Some(share) if share > 0.0 => '-',
        _ => '.',
    }
}

fn left_out(page: &mut Page<'_>, all: usize, top: usize, what: &str) {
    let more = all.saturating_sub(top.max(1));
    if more > 0 {
        page.dim(&format!("and {more} more {what} (--top, --depth; --json prints all)"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ramline_snapshot::cache::{Name, Remark};

    fn seen() -> Stat {
        let total = Tally {
            files: 2,
            length: Bytes(6000),
            span: Bytes(16384),
            resident: Bytes(8192),
            dirty: Bytes(4096),
            unknown: 1,
            ..Tally::default()
        };
        let part = |resident| Part { offset: Bytes(0), length: Bytes(4096), resident: Bytes(resident) };
        let row = FileRow {
            name: Name::new(b"/a\x1b[2J"),
            length: Bytes(6000),
            resident: Some(Bytes(8192)),
            dirty: Some(Bytes(4096)),
            map: Some(vec![part(4096), part(2048), part(1), part(0)]),
            ..FileRow::default()
        };
        let other = FileRow { name: Name::new(b"/b"), resident: None, ..FileRow::default() };
        let remark = Remark { text: "not told".into(), files: 1, example: Some(Name::new(b"/b")) };
        Stat { page: Bytes(4096), total, files: vec![row, other], unknown: vec![remark], failed: 1, ..Stat::default() }
    }

    #[test]
    fn the_screen_answers_first_and_never_shows_a_number_for_what_is_unknown() {
        let text = CacheStat::new(seen(), Shown { top: 5 }).text(&Style::default());
        let first = text.lines().next().unwrap();
        assert_eq!(first, "8.0 KiB of 16.0 KiB in 2 files are in the page cache (50.0 %); of 1 file it is not known.");
        for line in
            ["Unknown: not told (1 file, for example /b)", "  #+-.", " unknown ", "1 failure, each printed on stderr"]
        {
            assert!(text.contains(line), "{line}\n{text}");
        }
        assert!(!text.contains('\u{1b}') && text.contains("/a\\u{1b}[2J"), "{text}");
    }

    #[test]
    fn a_narrow_screen_keeps_the_columns_that_answer() {
        let text = CacheStat::new(seen(), Shown { top: 5 }).text(&Style { colour: false, width: 60 });
        assert!(text.lines().all(|line| line.chars().count() <= 60), "{text}");
        assert!(text.contains("resident") && !text.contains("recently\n"), "{text}");
    }
}
