//! A faster swap area that a slower one outranks, or zram and a disk at one priority.
//!
//! The kernel fills the area of the highest priority first and spreads pages over areas of equal priority in turn. So a
//! fast area behind a slow one is used only when the slow one is full; and zram level with a disk sends every other
//! page to the disk. Two disks of one kind at one priority are a stripe, which is fine.

use ramline_model::swap;

use crate::prelude::*;

pub(super) const RULE: Rule = Rule {
    id: "swap-outranked",
    looks_for: "a faster swap area at or below the priority of a slower one",
    explain: "swap-order",
    check,
    cost_if_wrong: "while an area is off its pages return to RAM or move to the other area, which takes time and room",
    tune: Tune::Lines(&[(ramline_plan::Topic::Zram, "zram")]),
};

/// How much slower, by measured means, an area must be before two disks are told apart.
const CLEARLY_SLOWER: f64 = 3.0;

fn check(inputs: &Inputs<'_>) -> Option<Draft> {
    let areas = look::areas(inputs.snapshot)?;
    let pairs = areas.iter().flat_map(|fast| areas.iter().map(move |slow| (*fast, *slow)));
    let (fast, slow, (because, confidence)) = pairs
        .filter(|(fast, slow)| fast.path != slow.path && fast.priority <= slow.priority)
        .find_map(|(fast, slow)| Some((fast, slow, slower(inputs, fast, slow)?)))?;
    let equal = fast.priority == slow.priority;
    // Of two disks only their measured costs say which is slower, and no plan reorders them.
    let planned = fast.zram().is_some() && slow.zram().is_none();
    let both = [fast, slow].map(|area| evidence(&area.path, look::area_words(area), "/proc/swaps"));
    Some(Draft {
        title: if equal {
            format!("{} shares priority {} with the slower swap {}", fast.path, fast.priority, slow.path)
        } else {
            format!("{} is used only after the slower swap {}", fast.path, slow.path)
        },
        weight: Weight::Warning,
        effect: effect(fast, slow, equal),
        evidence: both.into_iter().chain(because).collect(),
        confidence,
        already: vec![format!("{} and {} are both in use as swap", fast.path, slow.path)],
        way: if planned { Way::Lines("zram comes before the disk, at every boot") } else { Way::Own },
        change: if planned { None } else { change(fast, slow) },
        ..Draft::default()
    })
}

/// Why the second of two areas counts as slower, and how sure that is.
fn slower(inputs: &Inputs<'_>, fast: &SwapArea, slow: &SwapArea) -> Option<(Vec<Evidence>, Confidence)> {
    let kind = |value: String, source: &str| vec![evidence("what they are", value, source)];
    // The same test as `show zram` makes.
    if swap::outranks(slow, fast) {
        let value = format!("{} is compressed RAM, {} is not", fast.path, slow.path);
        return Some((kind(value, "/sys/block"), Confidence::High));
    }
    // Which of two zram devices goes first is a choice between speed and density.
    if slow.zram().is_some() {
        return None;
    }
    if let Some((a, b)) = look::swap_in_cost(inputs, fast).zip(look::swap_in_cost(inputs, slow)) {
        let measured = || vec![a.evidence("a swap-in from the faster"), b.evidence("a swap-in from the slower")];
        return (b.mean() >= a.mean() * CLEARLY_SLOWER).then(|| (measured(), Confidence::Medium));
    }
    let turns = |area| look::disk_of(inputs.snapshot, area)?.rotational;
    let value = || format!("{} is reported as a hard disk, {} as none", slow.path, fast.path);
    let source = "/sys/block queue/rotational; virtual disks often say so wrongly";
    (!turns(fast)? && turns(slow)?).then(|| (kind(value(), source), Confidence::Low))
}

fn effect(fast: &SwapArea, slow: &SwapArea, equal: bool) -> String {
    let free = fast.free();
    if swap::is_full(slow) {
        return format!(
            "until now: {} is full, so pages go to {} for the moment; its {} stay where they are until they are read back",
            slow.path, fast.path, slow.used
        );
    }
    match (slow.used.0, equal) {
        (0, _) => format!("once swapping starts, pages go to {} while {free} on {} stay unused", slow.path, fast.path),
        (_, true) => format!(
            "every other page goes to {}: {} lie there while {free} on {} are free",
            slow.path, slow.used, fast.path
        ),
        (_, false) => format!("{} lie on {} while {free} on {} are free", slow.used, slow.path, fast.path),
    }
}

/// Moves the area with less to move: the faster one up, or the slower one down.
fn change(fast: &SwapArea, slow: &SwapArea) -> Option<Change> {
    // Negative priorities are the kernel's own and cannot be asked for: `swapon` without -p gives one.
    let flag = |priority: i32| if priority < 0 { String::new() } else { format!("-p {priority} ") };
    let on = |area: &SwapArea, priority: i32| format!("swapon {}{}", flag(priority), word(&area.path));
    let off = |area: &SwapArea| format!("swapoff {}", word(&area.path));
    let keep = if fast.zram().is_some() {
        "to keep it: swap-priority= in zram-generator.conf, or pri= in /etc/fstab"
    } else {
        "to keep it: pri= in /etc/fstab"
    };
    let raised = slow.priority.max(99).checked_add(1).filter(|p| *p <= 32767);
    let (area, new) = match raised {
        // A zram device taken out of use is reset by the unit that made it, and could not come back: the other one moves.
        Some(raised) if fast.priority < 1 || (fast.zram().is_none() && fast.used <= slow.used) => (fast, raised),
        _ if fast.priority >= 1 => (slow, fast.priority - 1),
        _ => (fast, raised?),
    };
    Some(Change::by(
        format!("takes {} out and puts it back at priority {new}; {keep}", area.path),
        [off(area), on(area, new)],
        [off(area), on(area, area.priority)],
    ))
}
