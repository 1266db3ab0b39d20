//! What would really be missed of a container's memory, beside the working set that the tools of containers judge by.
//!
//! A working set near its limit is said in these tools' words, and what it means: page cache in use counts as used there, and is freed before anything is killed.
//! The memory request of Kubernetes is in no file of a control group. The kubelet makes `oom_score_adj` of it (pkg/kubelet/qos/policy.go): 1000 less
//! the thousandths of the node's memory that are requested, from 3 to 999 where request and limit differ.
//!
//! Worked example: a limit of 512 MiB, of which 500 MiB are charged, 20 of them inactive and 300 active page cache. `kubectl top` shows 480 MiB, 94 % of the limit; without
//! the cache it is 180 MiB, 35 %.

use super::others::{Reading, reading};
use super::{GroupMemory, working_set};
use crate::prelude::*;

/// From this share of a limit on, public alert rules call a container near it (awesome-prometheus-alerts: ContainerHighMemoryUsage).
const NEAR: f64 = 0.8;
/// `oom_score_adj` of a burstable container: outside of this it stands for a class and no request.
const BY_REQUEST: std::ops::RangeInclusive<i64> = 3..=999;

/// What cannot be freed at once, held against the limit, and the request where there is one.
#[must_use]
pub fn missed(group: &GroupMemory, snapshot: &Snapshot) -> Vec<Reading> {
    let (Some(current), Some(set)) = (group.current.filter(|_| group.depth > 0), working_set(group)) else {
        return Vec::new();
    };
    let stays = current.saturating_sub(group.reclaim.now);
    let mut out = vec![reading("would be missed", stays, &held_against(group, set, stays))];
    out.extend(requested(group, snapshot, set));
    out
}

fn held_against(group: &GroupMemory, set: Bytes, stays: Bytes) -> String {
    let rest = "charged, less what reclaim can free at once";
    // Below a limit of a group above others are as well, and their use counts too.
    let is_own = group.bound.effective_at.as_deref() == Some(group.path.as_str());
    let Some(limit) = group.bound.effective_max.filter(|_| is_own) else { return rest.to_owned() };
    let share = |bytes: Bytes| bytes.share_of(limit).unwrap_or(0.0);
    let percent = |bytes: Bytes| format!("{:.0} %", share(bytes) * 100.0);
    let left = limit.saturating_sub(stays).saturating_sub(group.reclaim.after_writing);
    let swaps = group.reclaim.with_swap > Bytes::ZERO;
    if share(set) >= NEAR && share(stays) < NEAR {
        let (set, stays) = (percent(set), percent(stays));
        format!(
            "{rest}: {stays} of the limit. A working set of {set} is no sign of an OOM kill here: page cache in use counts in it, and is freed first"
        )
    } else if share(stays) >= NEAR && !swaps {
        format!(
            "{rest}: {} of the limit. If it grows by {left} more, the kernel kills in it (OOMKilled)",
            percent(stays)
        )
    } else {
        format!("{rest}: {} of the limit", percent(stays))
    }
}

/// The request of a container of Kubernetes, between two bounds; only said where the working set is beyond the higher one.
fn requested(group: &GroupMemory, snapshot: &Snapshot, set: Bytes) -> Option<Reading> {
    let container = group.container.as_ref().filter(|container| container.pod.is_some() && !container.id.is_empty())?;
    let adj = container.oom_score_adj.filter(|adj| BY_REQUEST.contains(adj))?;
    let thousandths = u64::try_from(1000 - adj).ok()?;
    let total = snapshot.meminfo.data()?.mem_total?;
    let part = |n: u64| Bytes((u128::from(total.0) * u128::from(n) / 1000).try_into().unwrap_or(u64::MAX));
    // Rounded down by the kubelet; 999 also stands for less than a thousandth, or nothing.
    let (least, most) = (if adj == 999 { Bytes::ZERO } else { part(thousandths) }, part(thousandths + 1));
    let text = format!(
        "memory request by its oom_score_adj of {adj}, at most {most}. The working set is beyond it: when the node is short of memory, the kubelet evicts such pods first"
    );
    (set > most).then(|| reading("kubectl describe pod, requests", least, &text))
}
