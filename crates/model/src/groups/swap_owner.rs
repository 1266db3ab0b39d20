//! The group that has most of the swap that is used.
//!
//! Needs swap by group: memory.swap.current, or on version 1 memory and swap together less memory. Not the process that has it, nor who wrote it
//! there; but a group that stands at its own limit was put there by that limit, whatever the machine has free.
//!
//! Worked example: 11.5 of the 12.9 GiB in swap are of one group, which stands at 4.0 GiB of 4.0 GiB and met that limit 4,000,000 times.

use super::trouble::{AT_LIMIT, MOST};
use crate::prelude::*;

/// Who has most of the swap. Bytes are gauges.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SwapOwner {
    /// Path of the group below the mount.
    pub path: String,
    /// Its swap, with that of all groups below.
    pub swap: Bytes,
    /// All swap that is used.
    pub used: Bytes,
    /// The limit at which it stands, its own, which it has met; `None` where it stands at none.
    pub limit: Option<Bytes>,
    /// How often it met the limit since it was made.
    pub hits: Option<u64>,
}

/// The innermost group with at least half of all swap that is used; `None` where none has, or swap by group was not seen.
#[must_use]
pub fn swap_owner(snapshot: &Snapshot) -> Option<SwapOwner> {
    let seen = super::seen(snapshot)?;
    let version = seen.version?;
    let used = snapshot.meminfo.data()?.swap_used().filter(|used| used.0 > 0)?;
    let swap = |group: &Group| group.swap_current.or_else(|| super::total(group, version, "swap"));
    let has_most = |group: &&Group| swap(group).and_then(|own| own.share_of(used)).is_some_and(|share| share >= MOST);
    // A parent comes before its children.
    let group = seen.list.iter().filter(|group| group.path != "/").rfind(has_most)?;
    let hits = super::hits(group);
    let limits = [group.max, group.high].into_iter().flatten().filter_map(Limit::bytes);
    let limit = limits.min().filter(|limit| {
        let is_there = group.current.and_then(|now| now.share_of(*limit)).is_some_and(|share| share >= AT_LIMIT);
        is_there && hits.is_some_and(|n| n > 0)
    });
    Some(SwapOwner { path: group.path.clone(), swap: swap(group)?.min(used), used, limit, hits })
}
