//! `cache top`: what fills the page cache of the whole machine.

use ramline_snapshot::cache::{CacheHolder, CacheUser, HotFile, Top, Tree};

use crate::prelude::*;
use ramline_sheet::name;

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
        sheet.answer(Paint::Bold, answer(self));
        let share = seen.share(seen.explained()).map(number::percent).unwrap_or_default();
        let so_far = if seen.complete { "" } else { "So far " };
        sheet.line(format!("{so_far}{share} of that is explained below."));
        sums(&mut sheet, seen);
        super::remarks(&mut sheet, Paint::Warn, "Unknown: ", "file", &seen.unknown);
        if seen.processes_denied > 0 {
            let who = number::things(seen.processes_denied, "process");
            sheet.warn(format!("{who} could not be looked at (permission denied)."));
        }
        let directories = resident(seen, &seen.directories, |tree| tree.tally.resident)
            .keyed(|tree| tree.name.path.clone())
            .right("dirty", |tree| tree.tally.dirty)
            .right("files", |tree| tree.tally.files)
            .column(Column::wrapped("directory").at_least(NAME), |tree| &tree.name.path);
        sheet.headed_table("By directory, each without those below it that are listed themselves", directories);
        sheet.headed_table("By file", files(seen.files.iter(), seen.page));
        let nameless = seen.nameless_files.iter().filter(|file| file.row.resident != Some(Bytes::ZERO));
        sheet.headed_table("Files without a name: deleted, and still open or mapped", files(nameless, seen.page));
        let title = "By process, of files it has open or mapped (shared ones count for each)";
        sheet.headed_table(title, users(seen, &seen.processes));
        sheet.headed_table("By group of such processes", users(seen, &seen.groups));
        devices(&mut sheet, seen);
        if !(seen.skipped.is_empty() && seen.evictors.is_empty()) {
            sheet.blank();
        }
        if !seen.evictors.is_empty() {
            let who = seen.evictors.join(", ");
            sheet.dim(format!("{who} evicts idle pages here by itself (more: ramline explain evictors)."));
        }
        super::remarks(&mut sheet, Paint::Dim, "Passed over: ", "name", &seen.skipped);
        super::failures(&mut sheet, seen.failed);
        sheet
    }
}

fn answer(seen: &Top) -> String {
    let (counted, unheld) = (seen.counted, seen.unheld());
    // Without root the kernel answers for a user's own files alone: of most of the cache nothing is known, and 0 B would be a statement.
    if seen.is_for_root() {
        return format!(
            "{counted} are in the page cache; of what files, only root can see. Try: sudo ramline cache top"
        );
    }
    format!("{counted} are in the page cache, {unheld} of it of files that no process has open.")
}

/// What the sum is made of; what is left can be below zero.
fn sums(sheet: &mut Sheet, seen: &Top) {
    let files = format!("{} in {}", number::things(seen.named.files, "file"), places(&seen.walked));
    let moved = seen.moved();
    let went = if moved.is_negative() { "shrank" } else { "grew" };
    let rest = format!(
        "other mount namespaces, and files read meanwhile; what the kernel counts {went} by {} during the look",
        moved.magnitude()
    );
    let sum = |bytes: Bytes| (bytes.to_string(), seen.share(bytes));
    let rows = [
        ("files", sum(seen.named.resident), files.as_str()),
        ("files without a name", sum(seen.nameless), "deleted, held by processes"),
        ("block devices", sum(seen.devices), "mostly metadata of file systems"),
        ("the rest", (seen.rest.to_string(), seen.rest.share_of(seen.counted)), &rest),
    ];
    let table = Table::from_rows(&rows)
        .left("", |row| row.0)
        .right("resident", |row| &row.1.0)
        .right("of all", |row| row.1.1.map(number::percent))
        .bar(|row| row.1.1.filter(|share| *share >= 0.0))
        .column(Column::wrapped("").at_least(WORDS), |row| row.2);
    sheet.table(table);
}

/// Sizes, each with its share of the whole cache, also as a bar.
fn resident<R: Copy>(seen: &Top, rows: impl IntoIterator<Item = R>, of: impl Fn(R) -> Bytes) -> Table<R> {
    Table::from_rows(rows)
        .right("resident", &of)
        .right("of all", |row| seen.share(of(row)).map(number::percent))
        .bar(|row| seen.share(of(row)))
}

fn files<'a>(files: impl Iterator<Item = &'a HotFile>, page: Bytes) -> Table<&'a HotFile> {
    Table::from_rows(files)
        .keyed(|file| file.row.name.path.clone())
        .right("resident", |file| super::resident(&file.row))
        .right("of file", |file| file.row.share(page.0).map(number::percent))
        .bar(|file| file.row.share(page.0))
        .column(Column::wrapped("file").at_least(NAME), |file| &file.row.name.path)
        .column(Column::wrapped("open or mapped by").at_least(WHO), held_by)
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

fn held_by(file: &HotFile) -> String {
    let one = |holder: &CacheHolder| match holder.pid {
        0 => format!("{} (the kernel)", holder.name),
        pid => format!("{} ({pid})", holder.name),
    };
    let named = file.held_by.iter().map(one).collect::<Vec<_>>().join(", ");
    match file.more_holders() {
        0 if file.held_by.is_empty() => "no process".to_owned(),
        0 => named,
        more => format!("{named} and {more} more"),
    }
}

fn users<'a>(seen: &Top, users: &'a [CacheUser]) -> Table<&'a CacheUser> {
    let who = |user: &CacheUser| match (&user.container, user.pid) {
        (Some(container), _) => format!("{container} ({})", name::short_ids(&user.name)),
        (None, Some(pid)) => format!("{} ({pid})", user.name),
        (None, None) => user.name.clone(),
    };
    resident(seen, users, |user| user.resident)
        .keyed(who)
        .right("files", |user| user.files)
        .column(Column::wrapped("who").at_least(NAME), who)
}

/// Every byte of the sum has a row.
fn devices(sheet: &mut Sheet, seen: &Top) {
    let closed: Vec<&str> = seen.devices_closed.iter().map(String::as_str).collect();
    let unlisted = match closed.as_slice() {
        [] => "not seen with any one device: without a node in /dev, or read meanwhile".to_owned(),
        closed => format!("{}: may not be opened here, so only the sum is known", names(closed, "")),
    };
    let listed = seen.device_files.iter().map(|file| (file.resident.unwrap_or_default(), file.dirty, &file.name.path));
    let rows = listed.chain([(seen.devices_unlisted, None, &unlisted)]).filter(|row| row.0 > Bytes::ZERO);
    let table = resident(seen, rows, |row| row.0)
        .right("dirty", |row| row.1.map_or_else(|| "?".to_owned(), |bytes| bytes.to_string()))
        .column(Column::wrapped("device").at_least(NAME), |row| row.2);
    sheet.headed_table("Block devices themselves: metadata of file systems, and what is read past them", table);
}

#[cfg(test)]
mod tests {
    use super::*;
    use ramline_sheet::text::Style;
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
