//! What reclaim could take from a group at most: without swap, after writing, with swap; and what stays.
//!
//! Not a forecast. Taking pages that are in use makes them come back, and slab objects in use stay. So each
//! figure is an upper bound; the lower bound is what stays when it is taken off.
//!
//! A swappiness of 0 keeps a group at its limit out of swap altogether (`get_scan_count`, mm/vmscan.c: SCAN_FILE): the kernel kills
//! in it with swap free. The machine's own reclaim still swaps such a group's pages; that is not what stands here.
//!
//! Worked example: 100 MiB, of it 30 clean cache, 5 dirty, 40 anonymous, 10 protected, swap for 20 MiB: 30 MiB at once, 5 after
//! writing, 20 to swap, 45 stay.

use super::chain::{Bound, Protection};
use super::parts::{Part, PartId, Within};
use crate::prelude::*;

/// What reclaim could take at most. `now`, `after_writing`, `with_swap` and `stays` add up to what is charged. Gauges.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Reclaim {
    /// Clean page cache on the lists.
    pub clean_file: Bytes,
    /// Page cache that must be written first.
    pub unwritten_file: Bytes,
    /// Reclaimable slab; `None` where the kernel does not tell it by group (version 1).
    pub slab: Option<Bytes>,
    /// Anonymous and shared memory on the lists.
    pub swappable: Bytes,
    /// Its swappiness is 0: at its limit nothing of it goes to swap, whatever is free there.
    #[serde(default)]
    pub swap_forbidden: bool,
    /// Swap it could go to: free swap of the machine, within the limits on the way up; `None` where that is not known.
    pub swap_room: Option<Bytes>,
    /// What the protection in force keeps.
    pub protected: Bytes,
    /// At once, without swap: clean page cache and reclaimable slab beyond the protection.
    pub now: Bytes,
    /// In addition, after writing.
    pub after_writing: Bytes,
    /// In addition, by moving it to swap.
    pub with_swap: Bytes,
    /// What reclaim could not take.
    pub stays: Bytes,
}

/// What can be reclaimed, from the parts, what bounds the group, and the machine's free swap.
pub fn from_parts(
    parts: &[Part],
    within: &Within,
    current: Option<Bytes>,
    bound: &Bound,
    protection: &Protection,
    meminfo: Option<&Meminfo>,
    swap_forbidden: bool,
) -> Reclaim {
    let part = |id: PartId| parts.iter().find(|p| p.id == id).map(|p| p.bytes);
    let current = current.unwrap_or_default();
    let on_lists = part(PartId::FileActive).unwrap_or_default() + part(PartId::FileInactive).unwrap_or_default();
    let unwritten = (within.dirty.unwrap_or_default() + within.writeback.unwrap_or_default()).min(on_lists);
    let free_swap = meminfo.and_then(|m| m.swap_free);
    let swap_room = free_swap.map(|free| match bound.swap_room {
        Some(Limit::At(room)) => room.min(free),
        _ => free,
    });
    let swappable = within.swappable.unwrap_or_default();
    let clean_file = on_lists.saturating_sub(unwritten);
    let slab = part(PartId::SlabReclaimable);
    // What is left to take: never below the protection.
    let mut room = current.saturating_sub(protection.kept());
    let mut take = |wanted: Bytes| {
        let taken = wanted.min(room);
        room = room.saturating_sub(taken);
        taken
    };
    let now = take(clean_file + slab.unwrap_or_default());
    let after_writing = take(unwritten);
    let to_swap = if swap_forbidden { Bytes::ZERO } else { swappable.min(swap_room.unwrap_or_default()) };
    let with_swap = take(to_swap);
    Reclaim {
        clean_file,
        unwritten_file: unwritten,
        slab,
        swappable,
        swap_forbidden,
        swap_room,
        protected: protection.kept().min(current),
        now,
        after_writing,
        with_swap,
        stays: current.saturating_sub(now + after_writing + with_swap),
    }
}
