//! `watermarks`: when the kernel begins to reclaim, per zone, in MiB and minutes.

use ramline_model::watermarks::{Distance, ZoneMarks};

use crate::prelude::*;

pub(super) const TOPIC: Topic = Topic {
    id: "watermarks",
    area: Area::Pressure,
    question: "When does the kernel begin to reclaim?",
    wants: LIGHT,
    answer,
    mechanism: &[
        "Every zone has three marks for its free pages. Below low kswapd wakes and reclaims in the background, above high it sleeps again, at min allocations stop and reclaim by themselves.",
        "min comes from vm.min_free_kbytes, by the zone's size; the gap to low and from low to high is the larger of min/4 and size · watermark_scale_factor / 10000.",
        "So a small scale factor does nothing: below 2500 · min_free_kbytes / memory (in KiB) the quarter of min decides.",
    ],
    myth: "Swapping begins when RAM is nearly full: it begins when free pages reach low, and most RAM is full of cache by then.",
    to_do: "Nothing while no task waits; where allocations stall, raise vm.watermark_scale_factor above the value shown.",
    next: "ramline show pressure",
};

fn answer(inputs: &Inputs<'_>, out: &mut Explanation) -> String {
    let seen = watermarks::from_snapshot(inputs.snapshot, inputs.window);
    for zone in seen.iter().flat_map(|marks| &marks.nodes).flat_map(|node| &node.zones) {
        out.put(&format!("node {} zone {}", zone.node, zone.name), line(zone), "/proc/zoneinfo");
    }
    let scale = seen.as_ref().and_then(|marks| marks.scale);
    out.add("vm.min_free_kbytes", scale.map(|s| s.min_free), "/proc/sys/vm/min_free_kbytes");
    let words = scale.map(|s| format!("{}, takes effect above {:.1}; gap {}", s.value, s.crossover, s.gap));
    out.add("vm.watermark_scale_factor", words, "/proc/sys/vm/watermark_scale_factor");
    if seen.iter().flat_map(|marks| &marks.nodes).flat_map(|node| &node.zones).any(|zone| zone.cma_free.0 > 0) {
        out.put(
            "CMA",
            "reserved for devices; only movable pages (process memory, page cache) may use it meanwhile",
            "/proc/zoneinfo nr_free_cma",
        );
    }
    let low = seen.iter().flat_map(|marks| &marks.nodes).filter(|node| node.to_low.bytes.is_negative());
    if let Some(zones) = low.filter_map(|node| node.kernel_zones.as_ref()).next() {
        out.to_do = format!(
            "What is free in {} does not help: the kernel's own objects must lie in {}. What fills it: ramline explain kernel-memory.",
            zones.others.join(" and "),
            zones.names.join(" and ")
        );
    }
    let nearest = seen.as_ref().and_then(|m| m.nodes.iter().min_by_key(|n| n.to_low.bytes));
    match nearest {
        Some(node) if node.to_low.bytes.is_negative() => {
            format!(
                "The kernel reclaims already: node {} is {} below the mark at which kswapd wakes.",
                node.node,
                node.to_low.bytes.magnitude()
            )
        }
        Some(node) => {
            format!(
                "Reclaim begins when {} more is used on node {}{}.",
                node.to_low.bytes,
                node.node,
                minutes(&node.to_low)
            )
        }
        None => unseen(inputs, "zoneinfo"),
    }
}

/// `5.2 GiB free of 8.0 GiB; min 41.5 MiB, low …, high …; 5.1 GiB above low`.
pub(super) fn line(zone: &ZoneMarks) -> String {
    let side = if zone.to_low.bytes.is_negative() { "below" } else { "above" };
    let cma = match zone.cma_free {
        Bytes::ZERO => String::new(),
        bytes => format!(" ({bytes} of it CMA, which the marks do not count)"),
    };
    format!(
        "{} free{cma} of {}; min {}, low {}, high {}; {} {side} low{}",
        zone.free,
        zone.managed,
        zone.min,
        zone.low,
        zone.high,
        zone.to_low.bytes.magnitude(),
        minutes(&zone.to_low)
    )
}

/// `, in 12 min if it went on like over the window`, or nothing.
pub(super) fn minutes(distance: &Distance) -> String {
    distance.minutes.map(|m| format!(", in {m:.0} min if it went on like over the window")).unwrap_or_default()
}
