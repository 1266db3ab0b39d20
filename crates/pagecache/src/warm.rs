//! `cache warm`: reads what is missing of files into the page cache, several readers at a time, within a bound, and asks
//! afterwards whether it stayed.
//!
//! Order: plan (what is missing, asked without reading), direct I/O users named, read, ask again. Reading is splice(2) into nowhere, or
//! pread(2) into one buffer a thread: with errors that can be told, and safe when a file shrinks. (Advice such as WILLNEED loads one
//! read-ahead window a call: it only announces small files.) Holes are not read. Others read too, and may push
//! out what was read in.

mod cut;
mod depth;
pub(crate) mod guard;
pub(crate) mod plan;
pub(crate) mod pool;
mod reader;
pub(crate) mod wanted;

use ramline_gather::headroom::cache_headroom;
use ramline_gather::mappers;
use ramline_kernel::residency::Method;
use ramline_snapshot::cache::{Doing, Warmed, WarmedFile};

use crate::prelude::*;
use crate::shared::parallel_map;
use guard::Guard;
use plan::Planned;

pub use wanted::{Progress, WarmOptions};

/// Files that were not warmed as wanted are named up to so many.
const NAMED: usize = 20;

/// Warms everything that was named; failures are told as they happen and counted.
///
/// # Errors
/// When it cannot be found out how much memory there is.
pub fn warm(
    context: Context<'_>,
    names: &[PathBuf],
    walking: &WalkOptions,
    options: &WarmOptions<'_>,
) -> Result<Warmed, KernelError> {
    let plan = plan::plan(context, names, walking, options);
    let room = cache_headroom(context.root)?;
    let missing = Bytes(plan.files.iter().map(|file| file.missing).sum());
    let (direct, evictors) = (direct(context, &plan.files), evictors(context.root));
    let guard = Guard::new(context.root, &room, missing);
    let wanted = plan::Missing { files: &plan.files, range: options.range };
    let read = if options.dry { Warmed::default() } else { pool::read(context, &wanted, &guard, options, missing) };
    let mut out = Warmed {
        doing: if options.dry { Doing::Dry } else { Doing::Done },
        before: plan.tally,
        missing,
        room: room.bytes,
        bound: room.bound,
        direct,
        unknown: plan.unknown,
        skipped: plan.walked.skipped,
        failed: plan.walked.failed + read.failed,
        evictors,
        ..read
    };
    if !options.dry {
        check(&plan.files, options.range, walking, &mut out);
    }
    Ok(out)
}

/// Files somebody reads past the page cache.
fn direct(context: Context<'_>, files: &[Planned]) -> Vec<WarmedFile> {
    let keys: Vec<FileKey> = files.iter().map(|file| file.key).collect();
    let users = if keys.is_empty() { Default::default() } else { mappers::direct(context.root, &keys) };
    let told = |file: &Planned| {
        let users = users.get(&file.key)?;
        let who: Vec<String> =
            users.iter().take(3).map(|user| format!("{} (process {})", user.name, user.pid)).collect();
        let before = bytes(file.before);
        let text = format!("opened with direct I/O by {}: such readers pass the page cache by", who.join(", "));
        Some(WarmedFile { name: name(&file.path), before, after: before, text })
    };
    files.iter().filter_map(told).take(NAMED).collect()
}

/// Asks again about every file that was read, by as many threads as a walk has.
fn check(files: &[Planned], range: Option<(u64, u64)>, walking: &WalkOptions, out: &mut Warmed) {
    let asked: Vec<_> = files.iter().filter(|file| !file.untold).collect();
    let found = parallel_map(&asked, walk::threads(walking), |file| now(file, range));
    let mut after = out.before.resident;
    let early = out.stopped.is_some();
    for (file, now) in asked.into_iter().zip(found) {
        let Some(now) = now else { continue };
        let (before, there) = (bytes(file.before), bytes(now.pages));
        if !now.gone {
            after = (after + there).saturating_sub(before);
        }
        let text = if now.gone {
            "it is gone, or another file has its name"
        } else if now.shrunk {
            "it became shorter meanwhile"
        } else if now.pages == 0 && file.forgets {
            "opening it empties what is cached of it, also for the next program"
        } else if now.pages < file.before + file.missing / process::page_size() && !early {
            "pages of it left again, or could not be read"
        } else {
            continue;
        };
        if out.lost.len() < NAMED {
            out.lost.push(WarmedFile { name: name(&file.path), before, after: there, text: text.to_owned() });
        }
    }
    out.after = Some(after);
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
        Method::Mincore => residency::count_ranges(&open, &file.path, &[(offset, length)]).ok()?.cached,
    };
    Some(Now { pages, gone: false, shrunk: residency::size(&open).is_ok_and(|length| length < file.length) })
}
