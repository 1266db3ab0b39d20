//! The group that is worst off at its own limit, in words, and what to do there: once, for the checkup, the explanations and the plan.
//!
//! No number is advised that was not measured: what a group needs is known when it runs without its limit. What is definite is offered: to take
//! away a memory.high that nothing can satisfy, and to switch kills on again, each with the way back.

use ramline_model::groups::{self, Cause, Knob, Trouble};
use ramline_model::pressure::PressureState;
use ramline_model::verdict::amount_of;
use ramline_snapshot::cgroup::Version;

use crate::prelude::*;

/// Advice for a group.
pub(crate) struct GroupAdvice {
    pub trouble: Trouble,
    /// A sentence without its end, which names the group.
    pub title: String,
    /// What to do, in lower case.
    pub to_do: String,
    pub change: Option<Change>,
}

/// The worst group whose tasks wait, stand still or are killed at its limit, or that filled swap because of it; a sandbox of the lab is none.
pub(crate) fn worst(inputs: &Inputs<'_>) -> Option<GroupAdvice> {
    let trouble = groups::worst(inputs.snapshot, inputs.window.as_ref())?;
    // Version 1 does not measure what a group waits: then the machine has to wait, and to evict in groups alone.
    let waits = || pressure::from_snapshot(inputs.snapshot, inputs.window).state == PressureState::GroupAtLimit;
    let is_told = trouble.is_telling() || trouble.cause == Cause::OwnsSwap || waits();
    if groups::is_sandbox(&trouble.path) || !is_told {
        return None;
    }
    Some(GroupAdvice {
        title: title(&trouble, inputs.window.map(|window| window.span)),
        to_do: to_do(&trouble),
        change: change(inputs.snapshot, &trouble),
        trouble,
    })
}

/// `Group /shop/web is at its limit of 4.0 GiB`.
fn at(trouble: &Trouble) -> String {
    let name = if trouble.path == "/" { "This group".to_owned() } else { format!("Group {}", trouble.path) };
    match trouble.knob {
        Knob::High => format!("{name} is held at memory.high ({})", trouble.limit),
        Knob::Max => format!("{name} is at its limit of {}", trouble.limit),
    }
}

fn title(of: &Trouble, span: Option<Nanos>) -> String {
    let time = |percent: Option<f64>| percent.map(|p| format!("{p:.1} % of the time"));
    let waits = time(of.waits).map(|time| format!("its tasks wait {time}"));
    let stands = time(of.stands).filter(|_| of.is_frozen()).map(|time| format!("all its tasks wait {time}"));
    let waiting = stands.or(waits).unwrap_or_else(|| "tasks wait there".to_owned());
    let left = match of.reclaimable.share_of(of.current) {
        Some(share) if of.reclaimable.0 > 0 => format!("{} of what it has", percent(share)),
        _ => "nothing of it".to_owned(),
    };
    let at = at(of);
    match of.cause {
        Cause::StuckInOom => {
            format!("{at} and out of memory with kills switched off: its tasks stand still until something is freed")
        }
        Cause::Killed => {
            let n = of.kills_now.unwrap_or_default();
            let processes = if n == 1 { "1 process was".to_owned() } else { format!("{n} processes were") };
            let span = span.map(|span| format!(" in {span}")).unwrap_or_default();
            format!("{at}: {processes} killed there{span}")
        }
        Cause::Dirty => format!("{at}: {waiting}, and {} must be written before it can be reclaimed", of.unwritten),
        Cause::NothingToReclaim if of.is_full() && !of.waits_now() => {
            let hits = of.hits.map(|hits| format!(", met {hits} times")).unwrap_or_default();
            format!("{at}{hits}: it is full, and {left} can be reclaimed")
        }
        Cause::NothingToReclaim => format!("{at}: {waiting}, and {left} can be reclaimed"),
        Cause::OwnsSwap => {
            let swap = of.swap.zip(of.swap_used).map(|(own, all)| amount_of(own, all)).unwrap_or_default();
            let waits = time(of.waits).filter(|_| of.waits_now()).map(|time| format!("; its tasks wait {time}"));
            format!("{at} and has {swap} of used swap{}", waits.unwrap_or_default())
        }
        Cause::Swaps => format!("{at}: {waiting}, and its swapped pages are needed again"),
        Cause::LosesCache => format!("{at}: {waiting}, and its files are read again"),
        Cause::Waits => format!("{at}: {waiting}"),
    }
}

/// More than half of its memory is files in RAM (tmpfs), freed only by deleting them.
fn is_shared(of: &Trouble) -> bool {
    of.shared.and_then(|shared| shared.share_of(of.current)).is_some_and(|share| share > 0.5)
}

fn to_do(of: &Trouble) -> String {
    let swap = match (of.swap_forbidden, of.version) {
        (true, Version::V2) => "allow it swap (memory.swap.max)",
        (true, Version::V1) => "allow it swap (memory.swappiness, memory.memsw.limit_in_bytes)",
        (false, _) => "give it swap",
    };
    if let Some(shared) = of.shared.filter(|_| is_shared(of) && of.cause == Cause::NothingToReclaim) {
        let files = amount_of(shared, of.current);
        return format!(
            "{files} are files in RAM (tmpfs, /dev/shm): delete some, limit the mount, or raise the group's limit"
        );
    }
    let need = format!("sudo ramline need {} measures what it needs", word(&of.path));
    match (of.cause, of.knob) {
        (Cause::StuckInOom, _) => "raise its limit, end a process of it, or switch kills on again".to_owned(),
        (Cause::NothingToReclaim, Knob::High) => format!(
            "{swap}, or raise or remove memory.high: slowing down frees nothing where nothing can be reclaimed; {need}"
        ),
        (Cause::NothingToReclaim | Cause::Killed, _) => {
            format!("raise its limit, {swap}, or make its load smaller: {need}")
        }
        (Cause::Dirty, _) => {
            format!("write sooner or less at once (fsync, a faster disk), or raise its limit: {need}")
        }
        (Cause::OwnsSwap, _) => {
            let none = if of.version == Version::V2 { "memory.swap.max" } else { "memory.swappiness 0" };
            format!(
                "its limit filled swap, not the machine: raise the limit, or keep the group out of swap ({none}); {need}"
            )
        }
        _ => format!("raise its limit, or make its load smaller: {need}"),
    }
}

/// What is definite, with the way back.
fn change(snapshot: &Snapshot, of: &Trouble) -> Option<Change> {
    match (of.cause, of.knob) {
        (Cause::StuckInOom, _) => {
            let file = file(snapshot, &of.path, "memory.oom_control")?;
            let set = |value: u64| format!("echo {value} > {file}");
            Some(Change::by("lets the kernel kill in the group, which frees memory at once", [set(0)], [set(1)]))
        }
        (Cause::NothingToReclaim, Knob::High) => {
            let what = "takes memory.high away: the group grows up to its memory.max, where the kernel kills instead";
            let unit = of.path.rsplit('/').next().unwrap_or_default();
            if [".service", ".scope", ".slice"].iter().any(|kind| unit.ends_with(kind)) {
                let set = |value: &str| format!("systemctl set-property --runtime {} MemoryHigh={value}", word(unit));
                return Some(Change::by(what, [set("infinity")], [set(&of.limit.0.to_string())]));
            }
            let file = file(snapshot, &of.path, "memory.high")?;
            Some(Change::by(what, [format!("echo max > {file}")], [format!("echo {} > {file}", of.limit.0)]))
        }
        _ => None,
    }
}

fn file(snapshot: &Snapshot, path: &str, knob: &str) -> Option<String> {
    let seen = snapshot.groups.data().or(snapshot.limited.data())?;
    (!seen.mount.is_empty()).then(|| word(&format!("{}{}/{knob}", seen.mount, path.trim_end_matches('/'))))
}

/// What it rests on.
pub(crate) fn grounds(of: &Trouble) -> Vec<Evidence> {
    let v2 = of.version == Version::V2;
    let knob = match of.knob {
        Knob::High => "memory.high",
        Knob::Max if v2 => "memory.max",
        Knob::Max => "memory.limit_in_bytes",
    };
    let mut out = vec![evidence("the group", format!("{} of {}", of.current, of.limit), knob)];
    let time = |percent: Option<f64>| percent.map(|p| format!("{p:.2} % of the time"));
    out.add("some task of it waited for memory", time(of.waits), "memory.pressure some");
    out.add("all its tasks waited at once", time(of.stands), "memory.pressure full");
    let minute = of.waits_60.map(|p| format!("{p:.2} % of the last 60 s"));
    out.add("for a minute", minute, "memory.pressure some");
    let count = |total: Option<u64>, now: Option<u64>| {
        let now = now.map(|n| format!("; {n} in this window")).unwrap_or_default();
        total.map(|n| format!("{n} times since the group was made{now}"))
    };
    let event = match (of.knob, v2) {
        (Knob::High, _) => "memory.events high",
        (Knob::Max, true) => "memory.events max",
        (Knob::Max, false) => "memory.failcnt",
    };
    out.add("met the limit", count(of.hits, of.hits_now), event);
    let kills = of.kills.filter(|n| *n > 0);
    let source = if v2 { "memory.events oom_kill" } else { "memory.oom_control oom_kill" };
    out.add("processes killed in it", count(kills, of.kills_now), source);
    out.put("can be reclaimed at once, or by swapping", of.reclaimable, "memory.stat, SwapFree");
    out.put("must be written first", of.unwritten, "memory.stat file_dirty + file_writeback");
    out.add("anonymous memory", of.anon, "memory.stat anon");
    let swap = of.swap.zip(of.swap_used).map(|(own, all)| format!("{own} of {all} that are used"));
    out.add("its swap", swap, if v2 { "memory.swap.current" } else { "memory.memsw.usage_in_bytes" });
    out
}
