//! vm.swappiness from what a swap-in and a re-read cost: s = 200 r/(1+r), r = cost of a file page read again / cost of a swap-in.
//!
//! Measured costs give r. Where none were measured the kinds of the devices give an interval, and its end nearer to today's value is
//! taken. A disk area behind zram caps the value at 100, since that is what it stands for once zram is full.
//! It is a weight on scanning, not a price: values that stand for less than [`FAR`] times another ratio are kept.

use ramline_model::balance;
use ramline_plan::{PlanLine, Reason};
use ramline_snapshot::swaps::SwapArea;
use ramline_units::Nanos;

use super::super::desk::{Desk, Setting};
use super::super::line::{Draft, reason};
use crate::Inputs;
use crate::look;
use crate::text::nanos_of;

const TARGET: &str = "vm.swappiness";
/// Costs vary by about half from run to run, and the kernel corrects for the rest by the costs it counts itself.
const FAR: f64 = 4.0;

/// r, as an interval, and what it rests on.
struct Costs {
    low: f64,
    high: f64,
    why: Vec<Reason>,
}

pub(super) fn line(desk: &mut Desk<'_>) -> Option<PlanLine> {
    let inputs = *desk.inputs;
    let snapshot = inputs.snapshot;
    let now = u64::try_from(snapshot.settings.data()?.swappiness?).ok()?;
    let draft = |why: Reason| Draft::of(TARGET, Some(now.to_string()), why).set_by(desk.set_by(TARGET));
    let Some(areas) = look::areas(snapshot) else {
        return Some(draft(reason("which swap areas are on was not seen", "/proc/swaps")).not_known("cat /proc/swaps"));
    };
    let Some(first) = areas.first().copied() else {
        return Some(draft(reason("no swap area is on, so it weighs nothing", "/proc/swaps")).keep());
    };
    let used = look::swap_used(&areas);
    if used.0 == 0 {
        return Some(draft(reason("nothing is in swap now, so it has nothing to weigh yet", "/proc/swaps")).keep());
    }
    if look::on_root_disk(snapshot, first) {
        let why = format!(
            "{} is on the disk that files are read from: the costs are alike, and measured ones differ by noise",
            first.path
        );
        return Some(draft(reason(why, "/proc/swaps, /sys/block")).keep());
    }
    let zswap = snapshot.zswap.data().is_some_and(|zswap| zswap.enabled);
    let Some(costs) = measured(&inputs, first).or_else(|| if zswap { None } else { of_kinds(&inputs, first) }) else {
        let why = format!("what a swap-in from {} and a re-read cost here was not measured", first.path);
        return Some(draft(reason(why, "tiers")).not_known("sudo ramline measure tiers"));
    };
    let behind = areas.iter().copied().find(|area| first.zram().is_some() && area.zram().is_none());
    let mglru = look::is_mglru(snapshot);
    let advised = advised(&costs, now, behind.is_some(), mglru)?;
    let mut also = costs.why;
    let decided = also.remove(0);
    also.extend(behind.map(|area| {
        let why = format!(
            "when {} is full ({:.0} % now), pages go to {}, which is read like a disk: {} is the most that suits both",
            first.path,
            first.used.share_of(first.size).unwrap_or_default() * 100.0,
            area.path,
            balance::TWO_TIER_CEILING
        );
        reason(why, "/proc/swaps")
    }));
    if mglru {
        also.push(reason("MGLRU is on: only the direction of the formula holds", "/sys/kernel/mm/lru_gen/enabled"));
    }
    let draft = draft(decided).also(also);
    let Some(then) = advised else { return Some(draft.keep()) };
    let effect = match then > now {
        true => "idle memory of programs goes to swap before files that are read again",
        false => "programs keep their memory while files that can be read again leave",
    };
    let risk = match then > now {
        true => "more swap-ins of memory that is in use: watch pswpin (`ramline show swap --for 10`)",
        false => {
            "more re-reads of files, program code included: watch workingset_refault_file (`ramline show pressure --for 10`)"
        }
    };
    let number = |value: u64| i64::try_from(value).unwrap_or(i64::MAX);
    let setting = Setting { name: "swappiness", now: number(now), then: number(then), instead: None };
    let steps = desk.set(&[setting]);
    Some(draft.change(then.to_string(), effect.to_owned(), risk.to_owned(), steps))
}

/// The value advised where it is far from today's; `None` inside where today's is near enough.
fn advised(costs: &Costs, now: u64, spills: bool, mglru: bool) -> Option<Option<u64>> {
    let fit = |value: u64| {
        let value = if spills { value.min(balance::TWO_TIER_CEILING) } else { value };
        if mglru { value.clamp(2, 199) } else { value }
    };
    let (low, high) = (fit(balance::swappiness_for_ratio(costs.low)?), fit(balance::swappiness_for_ratio(costs.high)?));
    // The end that is nearer to today's value.
    let then = now.clamp(low, high);
    let far = stands_for(now).max(stands_for(then)) / stands_for(now).min(stands_for(then));
    Some((far >= FAR).then_some(then))
}

/// The cost ratio a value stands for, kept off the ends, where it would be nothing or without bound.
#[expect(clippy::cast_precision_loss, reason = "1 to 199")]
fn stands_for(swappiness: u64) -> f64 {
    let s = swappiness.clamp(1, balance::MAX - 1) as f64;
    s / (200.0 - s)
}

fn measured(inputs: &Inputs<'_>, first: &SwapArea) -> Option<Costs> {
    let (swap_in, reload) = (look::swap_in_cost(inputs, first)?, look::reload_cost(inputs)?);
    let tiers = inputs.tiers?;
    if [swap_in.tier, reload.tier].iter().any(|tier| look::noise(tiers, tier).is_some()) {
        return None;
    }
    // A page is compressed on its way out; a clean file page leaves for nothing.
    let packing = look::compression_cost(inputs, first);
    let cost = swap_in.mean() + packing.map_or(0.0, |cost| cost.mean());
    let r = reload.mean() / cost;
    let implied = balance::swappiness_for_ratio(r.is_finite().then_some(r)?)?;
    let with = if packing.is_some() { "a swap-in with its compression" } else { "a swap-in" };
    let why = format!(
        "a file page read again costs {}, {with} {}: r = {r:.2}, 200 r/(1+r) = {implied}",
        nanos_of(reload.mean()),
        nanos_of(cost)
    );
    let source =
        format!("measure tiers: {} (n {}), {} (n {})", reload.tier, reload.latency.n, swap_in.tier, swap_in.latency.n);
    Some(Costs { low: r, high: r, why: vec![reason(why, source)] })
}

/// What one page costs from devices of a kind, from the fastest to the slowest that is usual.
type Usual = (u64, u64);

const US: u64 = 1000;
const MS: u64 = 1_000_000;

fn of_kinds(inputs: &Inputs<'_>, first: &SwapArea) -> Option<Costs> {
    let snapshot = inputs.snapshot;
    let algorithm = look::zram_of(snapshot, first)?.algorithm.as_deref()?;
    let zram = packed(algorithm);
    // What a virtual disk is, only a measurement can say.
    let disk = look::disk_under(snapshot, "/").filter(|_| snapshot.machine.hypervisor.is_none())?;
    let file = disk_read(&disk.name, disk.rotational)?;
    #[expect(clippy::cast_precision_loss, reason = "nanoseconds below a second")]
    let (low, high) = (file.0 as f64 / zram.1 as f64, file.1 as f64 / zram.0 as f64);
    let why = format!(
        "not measured; usual for {}: {} to {} a page read again, for {algorithm}: {} to {} a page swapped out and in: r = {low:.0} to {high:.0}",
        disk.name,
        Nanos(file.0),
        Nanos(file.1),
        Nanos(zram.0),
        Nanos(zram.1)
    );
    Some(Costs { low, high, why: vec![reason(why, "kinds of devices in /sys/block")] })
}

/// A 4 KiB page compressed and later decompressed, fault included.
fn packed(algorithm: &str) -> Usual {
    match algorithm {
        "lz4" | "lzo" | "lzo-rle" => (4 * US, 20 * US),
        "zstd" => (8 * US, 40 * US),
        _ => (5 * US, 100 * US),
    }
}

/// A random read of a page.
fn disk_read(name: &str, rotational: Option<bool>) -> Option<Usual> {
    match rotational? {
        _ if name.starts_with("nvme") => Some((60 * US, 120 * US)),
        _ if name.starts_with("mmcblk") => Some((150 * US, 2 * MS)),
        true if name.starts_with("sd") => Some((4 * MS, 15 * MS)),
        false if name.starts_with("sd") => Some((80 * US, 300 * US)),
        _ => None,
    }
}
