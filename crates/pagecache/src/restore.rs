//! `cache restore`: reads a hot set into the page cache again, in its order, within a bound, and asks afterwards whether it is there.
//!
//! Each file is looked at first: gone, changed (length, time of the last change, inode) or as it was; only what is missing of the
//! last kind is read, by the same threads, under the same guard as [`crate::warm`]. When memory is short the first part of the order
//! is there and the rest is not. What it is not: a change of the hot set's file, which stays as it is whatever happens here.

mod plan;

use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use ramline_kernel::{KernelError, cache_room, process, residency};
use ramline_snapshot::cache::{Doing, Restored, Stop, WarmedFile};
use ramline_units::{Bytes, Nanos};

use crate::hotset::{self, Header};
use crate::remarks::name;
use crate::save::Restoring;
use crate::warm::guard::Guard;
use crate::warm::plan::Planned;
use crate::warm::{self, pool};
use crate::{Context, evict, evictors};

/// How it is restored.
#[derive(Clone, Copy, Default)]
pub struct Options<'a> {
    /// Only find out what is missing.
    pub dry: bool,
    /// Also the hot set of another machine: then inodes are not compared, only names, lengths and times.
    pub other_machine: bool,
    /// At most so many bytes a second.
    pub rate: Option<Bytes>,
    /// So many requests at a time; found out by measuring when left out.
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
    let plan = plan::plan(context, &entries, header.page, !options.other_machine);
    drop(entries);
    let room = cache_room(context.root)?;
    let missing = Bytes(plan.files.iter().map(|file| file.missing).sum());
    let mut out = Restored {
        doing: if options.dry { Doing::Dry } else { Doing::Done },
        file: name(file),
        age: Nanos(now_ms().saturating_sub(header.saved_ms).saturating_mul(1_000_000)),
        same_boot: process::boot_id(context.root).is_ok_and(|boot| boot == header.boot),
        files: header.files,
        hot: Bytes(header.hot),
        changed: plan.changed.count,
        changed_files: plan.changed.named,
        gone: plan.gone.count,
        gone_files: plan.gone.named,
        wanted: Bytes(plan.wanted),
        before: Bytes(plan.before),
        missing,
        room: room.bytes,
        bound: room.bound.clone(),
        failed: plan.failed,
        evictors: evictors::evictors(context.root),
        ..Restored::default()
    };
    if options.dry {
        return Ok(out);
    }
    let note = match (missing.0 > 0).then(|| Restoring::note(file)).transpose() {
        Ok(note) => note,
        Err(error) => {
            (context.tell)(&error);
            None
        }
    };
    let guard = Guard::new(context.root, &room, missing);
    let reading =
        warm::Options { dry: false, range: None, rate: options.rate, depth: options.depth, progress: options.progress };
    let read = pool::read(context, &plan.files, &guard, &reading, missing);
    out.read = Bytes(read.bytes);
    out.took = Nanos(u64::try_from(read.took.as_nanos()).unwrap_or(u64::MAX));
    out.depth = read.depth;
    out.failed += read.failed;
    out.stopped = read.stopped;
    check(&plan.files, &mut out);
    // Short of memory it is as done as it can be; interrupted it is not.
    if let Some(note) = note.filter(|_| out.stopped != Some(Stop::Interrupted)) {
        note.done();
    }
    Ok(out)
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

/// Asks again about every file that was read.
fn check(files: &[Planned], out: &mut Restored) {
    let page = process::page_size();
    let bytes = |pages: u64| Bytes(pages.saturating_mul(page));
    let (mut after, early) = (out.before, out.stopped.is_some());
    for file in files {
        let parts = file.parts.as_deref().unwrap_or_default();
        let whole = [(0, file.length)];
        let ranges = if file.parts.is_some() { parts } else { &whole };
        let now = match evict::reopen(&file.path, file.key).map(|open| residency::of_ranges(&open, &file.path, ranges))
        {
            Some(Ok(now)) => now.cached,
            // Its pages cannot be asked about: they were read all the same.
            Some(Err(_)) => continue,
            None => 0,
        };
        after = Bytes((after + bytes(now)).0.saturating_sub(bytes(file.before).0));
        let wanted = file.before + file.missing.div_ceil(page);
        if now < wanted && !early {
            out.lost += 1;
            if out.lost_files.len() < NAMED {
                let text = "pages of it left again, or could not be read".to_owned();
                out.lost_files.push(WarmedFile {
                    name: name(&file.path),
                    before: bytes(file.before),
                    after: bytes(now),
                    text,
                });
            }
        }
    }
    out.after = Some(after);
}
