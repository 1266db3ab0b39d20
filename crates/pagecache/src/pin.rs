//! `cache pin`: keeps files in memory for as long as it runs, whatever becomes of them.
//!
//! Each file is mapped and locked page by page as it is read in, within a budget, small files first. Then it waits: inotify reports when
//! something happens in one of the directories, and everything that was named is walked again and compared with what is locked. So a
//! file that is replaced (a new one renamed over it), grows, comes or goes is followed, and what was missed is found by the next walk.
//! Walks take at most a twentieth of the time. One file that cannot be locked is named and does not end the others.
//! Nothing is copied: the pages are those of the page cache.

mod table;

use std::mem::MaybeUninit;

use ramline_gather::headroom::memory_headroom;
use ramline_snapshot::cache::Pinned;
use rustix::fs::inotify::{self, CreateFlags, WatchFlags};
use table::Table;

use crate::prelude::*;
use crate::shared::owned;

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
    // Up to what may be had without asking anybody.
    Limited::LockedMemory.raise();
    let room = memory_headroom(context.root)?;
    // Half of what can be had: locked pages can be taken from nobody any more.
    let budget = budget.unwrap_or(Bytes(room.0 / 2));
    if budget > room {
        let numbers = format!("{budget} asked for, {room} available");
        let rule = "more would be locked than there is room for";
        return Err(KernelError::refused("pin with", "--budget", rule, numbers));
    }
    let mut watch = Watch::new();
    let mut table = Table::new(context, budget);
    let mut last: Option<Pinned> = None;
    loop {
        let begin = Instant::now();
        // Asked before the walk: what happens during it leads to another.
        watch.take_in();
        let seeing = PinWalk { page: process::page_size(), directories: Mutex::default() };
        // What cannot be opened is told once.
        let quiet = Context { root: context.root, tell: if last.is_none() { context.tell } else { QUIET } };
        let (walked, seen) = walk::walk(quiet, names, walking, &seeing);
        // Of the walk alone: what is read in is not done again.
        let took = begin.elapsed();
        if signals::interrupted() {
            return Ok(());
        }
        for directory in owned(seeing.directories) {
            watch.add(&directory);
        }
        table.follow(seen.concat());
        let state = Pinned { watched: watch.is_whole(), skipped: walked.skipped, ..table.state() };
        if last.is_none() && state.files == 0 {
            return Err(table::nothing(names, &state));
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
struct WalkedFile {
    path: PathBuf,
    key: FileKey,
    length: u64,
}

struct PinWalk {
    page: u64,
    directories: Mutex<Vec<PathBuf>>,
}

impl Visit for PinWalk {
    type Worker = Vec<WalkedFile>;

    fn enter(&self, place: &Place, _: Option<u32>) {
        let directory = if place.path.is_dir() { Some(place.path.as_path()) } else { place.path.parent() };
        // A bare name lies here.
        let directory = directory.map(|path| if path.as_os_str().is_empty() { Path::new(".") } else { path });
        if let Some(directory) = directory {
            lock(&self.directories).push(directory.to_owned());
        }
    }

    fn file(&self, worker: &mut Vec<WalkedFile>, found: &FoundFile<'_>) {
        let length = found.length();
        if found.fs.dax || length == 0 || !found.is_regular() {
            return;
        }
        worker.push(WalkedFile {
            path: found.path(),
            key: found.key(),
            length: length.div_ceil(self.page) * self.page,
        });
    }
}

/// Word of changes in directories, by inotify: that something happened is enough, as everything is looked at again then.
struct Watch {
    // None where there is no inotify, or no more of it to be had.
    fd: Option<OwnedFd>,
    missed: bool,
    word: bool,
}

impl Watch {
    pub fn new() -> Watch {
        let fd = inotify::init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK).ok();
        Watch { fd, missed: false, word: false }
    }

    pub fn add(&mut self, directory: &Path) {
        let Some(fd) = &self.fd else { return };
        let what = WatchFlags::CREATE
            | WatchFlags::MODIFY
            | WatchFlags::MOVED_FROM
            | WatchFlags::MOVED_TO
            | WatchFlags::DELETE
            | WatchFlags::DELETE_SELF
            | WatchFlags::MOVE_SELF;
        // Asked each time: another directory may have the name by now. Of one that is watched nothing changes.
        self.missed |= inotify::add_watch(fd, directory, what).is_err();
    }

    /// True when every directory is watched.
    pub fn is_whole(&self) -> bool {
        self.fd.is_some() && !self.missed
    }

    /// Takes in what there is; word of it is taken as read.
    pub fn take_in(&mut self) {
        self.read();
        self.word = false;
    }

    /// True when something has happened since [`Watch::take_in`].
    pub fn has_word(&mut self) -> bool {
        self.read();
        self.word
    }

    fn read(&mut self) {
        let Some(fd) = &self.fd else { return };
        let mut buffer = [MaybeUninit::uninit(); 4096];
        let mut events = inotify::Reader::new(fd, &mut buffer);
        while events.next().is_ok() {
            self.word = true;
        }
    }
}
