//! What dead runs have left, by name, without touching anything: for read-only commands.

use ramline_kernel::{
    Root,
    cgroup::{Existing, Group, Hierarchy},
    loopdev, mount, process, swap, tracing,
    write::{is_knob, read_knob},
    zram,
};

use crate::journal::Pending;
use crate::undo::unrecorded_zram;
use crate::{Result, StateDir, Step, journal};

/// One thing a dead run has left.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Leftover {
    /// The run.
    pub run: String,
    /// The process it was.
    pub pid: u32,
    /// What is left, in a few words.
    pub what: String,
}

/// Lists what is really still there. Writes nothing and takes no lock.
///
/// # Errors
/// When a journal cannot be read (`Denied` for another user's).
pub fn leftovers(state: &StateDir, root: &Root) -> Result<Vec<Leftover>> {
    let mut found = Vec::new();
    for path in journal::list(state)? {
        // One that cannot be read is named by the recovery, and does not hide the others.
        let Ok(false) = journal::is_settled(&path) else { continue };
        let Ok(contents) = journal::read(&path) else { continue };
        let Some(last) = contents.entries.last() else { continue };
        let pending = contents.pending();
        if pending.is_empty() || last.owner.is_alive(root) {
            continue;
        }
        let same_boot = last.owner.is_this_boot(root);
        let present = pending.iter().rev().filter(|pending| is_present(root, pending, same_boot));
        found.extend(present.map(|pending| Leftover {
            run: last.run.clone(),
            pid: last.owner.pid,
            what: pending.step.describe(),
        }));
    }
    Ok(found)
}

/// One line naming what is left and the command that removes it; `None` when nothing is.
#[must_use]
pub fn one_line(leftovers: &[Leftover]) -> Option<String> {
    const NAMED: usize = 3;
    let first = leftovers.first()?;
    let mut names: Vec<&str> = leftovers.iter().take(NAMED).map(|left| left.what.as_str()).collect();
    let more = format!("{} more", leftovers.len().saturating_sub(NAMED));
    if leftovers.len() > NAMED {
        names.push(&more);
    }
    Some(format!(
        "left over from a run that was killed (process {}): {}; try: ramline lab clean",
        first.pid,
        names.join(", ")
    ))
}

fn is_present(root: &Root, pending: &Pending, same_boot: bool) -> bool {
    match &pending.step {
        Step::MakeDir { path, .. } | Step::MakeTree { path, .. } | Step::MakeFile { path, .. } => {
            path.symlink_metadata().is_ok()
        }
        _ if !same_boot => false,
        Step::AttachLoop { file, .. } => !loopdev::attached_to(root, file).is_empty(),
        Step::Mount { at, .. } => mount::at(root, at).is_some(),
        Step::EnableMemory { path } => Hierarchy::is_memory_enabled(path),
        Step::MakeCgroup { path } => Group::open(path).is_ok(),
        Step::MakeTrace { path } => tracing::Instance::open(path).is_ok(),
        // With us it is gone from there.
        Step::MoveProcess { pid, start, .. } => process::is_same_process(root, *pid, *start),
        Step::SpawnInto { pid: Some(pid), start: Some(start), .. } => process::is_same_process(root, *pid, *start),
        Step::SpawnInto { .. } => false,
        Step::HotAddZram { id: Some(id), identity, .. } => {
            identity.is_some() && zram::Device::open(root, *id).identity().ok() == *identity
        }
        Step::HotAddZram { id: None, existing, .. } => !unrecorded_zram(root, existing, pending.intended_ms).is_empty(),
        Step::SwapOn { path, .. } => swap::is_on(root, path).unwrap_or(false),
        Step::LimitGroup { path, before, .. } => {
            Existing::open(path).and_then(|group| group.settings()).is_ok_and(|now| now != *before)
        }
        Step::SetKnob { path, before, after } if is_knob(root, path) => {
            read_knob(path).is_some_and(|now| now == *after && after != before)
        }
        Step::SetKnob { .. } => false,
    }
}
