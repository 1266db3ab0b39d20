//! Groups that stay open from one walk to the next: their directories, the files that change, and the text of those that hardly do.
//!
//! Worked example: of a service of version 1 three files are read each time, at a microsecond each and `memory.stat` at 8, where opening
//! them takes 5 more each. The most it ever used is read by the minute.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use ramline_kernel::limits::Limited;
use ramline_snapshot::cgroup::{Group, Version};

use super::super::not_read::NotRead;
use super::super::tightest::Tightest;
use super::dir::GroupDir;
use super::files::AGAIN;
use crate::prelude::*;

/// Descriptors for groups: each file, though not a directory, keeps a buffer of a page in the kernel.
const MOST: usize = 2048;
/// The file that costs most to make, of each group; others stay open as long as half of the descriptors are left.
const FIRST: &str = "memory.stat";

/// All that stays open.
#[derive(Debug)]
pub struct OpenGroups {
    by_path: Mutex<HashMap<PathBuf, OpenGroup>>,
    open: AtomicUsize,
    most: usize,
    /// Walks so far: a group that the last one did not meet is gone.
    walks: AtomicUsize,
}

/// One group.
#[derive(Debug)]
pub struct OpenGroup {
    pub dir: GroupDir,
    files: Vec<(&'static str, OwnedFd)>,
    /// Texts of files that hardly change, and files that are not there.
    texts: Vec<(&'static str, Option<String>)>,
    texts_since: Instant,
    /// What it was when it was last read whole, for a minute as the texts.
    pub last: Option<(Group, Tightest)>,
    /// A file of it was refused because the group is gone.
    pub is_gone: bool,
    /// The last walk that kept it; 0 for one that was opened in this walk.
    walk: usize,
}

impl OpenGroups {
    /// Half of the descriptors that this process may have, at most; their limit is raised as far as it goes.
    pub fn new() -> OpenGroups {
        Limited::OpenFiles.raise();
        let half = Limited::OpenFiles.now().map_or(MOST, |now| usize::try_from(now / 2).unwrap_or(MOST));
        OpenGroups {
            by_path: Mutex::default(),
            open: AtomicUsize::new(0),
            most: half.min(MOST),
            walks: AtomicUsize::new(0),
        }
    }

    /// To be called before a walk.
    pub fn begin(&self) {
        self.walks.fetch_add(1, Ordering::Relaxed);
    }

    /// The group as the last walk left it.
    pub fn take(&self, below: &Path) -> Option<OpenGroup> {
        let mut group = self.by_path.lock().unwrap_or_else(PoisonError::into_inner).remove(below)?;
        if group.texts_since.elapsed() > AGAIN {
            group.texts.clear();
            group.last = None;
            group.texts_since = Instant::now();
        }
        Some(group)
    }

    /// Leaves it open for the next walk: one that stayed before, or a new one while there are descriptors for it.
    pub fn keep(&self, below: &Path, mut group: OpenGroup) {
        let is_new = group.walk == 0;
        if group.is_gone || (is_new && !self.may_open(self.most)) {
            self.open.fetch_sub(group.files.len() + usize::from(!is_new), Ordering::Relaxed);
            return;
        }
        self.open.fetch_add(usize::from(is_new), Ordering::Relaxed);
        group.walk = self.walks.load(Ordering::Relaxed);
        self.by_path.lock().unwrap_or_else(PoisonError::into_inner).insert(below.to_owned(), group);
    }

    /// To be called after a walk: what it did not meet is closed, and what is open is counted anew.
    pub fn end(&self) {
        let walk = self.walks.load(Ordering::Relaxed);
        let mut groups = self.by_path.lock().unwrap_or_else(PoisonError::into_inner);
        groups.retain(|_, group| group.walk == walk);
        self.open.store(groups.values().map(|group| group.files.len() + 1).sum(), Ordering::Relaxed);
    }

    fn may_open(&self, most: usize) -> bool {
        self.open.load(Ordering::Relaxed) < most
    }

    /// Whether one more of its files may stay open; counts it.
    fn stays_open(&self, name: &str) -> bool {
        let stays = self.may_open(if name == FIRST { self.most } else { self.most / 2 });
        if stays {
            self.open.fetch_add(1, Ordering::Relaxed);
        }
        stays
    }
}

/// What a process of the group does not change each second, and neither the verdict, a finding nor a metric rests on.
fn changes_seldom(version: Version, name: &str) -> bool {
    match version {
        Version::V1 => ["memory.max_usage_in_bytes", "memory.kmem.tcp.usage_in_bytes"].contains(&name),
        Version::V2 => ["memory.peak", "memory.zswap.max", "cgroup.stat"].contains(&name),
    }
}

impl OpenGroup {
    pub fn open(path: &Path) -> Result<OpenGroup, NotRead> {
        Ok(OpenGroup {
            dir: GroupDir::open(path)?,
            files: Vec::new(),
            texts: Vec::new(),
            texts_since: Instant::now(),
            last: None,
            is_gone: false,
            walk: 0,
        })
    }

    /// Text of a file, as [`GroupDir::text`]; what is open is read and what hardly changes is known.
    pub fn text(
        &mut self,
        version: Version,
        name: &'static str,
        all: Option<&OpenGroups>,
        buffer: &mut Vec<u8>,
    ) -> Result<String, NotRead> {
        let Some(all) = all else { return self.dir.text(name, buffer) };
        if let Some((_, text)) = self.texts.iter().find(|(known, _)| *known == name) {
            return text.clone().ok_or(NotRead::Absent);
        }
        if let Some((_, file)) = self.files.iter().find(|(known, _)| *known == name) {
            let read = GroupDir::read(file, buffer);
            self.is_gone |= read == Err(NotRead::Absent);
            return read;
        }
        let file = match self.dir.file(name) {
            Err(NotRead::Absent) => {
                self.texts.push((name, None));
                return Err(NotRead::Absent);
            }
            file => file?,
        };
        let text = GroupDir::read(&file, buffer)?;
        if changes_seldom(version, name) {
            self.texts.push((name, Some(text.clone())));
        } else if all.stays_open(name) {
            self.files.push((name, file));
        }
        Ok(text)
    }
}
