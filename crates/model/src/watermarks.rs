//! How far each zone is from the moment reclaim begins: the watermarks in bytes, bands, and minutes.
//!
//! The answer to "why is swap (or zram) not used?". kswapd wakes when free pages fall to `low`,
//! sleeps again above `high`; at `min` allocations reclaim by themselves. Not a forecast: minutes say how
//! long free memory would last if it went on shrinking as over the window.
//!
//! Formulas (`__setup_per_zone_wmarks`, mm/page_alloc.c):
//! `min = min_free_pages · managed / Σ managed`, `gap = max(min/4, managed · watermark_scale_factor / 10000)`,
//! `low = min + gap`, `high = low + gap`. Below `wsf* = 2500 · min_free_kbytes / managed_kB` the scale factor has
//! no effect, because min/4 is larger.
//!
//! The reserve (`protection`) keeps low zones for allocations that can use no other: an ordinary allocation
//! sees a zone's free pages less its reserve. The node's distances are sums over zones of what is left above. Where the kernel cannot use all of
//! them for its own objects (HighMem, Movable), the sum over those that it can counts too, and the smaller of the two is the node's.
//!
//! Worked example: min 10187, low 12733, high 15279 pages and 20000 free: 28.4 MiB above waking kswapd.

use ramline_snapshot::zoneinfo::{Zone, Zoneinfo};

use crate::fragmentation::{self, Order};
use crate::prelude::*;

/// Readings over less time are no ground for a forecast.
pub const LEAST_SPAN: Nanos = Nanos(60_000_000_000);

worded! {
    /// Where free pages stand against the watermarks.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
    #[serde(rename_all = "snake_case")]
    pub enum Band {
        /// At `min` or below.
        BelowMin = "allocations stop and reclaim by themselves, compact, and in the end something is killed",
        /// Above `min`, at `low` or below.
        MinToLow = "kswapd is awake and reclaims in the background",
        /// Above `low`, at `high` or below.
        LowToHigh = "kswapd reclaims only if it is already awake",
        /// Above `high`.
        AboveHigh = "kswapd sleeps: nothing is reclaimed, so nothing is swapped",
    }
    /// What the kernel does in this band.
    meaning
}

impl Band {
    /// The band; at a watermark counts as below it, as in the kernel's test `free <= mark`.
    #[must_use]
    pub fn for_free(free: Pages, min: Pages, low: Pages, high: Pages) -> Band {
        if free <= min {
            Band::BelowMin
        } else if free <= low {
            Band::MinToLow
        } else if free <= high {
            Band::LowToHigh
        } else {
            Band::AboveHigh
        }
    }
}

/// Bytes to a watermark, and how long they last.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Distance {
    /// Free above the watermark; negative below it.
    pub bytes: SignedBytes,
    /// Minutes to `low` if free memory went on shrinking as over the window; `None` without a window of a minute, or when free
    /// memory is steady or grows, or the watermark is behind already. Always `None` for `min`: below `low` kswapd
    /// frees as well, so the slope does not go on.
    pub minutes: Option<f64>,
}

/// One populated zone.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ZoneMarks {
    /// NUMA node.
    pub node: u32,
    /// DMA, DMA32, Normal, Movable.
    pub name: String,
    /// Memory the allocator manages here.
    pub managed: Bytes,
    /// Free here; the lists of the CPUs are not in it.
    pub free: Bytes,
    /// Of it, reserved for devices (CMA): only pages that can be moved may use it, so the kernel's own test of a watermark leaves it out
    /// (`__zone_watermark_unusable_free`), and kswapd works until the rest is above high.
    #[serde(default, skip_serializing_if = "no_bytes")]
    pub cma_free: Bytes,
    /// The watermarks, boost included.
    pub min: Bytes,
    /// kswapd wakes here.
    pub low: Bytes,
    /// kswapd sleeps above this.
    pub high: Bytes,
    /// Temporary addition to all three.
    pub boost: Option<Bytes>,
    /// Kept from ordinary allocations, which could use a higher zone.
    pub reserve: Bytes,
    /// Where `free` stands.
    pub band: Band,
    /// To waking kswapd.
    pub to_low: Distance,
    /// To stalls.
    pub to_min: Distance,
    /// On the active lists, anonymous and file.
    pub active: Option<Bytes>,
    /// On the inactive lists, anonymous and file.
    pub inactive: Option<Bytes>,
    /// On the unevictable list.
    pub unevictable: Option<Bytes>,
    /// Free blocks by order with the fragmentation index; empty where buddyinfo was not seen.
    pub orders: Vec<Order>,
}

/// Of a node with zones that the kernel cannot use for its own objects (HighMem, Movable): those that it can.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct KernelZones {
    /// Their names.
    pub names: Vec<String>,
    /// Those that are for programs and files alone.
    pub others: Vec<String>,
    /// Managed memory.
    pub managed: Bytes,
    /// Free memory.
    pub free: Bytes,
    /// The band of the one that is best off.
    pub band: Band,
    /// What the kernel can take for itself before kswapd wakes.
    pub to_low: Distance,
    /// The same until it stalls.
    pub to_min: Distance,
    /// What kswapd has to free, once it is awake, until it sleeps again: up to the high watermarks.
    #[serde(default)]
    pub to_free: Bytes,
    /// What it can free there without swap: page cache, and the node's reclaimable kernel objects, which lie in these zones. `None` where the
    /// kernel does not count it by zone (before 4.8).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reclaimable: Option<Bytes>,
    /// What it can move to swap.
    #[serde(default)]
    pub anon: Bytes,
}

/// One NUMA node: sums over its populated zones.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct NodeMarks {
    /// Its number.
    pub node: u32,
    /// Managed memory.
    pub managed: Bytes,
    /// Free memory.
    pub free: Bytes,
    /// Sum of `min`.
    pub min: Bytes,
    /// Sum of `low`.
    pub low: Bytes,
    /// Sum of `high`.
    pub high: Bytes,
    /// The band of the zone that is best off for ordinary allocations: they go there before anything is reclaimed. Of those and the
    /// kernel's own the one that is worse off, where they differ.
    pub band: Band,
    /// The same of ordinary allocations alone: of memory of programs and files.
    #[serde(default = "above_high")]
    pub user_band: Band,
    /// What allocations can take before kswapd wakes: over zones, free − low − reserve where positive; of ordinary ones and the kernel's own
    /// the smaller.
    pub to_low: Distance,
    /// The same until they stall.
    pub to_min: Distance,
    /// The zones of the kernel's own allocations, where it cannot use all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kernel_zones: Option<KernelZones>,
    /// Its populated zones.
    pub zones: Vec<ZoneMarks>,
}

/// What `watermark_scale_factor` does here.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ScaleFactor {
    /// Its value.
    pub value: u64,
    /// `min_free_kbytes` in bytes.
    pub min_free: Bytes,
    /// Below this value it changes nothing.
    pub crossover: f64,
    /// `value > crossover`.
    pub has_effect: bool,
    /// The gap between two watermarks, all zones together, at this value.
    pub gap: Bytes,
}

/// Watermarks of the whole machine.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Watermarks {
    /// By node.
    pub nodes: Vec<NodeMarks>,
    /// RAM that no zone manages yet: some kernels hand it out when a zone comes near its watermark, before kswapd is woken. A node's
    /// distances count it where there is one node; a zone's do not, since which zone will get it is not known.
    pub not_handed_out: Bytes,
    /// `None` where the settings were not seen.
    pub scale: Option<ScaleFactor>,
    /// `vm.extfrag_threshold`: the kernel compacts when the fragmentation index is above it.
    pub extfrag_threshold: Option<i64>,
}

/// `min` of a zone in pages: its share of `min_free_kbytes` by size; `None` without managed pages.
#[must_use]
pub fn min_pages(min_free_kbytes: u64, managed: Pages, all_managed: Pages, page: PageSize) -> Option<Pages> {
    let pages = min_free_kbytes.saturating_mul(1024).checked_div(page.0)?;
    let wide = u128::from(pages) * u128::from(managed.0);
    u64::try_from(wide.checked_div(u128::from(all_managed.0))?).ok().map(Pages)
}

/// The gap between two watermarks of a zone in pages: `max(min/4, managed · wsf / 10000)`.
#[must_use]
pub fn gap_pages(min: Pages, managed: Pages, scale_factor: u64) -> Pages {
    let scaled = u128::from(managed.0) * u128::from(scale_factor) / 10_000;
    Pages((min.0 / 4).max(u64::try_from(scaled).unwrap_or(u64::MAX)))
}

/// The scale factor below which it has no effect: `2500 · min_free / managed`; `None` without managed memory.
#[must_use]
pub fn crossover(min_free: Bytes, managed: Bytes) -> Option<f64> {
    Some(2500.0 * min_free.share_of(managed)?)
}

/// The watermarks; `window` supplies minutes. `None` without zoneinfo.
#[must_use]
pub fn from_snapshot(snapshot: &Snapshot, window: Option<Window<'_>>) -> Option<Watermarks> {
    let zoneinfo = snapshot.zoneinfo.data()?;
    let page = snapshot.machine.page_size;
    let settings = snapshot.settings.data();
    let threshold = settings.and_then(|s| s.extfrag_threshold);
    let managed: Bytes = zoneinfo.zones.iter().map(|z| z.managed.bytes(page)).sum();
    // Memory that is added between the two files is handed out.
    let not_handed_out = snapshot.mem_total().map_or(Bytes::ZERO, |total| total.saturating_sub(managed));
    // Two seconds of a copy are no trend.
    let window = window.filter(|w| w.span >= LEAST_SPAN);
    // Until all RAM is handed out, free pages of a zone fall and rise without memory getting short or plenty.
    let settled = window.filter(|_| not_handed_out.0 == 0);
    let mut nodes: Vec<Vec<ZoneMarks>> = Vec::new();
    for zone in zoneinfo.zones.iter().filter(|z| z.managed.0 > 0) {
        let free = |z: &Zoneinfo| z.zones.iter().find(|z| z.node == zone.node && z.name == zone.name).map(|z| z.free.0);
        let slope = settled.and_then(|w| w.slope(|s| free(s.zoneinfo.data()?)));
        let blocks =
            snapshot.buddyinfo.data().and_then(|b| b.zones.iter().find(|b| b.node == zone.node && b.zone == zone.name));
        let orders = blocks.map(|b| fragmentation::orders(&b.free, threshold)).unwrap_or_default();
        let marks = zone_marks(zone, zoneinfo, page, slope, orders);
        match nodes.iter_mut().find(|zones| zones[0].node == zone.node) {
            Some(zones) => zones.push(marks),
            None => nodes.push(vec![marks]),
        }
    }
    let single = nodes.len() == 1;
    let node = |zones: Vec<ZoneMarks>| {
        let node = zones[0].node;
        let free = |z: &Zoneinfo| z.zones.iter().filter(|z| z.node == node).map(|z| z.free).sum::<Pages>().0;
        let slope = settled.and_then(|w| w.slope(|s| s.zoneinfo.data().map(free)));
        // MemFree counts what is not handed out; which node that belongs to is known only where there is one.
        let unsettled = window.filter(|_| single && slope.is_none());
        let all = unsettled.and_then(|w| w.slope(|s| s.meminfo.data()?.mem_free?.0.checked_div(page.0)));
        let spare = if single { not_handed_out } else { Bytes::ZERO };
        let mut marks = node_marks(node, zones, page, slope.or(all), spare);
        kernel::judge(&mut marks, zoneinfo, page);
        marks
    };
    let nodes = nodes.into_iter().map(node).collect();
    let scale = settings.and_then(|s| {
        let value = u64::try_from(s.watermark_scale_factor?).ok()?;
        scale_factor(zoneinfo, page, value, Bytes::from_kib(u64::try_from(s.min_free_kbytes?).ok()?))
    });
    Some(Watermarks { nodes, not_handed_out, scale, extfrag_threshold: threshold })
}

fn zone_marks(zone: &Zone, all: &Zoneinfo, page: PageSize, slope: Option<f64>, orders: Vec<Order>) -> ZoneMarks {
    let stat = |a: &str, b: &str| Some((zone.stat(a)? + zone.stat(b)?).bytes(page));
    let cma = Pages(zone.stats.get("nr_free_cma").copied().unwrap_or(0)).min(zone.free);
    let usable = Pages(zone.free.0.saturating_sub(cma.0));
    let distance = |mark: Pages| distance(SignedBytes::difference(usable.bytes(page), mark.bytes(page)), page, slope);
    ZoneMarks {
        node: zone.node,
        name: zone.name.clone(),
        managed: zone.managed.bytes(page),
        free: zone.free.bytes(page),
        cma_free: cma.bytes(page),
        min: zone.min.bytes(page),
        low: zone.low.bytes(page),
        high: zone.high.bytes(page),
        boost: zone.boost.map(|b| b.bytes(page)),
        reserve: reserve(zone, all).bytes(page),
        band: Band::for_free(usable, zone.min, zone.low, zone.high),
        to_low: distance(zone.low),
        to_min: Distance { minutes: None, ..distance(zone.min) },
        active: stat("nr_zone_active_anon", "nr_zone_active_file"),
        inactive: stat("nr_zone_inactive_anon", "nr_zone_inactive_file"),
        unevictable: zone.stat("nr_zone_unevictable").map(|n| n.bytes(page)),
        orders,
    }
}

/// The entry of `protection` that movable user memory meets: that of the zone Movable, or the last.
fn reserve(zone: &Zone, all: &Zoneinfo) -> Pages {
    let index = all.zones.iter().filter(|z| z.node == zone.node).position(|z| z.name == "Movable");
    Pages(index.and_then(|i| zone.protection.get(i)).or(zone.protection.last()).copied().unwrap_or(0))
}

fn distance(bytes: SignedBytes, page: PageSize, pages_per_s: Option<f64>) -> Distance {
    let loss_per_s = pages_per_s.map_or(0.0, |slope| -slope) * Bytes(page.0).as_f64();
    let left = bytes.or_zero();
    let minutes = (loss_per_s > 0.0 && left.0 > 0).then(|| left.as_f64() / loss_per_s / 60.0);
    Distance { bytes, minutes }
}

fn node_marks(node: u32, zones: Vec<ZoneMarks>, page: PageSize, slope: Option<f64>, spare: Bytes) -> NodeMarks {
    let sum = |part: &dyn Fn(&ZoneMarks) -> Bytes| zones.iter().map(part).sum::<Bytes>();
    let net = |mark: fn(&ZoneMarks) -> Bytes| {
        let above = sum(&|z| z.free.saturating_sub(mark(z) + z.reserve + z.cma_free)) + spare;
        // With nothing left above, say how far below the node is.
        let below =
            if above.0 > 0 { Bytes::ZERO } else { sum(&|z| mark(z).saturating_sub(z.free.saturating_sub(z.cma_free))) };
        distance(SignedBytes::difference(above, below), page, slope)
    };
    let usable = |z: &ZoneMarks| Pages(z.free.saturating_sub(z.reserve + z.cma_free).0);
    let band = |z: &ZoneMarks| Band::for_free(usable(z), Pages(z.min.0), Pages(z.low.0), Pages(z.high.0));
    let band = zones.iter().map(band).max().unwrap_or(Band::BelowMin);
    NodeMarks {
        node,
        managed: sum(&|z| z.managed),
        free: sum(&|z| z.free),
        min: sum(&|z| z.min),
        low: sum(&|z| z.low),
        high: sum(&|z| z.high),
        // A zone that comes near its mark is given more first.
        band: if spare > Bytes::ZERO { Band::AboveHigh } else { band },
        user_band: if spare > Bytes::ZERO { Band::AboveHigh } else { band },
        kernel_zones: None,
        to_low: net(|z| z.low),
        to_min: Distance { minutes: None, ..net(|z| z.min) },
        zones,
    }
}

fn scale_factor(all: &Zoneinfo, page: PageSize, value: u64, min_free: Bytes) -> Option<ScaleFactor> {
    let managed: Pages = all.zones.iter().map(|z| z.managed).sum();
    let crossover = crossover(min_free, managed.bytes(page))?;
    let gap = |z: &Zone| Some(gap_pages(min_pages(min_free.0 / 1024, z.managed, managed, page)?, z.managed, value));
    let gap: Pages = all.zones.iter().filter_map(gap).sum();
    Some(ScaleFactor {
        value,
        min_free,
        crossover,
        has_effect: Bytes(value).as_f64() > crossover,
        gap: gap.bytes(page),
    })
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
const fn no_bytes(bytes: &Bytes) -> bool {
    bytes.0 == 0
}

const fn above_high() -> Band {
    Band::AboveHigh
}

mod kernel;
#[cfg(test)]
mod tests;
