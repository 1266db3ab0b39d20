//! Swap areas that units of systemd own: whatever is done to one goes through its units.
//!
//! zram-generator binds the unit that sizes a device to the unit of its swap: swapoff(8) on such a device makes systemd stop the first, which resets the
//! device, a moment later. Switched on again it has no size and no header, so only the units can make it again.

use std::path::Path;

use ramline_kernel::{KernelError, Root, service, swap, zram};
use ramline_plan::MadeZram;

use super::perform::settle;
use super::probe::number;
use crate::swapoff::check_swapoff;

type Done = Result<(), KernelError>;

fn systemctl(verb: &str, unit: &str) -> Done {
    service::call("systemctl", &[verb, "--", unit])
}

/// The device is in use as it is told here. Sizes that are a share of the RAM move by some pages from boot to boot.
pub fn is_as(root: &Root, made: &MadeZram) -> Result<bool, KernelError> {
    let node = format!("/dev/{}", made.device);
    let Some(area) = swap::areas(root)?.into_iter().find(|area| area.path == node) else { return Ok(false) };
    let Some(device) = number(&made.device).map(|id| zram::Device::open(root, id)) else { return Ok(false) };
    let size = device.disksize()?.0;
    Ok(made.priority.is_none_or(|priority| priority == area.priority)
        && size.abs_diff(made.size.0) <= made.size.0 / 100)
}

/// Stops what makes a device: it is off and has no size then.
pub fn stop(root: &Root, made: &MadeZram) -> Done {
    let node = format!("/dev/{}", made.device);
    may_stop(root, Path::new(&node))?;
    let mut failed = None;
    for unit in made.units.iter().rev() {
        failed = failed.or(systemctl("stop", unit).err());
    }
    settle();
    if swap::is_on(root, Path::new(&node))? {
        return failed.map_or(Ok(()), Err);
    }
    // udev looks at a device that was just switched off; a unit that resets it in that moment is refused by the kernel, and left behind as failed.
    for unit in &made.units {
        if service::is_failed(unit)? {
            systemctl("reset-failed", unit)?;
        }
    }
    match number(&made.device).map(|id| zram::Device::open(root, id)) {
        Some(device) if device.exists() && device.disksize()?.0 > 0 => device.reset(),
        _ => Ok(()),
    }
}

/// Makes it again from the files as they are.
pub fn start(made: &MadeZram) -> Done {
    for unit in &made.units {
        systemctl("start", unit)?;
    }
    settle();
    Ok(())
}

/// Refuses where the pages of an area that is on have no room elsewhere.
pub fn may_stop(root: &Root, node: &Path) -> Done {
    if swap::is_on(root, node)? { check_swapoff(root, node) } else { Ok(()) }
}

/// The zram device that a unit switches off when it is stopped: that of its swap, or that of ramline's own unit.
pub fn device_of(unit: &str) -> Option<String> {
    let of = |begin: &str, end: &str| Some(unit.strip_prefix(begin)?.strip_suffix(end)?.to_owned());
    let name = of("dev-", ".swap").or_else(|| of("ramline-", ".service"))?;
    number(&name).map(|_| format!("/dev/{name}"))
}

/// The unit of an area, where a file or a generator made it: systemd knows every area, also one that it only found.
fn unit_of(root: &Root, path: &Path) -> Option<String> {
    let unit = Some(service::swap_unit(path)).filter(|_| root.is_live() && service::has_systemd(root))?;
    service::property(&unit, "FragmentPath").map(|_| unit)
}

/// Switches an area off.
pub fn swapoff(root: &Root, path: &Path) -> Done {
    check_swapoff(root, path)?;
    if let Some(unit) = unit_of(root, path) {
        systemctl("stop", &unit)?;
    }
    if swap::is_on(root, path)? { swap::swapoff(path) } else { Ok(()) }
}

/// Switches it on again: a zram device that was reset meanwhile is made by what is bound to it or needed by it.
pub fn swapon(root: &Root, path: &Path, priority: Option<i32>) -> Done {
    let device = path.file_name().and_then(|name| number(name.to_str()?)).map(|id| zram::Device::open(root, id));
    let is_bare = |device: &zram::Device| !device.exists() || device.disksize().is_ok_and(|size| size.0 == 0);
    let unit = unit_of(root, path);
    if device.as_ref().is_some_and(is_bare) && service::has_systemd(root) {
        let makers = service::property(&service::swap_unit(path), "BoundBy").unwrap_or_default();
        for maker in makers.split_whitespace() {
            systemctl("restart", maker)?;
        }
    }
    if swap::is_on(root, path)? {
        return Ok(());
    }
    match unit {
        Some(unit) => systemctl("start", &unit),
        None => swap::swapon(path, priority),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ramline_units::Bytes;

    #[test]
    fn the_device_of_a_unit_is_that_of_its_name() {
        assert_eq!(device_of("dev-zram0.swap").as_deref(), Some("/dev/zram0"));
        assert_eq!(device_of("ramline-zram1.service").as_deref(), Some("/dev/zram1"));
        assert_eq!((device_of("dev-sda1.swap"), device_of("ramline-maintain.timer")), (None, None));
    }

    #[test]
    fn a_device_is_as_it_was_by_its_size_and_priority_in_use() {
        let dir = tempfile::tempdir().unwrap();
        let tree = |name: &str, text: &str| {
            let path = dir.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        let areas = |rows: &str| tree("proc/swaps", &format!("Filename Type Size Used Priority\n{rows}"));
        areas("/dev/zram0 partition 131068 0 100\n");
        tree("sys/block/zram0/disksize", "134217728\n");
        let root = Root::new(dir.path());
        let made =
            |mib, priority| MadeZram { device: "zram0".into(), units: vec![], size: Bytes::from_mib(mib), priority };
        let of = |made: &MadeZram| is_as(&root, made).unwrap();
        assert!(of(&made(128, None)) && of(&made(128, Some(100))) && of(&made(127, None)));
        assert!(!of(&made(128, Some(50))) && !of(&made(960, None)));
        areas("");
        assert!(!of(&made(128, None)));
    }
}
