//! Zones beside their marks: could one of them have served the request?
//!
//! As `__zone_watermark_ok` and `__zone_watermark_unusable_free` of mm/page_alloc.c have it: from what is free go CMA (unless the request is movable),
//! blocks kept for urgent requests, and the request's own block but one page; what is left must be above min plus what the zone keeps from requests that
//! higher zones could serve. For a block of more than one page one must be free in memory of a type the request may take.
//!
//! Worked example: 186,320 kB free, of it 163,840 kB CMA, min 22,528 kB: a request of the kernel has 22,480 kB, and fails by 48 kB.

use ramline_snapshot::kernel_log::{Gfp, Report, ZoneFigures};

use crate::prelude::*;

/// Zones by address, as the kernel numbers those that are built in.
const CLASSES: [&str; 6] = ["DMA", "DMA32", "Normal", "HighMem", "Movable", "Device"];

/// One zone.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct ZoneState {
    /// Its node.
    pub node: u32,
    /// Its name.
    pub name: String,
    /// The request may use it.
    pub allowed: bool,
    /// Memory it has.
    pub managed: Bytes,
    /// Free.
    pub free: Bytes,
    /// Free, but CMA.
    pub free_cma: Bytes,
    /// Free, but kept for urgent requests.
    pub reserved_highatomic: Bytes,
    /// What of the free memory the request may use.
    pub usable: Bytes,
    /// Its min mark.
    pub min: Bytes,
    /// What of min was added for a time, against fragmentation.
    pub boost: Bytes,
    /// Its high mark.
    pub high: Bytes,
    /// What it keeps from this request.
    pub reserve: Bytes,
    /// A block of the size is free and of a type the request may take; `None` where the line of blocks is missing.
    pub block: Option<bool>,
}

impl ZoneState {
    /// Free memory must be above this.
    #[must_use]
    pub fn mark(&self) -> Bytes {
        self.min + self.reserve
    }

    /// It is below its mark for this request.
    #[must_use]
    pub fn is_below(&self) -> bool {
        self.usable <= self.mark()
    }

    /// It could have served the request.
    #[must_use]
    pub fn could_serve(&self) -> bool {
        !self.is_below() && self.block != Some(false)
    }

    /// How far below its mark.
    #[must_use]
    pub fn short_by(&self) -> Bytes {
        self.mark().saturating_sub(self.usable)
    }
}

/// The zones of a report for its request; empty where the request or the zones are missing.
#[must_use]
pub fn zone_states(report: &Report, page: Bytes) -> Vec<ZoneState> {
    let Some((gfp, order)) = report.trigger.as_ref().and_then(|trigger| Some((trigger.gfp.as_ref()?, trigger.order?)))
    else {
        return Vec::new();
    };
    let zones: Vec<&ZoneFigures> =
        report.memory.zones.iter().filter(|zone| zone.counters.contains_key("free")).collect();
    let names: Vec<&str> = zones.iter().map(|zone| zone.name.as_str()).collect();
    let highest = highest_class(gfp, &names);
    let order = u32::try_from(order).unwrap_or_default().min(20);
    zones.iter().map(|zone| state(zone, report, gfp, order, highest, &names, page)).collect()
}

/// The class of the request (`gfp_zone`).
fn highest_class(gfp: &Gfp, names: &[&str]) -> usize {
    let class = |name: &str| CLASSES.iter().position(|class| *class == name).unwrap_or(2);
    let high = if names.contains(&"HighMem") { class("HighMem") } else { class("Normal") };
    if gfp.is_dma() && !gfp.is_high() {
        // Without such a zone the request takes the lowest there is.
        let lowest = names.iter().map(|name| class(name)).min().unwrap_or_default();
        return class("DMA").max(lowest);
    }
    if gfp.is_dma32() && !gfp.is_high() {
        return if names.contains(&"DMA32") { class("DMA32") } else { class("Normal") };
    }
    match (gfp.is_high(), gfp.is_movable()) {
        (true, true) => class("Movable"),
        (true, false) => high,
        (false, _) => class("Normal"),
    }
}

fn state(
    zone: &ZoneFigures,
    report: &Report,
    gfp: &Gfp,
    order: u32,
    highest: usize,
    names: &[&str],
    page: Bytes,
) -> ZoneState {
    let value = |name: &str| Bytes(zone.counters.get(name).copied().unwrap_or_default());
    let class = CLASSES.iter().position(|class| *class == zone.name).unwrap_or(2);
    let on_node = |nodes: &Option<String>| nodes.as_deref().is_none_or(|nodes| holds(nodes, zone.node));
    let free_cma = value("free_cma");
    let highatomic = Bytes(
        zone.counters
            .get("free_highatomic")
            .or_else(|| zone.counters.get("reserved_highatomic"))
            .copied()
            .unwrap_or_default(),
    );
    let not_mine = if gfp.is_movable() { Bytes::ZERO } else { free_cma };
    let own_block = Bytes(page.0.saturating_mul((1_u64 << order) - 1));
    let at = class_index(highest, zone.reserve.len(), names);
    let reserve =
        at.and_then(|at| zone.reserve.get(at)).map_or(Bytes::ZERO, |pages| Bytes(pages.saturating_mul(page.0)));
    ZoneState {
        node: zone.node,
        name: zone.name.clone(),
        allowed: class <= highest && on_node(&report.mems_allowed) && on_node(&report.nodemask),
        managed: Bytes(
            zone.counters.get("managed").or_else(|| zone.counters.get("present")).copied().unwrap_or_default(),
        ),
        free: value("free"),
        free_cma,
        reserved_highatomic: highatomic,
        usable: value("free").saturating_sub(not_mine).saturating_sub(highatomic).saturating_sub(own_block),
        min: value("min"),
        boost: value("boost"),
        high: value("high"),
        reserve: if class < highest { reserve } else { Bytes::ZERO },
        block: has_block(zone, gfp, Bytes(page.0 << order), order),
    }
}

/// A free block of the size, in memory of a type the request may take: unmovable, movable and reclaimable; CMA for movable requests only.
fn has_block(zone: &ZoneFigures, gfp: &Gfp, size: Bytes, order: u32) -> Option<bool> {
    if order == 0 {
        return Some(true);
    }
    if zone.blocks.is_empty() {
        return None;
    }
    let usable = |types: &Option<String>| {
        types.as_deref().is_none_or(|types| {
            types.contains(['U', 'M', 'E', 'R'])
                || types.contains('C') && gfp.is_movable()
                || types.contains('H') && gfp.is_atomic()
        })
    };
    Some(zone.blocks.iter().any(|(block, count, types)| *block >= size.0 && *count > 0 && usable(types)))
}

/// Where lowmem_reserve has the value for this class: it has one for each zone that is built in, of which not all are there.
fn class_index(class: usize, length: usize, names: &[&str]) -> Option<usize> {
    let mut built_in: Vec<usize> =
        (0..CLASSES.len()).filter(|at| names.contains(&CLASSES[*at]) || [2, 4].contains(at)).collect();
    // Zones that a machine may have without a page in them, the likeliest first: 64-bit kernels have the low ones and that of devices.
    for more in [0, 1, 5, 3] {
        let highmem = built_in.contains(&3);
        if built_in.len() < length && !built_in.contains(&more) && !(highmem && [1, 5].contains(&more)) {
            built_in.push(more);
            built_in.sort_unstable();
        }
    }
    (built_in.len() == length).then(|| built_in.iter().position(|at| *at == class)).flatten()
}

/// `0-1,4` holds a node.
fn holds(nodes: &str, node: u32) -> bool {
    nodes.split(',').any(|range| {
        let (from, to) = range.split_once('-').unwrap_or((range, range));
        matches!((from.parse::<u32>(), to.parse::<u32>()), (Ok(from), Ok(to)) if (from..=to).contains(&node))
    })
}
