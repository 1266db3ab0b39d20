//! What a thread does by itself, and what it gives to one that waits.

use std::collections::VecDeque;
use std::ffi::{CStr, CString};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use rustix::fs::{OFlags, fstat};
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
        let mut hand = Hand { worker: self.visit.worker(), stack: VecDeque::new() };
        let mut buffer = Vec::with_capacity(32 << 10);
        while let Some(Share { place, what }) = self.queue.take() {
            if self.is_cut() {
                continue;
            }
            let Some(dir) = self.reopen(place, &what) else { continue };
            match what {
                What::Whole => self.directory(&mut hand, &dir, &mut buffer),
                What::Directories(names) => {
                    let names = names.split_inclusive(|byte| *byte == 0).map(CStr::from_bytes_with_nul);
                    hand.stack.extend(names.flatten().map(|name| (Rc::clone(&dir), name.into())));
                }
                What::Files(names) => {
                    self.files(&mut hand.worker, &dir, &names);
                    self.visit.leave(&mut hand.worker, &dir.place);
                }
            }
            drop(dir);
            while let Some((parent, name)) = hand.stack.pop_back() {
                if self.is_cut() {
                    hand.stack.clear();
                    break;
                }
                while self.queue.is_hungry() && self.share(&mut hand) {}
                let opened = self.open_directory(&parent, &name);
                // The parent may be closed before its children's children are read.
                drop(parent);
                if let Some(dir) = opened {
                    self.directory(&mut hand, &dir, &mut buffer);
                }
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
        let alike = hand.stack.iter().take_while(|(other, _)| Rc::ptr_eq(other, &parent)).count();
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
        match open_same(&place) {
            Ok(fd) => Some(Rc::new(Open { fd, place })),
            Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP | Errno::STALE) => {
                let lost = match what {
                    What::Whole => 1,
                    What::Directories(names) | What::Files(names) => names.iter().filter(|byte| **byte == 0).count(),
                };
                self.counts.vanished.fetch_add(u64::try_from(lost).unwrap_or(u64::MAX), Ordering::Relaxed);
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
pub(super) fn open_same(place: &Place) -> rustix::io::Result<OwnedFd> {
    let name = CString::new(place.path.as_os_str().as_bytes()).map_err(|_| Errno::INVAL)?;
    let fd = open_quietly(&name, OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NONBLOCK | OFlags::CLOEXEC)?;
    let stat = fstat(&fd)?;
    // Another one has the name by now.
    if (stat.st_dev, stat.st_ino) != (place.device, place.inode) { Err(Errno::STALE) } else { Ok(fd) }
}
