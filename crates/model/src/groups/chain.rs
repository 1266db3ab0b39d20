//! What bounds a group from above and what keeps reclaim off it: both depend on the groups on the way to the top.
//!
//! A limit in force is the tightest on the way. A protection in force is what the groups above leave of the one that was
//! set (`effective_protection`, mm/page_counter.c): the share of each sibling is scaled down when together they claim more
//! than their parent has, and with `memory_recursiveprot` what nobody claims is handed down by use.

use ramline_snapshot::groups::Groups;

use super::parts::{self, Part};
use super::tighter;
use crate::prelude::*;

/// Limits of a group. `None` where the kernel has no such limit.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Bound {
    /// The group's own hard limit.
    pub max: Option<Limit>,
    /// Above this its processes are slowed down (version 2).
    pub high: Option<Limit>,
    /// The tightest hard limit from here to the top; `None` without any.
    pub effective_max: Option<Bytes>,
    /// The group that sets it.
    pub effective_at: Option<String>,
    /// What is left below it, counting what that group uses.
    pub room: Option<Bytes>,
    /// The group's own limit of swap.
    pub swap_max: Option<Limit>,
    /// Swap it may still take, by the limits from here to the top; `Max` without limit. Version 1 has none for swap alone.
    pub swap_room: Option<Limit>,
    /// Limit of the compressed pool.
    pub zswap_max: Option<Limit>,
    /// Swappiness of the group (version 1).
    pub swappiness: Option<u64>,
}

/// What reclaim leaves alone (version 2).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Protection {
    /// Never taken, as set.
    pub min: Option<Bytes>,
    /// Not taken while others have something unprotected, as set.
    pub low: Option<Bytes>,
    /// `min` in force.
    pub effective_min: Bytes,
    /// `low` in force.
    pub effective_low: Bytes,
}

impl Protection {
    /// What ordinary reclaim leaves alone.
    #[must_use]
    pub fn kept(&self) -> Bytes {
        self.effective_min.max(self.effective_low)
    }
}

/// Bounds and protection of every group of the list.
pub fn bounds(
    seen: &Groups,
    version: Version,
    parents: &[Option<usize>],
    parts: &[Vec<Part>],
) -> Vec<(Bound, Protection)> {
    let list = &seen.list;
    let usage: Vec<Bytes> =
        list.iter().zip(parts).map(|(g, p)| parts::current(g, version, p).unwrap_or_default()).collect();
    let mut claimed = [vec![Bytes::ZERO; list.len()], vec![Bytes::ZERO; list.len()]];
    for (at, group) in list.iter().enumerate() {
        if let Some(parent) = parents[at] {
            claimed[0][parent] += group.min.unwrap_or_default().min(usage[at]);
            claimed[1][parent] += group.low.unwrap_or_default().min(usage[at]);
        }
    }
    let mut out: Vec<(Bound, Protection)> = Vec::with_capacity(list.len());
    for (at, group) in list.iter().enumerate() {
        let above = parents[at].and_then(|parent| out.get(parent).map(|entry| (parent, entry)));
        let mut bound = Bound {
            max: group.max,
            high: group.high,
            swap_max: group.swap_max,
            zswap_max: group.zswap_max,
            swappiness: group.swappiness,
            ..Bound::default()
        };
        if let Some((_, (parent, _))) = above {
            bound.effective_max = parent.effective_max;
            bound.effective_at.clone_from(&parent.effective_at);
            bound.room = parent.room;
            bound.swap_room = parent.swap_room;
        }
        if let Some(Limit::At(own)) = group.max {
            let left = own.saturating_sub(usage[at]);
            bound.room = Some(bound.room.map_or(left, |room| room.min(left)));
            if bound.effective_max.is_none_or(|above| own < above) {
                bound.effective_max = Some(own);
                bound.effective_at = Some(group.path.clone());
            }
        }
        if version == Version::V2 {
            let own = match (group.swap_max, group.swap_current) {
                (Some(Limit::At(max)), used) => Some(Limit::At(max.saturating_sub(used.unwrap_or_default()))),
                (other, _) => other,
            };
            bound.swap_room = match (bound.swap_room, own) {
                (Some(a), Some(b)) => Some(tighter(a, b)),
                (a, b) => a.or(b),
            };
        }
        let force = |setting: Option<Bytes>, claimed: &[Bytes], pick: fn(&Protection) -> Bytes| {
            let (usage_here, setting) = (usage[at], setting.unwrap_or_default());
            match above {
                // The top is not reclaimed as a group: its children's settings count as they are.
                Some((parent, _)) if list[parent].path == "/" => setting.min(usage_here),
                Some((parent, (_, of_parent))) => {
                    let (used, recursive) = (usage[parent], seen.recursive_protection);
                    effective(usage_here, used, setting, pick(of_parent), claimed[parent], recursive)
                }
                None => Bytes::ZERO,
            }
        };
        let protection = Protection {
            min: group.min,
            low: group.low,
            effective_min: force(group.min, &claimed[0], |p| p.effective_min),
            effective_low: force(group.low, &claimed[1], |p| p.effective_low),
        };
        out.push((bound, protection));
    }
    out
}

/// The protection in force; see the module.
fn effective(
    usage: Bytes,
    parent_usage: Bytes,
    setting: Bytes,
    parent: Bytes,
    siblings: Bytes,
    recursive: bool,
) -> Bytes {
    let protected = usage.min(setting);
    if siblings > parent {
        return protected.scale(parent.0, siblings.0).unwrap_or_default();
    }
    if recursive && parent > siblings && parent_usage > siblings && usage > protected {
        let unclaimed = parent.saturating_sub(siblings);
        let [own, all] = [(usage, protected), (parent_usage, siblings)].map(|(of, less)| of.saturating_sub(less).0);
        let share = unclaimed.scale(own, all).unwrap_or_default();
        return (protected + share).min(usage);
    }
    protected
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn mib(n: u64) -> Bytes {
        Bytes::from_mib(n)
    }

    #[test]
    fn siblings_that_claim_more_than_their_parent_has_share_it_by_their_claims() {
        // The kernel's own example: A with low 2 GiB, children asking 3 and 1 GiB get 1.5 and 0.5 GiB.
        let gib = Bytes::from_gib;
        assert_eq!(effective(gib(4), gib(6), gib(3), gib(2), gib(4), true), Bytes::from_mib(1536));
        assert_eq!(effective(gib(2), gib(6), gib(1), gib(2), gib(4), true), Bytes::from_mib(512));
    }

    #[test]
    fn what_nobody_claims_is_handed_down_by_use_only_where_the_mount_says_so() {
        // Parent 100 MiB protected, siblings claim 20; this one uses 60 of the 80 that are used beyond claims.
        assert_eq!(effective(mib(60), mib(100), mib(0), mib(100), mib(20), true), mib(60));
        assert_eq!(effective(mib(40), mib(180), mib(0), mib(100), mib(20), true), mib(20));
        assert_eq!(effective(mib(40), mib(180), mib(0), mib(100), mib(20), false), mib(0));
    }

    #[test]
    fn a_protection_above_use_protects_what_is_used() {
        assert_eq!(effective(mib(10), mib(100), mib(50), mib(80), mib(10), false), mib(10));
    }
}
