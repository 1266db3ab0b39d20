//! `swap-order`: which area is used first.

use ramline_model::swap::{self, AreaKind};

use crate::prelude::*;

pub(super) const TOPIC: Topic = Topic {
    id: "swap-order",
    area: Area::Swap,
    question: "Which swap area is used first?",
    wants: Wanted { blocks: true, mounts: true, ..LIGHT },
    answer,
    mechanism: &[
        "The area with the highest priority is filled until it is full, then the next. Areas of equal priority take turns.",
        "Areas enabled without a priority get negative ones in the order they came (or one common one on later kernels), so the one enabled first wins, fast or not.",
        "Pages stay where they are: a fast area full of old pages sends the newer, warmer ones to the slow area. zram does not pass pages on by itself; zswap does.",
    ],
    myth: "Priorities make tiers: they decide where a page goes at first, and nothing moves it later.",
    to_do: "Give the fastest area the highest priority: swapon -p 100, or pri=100 in /etc/fstab.",
    next: "ramline show swap",
};

fn answer(inputs: &Inputs<'_>, out: &mut Explanation) -> String {
    let state = swap::from_snapshot(inputs.snapshot, inputs.window);
    let areas = state.as_ref().map(|s| s.areas.as_slice()).unwrap_or_default();
    out.add("swap areas", state.as_ref().map(|s| s.areas.len()), "/proc/swaps");
    for area in areas {
        let kind = match area.kind {
            AreaKind::Zram => "compressed RAM",
            AreaKind::Flash => "reported as flash",
            AreaKind::Rotating => "reported as a hard disk",
            AreaKind::Unknown => "device not known",
        };
        let value =
            format!("turn {}, priority {}, {} of {} used, {kind}", area.turn, area.priority, area.used, area.size);
        out.put(&area.path, value, "/proc/swaps, /sys/block");
    }
    for area in look::areas(inputs.snapshot).unwrap_or_default() {
        if let Some(cost) = look::swap_in_cost(inputs, area) {
            out.numbers.push(cost.evidence(&format!("a swap-in from {}", area.path)));
        }
    }
    match (state.is_some(), areas) {
        (false, _) => unseen(inputs, "swaps"),
        (true, []) => "There is no swap area here.".into(),
        (true, [only]) => format!("{} is the only swap area.", only.path),
        (true, [first, ..]) => match areas.iter().find(|a| a.outranked_by.is_some()) {
            Some(behind) => format!("{} is used first, and {} only after a slower one.", first.path, behind.path),
            None if !first.striped_with.is_empty() => {
                format!("{} and the others of priority {} are used in turn.", first.path, first.priority)
            }
            None => {
                format!("{} is used first (priority {}); the next one when it is full.", first.path, first.priority)
            }
        },
    }
}
