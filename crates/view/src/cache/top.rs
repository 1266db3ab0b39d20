//! `cache top`: what fills the page cache of the whole machine.

use ramline_snapshot::cache::{CacheHolder, CacheUser, HotFile, Top, Tree};
use ramline_units::Bytes;

use crate::sheet::Sheet;
use crate::text::{Cell, Column, Paint, Screen, Table, number};

/// Names keep so many columns before bars are drawn,
const NAME: usize = 24;
/// those who have a file open so many,
const WHO: usize = 16;
/// and what a sum is of.
const WORDS: usize = 40;

/// How far a look is, in the words of a line that goes on: `456,862 files asked, 1.1 GiB of them in the page cache`.
#[must_use]
pub fn looking(files: u64, resident: Bytes) -> String {
    format!("{} asked, {resident} of them in the page cache", number::things(files, "file"))
}

impl Screen for Top {
    fn sheet(&self) -> Sheet {
        let (mut sheet, seen) = (Sheet::new(), self);
        sheet.answer(Paint::Bold, &answer(self));
        let share = seen.share(seen.explained()).map(number::percent).unwrap_or_default();
        let so_far = if seen.complete { "" } else { "So far " };
        sheet.line(&format!("{so_far}{share} of that is explained below."));
        sheet.table(&sums(self));
        super::remarks(&mut sheet, Paint::Warn, "Unknown: ", "file", &seen.unknown);
        if seen.processes_denied > 0 {
            let who = number::things(seen.processes_denied, "process");
            sheet.painted(Paint::Warn, &format!("{who} could not be looked at (permission denied)."));
        }
        if !seen.directories.is_empty() {
            sheet.heading("By directory, each without those below it that are listed themselves");
            sheet.table(&directories(seen));
        }
        if !seen.files.is_empty() {
            sheet.heading("By file");
            sheet.table(&files(seen.files.iter(), seen.page));
        }
        let nameless =
            files(seen.nameless_files.iter().filter(|file| file.row.resident != Some(Bytes::ZERO)), seen.page);
        if !nameless.is_empty() {
            sheet.heading("Files without a name: deleted, and still open or mapped");
            sheet.table(&nameless);
        }
        let title = "By process, of files it has open or mapped (shared ones count for each)";
        users(&mut sheet, title, seen, &seen.processes);
        users(&mut sheet, "By group of such processes", seen, &seen.groups);
        let devices = device_table(seen);
        if !devices.is_empty() {
            sheet.heading("Block devices themselves: metadata of file systems, and what is read past them");
            sheet.table(&devices);
        }
        if !(seen.skipped.is_empty() && seen.evictors.is_empty()) {
            sheet.blank();
        }
        if !seen.evictors.is_empty() {
            let who = seen.evictors.join(", ");
            sheet.dim(&format!("{who} evicts idle pages here by itself (more: ramline explain evictors)."));
        }
        super::remarks(&mut sheet, Paint::Dim, "Passed over: ", "name", &seen.skipped);
        super::failures(&mut sheet, seen.failed);
        sheet
    }
}

fn answer(seen: &Top) -> String {
    let (counted, unheld) = (seen.counted, seen.unheld());
    format!("{counted} are in the page cache, {unheld} of it of files that no process has open.")
}

/// What the sum is made of; what is left can be below zero.
fn sums(seen: &Top) -> Table {
    let mut table = Table::new(vec![
        Column::left(""),
        Column::right("resident"),
        Column::right("of all"),
        Column::left(""),
        Column::wrapped("").at_least(WORDS),
    ]);
    let mut row = |what: &str, bytes: String, share: Option<f64>, how: String| {
        let bar = Cell::bar(Paint::Plain, share.filter(|share| *share >= 0.0));
        table.row([what.into(), bytes.into(), percent(share), bar, how.into()]);
    };
    let files = format!("{} in {}", number::things(seen.named.files, "file"), places(&seen.walked));
    let sums = [
        ("files", seen.named.resident, files),
        ("files without a name", seen.nameless, "deleted, held by processes".to_owned()),
        ("block devices", seen.devices, "mostly metadata of file systems".to_owned()),
    ];
    for (what, bytes, how) in sums {
        row(what, bytes.to_string(), seen.share(bytes), how);
    }
    let moved = seen.moved();
    let went = if moved.is_negative() { "shrank" } else { "grew" };
    let rest = format!(
        "other mount namespaces, and files read meanwhile; what the kernel counts {went} by {} during the look",
        moved.magnitude()
    );
    row("the rest", seen.rest.to_string(), seen.rest.share_of(seen.counted), rest);
    table
}

/// The first of them, and how many more.
fn names(all: &[&str], more: &str) -> String {
    match all {
        [one, two, three, rest @ ..] if !rest.is_empty() => {
            format!("{one}, {two}, {three} and {} more{more}", rest.len())
        }
        some => some.join(", "),
    }
}

fn places(walked: &[Tree]) -> String {
    let all: Vec<&str> = walked.iter().map(|tree| tree.name.path.as_str()).collect();
    if all.is_empty() { "no file system".to_owned() } else { names(&all, " places") }
}

/// Empty where it is not known.
fn percent(share: Option<f64>) -> Cell {
    share.map(number::percent).unwrap_or_default().into()
}

fn directories(seen: &Top) -> Table {
    let mut table = Table::new(vec![
        Column::right("resident"),
        Column::right("of all"),
        Column::left(""),
        Column::right("dirty"),
        Column::right("files"),
        Column::wrapped("directory").at_least(NAME),
    ]);
    for tree in &seen.directories {
        let share = seen.share(tree.tally.resident);
        table.row([
            tree.tally.resident.to_string().into(),
            percent(share),
            Cell::bar(Paint::Plain, share),
            tree.tally.dirty.to_string().into(),
            number::count(tree.tally.files).into(),
            tree.name.path.as_str().into(),
        ]);
    }
    table
}

fn files<'a>(files: impl Iterator<Item = &'a HotFile>, page: Bytes) -> Table {
    let mut table = Table::new(vec![
        Column::right("resident"),
        Column::right("of file"),
        Column::left(""),
        Column::wrapped("file").at_least(NAME),
        Column::wrapped("open or mapped by").at_least(WHO),
    ]);
    for file in files {
        let resident = file.row.resident.map_or_else(|| "unknown".to_owned(), |bytes| bytes.to_string());
        let share = file.row.share(page.0);
        table.row([
            resident.into(),
            percent(share),
            Cell::bar(Paint::Plain, share),
            file.row.name.path.as_str().into(),
            held_by(file).into(),
        ]);
    }
    table
}

fn held_by(file: &HotFile) -> String {
    let one = |holder: &CacheHolder| match holder.pid {
        0 => format!("{} (the kernel)", holder.name),
        pid => format!("{} ({pid})", holder.name),
    };
    let named: Vec<String> = file.held_by.iter().map(one).collect();
    match file.more_holders() {
        0 if named.is_empty() => "no process".to_owned(),
        0 => named.join(", "),
        more => format!("{} and {more} more", named.join(", ")),
    }
}

fn users(sheet: &mut Sheet, title: &str, seen: &Top, users: &[CacheUser]) {
    if users.is_empty() {
        return;
    }
    sheet.heading(title);
    let mut table = Table::new(vec![
        Column::right("resident"),
        Column::right("of all"),
        Column::left(""),
        Column::right("files"),
        Column::wrapped("who").at_least(NAME),
    ]);
    for user in users {
        let who = user.pid.map_or_else(|| user.name.clone(), |pid| format!("{} ({pid})", user.name));
        let share = seen.share(user.resident);
        table.row([
            user.resident.to_string().into(),
            percent(share),
            Cell::bar(Paint::Plain, share),
            number::count(user.files).into(),
            who.into(),
        ]);
    }
    sheet.table(&table);
}

/// Every byte of the sum has a row.
fn device_table(seen: &Top) -> Table {
    let mut table = Table::new(vec![
        Column::right("resident"),
        Column::right("of all"),
        Column::left(""),
        Column::right("dirty"),
        Column::wrapped("device").at_least(NAME),
    ]);
    let mut row = |resident: Bytes, dirty: Option<Bytes>, device: &str| {
        let share = seen.share(resident);
        let dirty = dirty.map_or_else(|| "?".to_owned(), |bytes| bytes.to_string());
        let bar = Cell::bar(Paint::Plain, share);
        table.row([resident.to_string().into(), percent(share), bar, dirty.into(), device.into()]);
    };
    for device in seen.device_files.iter().filter(|device| device.resident > Some(Bytes::ZERO)) {
        row(device.resident.unwrap_or_default(), device.dirty, &device.name.path);
    }
    if seen.devices_unlisted > Bytes::ZERO {
        let closed: Vec<&str> = seen.devices_closed.iter().map(String::as_str).collect();
        let which = match closed.as_slice() {
            [] => "not seen with any one device: without a node in /dev, or read meanwhile".to_owned(),
            closed => format!("{}: may not be opened here, so only the sum is known", names(closed, "")),
        };
        row(seen.devices_unlisted, None, &which);
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::Style;
    use ramline_snapshot::cache::{FileRow, Name, Tally};
    use ramline_units::SignedBytes;

    #[test]
    fn every_byte_of_the_devices_has_a_row_and_a_file_behind_a_loop_device_is_in_use() {
        let row =
            FileRow { name: Name::new(b"/srv/disk.img"), resident: Some(Bytes::from_mib(64)), ..FileRow::default() };
        let device = FileRow { name: Name::new(b"/dev/vdb"), resident: Some(Bytes::from_mib(8)), ..FileRow::default() };
        let holder = CacheHolder { pid: 0, name: "/dev/loop0".into() };
        let seen = Top {
            page: Bytes(4096),
            counted: Bytes::from_mib(1000),
            devices: Bytes::from_mib(367),
            device_files: vec![device],
            devices_unlisted: Bytes::from_mib(359),
            devices_closed: vec!["/dev/vda".into()],
            files: vec![HotFile { row, holders: 1, held_by: vec![holder] }],
            evictors: vec!["a DAMON pageout scheme (kdamond 0)".into()],
            ..Top::default()
        };
        let text = seen.text(&Style::default());
        for part in ["359.0 MiB", "/dev/vda: may not be opened here", "/dev/loop0 (the kernel)", "/dev/vdb"] {
            assert!(text.contains(part), "{part}\n{text}");
        }
        assert!(!text.contains("nobody") && !text.contains("no process\n"), "{text}");
        assert_eq!(text.matches("DAMON").count(), 1, "{text}");
    }

    #[test]
    fn the_screen_says_what_is_explained_and_what_no_process_has_open() {
        let row = FileRow {
            name: Name::new(b"/srv/db\x1b[2J"),
            length: Bytes::from_mib(512),
            resident: Some(Bytes::from_mib(256)),
            ..FileRow::default()
        };
        let holder = CacheHolder { pid: 7, name: "postgres".into() };
        let seen = Top {
            page: Bytes(4096),
            counted: Bytes::from_mib(1000),
            named: Tally { files: 3, resident: Bytes::from_mib(900), ..Tally::default() },
            devices: Bytes::from_mib(80),
            rest: SignedBytes(20 << 20),
            held: Bytes::from_mib(256),
            files: vec![HotFile { row, holders: 5, held_by: vec![holder] }],
            complete: true,
            ..Top::default()
        };
        let text = seen.text(&Style::default());
        let flowing = text.split_whitespace().collect::<Vec<_>>().join(" ");
        for part in [
            "1000.0 MiB are in the page cache, 644.0 MiB of it of files that no process has open. 98.0 % of that is explained",
            "postgres (7) and 4 more",
            "50.0 %  #####.....",
        ] {
            assert!(flowing.contains(part) || text.contains(part), "{part}\n{text}");
        }
        assert!(!text.contains('\u{1b}'), "{text}");
        let narrow = Top { files: vec![], ..Top::default() }.text(&Style { colour: false, width: 60 });
        assert!(!narrow.contains('#'), "{narrow}");
    }
}
