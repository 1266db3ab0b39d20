//! A timer that maintains zram swap, where there is something to maintain: a backing device, or a second algorithm.
//!
//! Without either nothing is planned: compaction alone is worth no timer, since zsmalloc compacts by itself when memory is short.

use ramline_plan::{PlanLine, Topic, UPKEEP, UPKEEP_TIMER, UnitProgram, ZramLook, upkeep_timer};
use ramline_snapshot::swaps::SwapArea;

use super::desk::Desk;
use super::line::{Draft, reason};
use crate::prelude::*;

/// What it is called in a plan.
const TARGET: &str = "zram maintenance";

pub(super) fn plan(desk: &mut Desk<'_>) {
    let line = line(desk);
    desk.lines.extend(line);
}

fn line(desk: &Desk<'_>) -> Option<PlanLine> {
    let snapshot = desk.inputs.snapshot;
    let asked = desk.ask.topics.contains(&Topic::Maintain);
    let devices = looks(snapshot);
    let own = |path: &str| desk.set_up.own.get(path).map(String::as_str);
    let old = own(UPKEEP_TIMER).map(|_| "every 10 min".to_owned());
    let Some(work) = devices.iter().find(|device| device.has_work()) else {
        let why = match devices.first() {
            None => "no zram device is used as swap".to_owned(),
            Some(device) if device.is_bare() => "this kernel's zram has neither writeback nor recompression".to_owned(),
            Some(device) => format!("{} has no backing device and no second algorithm", device.device),
        };
        return asked.then(|| Draft::new(TARGET, old, reason(why, "/sys/block")).keep());
    };
    let what = match work.backing.as_deref().filter(|backing| *backing != "none") {
        Some(backing) => {
            format!("{} has {backing} behind it, and nothing is written there unless it is asked for", work.device)
        }
        None => format!("{} has a second algorithm, which is used only when it is asked for", work.device),
    };
    let draft = Draft::new(TARGET, old, reason(what, format!("/sys/block/{}", work.device)));
    if own(UPKEEP_TIMER).is_some() && own(UPKEEP).is_some() {
        return Some(draft.keep());
    }
    let effect = "pages not used for an hour leave RAM, at most 1 GiB a day to the backing device".to_owned();
    let risk = "a page that is used again after all waits for that device".to_owned();
    Some(draft.change("every 10 min", effect, risk, steps(desk)))
}

fn steps(desk: &Desk<'_>) -> Result<Vec<ramline_plan::Step>, String> {
    if desk.ask.runtime_only {
        return Err("a timer stays after a reboot, so it is no change for this boot alone".to_owned());
    }
    if !desk.set_up.systemd {
        return Err("no systemd runs this machine: let cron run `ramline swap maintain --once`".to_owned());
    }
    if let Some(other) = desk.set_up.makes_swap().find(|manager| !manager.enabled_by.is_empty()) {
        return Err(format!("{} ({}) manages swap here, and its devices are left to it", other.name, other.unit));
    }
    let program = match &desk.ask.program {
        None => return Err("which program the timer would run is not known from here".to_owned()),
        Some(Err(why)) => return Err(why.clone()),
        Some(Ok(program)) => UnitProgram { path: program.clone(), state: desk.ask.state.clone() },
    };
    let own = |path: &str| desk.set_up.own.get(path).map(String::as_str);
    Ok(upkeep_timer(&program, (own(UPKEEP), own(UPKEEP_TIMER))))
}

/// The zram devices in use as swap.
fn looks(snapshot: &Snapshot) -> Vec<ZramLook> {
    let areas: Vec<&SwapArea> = look::areas(snapshot).unwrap_or_default();
    let in_use = |name: &str| areas.iter().any(|area| area.path.strip_prefix("/dev/") == Some(name));
    let devices = snapshot.zram.data().into_iter().flat_map(|zram| &zram.devices);
    devices
        .filter(|device| in_use(&device.name))
        .map(|device| ZramLook {
            device: device.name.clone(),
            backing: device.backing_dev.clone(),
            second: device
                .recompression
                .as_ref()
                .map(|text| text.lines().filter(|line| line.contains('[')).map(str::to_owned).collect()),
        })
        .collect()
}
