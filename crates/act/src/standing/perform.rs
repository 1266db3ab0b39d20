//! Taking a step, and taking it back. Each is done by looking first, so that one that a crash has left half-way can be done again.

use std::fs::Permissions;
use std::io::Write;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::Path;
use std::time::{Duration, UNIX_EPOCH};

use ramline_kernel::cgroup::{Existing, GroupStat};
use ramline_kernel::output::{Format, Output};
use ramline_kernel::write::{is_knob, read_knob, write_knob};
use ramline_kernel::{KernelError, Root, input, mount, process, service, swap, zram};
use ramline_plan::{ServiceVerb, Step};
use ramline_units::Bytes;

use super::probe::number;
use super::record::FileImage;
use super::units;
use crate::swapoff::check_swapoff;

/// ENOSPC and EDQUOT: the same number on every architecture but MIPS and SPARC for the second.
const NO_SPACE: i32 = 28;
const NO_QUOTA: i32 = 122;

type Done = Result<(), KernelError>;

/// What was done, line by line, in the order of the writes.
#[derive(Debug, Default)]
pub struct Written(pub Vec<String>);

/// Mode, owner and time of what is there; `None` where nothing is.
pub fn image(root: &Root, path: &str) -> Option<FileImage> {
    let meta = std::fs::symlink_metadata(root.path(path)).ok()?;
    let mtime_ns = meta.mtime().saturating_mul(1_000_000_000).saturating_add(meta.mtime_nsec());
    Some(FileImage { mode: meta.mode() & 0o7777, uid: meta.uid(), gid: meta.gid(), mtime_ns })
}

/// Takes a step.
pub fn perform(root: &Root, step: &Step, written: &mut Written) -> Done {
    written.0.push(step.line());
    match step {
        Step::EditFile { path, after, .. } => file(root, path, after.as_deref(), None),
        Step::MakeDirectory { path } => {
            let path = root.path(path);
            std::fs::create_dir(&path)
                .map_err(|error| KernelError::io("make the directory", &path, error))
                .and_then(|()| sync_parent(&path))
        }
        Step::Link { path, after, .. } => link(root, path, after.as_deref(), None),
        Step::DisableUnit { link: path, .. } => remove(&root.path(path)),
        Step::SetKnob { path, after, .. } | Step::SetOneOf { path, after, .. } => {
            let done = knob(root, path, after);
            if done.is_err() {
                // What the kernel made of the value is ours as well, and later it would look like another's.
                knob_back(root, step)?;
            }
            done
        }
        Step::MakeSwapFile { path, size } => {
            let path = root.path(path);
            // Only what a crash has left half-made is there by now.
            remove(&path)?;
            swap::create_file(&path, *size)?;
            swap::make(&path, process::page_size())?;
            sync_parent(&path)
        }
        // What follows asks the running machine; a captured tree has none.
        _ if !root.is_live() => Ok(()),
        Step::LoadModule { name } => {
            service::call("modprobe", &["--", name])?;
            settle();
            Ok(())
        }
        Step::SwapOn { path, priority } => swap::swapon(Path::new(path), *priority),
        Step::SwapOff { path, .. } => units::swapoff(root, Path::new(path)),
        Step::PauseZram { made } => units::stop(root, made),
        Step::RemakeZram { made } => units::start(made),
        Step::SizeZram { device, algorithm, size } => {
            let device = zram_device(root, device)?;
            // The rule of udev may have been quicker; where it is at work on a new device, both would set it at once.
            settle();
            if device.disksize()?.0 == 0 {
                if let Some(name) = algorithm {
                    device.set_algorithm(name)?;
                }
                device.set_disksize(*size)?;
            }
            settle();
            Ok(())
        }
        Step::FormatZram { device } => {
            swap::make(zram_device(root, device)?.node(), process::page_size())?;
            Ok(())
        }
        Step::ResetZram { device } => match number(device).map(|id| zram::Device::open(root, id)) {
            Some(device) if device.exists() => reset(root, &device),
            _ => Ok(()),
        },
        Step::ReloadUnits => reload_units(root),
        Step::ReloadRules => reload_rules(root),
        Step::Service { unit, verb: ServiceVerb::Stop } => stop(unit),
        Step::Service { unit, verb } => service::call("systemctl", &[verb.word(), "--", unit]),
        Step::Mount { what, at, fs, options } => service::call("mount", &["-t", fs, "-o", options, "--", what, at]),
    }
}

/// Takes a step back.
pub fn reverse(root: &Root, step: &Step, image: Option<FileImage>, written: &mut Written) -> Done {
    written.0.extend(step.undo_line());
    match step {
        Step::EditFile { path, before, .. } => file(root, path, before.as_deref(), image),
        Step::MakeDirectory { path } => {
            let path = root.path(path);
            match std::fs::remove_dir(&path) {
                // Somebody else has put something in: it stays.
                Err(error) if error.kind() == std::io::ErrorKind::DirectoryNotEmpty => Ok(()),
                other => other.map_err(|error| KernelError::io("remove the directory", &path, error)),
            }
        }
        Step::Link { path, before, .. } => link(root, path, before.as_deref(), image),
        Step::DisableUnit { link: path, target, .. } => link(root, path, Some(target), image),
        Step::SetKnob { .. } | Step::SetOneOf { .. } => knob_back(root, step),
        Step::MakeSwapFile { path, .. } => {
            let path = root.path(path);
            if swap::is_on(root, &path)? {
                let rule = "it is still a swap area";
                return Err(KernelError::refused("remove the swap file", path, rule, "").hint("ramline show swap"));
            }
            remove(&path)
        }
        _ if !root.is_live() => Ok(()),
        // A module that something else uses by now stays: that is no harm.
        Step::LoadModule { name } => {
            service::call("modprobe", &["--remove", "--", name]).ok();
            Ok(())
        }
        Step::SwapOn { path, .. } => {
            check_swapoff(root, Path::new(path))?;
            swap::swapoff(Path::new(path))
        }
        Step::SwapOff { path, priority } => units::swapon(root, Path::new(path), *priority),
        // Also where it is on with the new size, which is what a boot behind the edits has made.
        Step::PauseZram { made } => units::stop(root, made).and_then(|()| units::start(made)),
        Step::RemakeZram { made } => units::stop(root, made),
        Step::SizeZram { device, .. } => reset(root, &zram_device(root, device)?),
        // The header goes with the device, and a device of another program is sized by that program.
        Step::FormatZram { .. } | Step::ResetZram { .. } => Ok(()),
        Step::ReloadUnits => reload_units(root),
        Step::ReloadRules => reload_rules(root),
        Step::Service { unit, verb } => {
            if let (ServiceVerb::Start, Some(node)) = (verb, units::device_of(unit)) {
                units::may_stop(root, Path::new(&node))?;
            }
            service::call("systemctl", &[verb.reversed().word(), "--", unit])
        }
        Step::Mount { at, .. } => mount::unmount(Path::new(at)),
    }
}

/// A file with this text, whole or not at all.
fn file(root: &Root, path: &str, text: Option<&str>, image: Option<FileImage>) -> Done {
    let path = root.path(path);
    let Some(text) = text else { return remove(&path) };
    if let Some(dir) = path.parent().filter(|dir| !dir.is_dir()) {
        let hint = format!("mkdir -p {}", ramline_units::quoted_path(dir));
        return Err(KernelError::refused("write", &path, "its directory must be there", "").hint(hint));
    }
    let mode = image.map_or(0o644, |image| image.mode);
    let hint = format!("ls -ld {}", path.display());
    let whole = Output::open(&path, Format { begins: b"", mode }, &hint).and_then(|out| out.write(text.as_bytes()));
    match whole {
        Err(error) if image.is_some() && has_no_room(&error) => in_place(&path, text).map_err(|_| error)?,
        other => other.map(|_| ())?,
    }
    let Some(image) = image else { return Ok(()) };
    let failed = |error| KernelError::io("put back the owner of", &path, error);
    std::os::unix::fs::chown(&path, Some(image.uid), Some(image.gid)).map_err(failed)?;
    std::fs::set_permissions(&path, Permissions::from_mode(image.mode)).map_err(failed)?;
    let modified = UNIX_EPOCH + Duration::from_nanos(u64::try_from(image.mtime_ns).unwrap_or_default());
    let file = std::fs::OpenOptions::new().write(true).open(&path).map_err(failed)?;
    file.set_modified(modified).and_then(|()| file.sync_all()).map_err(failed)
}

fn has_no_room(error: &KernelError) -> bool {
    matches!(error.errno(), Some(NO_SPACE | NO_QUOTA))
}

/// The old text over the new one, for a disk without room for both: the blocks of the file itself are enough where that is not longer than they are.
fn in_place(path: &Path, text: &str) -> std::io::Result<()> {
    let mut file = std::fs::OpenOptions::new().write(true).custom_flags(input::CAREFUL).open(path)?;
    file.write_all(text.as_bytes())?;
    file.set_len(u64::try_from(text.len()).unwrap_or_default())?;
    file.sync_all()
}

fn remove(path: &Path) -> Done {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(KernelError::io("remove", path, error)),
        _ => sync_parent(path),
    }
}

/// A link takes the place of another in one step.
fn link(root: &Root, path: &str, target: Option<&str>, image: Option<FileImage>) -> Done {
    let path = root.path(path);
    let Some(target) = target else { return remove(&path) };
    let mut aside = path.clone().into_os_string();
    aside.push(".ramline-new");
    let aside = Path::new(&aside);
    let failed = |error| KernelError::io("make the link", &path, error);
    // Left by a run that was killed between the two.
    std::fs::remove_file(aside).ok();
    std::os::unix::fs::symlink(target, aside).map_err(failed)?;
    image.map_or(Ok(()), |image| process::restore_link(aside, image.uid, image.gid, image.mtime_ns))?;
    std::fs::rename(aside, &path).map_err(failed)?;
    sync_parent(&path)
}

fn sync_parent(path: &Path) -> Done {
    path.parent().map_or(Ok(()), process::sync_dir)
}

fn knob(root: &Root, path: &str, value: &str) -> Done {
    let path = root.path(path);
    if !is_knob(root, &path) {
        return Err(KernelError::refused("set", &path, "it is no knob that would be put back", ""));
    }
    let change = write_knob(&path, value)?;
    match change.after {
        Some(kept) if kept != value => {
            let numbers = format!("wrote {value}, the kernel kept {kept}");
            Err(KernelError::refused("set", &path, "the kernel must take the value", numbers)
                .hint(format!("cat {}", path.display())))
        }
        _ => Ok(()),
    }
}

/// A knob as it was before its step.
fn knob_back(root: &Root, step: &Step) -> Done {
    match step {
        // Written again it could act again.
        Step::SetKnob { path, before, .. } | Step::SetOneOf { path, before, .. }
            if read_knob(&root.path(path)).as_ref() == Some(before) =>
        {
            Ok(())
        }
        // The kernel takes no 0 for the one; setting the other makes it 0.
        Step::SetOneOf { before, other, other_before, .. } if before == "0" => knob(root, other, other_before),
        Step::SetKnob { path, before, .. } | Step::SetOneOf { path, before, .. } => {
            fits(&root.path(path), before)?;
            knob(root, path, before)
        }
        _ => Ok(()),
    }
}

/// A memory limit that is put back below what its group holds kills a process there, unless the rest can be reclaimed at once.
fn fits(path: &Path, limit: &str) -> Done {
    let is_limit = path.file_name().is_some_and(|name| name == "memory.max" || name == "memory.limit_in_bytes");
    let (true, Some(dir), Ok(limit)) = (is_limit, path.parent(), limit.parse().map(Bytes)) else { return Ok(()) };
    let stays = stays(&Existing::open(dir)?.stat()?);
    if stays <= limit {
        return Ok(());
    }
    let numbers = format!("it holds {stays} beside page cache, and the limit was {limit}");
    let unit = ramline_units::quoted_path(Path::new(dir.file_name().unwrap_or_default()));
    let rule = "its group must fit, lest the kernel kill a process there";
    Err(KernelError::refused("put back", path, rule, numbers)
        .hint(format!("systemctl restart {unit}; ramline tune undo")))
}

/// What a group cannot give up at once: all but clean page cache.
fn stays(stat: &GroupStat) -> Bytes {
    let of = |part: Option<Bytes>| part.unwrap_or_default();
    let cache = of(stat.inactive_file) + of(stat.active_file);
    of(stat.current).saturating_sub(cache) + (of(stat.dirty) + of(stat.writeback)).min(cache)
}

/// The device; it is added where the kernel gives it its number.
fn zram_device(root: &Root, name: &str) -> Result<zram::Device, KernelError> {
    let rule = "it must be the next zram device";
    let Some(id) = number(name) else { return Err(KernelError::refused("use", name, rule, "")) };
    let device = zram::Device::open(root, id);
    if device.exists() {
        return Ok(device);
    }
    let made = zram::hot_add(root)?;
    if made.id() == id {
        return Ok(made);
    }
    let numbers = format!("the kernel made zram{}", made.id());
    made.hot_remove()?;
    Err(KernelError::refused("use", name, rule, numbers).hint("ramline show zram"))
}

/// A device that is no swap area any more gives its memory back.
fn reset(root: &Root, device: &zram::Device) -> Done {
    if swap::is_on(root, device.node())? {
        let rule = "it is still in use as a swap area";
        return Err(KernelError::refused("reset", device.node(), rule, "").hint("ramline show swap"));
    }
    // Switching it off makes an event of udev, whose rule would give a device without a size its size again.
    settle();
    device.reset()
}

/// Stops a unit of another program. Its own command for that may fail on what is no longer its own, as one that removes a module that ramline's
/// device needs: it is stopped nevertheless, and not left behind as failed.
fn stop(unit: &str) -> Done {
    service::call("systemctl", &["stop", "--", unit])?;
    if service::is_failed(unit)? { service::call("systemctl", &["reset-failed", "--", unit]) } else { Ok(()) }
}

/// Waits until udev has done what a new device asks of it; where there is none, nothing was asked.
pub fn settle() {
    service::call("udevadm", &["settle", "--timeout=10"]).ok();
}

fn reload_units(root: &Root) -> Done {
    if service::has_systemd(root) { service::call("systemctl", &["daemon-reload"]) } else { Ok(()) }
}

fn reload_rules(root: &Root) -> Done {
    let there = root.path("/run/udev/control").exists();
    if there { service::call("udevadm", &["control", "--reload"]) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clean_page_cache_is_all_that_a_group_gives_up_at_once() {
        let mib = |n| Some(Bytes::from_mib(n));
        let stat = GroupStat {
            current: mib(100),
            inactive_file: mib(30),
            active_file: mib(20),
            dirty: mib(5),
            ..GroupStat::default()
        };
        assert_eq!(stays(&stat), Bytes::from_mib(55));
        assert!(
            fits(Path::new("/proc/sys/vm/swappiness"), "60").is_ok() && fits(Path::new("/x/memory.max"), "max").is_ok()
        );
    }
}
