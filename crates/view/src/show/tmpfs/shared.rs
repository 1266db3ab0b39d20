//! The part of `show tmpfs` that takes `Shmem` apart: kinds, owners, the largest, the forgotten.

mod large;

use ramline_model::shmem::{self, ShmemKind as Kind, ShmemLine, Split};
use ramline_snapshot::shmem::{AgeTotal, Amount, GraphicsClient, Method, Shmem};

use self::large::{files, largest, owner};
use crate::prelude::*;

/// What the rows of the first table are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum TmpfsBy {
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
    pub by: TmpfsBy,
    /// With the largest files, and the largest that no process holds.
    pub files: bool,
    /// Rows of each list.
    pub top: usize,
}

impl Default for TmpfsOptions {
    fn default() -> Self {
        TmpfsOptions { by: TmpfsBy::Kind, files: false, top: 5 }
    }
}

pub fn sheet(sheet: &mut Sheet, split: &Split, seen: &Shmem, options: &TmpfsOptions) {
    let swapped = if split.swapped.0 > 0 { format!(" and {} in swap", split.swapped) } else { String::new() };
    let total = split.total.map_or_else(|| "how much is not known".to_owned(), |total| format!("{total} in RAM"));
    sheet.heading(format!("Shared memory: {total} (Shmem, now){swapped}, by {}", word(options.by)));
    match options.by {
        TmpfsBy::Kind => kinds(sheet, split),
        TmpfsBy::User => users(sheet, seen, options.top),
        TmpfsBy::Cgroup => groups(sheet, split, options.top),
        TmpfsBy::Age => ages(sheet, seen),
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

fn word(by: TmpfsBy) -> &'static str {
    match by {
        TmpfsBy::Kind => "kind",
        TmpfsBy::User => "owner",
        TmpfsBy::Cgroup => "control group",
        TmpfsBy::Age => "age",
    }
}

/// Columns for an amount: count, RAM, swap, either.
pub(super) fn amounts<R: Copy>(first: Table<R>, counted: &str, amount: impl Fn(R) -> Amount) -> Table<R> {
    let some = |bytes: Bytes| (bytes.0 > 0).then_some(bytes);
    let first = if counted.is_empty() { first } else { first.right(counted, |row| amount(row).count) };
    first
        .right("in RAM", |row| amount(row).resident)
        .right("in swap", |row| some(amount(row).swapped))
        .right("RAM or swap", |row| some(amount(row).either))
}

fn kinds(sheet: &mut Sheet, split: &Split) {
    let lines = split.lines.iter().filter(|line| line.amount.count > 0 || always(line.kind));
    let mut table = amounts(Table::from_rows(lines).wrapped("kind", kind), "count", |line| line.amount);
    if let Some(rest) = split.rest {
        table.row(["the rest".into(), Cell::default(), rest.into()]);
    }
    sheet.table(table);
    if let (Some(least), Some(most)) = (split.rest_at_least, split.rest_at_most) {
        let off = split.counter_off;
        sheet.line(if split.complete {
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

fn kind(line: &ShmemLine) -> &'static str {
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
    let users = Table::from_rows(seen.users.iter().take(top)).wrapped("owner", |user| owner(Some(user.uid)));
    sheet.table(amounts(users, "files", |user| user.amount));
    sheet.dim("Owners of files, segments and files without a name; a process of another user may hold them.");
}

fn groups(sheet: &mut Sheet, split: &Split, top: usize) {
    if split.groups.is_empty() {
        sheet.line("Memory control groups were not seen.");
        return;
    }
    let groups = Table::from_rows(split.groups.iter().take(top)).wrapped("control group", |group| &group.path);
    sheet.table(groups.right("in RAM", |group| group.resident));
    sheet.dim("A page is charged to the group that touched it first, without the groups below; what is in swap is not told by kind.");
}

fn ages(sheet: &mut Sheet, seen: &Shmem) {
    let before = std::iter::once(None).chain(seen.ages.iter().map(|age| age.within));
    let words = |(age, before): (&AgeTotal, Option<Nanos>)| match (age.within, before) {
        (Some(within), _) => format!("in the last {}", number::bound_of_ages(within)),
        (None, Some(before)) => format!("more than {} ago", number::bound_of_ages(before)),
        (None, None) => "at any time".to_owned(),
    };
    let ages = Table::from_rows(seen.ages.iter().zip(before)).wrapped("last read or written", words);
    sheet.table(amounts(ages, "files", |(age, _)| age.amount));
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
    let told = |bytes: Option<Bytes>| bytes.map_or_else(|| "not told".to_owned(), |b| b.to_string());
    let table =
        Table::from_rows(clients.iter().flat_map(|client| client.regions.iter().map(move |region| (client, region))))
            .left("driver", |(client, _)| &client.driver)
            .wrapped("process", |(client, _)| format!("{} ({})", client.holder.name, client.holder.pid))
            .left("region", |(_, region)| &region.name)
            .right("backed", |(_, region)| told(region.resident))
            .right("shared", |(_, region)| told(region.shared))
            .left("part of Shmem", |(client, _)| if client.in_shmem { "yes" } else { "no" });
    if !clients.is_empty() {
        sheet.heading("Users of graphics devices, as their drivers tell (now; shared buffers count for each user)");
    }
    sheet.table(table);
}

fn notes(sheet: &mut Sheet, split: &Split, seen: &Shmem, options: &TmpfsOptions) {
    sheet.blank();
    let asked = if seen.walk.denied > 0 { "no process that let us look" } else { "no process" };
    sheet.line(seen.unowned.filter(|amount| amount.all().0 > 0).map(|unowned| {
        let hint = if options.files { "" } else { "; --files lists the largest" };
        let (count, all) = (number::count(unowned.count), unowned.all());
        format!("Files with a name that {asked} has open or mapped: {count} with {all} (now){hint}.")
    }));
    let forgotten = split.forgotten();
    sheet.warn(split.leaked.first().filter(|_| forgotten.0 > 0).map(|first| {
        let who = first.holders.first().map(|h| format!("{} ({})", h.name, h.pid)).unwrap_or_default();
        let count = number::count(u64::try_from(split.leaked.len()).unwrap_or(0));
        format!(
            "Deleted files that one sleeping process each keeps, not read or written for an hour or more: {count} with \
             {forgotten} (now). The largest is {} of {who}. They go when it closes them or ends.",
            first.name,
        )
    }));
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
    let hint = if seen.unowned.is_none() { ": root sees them" } else { "" };
    let refused = shmem::refused(seen);
    let covered = "could not be entered: covered by another mount, or behind one that may hang";
    for (n, text) in [
        (walk.denied, format!(" {} refused{hint}.", number::things(walk.denied, "process"))),
        (refused, format!(" {} of file systems in RAM refused.", number::things(refused, "place"))),
        (walk.vanished, format!(" {} ended meanwhile.", number::count(walk.vanished))),
        (walk.unreached, format!(" {} in RAM {covered}.", number::things(walk.unreached, "file system"))),
    ] {
        words.extend((n > 0).then_some(text));
    }
    if !walk.processes_complete || seen.filesystems.iter().any(|f| !f.complete) {
        words.push(" The time was up before all was seen: the amounts are lower bounds.".to_owned());
    }
    sheet.dim(words.concat());
}
