//! The files of a hot set, each looked at when its turn comes and then read at once: the first is there while the last has not been
//! looked at yet. Gone, changed (kind, inode, length, time of the last change) or as it was; of the last kind, what is missing.

use std::sync::OnceLock;

use ramline_kernel::input::Looked;
use rustix::fs::{Advice, FileType, fadvise};

use crate::prelude::*;
use crate::save::Restoring;
use crate::shared::parallel_map;
use crate::warm::plan::missing_of;
use crate::warm::wanted::Wanted;

use super::How;

/// So many threads ask again afterwards.
const AT_ONCE: usize = 4;

/// One pass of restoring a hot set.
pub struct RestorePass<'a> {
    how: How<'a>,
    entries: &'a [Entry],
    found: Vec<OnceLock<FileState>>,
    settled: Count,
    noted: OnceLock<()>,
}

/// State of a file since it was saved.
#[derive(Debug)]
pub enum FileState {
    Gone,
    Changed(String),
    /// It was told.
    Failed,
    Same(UnchangedFile),
}

/// An unchanged file, in pages.
#[derive(Debug)]
pub struct UnchangedFile {
    pub key: FileKey,
    pub wanted: u64,
    pub before: u64,
    /// What of it is there is not told: it is read whole.
    untold: bool,
    /// Asked again; `None` where it is not told.
    pub after: Option<u64>,
}

impl<'a> RestorePass<'a> {
    pub fn new(how: How<'a>, entries: &'a [Entry]) -> RestorePass<'a> {
        let found = entries.iter().map(|_| OnceLock::new()).collect();
        RestorePass { how, entries, found, settled: Count::default(), noted: OnceLock::new() }
    }

    /// What became of each file, in the order of the hot set, asked again where something was read.
    pub fn end(self) -> Vec<Option<FileState>> {
        let entries: Vec<(&Entry, Option<&FileState>)> =
            self.entries.iter().zip(&self.found).map(|(entry, found)| (entry, found.get())).collect();
        let after = parallel_map(&entries, AT_ONCE, |(entry, found)| match found {
            Some(FileState::Same(same)) if !self.how.options.reading.dry => {
                same.asked_again(entry, &self.ranges(entry))
            }
            _ => None,
        });
        let found = self.found.into_iter().map(OnceLock::into_inner).zip(after);
        let with = |(mut found, after): (Option<FileState>, Option<u64>)| {
            if let Some(FileState::Same(same)) = &mut found {
                same.after = after;
            }
            found
        };
        found.map(with).collect()
    }

    /// The file, open where something of it is missing.
    fn open_same(&self, entry: &Entry) -> Result<(UnchangedFile, Option<File>), FileState> {
        // Looked at before it is opened, never through a link: another file, or a pipe or a device, may have the name by now.
        let looked = match Looked::at(&entry.path, false) {
            Ok(looked) => looked,
            Err(error) => {
                return Err(match error.raw_os_error().map(Errno::from_raw_os_error) {
                    Some(Errno::NOENT | Errno::NOTDIR) => FileState::Gone,
                    Some(Errno::LOOP) => another(),
                    _ => self.failed(&KernelError::io("look at", &entry.path, error)),
                });
            }
        };
        let stat = looked.stat;
        if looked.kind() != FileType::RegularFile || (!self.how.options.other_machine && stat.st_ino != entry.inode) {
            return Err(another());
        }
        let length = u64::try_from(stat.st_size).unwrap_or(0);
        if length != entry.length {
            return Err(FileState::Changed(format!("its length is {}, it was {}", Bytes(length), Bytes(entry.length))));
        }
        if hotset::mtime_ns(&stat) != entry.mtime_ns {
            return Err(FileState::Changed("it was written since".to_owned()));
        }
        let opened = looked.open().map_err(|error| self.failed(&KernelError::io("open", &entry.path, error)));
        let (file, own, ranges) = (opened?, process::page_size(), self.ranges(entry));
        let wanted: u64 = ranges.iter().map(|(at, length)| (at + length).div_ceil(own) - at / own).sum();
        let (before, untold) = match residency::count_ranges(&file, &entry.path, &ranges) {
            Ok(seen) => (seen.cached.min(wanted), false),
            // Not ours: then it is not told what is missing, and all of it is read.
            Err(error) if error.is_denied() => (0, true),
            Err(error) => return Err(self.failed(&error)),
        };
        let key = FileKey::from(&stat);
        Ok((UnchangedFile { key, wanted, before, untold, after: None }, Some(file).filter(|_| before != wanted)))
    }

    /// What is to be read, in whole pages of this machine.
    fn ranges(&self, entry: &Entry) -> Vec<(u64, u64)> {
        hotset::in_pages(entry.ranges(self.how.page), self.how.page, process::page_size(), entry.length)
    }

    fn failed(&self, error: &KernelError) -> FileState {
        (self.how.context.tell)(error);
        FileState::Failed
    }

    /// Keeps what was found. A file has one turn, so nothing is there yet.
    fn keep(&self, number: usize, entry: &Entry, found: FileState) {
        let there = match &found {
            FileState::Same(same) if !self.how.options.reading.dry => same.before * process::page_size(),
            _ => entry.hot(self.how.page),
        };
        self.settled.add(there);
        if let Some(slot) = self.found.get(number) {
            slot.get_or_init(|| found);
        }
    }
}

fn another() -> FileState {
    FileState::Changed("another file has its name".to_owned())
}

impl UnchangedFile {
    fn asked_again(&self, entry: &Entry, ranges: &[(u64, u64)]) -> Option<u64> {
        if self.before == self.wanted {
            return Some(self.before);
        }
        match evict::reopen(&entry.path, self.key) {
            Some(open) => {
                residency::count_ranges(&open, &entry.path, ranges).ok().map(|now| now.cached.min(self.wanted))
            }
            None => Some(0),
        }
    }
}

impl Wanted for RestorePass<'_> {
    fn count(&self) -> usize {
        self.entries.len()
    }

    fn path(&self, number: usize) -> &Path {
        self.entries.get(number).map_or(Path::new(""), |entry| &entry.path)
    }

    fn bytes(&self, number: usize) -> u64 {
        self.entries.get(number).map_or(0, |entry| entry.hot(self.how.page))
    }

    fn open(&self, number: usize) -> Option<File> {
        let (entry, slot) = (self.entries.get(number)?, self.found.get(number)?);
        let file = match slot.get() {
            None => {
                let (found, file) = match self.open_same(entry) {
                    Ok((same, file)) => (FileState::Same(same), file),
                    Err(found) => (found, None),
                };
                self.keep(number, entry, found);
                file
            }
            Some(FileState::Same(same)) => evict::reopen(&entry.path, same.key),
            Some(_) => None,
        };
        // Read-ahead would go on beyond what is wanted.
        if let Some(file) = file.as_ref().filter(|_| entry.parts.is_some()) {
            fadvise(file, 0, None, Advice::Random).ok();
        }
        file
    }

    fn missing(&self, number: usize, file: &File) -> Result<Vec<(u64, u64)>, KernelError> {
        self.noted.get_or_init(|| {
            if let Err(error) = Restoring::note(self.how.file) {
                (self.how.context.tell)(&error);
            }
        });
        let Some((entry, Some(FileState::Same(same)))) =
            self.entries.get(number).zip(self.found.get(number).map(OnceLock::get))
        else {
            return Ok(Vec::new());
        };
        let ranges = self.ranges(entry);
        if same.before == 0 || same.untold { Ok(ranges) } else { missing_of(file, &entry.path, &ranges) }
    }

    fn pass(&self, number: usize) {
        self.open(number);
    }

    fn settled(&self) -> u64 {
        self.settled.get()
    }
}
