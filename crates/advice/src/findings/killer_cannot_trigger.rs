//! earlyoom or systemd-oomd runs, and its thresholds cannot be reached here, or only after the machine has stood still.
//!
//! earlyoom acts when memory *and* swap are both low; systemd-oomd's swap rule needs swap, its pressure rule needs PSI, both need groups
//! that ask to be watched, and the swap rule ends only groups that hold at least 5 % of all swap. Each of these can be
//! impossible on a given machine; then the killer is a false comfort.

use ramline_model::zram::{ENOUGH_RESIDENT, gain};
use ramline_snapshot::Seen;
use ramline_snapshot::cgroup::{Group, Version};
use ramline_snapshot::killers::{EARLYOOM_PERCENT, Earlyoom, OOMD_SWAP_PERCENT, Oomd};

use crate::prelude::*;

pub(crate) const RULE: Rule = Rule {
    id: "killer-cannot-trigger",
    looks_for: "earlyoom or systemd-oomd with thresholds that cannot be reached here",
    explain: "oom",
    check,
    cost_if_wrong: "thresholds that are easier to reach end programs while memory could still be reclaimed",
    tune: Tune::Lines(&[(ramline_plan::Topic::Swap, "systemd-oomd"), (ramline_plan::Topic::Swap, "earlyoom")]),
};

/// systemd-oomd ends, by its swap rule, only groups with more than this share of all swap (src/oom/oomd-manager.c).
const OOMD_FLOOR: f64 = 0.05;
/// Share of RAM that compressed swap may take before nothing else runs: the rest is kernel, page tables and the pages in use.
const POOL_ROOM: f64 = 0.9;
/// Swap in use from which the floor is worth testing: before, groups are still filling.
const SWAP_FILLING: f64 = 0.5;

fn check(inputs: &Inputs<'_>) -> Option<Draft> {
    let killers = inputs.snapshot.killers.data()?;
    let why = killers
        .earlyoom
        .as_ref()
        .and_then(|seen| earlyoom(inputs.snapshot, seen))
        .or_else(|| killers.oomd.as_ref().and_then(|seen| oomd(inputs.snapshot, seen)))?;
    let (runs, way) = match killers.earlyoom {
        Some(_) => ("earlyoom runs", Way::Own),
        // Whether a unit has to be told is not known where none was seen.
        None if why.weight == Weight::Note => ("systemd-oomd runs", Way::Own),
        None => ("systemd-oomd runs", Way::Lines("systemd-oomd ends user sessions by pressure")),
    };
    Some(Draft { already: vec![runs.to_owned()], way, ..why })
}

fn earlyoom(snapshot: &Snapshot, seen: &Earlyoom) -> Option<Draft> {
    let total = snapshot.mem_total()?;
    let percent_of = |percent: f64, of: Bytes| bytes_of(of.as_f64() * percent / 100.0);
    let memory = percent_of(seen.memory_percent.unwrap_or(EARLYOOM_PERCENT), total);
    // Of percent and size the lower one counts.
    let memory = seen.memory.map_or(memory, |size| if seen.memory_percent.is_some() { size.min(memory) } else { size });
    let low: Bytes = watermarks::from_snapshot(snapshot, None)?.nodes.iter().map(|node| node.low).sum();
    if memory < low {
        return Some(Draft {
            weight: Weight::Warning,
            title: format!("earlyoom acts only below {memory} available: too late, reclaim begins at {low} free"),
            effect: "at that point there is almost no page cache left, so programs stand still over their own code before earlyoom acts".into(),
            evidence: vec![
                evidence("earlyoom acts below", memory, seen.source.clone()),
                evidence("kswapd wakes below", low, "/proc/zoneinfo low, all zones"),
                evidence(
                    "free + cache then",
                    format!("about {}", memory + low),
                    "MemAvailable leaves out the low watermark of the cache",
                ),
            ],
            confidence: Confidence::Medium,
            ..Draft::default()
        });
    }
    let areas = look::areas(snapshot)?;
    let swap: Bytes = areas.iter().map(|area| area.size).sum();
    let swap_percent = seen.swap_percent.unwrap_or(EARLYOOM_PERCENT);
    let mut needed = Bytes::ZERO;
    let mut tells = !areas.is_empty();
    for area in &areas {
        let gain = look::zram_of(snapshot, area)
            .and_then(|device| gain(device, snapshot.machine.page_size, snapshot.mem_total()))
            .filter(|gain| gain.resident >= ENOUGH_RESIDENT);
        // A disk holds its pages without RAM.
        match (area.zram(), gain.and_then(|gain| gain.effective_ratio)) {
            (None, _) => {}
            (Some(_), Some(ratio)) if ratio.0 > 0.0 => needed += bytes_of(area.size.as_f64() / ratio.0),
            (Some(_), _) => tells = false,
        }
    }
    let needed = percent_of(100.0 - swap_percent, needed);
    if !tells || swap_percent >= 100.0 || needed.as_f64() < total.as_f64() * POOL_ROOM {
        return None;
    }
    Some(Draft {
        weight: Weight::Warning,
        title: format!("earlyoom waits until {swap_percent:.0} % of swap is free: zram would fill {needed} of {total} of RAM by then"),
        effect: "memory is full before swap is: the machine stands still and earlyoom does not act; with -s 100 memory alone decides".into(),
        evidence: vec![
            evidence("earlyoom acts below", format!("{swap_percent:.0} % of swap free"), seen.source.clone()),
            evidence("swap", swap, "/proc/swaps"),
            evidence("RAM for that much in zram", needed, "size / measured ratio (show zram)"),
        ],
        confidence: Confidence::Medium,
        ..Draft::default()
    })
}

fn oomd(snapshot: &Snapshot, seen: &Oomd) -> Option<Draft> {
    let Some(watched) = seen.watched.as_ref() else { return not_seen(snapshot, seen) };
    let asks = |pick: fn(&ramline_snapshot::killers::Watched) -> bool| watched.iter().filter(|unit| pick(unit)).count();
    let (by_swap, by_pressure) = (asks(|unit| unit.swap), asks(|unit| unit.pressure));
    let counts = evidence(
        "units that ask to be watched",
        format!("{by_swap} by swap, {by_pressure} by pressure"),
        "ManagedOOMSwap=, ManagedOOMMemoryPressure= in unit files",
    );
    let dead = |title: String, effect: &str, more: Evidence, confidence: Confidence| {
        let evidence = vec![counts.clone(), more];
        let weight = Weight::Warning;
        Some(Draft { title, weight, effect: effect.to_owned(), evidence, confidence, ..Draft::default() })
    };
    if by_swap + by_pressure == 0 {
        return dead(
            "systemd-oomd runs and 0 units ask it to watch them".into(),
            "it ends nothing; set ManagedOOMMemoryPressure=kill on user@.service or a slice",
            evidence("thresholds", "without effect", seen.source.clone()),
            // A unit made while the system runs may ask too, and no file tells.
            Confidence::Medium,
        );
    }
    let areas = look::areas(snapshot)?;
    if areas.is_empty() && by_pressure == 0 {
        return dead(
            format!("systemd-oomd watches {by_swap} units by their swap, and there is 0 B of swap"),
            "its only rule here never applies; ManagedOOMMemoryPressure=kill needs no swap",
            evidence("swap areas", "none", "/proc/swaps"),
            Confidence::High,
        );
    }
    if by_swap == 0 && matches!(snapshot.pressure_memory, Seen::Absent { .. }) {
        return dead(
            format!("systemd-oomd watches {by_pressure} units by their pressure, and this kernel does not measure it"),
            "its only rule here never applies; psi=1 on the kernel's command line switches the measuring on",
            evidence("pressure", "not there", "/proc/pressure/memory"),
            Confidence::High,
        );
    }
    if by_swap > 0 && by_pressure == 0 { floor(snapshot, seen, counts) } else { None }
}

/// Swap is past the mark from which it should end something, and no unit file could be read.
fn not_seen(snapshot: &Snapshot, seen: &Oomd) -> Option<Draft> {
    let areas = look::areas(snapshot)?;
    let (size, used): (Bytes, Bytes) = (areas.iter().map(|a| a.size).sum(), look::swap_used(&areas));
    let limit = seen.swap_used_percent.unwrap_or(OOMD_SWAP_PERCENT);
    let share = used.share_of(size).filter(|share| share * 100.0 >= limit)?;
    Some(Draft {
        title: format!(
            "systemd-oomd runs, {} of swap is used, and which units it watches was not seen",
            percent(share)
        ),
        weight: Weight::Note,
        effect: "where no unit asks to be watched it ends nothing, however full swap is; oomctl lists what it watches"
            .into(),
        evidence: vec![
            evidence("swap used", format!("{used} of {size}"), "/proc/swaps"),
            evidence("acts from", format!("{limit:.0} % of swap used"), seen.source.clone()),
        ],
        confidence: Confidence::Low,
        ..Draft::default()
    })
}

/// Swap fills up, and no group holds enough of it to be ended.
fn floor(snapshot: &Snapshot, seen: &Oomd, counts: Evidence) -> Option<Draft> {
    let areas = look::areas(snapshot)?;
    let (size, used): (Bytes, Bytes) = (areas.iter().map(|a| a.size).sum(), look::swap_used(&areas));
    let groups = snapshot.groups.data().filter(|groups| groups.version == Some(Version::V2) && groups.complete)?;
    let is_leaf = |group: &&Group| {
        !groups.list.iter().any(|g| g.path.starts_with(&format!("{}/", group.path.trim_end_matches('/'))))
    };
    let most = groups.list.iter().filter(is_leaf).max_by_key(|group| group.swap_current)?;
    let held = most.swap_current?;
    if used.share_of(size)? < SWAP_FILLING || held.share_of(size)? >= OOMD_FLOOR {
        return None;
    }
    let limit = seen.swap_used_percent.unwrap_or(OOMD_SWAP_PERCENT);
    Some(Draft {
        weight: Weight::Warning,
        title: format!("systemd-oomd spares groups below 5 % of swap, and the largest here has {held} of {size}"),
        effect: format!(
            "when {limit:.0} % of swap are used it finds no group to end; ManagedOOMMemoryPressure=kill has no such floor"
        ),
        evidence: vec![
            counts,
            evidence("swap used", format!("{used} of {size}, {}", percent(used.share_of(size)?)), "/proc/swaps"),
            evidence("the group with most of it", format!("{}: {held}", most.path), "memory.swap.current"),
        ],
        confidence: Confidence::Medium,
        ..Draft::default()
    })
}
