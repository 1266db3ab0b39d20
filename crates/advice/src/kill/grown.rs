//! Who grew before a kill, in sentences.

use ramline_model::kill::{Grown, GrowthBefore, Kill};
use ramline_units::{Bytes, escape};

/// What grew most, and whether it is what was killed.
pub(super) fn sentences(growth: &GrowthBefore, kill: &Kill) -> Vec<String> {
    let time = match growth.seconds {
        seconds @ ..120 => format!("{seconds} s"),
        seconds => format!("{} min", seconds / 60),
    };
    let mut out = Vec::new();
    match growth.processes.first() {
        Some(first) => out.push(format!("In the {time} before, {} grew most: {}.", named(first), sizes(first))),
        None => out.push(format!("In the {time} before, no process that was recorded grew.")),
    }
    if let (Some(first), Some(victim)) = (growth.processes.first(), &kill.victim)
        && let (Some(pid), Some(grew)) = (victim.pid, first.pid)
    {
        let held = growth.processes.iter().any(|one| one.pid.is_some_and(|one| u64::from(one) == u64::from(pid)));
        out.extend((u64::from(pid) != u64::from(grew)).then(|| {
            if held {
                "The process that was killed grew too, but not most.".to_owned()
            } else {
                "The process that was killed is not among those that grew.".to_owned()
            }
        }));
    }
    let part = |what: &str, both: Option<(Bytes, Bytes)>| {
        let (before, after) = both?;
        let more = after.checked_sub(before).filter(|more| more.0 > 16 << 20)?;
        Some(format!("{what} grew by {more}, from {before} to {after}."))
    };
    out.extend(part("Shared memory (tmpfs, memfd, System V)", growth.shared));
    out.extend(part("Kernel memory that cannot be reclaimed (slab)", growth.slab));
    out
}

fn named(grown: &Grown) -> String {
    let name = escape(&grown.name);
    grown.pid.map_or_else(|| name.to_string(), |pid| format!("{name} (pid {pid})"))
}

fn sizes(grown: &Grown) -> String {
    match grown.before {
        Some(before) => format!("by {}, from {before} to {}", grown.more, grown.after),
        None => format!("it began, and had {}", grown.after),
    }
}
