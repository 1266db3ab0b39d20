//! `cache pin`: keeps files in memory for as long as it runs, whatever becomes of them.
//!
//! Each file is mapped and locked page by page as it is read in, within a budget, small files first. Then it waits: inotify tells when
//! something happens in one of the directories, and everything that was named is walked again and compared with what is locked. So a
//! file that is replaced (a new one renamed over it), grows, comes or goes is followed, and what was missed is found by the next walk.
//! Walks take at most a twentieth of the time. One file that cannot be locked is named and does not end the others.
//! What it is not: a copy; the pages are those of the page cache, which everybody uses.

mod table;
mod watch;
mod why;

use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use ramline_kernel::{FileKey, KernelError, memory_room, process, signals};
use ramline_snapshot::cache::Pinned;
use ramline_units::Bytes;

use crate::Context;
use crate::shared::{lock, owned};
use crate::walk::{self, FoundFile, Place, Visit, WalkOptions};
use table::Table;
use watch::Watch;

/// Without inotify, and for what it misses.
const WITHOUT_WORD: Duration = Duration::from_secs(30);
/// How often it looks whether there was word, or a signal.
const TICK: Duration = Duration::from_millis(100);
/// Walks take at most one part in so many of the time.
const SHARE: u32 = 20;
const QUIET: &(dyn Fn(&KernelError) + Sync) = &|_| {};

/// Pins what was named until a signal comes; `told` gets the state at first and after each change.
///
/// # Errors
/// When nothing could be locked; when it cannot be found out how much memory there is.
pub fn pin(
    context: Context<'_>,
    names: &[PathBuf],
    walking: &WalkOptions,
    budget: Option<Bytes>,
    told: &mut dyn FnMut(&Pinned),
) -> Result<(), KernelError> {
    signals::install();
    why::raise_limit();
    let room = memory_room(context.root)?;
    // Half of what can be had: locked pages can be taken from nobody any more.
    let budget = budget.unwrap_or(Bytes(room.0 / 2));
    if budget > room {
        let numbers = format!("{budget} asked for, {room} available");
        return Err(KernelError::refused(
            "pin with",
            "--budget",
            "more would be locked than there is room for",
            numbers,
        ));
    }
    let mut watch = Watch::new();
    let mut table = Table::new(context, budget);
    let mut last: Option<Pinned> = None;
    loop {
        let begin = Instant::now();
        // Asked before the walk: what happens during it leads to another.
        watch.take_in();
        let seeing = Seeing { page: process::page_size(), seen: Mutex::default(), directories: Mutex::default() };
        // What cannot be opened is told once.
        let quiet = Context { root: context.root, tell: if last.is_none() { context.tell } else { QUIET } };
        let walked = walk::walk(quiet, names, walking, &seeing);
        // Of the walk alone: what is read in is not done again.
        let took = begin.elapsed();
        if signals::interrupted() {
            return Ok(());
        }
        for directory in owned(seeing.directories) {
            watch.add(&directory);
        }
        table.follow(owned(seeing.seen));
        let state = Pinned { watched: watch.is_whole(), skipped: walked.skipped, ..table.state() };
        if last.is_none() && state.files == 0 {
            return Err(why::nothing(names, &state));
        }
        if last.as_ref() != Some(&state) {
            told(&state);
            last = Some(state);
        }
        while begin.elapsed() < (took * SHARE).max(TICK) || (!watch.has_word() && begin.elapsed() < WITHOUT_WORD) {
            if signals::interrupted() {
                return Ok(());
            }
            std::thread::sleep(TICK);
        }
    }
}

/// A file as a walk found it.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Seen {
    path: PathBuf,
    key: FileKey,
    length: u64,
}

struct Seeing {
    page: u64,
    seen: Mutex<Vec<Seen>>,
    directories: Mutex<Vec<PathBuf>>,
}

impl Visit for Seeing {
    type Worker = Vec<Seen>;

    fn worker(&self) -> Vec<Seen> {
        Vec::new()
    }

    fn enter(&self, place: &Place, _: Option<u32>) {
        let directory = if place.path.is_dir() { Some(place.path.as_path()) } else { place.path.parent() };
        // A bare name lies here.
        let directory = directory.map(|path| if path.as_os_str().is_empty() { Path::new(".") } else { path });
        if let Some(directory) = directory {
            lock(&self.directories).push(directory.to_owned());
        }
    }

    fn file(&self, worker: &mut Vec<Seen>, found: &FoundFile<'_>) {
        let length = found.length();
        if found.fs.dax || length == 0 || !found.is_regular() {
            return;
        }
        worker.push(Seen { path: found.path(), key: found.key(), length: length.div_ceil(self.page) * self.page });
    }

    fn leave(&self, worker: &mut Vec<Seen>, _: &Place) {
        if !worker.is_empty() {
            lock(&self.seen).append(worker);
        }
    }
}
