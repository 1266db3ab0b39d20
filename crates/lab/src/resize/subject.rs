//! The group whose size is changed: judged fit, and still the same while it is tried.

use ramline_kernel::cgroup::{Existing, processes_below};

use crate::experiments::knee::service::others;
use crate::prelude::*;

/// Other processes that are named.
const NAMED: usize = 3;

/// A group that will do.
#[derive(Debug)]
pub struct Subject {
    /// Its path below the mount.
    pub path: String,
    /// The group.
    pub group: Existing,
    pids: Vec<(u32, u64)>,
}

impl Subject {
    /// The group at this path of the hierarchy, or that of a process, which then must be alone there with its family.
    ///
    /// # Errors
    /// `Refused`: ramline is in it, it is one of ours, it has no process, or others than the one that was named; it has no memory limit.
    pub fn find(root: &Root, mount: &Path, path: &str, pid: Option<u32>) -> Result<Subject> {
        let dir = mount.join(path.trim_start_matches('/'));
        let shown = ramline_units::escape(path);
        let refused = |why: &str, hint: &str| LabError::refused(vec![format!("{shown} {why}")], hint);
        if Hierarchy::detect(root)?.own().starts_with(&dir) {
            return Err(refused("holds ramline itself, which its limit would be on too", "ramline show cgroups"));
        }
        if dir.file_name().is_some_and(|name| name.to_string_lossy().starts_with("ramline-")) {
            return Err(refused("is a group of a running ramline", "ramline lab list"));
        }
        let group = Existing::open(&dir)?;
        let starts = |pid: u32| Some((pid, process::start_time(root, pid).ok()?));
        let pids: Vec<_> = processes_below(root, &dir)?.into_iter().filter_map(starts).collect();
        if pids.is_empty() {
            return Err(refused("has no process: is the service running?", "ramline show cgroups"));
        }
        let all: Vec<u32> = pids.iter().map(|(pid, _)| *pid).collect();
        if let Some(others) = pid.map(|pid| others(root, pid, &all)).filter(|others| !others.is_empty()) {
            let named = others.iter().take(NAMED).cloned().collect::<Vec<_>>().join(", ");
            let why = format!("also holds {named}, which the limit would be on too; name the group to try them all");
            return Err(refused(&why, &format!("sudo ramline need {shown} --try")));
        }
        Ok(Subject { path: path.to_owned(), group, pids })
    }

    /// Fails where it is not the service any more that was looked at first.
    pub fn is_same(&self, root: &Root) -> Result<()> {
        let ended = |why: &str| {
            let shown = ramline_units::escape(&self.path);
            let hint = format!("ramline need {shown} --try");
            LabError::ended("a part of the trial", vec![format!("{shown} {why}")], hint)
        };
        if !self.group.dir().exists() {
            return Err(ended("is gone: its service ended or was moved"));
        }
        let now = processes_below(root, self.group.dir()).unwrap_or_default();
        let stays = |(pid, start): &(u32, u64)| now.contains(pid) && process::is_same_process(root, *pid, *start);
        if self.pids.iter().any(stays) {
            return Ok(());
        }
        let why = if now.is_empty() { "has no process any more" } else { "was restarted, or its processes were moved" };
        Err(ended(why))
    }

    /// Where a process of it was killed for want of memory, which is said.
    pub fn none_killed(&self, before: Option<u64>, now: Option<u64>) -> Result<()> {
        let killed = before.zip(now).and_then(|(before, now)| ramline_units::growth(before, now)).unwrap_or(0);
        if killed == 0 {
            return Ok(());
        }
        let shown = ramline_units::escape(&self.path);
        let why = format!("the kernel killed {killed} processes of {shown}, out of memory");
        Err(LabError::ended("a part of the trial", vec![why], format!("ramline show cgroups {shown}")))
    }
}
