//! `zram-unused`: why zram, or swap at all, is not used; every step from the device to the balance.

use ramline_model::fragmentation::{Index, Order, Remedy};
use ramline_model::watermarks::{Band, NodeMarks, Watermarks, ZoneMarks};
use ramline_model::zram::{self, Rung, ZramState};

use super::opinion;
use super::watermarks::{line, minutes};
use crate::prelude::*;

pub(super) const TOPIC: Topic = Topic {
    id: "zram-unused",
    area: Area::Compressed,
    question: "Why is zram (or swap) not used?",
    wants: opinion::WANTS,
    answer,
    mechanism: &[
        "A page goes to zram only if all of this holds: the device is set up as swap; no area of higher priority has room; reclaim runs at all; and it picks anonymous pages rather than file pages.",
        "Reclaim runs when free pages of a zone fall to low: kswapd wakes. Above high it sleeps, and nothing is swapped, whatever is configured. At min, allocations stall and reclaim by themselves; then they compact, and in the end something is killed.",
        "Which pages go is decided by vm.swappiness and by what the kernel saw lately: while there are file pages that were used once and are not missed, they are reclaimed first.",
        "zram needs memory to store what it takes: if every zone is at min, it can fail at the very moment it is needed.",
        "Large blocks: where none is free, the kernel compacts when the fragmentation index is above vm.extfrag_threshold, and reclaims when it is below.",
    ],
    myth: "An idle zram device is broken or wasted: it costs about 0.4 % of its size for its table, and waits for the day memory is short.",
    to_do: "Nothing: swap is used when memory is short.",
    next: "ramline show pressure --for 2s",
};

fn answer(inputs: &Inputs<'_>, out: &mut Explanation) -> String {
    let state = zram::from_snapshot(inputs.snapshot);
    let areas = look::areas(inputs.snapshot);
    let marks = watermarks::from_snapshot(inputs.snapshot, inputs.window);
    out.add("1. zram is", Some(state.as_ref().map_or("not seen", |s| rung(s.rung))), "/sys/block/zram*, /proc/swaps");
    let container = state.as_ref().and_then(|s| s.container.clone());
    out.add(
        "1. whose it is",
        container.as_ref().map(|name| format!("the host's: this is a container ({name}), nothing can be set up here")),
        "container marker",
    );
    let step = state.as_ref().filter(|_| container.is_none()).and_then(|s| s.next.clone());
    let value = step.map(|s| s.command.map_or(s.words.clone(), |c| format!("{}: {c}", s.words)));
    out.add("1. next step, if it is wanted", value, "the zram ladder");
    match areas.as_deref() {
        None => out.put("2. swap areas", "not seen", "/proc/swaps"),
        Some([]) => out.put("2. swap areas", "none", "/proc/swaps"),
        Some(_) => {}
    }
    for area in areas.iter().flatten() {
        out.put(&format!("2. {}", area.path), look::area_words(area), "/proc/swaps, in order of use");
    }
    if marks.is_none() {
        out.put("3. zones", "not seen", "/proc/zoneinfo");
    }
    for node in marks.iter().flat_map(|m| &m.nodes) {
        zones(node, out);
    }
    balance_numbers(inputs, out);
    let starved = state.as_ref().is_some_and(|s| s.pool_starved);
    out.add(
        "5. could zram get memory itself",
        Some(match (marks.is_some(), starved) {
            (false, _) => "not known: the zones were not seen",
            (true, true) => "hardly: every zone is at min",
            (true, false) => "yes",
        }),
        "/proc/zoneinfo free, min",
    );
    if let Some(planned) = opinion::for_targets(inputs, &["zram"]) {
        out.to_do = planned;
    }
    short(inputs, state.as_ref(), areas.as_deref(), marks.as_ref())
}

fn rung(rung: Rung) -> &'static str {
    match rung {
        Rung::NotKnown => "not known here: whether this kernel has it was not seen",
        Rung::NotBuilt => "not available in this kernel",
        Rung::ModulePresent => "a module that is not loaded",
        Rung::Loaded => "loaded, without a device",
        Rung::DeviceExists => "a device without a size",
        Rung::Sized => "a device with a size, not formatted as swap",
        Rung::Formatted => "formatted as swap and not enabled",
        Rung::Active => "in use as swap",
        Rung::Outranked => "enabled as swap, behind or level with an area that is not zram",
    }
}

/// The zones with their marks, the node's distance, and what fragmentation would do.
fn zones(node: &NodeMarks, out: &mut Explanation) {
    for zone in &node.zones {
        let value = line(zone) + &lists(zone).unwrap_or_default();
        out.put(&format!("3. node {} zone {}", zone.node, zone.name), value, "/proc/zoneinfo");
    }
    let value = format!(
        "{}; to low {}{}, to min {}",
        node.band.meaning(),
        node.to_low.bytes,
        minutes(&node.to_low),
        node.to_min.bytes
    );
    out.put(&format!("3. node {}, after reserves", node.node), value, "/proc/zoneinfo, summed");
    for zone in node.zones.iter().filter(|zone| !zone.orders.is_empty()) {
        let what =
            format!("3. node {} zone {}, free blocks of order 0 to {}", zone.node, zone.name, zone.orders.len() - 1);
        out.put(&what, blocks(&zone.orders), "/proc/buddyinfo, vm.extfrag_threshold");
    }
}

/// ` 5 0 1; a block of order 3 fails: index 0, the kernel would reclaim`.
fn blocks(orders: &[Order]) -> String {
    let free: Vec<String> = orders.iter().map(|order| order.free_blocks.to_string()).collect();
    let mut out = free.join(" ");
    if let Some(order) = orders.iter().find(|order| order.index != Index::Suitable) {
        let index = match order.index {
            Index::Thousandths(index) => format!("fragmentation index {index} of 1000"),
            Index::Suitable | Index::NoFreeBlock => "no free block at all".to_owned(),
        };
        let remedy = match order.remedy {
            Some(Remedy::Compact) => ", so the kernel would compact",
            Some(Remedy::Reclaim) => ", so the kernel would reclaim",
            Some(Remedy::None) | None => "",
        };
        out.push_str(&format!("; none of order {} is left: {index}{remedy}", order.order));
    }
    out
}

/// Pages on the lists of a zone, where it reports them.
fn lists(zone: &ZoneMarks) -> Option<String> {
    Some(format!("; {} active, {} inactive, {} unevictable", zone.active?, zone.inactive?, zone.unevictable?))
}

fn balance_numbers(inputs: &Inputs<'_>, out: &mut Explanation) {
    let mglru = look::is_mglru(inputs.snapshot);
    let Some(s) = inputs.snapshot.settings.data().and_then(|s| u64::try_from(s.swappiness?).ok()) else {
        out.put("4. the balance", "not seen", "/proc/sys/vm/swappiness");
        return;
    };
    let now = balance::for_swappiness(s, mglru);
    let weights = balance::weights(s, 1, 1);
    let value = if mglru {
        format!("vm.swappiness {s}; MGLRU compares refaults, so no share is known")
    } else {
        format!(
            "vm.swappiness {s}: {}:{} for anonymous against file pages at equal costs (estimated: the kernel does not show its costs), {} to {} at the extremes",
            weights.anon,
            weights.file,
            percent(now.file_costless),
            percent(now.anon_costless)
        )
    };
    out.put("4. the balance", value, "s·(3T+1)/(T+a+1) against (200−s)·(3T+1)/(T+f+1)");
    out.meminfo(inputs, "4. file pages used once, reclaimed first", "Inactive(file)");
    out.meminfo(inputs, "4. anonymous pages not used lately", "Inactive(anon)");
}

fn short(
    inputs: &Inputs<'_>,
    state: Option<&ZramState>,
    areas: Option<&[&SwapArea]>,
    marks: Option<&Watermarks>,
) -> String {
    let Some(areas) = areas else { return unseen(inputs, "swaps") };
    if areas.iter().any(|area| area.used.0 > 0 && area.zram().is_some()) {
        let zram: Vec<&SwapArea> = areas.iter().copied().filter(|area| area.zram().is_some()).collect();
        let stored = look::swap_used(&zram);
        return match look::kill_ahead(inputs.snapshot) {
            Some(_) => format!("zram is in use and full: it stores {stored} of pages, and no swap area takes more."),
            None => format!("zram is in use: it stores {stored} of pages."),
        };
    }
    if areas.is_empty() {
        let rung = state.map_or("not seen", |s| rung(s.rung));
        let host = state.and_then(|s| s.container.as_ref());
        let host = host.map(|name| format!(" This is a container ({name}): swap belongs to its host."));
        return format!("No area is enabled as swap; zram is {rung}.{}", host.unwrap_or_default());
    }
    let over = state.filter(|s| s.rung == Rung::Outranked).map(|s| &s.devices);
    if let Some(over) = over.and_then(|devices| devices.iter().find_map(|d| d.outranked_by.as_ref())) {
        return capital(&over.words()) + ".";
    }
    let nearest = marks.and_then(|m| m.nodes.iter().min_by_key(|n| n.to_low.bytes));
    match nearest {
        Some(node) if node.band == Band::AboveHigh => format!(
            "Nothing has to be reclaimed: {} more can be used on node {} before kswapd wakes{}.",
            node.to_low.bytes,
            node.node,
            minutes(&node.to_low)
        ),
        Some(node) => format!(
            "Node {} is low on free pages: {}. File pages are reclaimed first, by the balance of step 4.",
            node.node,
            node.band.meaning()
        ),
        None => unseen(inputs, "zoneinfo"),
    }
}
