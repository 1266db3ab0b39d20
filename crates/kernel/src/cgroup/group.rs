//! One group of ours: made, limited, read, emptied and removed.

use super::hierarchy::Hierarchy;
use super::path::{PREFIX, Version, pids_in};
use super::stat::{self, GroupStat};
use super::{v1, v2};
use crate::error::Cause;
use crate::prelude::*;
use crate::sys::remove_dir;

/// One group of ours.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Group {
    version: Version,
    dir: PathBuf,
}

impl Group {
    /// Makes the group `name` below the right parent of `hierarchy`.
    ///
    /// # Errors
    /// `Refused` for a name without our prefix, `Denied` without the privilege, `Io` (EEXIST) when it is there already;
    /// version 2: `Unsupported` when no ancestor gives the memory controller to its children; see
    /// [`Hierarchy::memory_to_enable`].
    pub fn create(hierarchy: &Hierarchy, name: &str) -> Result<Group> {
        let parent = hierarchy.parent()?;
        let dir = parent.join(name);
        refuse_foreign("make the cgroup", &dir)?;
        if let Some(knob) = hierarchy.memory_to_enable()? {
            let feature = format!("{} does not give the memory controller to its children", parent.display());
            return Err(KernelError::unsupported("make the cgroup", &dir, feature)
                .hint(format!("echo +memory | sudo tee {}", ramline_units::quoted_path(&knob))));
        }
        let made = Group::make(hierarchy.version(), dir);
        made.map_err(|error| error.or_hint(&format!("ls -ld {}", ramline_units::quoted_path(&parent))))
    }

    /// Makes the group `name` below one of ours, which must hold no process of its own (version 2 allows none beside children).
    ///
    /// # Errors
    /// As [`Group::create`].
    pub fn create_below(parent: &Group, name: &str) -> Result<Group> {
        let dir = parent.dir.join(name);
        refuse_foreign("make the cgroup", &dir)?;
        if parent.version == Version::V2 {
            v2::enable_memory(&parent.dir.join(v2::SUBTREE))?;
        }
        Group::make(parent.version, dir)
    }

    /// Makes the group [`Hierarchy::leaf_to_enter`] names: one without limits, for ourselves.
    ///
    /// # Errors
    /// `Denied` without the privilege, `Refused` for a name that is not ours.
    pub fn create_leaf(dir: &Path) -> Result<Group> {
        refuse_foreign("make the cgroup", dir)?;
        Group::make(Version::V2, dir.to_owned())
    }

    fn make(version: Version, dir: PathBuf) -> Result<Group> {
        std::fs::create_dir(&dir).tried("make the cgroup", &dir)?;
        Ok(Group { version, dir })
    }

    /// A group of ours that exists, by its directory (a journal knows it). The version is read off its files.
    ///
    /// # Errors
    /// `Absent` when it is gone, `Refused` when its name is not one of ours.
    pub fn open(dir: &Path) -> Result<Group> {
        refuse_foreign("open the cgroup", dir)?;
        let version = match (dir.join("memory.limit_in_bytes").exists(), dir.join("cgroup.procs").exists()) {
            (true, _) => Version::V1,
            (false, true) => Version::V2,
            (false, false) => return Err(KernelError::new("open the cgroup", dir, Cause::Absent)),
        };
        Ok(Group { version, dir: dir.to_owned() })
    }

    /// Its directory.
    #[must_use]
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// Version 1 or 2.
    #[must_use]
    pub fn version(&self) -> Version {
        self.version
    }

    /// The file a pid is written to.
    #[must_use]
    pub fn procs_file(&self) -> PathBuf {
        self.dir.join("cgroup.procs")
    }

    /// Limits memory (version 1: keeping the swap allowance as it is).
    ///
    /// # Errors
    /// EBUSY when the group cannot be brought below the limit.
    pub fn set_memory_limit(&self, limit: Limit) -> Result<Vec<Change>> {
        match self.version {
            Version::V1 => v1::set_memory_limit(&self.dir, limit),
            Version::V2 => v2::write_limit(&self.dir.join("memory.max"), limit).map(|change| vec![change]),
        }
    }

    /// Limits swap, on top of the memory limit in both versions.
    ///
    /// # Errors
    /// `Unsupported` on a kernel without swap accounting.
    pub fn set_swap_limit(&self, limit: Limit) -> Result<Vec<Change>> {
        match self.version {
            Version::V1 => v1::set_swap_limit(&self.dir, limit),
            Version::V2 => v2::set_swap_limit(&self.dir, limit).map(|change| vec![change]),
        }
    }

    /// Moves a process into the group. What it has touched before stays charged elsewhere.
    ///
    /// # Errors
    /// `Io` (ESRCH) when the process is gone.
    pub fn add(&self, pid: u32) -> Result<()> {
        // Reading a list of pids back proves nothing about one that may have ended: the write's own answer counts.
        super::move_process(pid, &self.dir)
    }

    /// The processes in the group.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn pids(&self) -> Result<Vec<u32>> {
        pids_in(&self.dir)
    }

    /// The counters of the group; what this kernel does not have is `None`.
    ///
    /// # Errors
    /// When memory.stat cannot be read.
    pub fn stat(&self) -> Result<GroupStat> {
        stat::read(&self.dir, self.version)
    }

    /// Kills everything in the group (cgroup.kill from Linux 5.14, else SIGKILL one by one) and waits up to 2 s until it
    /// is empty.
    ///
    /// # Errors
    /// EBUSY when processes are left after that; `Refused` when we are in it ourselves.
    pub fn kill_all(&self) -> Result<()> {
        let begin = Instant::now();
        loop {
            let pids = self.pids()?;
            if pids.is_empty() {
                return Ok(());
            }
            if pids.contains(&std::process::id()) {
                return Err(KernelError::refused("kill what is in", &self.dir, "we are in it ourselves", ""));
            }
            if begin.elapsed() > Duration::from_secs(2) {
                return Err(Errno::BUSY).tried(format!("kill {} processes in", pids.len()), &self.dir);
            }
            let at_once = self.dir.join("cgroup.kill");
            if !at_once.exists() || write_knob(&at_once, "1").is_err() {
                self.kill_one_by_one(&pids);
            }
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    fn kill_one_by_one(&self, pids: &[u32]) {
        for &pid in pids {
            // The handle first, membership second: a pid that was used again in between is not in our group.
            let handle = process::pidfd(pid);
            if !self.pids().is_ok_and(|members| members.contains(&pid)) {
                continue;
            }
            // Gone already is what we want; anything else shows in the next round.
            process::kill_through(handle.as_ref(), pid).ok();
        }
    }

    /// Drops the page cache that is charged to the group; it must hold no process. What is dirty, or in use by others, stays.
    ///
    /// # Errors
    /// When the kernel has no way to (version 2 before Linux 5.19).
    pub fn give_up_cache(&self) -> Result<()> {
        if self.version == Version::V1 {
            return write_knob(&self.dir.join("memory.force_empty"), "0").map(drop);
        }
        for _ in 0..3 {
            let Some(file) = self.stat()?.file.filter(|file| file.0 > 0) else { break };
            match write_knob(&self.dir.join("memory.reclaim"), &file.0.to_string()) {
                // Less than was asked for could be had.
                Err(error) if error.errno() == Some(libc::EAGAIN) => {}
                other => drop(other?),
            }
        }
        Ok(())
    }

    /// Removes the empty group; waits up to 2 s for processes that are still ending. Gone already is success.
    ///
    /// # Errors
    /// EBUSY when processes or child groups are left.
    pub fn remove(&self) -> Result<()> {
        refuse_foreign("remove the cgroup", &self.dir)?;
        remove_dir("remove the cgroup", &self.dir)
    }
}

fn refuse_foreign(operation: &str, dir: &Path) -> Result<()> {
    let ours = dir.file_name().and_then(|name| name.to_str()).is_some_and(|name| name.starts_with(PREFIX));
    let refused = || KernelError::refused(operation, dir, format!("only groups named {PREFIX}* are ours"), "");
    ours.then_some(()).ok_or_else(refused)
}
