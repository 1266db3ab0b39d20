//! `swap-in-use`: stock apart from flow.

use super::{Answer, Area, LIGHT, Numbers, Topic, sentences, unseen};
use crate::Inputs;
use crate::look;
use crate::text::{evidence, rate};
use ramline_model::swap::{self, SwapVerdict};
use ramline_snapshot::Wanted;

pub(super) const TOPIC: Topic = Topic {
    id: "swap-in-use",
    area: Area::Swap,
    question: "Why is swap in use although memory is free?",
    wants: Wanted { blocks: true, mounts: true, ..LIGHT },
    answer,
};

fn answer(inputs: &Inputs<'_>) -> Answer {
    let state = swap::of(inputs.snapshot, inputs.window);
    let mut numbers = Numbers::default();
    for area in state.iter().flat_map(|state| &state.areas) {
        let value = format!("{} of {} used, priority {}", area.used, area.size, area.priority);
        numbers.0.push(evidence(&area.path, value, "/proc/swaps"));
    }
    if let Some(window) = inputs.window {
        let per_second = |n: Option<u64>| n.map(|n| format!("{n} pages over {}", window.span));
        numbers.add("swapped in", per_second(look::swap_ins(&window)), "/proc/vmstat pswpin + swpin_zero + zswpin");
        numbers.add(
            "swapped out",
            per_second(look::swap_outs(&window)),
            "/proc/vmstat pswpout + swpout_zero + zswpout",
        );
        let refaults = window.per_second(|s| s.vmstat.data()?.workingset_refault_anon);
        numbers.add(
            "anonymous refaults",
            refaults.map(|r| rate(r, "pages", window.span)),
            "/proc/vmstat workingset_refault_anon",
        );
    }
    numbers.add(
        "also in RAM, unchanged since it was read back",
        inputs.snapshot.meminfo.data().and_then(|m| m.swap_cached),
        "/proc/meminfo SwapCached",
    );
    let stall = inputs.snapshot.pressure_memory.data().and_then(|p| p.some);
    numbers.add(
        "tasks waiting for memory",
        stall.map(|s| format!("{:.2} % of the last 10 s", s.avg10)),
        "/proc/pressure/memory some",
    );
    let short = match state.map(|state| state.verdict) {
        None => unseen(inputs, "swaps"),
        Some(SwapVerdict::NoSwap) => "There is no swap area here.".into(),
        Some(SwapVerdict::Unused) => "It is not: the areas are empty and nothing moves.".into(),
        Some(SwapVerdict::Harmless { stock }) => {
            format!(
                "{stock} were parked there some time ago and nobody asks for them: harmless, and the RAM serves something else."
            )
        }
        Some(SwapVerdict::MovingOut { out_per_s }) => {
            format!(
                "Memory is being made: {out_per_s} go out each second and next to nothing comes back, so nobody waits for swap."
            )
        }
        Some(SwapVerdict::Active { in_per_s, out_per_s }) => {
            format!(
                "It is at work: {in_per_s} come back and {out_per_s} go out each second. Pages in use are being swapped."
            )
        }
        Some(SwapVerdict::Unknown { stock }) => {
            format!("{stock} lie there; whether anyone waits for them shows over a window only.")
        }
    };
    Answer {
        short,
        numbers: numbers.0,
        mechanism: sentences([
            "How much lies in swap (stock) says what happened once; how much moves (flow) says what it costs now. Only swap-ins make anyone wait.",
            "A page swapped out during a burst stays there after the burst: the kernel brings it back when it is touched, not when memory becomes free.",
            "With zram the stock lies in RAM, compressed: it is not a disk.",
        ]),
        myth: Some(
            "swapoff -a; swapon -a cleans memory: it reads everything back at once, whether anyone needs it or not."
                .into(),
        ),
        next: "ramline show swap --for 2s".into(),
    }
}
