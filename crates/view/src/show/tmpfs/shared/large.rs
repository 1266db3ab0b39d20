//! The largest pieces of shared memory, whatever kind they are, with owner, age and holders.

use ramline_snapshot::shmem::{Amount, File, Holder, Object, ObjectKind, Segment, Shmem};

use crate::prelude::*;

/// A line of the list of the largest: whatever kind it is.
struct Large {
    what: String,
    amount: Amount,
    owner: Option<u32>,
    age: Option<Nanos>,
    held: String,
}

pub fn largest(sheet: &mut Sheet, seen: &Shmem, top: usize) {
    let mut all: Vec<Large> = seen.files.iter().map(from_file).collect();
    all.extend(seen.segments.iter().map(from_segment));
    all.extend(seen.objects.iter().map(from_object));
    all.retain(|large| large.amount.all().0 > 0);
    ramline_units::sort_by_key(&mut all, |large| std::cmp::Reverse(large.amount.all()));
    list(sheet, "The largest of all kinds", all, top);
}

pub fn files(sheet: &mut Sheet, title: &str, files: &[File], top: usize) {
    list(sheet, title, files.iter().map(from_file).collect(), top);
}

fn list(sheet: &mut Sheet, title: &str, mut all: Vec<Large>, top: usize) {
    all.truncate(top);
    let what = Table::from_rows(&all).column(Column::wrapped("what").at_least(24), |large| &large.what);
    let table = super::amounts(what, "", |large| large.amount)
        .column(Column::left("owner").folds(), |large| owner(large.owner))
        .column(Column::right("last used").folds(), |large| large.age.map(|age| format!("{} ago", number::age(age))))
        .column(Column::wrapped("held by").at_least(20), |large| &large.held);
    sheet.headed_table(title, table);
}

fn from_file(file: &File) -> Large {
    let held = match file.held {
        Some(true) => "in use",
        Some(false) => "no process",
        None => "",
    };
    Large { what: file.path.clone(), amount: file.amount, owner: Some(file.uid), age: file.age, held: held.to_owned() }
}

fn from_segment(segment: &Segment) -> Large {
    let huge = if segment.huge == Some(true) { " (huge pages, not in Shmem)" } else { "" };
    let held = match (segment.attached, segment.holders.as_slice()) {
        (0, _) => format!("not attached (made by process {})", segment.creator),
        (count, []) => number::things(count, "attachment"),
        (count, named) => holders(named, count),
    };
    Large {
        what: format!("System V segment {}{huge}", segment.id),
        amount: Amount { count: 1, resident: segment.resident, swapped: segment.swapped, either: Bytes::ZERO },
        owner: Some(segment.uid),
        age: segment.age,
        held,
    }
}

fn from_object(object: &Object) -> Large {
    let what = match object.kind {
        ObjectKind::Memfd => format!("memfd {}", object.name.strip_prefix("/memfd:").unwrap_or(&object.name)),
        ObjectKind::Deleted => format!("deleted {}", object.name),
        ObjectKind::SharedAnonymous => "shared anonymous memory".to_owned(),
        ObjectKind::Graphics => "graphics buffer".to_owned(),
        ObjectKind::Segment => format!("System V segment {} of another name space", object.ino),
        ObjectKind::Other => format!("kernel file {}", object.name),
    };
    Large {
        what,
        amount: object.amount,
        owner: object.uid,
        age: object.age,
        held: holders(&object.holders, object.holder_count),
    }
}

fn holders(named: &[Holder], count: u64) -> String {
    let mut words: Vec<String> = named.iter().take(2).map(|h| format!("{} ({})", h.name, h.pid)).collect();
    let more = number::beyond(usize::try_from(count).unwrap_or(usize::MAX), words.len());
    words.extend((more > 0).then(|| format!("{} more", number::count(more))));
    words.join(", ")
}

pub fn owner(uid: Option<u32>) -> String {
    match uid {
        None => String::new(),
        Some(0) => "root".to_owned(),
        Some(uid) => format!("user {uid}"),
    }
}
