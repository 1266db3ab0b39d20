//! Swap areas in the order the kernel uses them, and stock (what lies there) apart from flow (what moves).
//!
//! Priorities, striping, and whether a faster area stands behind a slower one; whether swap in use is
//! harmless. Not a judgement by "used" alone: pages swapped out long ago and never touched cost nothing.
//!
//! Worked example: 2 GiB used, no page read or written per second: harmless. The same with 4,000 reads a second: active.

mod slots;

use ramline_snapshot::swaps::SwapArea;
use ramline_snapshot::vmstat::Vmstat;
use ramline_snapshot::zram::ZramDevice;
use ramline_snapshot::{blocks, mounts};

use crate::prelude::*;

pub use slots::Slots;

/// Below so many swap-ins a second waiting is under 1 % of one thread's time even at 10 ms each, the slowest disk.
pub const HARMLESS_PAGES_PER_S: f64 = 1.0;

/// Pages that a swap-in from a disk reads at once, by `vm.page-cluster`; `None` where it is beyond any kernel's range.
#[must_use]
pub fn read_ahead_pages(page_cluster: u32) -> Option<u64> {
    1u64.checked_shl(page_cluster)
}

/// What kind of device is behind an area. Faster kinds first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum AreaKind {
    /// Compressed RAM.
    Zram,
    /// A device that does not rotate, or says so.
    Flash,
    /// A rotating disk, or one that says so.
    Rotating,
    /// Not known.
    Unknown,
}

/// One area.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Area {
    /// Device or file.
    pub path: String,
    /// What is behind it.
    pub kind: AreaKind,
    /// A file on a file system, not a device of its own.
    pub is_file: bool,
    /// What the device claims; virtual disks often claim wrongly.
    pub rotational: Option<bool>,
    /// Capacity, uncompressed.
    pub size: Bytes,
    /// In use. Gauge.
    pub used: Bytes,
    /// Share in use.
    pub share: Option<f64>,
    /// The higher the sooner.
    pub priority: i32,
    /// Place in the order of use, from 1; equal priorities share a place.
    pub turn: usize,
    /// Other areas of equal priority: pages go to them in turn.
    pub striped_with: Vec<String>,
    /// The first area used before this one although its kind is slower.
    pub outranked_by: Option<String>,
    /// What its slots in use are; of zram alone, and `None` where its statistics were not seen.
    #[serde(default)]
    pub slots: Option<Slots>,
}

/// What moved between RAM and swap, per second.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Flow {
    /// Read from areas, in bytes a second.
    pub in_per_s: Option<Bytes>,
    /// Written to areas, in bytes a second.
    pub out_per_s: Option<Bytes>,
    /// Read from zswap, in bytes a second.
    pub zswap_in_per_s: Option<Bytes>,
    /// Compressed into zswap, in bytes a second.
    pub zswap_out_per_s: Option<Bytes>,
    /// Zero-filled pages that came back without any device, in bytes a second.
    pub zero_in_per_s: Option<Bytes>,
    /// Zero-filled pages noted instead of written, in bytes a second.
    pub zero_out_per_s: Option<Bytes>,
    /// Anonymous pages needed again after they were swapped out, pages a second.
    pub refaults_per_s: Option<f64>,
}

/// Whether swap in use matters.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SwapVerdict {
    /// No area.
    NoSwap,
    /// Areas, all empty, and nothing moves.
    Unused,
    /// Something lies there and next to nothing moves.
    Harmless {
        /// What lies there.
        stock: Bytes,
    },
    /// Pages are written, none come back: memory is being made, nobody waits for swap.
    MovingOut {
        /// Written, bytes a second.
        out_per_s: Bytes,
    },
    /// Pages come back.
    Active {
        /// Read, bytes a second.
        in_per_s: Bytes,
        /// Written, bytes a second.
        out_per_s: Bytes,
    },
    /// Since boot only: no rate can be told.
    Unknown {
        /// What lies there.
        stock: Bytes,
    },
}

/// Swap on this machine.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SwapState {
    /// In order of use.
    pub areas: Vec<Area>,
    /// Sum of sizes.
    pub total: Bytes,
    /// Sum in use: the stock.
    pub used: Bytes,
    /// Over the window; `None` without one.
    pub flow: Option<Flow>,
    /// Stock against flow.
    pub verdict: SwapVerdict,
}

/// Swap; `None` where `/proc/swaps` was not seen.
#[must_use]
pub fn from_snapshot(snapshot: &Snapshot, window: Option<Window<'_>>) -> Option<SwapState> {
    let seen = snapshot.swaps.data()?;
    let mut areas: Vec<Area> = seen.iter().map(|a| area(a, snapshot)).collect();
    // Stable: the kernel lists equal priorities in the order it takes them.
    ramline_units::sort_by_key(&mut areas, |a| std::cmp::Reverse(a.priority));
    let order: Vec<(String, i32, AreaKind)> = areas.iter().map(|a| (a.path.clone(), a.priority, a.kind)).collect();
    for (at, area) in areas.iter_mut().enumerate() {
        area.turn = 1 + order.iter().filter(|(_, p, _)| *p > area.priority).count();
        let equal = order.iter().enumerate().filter(|(i, (_, p, _))| *i != at && *p == area.priority);
        // The kernel has 32 areas at most; a forged document of thousands must not be named thousands of times in each.
        area.striped_with = equal.map(|(_, (path, ..))| path.clone()).take(256).collect();
        // Whatever a disk is, zram is faster; two disks are compared where both say what they are.
        let known = area.kind != AreaKind::Unknown;
        let slower =
            |kind: AreaKind| kind > area.kind && (area.kind == AreaKind::Zram || (known && kind != AreaKind::Unknown));
        let before = order.iter().find(|(_, p, kind)| *p > area.priority && slower(*kind));
        area.outranked_by = before.map(|(path, ..)| path.clone());
    }
    let total = areas.iter().map(|a| a.size).sum();
    let used: Bytes = areas.iter().map(|a| a.used).sum();
    let flow = window.map(|w| flow(w, snapshot.machine.page_size));
    let verdict = if areas.is_empty() { SwapVerdict::NoSwap } else { verdict(used, flow, snapshot.machine.page_size) };
    Some(SwapState { areas, total, used, flow, verdict })
}

/// An area that is not zram stands before a zram area or level with it: pages go there although zram is faster. The one
/// test for it; two disks are told apart by what they are or by measurement, not here.
#[must_use]
pub fn outranks(area: &SwapArea, zram: &SwapArea) -> bool {
    zram.zram().is_some() && area.zram().is_none() && area.priority >= zram.priority
}

/// No room is left on it: the next area is used.
#[must_use]
pub fn is_full(area: &SwapArea) -> bool {
    area.used >= area.size
}

/// The zram device that an area is; `None` of any other.
#[must_use]
pub fn device_of<'a>(area: &SwapArea, snapshot: &'a Snapshot) -> Option<&'a ZramDevice> {
    let name = area.zram().filter(|_| area.kind != "file")?;
    snapshot.zram.data()?.devices.iter().find(|d| d.name == name)
}

/// What the slots in use of an area are, where it is zram and its statistics were seen.
#[must_use]
pub fn slots(area: &SwapArea, snapshot: &Snapshot) -> Option<Slots> {
    slots::for_device(area, device_of(area, snapshot)?, snapshot)
}

/// Free swap: SwapFree, or without it what the areas have left. `None` where neither file was seen.
#[must_use]
pub fn free(snapshot: &Snapshot) -> Option<Bytes> {
    let areas = || Some(snapshot.swaps.data()?.iter().map(SwapArea::free).sum());
    snapshot.meminfo.data().and_then(|m| m.swap_free).or_else(areas)
}

/// Stock against flow.
#[must_use]
pub fn verdict(stock: Bytes, flow: Option<Flow>, page: PageSize) -> SwapVerdict {
    let unknown = SwapVerdict::Unknown { stock };
    let Some(Flow { in_per_s: Some(read), out_per_s: Some(written), zswap_in_per_s, zswap_out_per_s, .. }) = flow
    else {
        return unknown;
    };
    let in_per_s = read + zswap_in_per_s.unwrap_or_default();
    let out_per_s = written + zswap_out_per_s.unwrap_or_default();
    let moves = |rate: Bytes| rate.as_f64() > HARMLESS_PAGES_PER_S * Bytes(page.0).as_f64();
    match (moves(in_per_s), moves(out_per_s)) {
        (true, _) => SwapVerdict::Active { in_per_s, out_per_s },
        (false, true) => SwapVerdict::MovingOut { out_per_s },
        (false, false) if stock == Bytes::ZERO => SwapVerdict::Unused,
        (false, false) => SwapVerdict::Harmless { stock },
    }
}

fn flow(window: Window<'_>, page: PageSize) -> Flow {
    let rate = |counter: fn(&Vmstat) -> Option<u64>| window.per_second(|s| counter(s.vmstat.data()?));
    let bytes = |counter| rate(counter).map(|pages| per_second(pages, page));
    Flow {
        in_per_s: bytes(|v| v.pswpin),
        out_per_s: bytes(|v| v.pswpout),
        zswap_in_per_s: bytes(|v| v.zswpin),
        zswap_out_per_s: bytes(|v| v.zswpout),
        zero_in_per_s: bytes(|v| v.swpin_zero),
        zero_out_per_s: bytes(|v| v.swpout_zero),
        refaults_per_s: rate(|v| v.workingset_refault_anon),
    }
}

/// Pages a second as bytes a second.
pub(crate) fn per_second(pages: f64, page: PageSize) -> Bytes {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "not negative; `as` saturates")]
    Bytes((pages * Bytes(page.0).as_f64()).round() as u64)
}

fn area(area: &SwapArea, snapshot: &Snapshot) -> Area {
    let is_file = area.kind == "file";
    let all = snapshot.blocks.data().map(Vec::as_slice).unwrap_or_default();
    let mounted = snapshot.mounts.data().map(Vec::as_slice).unwrap_or_default();
    let device = if is_file {
        mounts::holding(mounted, &area.path).and_then(|m| blocks::behind(all, &m.dev))
    } else {
        blocks::behind_node(all, &area.path)
    };
    let rotational = device.and_then(|d| d.rotational);
    let kind = match (area.zram(), rotational) {
        (Some(_), _) if !is_file => AreaKind::Zram,
        (_, Some(false)) => AreaKind::Flash,
        (_, Some(true)) => AreaKind::Rotating,
        (_, None) => AreaKind::Unknown,
    };
    Area {
        path: area.path.clone(),
        kind,
        is_file,
        rotational,
        size: area.size,
        used: area.used,
        share: area.used.share_of(area.size),
        priority: area.priority,
        turn: 0,
        striped_with: Vec::new(),
        outranked_by: None,
        slots: slots(area, snapshot),
    }
}

#[cfg(test)]
mod tests;
