//! Low memory: the zones that the kernel takes its own objects from, where a node has others too.
//!
//! On 32 bits the kernel reaches at most 896 MiB directly (Normal, DMA); all above is HighMem, for pages of programs and files alone. What is free there does not
//! help an allocation of the kernel's, which waits and in the end has something killed with gigabytes free.
//!
//! Short is what is at its low watermark while the zones together are well off, and
//! - tasks wait: then it is not all of memory that they wait for; or
//! - kswapd cannot bring it back: what can be reclaimed there is less than what is missing up to the high watermark, at which it sleeps again. The next
//!   allocations of the kernel's then end at the last free page.
//!
//! Not short: kswapd at work in a low zone that nothing waits for, which is how such a machine lives.
//!
//! Worked example: Normal of 316 MiB with 19 free, a low mark of 19 and a high one of 23, 230 MiB of kernel objects in use and no page of a file in it.

use super::room::Room;
use super::{Deciding, Verdict, amount_of};
use crate::pressure::{self, PressureModel, Psi};
use crate::watermarks::{Band, KernelZones, NodeMarks};

/// The zones of the node that is worst off.
pub(super) fn short<'a>(nodes: &'a [NodeMarks], pressure: &PressureModel, room: Room) -> Option<&'a KernelZones> {
    let is_short = |zones: &&KernelZones| zones.band <= Band::MinToLow && (waits(pressure) || is_used_up(zones, room));
    let zones = nodes.iter().filter(|node| node.user_band == Band::AboveHigh);
    zones.filter_map(|node| node.kernel_zones.as_ref()).filter(is_short).min_by_key(|zones| zones.to_low.bytes)
}

fn waits(pressure: &PressureModel) -> bool {
    pressure.memory.as_ref().and_then(Psi::some_now).is_some_and(|some| some >= pressure::STALL_PERCENT)
}

/// Less can be reclaimed than kswapd has to free; not where it is not known what can.
fn is_used_up(zones: &KernelZones, room: Room) -> bool {
    let swapped = match room.swap {
        Some(swap) => swap.min(zones.anon),
        None => zones.anon,
    };
    zones.reclaimable.is_some_and(|bytes| bytes + swapped < zones.to_free)
}

/// The first line and what belongs to it.
pub(super) fn say(verdict: &mut Verdict, zones: &KernelZones, pressure: &PressureModel) {
    let left = amount_of(zones.free, zones.managed);
    let names = format!("{} {}", if zones.names.len() == 1 { "zone" } else { "zones" }, zones.names.join(" and "));
    if waits(pressure) {
        let some = pressure.memory.as_ref().and_then(Psi::some_now).unwrap_or_default();
        let when = if pressure.span.is_some() { "wait" } else { "waited" };
        verdict.text = format!("Low memory is short: {left} free in {names}; tasks {when} {some:.1} % of the time.");
        verdict.deciding = Some(Deciding::Waiting(some));
    } else {
        verdict.text = format!("Low memory is nearly used up: {left} free in {names}, next to nothing to reclaim.");
        verdict.deciding = Some(Deciding::Available(zones.free));
    }
    verdict.details.push(format!(
        "The kernel takes its own objects from {} alone: what is free in {} does not help. Try: ramline explain kernel-memory",
        zones.names.join(" and "),
        zones.others.join(" and ")
    ));
}
