//! zram: none, kept, or set up with size, algorithm and a priority above every disk area.
//!
//! The size follows from the RAM that a full device may take: a quarter, half for more capacity, times the ratio measured on a device that
//! is there or 2, and never beyond twice the RAM. A device in use is never reset: a second one takes its place and the first is drained.

mod fresh;
mod generator;
mod live;
mod manager;
mod pages;
mod zswap;

use ramline_plan::{PlanLine, Step};
use ramline_units::Ratio;

use super::desk::Desk;
use crate::prelude::*;

/// What is taken where no device tells: text and code compress 2:1 to 4:1, and zsmalloc costs some of it.
const ASSUMED: f64 = 2.0;
/// Sizes are whole so many bytes.
const UNIT: u64 = 16 << 20;

pub(super) fn plan(desk: &mut Desk<'_>) {
    let line = line(desk);
    desk.lines.extend(line);
    let zswap = zswap::line(desk);
    desk.lines.extend(zswap);
}

fn line(desk: &mut Desk<'_>) -> Option<PlanLine> {
    let snapshot = desk.inputs.snapshot;
    let areas = look::areas(snapshot)?;
    match areas.iter().find(|area| area.zram().is_some()) {
        Some(area) => live::line(desk, area),
        None => fresh::line(desk),
    }
}

/// The algorithm that these pages speak for.
pub(super) fn algorithm_by_pages(
    profile: &ramline_evidence::pages::PageProfile,
    snapshot: &Snapshot,
) -> Option<String> {
    pages::choose(profile, snapshot, ramline_plan::Goal::Balanced, None)?.algorithm
}

/// The size at which a full device takes so much of the RAM as the goal allows.
fn size(ram: Bytes, ratio: Option<Ratio>, goal: ramline_plan::Goal) -> Bytes {
    let share = match goal {
        ramline_plan::Goal::Capacity | ramline_plan::Goal::FlashWear => 0.5,
        ramline_plan::Goal::Balanced | ramline_plan::Goal::Latency => 0.25,
    };
    let wanted = bytes_of(ram.as_f64() * share * ratio.map_or(ASSUMED, |ratio| ratio.0.max(1.0)));
    let most = wanted.min(Bytes(ram.0.saturating_mul(2)));
    Bytes((most.0 / UNIT).max(1) * UNIT)
}

/// Above every disk area, so that these take what spills.
fn priority(disks: &[i32]) -> i32 {
    let highest = disks.iter().copied().max().unwrap_or(-1);
    if highest < 100 { 100 } else { highest.saturating_add(10).min(32767) }
}

/// The next device the kernel would make.
fn next(snapshot: &Snapshot) -> u32 {
    let numbers = snapshot.zram.data().into_iter().flat_map(|zram| &zram.devices);
    numbers
        .filter_map(|device| device.name.strip_prefix("zram")?.parse::<u32>().ok())
        .max()
        .map_or(0, |n| n.saturating_add(1))
}

/// A second device at its priority, and the first drained into it: nothing in it is lost, and nothing is reset.
fn drained(second: u32, old: &ramline_snapshot::swaps::SwapArea, set_up: &ramline_plan::ZramSetUp) -> Vec<Step> {
    let mut steps = ramline_plan::for_this_boot(&ramline_plan::ZramSetUp { number: second, ..set_up.clone() }, true);
    steps.push(Step::SwapOff { path: old.path.clone(), priority: Some(old.priority) });
    steps
}
