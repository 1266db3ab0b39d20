//! No zram area is on: none is needed, or one is set up.

use ramline_model::pages::Ranged;
use ramline_model::zram as model;
use ramline_plan::{Goal, PlanLine, Reason, Step, ZramSetUp, for_this_boot, without_generator};

use super::super::desk::Desk;
use super::super::line::{Draft, reason};
use super::super::{need, swap};
use super::{generator, manager, next, pages, priority, size};
use crate::prelude::*;
use ramline_units::Ratio;

/// So much of the RAM in swap on disk is worth keeping in RAM, compressed.
const MUCH_ON_DISK: f64 = 0.05;
/// Below it a page in zram frees less than a tenth of itself, for a compression out and another in.
const LEAST_RATIO: f64 = 1.1;

/// What most kernels choose.
const USUAL: &str = "lzo-rle";

pub(super) fn line(desk: &mut Desk<'_>) -> Option<PlanLine> {
    let (inputs, goal) = (desk.inputs, desk.ask.goal);
    let snapshot = inputs.snapshot;
    let ram = snapshot.mem_total()?;
    let areas = look::areas(snapshot)?;
    let draft = |why: Reason| Draft::new("zram", None, why);
    if let Some(container) = &snapshot.machine.container {
        return Some(draft(reason(format!("this is a container ({container}): zram is the host's"), "machine")).keep());
    }
    if snapshot.zswap.data().is_some_and(|zswap| zswap.enabled) && !areas.is_empty() {
        let why = "zswap is on and compresses in front of the swap on disk already; with zram pages would be compressed twice";
        return Some(draft(reason(why, "/sys/module/zswap/parameters/enabled")).keep());
    }
    let by_load = desk.ask.by_load.as_ref();
    if let Some(by_load) = by_load.filter(|by_load| by_load.zram().is_none()) {
        return Some(by_load.draft("zram", None, false).keep());
    }
    let wanted = wanted(desk, ram).filter(|_| goal != Goal::FlashWear || !areas.is_empty());
    let Some(wanted) = wanted else {
        let other = reason("for more data in the same RAM: ramline tune plan zram --goal capacity", "");
        return Some(draft(need::none(inputs)).also([other]).keep());
    };
    let zram = snapshot.zram.data()?;
    let support = &zram.support;
    if !support.control && support.builtin != Some(true) {
        match support.module_installed {
            Some(true) => {}
            Some(false) => return Some(draft(reason("this kernel has no zram module", "/lib/modules")).keep()),
            None => {
                return Some(
                    draft(reason("whether this kernel has zram was not seen", "/lib/modules"))
                        .not_known("modprobe --dry-run zram"),
                );
            }
        }
    }
    let (number, in_the_way) = number(desk, &zram.devices);
    let disks: Vec<i32> = areas.iter().map(|area| area.priority).collect();
    let state = model::from_snapshot(snapshot);
    let gain = state
        .as_ref()
        .into_iter()
        .flat_map(|state| &state.devices)
        .filter_map(|device| device.gain.as_ref())
        .find(|gain| gain.tells());
    let tried = by_load.and_then(|by_load| by_load.zram().flatten());
    let chosen = desk.ask.pages.as_ref().and_then(|pages| pages::choose(pages, snapshot, goal, tried));
    let ranged = chosen.as_ref().and_then(|chosen| chosen.ratio);
    if let Some(why) = ranged.filter(|_| by_load.is_none()).and_then(gains_nothing) {
        let measured = chosen.into_iter().flat_map(|chosen| chosen.why).skip(1);
        let below = reason("what does not compress belongs on disk: ramline tune plan swap", "");
        return Some(draft(why).also(measured).also([wanted, below]).keep());
    }
    let ratio = ranged.map(|ranged| Ratio(ranged.value)).or_else(|| gain.and_then(|gain| gain.effective_ratio));
    let size = size(ram, ratio, goal);
    let (algorithm, of_algorithm) = match chosen {
        Some(chosen) => (chosen.algorithm, chosen.why),
        None if tried.is_some() => (tried.map(str::to_owned), Vec::new()),
        None => {
            let kernels = zram.devices.iter().find_map(|device| device.algorithm.clone());
            let (algorithm, why) = algorithm(inputs, kernels, goal);
            (algorithm, vec![why])
        }
    };
    let set_up = ZramSetUp { number, algorithm, size, priority: priority(&disks) };
    let full = Bytes(bytes_of(size.as_f64() / ratio.map_or(super::ASSUMED, |ratio| ratio.0)).0);
    let of_size = match ratio {
        Some(_) if ranged.is_some() => pool(size, ranged, snapshot),
        Some(ratio) => format!("at the {ratio} measured here {size} take {full} of RAM when full"),
        None => format!("at 2:1, which was not measured here, {size} take {full} of RAM when full"),
    };
    let mut also: Vec<Reason> = by_load.map(|by_load| by_load.why[1].clone()).into_iter().collect();
    also.push(reason(of_size, "MemTotal"));
    also.extend(of_algorithm);
    let differs = desk.ask.pages_of.join("; ");
    also.extend((ranged.is_some() && !differs.is_empty()).then(|| {
        reason(
            format!(
                "the profile is of another machine or another time ({differs}): ratios hold where the load is the same"
            ),
            "measure pages",
        )
    }));
    also.push(match areas.first() {
        Some(first) => reason(format!("{} stays below it for what spills", first.path), "/proc/swaps"),
        None if desk.changes(swap::TARGET) => reason("the swap file of this plan is below it for what spills", ""),
        None => reason("there is no disk area below it: when it is full, a process is killed", "/proc/swaps"),
    });
    let named = set_up.algorithm.clone().unwrap_or_else(|| "the kernel's algorithm".to_owned());
    let new = format!("zram{number}: {size}, {named}, priority {}", set_up.priority);
    let slots = slots(size, snapshot);
    let effect = format!(
        "idle memory takes {} of its room instead of staying whole or going to disk: {} more",
        ratio.map_or_else(|| "about half".to_owned(), |ratio| percent(ratio.0.max(1e-3).recip())),
        more(size, full, ranged)
    );
    let risk = format!("{slots} for its table at once; pages that do not compress gain nothing (`ramline show zram`)");
    let make = || in_the_way.map_or_else(|| steps(desk, &set_up, support.control), Err);
    let steps = match manager::at_boot(desk.set_up) {
        Some(other) => manager::replaced(other, make, None),
        None => make(),
    };
    let of_the_kernel = zram.devices.iter().find_map(|device| device.algorithm.clone());
    desk.zram = steps.is_ok().then(|| set_up.algorithm.or(of_the_kernel).unwrap_or_else(|| USUAL.to_owned()));
    Some(draft(wanted).also(also).change(new, effect, risk, steps))
}

/// Pages of which even the upper end of the ratio saves next to nothing: held in zram they cost time and no less RAM.
fn gains_nothing(ratio: Ranged) -> Option<Reason> {
    let most = ratio.interval.map_or(ratio.value, |interval| interval.high);
    (most < LEAST_RATIO).then(|| {
        let saved = percent(1.0 - most.max(1.0).recip());
        reason(
            format!("these pages hardly compress: in zram they would save at most {saved} of their RAM"),
            "measure pages",
        )
    })
}

/// Which zram device to set up, and why not, where something is in the way. A device that a file makes at the next boot is taken first;
/// otherwise the first one that is free.
fn number(desk: &Desk<'_>, devices: &[ramline_snapshot::zram::ZramDevice]) -> (u32, Option<String>) {
    let mut in_the_way = None;
    let files = &desk.set_up.generator;
    if files.program.is_some() && !desk.ask.runtime_only {
        match generator::off(files, devices) {
            Ok(Some(number)) => return (number, None),
            Ok(None) => {}
            Err(why) => in_the_way = Some(why),
        }
    }
    let mut taken = generator::named(files);
    taken.extend(manager::number(desk.set_up));
    let bare = devices.iter().filter(|device| device.disksize.0 == 0);
    let mut bare = bare.filter_map(|device| device.name.strip_prefix("zram")?.parse().ok());
    let number = bare.find(|number| !taken.contains(number));
    let number = number.or_else(|| (next(desk.inputs.snapshot)..).find(|number| !taken.contains(number)));
    (number.unwrap_or_default(), in_the_way)
}

/// Why zram is wanted; `None` where it is not.
fn wanted(desk: &Desk<'_>, ram: Bytes) -> Option<Reason> {
    let inputs = desk.inputs;
    if let Some(by_load) = &desk.ask.by_load {
        let [why, _] = by_load.why.clone();
        return Some(why);
    }
    match desk.ask.goal {
        Goal::Capacity => return Some(reason("asked for: the most data in RAM", "--goal capacity")),
        Goal::FlashWear => {
            return Some(reason(
                "asked for: pages that are compressed in RAM are not written to disk",
                "--goal flash-wear",
            ));
        }
        Goal::Balanced | Goal::Latency => {}
    }
    let used = look::swap_used(&look::areas(inputs.snapshot)?);
    if used.share_of(ram).is_some_and(|share| share >= MUCH_ON_DISK) {
        return Some(reason(format!("{used} of memory is in swap on disk"), "/proc/swaps"));
    }
    need::swap_reason(inputs)
}

/// The fastest one measured, where short waits are asked for; otherwise the kernel's, since no ratio of these pages was measured.
fn algorithm(inputs: &Inputs<'_>, kernels: Option<String>, goal: Goal) -> (Option<String>, Reason) {
    let tiers = inputs.tiers.into_iter().flat_map(|tiers| &tiers.tiers);
    let reads = tiers.filter_map(|tier| Some((tier.tier.strip_prefix("zram-")?, tier.latency?.mean_ns)));
    let both = reads.filter(|(name, _)| !name.contains('/')).filter_map(|(name, read)| {
        let write = inputs.tiers?.tier(&format!("zram-{name}/write"))?.latency?.mean_ns;
        Some((name.to_owned(), read + write))
    });
    let fastest = both.min_by(|a, b| a.1.total_cmp(&b.1)).filter(|_| goal == Goal::Latency);
    match (fastest, kernels) {
        (Some((name, ns)), _) => {
            let why = format!("{name} is the fastest measured here: {} a page out and in", nanos_of(ns));
            (Some(name), reason(why, "measure tiers"))
        }
        (None, Some(name)) => {
            let why =
                format!("{name} is this kernel's choice; which one suits these pages: sudo ramline measure pages");
            (Some(name), reason(why, "comp_algorithm"))
        }
        (None, None) => (
            None,
            reason(
                "the algorithm is left to the kernel: none was measured on these pages (sudo ramline measure pages)",
                "",
            ),
        ),
    }
}

/// What a full device takes, by the ratio of these pages, with its table of slots.
fn pool(size: Bytes, ranged: Option<Ranged>, snapshot: &Snapshot) -> String {
    let Some(ranged) = ranged else { return String::new() };
    let slots = slots(size, snapshot);
    let between = ranged.interval.map(|interval| {
        format!(" ({} to {})", size_at_ratio(size, interval.high) + slots, size_at_ratio(size, interval.low) + slots)
    });
    let full = size_at_ratio(size, ranged.value) + slots;
    format!("full, its pool and table take {full}{} of RAM for {size}", between.unwrap_or_default())
}

/// Room gained, between what where the ratio has an interval.
fn more(size: Bytes, full: Bytes, ranged: Option<Ranged>) -> String {
    match ranged.and_then(|ranged| ranged.interval) {
        Some(interval) => format!(
            "{} to {}",
            size.saturating_sub(size_at_ratio(size, interval.low)),
            size.saturating_sub(size_at_ratio(size, interval.high))
        ),
        None => format!("up to {}", size.saturating_sub(full)),
    }
}

fn size_at_ratio(size: Bytes, ratio: f64) -> Bytes {
    bytes_of(size.as_f64() / ratio.max(1e-3))
}

fn slots(size: Bytes, snapshot: &Snapshot) -> Bytes {
    Bytes((size.0 / snapshot.machine.page_size.0.max(1)).saturating_mul(model::SLOT_BYTES))
}

/// How it is made, by what the machine uses.
pub(super) fn steps(desk: &Desk<'_>, zram: &ZramSetUp, loaded: bool) -> Result<Vec<Step>, String> {
    let set_up = desk.set_up;
    if desk.ask.runtime_only {
        return Ok(for_this_boot(zram, loaded));
    }
    if !set_up.systemd {
        return Err(
            "without systemd it is not set up at boot; for this boot alone: ramline tune plan zram --runtime-only"
                .to_owned(),
        );
    }
    if let Some(own) = set_up.own.keys().find(|path| path.contains("ramline-zram")) {
        return Err(format!(
            "{own} is there from an earlier change, and no zram is on; look at it first: systemctl status 'ramline-zram*'"
        ));
    }
    let generator = &set_up.generator;
    if generator.program.is_none() {
        // Of what is built in the command line of the kernel alone says how many devices there are.
        let builtin = desk.inputs.snapshot.zram.data().is_some_and(|seen| seen.support.builtin == Some(true));
        return match builtin && zram.number > 0 {
            true => Err(format!(
                "zram is built into this kernel and has no device {} at boot; install zram-generator",
                zram.number
            )),
            false => Ok(without_generator(zram, loaded)),
        };
    }
    generator::steps(zram, generator)
}
