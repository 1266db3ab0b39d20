//! Where an object is: as before a step, as after it, or neither.

use std::os::unix::fs::MetadataExt;
use std::path::Path;

use ramline_kernel::write::read_knob;
use ramline_kernel::{KernelError, Root, input, mount, process, service, swap, zram};
use ramline_plan::{ServiceVerb, Step};
use ramline_units::Bytes;

use super::units;

/// Files of settings are shorter.
const LONGEST_FILE: u64 = 1 << 20;

/// In which state the object of a step is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StepState {
    /// As the step found it.
    Before,
    /// As the step makes it.
    After,
    /// Begun and not ended: what a crash in the middle of the step leaves.
    Half,
    /// Neither: somebody else has changed it; how it is now.
    Other(String),
    /// The step has no state: it may be repeated.
    None,
}

/// The text of a file; `None` where it is not there.
///
/// # Errors
/// One that is longer than a file of settings, or not text.
pub fn text(root: &Root, path: &str) -> Result<Option<String>, KernelError> {
    match input::read_text("read", &root.path(path), LONGEST_FILE) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.is_absent() => Ok(None),
        Err(error) => Err(error),
    }
}

/// Looks at the object of a step.
///
/// # Errors
/// When it cannot be looked at.
pub fn probe(root: &Root, step: &Step) -> Result<StepState, KernelError> {
    let which = |is_after: bool| if is_after { StepState::After } else { StepState::Before };
    Ok(match step {
        Step::EditFile { path, before, after } => match stranger(root, path, before.is_none())? {
            Some(kind) => StepState::Other(kind),
            None => either(&text(root, path)?, before, after, "another text"),
        },
        Step::MakeDirectory { path } => which(root.path(path).is_dir()),
        Step::DisableUnit { link: path, target, .. } => link(root, path, Some(target), None)?,
        Step::ResetZram { device } => match number(device).map(|id| zram::Device::open(root, id)) {
            Some(device) if device.exists() => which(device.disksize()?.0 == 0),
            _ => StepState::After,
        },
        Step::Link { path, before, after } => link(root, path, before.as_deref(), after.as_deref())?,
        Step::SetKnob { path, before, after } | Step::SetOneOf { path, before, after, .. } => {
            match read_knob(&root.path(path)) {
                // Of a group that has ended: it begins again as its unit says.
                None if is_of_a_group(path) => StepState::Before,
                None => StepState::Other("not there".to_owned()),
                Some(now) => {
                    let words = now.clone();
                    either(&now, before, after, &words)
                }
            }
        }
        Step::LoadModule { name } => which(service::has_module(root, name)),
        Step::MakeSwapFile { path, size } => swap_file(&root.path(path), *size)?,
        Step::SwapOn { path, priority } => area(root, path, *priority)?,
        Step::SwapOff { path, priority } => match area(root, path, *priority)? {
            StepState::Before => StepState::After,
            _ => StepState::Before,
        },
        Step::SizeZram { device, algorithm, size } => match number(device).map(|id| zram::Device::open(root, id)) {
            None => StepState::Other("no name of a zram device".to_owned()),
            Some(device) if !device.exists() => StepState::Before,
            Some(device) => match device.disksize()? {
                now if now.0 == 0 => StepState::Before,
                now if now == *size && (algorithm.is_none() || device.algorithms()?.first() == algorithm.as_ref()) => {
                    StepState::After
                }
                now => StepState::Other(format!("a device of {now}")),
            },
        },
        Step::FormatZram { device } => {
            let node = Path::new("/dev").join(device);
            let made = root.is_live() && swap::label(&node, process::page_size()).is_ok_and(|label| label.is_some());
            which(made)
        }
        // Off, and on as the files make it by now, are both behind the pause.
        Step::PauseZram { made } => which(!units::is_as(root, made)?),
        Step::RemakeZram { made } => which(units::is_as(root, made)?),
        Step::ReloadUnits | Step::ReloadRules => StepState::None,
        // Nothing of a captured tree is active.
        Step::Service { unit, verb } => {
            which((root.is_live() && service::is_active(unit)?) == (*verb == ServiceVerb::Start))
        }
        Step::Mount { at, fs, .. } => match mount::at(root, Path::new(at)) {
            Some(mounted) if mounted.fs == *fs => StepState::After,
            _ => StepState::Before,
        },
    })
}

fn is_of_a_group(path: &str) -> bool {
    path.rsplit('/').next().is_some_and(|name| name.starts_with("memory."))
}

/// What has the name of a file of settings and is none; a link is none where the file was made by the step, which makes no link.
fn stranger(root: &Root, path: &str, is_made: bool) -> Result<Option<String>, KernelError> {
    let path = root.path(path);
    let failed = |error| KernelError::io("look at", &path, error);
    let meta = match std::fs::symlink_metadata(&path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        other => other.map_err(failed)?,
    };
    Ok(match meta.file_type() {
        kind if kind.is_symlink() && is_made => {
            Some(format!("a link to {}", std::fs::read_link(&path).map_err(failed)?.display()))
        }
        kind if kind.is_dir() => Some("a directory".to_owned()),
        kind if kind.is_file() && meta.len() > LONGEST_FILE => Some("too large for a file of settings".to_owned()),
        kind if kind.is_file() || kind.is_symlink() => None,
        _ => Some("no regular file".to_owned()),
    })
}

fn link(root: &Root, path: &str, before: Option<&str>, after: Option<&str>) -> Result<StepState, KernelError> {
    let target = match std::fs::read_link(root.path(path)) {
        Ok(target) => Some(target.display().to_string()),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => None,
        Err(error) if error.kind() == std::io::ErrorKind::InvalidInput => {
            return Ok(StepState::Other("no link".to_owned()));
        }
        Err(error) => return Err(KernelError::io("read the link", root.path(path), error)),
    };
    let words = target.clone().map_or("gone".to_owned(), |target| format!("a link to {target}"));
    Ok(either(&target.as_deref(), &before, &after, &words))
}

fn either<T: PartialEq>(now: &T, before: &T, after: &T, other: &str) -> StepState {
    if now == after {
        StepState::After
    } else if now == before {
        StepState::Before
    } else {
        StepState::Other(other.to_owned())
    }
}

fn swap_file(path: &Path, size: Bytes) -> Result<StepState, KernelError> {
    let meta = match std::fs::symlink_metadata(path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(StepState::Before),
        Err(error) => return Err(KernelError::io("look at", path, error)),
        Ok(meta) => meta,
    };
    let is_private = meta.is_file() && meta.mode() & 0o077 == 0 && meta.uid() == process::uid();
    Ok(match swap::label(path, process::page_size()) {
        Ok(Some(label)) if label.label == swap::LABEL => StepState::After,
        Ok(None) if is_private && meta.len() <= size.0 => StepState::Half,
        Err(_) if is_private && meta.len() < 4096 => StepState::Half,
        _ => StepState::Other("a file that is no swap file of ours".to_owned()),
    })
}

fn area(root: &Root, path: &str, priority: Option<i32>) -> Result<StepState, KernelError> {
    let on = swap::areas(root)?.into_iter().find(|area| area.path == path);
    Ok(match (on, priority) {
        (None, _) => StepState::Before,
        (Some(area), Some(wanted)) if area.priority != wanted => {
            StepState::Other(format!("on at priority {}", area.priority))
        }
        _ => StepState::After,
    })
}

/// N of `zramN`.
pub fn number(device: &str) -> Option<u32> {
    device.strip_prefix("zram")?.parse().ok()
}
