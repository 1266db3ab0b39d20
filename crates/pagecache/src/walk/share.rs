//! What a thread does by itself, and what it gives to one that waits.

use std::collections::VecDeque;
use std::ffi::CStr;
use std::rc::Rc;

use super::one::open_same;
use super::{Open, Place, Visit, Walk};
use crate::prelude::*;

/// Names are given away in pieces of about so many bytes.
pub const NAMES: usize = 8 << 10;

/// What goes from one thread to another: the directory by its path, and names in it, each ended by NUL.
pub struct Share {
    pub place: Arc<Place>,
    pub what: What,
}

pub enum What {
    /// Everything in it.
    Whole,
    Directories(Vec<u8>),
    Files(Vec<u8>),
}

/// What one thread keeps to itself.
pub struct Local<W> {
    pub worker: W,
    /// Directories to be opened, each in its parent; the last first, which keeps few open.
    pub stack: VecDeque<(Rc<Open>, Box<CStr>)>,
    /// For the entries of a directory, of which one call of getdents may bring a few hundred.
    pub entries: Vec<u8>,
}

impl<W> Local<W> {
    pub fn new(worker: W) -> Local<W> {
        Local { worker, stack: VecDeque::new(), entries: Vec::with_capacity(32 << 10) }
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
        let mut local = Local::new(V::Worker::default());
        while let Some(share) = self.queue.take() {
            if self.is_cut() {
                continue;
            }
            self.accept(share, &mut local);
            self.walk_stack(&mut local);
        }
        lock(&self.workers).push(local.worker);
    }

    /// Does what was given: directories come onto the stack, files are visited.
    pub(super) fn accept(&self, Share { place, what }: Share, local: &mut Local<V::Worker>) {
        let Some(dir) = self.reopen(place, &what) else { return };
        match what {
            What::Whole => self.directory(local, &dir),
            What::Directories(names) => {
                let names = names.split_inclusive(|byte| *byte == 0).map(CStr::from_bytes_with_nul);
                local.stack.extend(names.flatten().map(|name| (Rc::clone(&dir), name.into())));
            }
            What::Files(names) => {
                self.files(&mut local.worker, &dir, &names);
                self.visit.leave(&mut local.worker, &dir.place);
            }
        }
    }

    /// Walks what is on the stack to its end.
    pub(super) fn walk_stack(&self, local: &mut Local<V::Worker>) {
        while let Some((parent, name)) = local.stack.pop_back() {
            if self.is_cut() {
                local.stack.clear();
                return;
            }
            while self.queue.has_idle_thread() && self.give_away(local) {}
            let opened = self.open_directory(&parent, &name);
            // The parent may be closed before its children's children are read.
            drop(parent);
            if let Some(dir) = opened {
                self.directory(local, &dir);
            }
        }
    }

    /// Gives away half of the directories that have waited longest, which lie highest, of one parent. False if there are none.
    pub(super) fn give_away(&self, local: &mut Local<V::Worker>) -> bool {
        let Some((parent, _)) = local.stack.front() else { return false };
        if !parent.may_be_shared() {
            return false;
        }
        let parent = Rc::clone(parent);
        let alike = local.stack.iter().take(NAMES).take_while(|(other, _)| Rc::ptr_eq(other, &parent)).count();
        let mut names = Vec::new();
        for _ in 0..alike.div_ceil(2) {
            let Some((_, name)) = local.stack.pop_front() else { break };
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
                lock(&self.counts).vanished += lost;
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
