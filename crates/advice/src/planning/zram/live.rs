//! A zram area is on: kept, unless a disk area comes before it or it is full while memory is short.

use ramline_model::zram as model;
use ramline_plan::{Goal, MadeZram, PlanLine, Step, ZramSetUp, edit, generator_units};
use ramline_snapshot::setup::ConfLine;
use ramline_snapshot::swaps::SwapArea;

use super::super::desk::Desk;
use super::super::line::{Draft, reason};
use super::super::need;
use super::{drained, fresh, generator, manager, next, priority, size};
use crate::prelude::*;

/// From this share of its size on it counts as full.
const FULL: f64 = 0.9;
/// A device that is not smaller than this part of the size that would be advised is large enough.
const NEAR_SIZE: f64 = 0.75;

pub(super) fn line(desk: &Desk<'_>, area: &SwapArea) -> Option<PlanLine> {
    let inputs = desk.inputs;
    let snapshot = inputs.snapshot;
    let ram = snapshot.mem_total()?;
    let name = area.zram()?;
    let state = model::from_snapshot(snapshot)?;
    let device = state.devices.iter().find(|device| device.name == name)?;
    let algorithm = device.algorithm.clone();
    let named = algorithm.as_deref().unwrap_or("algorithm not seen");
    let old = format!("{}, {named}, priority {}", device.disksize, area.priority);
    let draft = |text: String, source: &str| {
        Draft::new(name, Some(old.clone()), reason(text, source)).set_by(set_by(desk, name))
    };
    let gain = device.gain.as_ref().filter(|gain| gain.tells());
    let areas = look::areas(snapshot)?;
    let disks: Vec<&SwapArea> = areas.iter().copied().filter(|other| other.zram().is_none()).collect();
    let wanted = size(ram, gain.and_then(|gain| gain.effective_ratio), desk.ask.goal);
    let of = |size, priority| ZramSetUp { number: next(snapshot), algorithm: algorithm.clone(), size, priority };
    if let Some(before) = disks.iter().find(|disk| disk.priority >= area.priority) {
        let priorities: Vec<i32> = disks.iter().map(|disk| disk.priority).collect();
        let then = priority(&priorities);
        let why = format!(
            "{} (priority {}) is used before it or in turn with it, and is slower",
            before.path, before.priority
        );
        let set_up = of(device.disksize, then);
        let by_units = generator::makes(&desk.set_up.generator, name);
        let now = match area.used.0 {
            // Its unit would reset it.
            0 if !by_units => vec![
                Step::SwapOff { path: area.path.clone(), priority: Some(area.priority) },
                Step::SwapOn { path: area.path.clone(), priority: Some(then) },
            ],
            _ => drained(set_up.number, area, &set_up),
        };
        let to = (device.disksize, device.disksize, Some((area.priority, then)));
        let when = if through_units(desk, name) && !has_room(snapshot, area) { ", from the next boot on" } else { "" };
        let steps = lasting(desk, area, &set_up, &[("swap-priority", &then.to_string())], now, to);
        let effect = "what is swapped out goes to RAM, compressed, before it goes to disk".to_owned();
        let risk = match area.used.0 {
            0 => "none: nothing is in it yet".to_owned(),
            _ => format!("while it is moved {} of pages are read and written once", area.used),
        };
        return Some(draft(why, "/proc/swaps").change(format!("priority {then}{when}"), effect, risk, steps));
    }
    let full = area.used.share_of(area.size).filter(|share| *share >= FULL);
    let small = device.disksize.as_f64() < wanted.as_f64() * NEAR_SIZE;
    let short = full
        .zip(need::swap_reason(inputs))
        .map(|(share, short)| format!("it is {} full, and {}", percent(share), short.text));
    let asked =
        || (desk.ask.goal == Goal::Capacity).then(|| format!("asked for: the most data in RAM, which takes {wanted}"));
    if let Some(why) = short.or_else(asked).filter(|_| small) {
        let set_up = of(wanted, area.priority.saturating_add(1));
        let mib = (wanted.0 >> 20).to_string();
        let now = drained(set_up.number, area, &set_up);
        let to = (device.disksize, wanted, None);
        let steps = lasting(desk, area, &set_up, &[("zram-size", &mib)], now, to);
        let (made, room) = (through_units(desk, name), has_room(snapshot, area));
        let when = if made && !room { ", from the next boot on" } else { "" };
        let effect = format!(
            "room for {} more before pages spill or a process is killed",
            wanted.saturating_sub(device.disksize)
        );
        let risk = match (made, room) {
            (true, true) => format!("while it is made again, what is in it ({}) lies in RAM", area.used),
            (true, false) => {
                format!("until then nothing changes: what is in it ({}) has no room in RAM now", area.used)
            }
            (false, _) => "until the old device is drained both take RAM".to_owned(),
        };
        let new = match made {
            true => format!("{name}: {wanted}, {named}, priority {}{when}", area.priority),
            false => format!("zram{}: {wanted}, {named}, priority {}, in its place", set_up.number, set_up.priority),
        };
        return Some(draft(why, "/proc/swaps").change(new, effect, risk, steps));
    }
    let stored = gain.map(|gain| format!("it stores {} in {} of RAM", gain.stored, gain.mem_used));
    let stored = stored.unwrap_or_else(|| format!("hardly anything is in it yet ({})", area.used));
    let spill = match disks.first() {
        Some(disk) => format!("{} takes what spills", disk.path),
        None => "no disk area is below it, so a full one ends in a kill".to_owned(),
    };
    let mut also = vec![reason(spill, "/proc/swaps")];
    if device.beyond_twice_ram {
        also.push(reason(
            "it is larger than twice the RAM: its table costs RAM that it cannot earn at 2:1",
            "disksize",
        ));
    }
    Some(draft(stored, "mm_stat").also(also).keep())
}

/// What makes it at boot, the one that gives it its size last: its entry in fstab, a rule, a unit or a script, the file that has its section, a manager.
fn set_by(desk: &Desk<'_>, name: &str) -> Vec<String> {
    let fstab = desk.set_up.fstab.as_deref().unwrap_or_default();
    let entries = edit::fstab::entries(fstab).unwrap_or_default();
    let entries = entries.iter().filter(|entry| entry.what.strip_prefix("/dev/") == Some(name));
    let mut out: Vec<String> = entries.map(|entry| format!("/etc/fstab:{}", entry.line)).collect();
    let generator = &desk.set_up.generator;
    let files = generator.main.iter().chain(&generator.drop_ins);
    let files = files.filter(|file| edit::ini::sections(&file.text).any(|section| section == name));
    let managers = desk.set_up.makes_swap().filter(|manager| !manager.enabled_by.is_empty());
    let lines = &desk.set_up.zram_lines;
    let sized: Vec<_> =
        lines.iter().filter(|line| ["disksize", "zramctl"].iter().any(|word| line.text.contains(word))).collect();
    // A unit that runs a script with the name in it.
    let runs = |line: &&ConfLine| line.text.starts_with("Exec") && !line.text.contains("modprobe");
    let by: Vec<_> = if sized.is_empty() { lines.iter().filter(runs).collect() } else { sized };
    out.extend(by.iter().map(|line| format!("{}:{}", line.file, line.line)));
    out.extend(files.map(|file| file.path.clone()));
    out.extend(managers.map(|manager| format!("{} ({})", manager.unit, manager.name)));
    out
}

/// The change goes through the units of zram-generator.
fn through_units(desk: &Desk<'_>, name: &str) -> bool {
    !desk.ask.runtime_only && manager::at_boot(desk.set_up).is_none() && generator::makes(&desk.set_up.generator, name)
}

/// What is in it has room in RAM while it is made again: half of what is available, as for every area that is switched off.
fn has_room(snapshot: &Snapshot, area: &SwapArea) -> bool {
    let available = snapshot.meminfo.data().and_then(|meminfo| meminfo.mem_available);
    area.used.0 == 0 || available.is_some_and(|available| area.used.0 <= available.0 / 2)
}

/// Now, and at every boot through the file that makes the device; another maker is named with its command. `to` is its size before and afterwards, and its
/// priorities where the change is about them.
fn lasting(
    desk: &Desk<'_>,
    area: &SwapArea,
    new: &ZramSetUp,
    keys: &[(&str, &str)],
    now: Vec<Step>,
    to: (Bytes, Bytes, Option<(i32, i32)>),
) -> Result<Vec<Step>, String> {
    let name = area.zram().unwrap_or_default();
    if desk.ask.runtime_only {
        return Ok(now);
    }
    if let Some(other) = manager::at_boot(desk.set_up) {
        let drain = Step::SwapOff { path: area.path.clone(), priority: Some(area.priority) };
        return manager::replaced(other, || fresh::steps(desk, new, true), Some(drain));
    }
    let generator = &desk.set_up.generator;
    let has = |text: &str| edit::ini::sections(text).any(|section| section == name);
    if let Some(file) = generator.drop_ins.iter().find(|file| has(&file.text)) {
        return Err(format!("{} sets [{name}] and wins; change it there", file.path));
    }
    let Some(main) = generator.main.as_ref().filter(|main| has(&main.text)) else {
        let own = desk.set_up.own.keys().any(|path| path.contains("ramline-zram"));
        return Err(match own {
            true => "an earlier change of ramline makes it at boot; undo that one first: ramline tune status",
            false => {
                "what makes it at boot is no file of zram-generator; for this boot alone: ramline tune plan zram --runtime-only"
            }
        }
        .to_owned());
    };
    let after =
        edit::ini::set(Some(&main.text), name, keys).map_err(|why| format!("{} is left alone: {why}", main.path))?;
    // A file in /etc hides one of a package.
    let before = (main.path == ramline_plan::GENERATOR_CONF).then(|| main.text.clone());
    let mut steps = vec![
        Step::ReloadUnits,
        Step::EditFile { path: ramline_plan::GENERATOR_CONF.into(), before, after: Some(after) },
        Step::ReloadUnits,
    ];
    if has_room(desk.inputs.snapshot, area) {
        let made = |size, priority| MadeZram { device: name.to_owned(), units: generator_units(name), size, priority };
        let (before, after, priorities) = to;
        steps.insert(0, Step::PauseZram { made: made(before, priorities.map(|both| both.0)) });
        steps.push(Step::RemakeZram { made: made(after, priorities.map(|both| both.1)) });
    }
    Ok(steps)
}
