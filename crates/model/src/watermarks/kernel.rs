//! The zones that the kernel's own allocations can use, of a node that has others: HighMem on 32 bits, Movable where memory is kept free to be
//! unplugged.
//!
//! Worked example: Normal of 760 MiB with 9 free and a low mark of 16, HighMem with 2.6 GiB free: reclaim has begun, whatever the sum says.

use ramline_snapshot::zoneinfo::{Zone, Zoneinfo};

use super::{Band, Distance, KernelZones, NodeMarks};
use crate::prelude::*;

/// Zones in which the kernel places nothing of its own.
const NOT_THE_KERNELS: [&str; 3] = ["HighMem", "Movable", "Device"];

/// Adds them to a node, whose band and distances are then of those that are worse off.
pub fn judge(node: &mut NodeMarks, all: &Zoneinfo, page: PageSize) {
    let own = |zone: &&Zone| !NOT_THE_KERNELS.contains(&zone.name.as_str());
    let of_node: Vec<&Zone> = all.zones.iter().filter(|zone| zone.node == node.node).collect();
    let (kernel, others): (Vec<&Zone>, Vec<&Zone>) = of_node.iter().copied().filter(|z| z.managed.0 > 0).partition(own);
    if kernel.is_empty() || others.is_empty() {
        return;
    }
    // `protection` has an entry a zone: an allocation that may use up to Normal meets that of Normal.
    let index = of_node.iter().rposition(own);
    let reserve = |zone: &Zone| Pages(index.and_then(|i| zone.protection.get(i)).copied().unwrap_or(0));
    let usable = |zone: &Zone| Pages(zone.free.0.saturating_sub(reserve(zone).0));
    let sum = |part: &dyn Fn(&Zone) -> Pages| kernel.iter().map(|zone| part(zone)).sum::<Pages>().bytes(page);
    let distance = |mark: fn(&Zone) -> Pages| {
        let above = sum(&|zone| Pages(usable(zone).0.saturating_sub(mark(zone).0)));
        let below =
            if above.0 > 0 { Bytes::ZERO } else { sum(&|zone| Pages(mark(zone).0.saturating_sub(zone.free.0))) };
        Distance { bytes: SignedBytes::difference(above, below), minutes: None }
    };
    let band = kernel.iter().map(|zone| Band::for_free(usable(zone), zone.min, zone.low, zone.high)).max();
    let names = |zones: &[&Zone]| zones.iter().map(|zone| zone.name.clone()).collect();
    let counted = |names: [&str; 2]| {
        let of = |zone: &&Zone| names.iter().map(|name| zone.stats.get(*name).copied()).sum::<Option<u64>>();
        Some(Pages(kernel.iter().map(of).sum::<Option<u64>>()?).bytes(page))
    };
    let slab = all.nodes.iter().find(|counters| counters.node == node.node);
    let slab = slab.and_then(|counters| counters.stats.get("nr_slab_reclaimable")).copied().unwrap_or(0);
    let zones = KernelZones {
        names: names(&kernel),
        others: names(&others),
        managed: sum(&|zone| zone.managed),
        free: sum(&|zone| zone.free),
        band: band.unwrap_or(Band::BelowMin),
        to_low: distance(|zone| zone.low),
        to_min: distance(|zone| zone.min),
        to_free: sum(&|zone| Pages(zone.high.0.saturating_sub(usable(zone).0))),
        reclaimable: counted(["nr_zone_inactive_file", "nr_zone_active_file"])
            .map(|files| files + Pages(slab).bytes(page)),
        anon: counted(["nr_zone_inactive_anon", "nr_zone_active_anon"]).unwrap_or_default(),
    };
    if zones.to_low.bytes < node.to_low.bytes {
        node.to_low = zones.to_low;
    }
    if zones.to_min.bytes < node.to_min.bytes {
        node.to_min = zones.to_min;
    }
    node.band = node.band.min(zones.band);
    node.kernel_zones = Some(zones);
}
