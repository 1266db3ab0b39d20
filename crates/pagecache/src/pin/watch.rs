//! Word of changes in directories, by inotify.
//!
//! What it is not: a list of changes; that something happened is enough, as everything is looked at again then.

use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::path::Path;

use rustix::fs::inotify::{self, CreateFlags, WatchFlags};

pub struct Watch {
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
