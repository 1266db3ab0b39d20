//! The part of `show tmpfs` that takes `Shmem` apart: kinds, owners, the largest, the forgotten.

mod large;

use ramline_model::shmem::{self, Kind, Line, Split};
use ramline_snapshot::shmem::{Amount, GraphicsClient, Method, Shmem};
use ramline_units::{Bytes, Nanos};

use self::large::{files, largest, owner};
use ramline_sheet::{Cell, Column, Sheet, Table, number};

/// What the rows of the first table are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum By {
    /// Kinds of shared memory.
    #[default]
    Kind,
    /// Owners.
    User,
    /// Memory control groups.
    Cgroup,
    /// Time since the last read or write.
    Age,
}

/// What of it is shown as text; JSON has all.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TmpfsOptions {
    /// Rows of the first table.
    pub by: By,
    /// With the largest files, and the largest that nobody holds.
    pub files: bool,
    /// Rows of each list.
    pub top: usize,
}

impl Default for TmpfsOptions {
    fn default() -> Self {
        TmpfsOptions { by: By::Kind, files: false, top: 5 }
    }
}

pub fn sheet(sheet: &mut Sheet, split: &Split, seen: &Shmem, options: &TmpfsOptions) {
    let swapped = if split.swapped.0 > 0 { format!(" and {} in swap", split.swapped) } else { String::new() };
    let total = split.total.map_or_else(|| "how much is not known".to_owned(), |total| format!("{total} in RAM"));
    sheet.heading(&format!("Shared memory: {total} (Shmem, now){swapped}, by {}", word(options.by)));
    match options.by {
        By::Kind => kinds(sheet, split),
        By::User => users(sheet, seen, options.top),
        By::Cgroup => groups(sheet, split, options.top),
        By::Age => ages(sheet, seen),
    }
    sheet.dim(how(seen.method));
    graphics(sheet, &seen.graphics);
    largest(sheet, seen, options.top);
    if options.files {
        files(sheet, "The largest files with a name", &seen.files, options.top);
        files(sheet, "The largest that no process has open or mapped", &seen.unowned_files, options.top);
    }
    notes(sheet, split, seen, options);
    coverage(sheet, seen);
}

fn word(by: By) -> &'static str {
    match by {
        By::Kind => "kind",
        By::User => "owner",
        By::Cgroup => "control group",
        By::Age => "age",
    }
}

/// Columns for an amount: count, RAM, swap, either.
fn table(first: &str, counted: &str) -> Table {
    Table::new(vec![
        Column::wrapped(first),
        Column::right(counted),
        Column::right("in RAM"),
        Column::right("in swap"),
        Column::right("RAM or swap"),
    ])
}

fn row(table: &mut Table, first: &str, amount: &Amount) {
    let size = |bytes: Bytes| if bytes.0 > 0 { bytes.to_string() } else { String::new() };
    table.row([
        first.into(),
        number::count(amount.count).into(),
        amount.resident.to_string().into(),
        size(amount.swapped).into(),
        size(amount.either).into(),
    ]);
}

fn kinds(sheet: &mut Sheet, split: &Split) {
    let mut table = table("kind", "count");
    for line in split.lines.iter().filter(|line| line.amount.count > 0 || always(line.kind)) {
        row(&mut table, kind(line), &line.amount);
    }
    if let Some(rest) = split.rest {
        table.row(["the rest".into(), Cell::default(), rest.to_string().into(), Cell::default(), Cell::default()]);
    }
    sheet.table(table);
    if let (Some(least), Some(most)) = (split.rest_at_least, split.rest_at_most) {
        let off = split.counter_off;
        sheet.line(&if split.complete {
            format!("The rest is between {least} and {most}: the kernel's counter may be off by {off} while CPUs hold back changes.")
        } else {
            format!(
                "The rest is at most {most} (counter off by up to {off}): it holds what could not be looked at, the files of \
                 other users among it."
            )
        });
    }
}

/// Kinds that are shown at zero too: it is an answer that there are none.
fn always(kind: Kind) -> bool {
    matches!(kind, Kind::TmpfsFiles | Kind::Segments | Kind::Memfd | Kind::Deleted | Kind::SharedAnonymous)
}

fn kind(line: &Line) -> &'static str {
    match line.kind {
        Kind::TmpfsFiles => "tmpfs files",
        Kind::TmpfsUnreached => "in a tmpfs, not reached",
        Kind::Segments => "System V segments",
        Kind::Memfd => "memfd",
        Kind::Deleted => "deleted files, still held",
        Kind::SharedAnonymous => "shared anonymous memory",
        Kind::Graphics => "graphics buffers",
        Kind::OtherSegments => "System V segments of other name spaces",
        Kind::Internal => "other files of the kernel",
    }
}

fn users(sheet: &mut Sheet, seen: &Shmem, top: usize) {
    let mut table = table("owner", "files");
    for user in seen.users.iter().take(top) {
        row(&mut table, &owner(Some(user.uid)), &user.amount);
    }
    sheet.table(table);
    sheet.dim("Owners of files, segments and files without a name; a process of another user may hold them.");
}

fn groups(sheet: &mut Sheet, split: &Split, top: usize) {
    if split.groups.is_empty() {
        sheet.line("Memory control groups were not seen.");
        return;
    }
    let mut table = Table::new(vec![Column::wrapped("control group"), Column::right("in RAM")]);
    for group in split.groups.iter().take(top) {
        table.row([group.path.as_str().into(), group.resident.to_string().into()]);
    }
    sheet.table(table);
    sheet.dim("A page is charged to the group that touched it first, without the groups below; what is in swap is not told by kind.");
}

fn ages(sheet: &mut Sheet, seen: &Shmem) {
    let mut table = table("last read or written", "files");
    let mut before: Option<Nanos> = None;
    for age in &seen.ages {
        let words = match (age.within, before) {
            (Some(within), _) => format!("in the last {}", number::bound_of_ages(within)),
            (None, Some(before)) => format!("more than {} ago", number::bound_of_ages(before)),
            (None, None) => "at any time".to_owned(),
        };
        row(&mut table, &words, &age.amount);
        before = age.within;
    }
    sheet.table(table);
    sheet.dim("Files with a name. Reading and writing through a mapping leaves no trace in a file's times.");
}

fn how(method: Method) -> &'static str {
    match method {
        Method::NoSwapUsed => "No byte of swap is in use: all of it is in RAM.",
        Method::Cachestat => "What is where was asked of the kernel file by file (cachestat), to the page.",
        Method::Mincore => {
            "What is in RAM was asked file by file (mincore); the other allocated blocks are taken to be in swap."
        }
        Method::Unknown => "RAM and swap could not be told apart here.",
    }
}

fn graphics(sheet: &mut Sheet, clients: &[GraphicsClient]) {
    if clients.is_empty() {
        return;
    }
    sheet.heading("Users of graphics devices, as their drivers tell (now; shared buffers are told by each user)");
    let mut table = Table::new(vec![
        Column::left("driver"),
        Column::wrapped("process"),
        Column::left("region"),
        Column::right("backed"),
        Column::right("shared"),
        Column::left("part of Shmem"),
    ]);
    let told = |bytes: Option<Bytes>| bytes.map_or_else(|| "not told".to_owned(), |b| b.to_string());
    for client in clients {
        for region in &client.regions {
            table.row([
                client.driver.as_str().into(),
                format!("{} ({})", client.holder.name, client.holder.pid).into(),
                region.name.as_str().into(),
                told(region.resident).into(),
                told(region.shared).into(),
                if client.in_shmem { "yes" } else { "no" }.into(),
            ]);
        }
    }
    sheet.table(table);
}

fn notes(sheet: &mut Sheet, split: &Split, seen: &Shmem, options: &TmpfsOptions) {
    sheet.blank();
    if let Some(unowned) = seen.unowned.filter(|amount| amount.all().0 > 0) {
        let hint = if options.files { "" } else { "; --files lists the largest" };
        let asked = if seen.walk.denied > 0 { "no process that let us look" } else { "no process" };
        sheet.line(&format!(
            "Files with a name that {asked} has open or mapped: {} with {} (now){hint}.",
            number::count(unowned.count),
            unowned.all()
        ));
    }
    let forgotten = split.forgotten();
    if let Some(first) = split.leaked.first().filter(|_| forgotten.0 > 0) {
        let who = first.holders.first().map(|h| format!("{} ({})", h.name, h.pid)).unwrap_or_default();
        let count = number::count(u64::try_from(split.leaked.len()).unwrap_or(0));
        sheet.warn(&format!(
            "Deleted files that one sleeping process each keeps, not read or written for an hour or more: {count} with \
                 {forgotten} (now). The largest is {} of {who}. They go when it closes them or ends.",
            first.name,
        ));
    }
}

fn coverage(sheet: &mut Sheet, seen: &Shmem) {
    let walk = &seen.walk;
    if walk.processes == 0 && walk.denied == 0 {
        return;
    }
    let mut words = vec![format!(
        "Looked at {}, {} and {}",
        number::things(walk.processes, "process"),
        number::things(walk.name_spaces, "mount name space"),
        number::things(shmem::inodes(seen), "inode"),
    )];
    words.extend(walk.cost.map(|cost| format!(" in {}", number::seconds(cost.as_secs_f64()))));
    words.push(".".to_owned());
    if walk.denied > 0 {
        let hint = if seen.unowned.is_none() { ": root sees them" } else { "" };
        words.push(format!(" {} refused{hint}.", number::things(walk.denied, "process")));
    }
    let refused = shmem::refused(seen);
    if refused > 0 {
        words.push(format!(" {} of file systems in RAM refused.", number::things(refused, "place")));
    }
    words.extend((walk.vanished > 0).then(|| format!(" {} ended meanwhile.", number::count(walk.vanished))));
    if walk.unreached > 0 {
        words.push(format!(
            " {} in RAM could not be entered: covered by another mount, or behind one that may hang.",
            number::things(walk.unreached, "file system")
        ));
    }
    if !walk.processes_complete || seen.filesystems.iter().any(|f| !f.complete) {
        words.push(" The time was up before all was seen: the amounts are lower bounds.".to_owned());
    }
    sheet.dim(&words.concat());
}
