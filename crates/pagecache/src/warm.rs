//! `cache warm`: reads what is missing of files into the page cache, several readers at a time, within a bound, and asks
//! afterwards whether it stayed.
//!
//! Order: plan (what is missing, asked without reading), direct I/O users named, read, ask again. Reading is splice(2) into nowhere, or
//! pread(2) into one buffer a thread: with errors that can be told, and safe when a file shrinks. (Advice such as WILLNEED loads one
//! read-ahead window a call: it only announces small files.) Holes are not read. What it is not: a promise; others read too, and may push
//! out what was brought in.

mod cut;
mod depth;
pub(crate) mod guard;
mod permits;
pub(crate) mod plan;
pub(crate) mod pool;
mod reader;

use std::os::fd::AsFd;
use std::path::PathBuf;
use std::sync::Mutex;
use std::time::Duration;

use ramline_gather::mappers;
use ramline_kernel::residency::{self, Method};
use ramline_kernel::{FileKey, KernelError, Room, cache_room, process, worker};
use ramline_snapshot::cache::{Doing, Stop, Warmed, WarmedFile};
use ramline_units::{Bytes, Nanos};

use crate::remarks::name;
use crate::shared::lock;
use crate::{Context, evict, evictors, walk};

use guard::Guard;
use plan::Planned;

/// What is to be read, and how.
#[derive(Clone, Copy, Default)]
pub struct Options<'a> {
    /// Only find out what is missing.
    pub dry: bool,
    /// Only this part of each file, as offset and length.
    pub range: Option<(u64, u64)>,
    /// At most so many bytes a second.
    pub rate: Option<Bytes>,
    /// So many readers at a time; found out by measuring when left out.
    pub depth: Option<u64>,
    /// Told now and then how far it is.
    pub progress: Option<&'a (dyn Fn(&Progress) + Sync)>,
}

/// How far it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Progress {
    /// Read so far.
    pub done: Bytes,
    /// To be read.
    pub total: Bytes,
    /// Bytes a second, over the last moments.
    pub rate: Bytes,
    /// At that rate; `None` while nothing moves.
    pub left: Option<Duration>,
    /// Readers at a time.
    pub depth: u64,
}

/// Files that were not warmed as wanted are named up to so many.
const NAMED: usize = 20;

/// Warms everything that was named; failures are told as they happen and counted.
///
/// # Errors
/// When it cannot be found out how much memory there is.
pub fn warm(
    context: Context<'_>,
    names: &[PathBuf],
    walking: &walk::Options,
    options: &Options<'_>,
) -> Result<Warmed, KernelError> {
    let page = process::page_size();
    let plan = plan::plan(context, names, walking, options.range, options.dry);
    let room = cache_room(context.root)?;
    let missing = Bytes(plan.files.iter().map(|file| file.missing).sum());
    let mut out = Warmed {
        doing: if options.dry { Doing::Dry } else { Doing::Done },
        before: plan.tally,
        missing,
        room: room.bytes,
        bound: room.bound.clone(),
        direct: direct(context, &plan.files, page),
        unknown: plan.unknown,
        skipped: plan.walked.skipped,
        failed: plan.walked.failed,
        evictors: evictors::evictors(context.root),
        ..Warmed::default()
    };
    if options.dry {
        return Ok(out);
    }
    let guard = Guard::new(context.root, &room, missing);
    let wanted = plan::Missing { files: &plan.files, range: options.range };
    let read = pool::read(context, &wanted, &guard, options, missing);
    out.read = Bytes(read.bytes);
    out.took = Nanos(u64::try_from(read.took.as_nanos()).unwrap_or(u64::MAX));
    out.depth = read.depth;
    out.tried = read.tried;
    out.failed += read.failed;
    out.stopped = read.stopped;
    check(&plan.files, options.range, page, walking, &mut out);
    Ok(out)
}

/// Files somebody reads past the page cache.
fn direct(context: Context<'_>, files: &[Planned], page: u64) -> Vec<WarmedFile> {
    let keys: Vec<FileKey> = files.iter().map(|file| file.key).collect();
    let users = if keys.is_empty() { Default::default() } else { mappers::direct(context.root, &keys) };
    let told = |file: &Planned| {
        let users = users.get(&file.key)?;
        let who: Vec<String> =
            users.iter().take(3).map(|user| format!("{} (process {})", user.name, user.pid)).collect();
        let before = Bytes(file.before.saturating_mul(page));
        let text = format!("opened with direct I/O by {}: such readers pass the page cache by", who.join(", "));
        Some(WarmedFile { name: name(&file.path), before, after: before, text })
    };
    files.iter().filter_map(told).take(NAMED).collect()
}

/// Asks again about every file that was read, by as many threads as a walk has.
fn check(files: &[Planned], range: Option<(u64, u64)>, page: u64, walking: &walk::Options, out: &mut Warmed) {
    let asked: Vec<_> = files.iter().filter(|file| !file.untold).collect();
    let mut found: Vec<Option<Now>> = Vec::new();
    found.resize_with(asked.len(), || None);
    let piece = asked.len().div_ceil(walk::threads(walking)).max(1);
    let pieces: Vec<_> = found.chunks_mut(piece).zip(asked.chunks(piece)).collect();
    in_pieces(pieces, |(found, asked)| {
        found.iter_mut().zip(asked).for_each(|(found, file)| *found = now(file, range));
    });
    let bytes = |pages: u64| Bytes(pages.saturating_mul(page));
    let mut after = out.before.resident;
    let early = out.stopped.is_some();
    for (file, now) in asked.into_iter().zip(found) {
        let Some(now) = now else { continue };
        let (before, there) = (bytes(file.before), bytes(now.pages));
        if now.gone {
            note(out, file, before, there, "it is gone, or another file has its name");
            continue;
        }
        after = Bytes((after + there).0.saturating_sub(before.0));
        if now.shrunk {
            note(out, file, before, there, "it became shorter meanwhile");
        } else if now.pages == 0 && file.forgets {
            note(out, file, before, there, "opening it empties what is cached of it, also for the next program");
        } else if now.pages < file.before + file.missing / page && !early {
            note(out, file, before, there, "pages of it left again, or could not be read");
        }
    }
    out.after = Some(after);
}

/// Does work that has been cut into pieces, a thread each and this one too: where no thread is allowed, it does all of it.
pub(crate) fn in_pieces<T: Send>(pieces: Vec<T>, work: impl Fn(T) + Sync) {
    let threads = pieces.len().saturating_sub(1);
    let pieces = Mutex::new(pieces);
    let next = || lock(&pieces).pop();
    let all = || {
        while let Some(piece) = next() {
            work(piece);
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..threads {
            if !worker::with_own_descriptors(scope, "asking-again", all) {
                break;
            }
        }
        all();
    });
}

/// A file after it was read.
#[derive(Default)]
struct Now {
    pages: u64,
    gone: bool,
    shrunk: bool,
}

/// `None` when it is not told.
fn now(file: &Planned, range: Option<(u64, u64)>) -> Option<Now> {
    let Some(open) = evict::reopen(&file.path, file.key) else {
        return Some(Now { gone: true, ..Now::default() });
    };
    let (offset, length) = range.unwrap_or((0, i64::MAX.unsigned_abs()));
    let pages = match file.method {
        // What the walk has found out about the file system still holds.
        Method::Cachestat => residency::cachestat(open.as_fd(), offset, length).ok()?.cached,
        Method::Mincore => residency::of_ranges(&open, &file.path, &[(offset, length)]).ok()?.cached,
    };
    Some(Now { pages, gone: false, shrunk: residency::size(&open).is_ok_and(|length| length < file.length) })
}

fn note(out: &mut Warmed, file: &Planned, before: Bytes, after: Bytes, text: &str) {
    if out.lost.len() < NAMED {
        out.lost.push(WarmedFile { name: name(&file.path), before, after, text: text.to_owned() });
    }
}

/// In words, for whoever waits.
pub(crate) fn stop(room: &Room, margin: u64) -> Stop {
    Stop::Room { bound: room.bound.clone(), room: room.bytes, margin: Bytes(margin) }
}
