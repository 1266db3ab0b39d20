//! `cache top`: what fills the page cache of the whole machine.

use ramline_snapshot::cache::{CacheHolder, CacheUser, HotFile, Top, Tree};
use ramline_units::Bytes;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::report::SCHEMA_VERSION;
use crate::text::{Column, Page, Paint, Style, Table, number};

/// `cache top`: what fills the page cache of the whole machine.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct CacheTop {
    /// Version of this document.
    pub schema_version: u64,
    /// What was seen.
    #[serde(flatten)]
    pub seen: Top,
}

/// How far a look is, in the words of a line that goes on: `456,862 files asked, 1.1 GiB of them in the page cache`.
#[must_use]
pub fn looking(files: u64, resident: Bytes) -> String {
    format!("{} asked, {resident} of them in the page cache", number::things(files, "file"))
}

impl CacheTop {
    /// As a document.
    #[must_use]
    pub const fn new(seen: Top) -> Self {
        CacheTop { schema_version: SCHEMA_VERSION, seen }
    }

    /// The screen.
    #[must_use]
    pub fn text(&self, style: &Style) -> String {
        let (mut page, seen) = (Page::new(style), &self.seen);
        page.bold(&self.answer());
        let share = seen.explained().share_of(seen.counted).map(number::percent).unwrap_or_default();
        let so_far = if seen.complete { "" } else { "So far " };
        page.line(&format!("{so_far}{share} of that is explained below."));
        page.table(&self.sums());
        super::remarks(&mut page, Paint::Warn, "Unknown: ", "file", &seen.unknown);
        if seen.processes_denied > 0 {
            let text = format!(
                "{} could not be looked at (permission denied).",
                number::things(seen.processes_denied, "process")
            );
            page.painted(Paint::Warn, &text);
        }
        if !seen.directories.is_empty() {
            page.heading("By directory, each without those below it that are listed themselves");
            page.table(&directories(&seen.directories, seen.named.resident, style));
        }
        if !seen.files.is_empty() {
            page.heading("By file");
            page.table(&files(&seen.files, seen.page, style));
        }
        let nameless: Vec<HotFile> =
            seen.nameless_files.iter().filter(|file| file.row.resident != Some(Bytes::ZERO)).cloned().collect();
        if !nameless.is_empty() {
            page.heading("Files without a name: deleted, and still open or mapped");
            page.table(&files(&nameless, seen.page, style));
        }
        users(&mut page, "By process, of files it has open or mapped (shared ones count for each)", &seen.processes);
        users(&mut page, "By group of such processes", &seen.groups);
        let devices = device_table(seen);
        if !devices.is_empty() {
            page.heading("Block devices themselves: metadata of file systems, and what is read past them");
            page.table(&devices);
        }
        if !(seen.skipped.is_empty() && seen.evictors.is_empty()) {
            page.blank();
        }
        if !seen.evictors.is_empty() {
            let who = seen.evictors.join(", ");
            page.dim(&format!("{who} evicts idle pages here by itself (more: ramline explain evictors)."));
        }
        super::remarks(&mut page, Paint::Dim, "Passed over: ", "name", &seen.skipped);
        super::failures(&mut page, seen.failed);
        page.finish()
    }

    fn answer(&self) -> String {
        let seen = &self.seen;
        let unheld = (seen.named.resident + seen.nameless).saturating_sub(seen.held);
        format!("{} are in the page cache, {unheld} of it of files that no process has open.", seen.counted)
    }

    fn sums(&self) -> Table {
        let seen = &self.seen;
        let mut table = Table::new(vec![Column::left(""), Column::right("resident"), Column::wrapped("")]);
        let files = format!("{} in {}", number::things(seen.named.files, "file"), places(&seen.walked));
        let mut row = |what: &str, bytes: String, how: String| table.row([what.into(), bytes.into(), how.into()]);
        row("files", seen.named.resident.to_string(), files);
        row("files without a name", seen.nameless.to_string(), "deleted, held by processes".to_owned());
        row("block devices", seen.devices.to_string(), "mostly metadata of file systems".to_owned());
        let moved = if seen.counted >= seen.counted_before {
            format!("grew by {} during the look", seen.counted.saturating_sub(seen.counted_before))
        } else {
            format!("shrank by {} during the look", seen.counted_before.saturating_sub(seen.counted))
        };
        let rest = format!("other mount namespaces, and files read meanwhile; what the kernel counts {moved}");
        row("the rest", seen.rest.to_string(), rest);
        table
    }
}

fn places(walked: &[Tree]) -> String {
    let names: Vec<&str> = walked.iter().map(|tree| tree.name.path.as_str()).collect();
    match names.as_slice() {
        [] => "no file system".to_owned(),
        [one, two, three, rest @ ..] if !rest.is_empty() => {
            format!("{one}, {two}, {three} and {} more places", rest.len())
        }
        some => some.join(", "),
    }
}

fn directories(trees: &[Tree], all: Bytes, style: &Style) -> Table {
    let columns = vec![
        Column::right("resident"),
        Column::right("of all"),
        Column::left(""),
        Column::right("dirty"),
        Column::right("files"),
        Column::wrapped("directory"),
    ];
    let mut table = Table::new(columns);
    for tree in trees {
        let share = tree.tally.resident.share_of(all);
        table.row([
            tree.tally.resident.to_string().into(),
            share.map(number::percent).unwrap_or_default().into(),
            super::bar_of(share, style).into(),
            tree.tally.dirty.to_string().into(),
            number::count(tree.tally.files).into(),
            tree.name.path.as_str().into(),
        ]);
    }
    table
}

fn files(files: &[HotFile], page: Bytes, style: &Style) -> Table {
    let columns = vec![
        Column::right("resident"),
        Column::right("of file"),
        Column::left(""),
        Column::wrapped("file"),
        Column::wrapped("open or mapped by"),
    ];
    let mut table = Table::new(columns);
    for file in files {
        let resident = file.row.resident.map_or_else(|| "unknown".to_owned(), |bytes| bytes.to_string());
        let share = file.row.share(page.0);
        let percent = share.map(number::percent).unwrap_or_default();
        let bar = super::bar_of(share, style);
        table.row([
            resident.into(),
            percent.into(),
            bar.into(),
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
    let shown = u64::try_from(named.len()).unwrap_or(u64::MAX);
    match file.holders.saturating_sub(shown) {
        0 if named.is_empty() => "no process".to_owned(),
        0 => named.join(", "),
        more => format!("{} and {more} more", named.join(", ")),
    }
}

fn users(page: &mut Page<'_>, title: &str, users: &[CacheUser]) {
    if users.is_empty() {
        return;
    }
    page.heading(title);
    let mut table = Table::new(vec![Column::right("resident"), Column::right("files"), Column::wrapped("who")]);
    for user in users {
        let who = user.pid.map_or_else(|| user.name.clone(), |pid| format!("{} ({pid})", user.name));
        table.row([user.resident.to_string().into(), number::count(user.files).into(), who.into()]);
    }
    page.table(&table);
}

/// Every byte of the sum has a row.
fn device_table(seen: &Top) -> Table {
    let mut table = Table::new(vec![Column::right("resident"), Column::right("dirty"), Column::wrapped("device")]);
    for row in seen.device_files.iter().filter(|row| row.resident > Some(Bytes::ZERO)) {
        let resident = row.resident.unwrap_or_default().to_string();
        let dirty = row.dirty.map_or_else(|| "?".to_owned(), |bytes| bytes.to_string());
        table.row([resident.into(), dirty.into(), row.name.path.as_str().into()]);
    }
    if seen.devices_unlisted > Bytes::ZERO {
        let which = match seen.devices_closed.as_slice() {
            [] => "not seen with any one device: without a node in /dev, or read meanwhile".to_owned(),
            closed => format!("{}: may not be opened here, so only the sum is known", names(closed)),
        };
        table.row([seen.devices_unlisted.to_string().into(), "?".into(), which.as_str().into()]);
    }
    table
}

/// The first of them.
fn names(all: &[String]) -> String {
    match all {
        [one, two, three, rest @ ..] if !rest.is_empty() => format!("{one}, {two}, {three} and {} more", rest.len()),
        some => some.join(", "),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
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
        let text = CacheTop::new(seen).text(&Style::default());
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
        let text = CacheTop::new(seen).text(&Style::default());
        let flowing = text.split_whitespace().collect::<Vec<_>>().join(" ");
        for part in [
            "1000.0 MiB are in the page cache, 644.0 MiB of it of files that no process has open. 98.0 % of that is explained",
            "postgres (7) and 4 more",
            "50.0 %  #####.....",
        ] {
            assert!(flowing.contains(part) || text.contains(part), "{part}\n{text}");
        }
        assert!(!text.contains('\u{1b}'), "{text}");
        let narrow = CacheTop::new(Top { files: vec![], ..Top::default() }).text(&Style { colour: false, width: 60 });
        assert!(!narrow.contains('#'), "{narrow}");
    }
}
