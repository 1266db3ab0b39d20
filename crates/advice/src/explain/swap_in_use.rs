//! `swap-in-use`: stock apart from flow.

use ramline_model::groups::{self, SwapOwner};
use ramline_model::swap::{self, SwapVerdict};
use ramline_model::verdict::amount_of;

use super::opinion;
use crate::prelude::*;

pub(super) const TOPIC: Topic = Topic {
    id: "swap-in-use",
    area: Area::Swap,
    question: "Why is swap in use although memory is free?",
    // With the groups: the one that has most of it is named.
    wants: Wanted { groups: true, ..opinion::WANTS },
    answer,
    mechanism: &[
        "How much is in swap (stock) shows what happened once; how much moves (flow) shows what it costs now. Tasks wait only for swap-ins.",
        "A page swapped out during a burst stays there after the burst: the kernel brings it back when it is touched, not when memory becomes free.",
        "With zram what is swapped stays in RAM, compressed: no disk is involved.",
    ],
    myth: "swapoff -a; swapon -a cleans memory: it reads everything back at once, needed or not.",
    to_do: "Nothing while next to nothing is read back; otherwise make room or add RAM.",
    next: "ramline show swap --for 2s",
};

fn answer(inputs: &Inputs<'_>, out: &mut Explanation) -> String {
    let state = swap::from_snapshot(inputs.snapshot, inputs.window);
    for area in state.iter().flat_map(|state| &state.areas) {
        let value = format!("{} of {} used, priority {}", area.used, area.size, area.priority);
        out.put(&area.path, value, "/proc/swaps");
    }
    if let Some(window) = inputs.window {
        let per_second = |n: Option<u64>| n.map(|n| format!("{n} pages over {}", window.span));
        out.add("swapped in", per_second(window.delta(look::swapped_in)), "/proc/vmstat pswpin + swpin_zero + zswpin");
        out.add(
            "swapped out",
            per_second(window.delta(look::swapped_out)),
            "/proc/vmstat pswpout + swpout_zero + zswpout",
        );
        let refaults = window.per_second(|s| s.vmstat.data()?.workingset_refault_anon);
        let value = refaults.map(|r| rate(r, "pages", window.span));
        out.add("swapped pages read again", value, "/proc/vmstat workingset_refault_anon");
    }
    out.meminfo(inputs, "in swap and in RAM: read back and unchanged (now)", "SwapCached");
    let value = look::stall(inputs.snapshot).map(|s| format!("{:.2} % of the last 10 s", s.avg10));
    out.add("tasks waiting for memory", value, "/proc/pressure/memory some");
    if let Some(planned) =
        opinion::for_targets(inputs, &["zram", "swap"]).filter(|planned| !planned.starts_with("Nothing"))
    {
        out.to_do = planned;
    }
    let owner = groups::swap_owner(inputs.snapshot);
    let value = owner.as_ref().map(|of| format!("{}: {}", of.path, amount_of(of.swap, of.used)));
    out.add("most of it is of one group (now)", value, "memory.swap.current, or memory.memsw.usage_in_bytes");
    if let Some(SwapOwner { path, limit: Some(limit), .. }) = &owner {
        let show = format!("ramline show cgroups {}", word(path));
        out.to_do = format!(
            "Raise the limit of {limit} of {path}, or keep the group out of swap (memory.swap.max, or memory.swappiness 0); {show}."
        );
    }
    let owned = owner.as_ref().map(owned).unwrap_or_default();
    let answer = match state.map(|state| state.verdict) {
        None => unseen(inputs, "swaps"),
        Some(SwapVerdict::NoSwap) => "There is no swap area here.".into(),
        Some(SwapVerdict::Unused) => "Swap is not in use: the areas are empty and nothing moves.".into(),
        Some(SwapVerdict::Harmless { stock }) => {
            format!(
                "{stock} was swapped out some time ago and no task waits for it: harmless. The RAM serves something else."
            )
        }
        Some(SwapVerdict::MovingOut { out_per_s }) => {
            format!(
                "The kernel is making room: {out_per_s} is swapped out each second. Next to nothing is read back, so no task waits for swap."
            )
        }
        Some(SwapVerdict::Active { in_per_s, out_per_s }) => {
            format!(
                "Pages in use are being swapped: each second {in_per_s} is read back, {out_per_s} is written. Tasks wait for each that is read back."
            )
        }
        Some(SwapVerdict::Unknown { stock }) => {
            format!("{stock} is in swap. Whether tasks wait for it shows with --for 2s.")
        }
    };
    format!("{answer}{owned}")
}

/// Whose most of it is, and whether a limit put it there.
fn owned(of: &SwapOwner) -> String {
    let part = amount_of(of.swap, of.used);
    match (of.limit, of.hits) {
        (Some(limit), Some(hits)) => format!(
            " Group {} has {part}: it stands at its own limit of {limit}, met {hits} times, which put it there whatever the machine has free.",
            of.path
        ),
        _ => format!(" Group {} has {part}.", of.path),
    }
}
