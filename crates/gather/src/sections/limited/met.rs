//! Which groups ever met a limit: a small file or two of each, in one walk level by level.

use ramline_snapshot::cgroup::{Version, flat};

use super::super::groups::level::{AT_A_TIME, shared};
use super::super::open::GroupDir;
use super::super::reader::Reader;
use crate::prelude::*;

pub struct LimitedGroups<'a> {
    pub version: Version,
    pub mount: &'a Path,
    /// Groups of version 2 count for themselves alone.
    pub own_counts: bool,
}

/// Paths below the mount that one thread has found.
#[derive(Default)]
struct FoundPaths {
    met: Vec<PathBuf>,
    next: Vec<PathBuf>,
    buffer: Vec<u8>,
}

impl LimitedGroups<'_> {
    /// Paths below the mount; of a capture also of groups whose counters are not in it. False where time was up before the last.
    pub fn paths(&self, reader: &Reader<'_>, is_late: impl Fn() -> bool + Sync) -> (Vec<PathBuf>, bool) {
        let (mut met, mut level, mut complete) = (Vec::new(), vec![PathBuf::new()], true);
        while !level.is_empty() && complete {
            let found = if reader.root.is_live() {
                let (found, all) =
                    shared(&level, AT_A_TIME, &is_late, |below: &PathBuf, found| self.live(below, found));
                complete = all;
                found
            } else {
                let mut found = FoundPaths::default();
                level.iter().for_each(|below| self.captured(reader, below, &mut found));
                vec![found]
            };
            level = Vec::new();
            for mut found in found {
                met.append(&mut found.met);
                level.append(&mut found.next);
            }
        }
        (met, complete)
    }

    fn live(&self, below: &Path, found: &mut FoundPaths) {
        let Ok(dir) = GroupDir::open(&self.mount.join(below)) else { return };
        match self.met(|name| dir.text(name, &mut found.buffer).ok()) {
            Some(true) => found.met.push(below.to_path_buf()),
            Some(false) if self.counts_below(|name| dir.has(name)) => return,
            Some(false) => {}
            // The top of version 2 has no such file; any other was removed, or has no controller, and then nothing below it has.
            None if below.as_os_str().is_empty() => {}
            None => return,
        }
        found.next.extend(dir.directories().unwrap_or_default().iter().map(|name| below.join(name)));
    }

    fn captured(&self, reader: &Reader<'_>, below: &Path, found: &mut FoundPaths) {
        let dir = self.mount.join(below);
        match self.met(|name| reader.text(dir.join(name)).ok()) {
            Some(false) if self.counts_below(|name| reader.exists(dir.join(name))) => return,
            Some(false) => {}
            None if below.as_os_str().is_empty() => {}
            Some(true) | None => found.met.push(below.to_path_buf()),
        }
        found.next.extend(reader.directories(&dir).unwrap_or_default().iter().map(|name| below.join(name)));
    }

    /// Whether a group ever met a limit; `None` where it has no such counter.
    fn met(&self, mut text: impl FnMut(&str) -> Option<String>) -> Option<bool> {
        if self.version == Version::V2 {
            let events = flat("", &text("memory.events")?).ok()?;
            return Some(["high", "max", "oom", "oom_kill"].iter().any(|key| events.get(*key).is_some_and(|n| *n > 0)));
        }
        let mut count = |name| text(name)?.trim().parse::<u64>().ok();
        let memory = count("memory.failcnt")?;
        Some(memory > 0 || count("memory.memsw.failcnt").is_some_and(|n| n > 0))
    }

    /// The counts of what is below, and was, are in those of the group.
    fn counts_below(&self, has: impl FnOnce(&str) -> bool) -> bool {
        self.version == Version::V2 && !self.own_counts && has("memory.events.local")
    }
}
