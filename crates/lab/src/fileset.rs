//! The files of a command, and their pages in the page cache: which they are, how they are evicted, brought in, and proven.
//!
//! Found by tracing (or given): the command is run once watched; then its files are evicted and it is run again, and what is
//! in the page cache of them afterwards is what it needs, read-ahead included. What it is not: able to evict everything. Pages
//! that another process maps (the C library) stay; they are counted and named. Names and inodes stay cached too.

mod find;

use ramline_gather::mappers;
use ramline_kernel::FileKey;
use ramline_kernel::residency::ReadIn;

use crate::prelude::*;
/// Half-warm means every second piece of this many bytes: the kernel's own read-ahead window.
const PIECE: u64 = 128 << 10;
/// Names that stay are told up to this many.
const NAMED: usize = 5;

/// One file.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Member {
    path: PathBuf,
    key: FileKey,
    /// The parts the command needs, as offset and length in whole pages.
    needed: Vec<(u64, u64)>,
}

/// Pages of a file that could not be evicted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Stays {
    /// The file.
    pub path: PathBuf,
    /// So much of it.
    pub bytes: Bytes,
    /// Processes that map it.
    pub mapped_by: u64,
}

/// All files of a command.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FileSet {
    members: Vec<Member>,
    /// Opened, but in memory anyway (tmpfs).
    pub in_memory: u64,
    /// Opened, but changed by the command: its results, not its needs.
    pub written: u64,
    /// Opened, and not to be found by their names any more.
    pub gone: u64,
    /// What stayed when all was evicted.
    pub stays: Vec<Stays>,
}

/// What is in the page cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct State {
    /// Of what the command needs.
    pub of_needed: Bytes,
    /// What it needs.
    pub needed: Bytes,
    /// Of all its files.
    pub of_all: Bytes,
}

impl State {
    /// In words, for a record.
    #[must_use]
    pub fn text(&self) -> String {
        format!("{} of {}", self.of_needed, self.needed)
    }

    /// The same, when it is warm.
    ///
    /// # Errors
    /// More than a hundredth of what is needed is not there.
    pub fn must_be_warm(self) -> Result<State> {
        if self.share() >= 0.99 {
            return Ok(self);
        }
        Err(LabError::Workload(format!("only {} of what is needed could be kept in the page cache", self.text())))
    }

    /// The share that is there, 0 to 1; 1 of nothing.
    #[must_use]
    pub fn share(&self) -> f64 {
        self.of_needed.share_of(self.needed).unwrap_or(1.0)
    }
}

/// How much is to be in the page cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Warmth {
    /// Nothing.
    Cold,
    /// Every second piece of what is needed.
    Half,
    /// All that is needed.
    Warm,
}

impl FileSet {
    /// Whole files that were named.
    ///
    /// # Errors
    /// One of them cannot be opened, is no regular file, or lives in memory.
    pub fn from_files(paths: &[PathBuf]) -> Result<FileSet> {
        let mut set = FileSet::default();
        for path in paths {
            let failed = |error| LabError::file("open", path, error);
            let refuse =
                |why: &str| Err(LabError::usage(format!("{} {why}", path.display()), "ramline lab describe cold-warm"));
            // Looked at before it is opened: what is at the other end of a pipe or a device is not disturbed.
            let looked = input::Looked::at(path, true).map_err(failed)?;
            if !looked.is_file() {
                return refuse("is not a regular file");
            }
            let file = looked.open().map_err(failed)?;
            let meta = file.metadata().map_err(failed)?;
            if residency::lives_in_memory(&file).map_err(failed)? {
                return refuse("is on a file system in memory, where nothing is ever read from a disk");
            }
            let needed = if meta.len() == 0 { vec![] } else { vec![(0, whole_pages(meta.len()))] };
            set.members.push(Member { path: path.clone(), key: FileKey::from_file(&file).map_err(failed)?, needed });
        }
        Ok(set)
    }

    /// Evicts once more, and says what stays and who maps it.
    ///
    /// # Errors
    /// As [`FileSet::evict`].
    pub fn find_what_stays(&mut self, root: &Root) -> Result<()> {
        let left = self.evict()?;
        let files: Vec<(FileKey, &Path)> =
            left.iter().map(|(member, _)| (self.members[*member].key, self.members[*member].path.as_path())).collect();
        let by = mappers::for_files(root, &files);
        let stays = left.into_iter().map(|(index, bytes)| {
            let member = &self.members[index];
            let mapped_by = by.get(&member.key).map_or(0, |mappers| u64::try_from(mappers.len()).unwrap_or(u64::MAX));
            Stays { path: member.path.clone(), bytes, mapped_by }
        });
        self.stays = stays.collect();
        ramline_units::sort_by_key(&mut self.stays, |stays| std::cmp::Reverse(stays.bytes));
        Ok(())
    }

    /// Writes back and evicts all files; returns those of which something stays, by index, with how much.
    fn evict(&self) -> Result<Vec<(usize, Bytes)>> {
        let mut left = Vec::new();
        for (index, member) in self.members.iter().enumerate() {
            let file = member.open()?;
            let after = residency::evict(&file, &member.path)?.after.cached;
            if after > 0 {
                left.push((index, pages(after)));
            }
        }
        Ok(left)
    }

    /// Writes back and evicts what there is of the files; those that a run has removed are passed over. How much of them stays, since others map it, and
    /// how many cannot be evicted (a file system that writes nothing back has no fsync(2)).
    #[must_use]
    pub fn evict_present(&self) -> (Bytes, u64) {
        let (mut stays, mut refused) = (0, 0);
        for member in self.members.iter().filter(|member| member.path.exists()) {
            let evicted = member.open().ok().and_then(|file| residency::evict(&file, &member.path).ok());
            match evicted {
                Some(change) => stays += change.after.cached,
                None => refused += 1,
            }
        }
        (pages(stays), refused)
    }

    /// Brings about a state and proves it.
    ///
    /// # Errors
    /// A file cannot be evicted, read or counted, or what must be there is not.
    pub fn bring_about(&self, warmth: Warmth) -> Result<State> {
        let left = self.evict()?;
        match warmth {
            Warmth::Cold => {}
            Warmth::Warm => self.read_in(|member| (member.needed.clone(), ReadIn::AsAReader))?,
            Warmth::Half => {
                // What stays is there already; of its files no more is brought in.
                let of = |index: usize| self.members.get(index).map_or(0, Member::length);
                let mut seen: u64 = left.iter().map(|(index, _)| of(*index)).sum();
                let mut taken: u64 = left.iter().map(|(index, bytes)| bytes.0.min(of(*index))).sum();
                let stays: Vec<FileKey> =
                    left.iter().filter_map(|(index, _)| Some(self.members.get(*index)?.key)).collect();
                self.read_in(|member| {
                    let parts = if stays.contains(&member.key) { &[][..] } else { &member.needed };
                    let half = parts.iter().flat_map(|part| every_second(*part, &mut seen, &mut taken)).collect();
                    (half, ReadIn::Exactly)
                })?;
            }
        }
        let state = self.state()?;
        if warmth == Warmth::Warm { state.must_be_warm() } else { Ok(state) }
    }

    fn read_in(&self, mut parts: impl FnMut(&Member) -> (Vec<(u64, u64)>, ReadIn)) -> Result<()> {
        for member in &self.members {
            let (parts, how) = parts(member);
            if !parts.is_empty() {
                residency::bring_in(&member.open()?, &member.path, &parts, how)?;
            }
        }
        Ok(())
    }

    /// What is in the page cache now.
    ///
    /// # Errors
    /// A file cannot be counted.
    pub fn state(&self) -> Result<State> {
        let (mut of_needed, mut of_all) = (0, 0);
        for member in &self.members {
            let file = member.open()?;
            of_all += residency::count_ranges(&file, &member.path, &[(0, u64::MAX >> 1)])?.cached;
            if !member.needed.is_empty() {
                of_needed += residency::count_ranges(&file, &member.path, &member.needed)?.cached;
            }
        }
        Ok(State { of_needed: pages(of_needed), needed: self.needed(), of_all: pages(of_all) })
    }

    /// How many files.
    #[must_use]
    pub fn len(&self) -> usize {
        self.members.len()
    }

    /// What the command needs of them.
    #[must_use]
    pub fn needed(&self) -> Bytes {
        Bytes(self.members.iter().map(Member::length).sum())
    }

    /// What stays when all is evicted.
    #[must_use]
    pub fn staying(&self) -> Bytes {
        Bytes(self.stays.iter().map(|stays| stays.bytes.0).sum())
    }

    /// What could not be evicted, in a sentence; `None` when all could.
    #[must_use]
    pub fn what_stays(&self) -> Option<String> {
        if self.stays.is_empty() {
            return None;
        }
        let mut named: Vec<String> = self.stays.iter().take(NAMED).map(named).collect();
        if self.stays.len() > NAMED {
            named.push(format!("{} more", self.stays.len() - NAMED));
        }
        Some(format!(
            "{} in {} of {} files cannot be evicted: {}",
            self.staying(),
            self.stays.len(),
            self.len(),
            named.join(", ")
        ))
    }

    /// For the record: every file by name, up to so many, the largest needs first.
    #[must_use]
    pub fn detail(&self) -> serde_json::Value {
        let mut files: Vec<(&PathBuf, u64)> =
            self.members.iter().map(|member| (&member.path, member.length())).collect();
        ramline_units::sort_by_key(&mut files, |(_, bytes)| std::cmp::Reverse(*bytes));
        let largest: Vec<_> =
            files.iter().take(200).map(|(path, bytes)| serde_json::json!({ "path": path, "needed": bytes })).collect();
        serde_json::json!({
            "files": self.len(), "needed": self.needed(), "largest": largest, "stays": self.stays, "in_memory": self.in_memory,
            "written": self.written, "gone": self.gone,
        })
    }
}

impl Member {
    /// What is needed of it.
    fn length(&self) -> u64 {
        self.needed.iter().map(|(_, length)| length).sum()
    }

    fn open(&self) -> Result<File> {
        Ok(input::open("read", &self.path)?)
    }
}

fn named(stays: &Stays) -> String {
    let name = stays.path.file_name().unwrap_or(stays.path.as_os_str()).to_string_lossy();
    match stays.mapped_by {
        0 => name.into_owned(),
        1 => format!("{name} (mapped by 1 process)"),
        n => format!("{name} (mapped by {n} processes)"),
    }
}

/// Pieces of a part, taken so that half of all that was seen so far is taken.
fn every_second((offset, length): (u64, u64), seen: &mut u64, taken: &mut u64) -> Vec<(u64, u64)> {
    let mut out = Vec::new();
    let (mut at, end) = (offset, offset.saturating_add(length));
    while at < end {
        let piece = PIECE.min(end - at);
        *seen += piece;
        if *taken + piece / 2 < *seen / 2 + 1 {
            out.push((at, piece));
            *taken += piece;
        }
        at += piece;
    }
    out
}

fn pages(count: u64) -> Bytes {
    Bytes(count.saturating_mul(process::page_size()))
}

fn whole_pages(length: u64) -> u64 {
    let page = process::page_size();
    length.div_ceil(page).saturating_mul(page)
}

#[cfg(test)]
mod tests;
