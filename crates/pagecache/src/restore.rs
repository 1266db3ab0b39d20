//! `cache restore`: reads a hot set into the page cache again, in its order, within a bound, and asks afterwards whether it is there.
//!
//! Each file is looked at when its turn comes: gone, changed (length, time of the last change, inode) or as it was; only what is missing
//! of the last kind is read, by the same threads, under the same guard as [`crate::warm`]. When memory is short the first part of the order
//! is there and the rest is not. What it is not: a change of the hot set's file, which stays as it is whatever happens here.

mod looking;

use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use ramline_kernel::{KernelError, cache_room, process};
use ramline_snapshot::cache::{Doing, Restored, Stop, WarmedFile};
use ramline_units::{Bytes, Nanos};

use crate::hotset::{self, Entry, Header};
use crate::remarks::name;
use crate::warm::guard::Guard;
use crate::warm::{self, pool};
use crate::{Context, evictors};

use looking::{Found, Looking, Same};

/// How it is restored.
#[derive(Clone, Copy, Default)]
pub struct Options<'a> {
    /// Only find out what is missing.
    pub dry: bool,
    /// Also the hot set of another machine: then inodes are not compared, only names, lengths and times.
    pub other_machine: bool,
    /// At most so many bytes a second.
    pub rate: Option<Bytes>,
    /// So many readers at a time; found out by measuring when left out.
    pub depth: Option<u64>,
    /// Told now and then how far it is.
    pub progress: Option<&'a (dyn Fn(&warm::Progress) + Sync)>,
}

/// Files are named up to so many.
const NAMED: usize = 20;

/// Restores the hot set in a file; failures are told as they happen and counted.
///
/// # Errors
/// `Refused` for a file that is no hot set, is damaged, of another version or of another machine; when it cannot be found out how
/// much memory there is.
pub fn restore(context: Context<'_>, file: &Path, options: &Options<'_>) -> Result<Restored, KernelError> {
    let reading = hotset::read(file)?;
    let header = reading.header.clone();
    refuse_foreign(context, file, &header, options.other_machine)?;
    let entries = reading.all()?;
    let room = cache_room(context.root)?;
    let looking = Looking::new(context, file, &entries, header.page, options);
    let guard = Guard::new(context.root, &room, Bytes(header.hot));
    let reading = warm::Options {
        dry: options.dry,
        range: None,
        rate: options.rate,
        depth: options.depth,
        progress: options.progress,
    };
    let read = pool::read(context, &looking, &guard, &reading, Bytes(header.hot));
    let (found, note) = looking.end();
    let mut out = Restored {
        doing: if options.dry { Doing::Dry } else { Doing::Done },
        file: name(file),
        age: Nanos(now_ms().saturating_sub(header.saved_ms).saturating_mul(1_000_000)),
        same_boot: process::boot_id(context.root).is_ok_and(|boot| boot == header.boot),
        files: header.files,
        hot: Bytes(header.hot),
        read: Bytes(read.bytes),
        after: (!options.dry).then_some(Bytes::ZERO),
        took: if options.dry { Nanos(0) } else { Nanos(u64::try_from(read.took.as_nanos()).unwrap_or(u64::MAX)) },
        depth: if options.dry { 0 } else { read.depth },
        room: room.bytes,
        bound: room.bound.clone(),
        stopped: read.stopped,
        failed: read.failed,
        evictors: evictors::evictors(context.root),
        ..Restored::default()
    };
    for (entry, found) in entries.iter().zip(&found) {
        add(&mut out, entry, found.as_ref());
    }
    // Short of memory it is as done as it can be; interrupted it is not.
    if let Some(note) = note.filter(|_| out.stopped != Some(Stop::Interrupted)) {
        note.done();
    }
    Ok(out)
}

/// Adds a file to the sums.
fn add(out: &mut Restored, entry: &Entry, found: Option<&Found>) {
    let row = |text: &str| WarmedFile { name: name(&entry.path), text: text.to_owned(), ..WarmedFile::default() };
    match found {
        None => out.not_looked_at += 1,
        Some(Found::Failed) => out.failed += 1,
        Some(Found::Gone) => {
            out.gone += 1;
            keep(&mut out.gone_files, || row("it is gone"));
        }
        Some(Found::Changed(how)) => {
            out.changed += 1;
            keep(&mut out.changed_files, || row(how));
        }
        Some(Found::Same(same)) => {
            let bytes = |pages: u64| Bytes(pages.saturating_mul(process::page_size()));
            let Same { wanted, before, after, .. } = same;
            out.wanted += bytes(*wanted);
            out.before += bytes(*before);
            out.missing += bytes(wanted - before);
            out.after = out.after.map(|sum| sum + bytes(after.unwrap_or(*before)));
            if let Some(after) = after.filter(|after| after < wanted && out.stopped.is_none()) {
                out.lost += 1;
                let lost = row("pages of it left again, or could not be read");
                keep(&mut out.lost_files, || WarmedFile { before: bytes(*before), after: bytes(after), ..lost });
            }
        }
    }
}

fn keep(rows: &mut Vec<WarmedFile>, row: impl FnOnce() -> WarmedFile) {
    if rows.len() < NAMED {
        rows.push(row());
    }
}

fn now_ms() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(now.as_millis()).unwrap_or(u64::MAX)
}

fn refuse_foreign(context: Context<'_>, file: &Path, header: &Header, other: bool) -> Result<(), KernelError> {
    let here = process::machine(context.root);
    match (&header.machine, &here) {
        (Some(there), Some(here)) if there != here && !other => {
            let numbers = format!("it was saved on {there}, this is {here}");
            Err(KernelError::refused("restore the hot set", file, "it is of another machine", numbers)
                .hint(format!("ramline cache restore --other-machine {}", file.display())))
        }
        _ => Ok(()),
    }
}
