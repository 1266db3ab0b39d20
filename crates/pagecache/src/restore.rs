//! `cache restore`: reads a hot set into the page cache again, in its order, within a bound, and asks afterwards whether it is there.
//!
//! Each file is looked at when its turn comes: gone, changed (length, time of the last change, inode) or as it was; only what is missing
//! of the last kind is read, by the same threads, under the same guard as [`crate::warm`]. When memory is short the first part of the order
//! is there and the rest is not. The hot set's file stays as it is whatever happens here.

mod looking;

use ramline_gather::headroom::cache_headroom;
use ramline_snapshot::cache::{Doing, Restored, Stop, WarmedFile};
use ramline_units::Nanos;

use crate::hotset::{Header, Parts};
use crate::prelude::*;
use crate::save::Restoring;
use crate::shared::now_ms;
use crate::warm::guard::Guard;
use crate::warm::{self, WarmOptions, pool};
use looking::{FileState, RestorePass, UnchangedFile};

/// How it is restored.
#[derive(Clone, Copy, Default)]
pub struct RestoreOptions<'a> {
    /// Also the hot set of another machine: then inodes are not compared, only names, lengths and times.
    pub other_machine: bool,
    /// How it is read; whole files, whatever its range.
    pub reading: WarmOptions<'a>,
}

/// Files are named up to so many.
const NAMED: usize = 20;

/// Restores the hot set in a file; failures are told as they happen and counted.
///
/// # Errors
/// `Refused` for a file that is no hot set, is damaged, of another version or of another machine; when it cannot be found out how
/// much memory there is.
pub fn restore(context: Context<'_>, file: &Path, options: &RestoreOptions<'_>) -> Result<Restored, KernelError> {
    let reading = hotset::read(file)?;
    let header = reading.header.clone();
    refuse_foreign(context, file, &header, options.other_machine)?;
    reading.check()?;
    let room = cache_headroom(context.root)?;
    let guard = Guard::new(context.root, &room, Bytes(header.hot));
    let mut out = Restored {
        doing: if options.reading.dry { Doing::Dry } else { Doing::Done },
        file: name(file),
        age: now_ms().checked_sub(header.saved_ms).map(|age| Nanos(age.saturating_mul(1_000_000))),
        same_boot: process::boot_id(context.root).is_ok_and(|boot| boot == header.boot),
        files: header.files,
        hot: Bytes(header.hot),
        after: (!options.reading.dry).then_some(Bytes::ZERO),
        room: room.bytes,
        bound: room.bound.clone(),
        evictors: evictors(context.root),
        ..Restored::default()
    };
    let mut going =
        RestoreState { seen: HashSet::new(), depth: options.reading.depth, done: 0, hot: Bytes::ZERO, last: None };
    let how = How { context, file, page: header.page, options };
    for piece in reading.pieces()? {
        if out.stopped == Some(Stop::Interrupted) {
            break;
        }
        going.piece(how, &piece?, &guard, &mut out);
    }
    out.not_looked_at += header.files - going.done.min(header.files);
    // Short of memory it is as done as it can be; interrupted it is not.
    if !options.reading.dry && out.stopped != Some(Stop::Interrupted) {
        // Also the note of an earlier one, which was killed.
        Restoring::forget(file);
    }
    Ok(out)
}

/// What is the same for all pieces of a hot set.
#[derive(Clone, Copy)]
struct How<'a> {
    context: Context<'a>,
    file: &'a Path,
    /// Bytes of a page where it was saved.
    page: u64,
    options: &'a RestoreOptions<'a>,
}

/// State that goes from one piece of the hot set to the next.
struct RestoreState {
    /// Files that have had their turn: no part of one is counted twice, however often it is listed.
    seen: HashSet<u64>,
    /// Found out with the first piece.
    depth: Option<u64>,
    /// Files of the pieces before, and what of them was hot.
    done: u64,
    hot: Bytes,
    /// The last file, and the page behind the last part of it that was listed.
    last: Option<(FileKey, u64)>,
}

impl RestoreState {
    /// True for a file that was not listed before, and for further parts of the one that was just listed.
    fn is_new(&mut self, key: FileKey, entry: &Entry) -> bool {
        let first = entry.parts.as_ref().and_then(|parts| parts.iter().next()).map(|(first, _)| first);
        let goes_on = self.last.is_some_and(|(last, end)| last == key && first.is_some_and(|first| first >= end));
        let new = self.seen.insert(mixed(key)) || goes_on;
        if new {
            self.last = Some((key, entry.parts.as_ref().map_or(u64::MAX, Parts::end)));
        }
        new
    }

    fn piece(&mut self, how: How<'_>, entries: &[Entry], guard: &Guard<'_>, out: &mut Restored) {
        let (looking, options) = (RestorePass::new(how, entries), how.options);
        let (before, total) = (self.hot, out.hot);
        let told = |at: &warm::Progress| {
            if let Some(tell) = options.reading.progress {
                let done = at.done + before;
                let left = total.0.saturating_sub(done.0).checked_div(at.rate.0).map(Duration::from_secs);
                tell(&warm::Progress { done, total, left, ..*at });
            }
        };
        let reading = WarmOptions {
            depth: self.depth,
            progress: options.reading.progress.is_some().then_some(&told as &(dyn Fn(&warm::Progress) + Sync)),
            ..options.reading
        };
        let hot = entries.iter().fold(Bytes::ZERO, |sum, entry| sum + Bytes(entry.hot(how.page)));
        let read = pool::read(how.context, &looking, guard, &reading, hot);
        let found = looking.end();
        self.done += u64::try_from(entries.len()).unwrap_or(0);
        self.hot += hot;
        if !options.reading.dry {
            out.depth = read.depth;
            self.depth = Some(read.depth);
            out.took = Nanos(out.took.0.saturating_add(read.took.0));
        }
        out.read += read.read;
        out.failed += read.failed;
        if read.stopped.is_some() {
            out.stopped = read.stopped;
        }
        for (entry, found) in entries.iter().zip(&found) {
            match found {
                Some(FileState::Same(same)) if !self.is_new(same.key, entry) => out.listed_again += 1,
                found => add(out, entry, found.as_ref()),
            }
        }
    }
}

/// A file in eight bytes: of four million two are taken for one in a case in two million.
const fn mixed(key: FileKey) -> u64 {
    // SplitMix64's finaliser
    let mut z = key.inode ^ key.device.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// Adds a file to the sums.
fn add(out: &mut Restored, entry: &Entry, found: Option<&FileState>) {
    let row = |text: &str| WarmedFile { name: name(&entry.path), text: text.to_owned(), ..WarmedFile::default() };
    match found {
        None => out.not_looked_at += 1,
        Some(FileState::Failed) => out.failed += 1,
        Some(FileState::Gone) => {
            out.gone += 1;
            keep(&mut out.gone_files, || row("it is gone"));
        }
        Some(FileState::Changed(how)) => {
            out.changed += 1;
            keep(&mut out.changed_files, || row(how));
        }
        Some(FileState::Same(same)) => {
            let UnchangedFile { wanted, before, after, .. } = same;
            out.wanted += bytes(*wanted);
            out.before += bytes(*before);
            out.missing += bytes(wanted.saturating_sub(*before));
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

fn refuse_foreign(context: Context<'_>, file: &Path, header: &Header, other: bool) -> Result<(), KernelError> {
    let here = process::machine(context.root);
    let Some((there, here)) =
        header.machine.as_ref().zip(here.as_ref()).filter(|(there, here)| there != here && !other)
    else {
        return Ok(());
    };
    let numbers = format!("it was saved on {there}, this is {here}");
    Err(KernelError::refused("restore the hot set", file, "it is of another machine", numbers)
        .hint(format!("ramline cache restore --other-machine {}", ramline_units::quoted_path(file))))
}
