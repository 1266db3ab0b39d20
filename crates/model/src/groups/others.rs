//! What other tools show for a group, each with its formula in words.
//!
//! Not a judgement. They agree on `memory.current`; they differ in how much of the page cache they take off.
//! Sources: docker/cli `calculateMemUsageUnixNoCache`, google/cadvisor `setMemoryStats`, opencontainers/cgroups
//! `rootStatsFromMeminfo`, systemd `src/cgtop/cgtop.c`.

use super::parts::PartId;
use super::{GroupMemory, GroupTree};
use crate::prelude::*;

/// One tool's figure.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Reading {
    /// The tool and its column.
    pub tool: String,
    /// What it shows. Gauge.
    pub bytes: Bytes,
    /// How it comes to it.
    pub formula: String,
}

pub(super) fn reading(tool: &str, bytes: Bytes, formula: &str) -> Reading {
    Reading { tool: tool.to_owned(), bytes, formula: formula.to_owned() }
}

/// The working set as kubelet, cAdvisor and `kubectl top` count it: charged, less inactive page cache, at least nothing.
#[must_use]
pub fn working_set(group: &GroupMemory) -> Option<Bytes> {
    Some(group.current?.saturating_sub(group.within.inactive_file?))
}

/// What others show for one group; empty where its use is not known.
#[must_use]
pub fn readings(group: &GroupMemory, snapshot: &Snapshot) -> Vec<Reading> {
    let Some(current) = group.current else { return Vec::new() };
    let idle = group.within.inactive_file.unwrap_or_default();
    let meminfo = snapshot.meminfo.data();
    if group.depth == 0 {
        let used = meminfo.and_then(|m| m.mem_total?.checked_sub(m.mem_available?));
        let systemd =
            used.map(|used| reading("systemd-cgtop, line /", used, "MemTotal less MemAvailable, of the whole machine"));
        return systemd.into_iter().collect();
    }
    let docker = current.checked_sub(idle).filter(|rest| rest.0 > 0).unwrap_or(current);
    let charged = "charged, less inactive page cache (all that is charged if that leaves nothing)";
    let kubelet = "charged, less inactive page cache, at least 0";
    vec![
        reading("docker stats", docker, charged),
        reading("podman stats", docker, "as docker since 2025; releases before show all that is charged"),
        reading("kubectl top, cAdvisor working set", current.saturating_sub(idle), kubelet),
        reading("systemd-cgtop, systemctl status", current, "all that is charged, page cache included"),
    ]
}

/// What the kubelet's eviction would compute for this machine if it were a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NodeEviction {
    /// MemTotal.
    pub capacity: Bytes,
    /// Working set of the top: `usage` less inactive page cache. Gauge.
    pub working_set: Bytes,
    /// `memory.available`: capacity less working set. Gauge.
    pub available: Bytes,
    /// The same with the older way to count the top on version 2, MemTotal less MemFree; `None` on version 1.
    pub available_older: Option<Bytes>,
    /// MemAvailable, for comparison. Gauge.
    pub kernel_says: Option<Bytes>,
}

/// `memory.available` = MemTotal − (usage of the top − its inactive file pages).
#[must_use]
pub fn node_eviction(tree: &GroupTree, snapshot: &Snapshot) -> Option<NodeEviction> {
    let meminfo = snapshot.meminfo.data()?;
    let capacity = meminfo.mem_total?;
    let top = tree.groups.first().filter(|g| g.depth == 0)?;
    let idle = top.within.inactive_file?;
    // Version 1 says the usage of the top; for version 2 it is made of anonymous memory and page cache.
    let made = || top.part(PartId::Anon).map(|anon| anon + top.file() + top.part(PartId::Shmem).unwrap_or_default());
    let said = snapshot.groups.data().and_then(|groups| groups.list.first()?.current);
    // As the kubelet does: nothing where that would be negative.
    let working_set = said.or_else(made)?.saturating_sub(idle);
    let free = meminfo.mem_free.filter(|_| said.is_none());
    let older = free.map(|free| (free + idle).min(capacity));
    Some(NodeEviction {
        capacity,
        working_set,
        available: capacity.saturating_sub(working_set),
        available_older: older,
        kernel_says: meminfo.mem_available,
    })
}
