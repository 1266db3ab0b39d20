//! Memory in tmpfs files that no process uses: deleted but still open and untouched, or named, open in no process and untouched for days.
//!
//! A deleted file of a tmpfs keeps its memory until the last process closes it; no directory shows it. Reads and writes leave a time,
//! access through a mapping does not, so a file that is mapped is never called leaked. Temporary files are deleted at once and used
//! for a while on purpose: only untouched ones count.

use ramline_snapshot::shmem::{File, Object, ObjectKind, Shmem};

use crate::prelude::*;

pub(super) const RULE: Rule = Rule {
    id: "leaked-tmpfs-files",
    looks_for: "memory in tmpfs files that are deleted but open, or that were not used for days",
    explain: "shmem",
    check,
    cost_if_wrong: "a file kept on purpose is lost: there is no copy of it; ask its owner first",
    tune: Tune::No("a program holds them open, and has to be restarted"),
};

/// Less than both of these is not worth the reader's time.
const LEAST: Bytes = Bytes::from_mib(64);
const LEAST_SHARE: f64 = 0.01;
/// A deleted file that is in use is read or written more often than this: sorts, compilers and editors work in seconds to minutes.
const DELETED_IDLE: Nanos = Nanos(3_600_000_000_000);
/// A named file may be kept for a weekly job; two days is what "days" means.
const NAMED_IDLE: Nanos = Nanos(2 * 86_400_000_000_000);

fn check(inputs: &Inputs<'_>) -> Option<Draft> {
    let snapshot = inputs.snapshot;
    let total = snapshot.mem_total()?;
    let shmem = snapshot.shmem.data()?;
    let deleted: Vec<&Object> = shmem.objects.iter().filter(|object| is_leaked(object)).collect();
    let named: Vec<&File> = shmem.unowned_files.iter().filter(|file| is_forgotten(shmem, file)).collect();
    let of_deleted: Bytes = deleted.iter().map(|object| object.amount.all()).sum();
    let of_named: Bytes = named.iter().map(|file| file.amount.all()).sum();
    let both = of_deleted + of_named;
    if both < LEAST || both.share_of(total)? < LEAST_SHARE {
        return None;
    }
    let mostly_deleted = of_deleted >= of_named;
    Some(Draft {
        title: if mostly_deleted {
            format!("{of_deleted} of memory is in deleted tmpfs files that are still open and unused for an hour")
        } else {
            format!("{of_named} of memory is in tmpfs files that no process has open, unused for two days")
        },
        weight: if both.share_of(total)? >= 0.05 { Weight::Warning } else { Weight::Note },
        effect: format!("up to {both}: {}", way_out(&deleted, &named)),
        evidence: deleted
            .iter()
            .take(3)
            .map(|object| evidence_of_object(object))
            .chain(named.iter().take(3).map(|file| evidence_of_file(file)))
            .collect(),
        confidence: if mostly_deleted { Confidence::Medium } else { Confidence::Low },
        ..Draft::default()
    })
}

fn is_leaked(object: &Object) -> bool {
    object.kind == ObjectKind::Deleted
        && !object.holders.is_empty()
        && !object.holders.iter().any(|holder| holder.mapped)
        && object.age.is_some_and(|age| age >= DELETED_IDLE)
}

/// On a system that runs from RAM the programs themselves are such files: its root does not count.
fn is_forgotten(shmem: &Shmem, file: &File) -> bool {
    let of_root = |dev: &str| shmem.filesystems.iter().any(|fs| fs.dev == dev && (fs.at == "/" || !fs.in_shmem));
    file.held == Some(false) && file.age.is_some_and(|age| age >= NAMED_IDLE) && !of_root(&file.dev)
}

fn way_out(deleted: &[&Object], named: &[&File]) -> String {
    let holder = deleted.first().and_then(|object| object.holders.first());
    let close = holder.map(|h| format!("restarting {} (process {}) closes the deleted ones", h.name, h.pid));
    let remove = (!named.is_empty()).then(|| "the named ones are freed by removing them".to_owned());
    close.into_iter().chain(remove).collect::<Vec<_>>().join("; ")
}

fn evidence_of_object(object: &Object) -> Evidence {
    let holders: Vec<String> = object.holders.iter().map(|h| format!("{} ({})", h.name, h.pid)).collect();
    let value = format!("{}, open in {}, untouched for {}", object.amount.all(), holders.join(", "), age(object.age));
    evidence(&object.name, value, "/proc/PID/fd")
}

fn evidence_of_file(file: &File) -> Evidence {
    let value = format!("{}, open nowhere, untouched for {}", file.amount.all(), age(file.age));
    evidence(&file.path, value, "the directory")
}

/// Hours and days: seconds do not matter.
fn age(age: Option<Nanos>) -> String {
    let hours = age.map_or(0, |age| age.0 / 3_600_000_000_000);
    if hours < 48 { format!("{hours} h") } else { format!("{} days", hours / 24) }
}
