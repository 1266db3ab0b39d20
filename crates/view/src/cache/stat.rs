//! `cache stat`: how much of files is in the page cache.

use ramline_snapshot::cache::{FileRow, Part, Stat, Tally, Tree};

use super::Rows;
use crate::prelude::*;
use ramline_sheet::Strip;

/// Names keep so many columns while others can be spared.
const NAME: usize = 32;

impl Screen for Rows<'_, Stat> {
    fn sheet(&self) -> Sheet {
        let (mut sheet, seen) = (Sheet::new(), self.0);
        sheet.answer(Paint::Bold, answer(&seen.total));
        sheet.line(seen.total.knows_more().then(|| more(&seen.total)));
        super::remarks(&mut sheet, Paint::Warn, "Unknown: ", "file", &seen.unknown);
        let top = self.1.max(1);
        if seen.directories.is_empty() && seen.named.len() > 1 && seen.files.len() < seen.named.len() {
            sheet.heading("What was named");
            sheet.table(trees(&seen.named, top));
            super::left_out(&mut sheet, seen.named.len(), top, super::TOP);
        }
        if !seen.directories.is_empty() {
            sheet.heading("By directory, with everything below it");
            sheet.table(trees(&seen.directories, top));
            super::left_out(&mut sheet, seen.directories.len(), top, "directories (--top, --depth; --json prints all)");
        }
        if !seen.files.is_empty() {
            sheet.blank();
            sheet.table(files(&seen.files, seen.page));
        }
        maps(&mut sheet, &seen.files);
        if !(seen.remarks.is_empty() && seen.skipped.is_empty()) {
            sheet.blank();
        }
        super::remarks(&mut sheet, Paint::Plain, "Note: ", "file", &seen.remarks);
        super::remarks(&mut sheet, Paint::Dim, "Passed over: ", "name", &seen.skipped);
        if seen.vanished > 0 {
            sheet.dim(format!("{} gone before they could be opened.", number::things(seen.vanished, "name")));
        }
        super::failures(&mut sheet, seen.failed);
        sheet
    }
}

fn answer(total: &Tally) -> String {
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

fn more(total: &Tally) -> String {
    let Tally { dirty, writeback, evicted, recently_evicted, .. } = total;
    let only = number::things(total.resident_only, "file");
    let only = if total.resident_only > 0 { format!(" Of {only} only the residency is known.") } else { String::new() };
    format!(
        "Dirty {dirty}, being written {writeback}; evicted by reclaim and not read again {evicted}, of it recently \
         {recently_evicted} (now).{only}"
    )
}

fn unless_zero(bytes: Bytes) -> String {
    if bytes == Bytes::ZERO { "0".to_owned() } else { bytes.to_string() }
}

fn trees(trees: &[Tree], top: usize) -> Table<&Tree> {
    let more = |tree: &Tree, bytes| if tree.tally.knows_more() { unless_zero(bytes) } else { "?".to_owned() };
    let files = |tally: &Tally| {
        let unknown = if tally.unknown > 0 { format!("+{}?", number::count(tally.unknown)) } else { String::new() };
        format!("{}{unknown}", number::count(tally.files))
    };
    Table::from_rows(trees.iter().take(top))
        .right("resident", |tree| tree.tally.resident)
        .right("share", |tree| tree.tally.share().map(number::percent))
        .column(Column::left("").spare(), |tree| Cell::bar(tree.tally.share()))
        .column(Column::right("dirty").spare(), |tree| more(tree, tree.tally.dirty))
        .column(Column::right("evicted").spare(), |tree| more(tree, tree.tally.evicted))
        .right("length", |tree| tree.tally.all_length())
        .right("files", |tree| files(&tree.tally))
        .column(Column::wrapped("name").at_least(NAME), |tree| &tree.name.path)
}

fn files(files: &[FileRow], page: Bytes) -> Table<&FileRow> {
    let spare = |head| Column::right(head).spare();
    let part = |bytes: Option<Bytes>| bytes.map_or_else(|| "?".to_owned(), unless_zero);
    Table::from_rows(files)
        .right("resident", super::resident)
        .right("share", |row| row.share(page.0).map(number::percent))
        .column(Column::left("").spare(), |row| Cell::bar(row.share(page.0)))
        .column(spare("dirty"), |row| part(row.dirty))
        .column(spare("written"), |row| part(row.writeback))
        .column(spare("evicted"), |row| part(row.evicted))
        .column(spare("recently"), |row| part(row.recently_evicted))
        .right("length", |row| row.length)
        .column(Column::wrapped("file").at_least(NAME), |row| &row.name.path)
}

/// Where in each file its pages are.
fn maps(sheet: &mut Sheet, files: &[FileRow]) {
    let mut mapped = files.iter().filter_map(|row| Some((row, row.map.as_ref()?))).peekable();
    if mapped.peek().is_some() {
        sheet.heading(format!("Where in the file ({})", Strip::KEY));
    }
    for (row, parts) in mapped {
        let each = parts.first().map_or(Bytes::ZERO, |part| part.length);
        sheet.line(format!("{} (a character is {each})", row.name.path));
        let share = |part: &Part| part.resident.share_of(part.length).unwrap_or_default();
        sheet.push(Block::Strip(Strip { shares: parts.iter().map(share).collect() }));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ramline_sheet::text::Style;
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
        let text = Rows(&seen(), 5).text(&Style::default());
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
    fn a_long_name_is_wrapped_and_bars_outlive_the_columns_that_are_mostly_zero() {
        let mut seen = seen();
        let name = Name::new(format!("/{}", "long-name-".repeat(9)).as_bytes());
        let of = |bytes| Some(Bytes(bytes));
        seen.files[0] = FileRow { name, map: None, evicted: of(0), ..seen.files[0].clone() };
        let at = |width| Rows(&seen, 5).text(&Style { colour: false, width });
        let narrow = at(80);
        assert!(narrow.contains("100 %  ##########") && !narrow.contains("recently  "), "{narrow}");
        assert!(narrow.contains("/long-name-long-name-") && !narrow.contains(&"long-name-".repeat(9)), "{narrow}");
        assert!(at(140).contains("recently  ") && at(140).contains("100 %  ##########"), "{}", at(140));
    }

    #[test]
    fn a_narrow_screen_keeps_the_columns_that_answer() {
        let text = Rows(&seen(), 5).text(&Style { colour: false, width: 60 });
        assert!(text.lines().all(|line| line.chars().count() <= 60), "{text}");
        assert!(text.contains("resident  share ") && !text.contains("recently  "), "{text}");
    }
}
