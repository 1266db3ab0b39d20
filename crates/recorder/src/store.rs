//! Writing: one recorder at a time, a cap of size and age that always holds, and a disk that may be full.
//!
//! A frame is appended by one write(2). What a full disk took of it is cut off again, so that a file ends with a whole frame; what a crash
//! left behind the last whole frame is cut off when the file is opened.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use ramline_history::{Begins, Day, FileItem, Head, frames};
use ramline_kernel::{KernelError, input};
use ramline_units::Bytes;

use crate::place::{HistoryFile, files, prepare};
use crate::{Error, Result};

/// A cap on what a directory holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// All files together.
    pub size: Bytes,
    /// Time since a file's day.
    pub age: Duration,
}

/// A part of a day has at most this share of the cap, so that a part can be removed while the last hours stay.
const PARTS: u64 = 8;
/// No file that is opened to go on with it is larger.
const LARGEST: u64 = 1 << 30;
const DAY_MS: u64 = 24 * 3600 * 1000;

/// A directory that this process alone writes to.
#[derive(Debug)]
pub struct Store {
    dir: PathBuf,
    limits: Limits,
    head: Head,
    open: Option<Open>,
    /// Other files than the open one, oldest first.
    others: Vec<HistoryFile>,
    // The kernel releases the lock when this closes.
    _lock: File,
}

#[derive(Debug)]
struct Open {
    file: File,
    path: PathBuf,
    day: Day,
    part: u32,
    /// Up to the end of the last whole frame.
    bytes: u64,
}

impl Store {
    /// Takes a directory, making it where it is missing.
    ///
    /// # Errors
    /// Another recorder has it, or it cannot be used.
    pub fn open(dir: &Path, limits: Limits, head: Head) -> Result<Store> {
        prepare(dir)?;
        let lock = take_lock(dir)?;
        Ok(Store { others: files(dir)?, dir: dir.to_owned(), limits, head, open: None, _lock: lock })
    }

    /// Gets the file of a moment ready; true where it is another one than before, so that the next frame must be whole.
    ///
    /// # Errors
    /// It cannot be made.
    pub fn ready(&mut self, wall_ms: u64) -> Result<bool> {
        let day = Day::from_ms(wall_ms);
        let largest = self.limits.size.0 / PARTS;
        if self.open.as_ref().is_some_and(|open| open.day == day && open.bytes < largest) {
            return Ok(false);
        }
        let full = self.open.take().filter(|open| open.day == day).map(|open| open.part);
        self.others = files(&self.dir)?;
        let last = self.others.iter().filter(|file| file.day == day).map(|file| file.part).max();
        let mut part = full.map_or(last.unwrap_or(1).max(1), |part| part.max(last.unwrap_or(0)) + 1);
        // A file of another machine, a later version, or without a readable head stays as it is.
        let open = loop {
            match self.file(day, part)? {
                Some(open) if open.bytes < largest.max(1) => break open,
                _ => part += 1,
            }
        };
        self.others.retain(|file| file.path != open.path);
        self.open = Some(open);
        Ok(true)
    }

    /// A part of a day, new or to go on with; `None` where it cannot be gone on with.
    fn file(&self, day: Day, part: u32) -> Result<Option<Open>> {
        let path = self.dir.join(HistoryFile::name(day, part));
        let failed = |error| KernelError::io("open the history", &path, error);
        let mut options = OpenOptions::new();
        let options = options.read(true).append(true).create(true).mode(0o600).custom_flags(input::CAREFUL);
        let mut file = options.open(&path).map_err(failed)?;
        let length = file.metadata().map_err(failed)?.len();
        if length > LARGEST {
            return Ok(None);
        }
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).map_err(failed)?;
        let head = self.head.bytes();
        // Nothing, or what a crash left of a head, which is the first that is ever written.
        if head.starts_with(&bytes) || (bytes.len() < head.len() && b"ramline history\n".starts_with(&bytes)) {
            file.set_len(0).map_err(failed)?;
            if let Err(error) = file.write_all(&head) {
                drop(file.set_len(0));
                return Err(failed(error).into());
            }
            return Ok(Some(Open { file, path, day, part, bytes: head.len() as u64 }));
        }
        let Ok(begins) = Begins::read(&bytes) else { return Ok(None) };
        if begins.head.machine_id != self.head.machine_id {
            return Ok(None);
        }
        let torn = frames(&bytes, begins.frames_at).find_map(|found| match found {
            FileItem::Damage(damage) if damage.is_tail => Some(damage.from as u64),
            _ => None,
        });
        let whole = torn.unwrap_or(length);
        if whole < length {
            file.set_len(whole).map_err(failed)?;
        }
        Ok(Some(Open { file, path, day, part, bytes: whole }))
    }

    /// Appends frames to the file that is ready, and removes what is beyond the cap first.
    ///
    /// # Errors
    /// They could not be written; then the file ends as it did before.
    pub fn append(&mut self, wall_ms: u64, frames: &[u8]) -> Result<()> {
        self.prune(wall_ms, frames.len() as u64)?;
        let Some(open) = &mut self.open else { return Ok(()) };
        let written = open.file.write(frames);
        match written {
            Ok(count) if count == frames.len() => {
                open.bytes += frames.len() as u64;
                Ok(())
            }
            other => {
                let cut = open.file.set_len(open.bytes);
                let error = match other {
                    Err(error) => error,
                    Ok(_) => std::io::Error::from(std::io::ErrorKind::StorageFull),
                };
                let error = KernelError::io("write to the history", &open.path, error);
                if cut.is_err() {
                    // It is read and cut when it is opened again.
                    self.open = None;
                }
                Err(error.into())
            }
        }
    }

    /// Writes to the disk what was appended.
    ///
    /// # Errors
    /// The disk says so.
    pub fn sync(&self) -> Result<()> {
        let Some(open) = &self.open else { return Ok(()) };
        Ok(open.file.sync_data().map_err(|error| KernelError::io("write the history to disk", &open.path, error))?)
    }

    /// Writes a file of its own with the seconds before a kill.
    ///
    /// # Errors
    /// It cannot be written; then there is none.
    pub fn seconds(&mut self, wall_ms: u64, frames: &[u8]) -> Result<PathBuf> {
        let day = Day::from_ms(wall_ms);
        let path = self.dir.join(HistoryFile::seconds_name(day, wall_ms % DAY_MS / 1000));
        let mut bytes = self.head.bytes();
        bytes.extend_from_slice(frames);
        self.prune(wall_ms, bytes.len() as u64)?;
        let made = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path);
        let written = made.and_then(|mut file| file.write_all(&bytes).and_then(|()| file.sync_data()));
        if let Err(error) = written {
            if error.kind() != std::io::ErrorKind::AlreadyExists {
                drop(std::fs::remove_file(&path));
            }
            return Err(KernelError::io("write the seconds before a kill", path, error).into());
        }
        self.others.push(HistoryFile { day, part: 0, path: path.clone(), bytes: bytes.len() as u64 });
        self.others.sort();
        Ok(path)
    }

    /// Removes whole files, the oldest first, until all that is there and so many more bytes are within the cap; how many bytes went.
    ///
    /// # Errors
    /// One cannot be removed.
    pub fn prune(&mut self, wall_ms: u64, more: u64) -> Result<u64> {
        let age_ms = u64::try_from(self.limits.age.as_millis()).unwrap_or(u64::MAX);
        let oldest = wall_ms.checked_sub(age_ms).map(Day::from_ms);
        let mut removed = 0;
        while let Some(first) = self.others.first() {
            let all: u64 = self.others.iter().map(|file| file.bytes).sum();
            let with_more = all.saturating_add(self.open.as_ref().map_or(0, |open| open.bytes)).saturating_add(more);
            if with_more <= self.limits.size.0 && oldest.is_none_or(|oldest| first.day >= oldest) {
                break;
            }
            match std::fs::remove_file(&first.path) {
                Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                    return Err(KernelError::io("remove old history", &first.path, error).into());
                }
                _ => removed += first.bytes,
            }
            self.others.remove(0);
        }
        Ok(removed)
    }
}

fn take_lock(dir: &Path) -> Result<File> {
    let path = dir.join("lock");
    let failed = |error| KernelError::io("lock", &path, error);
    let mut options = OpenOptions::new();
    let options = options.read(true).write(true).create(true).truncate(false).mode(0o600).custom_flags(input::CAREFUL);
    let mut file = options.open(&path).map_err(failed)?;
    match file.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => {
            let mut text = String::new();
            let holder = file.read_to_string(&mut text).ok().and_then(|_| text.trim().parse::<u32>().ok());
            let holder = holder.map(|pid| format!(" (process {pid})")).unwrap_or_default();
            return Err(Error::Busy { dir: dir.display().to_string(), holder });
        }
        Err(TryLockError::Error(error)) => return Err(failed(error).into()),
    }
    // Who holds it is a courtesy for the message above, and a full disk no reason not to record.
    let pid = format!("{}\n", std::process::id());
    drop(file.set_len(0).and_then(|()| file.write_all(pid.as_bytes())));
    Ok(file)
}
