//! What has gone from zram to a slower area below it.
//!
//! An area of lower priority is used when all above it have no free slot. A zram device at its `mem_limit` still has free slots: its writes
//! fail, the page keeps its slot, and the area below is not tried until the slots are used up.

use ramline_snapshot::swaps::SwapArea;

use crate::prelude::*;

/// From this share on an area is full: slots are given out in clusters, and some stay behind on each CPU.
const FULL: f64 = 0.99;

/// Pages below a zram area. Gauges.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Spill {
    /// The zram areas above.
    pub from: Vec<String>,
    /// The areas below that have pages.
    pub to: Vec<String>,
    /// What lies there, uncompressed.
    pub bytes: Bytes,
    /// The zram areas have no free slot now: what is swapped out next goes there too. Otherwise it is from when they had none, or were not there.
    pub full: bool,
}

/// The spill; `None` where no area below zram has pages.
#[must_use]
pub fn spill(seen: &Snapshot) -> Option<Spill> {
    let swaps = seen.swaps.data()?;
    let is_zram = |area: &&SwapArea| crate::swap::device_of(area, seen).is_some();
    let zram: Vec<&SwapArea> = swaps.iter().filter(is_zram).collect();
    let has_zram_above = |area: &SwapArea| zram.iter().any(|above| above.priority > area.priority);
    let below: Vec<&SwapArea> =
        swaps.iter().filter(|area| !is_zram(area) && area.used.0 > 0 && has_zram_above(area)).collect();
    // Areas between are passed over: what is above the first of those below decides.
    let first = below.iter().map(|area| area.priority).max()?;
    let above: Vec<&&SwapArea> = zram.iter().filter(|area| area.priority > first).collect();
    Some(Spill {
        from: above.iter().map(|area| area.path.clone()).collect(),
        to: below.iter().map(|area| area.path.clone()).collect(),
        bytes: below.iter().map(|area| area.used).sum(),
        full: above.iter().all(|area| area.used.share_of(area.size).is_some_and(|share| share >= FULL)),
    })
}
