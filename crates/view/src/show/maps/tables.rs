//! The tables of `show maps`.

use ramline_model::maps::{Basis, Class, Duplicate, FileUse, Likeness, Mapped, Program};
use ramline_snapshot::maps::{NameState, Store, Usage};
use ramline_units::Bytes;

use crate::text::{Cell, Column, Page, Paint, Table, number, width};

fn size(bytes: Bytes) -> String {
    if bytes.0 == 0 { "0".to_owned() } else { bytes.to_string() }
}

fn maybe(bytes: Option<Bytes>) -> String {
    bytes.map(size).unwrap_or_default()
}

pub fn processes(n: u64) -> String {
    format!("{} process{}", number::count(n), if n == 1 { "" } else { "es" })
}

/// The files, most important first.
pub fn files(page: &mut Page<'_>, mapped: &Mapped, top: usize) {
    if mapped.files.is_empty() || top == 0 {
        return;
    }
    let walked = mapped.reading.walked;
    let wide = page.style().width >= 80;
    let columns = if wide { 32 } else { 24 };
    page.heading(if walked {
        "Files (now; Rss and copies count a page once for each range that maps it, resident counts it once)"
    } else {
        "Files (now; each page counts once)"
    });
    let named: Vec<&FileUse> = mapped.files.iter().take(top).collect();
    // Where it only repeats the first column it is left out.
    let again = named.iter().any(|f| f.resident.is_some() && f.clean != f.resident);
    let mut table = Table::new(vec![
        Column::wrapped("file"),
        Column::right("resident"),
        Column::right("code"),
        Column::right("read again"),
        Column::right("Rss"),
        Column::right("copies"),
        Column::right("mapped"),
        Column::right("cached"),
        Column::left("used by"),
    ]);
    for file in &named {
        let resident = match file.resident {
            Some(bytes) => Cell::from(size(bytes)),
            None => Cell::painted(Paint::Dim, "unknown"),
        };
        let clean = match file.store {
            Store::FileSystem => maybe(file.clean),
            Store::Memory => "to swap".to_owned(),
            Store::HugePages => "stays".to_owned(),
            Store::Device => "no cache".to_owned(),
        };
        let only = |on: bool, text: String| if on { text } else { String::new() };
        table.cells(vec![
            label(file, columns).into(),
            resident,
            maybe(file.code.filter(|b| b.0 > 0)).into(),
            only(again, clean).into(),
            maybe(file.usage.map(|u| u.rss)).into(),
            maybe(file.usage.map(|u| u.anonymous).filter(|b| b.0 > 0)).into(),
            only(!walked && wide, size(file.size)).into(),
            only(wide, file.cached_share.map(number::percent).unwrap_or_default()).into(),
            only(wide, users(file)).into(),
        ]);
    }
    page.table(&table);
    let rest = mapped.files.len().saturating_sub(named.len());
    if rest > 0 {
        let resident: Bytes = mapped.files.iter().skip(named.len()).filter_map(|f| f.resident).sum();
        let files = number::things(u64::try_from(rest).unwrap_or(u64::MAX), "more file");
        page.dim(&format!("{files} with {resident} resident (--top {}, --json for all).", mapped.files.len()));
    }
    if wide {
        page.dim("cached: share of the whole file in the page cache, mapped or not.");
    }
    reasons(page, &mapped.files);
}

fn label(file: &FileUse, columns: usize) -> String {
    let state = match file.name {
        NameState::There => "",
        NameState::Deleted => " (deleted)",
        NameState::Replaced => " (replaced)",
    };
    format!("{}{state}", short(&file.path, columns))
}

/// A path longer than a line can bear is cut in the middle: its start and its last name tell most.
fn short(path: &str, columns: usize) -> String {
    if width(path) <= columns || path.matches('/').count() < 3 {
        return path.to_owned();
    }
    let last = path.rsplit('/').next().unwrap_or_default();
    let mut kept = String::new();
    for part in path.split('/').skip(1) {
        // Two slashes and three dots stand between.
        if width(&kept) + 1 + width(part) + 5 + width(last) > columns {
            break;
        }
        kept = format!("{kept}/{part}");
    }
    format!("{kept}/.../{last}")
}

/// Who maps it: one program by name, several by number.
fn users(file: &FileUse) -> String {
    match file.programs.as_slice() {
        [Program { name, processes: 1, .. }] => name.clone(),
        [Program { name, processes, .. }] => format!("{} {name}", number::count(*processes)),
        _ => number::count(file.processes),
    }
}

/// Why the residency of files is not known, each reason once.
fn reasons(page: &mut Page<'_>, files: &[FileUse]) {
    let mut told: Vec<(Basis, &str, u64)> = Vec::new();
    for file in files.iter().filter(|f| f.cached.is_none() && f.basis != Basis::PageCache) {
        let why = file.why.as_deref().unwrap_or("it was not asked");
        match told.iter_mut().find(|(basis, known, _)| (*basis, *known) == (file.basis, why)) {
            Some((.., n)) => *n += 1,
            None => told.push((file.basis, why, 1)),
        }
    }
    for (basis, why, n) in told {
        let files = number::things(n, "file");
        page.dim(&match basis {
            Basis::Unknown => format!("Unknown for {files}: {why}."),
            _ => {
                format!("Known only by the page tables of the processes read, so at least as much, for {files}: {why}.")
            }
        });
    }
}

/// Ranges by what they are.
pub fn classes(page: &mut Page<'_>, mapped: &Mapped) {
    if mapped.classes.is_empty() || mapped.code_only {
        return;
    }
    let mut table = Table::new(vec![
        Column::wrapped("ranges by kind"),
        Column::right("ranges"),
        Column::right("addresses"),
        Column::right("Rss"),
        Column::right("Pss"),
        Column::right("copies"),
        Column::right("shared"),
        Column::right("private"),
        Column::right("locked"),
        Column::right("swap"),
    ]);
    let wide = page.style().width >= 80;
    let some = |b: Bytes| if b.0 == 0 { String::new() } else { b.to_string() };
    for row in &mapped.classes {
        let used = row.usage.unwrap_or_default();
        let copies = if row.class.is_file() { used.anonymous } else { Bytes::ZERO };
        table.cells(vec![
            words(row.class).into(),
            number::count(row.ranges).into(),
            size(row.size).into(),
            row.usage.map(|u| size(u.rss + u.huge)).unwrap_or_default().into(),
            some(used.pss).into(),
            some(copies).into(),
            if wide { some(used.shared_clean + used.shared_dirty) } else { String::new() }.into(),
            if wide { some(used.private_clean + used.private_dirty) } else { String::new() }.into(),
            some(used.locked).into(),
            some(used.swap).into(),
        ]);
    }
    page.blank();
    page.table(&table);
    if let Some(closure) = &mapped.closure {
        let lines: Vec<String> = closure
            .lines
            .iter()
            .map(|l| {
                if l.difference.0 == 0 {
                    format!("{} {}", l.name, l.kernel)
                } else {
                    format!("{} {} (ranges {}: {} apart)", l.name, l.kernel, l.ranges, l.difference)
                }
            })
            .collect();
        page.dim(&format!("The ranges add up to the kernel's own totals of the processes: {}.", lines.join(", ")));
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
pub fn gone(page: &mut Page<'_>, mapped: &Mapped, top: usize) {
    let gone: Vec<&FileUse> =
        mapped.files.iter().filter(|f| f.name != NameState::There && f.store == Store::FileSystem).collect();
    if gone.is_empty() {
        return;
    }
    page.heading(&format!(
        "Old files still mapped: {} ({} resident, gauge). Their space on disk and in RAM is free when the last user ends.",
        number::things(mapped.totals.gone, "file"),
        mapped.totals.gone_resident
    ));
    for file in gone.iter().take(top.max(1)) {
        let state = match file.name {
            NameState::Replaced => "replaced by another file: these processes still run the old one",
            _ => "deleted",
        };
        let resident = file.resident.map(|b| format!(", {b} resident")).unwrap_or_default();
        page.point("  ", &format!("{}: {state}{resident}; {}", file.path, programs(&file.programs)));
    }
    if gone.len() > top.max(1) {
        page.dim(&format!("  and {} more (--json for all)", gone.len() - top.max(1)));
    }
}

fn programs(list: &[Program]) -> String {
    let mut out: Vec<String> = list
        .iter()
        .take(5)
        .map(|p| match p.pid {
            Some(pid) => format!("{} ({pid})", p.name),
            None => format!("{} x {}", number::count(p.processes), p.name),
        })
        .collect();
    if list.len() > 5 {
        out.push(format!("{} more programs", list.len() - 5));
    }
    out.join(", ")
}

/// Copies of one file.
pub fn duplicates(page: &mut Page<'_>, mapped: &Mapped, top: usize) {
    if mapped.duplicates.is_empty() {
        return;
    }
    let sum = |of: fn(&Duplicate) -> Bytes| mapped.duplicates.iter().map(of).sum::<Bytes>();
    page.heading(&format!(
        "One file under several inodes: sharing one copy of each would save {} to {} of RAM (bounds)",
        size(sum(|d| d.saves_at_least)),
        size(sum(|d| d.saves_at_most))
    ));
    for duplicate in mapped.duplicates.iter().take(top.max(1)) {
        let same = match (duplicate.likeness, &duplicate.build_id) {
            (Likeness::BuildId, Some(id)) => format!("build id {}", id.get(..12).unwrap_or(id)),
            _ => "same length and same ten pieces".to_owned(),
        };
        let overlay = if duplicate.overlay { "; on overlayfs, where a shared layer may hold both" } else { "" };
        page.point(
            "  ",
            &format!(
                "{} ({}, {same}): saves {} to {}{overlay}",
                duplicate.name,
                duplicate.length,
                size(duplicate.saves_at_least),
                size(duplicate.saves_at_most)
            ),
        );
        for copy in duplicate.copies.iter().take(8) {
            let resident = copy.resident.map_or_else(|| "unknown".to_owned(), size);
            let users = processes(copy.processes);
            page.point(
                "    ",
                &format!("{} ({}, inode {}): {resident} resident, {users}", copy.path, copy.device, copy.inode),
            );
        }
        if duplicate.copies.len() > 8 {
            page.dim(&format!("    and {} more (--json for all)", duplicate.copies.len() - 8));
        }
    }
    if mapped.duplicates.len() > top.max(1) {
        page.dim(&format!("  and {} more names (--json for all)", mapped.duplicates.len() - top.max(1)));
    }
}

/// Every range, as far as it fits a line.
pub fn ranges(page: &mut Page<'_>, mapped: &Mapped) {
    if mapped.ranges.is_empty() {
        return;
    }
    page.heading("Address ranges (now; --json also tells device, inode, locked, shared and private apart)");
    let mut table = Table::new(vec![
        Column::right("process"),
        Column::left("from"),
        Column::left("may"),
        Column::right("size"),
        Column::right("Rss"),
        Column::right("Pss"),
        Column::right("dirty"),
        Column::right("swap"),
        Column::right("offset"),
        Column::wrapped("what"),
    ]);
    let (alone, wide) = (mapped.process.is_some(), page.style().width >= 80);
    for range in &mapped.ranges {
        let used =
            |of: fn(&Usage) -> Bytes| range.usage.as_ref().map(of).filter(|b| b.0 > 0).map(size).unwrap_or_default();
        let only = |on: bool, text: String| if on { text } else { String::new() };
        table.cells(vec![
            only(!alone, range.pid.to_string()).into(),
            range.start.as_str().into(),
            range.permissions.as_str().into(),
            size(range.size).into(),
            used(|u| u.rss).into(),
            only(wide, used(|u| u.pss)).into(),
            only(wide, used(|u| u.shared_dirty + u.private_dirty)).into(),
            used(|u| u.swap).into(),
            only(wide && range.path.is_some(), format!("{:x}", range.offset)).into(),
            range.path.as_deref().map_or_else(|| words(range.class).to_owned(), |p| short(p, 28)).into(),
        ]);
    }
    page.table(&table);
}
