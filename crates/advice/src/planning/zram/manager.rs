//! Another program that makes swap at boot: its unit is switched off in the plan where what it does is known, and left to its owner where not.
//!
//! zram-tools is one script: `zramswap.service` gives /dev/zram0 its size and switches it on, and starts nothing else. A device of ramline's own
//! takes its place, and its own is drained into that and reset; undone, its unit is started and makes it again.

use ramline_plan::{ServiceVerb, Step};
use ramline_snapshot::setup::{Manager, SetUp};

/// Programs whose place can be taken, by name, and the device their unit makes.
const KNOWN: [(&str, &str); 1] = [("zram-tools", "zram0")];

/// One that is switched on at boot.
pub(super) fn at_boot(set_up: &SetUp) -> Option<&Manager> {
    set_up.makes_swap().find(|manager| !manager.enabled_by.is_empty())
}

/// The number of the device that its unit makes: never one of ours while that may be at work.
pub(super) fn number(set_up: &SetUp) -> Option<u32> {
    let name = &at_boot(set_up)?.name;
    let (_, device) = KNOWN.iter().find(|(known, _)| known == name)?;
    device.strip_prefix("zram")?.parse().ok()
}

/// What is done around the steps that make the device that takes its place: none of its own swap is in use behind `drain`.
///
/// # Errors
/// It is not known what else it does.
pub(super) fn replaced(
    manager: &Manager,
    make: impl FnOnce() -> Result<Vec<Step>, String>,
    drain: Option<Step>,
) -> Result<Vec<Step>, String> {
    let Manager { name, unit, enabled_by } = manager;
    let known = KNOWN.iter().find(|(known, _)| known == name).map(|(_, device)| *device);
    let Some(device) = known.filter(|_| enabled_by.iter().all(|link| !link.target.is_empty())) else {
        return Err(format!("{name} ({unit}) makes swap at boot; first: sudo systemctl disable --now {unit}"));
    };
    let mut steps = vec![Step::ReloadUnits];
    steps.extend(enabled_by.iter().map(|link| Step::DisableUnit {
        unit: unit.clone(),
        link: link.path.clone(),
        target: link.target.clone(),
    }));
    steps.extend(make()?);
    steps.extend(drain);
    steps.push(Step::Service { unit: unit.clone(), verb: ServiceVerb::Stop });
    steps.push(Step::ResetZram { device: device.to_owned() });
    Ok(steps)
}
