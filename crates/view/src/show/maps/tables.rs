//! The tables of `show maps`.

use ramline_model::maps::{Basis, Class, ClosureLine, Duplicate, FileUse, Likeness, Mapped, Program, RangeUse};
use ramline_snapshot::maps::{NameState, Store};

use crate::prelude::*;

/// Programs named beside an old file.
const PROGRAMS: usize = 5;
/// Paths shown of one file under several inodes.
const COPIES: usize = 8;

fn size(bytes: Bytes) -> String {
    if bytes.0 == 0 { "0".to_owned() } else { bytes.to_string() }
}

fn maybe(bytes: Option<Bytes>) -> String {
    bytes.map(size).unwrap_or_default()
}

/// The same, and nothing for none.
fn some(bytes: Option<Bytes>) -> String {
    maybe(bytes.filter(|bytes| *bytes > Bytes::ZERO))
}

pub fn processes(n: u64) -> String {
    format!("{} process{}", number::count(n), if n == 1 { "" } else { "es" })
}

/// The files, most important first.
pub fn files(sheet: &mut Sheet, mapped: &Mapped, top: usize) {
    if mapped.files.is_empty() || top == 0 {
        return;
    }
    let walked = mapped.reading.walked;
    sheet.heading(if walked {
        "Files (now; Rss and copies count a page once for each range that maps it, resident counts it once)"
    } else {
        "Files (now; each page counts once)"
    });
    let named: Vec<&FileUse> = mapped.files.iter().take(top).collect();
    // Where it only repeats the first column it is left out.
    let again = named.iter().any(|f| f.resident.is_some() && f.clean != f.resident);
    let resident = |file: &FileUse| match file.resident {
        Some(bytes) => Cell::from(size(bytes)),
        None => Cell::painted(Paint::Dim, "unknown"),
    };
    let spare = |head| Column::right(head).spare();
    let table = Table::from_rows(named.iter().copied())
        .column(Column::path("file").at_least(24), label)
        .right("resident", resident)
        .right("code", |file| some(file.code))
        .right("read again", |file| again.then(|| clean(file)))
        .column(spare("Rss"), |file| maybe(file.usage.map(|u| u.rss)))
        .column(spare("copies"), |file| some(file.usage.map(|u| u.anonymous)))
        .column(Column::left("used by").spare(), |file| mapped.process.is_none().then(|| users(file)))
        .column(spare("file cached"), |file| file.cached_share.map(number::percent))
        .column(spare("mapped"), |file| (!walked).then(|| size(file.size)));
    sheet.table(table);
    let rest = number::beyond(mapped.files.len(), named.len());
    if rest > 0 {
        let resident = mapped.resident_from(named.len());
        let files = number::things(rest, "more file");
        sheet.dim(format!("{files} with {resident} resident (--top {}, --json for all).", mapped.files.len()));
    }
    for known in mapped.unknown_files() {
        let files = number::things(known.files, "file");
        let why = &known.why;
        sheet.dim(match known.basis {
            Basis::Unknown => format!("Unknown for {files}: {why}."),
            _ => {
                format!("Known only by the page tables of the processes read, so at least as much, for {files}: {why}.")
            }
        });
    }
}

fn label(file: &FileUse) -> String {
    let state = match file.name {
        NameState::There => "",
        NameState::Deleted => " (deleted)",
        NameState::Replaced => " (replaced)",
    };
    format!("{}{state}", file.path)
}

/// What would be read again, or where else its pages go.
fn clean(file: &FileUse) -> String {
    match file.store {
        Store::FileSystem => maybe(file.clean),
        Store::Memory => "to swap".to_owned(),
        Store::HugePages => "stays".to_owned(),
        Store::Device => "no cache".to_owned(),
    }
}

/// Who maps it: one program by name, several by number.
fn users(file: &FileUse) -> String {
    match file.programs.as_slice() {
        [Program { name, processes: 1, .. }] => name.clone(),
        [Program { name, processes, .. }] => format!("{} {name}", number::count(*processes)),
        _ => number::count(file.processes),
    }
}

/// Ranges by what they are.
pub fn classes(sheet: &mut Sheet, mapped: &Mapped) {
    if mapped.classes.is_empty() || mapped.code_only {
        return;
    }
    let table = Table::from_rows(&mapped.classes)
        .wrapped("ranges by kind", |row| words(row.class))
        .right("ranges", |row| row.ranges)
        .right("addresses", |row| size(row.size))
        .right("Rss", |row| maybe(row.resident()))
        .right("Pss", |row| some(row.usage.map(|used| used.pss)))
        .right("copies", |row| some(row.copies()))
        .column(Column::right("shared").spare(), |row| some(row.shared()))
        .column(Column::right("private").spare(), |row| some(row.private()))
        .right("locked", |row| some(row.usage.map(|used| used.locked)))
        .right("swap", |row| some(row.usage.map(|used| used.swap)));
    sheet.blank();
    sheet.table(table);
    if let Some(closure) = &mapped.closure {
        let apart = |l: &ClosureLine| format!(" (ranges {}: {} apart)", l.ranges, l.difference);
        let lines = closure.lines.iter().map(|l| {
            let apart = if l.difference.0 == 0 { String::new() } else { apart(l) };
            format!("{} {}{apart}", l.name, l.kernel)
        });
        let lines: Vec<String> = lines.collect();
        sheet.dim(format!("The ranges add up to the kernel's own totals of the processes: {}.", lines.join(", ")));
    }
}

fn words(class: Class) -> &'static str {
    match class {
        Class::Code => "code of files",
        Class::ReadOnly => "read-only data of files",
        Class::Relocated => "data of files, relocated when loaded",
        Class::Writable => "data of files, private and writable",
        Class::SharedWritable => "data of files, shared and writable",
        Class::Reserved => "addresses kept free in files",
        Class::Generated => "code made while running",
        Class::Heap => "heap",
        Class::Stack => "stack",
        Class::Anonymous => "other anonymous memory",
        Class::SharedMemory => "shared memory, files in RAM",
        Class::HugePages => "huge pages",
        Class::Device => "devices",
        Class::Kernel => "given by the kernel",
    }
}

/// Files whose name is gone or leads elsewhere.
pub fn gone(sheet: &mut Sheet, mapped: &Mapped, top: usize) {
    let gone: Vec<&FileUse> =
        mapped.files.iter().filter(|f| f.name != NameState::There && f.store == Store::FileSystem).collect();
    if gone.is_empty() {
        return;
    }
    sheet.heading(format!(
        "Old files still mapped: {} ({} resident, now). Their space on disk and in RAM is free when the last user ends.",
        number::things(mapped.totals.gone, "file"),
        mapped.totals.gone_resident
    ));
    for file in gone.iter().take(top.max(1)) {
        let state = match file.name {
            NameState::Replaced => "replaced by another file: these processes still run the old one",
            _ => "deleted",
        };
        let resident = file.resident.map(|b| format!(", {b} resident")).unwrap_or_default();
        sheet.point("  ", format!("{}: {state}{resident}; {}", file.path, programs(&file.programs)));
    }
    more(sheet, "  ", gone.len(), top.max(1), "");
}

/// How many are not shown, where that is any.
fn more(sheet: &mut Sheet, indent: &str, all: usize, shown: usize, what: &str) {
    let rest = number::beyond(all, shown);
    if rest > 0 {
        sheet.painted_point(Paint::Dim, indent, format!("and {} more{what} (--json for all)", number::count(rest)));
    }
}

fn programs(list: &[Program]) -> String {
    let mut out: Vec<String> = list
        .iter()
        .take(PROGRAMS)
        .map(|p| match p.pid {
            Some(pid) => format!("{} ({pid})", p.name),
            None => format!("{} x {}", number::count(p.processes), p.name),
        })
        .collect();
    let rest = number::beyond(list.len(), PROGRAMS);
    if rest > 0 {
        out.push(number::things(rest, "more program"));
    }
    out.join(", ")
}

/// Copies of one file.
pub fn duplicates(sheet: &mut Sheet, mapped: &Mapped, top: usize) {
    if mapped.duplicates.is_empty() {
        return;
    }
    let (least, most) = mapped.sharing_saves();
    sheet.heading(format!(
        "One file under several inodes: sharing one copy of each would save {} to {} of RAM (bounds)",
        size(least),
        size(most)
    ));
    for duplicate in mapped.duplicates.iter().take(top.max(1)) {
        sheet.point("  ", duplicate_words(duplicate));
        for copy in duplicate.copies.iter().take(COPIES) {
            let resident = copy.resident.map_or_else(|| "unknown".to_owned(), size);
            let users = processes(copy.processes);
            sheet.point(
                "    ",
                format!("{} ({}, inode {}): {resident} resident, {users}", copy.path, copy.device, copy.inode),
            );
        }
        more(sheet, "    ", duplicate.copies.len(), COPIES, "");
    }
    more(sheet, "  ", mapped.duplicates.len(), top.max(1), " names");
}

fn duplicate_words(duplicate: &Duplicate) -> String {
    let same = match (duplicate.likeness, &duplicate.build_id) {
        (Likeness::BuildId, Some(id)) => format!("build id {}", id.get(..12).unwrap_or(id)),
        _ => "same length and same ten pieces".to_owned(),
    };
    let overlay = if duplicate.overlay { "; on overlayfs, where a shared layer may hold both" } else { "" };
    format!(
        "{} ({}, {same}): saves {} to {}{overlay}",
        duplicate.name,
        duplicate.length,
        size(duplicate.saves_at_least),
        size(duplicate.saves_at_most)
    )
}

/// Every range, as far as it fits a line.
pub fn ranges(sheet: &mut Sheet, mapped: &Mapped) {
    if mapped.ranges.is_empty() {
        return;
    }
    sheet.heading("Address ranges (now; --json also tells device, inode, locked, shared and private apart)");
    // Of one process alone its number is left out.
    let alone = mapped.process.is_some();
    let offset = |range: &RangeUse| range.path.as_ref().map(|_| format!("{:x}", range.offset));
    let table = Table::from_rows(&mapped.ranges)
        .right("process", |range| (!alone).then(|| range.pid.to_string()))
        .left("from", |range| &range.start)
        .left("may", |range| &range.permissions)
        .right("size", |range| size(range.size))
        .right("Rss", |range| some(range.usage.map(|used| used.rss)))
        .column(Column::right("Pss").spare(), |range| some(range.usage.map(|used| used.pss)))
        .column(Column::right("dirty").spare(), |range| some(range.dirty()))
        .right("swap", |range| some(range.usage.map(|used| used.swap)))
        .column(Column::right("offset").spare(), offset)
        .column(Column::path("what"), |range| range.path.as_deref().unwrap_or_else(|| words(range.class)));
    sheet.table(table);
}
