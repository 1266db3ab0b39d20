//! What a thread does by itself, and what it gives to one that waits.

use std::collections::VecDeque;
use std::ffi::{CStr, CString};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use rustix::fs::{Mode, OFlags, ResolveFlags, fstat, openat2};
use rustix::io::Errno;

use super::named::open_quietly;
use super::{Open, Place, Visit, Walk};

/// Names are given away in pieces of about so many bytes.
pub const NAMES: usize = 8 << 10;

/// What goes from one thread to another: the directory by its path, and names in it, each ended by NUL.
pub struct Share {
    place: Arc<Place>,
    what: What,
}

enum What {
    /// Everything in it.
    Whole,
    Directories(Vec<u8>),
    Files(Vec<u8>),
}

/// A thread's own.
pub struct Hand<W> {
    pub worker: W,
    /// Directories to be opened, each in its parent; the last first, which keeps few open.
    pub stack: VecDeque<(Rc<Open>, Box<CStr>)>,
    /// For the entries of a directory, of which one call of getdents may bring a few hundred.
    pub entries: Vec<u8>,
}

impl<W> Hand<W> {
    pub fn new(worker: W) -> Hand<W> {
        Hand { worker, stack: VecDeque::new(), entries: Vec::with_capacity(32 << 10) }
    }
}

impl Share {
    pub fn whole(place: Arc<Place>) -> Share {
        Share { place, what: What::Whole }
    }

    pub fn files(dir: &Open, names: Vec<u8>) -> Share {
        Share { place: Arc::clone(&dir.place), what: What::Files(names) }
    }
}

impl Open {
    /// The kernel takes no longer paths.
    pub fn may_be_shared(&self) -> bool {
        // linux/limits.h, the NUL counted
        const PATH_MAX: usize = 4096;
        self.place.path.as_os_str().len() < PATH_MAX
    }
}

impl<V: Visit> Walk<'_, V> {
    pub(super) fn work(&self) {
        let mut hand = Hand::new(self.visit.worker());
        while let Some(share) = self.queue.take() {
            if self.is_cut() {
                continue;
            }
            self.take_up(share, &mut hand);
            self.down(&mut hand);
        }
    }

    /// Does what was given: directories come onto the stack, files are visited.
    pub(super) fn take_up(&self, Share { place, what }: Share, hand: &mut Hand<V::Worker>) {
        let Some(dir) = self.reopen(place, &what) else { return };
        match what {
            What::Whole => self.directory(hand, &dir),
            What::Directories(names) => {
                let names = names.split_inclusive(|byte| *byte == 0).map(CStr::from_bytes_with_nul);
                hand.stack.extend(names.flatten().map(|name| (Rc::clone(&dir), name.into())));
            }
            What::Files(names) => {
                self.files(&mut hand.worker, &dir, &names);
                self.visit.leave(&mut hand.worker, &dir.place);
            }
        }
    }

    /// Walks what is on the stack to its end.
    pub(super) fn down(&self, hand: &mut Hand<V::Worker>) {
        while let Some((parent, name)) = hand.stack.pop_back() {
            if self.is_cut() {
                hand.stack.clear();
                return;
            }
            while self.queue.is_hungry() && self.share(hand) {}
            let opened = self.open_directory(&parent, &name);
            // The parent may be closed before its children's children are read.
            drop(parent);
            if let Some(dir) = opened {
                self.directory(hand, &dir);
            }
        }
    }

    /// Gives away half of the directories that have waited longest, which lie highest, of one parent. False if there are none.
    pub(super) fn share(&self, hand: &mut Hand<V::Worker>) -> bool {
        let Some((parent, _)) = hand.stack.front() else { return false };
        if !parent.may_be_shared() {
            return false;
        }
        let parent = Rc::clone(parent);
        let alike = hand.stack.iter().take(NAMES).take_while(|(other, _)| Rc::ptr_eq(other, &parent)).count();
        let mut names = Vec::new();
        for _ in 0..alike.div_ceil(2) {
            let Some((_, name)) = hand.stack.pop_front() else { break };
            names.extend_from_slice(name.to_bytes_with_nul());
            if names.len() >= NAMES {
                break;
            }
        }
        self.queue.push(Share { place: Arc::clone(&parent.place), what: What::Directories(names) });
        true
    }

    /// Opens a directory that another thread had open; `None` when its path leads to it no more.
    fn reopen(&self, place: Arc<Place>, what: &What) -> Option<Rc<Open>> {
        match open_same(&place, self.options.follow) {
            Ok(fd) => Some(Rc::new(Open { fd, place })),
            Err(Errno::NOENT | Errno::NOTDIR | Errno::STALE) if !matches!(what, What::Whole) => {
                let (What::Directories(names) | What::Files(names)) = what else { return None };
                let lost = u64::try_from(names.iter().filter(|byte| **byte == 0).count()).unwrap_or(u64::MAX);
                self.counts.vanished.fetch_add(lost, Ordering::Relaxed);
                let text = "in directories that were moved or removed while they were walked";
                self.skipped.add(text, lost, Some(&place.path));
                None
            }
            Err(error) => {
                self.failed("open", &place.path, error);
                None
            }
        }
    }
}

/// Opens a directory by its path, if it still is that one.
pub(super) fn open_same(place: &Place, follow: bool) -> rustix::io::Result<OwnedFd> {
    let how = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let fd = match below(place, how).filter(|_| !follow) {
        Some(opened) => opened?,
        None => open_quietly(&c_string(&place.path)?, how)?,
    };
    let stat = fstat(&fd)?;
    // Another one has the name by now.
    if (stat.st_dev, stat.st_ino) != (place.device, place.inode) { Err(Errno::STALE) } else { Ok(fd) }
}

/// From what was named, through no link: somebody may have put one there. `None` where the kernel cannot (before 5.6), or is forbidden to.
fn below(place: &Place, how: OFlags) -> Option<rustix::io::Result<OwnedFd>> {
    let named = place.path.ancestors().nth(usize::try_from(place.depth).ok()?)?;
    let rest = place.path.strip_prefix(named).ok().filter(|rest| !rest.as_os_str().is_empty())?;
    let (named, rest) = (c_string(named).ok()?, c_string(rest).ok()?);
    let top = match open_quietly(&named, OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC) {
        Ok(top) => top,
        Err(error) => return Some(Err(error)),
    };
    let open = |how| openat2(&top, &rest, how, Mode::empty(), ResolveFlags::NO_SYMLINKS);
    match open(how | OFlags::NOATIME).or_else(|_| open(how)) {
        Err(Errno::NOSYS | Errno::PERM) => None,
        other => Some(other),
    }
}

fn c_string(path: &Path) -> rustix::io::Result<CString> {
    CString::new(path.as_os_str().as_bytes()).map_err(|_| Errno::INVAL)
}
