//! How each step is undone: idempotent, and only where the evidence says that what is there is ours.
//!
//! What it is not: the order of undoing; that is the run's and the recovery's, always in reverse.

use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::Duration;

use ramline_kernel::cgroup::{Existing, Group, Hierarchy, Setting, move_process};
use ramline_kernel::write::{is_knob, read_knob, write_knob};
use ramline_kernel::{FileKey, KernelError, Result, Root, loopdev, mount, process, swap, tracing, zram};

use ramline_units::{Bytes, Limit};

use crate::step::Step;
use crate::swapoff::check_swapoff;

/// How an undo ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// It was there and is gone, or put back.
    Removed,
    /// There was nothing to do.
    AlreadyGone,
    /// It is there but not ours any more; the reason.
    LeftAlone(String),
}

/// What the evidence is judged by.
#[derive(Debug, Clone, Copy)]
pub struct Context<'a> {
    pub root: &'a Root,
    /// False after a reboot: kernel objects are gone, and what has their names is somebody else's.
    pub same_boot: bool,
    /// When the step was announced, in milliseconds since 1970.
    pub intended_ms: u64,
}

/// Undoes one step.
pub fn undo(step: &Step, context: Context<'_>) -> Result<Outcome> {
    let root = context.root;
    match step {
        Step::MakeDir { path, id } => remove_dir(path, *id, context),
        Step::MakeTree { path, id } => remove_tree(path, *id, context),
        Step::MakeFile { path, id } => remove_file(path, *id, context),
        _ if !context.same_boot => Ok(Outcome::AlreadyGone),
        Step::AttachLoop { file, existing, .. } => detach(root, file, existing.as_deref()),
        Step::Mount { at, .. } if !is_below_our_name(at) => Ok(not_ours()),
        Step::Mount { what, at, fs } => unmount(root, what, at, fs),
        Step::EnableMemory { path } => disable_memory(path),
        Step::MakeCgroup { path } if !has_our_name(path) => Ok(not_ours()),
        Step::MakeCgroup { path } => remove_cgroup(path),
        Step::MoveProcess { pid, start, from, to } => move_back(root, *pid, *start, from, to),
        Step::MakeTrace { path } if !has_our_name(path) => Ok(not_ours()),
        Step::MakeTrace { path } => remove_trace(path),
        Step::SpawnInto { pid, start, .. } => kill(root, *pid, *start),
        Step::HotAddZram { id, identity, existing } => remove_zram(context, *id, *identity, existing),
        Step::SwapOn { path, uuid, .. } => swap_off(root, path, uuid),
        Step::LimitGroup { path, before, most } => restore_limit(root, path, before, *most),
        Step::SetKnob { path, .. } if !is_knob(root, path) => {
            Ok(Outcome::LeftAlone("it is no knob ramline sets".to_owned()))
        }
        Step::SetKnob { path, before, after } => put_back(path, before, after),
    }
}

/// Files and directories of ours have a name, or lie in a directory with a name, that begins with `ramline`.
pub fn has_our_name(path: &Path) -> bool {
    let ours = |path: Option<&Path>| {
        let name = path.and_then(Path::file_name).and_then(|name| name.to_str());
        name.is_some_and(|name| name.starts_with("ramline"))
    };
    ours(Some(path)) || ours(path.parent())
}

/// What we mount lies somewhere below a directory of ours.
fn is_below_our_name(path: &Path) -> bool {
    path.ancestors()
        .any(|dir| dir.file_name().and_then(|name| name.to_str()).is_some_and(|name| name.starts_with("ramline")))
}

fn not_ours() -> Outcome {
    Outcome::LeftAlone("its name is not one of ours".to_owned())
}

/// As it was recorded: of real directories, none of which has become a link since.
fn is_direct(path: &Path) -> bool {
    path.parent().is_some_and(|dir| std::fs::canonicalize(dir).is_ok_and(|real| real == dir))
}

/// Checks that what is at `path` is what we made: `None` when nothing is there, else whether it is ours and why not.
fn ours(
    path: &Path,
    id: Option<FileKey>,
    dir: bool,
    context: Context<'_>,
) -> Result<Option<std::result::Result<(), String>>> {
    let meta = match std::fs::symlink_metadata(path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        other => other.map_err(|error| KernelError::io("look at", path, error))?,
    };
    // Device numbers are given out anew at every boot; inode numbers stay with the file system.
    let same = |id: FileKey| meta.ino() == id.inode && (meta.dev() == id.device || !context.same_boot);
    let verdict = if meta.is_dir() != dir || meta.is_symlink() {
        Err("something of another kind has its name now")
    } else if meta.uid() != process::uid() {
        Err("its owner is somebody else")
    } else if !has_our_name(path) {
        Err("its name is not one of ours")
    } else if !is_direct(path) {
        Err("a link stands on the way to it")
    } else if !id.is_none_or(same) {
        Err("another file has its name now")
    } else {
        Ok(())
    };
    Ok(Some(verdict.map_err(str::to_owned)))
}

fn remove_dir(path: &Path, id: Option<FileKey>, context: Context<'_>) -> Result<Outcome> {
    // A mount that could not be taken away covers the directory, which would look like somebody else's: it stays pending.
    if has_our_name(path) && context.same_boot && mount::at(context.root, path).is_some() {
        return Err(KernelError::refused("remove the directory", path, "something is still mounted there", "")
            .hint(format!("umount {} && ramline lab clean", path.display())));
    }
    match ours(path, id, true, context)? {
        None => Ok(Outcome::AlreadyGone),
        Some(Err(reason)) => Ok(Outcome::LeftAlone(reason)),
        // Not recursive: only what the journal names is removed.
        Some(Ok(())) => std::fs::remove_dir(path).map(|()| Outcome::Removed).map_err(|error| {
            KernelError::io("remove the directory", path, error).hint(format!("ls -la {}", path.display()))
        }),
    }
}

/// With what is in it: nobody else could put anything there, it is 0700. Only files of its own file system go: with
/// something mounted below, nothing does.
fn remove_tree(path: &Path, id: Option<FileKey>, context: Context<'_>) -> Result<Outcome> {
    let tried = "remove the directory";
    match ours(path, id, true, context)? {
        None => return Ok(Outcome::AlreadyGone),
        Some(Err(reason)) => return Ok(Outcome::LeftAlone(reason)),
        Some(Ok(())) => {}
    }
    if let Some(mounted) =
        mount::list(context.root)?.into_iter().find(|mounted| Path::new(&mounted.at).starts_with(path))
    {
        let at = mounted.at;
        return Err(KernelError::refused(tried, path, "something is mounted below it", at.clone())
            .hint(format!("umount {at} && ramline lab clean")));
    }
    std::fs::remove_dir_all(path).map(|()| Outcome::Removed).map_err(|error| KernelError::io(tried, path, error))
}

fn remove_file(path: &Path, id: Option<FileKey>, context: Context<'_>) -> Result<Outcome> {
    match ours(path, id, false, context)? {
        None => return Ok(Outcome::AlreadyGone),
        Some(Err(reason)) => return Ok(Outcome::LeftAlone(reason)),
        Some(Ok(())) => {}
    }
    // Without its file, neither could be found by name any more.
    if swap::is_on(context.root, path)? {
        return Err(
            KernelError::refused("remove the file", path, "it is still a swap area", "").hint("ramline lab clean")
        );
    }
    if let Some(device) = loopdev::attached_to(context.root, path).first() {
        let numbers = format!("{}", device.node().display());
        return Err(KernelError::refused("remove the file", path, "a loop device still uses it", numbers)
            .hint(format!("losetup -d {}", device.node().display())));
    }
    std::fs::remove_file(path)
        .map(|()| Outcome::Removed)
        .map_err(|error| KernelError::io("remove the file", path, error))
}

/// By the backing file, whatever number the record has: it lies in a directory of ours.
fn detach(root: &Root, file: &Path, existing: Option<&[u32]>) -> Result<Outcome> {
    let devices = loopdev::attached_to(root, file);
    for device in &devices {
        device.detach()?;
        // Made for us because none was free. Whoever has come to use it since keeps it.
        if existing.is_some_and(|existing| !existing.contains(&device.number)) {
            device.remove()?;
        }
    }
    Ok(if devices.is_empty() { Outcome::AlreadyGone } else { Outcome::Removed })
}

fn unmount(root: &Root, what: &Path, at: &Path, fs: &str) -> Result<Outcome> {
    match mount::at(root, at) {
        None => Ok(Outcome::AlreadyGone),
        Some(mounted) if mounted.fs == fs && Path::new(&mounted.source) == what => {
            mount::unmount(at).map(|()| Outcome::Removed)
        }
        Some(other) => Ok(Outcome::LeftAlone(format!("{} of {} is mounted there now", other.fs, other.source))),
    }
}

fn disable_memory(knob: &Path) -> Result<Outcome> {
    if !Hierarchy::is_memory_enabled(knob) {
        return Ok(Outcome::AlreadyGone);
    }
    Ok(Hierarchy::disable_memory(knob)?.map_or(Outcome::Removed, Outcome::LeftAlone))
}

/// Only from where we had moved it to.
fn move_back(root: &Root, pid: u32, start: u64, from: &Path, to: &Path) -> Result<Outcome> {
    let group = match Group::open(to) {
        Err(error) if error.is_absent() => return Ok(Outcome::AlreadyGone),
        other => other?,
    };
    if !process::is_same_process(root, pid, start) || !group.pids()?.contains(&pid) {
        return Ok(Outcome::AlreadyGone);
    }
    move_process(pid, from).map(|()| Outcome::Removed)
}

fn remove_trace(path: &Path) -> Result<Outcome> {
    match tracing::Instance::open(path) {
        Err(error) if error.is_absent() => Ok(Outcome::AlreadyGone),
        other => other?.remove().map(|()| Outcome::Removed),
    }
}

fn remove_cgroup(path: &Path) -> Result<Outcome> {
    let group = match Group::open(path) {
        Err(error) if error.is_absent() => return Ok(Outcome::AlreadyGone),
        other => other?,
    };
    group.kill_all()?;
    group.remove().map(|()| Outcome::Removed)
}

fn kill(root: &Root, pid: Option<u32>, start: Option<u64>) -> Result<Outcome> {
    // Not known: it was tied to a thread that is dead, and it is in a group that is emptied when that is removed.
    let (Some(pid), Some(start)) = (pid, start) else { return Ok(Outcome::AlreadyGone) };
    if !process::kill_pid(root, pid, start)? {
        return Ok(Outcome::AlreadyGone);
    }
    if process::wait_gone(root, pid, start, Duration::from_secs(2)) {
        return Ok(Outcome::Removed);
    }
    Err(KernelError::refused("kill", format!("process {pid}"), "it is still there after SIGKILL", "waited 2 s"))
}

fn remove_zram(
    context: Context<'_>,
    id: Option<u32>,
    identity: Option<zram::Identity>,
    existing: &[u32],
) -> Result<Outcome> {
    let root = context.root;
    let Some(id) = id else { return remove_unrecorded_zram(context, existing) };
    let device = zram::Device::open(root, id);
    let now = match device.identity() {
        Err(error) if error.is_absent() => return Ok(Outcome::AlreadyGone),
        other => other?,
    };
    if identity != Some(now) {
        return Ok(Outcome::LeftAlone("another zram device has its number now".to_owned()));
    }
    let node = device.node();
    let in_use = |by: &str, hint: &str| {
        let rule = format!("it is still in use as {by}");
        Err(KernelError::refused("remove the zram device", node, rule, "").hint(hint))
    };
    if swap::is_on(root, node)? {
        return in_use("a swap area", "ramline lab clean");
    }
    if mount::list(root)?.iter().any(|mounted| Path::new(&mounted.source) == node) {
        return in_use("a file system", "ramline show zram");
    }
    device.reset()?;
    device.hot_remove()?;
    Ok(Outcome::Removed)
}

/// Killed between making the device and writing down its number, a moment of milliseconds. There is no evidence but age
/// and emptiness, so nothing is reset: only a device that is not set up, and so holds nothing, is removed.
fn remove_unrecorded_zram(context: Context<'_>, existing: &[u32]) -> Result<Outcome> {
    match unrecorded_zram(context.root, existing, context.intended_ms).as_slice() {
        [] => Ok(Outcome::AlreadyGone),
        [only] => zram::Device::open(context.root, *only).hot_remove().map(|()| Outcome::Removed),
        several => Ok(Outcome::LeftAlone(format!("zram devices {several:?} appeared together: ours is not certain"))),
    }
}

/// The devices that can be the one announced at `intended_ms`: new, not set up, and as old as the record.
pub fn unrecorded_zram(root: &Root, existing: &[u32], intended_ms: u64) -> Vec<u32> {
    let fresh = |id: &u32| {
        let device = zram::Device::open(root, *id);
        matches!(device.is_initialised(), Ok(false)) && born_with(device.node(), intended_ms)
    };
    zram::list(root).into_iter().filter(|id| !existing.contains(id)).filter(fresh).collect()
}

/// The node's modification time is when devtmpfs made it.
fn born_with(node: &Path, intended_ms: u64) -> bool {
    const WITHIN_MS: u64 = 2_000;
    // File times come from a clock that ticks, the record's from a finer one.
    const COARSE_MS: u64 = 20;
    let born = std::fs::symlink_metadata(node)
        .and_then(|meta| meta.modified())
        .ok()
        .and_then(|time| time.duration_since(std::time::UNIX_EPOCH).ok())
        .and_then(|since| u64::try_from(since.as_millis()).ok());
    born.is_some_and(|born| born + COARSE_MS >= intended_ms && born <= intended_ms + WITHIN_MS)
}

fn swap_off(root: &Root, path: &Path, uuid: &str) -> Result<Outcome> {
    if !swap::is_on(root, path)? {
        return Ok(Outcome::AlreadyGone);
    }
    let ours =
        swap::label(path, process::page_size())?.is_some_and(|label| label.label == swap::LABEL && label.uuid == uuid);
    if !ours {
        return Ok(Outcome::LeftAlone("the swap area there has another header than ours".to_owned()));
    }
    check_swapoff(root, path)?;
    swap::swapoff(path).map(|()| Outcome::Removed)
}

/// Its limit was ours to change up to `most`.
fn restore_limit(root: &Root, path: &Path, before: &[Setting], most: Bytes) -> Result<Outcome> {
    let group = match Existing::open(path) {
        Err(error) if error.is_absent() => return Ok(Outcome::AlreadyGone),
        other => other?,
    };
    match group.limit() {
        Limit::At(now) if now > most && !before.iter().any(|setting| setting.value == now.0.to_string()) => {
            Ok(Outcome::LeftAlone(format!("its limit is {now} now, more than ours ever was: another has set it")))
        }
        _ => Ok(if group.restore(root, before)? { Outcome::Removed } else { Outcome::AlreadyGone }),
    }
}

fn put_back(path: &Path, before: &str, after: &str) -> Result<Outcome> {
    match read_knob(path) {
        None => Ok(Outcome::AlreadyGone),
        Some(now) if now == before => Ok(Outcome::AlreadyGone),
        Some(now) if now == after => {
            let change = write_knob(path, before)?;
            match change.after {
                Some(kept) if kept != before => {
                    let numbers = format!("wrote {before}, the kernel kept {kept}");
                    Err(KernelError::refused("put back", path, "the kernel must take its old value", numbers)
                        .hint(format!("cat {}", path.display())))
                }
                _ => Ok(Outcome::Removed),
            }
        }
        Some(now) => {
            Ok(Outcome::LeftAlone(format!("it is {now} now, neither {before} nor our {after}: somebody else set it")))
        }
    }
}

#[cfg(test)]
mod tests;
