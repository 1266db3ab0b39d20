//! `numa`: memory in several nodes, and whether one of them is short while another has room.

use std::collections::BTreeMap;

use ramline_model::watermarks::{Band, NodeMarks};
use ramline_snapshot::machine::NodeMemory;
use ramline_snapshot::zoneinfo::Zoneinfo;
use ramline_units::PageSize;

use crate::prelude::*;

pub(super) const TOPIC: Topic = Topic {
    id: "numa",
    area: Area::Pressure,
    question: "Is memory in several nodes, and is one of them short?",
    wants: LIGHT,
    answer,
    mechanism: &[
        "On a machine with several processors each has memory of its own, a node; memory of another node is slower by a third to a half. New pages come from the node of the asking CPU.",
        "Each node has its own watermarks and its own kswapd. When the near node reaches low, its kswapd wakes, and allocations meanwhile go to the next node that has room.",
        "A program bound to one node (numactl --membind, cpuset) cannot use the others: it reclaims and swaps while they are free. vm.zone_reclaim_mode other than 0 does the same to every program.",
        "Nodes without CPUs are slow memory (CXL, persistent). Kernels since 5.15 can move cold pages there before they swap (/sys/kernel/mm/numa/demotion_enabled).",
    ],
    myth: "Swap is used although half of the RAM is free, so something is broken: a binding or vm.zone_reclaim_mode keeps programs on a node that is full.",
    to_do: "Nothing.",
    next: "ramline show pressure",
};

fn answer(inputs: &Inputs<'_>, out: &mut Explanation) -> String {
    let snapshot = inputs.snapshot;
    let marks = watermarks::from_snapshot(snapshot, inputs.window);
    let nodes = marks.as_ref().map(|m| m.nodes.as_slice()).unwrap_or_default();
    let page = snapshot.machine.page_size;
    for node in nodes {
        let value =
            format!("{} free of {}; {}; to low {}", node.free, node.managed, node.band.meaning(), node.to_low.bytes);
        out.put(&format!("node {} (now)", node.node), value, "/proc/zoneinfo");
        if let Some(held) = snapshot.zoneinfo.data().and_then(|z| held(z, node.node, page)) {
            let what = format!("node {}: used by (now)", node.node);
            out.put(&what, held, "/proc/zoneinfo nr_*_anon, nr_*_file, nr_shmem");
        }
    }
    // numa_miss: taken here although another node was wanted.
    let counts = snapshot.zoneinfo.data().map(events).filter(|_| nodes.len() > 1);
    for (node, (hit, miss)) in counts.into_iter().flatten() {
        let all = hit.saturating_add(miss);
        #[expect(clippy::cast_precision_loss, reason = "a share does not need the last bits")]
        let share = if all == 0 { 0.0 } else { miss as f64 / all as f64 };
        let value = format!("{miss} of {all} pages ({}), since boot", percent(share));
        let what = format!("node {node}: taken although another was wanted");
        out.put(&what, value, "/proc/zoneinfo numa_miss, numa_hit (counters)");
    }
    out.add(
        "vm.zone_reclaim_mode",
        snapshot.settings.data().and_then(|s| s.zone_reclaim_mode).map(|mode| {
            if mode == 0 {
                "0 (setting): take from another node before reclaiming".to_owned()
            } else {
                format!("{mode} (setting): reclaim on the near node first, even with memory free elsewhere")
            }
        }),
        "/proc/sys/vm/zone_reclaim_mode",
    );
    if nodes.len() > 1 {
        out.to_do = "Leave vm.zone_reclaim_mode at 0, and bind programs to a node only if they fit into it.".into();
    }
    for node in &snapshot.machine.nodes {
        let cpus = if node.has_cpus == Some(false) { "; no processors" } else { "" };
        let value = format!("{} free of {}{cpus}", node.free, node.total);
        let source = format!("/sys/devices/system/node/node{}/meminfo, cpulist", node.node);
        out.put(&format!("node {}: memory (now)", node.node), value, source);
    }
    match nodes {
        [] if !snapshot.machine.nodes.is_empty() => by_sizes(&snapshot.machine.nodes),
        [] => unseen(inputs, "zoneinfo"),
        [only] => format!("There is one memory node, with {}: nothing can be out of balance.", only.managed),
        many => several(many),
    }
}

/// What the nodes' own files tell, where the zones were not seen: sizes, and no watermarks.
fn by_sizes(nodes: &[NodeMemory]) -> String {
    let free = |node: &&NodeMemory| node.free.share_of(node.total).unwrap_or(0.0);
    let least = nodes.iter().filter(|node| node.total.0 > 0).min_by(|a, b| free(a).total_cmp(&free(b)));
    let bare: Vec<String> =
        nodes.iter().filter(|node| node.has_cpus == Some(false)).map(|node| node.node.to_string()).collect();
    let bare = match bare.as_slice() {
        [] => String::new(),
        bare => format!(" Without processors: {}.", bare.join(", ")),
    };
    let least = least.map_or_else(String::new, |node| {
        format!(" Node {} has least free, {} of {}.", node.node, node.free, node.total)
    });
    format!("{} nodes; whether one is short is not known without /proc/zoneinfo.{least}{bare}", nodes.len())
}

fn several(nodes: &[NodeMarks]) -> String {
    let free = |node: &NodeMarks| node.free.share_of(node.managed).unwrap_or(0.0);
    let least = nodes.iter().min_by(|a, b| free(a).total_cmp(&free(b)));
    let most = nodes.iter().max_by(|a, b| free(a).total_cmp(&free(b)));
    let Some((least, most)) = least.zip(most) else { return String::new() };
    let words = if least.band == Band::AboveHigh {
        "none is short"
    } else if most.band == Band::AboveHigh {
        "one reclaims while another has room"
    } else {
        "all are short"
    };
    format!(
        "{} nodes, {words}: node {} has {} free of {}. Node {} has {} of {}.",
        nodes.len(),
        least.node,
        least.free,
        least.managed,
        most.node,
        most.free,
        most.managed
    )
}

fn held(zones: &Zoneinfo, node: u32, page: PageSize) -> Option<String> {
    let stats = &zones.nodes.iter().find(|n| n.node == node)?.stats;
    let sum = |names: &[&str]| -> Option<Bytes> {
        let pages: Option<Vec<Pages>> = names.iter().map(|name| stats.get(*name).copied().map(Pages)).collect();
        Some(pages?.into_iter().sum::<Pages>().bytes(page))
    };
    let anon = sum(&["nr_active_anon", "nr_inactive_anon"])?;
    let files = sum(&["nr_active_file", "nr_inactive_file"])?;
    let shmem = sum(&["nr_shmem"]).map(|shmem| format!(" ({shmem} of it tmpfs)")).unwrap_or_default();
    Some(format!("{anon} of processes and tmpfs{shmem}, {files} of files"))
}

/// Hits and misses by node, added up over its zones.
fn events(zones: &Zoneinfo) -> BTreeMap<u32, (u64, u64)> {
    let mut out: BTreeMap<u32, (u64, u64)> = BTreeMap::new();
    for zone in &zones.zones {
        if let Some((hit, miss)) = zone.stats.get("numa_hit").zip(zone.stats.get("numa_miss")) {
            let sum = out.entry(zone.node).or_default();
            *sum = (sum.0.saturating_add(*hit), sum.1.saturating_add(*miss));
        }
    }
    out
}
