//! Low memory: the zones that the kernel takes its own objects from, where a node has others too.
//!
//! On 32 bits the kernel reaches at most 896 MiB directly (Normal, DMA); all above is HighMem, for pages of programs and files alone. What is free there does not
//! help an allocation of the kernel's, which waits and in the end has something killed with gigabytes free.
//!
//! Short is what is at its low watermark, so that reclaim works, while tasks wait and the zones together are well off: then it is not all of memory
//! that they wait for. Not short: kswapd at work in a low zone that nothing waits for, which is how such a machine lives.

use super::{Deciding, Verdict, of_total};
use crate::pressure::{self, PressureModel, Psi};
use crate::watermarks::{Band, KernelZones, NodeMarks};

/// The zones of the node that is worst off.
pub(super) fn short<'a>(nodes: &'a [NodeMarks], pressure: &PressureModel) -> Option<&'a KernelZones> {
    let waits = pressure.memory.as_ref().and_then(Psi::some_now).is_some_and(|some| some >= pressure::STALL_PERCENT);
    let zones = nodes.iter().filter(|node| waits && node.user_band == Band::AboveHigh);
    let zones = zones.filter_map(|node| node.kernel_zones.as_ref()).filter(|zones| zones.band <= Band::MinToLow);
    zones.min_by_key(|zones| zones.to_low.bytes)
}

/// The first line and what belongs to it.
pub(super) fn say(verdict: &mut Verdict, zones: &KernelZones, pressure: &PressureModel) {
    let some = pressure.memory.as_ref().and_then(Psi::some_now).unwrap_or_default();
    let when = if pressure.span.is_some() { "wait" } else { "waited" };
    let (left, names) = (of_total(zones.free, zones.managed), zones.names.join(" and "));
    verdict.text = format!("Low memory is short: {left} free in zone {names}; tasks {when} {some:.1} % of the time.");
    verdict.deciding = Some(Deciding::Waiting(some));
    verdict.details.push(format!(
        "The kernel takes its own objects from {names} alone: what is free in {} does not help. Try: ramline explain kernel-memory",
        zones.others.join(" and ")
    ));
}
