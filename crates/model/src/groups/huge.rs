//! A group at its limit whose memory is mostly in transparent huge pages.
//!
//! A huge page stays whole while any page of it is used, so what a program frees in pieces can stay charged; and khugepaged puts one together from a
//! range of which `max_ptes_none` pages are missing, which brings freed pages back. How many of its pages are unused is counted by nothing that is read
//! here: what is given is the most that khugepaged may have filled in, the huge pages' bytes times `max_ptes_none` of the pages of one.
//!
//! Worked example: 6.2 GiB in huge pages of 512 pages, 511 of which may be missing: up to 6.2 GiB; with 64, up to 795 MiB.

use super::trouble::{AT_LIMIT, LITTLE, MOST};
use crate::prelude::*;

/// A group at its limit, mostly in huge pages. Bytes are gauges.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HugeGroup {
    /// Its path below the mount.
    pub path: String,
    /// Its own limit, at which it stands.
    pub limit: Bytes,
    /// What is charged.
    pub current: Bytes,
    /// Memory of its processes.
    pub anon: Bytes,
    /// Of it, in huge pages.
    pub huge: Bytes,
    /// The most that khugepaged may have filled in.
    pub filled: Bytes,
    /// Pages of one that may be missing (`khugepaged/max_ptes_none`).
    pub may_miss: u64,
    /// How often the group met its limit since it was made.
    pub hits: u64,
}

/// The one with most in huge pages; `None` where they are not on for all programs, or no group at its limit is mostly in them.
#[must_use]
pub fn huge_at_limit(snapshot: &Snapshot) -> Option<HugeGroup> {
    let thp = snapshot.thp.data().filter(|thp| thp.enabled.as_deref() == Some("always"))?;
    let may_miss = thp.max_ptes_none?;
    let seen = super::seen(snapshot)?;
    let version = seen.version?;
    let pages = thp.page.unwrap_or(Bytes::from_mib(2)).0 / snapshot.machine.page_size.0.max(1);
    let of = |group: &Group| {
        let limit = [group.max, group.high].into_iter().flatten().filter_map(Limit::bytes).min()?;
        let (current, hits) = (group.current?, super::hits(group)?);
        let [anon, huge] = ["anon", "anon_thp"].map(|name| super::total(group, version, name));
        let (anon, huge) = (anon?, huge?);
        let is = |part: Bytes, whole: Bytes, least: f64| part.share_of(whole).is_some_and(|share| share >= least);
        let filled = huge.scale(may_miss.min(pages), pages)?;
        let found = hits > 0 && is(current, limit, AT_LIMIT) && is(anon, current, MOST) && is(huge, anon, MOST);
        (found && is(filled, current, LITTLE)).then(|| HugeGroup {
            path: group.path.clone(),
            limit,
            current,
            anon,
            huge,
            filled,
            may_miss,
            hits,
        })
    };
    // A parent comes before its children.
    seen.list.iter().filter_map(of).max_by_key(|group| group.huge)
}
