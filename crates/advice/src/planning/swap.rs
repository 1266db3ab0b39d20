//! Swap on disk: kept, or a file where there is none, memory is short and a disk allows it.
//!
//! What a machine hibernates to is never touched.

use ramline_plan::{Goal, PlanLine, Reason, Step, edit};
use ramline_snapshot::mounts::{self, Mount};
use ramline_snapshot::swaps::SwapArea;

use super::desk::Desk;
use super::line::{Draft, reason};
use super::need;
use crate::prelude::*;

/// Where a file is made, the first place that allows one.
const PLACES: [&str; 2] = ["/swapfile", "/var/swapfile"];
/// File systems on which a file without holes keeps its blocks.
const FIT: [&str; 3] = ["ext4", "xfs", "ext3"];
/// The largest file that is planned: what more RAM wants in swap a person decides.
const MOST: Bytes = Bytes::from_gib(8);
const LEAST: Bytes = Bytes::from_mib(512);
/// Of the free space, at most one part in so many is taken.
const SHARE: u64 = 4;
/// Below every zram, above an area without a priority of its own.
const PRIORITY: i32 = 10;
/// What a file that is not there yet is called.
pub(super) const TARGET: &str = "swap on disk";

pub(super) fn plan(desk: &mut Desk<'_>) {
    let Some(areas) = look::areas(desk.inputs.snapshot) else { return };
    let disks: Vec<SwapArea> = areas.into_iter().filter(|area| area.zram().is_none()).cloned().collect();
    let kept: Vec<PlanLine> = disks.iter().map(|area| kept(desk, area)).collect();
    desk.lines.extend(kept);
    let off = not_on(desk, &disks);
    desk.lines.extend(off);
    if disks.is_empty() {
        let line = file(desk);
        desk.lines.extend(line);
    }
}

fn kept(desk: &Desk<'_>, area: &SwapArea) -> PlanLine {
    let snapshot = desk.inputs.snapshot;
    let spills = look::areas(snapshot).into_iter().flatten().any(|other| other.zram().is_some());
    let why = if spills { "it takes what no longer fits into zram" } else { "it takes idle memory" };
    let old = format!("{}, {} used, priority {}", area.size, area.used, area.priority);
    let mut also: Vec<Reason> = Vec::new();
    also.extend(desk.set_up.resume.as_ref().map(|resume| {
        reason(
            format!("{} is what a hibernated system is resumed from", resume.value),
            format!("{}:{}", resume.file, resume.line),
        )
    }));
    if desk.set_up.encrypted.iter().any(|name| area.path.ends_with(&format!("/{name}"))) {
        also.push(reason("it is encrypted", "/etc/crypttab"));
    }
    Draft::new(&area.path, Some(old), reason(why, "/proc/swaps")).set_by(set_by(desk, area)).also(also).keep()
}

/// Its line in fstab, where that names it as the kernel does.
fn set_by(desk: &Desk<'_>, area: &SwapArea) -> Vec<String> {
    let fstab = desk.set_up.fstab.as_deref().unwrap_or_default();
    let entries = edit::fstab::entries(fstab).unwrap_or_default();
    entries.iter().filter(|entry| entry.what == area.path).map(|entry| format!("/etc/fstab:{}", entry.line)).collect()
}

/// A file that fstab names as swap and that is not on.
fn not_on(desk: &Desk<'_>, on: &[SwapArea]) -> Vec<PlanLine> {
    let fstab = desk.set_up.fstab.as_deref().unwrap_or_default();
    let entries = edit::fstab::entries(fstab).unwrap_or_default();
    let missing = entries.iter().filter(|entry| {
        // What is named by a UUID may be any of the areas.
        entry.fs == "swap"
            && entry.what.starts_with('/')
            && entry.option("noauto").is_none()
            && !entry.what.starts_with("/dev/disk/")
            && !entry.what.starts_with("/dev/mapper/")
            && on.iter().all(|area| area.path != entry.what)
    });
    let line = |entry: &edit::fstab::Entry<'_>| {
        let why = reason("fstab names it as swap, and it is not on", format!("/etc/fstab:{}", entry.line));
        Draft::new(entry.what, Some("off".to_owned()), why).not_known(format!("sudo swapon {}", entry.what))
    };
    missing.map(line).collect()
}

fn file(desk: &mut Desk<'_>) -> Option<PlanLine> {
    let snapshot = desk.inputs.snapshot;
    let ram = snapshot.mem_total()?;
    let draft = |why: Reason| Draft::new(TARGET, None, why);
    if let Some(container) = &snapshot.machine.container {
        return Some(draft(reason(format!("this is a container ({container}): swap is the host's"), "machine")).keep());
    }
    if let Some(by_load) = desk.ask.by_load.as_ref().filter(|by_load| !by_load.is_on_disk()) {
        return Some(by_load.draft(TARGET, None, false).keep());
    }
    let wanted = match desk.ask.goal {
        Goal::Capacity => {
            Some(reason("asked for: the most data in RAM, so what is idle goes to disk", "--goal capacity"))
        }
        Goal::FlashWear => None,
        Goal::Balanced | Goal::Latency => need::swap_reason(desk.inputs),
    };
    let draft = match (&desk.ask.by_load, wanted) {
        (Some(by_load), _) => by_load.draft(TARGET, None, true),
        (None, Some(wanted)) => draft(wanted),
        (None, None) => {
            let other = reason("with a swap file: ramline tune plan swap --goal capacity", "");
            return Some(draft(need::none(desk.inputs)).also([other]).keep());
        }
    };
    let (place, size) = match place(desk, ram) {
        Ok(found) => found,
        Err(why) => return Some(draft.change("a swap file", String::new(), String::new(), Err(why))),
    };
    let entry = format!("{place} none swap sw,pri={PRIORITY} 0 0");
    let steps = steps(desk, place, size, &entry);
    let effect = format!("up to {size} of idle memory makes room for what is in use");
    let risk = "a swap-in waits for the disk; a program that grows without end thrashes before it is killed".to_owned();
    Some(draft.change(format!("{place}, {size}, priority {PRIORITY}"), effect, risk, steps))
}

fn steps(desk: &mut Desk<'_>, place: &str, size: Bytes, entry: &str) -> Result<Vec<Step>, String> {
    if desk.ask.runtime_only {
        // A swap file is there after a reboot, on or not.
        return Err("a swap file stays after a reboot, so it is no change for this boot alone".to_owned());
    }
    let fstab = desk.set_up.fstab.as_deref();
    edit::fstab::entries(fstab.unwrap_or_default()).map_err(|why| format!("/etc/fstab is left alone: {why}"))?;
    let edited = desk.edit("/etc/fstab", fstab, |text| Ok(edit::fstab::with_entry(text, entry)))?;
    let path = place.to_owned();
    Ok(vec![
        Step::ReloadUnits,
        Step::MakeSwapFile { path: path.clone(), size },
        edited,
        Step::ReloadUnits,
        Step::SwapOn { path, priority: Some(PRIORITY) },
    ])
}

/// Where a file can be, and how large; why nowhere.
fn place(desk: &Desk<'_>, ram: Bytes) -> Result<(&'static str, Bytes), String> {
    let seen = desk.inputs.snapshot.mounts.data();
    let mounted = seen.map(Vec::as_slice).unwrap_or_default();
    let mut refused = Vec::new();
    for place in PLACES {
        let Some(mount) = mounts::holding(mounted, place) else { continue };
        if desk.set_up.swap_files.iter().any(|path| path == place) {
            refused.push(format!("{place} is there already"));
            continue;
        }
        match room(mount, ram) {
            Ok(size) => return Ok((place, size)),
            Err(why) => refused.push(format!("{place}: {why}")),
        }
    }
    refused.dedup();
    Err(format!(
        "no place for a swap file: {}",
        if refused.is_empty() { "the mounts were not seen".to_owned() } else { refused.join("; ") }
    ))
}

fn room(mount: &Mount, ram: Bytes) -> Result<Bytes, String> {
    if !FIT.contains(&mount.fs.as_str()) {
        return Err(format!(
            "{} on {} is no place for one without preparation (copy-on-write, RAM or network)",
            mount.fs, mount.at
        ));
    }
    if mount.options.split(',').any(|option| option == "ro") {
        return Err(format!("{} is read-only", mount.at));
    }
    let free = mount
        .capacity
        .map(|capacity| capacity.available)
        .ok_or_else(|| format!("the room on {} was not seen", mount.at))?;
    let size = Bytes(ram.0 / 2).max(Bytes::from_gib(1)).min(MOST).min(Bytes(free.0 / SHARE));
    let whole = Bytes(size.0 >> 24 << 24);
    if whole < LEAST {
        return Err(format!("{free} are free on {}, of which at most a quarter is taken", mount.at));
    }
    Ok(whole)
}
