//! One directory, and one file: the part of the walk that is done a million times.

use std::ffi::{CStr, CString};
use std::mem::MaybeUninit;
use std::rc::Rc;

use ramline_kernel::residency::Method;
use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, RawDir, ResolveFlags, Stat, fstat, openat, openat2, statat};

use super::share::{Local, NAMES, Share, What};
use super::{FoundFile, Open, Place, Visit, Walk, path_of};
use crate::ground::FileSystem;
use crate::prelude::*;

/// Entries of a directory that are no files, and files passed over, counted before they are told.
#[derive(Default)]
struct Passed {
    links: u64,
    others: u64,
    excluded: u64,
    twice: u64,
}

impl<V: Visit> Walk<'_, V> {
    pub(super) fn open_directory(&self, parent: &Open, name: &CStr) -> Option<Rc<Open>> {
        let path = path_of(&parent.place, Some(name));
        let real = self.real(&parent.place, &path, name);
        if !self.may_enter(&real, &path) {
            return None;
        }
        let link = if self.options.follow { OFlags::empty() } else { OFlags::NOFOLLOW };
        let how = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NONBLOCK | OFlags::CLOEXEC | link;
        let fd = match open_quietly(parent, name, how) {
            Ok(fd) => fd,
            Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => {
                lock(&self.counts).vanished += 1;
                return None;
            }
            Err(error) => {
                self.failed("open", &path, error);
                return None;
            }
        };
        let stat = fstat(&fd).map_err(|error| self.failed("look at", &path, error)).ok()?;
        let fs = if stat.st_dev == parent.place.key.device {
            Arc::clone(&parent.place.fs)
        } else {
            if self.options.one_file_system {
                self.skipped.add("on another file system (--one-file-system)", 1, Some(&path));
                return None;
            }
            self.ground.file_system(fd.as_fd(), stat.st_dev, &real)
        };
        if !self.is_new(&stat, &path) {
            return None;
        }
        let depth = parent.place.depth.saturating_add(1);
        let place = Arc::new(self.place(depth, path, real, &stat, fs));
        self.visit.enter(&place, Some(parent.place.index));
        Some(Rc::new(Open { fd, place }))
    }

    pub(super) fn directory(&self, local: &mut Local<V::Worker>, dir: &Rc<Open>) {
        lock(&self.counts).directories += 1;
        let mut buffer = std::mem::take(&mut local.entries);
        buffer.clear();
        let spare: &mut [MaybeUninit<u8>] = buffer.spare_capacity_mut();
        let (mut entries, mut names, mut passed) = (RawDir::new(dir.as_ref(), spare), Vec::new(), Passed::default());
        while let Some(entry) = entries.next() {
            let entry = match entry {
                Ok(entry) => entry,
                Err(Errno::NOENT) => break,
                Err(error) => {
                    self.failed("read", &dir.place.path, error);
                    break;
                }
            };
            let name = entry.file_name();
            if matches!(name.to_bytes(), b"." | b"..") {
                continue;
            }
            if !self.options.exclude.is_empty() && self.is_excluded(&dir.place, name) {
                passed.excluded += 1;
                continue;
            }
            match self.kind(dir, name, entry.file_type()) {
                FileType::RegularFile
                    if self.queue.has_idle_thread() && dir.may_be_shared() && !self.give_away(local) =>
                {
                    names.extend_from_slice(name.to_bytes_with_nul());
                    if names.len() >= NAMES {
                        let what = What::Files(std::mem::take(&mut names));
                        self.queue.push(Share { place: Arc::clone(&dir.place), what });
                    }
                }
                FileType::RegularFile => self.file(&mut local.worker, dir, name, &mut passed),
                FileType::Directory => local.stack.push_back((Rc::clone(dir), name.into())),
                FileType::Symlink => passed.links += 1,
                _ => passed.others += 1,
            }
        }
        self.files_counting(&mut local.worker, dir, &names, &mut passed);
        self.visit.leave(&mut local.worker, &dir.place);
        self.note(&dir.place, &passed);
        local.entries = buffer;
    }

    /// What an entry is; a link is what it leads to, if links are followed.
    fn kind(&self, dir: &Open, name: &CStr, kind: FileType) -> FileType {
        let at = |flags| statat(dir, name, flags).map(|stat| FileType::from_raw_mode(stat.st_mode));
        let kind = match kind {
            FileType::Unknown => at(AtFlags::SYMLINK_NOFOLLOW).unwrap_or(FileType::Unknown),
            known => known,
        };
        if kind == FileType::Symlink && self.options.follow {
            return at(AtFlags::empty()).unwrap_or(FileType::Symlink);
        }
        kind
    }

    pub(super) fn files(&self, worker: &mut V::Worker, dir: &Open, names: &[u8]) {
        let mut passed = Passed::default();
        self.files_counting(worker, dir, names, &mut passed);
        self.note(&dir.place, &passed);
    }

    fn files_counting(&self, worker: &mut V::Worker, dir: &Open, names: &[u8], passed: &mut Passed) {
        for name in names.split_inclusive(|byte| *byte == 0) {
            if let Ok(name) = CStr::from_bytes_with_nul(name) {
                self.file(worker, dir, name, passed);
            }
        }
    }

    fn note(&self, place: &Place, passed: &Passed) {
        let example = Some(place.path.as_path());
        for (text, n) in [
            ("symbolic links (try: --follow)", passed.links),
            ("FIFOs, sockets and devices: never opened", passed.others),
            ("names that are excluded (--exclude)", passed.excluded),
            ("further names of files that were counted already", passed.twice),
        ] {
            self.skipped.add(text, n, example);
        }
    }

    fn file(&self, worker: &mut V::Worker, dir: &Open, name: &CStr, passed: &mut Passed) {
        let place = &dir.place;
        if self.is_left_closed(&place.fs.name) {
            let path = path_of(place, Some(name));
            return self.left_closed(worker, place, &path);
        }
        let link = if self.options.follow { OFlags::empty() } else { OFlags::NOFOLLOW };
        let how = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC | link;
        // Mapping a file, as mincore needs it, counts as an access; cachestat does not.
        let opened = match place.fs.method {
            Method::Mincore => open_quietly(dir, name, how),
            Method::Cachestat => openat(dir, name, how, Mode::empty()),
        };
        let fd = match opened {
            Ok(fd) => fd,
            Err(error) => return self.not_opened(worker, place, name, error, passed),
        };
        let Ok(stat) = fstat(&fd) else { return };
        if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
            passed.others += 1;
            return;
        }
        if (stat.st_nlink > 1 || self.options.follow || !self.named.is_empty()) && !self.is_first(&stat) {
            passed.twice += 1;
            return;
        }
        let (file, so_far) = (fd.as_fd(), self.options.so_far.as_deref());
        let other = (stat.st_dev != place.key.device).then(|| self.file_system_at(&fd, &stat, place, name));
        let Some(fs) = other.as_ref().map_or(Some(&place.fs), Option::as_ref) else { return };
        self.visit.file(worker, &FoundFile { place, name: Some(name), file, stat: &stat, fs, so_far });
    }

    /// Where opening a file would destroy what is asked about, it stays closed unasked.
    pub(super) fn is_left_closed(&self, fs: &str) -> bool {
        ramline_kernel::fs::forgets_when_opened(fs) && !self.options.remote && !self.visit.changes_anyway()
    }

    pub(super) fn left_closed(&self, worker: &mut V::Worker, place: &Place, path: &Path) {
        let why = "opening a file there may empty what is cached of it, so none is opened unasked (try: --remote)";
        let text = format!("{}: {why}", place.fs.name);
        if !self.visit.closed(worker, place, path, length_at(path), Some(&text)) {
            self.skipped.add(&text, 1, Some(path));
        }
    }

    /// The file system of a file on another device than its directory: mounted there alone, or of a layer of an overlay, where the
    /// directory knows better. `None` when it is not wanted.
    fn file_system_at(&self, fd: &impl AsFd, stat: &Stat, place: &Place, name: &CStr) -> Option<Arc<FileSystem>> {
        if residency::method_for(fd.as_fd()).ok() == Some(place.fs.method) && place.fs.name == "overlay" {
            return Some(Arc::clone(&place.fs));
        }
        let path = path_of(place, Some(name));
        if self.options.one_file_system {
            self.skipped.add("on another file system (--one-file-system)", 1, Some(&path));
            return None;
        }
        Some(self.ground.file_system(fd.as_fd(), stat.st_dev, &self.real(place, &path, name)))
    }

    fn is_first(&self, stat: &Stat) -> bool {
        let key = FileKey::from(stat);
        if self.named.contains(&key) {
            return false;
        }
        (stat.st_nlink < 2 && !self.options.follow) || lock(&self.linked).insert(key)
    }

    fn not_opened(&self, worker: &mut V::Worker, place: &Place, name: &CStr, error: Errno, passed: &mut Passed) {
        match error {
            Errno::NOENT => lock(&self.counts).vanished += 1,
            Errno::LOOP => passed.links += 1,
            Errno::NXIO => passed.others += 1,
            error => {
                let path = path_of(place, Some(name));
                self.failed("open", &path, error);
                self.visit.closed(worker, place, &path, length_at(&path), None);
            }
        }
    }
}

fn length_at(path: &Path) -> u64 {
    rustix::fs::lstat(path).map_or(0, |stat| u64::try_from(stat.st_size).unwrap_or(0))
}

/// Without touching the time of the last access, where that is allowed.
pub fn open_quietly(dir: impl AsFd, name: &CStr, how: OFlags) -> rustix::io::Result<OwnedFd> {
    match openat(&dir, name, how | OFlags::NOATIME, Mode::empty()) {
        Err(Errno::PERM) => openat(&dir, name, how, Mode::empty()),
        other => other,
    }
}

/// Opens a directory by its path, if it still is that one.
pub fn open_same(place: &Place, follow: bool) -> rustix::io::Result<OwnedFd> {
    let how = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let fd = match below(place, how).filter(|_| !follow) {
        Some(opened) => opened?,
        None => open_quietly(CWD, &c_string(&place.path)?, how)?,
    };
    // Another one has the name by now.
    if FileKey::from(&fstat(&fd)?) != place.key { Err(Errno::STALE) } else { Ok(fd) }
}

/// From what was named, through no link: somebody may have put one there. `None` where the kernel cannot (before 5.6), or is forbidden to.
fn below(place: &Place, how: OFlags) -> Option<rustix::io::Result<OwnedFd>> {
    let named = place.path.ancestors().nth(usize::try_from(place.depth).ok()?)?;
    let rest = place.path.strip_prefix(named).ok().filter(|rest| !rest.as_os_str().is_empty())?;
    let (named, rest) = (c_string(named).ok()?, c_string(rest).ok()?);
    let top = match open_quietly(CWD, &named, OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC) {
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
