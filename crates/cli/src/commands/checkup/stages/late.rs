//! What a checkup did not look at because its time was up: each part by name, and the command that looks at it alone.

use ramline_gather::LateSections;
use ramline_snapshot::setup::SetUp;

use super::{Done, Skipped, skipped};
use crate::prelude::*;

/// How long the files of the set-up may take: some hundred small ones.
const SET_UP: Duration = Duration::from_secs(1);

/// In less nothing is read.
const SHORTEST: Duration = Duration::from_millis(50);

/// A section, what it is called, and the command that reads it.
const CALLED: &[(&[&str], &str, &str)] = &[
    (&["processes"], "processes", "ramline show processes"),
    (&["groups", "cgroups", "limited"], "control groups", "ramline show cgroups"),
    (&["evictors", "lru_gen", "thp"], "switches of memory management", "ramline snapshot"),
    (&["mounts", "blocks"], "mounts", "ramline show tmpfs"),
    (&["dirs"], "/tmp and the directories like it", "ramline show tmpfs"),
    (&["shmem"], "shared memory", "ramline show tmpfs"),
    (&["slab", "configured", "killers"], "kernel caches and configuration files", "ramline snapshot"),
    (&["swaps", "zram", "zswap"], "swap areas", "ramline show swap"),
];
/// Everything else.
const MEMORY: (&str, &str) = ("counters of the kernel", "ramline show memory");

pub fn time_was_up(after: Duration) -> String {
    if after < SHORTEST {
        return "no time was left".to_owned();
    }
    format!("time was up after {:.1} s", after.as_secs_f64())
}

/// Sections that are missing, and those that were not read to their end.
pub fn left_out(seen: &Snapshot, late: &[LateSections]) -> Vec<Skipped> {
    let mut out: Vec<Skipped> = Vec::new();
    for late in late {
        for section in &late.sections {
            let called = CALLED.iter().find(|(sections, ..)| sections.contains(section));
            let (what, fix) = called.map_or(MEMORY, |(_, what, fix)| (*what, *fix));
            if out.iter().all(|known| known.what != what) {
                out.push(skipped(what, format!("not looked at: {}", time_was_up(late.after)), Some(fix)));
            }
        }
    }
    out.extend(cut_short(seen));
    out
}

fn cut_short(seen: &Snapshot) -> Vec<Skipped> {
    let mut out = Vec::new();
    let mut part = |what: String, fix: &str| out.push(skipped(&what, "not looked at: time was up", Some(fix)));
    if let Some(left) = seen.processes.data().map(|p| p.missed.unreached).filter(|left| *left > 0) {
        part(format!("{left} processes"), "ramline show processes");
    }
    if let Some(groups) = seen.groups.data().filter(|groups| !groups.complete) {
        part(format!("control groups but the first {}", groups.list.len()), "ramline show cgroups");
    }
    let dirs = seen.dirs.data().into_iter().flatten().filter(|dir| !dir.complete && dir.refused == 0);
    for dir in dirs {
        part(format!("{} behind its first {} files", dir.path, dir.inodes), "ramline show tmpfs");
    }
    if seen.shmem.data().is_some_and(|shmem| {
        !shmem.walk.processes_complete || shmem.filesystems.iter().any(|filesystem| !filesystem.complete)
    }) {
        part("a part of shared memory".to_owned(), "ramline show tmpfs");
    }
    out
}

/// How the system is configured; nothing is known of it where reading it takes too long.
pub fn set_up(source: &Source, done: &mut Done) -> Result<SetUp> {
    if !source.is_live() {
        return source.set_up();
    }
    let read = || ramline_gather::set_up(&Root::live());
    Ok(ramline_kernel::worker::within("set-up", SET_UP, read).unwrap_or_else(|| {
        done.skip("configuration files", format!("not looked at: {}", time_was_up(SET_UP)), Some("ramline tune plan"));
        SetUp::default()
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use ramline_snapshot::Seen;
    use ramline_snapshot::groups::Groups;
    use ramline_snapshot::processes::{Missed, Processes};

    #[test]
    fn what_is_late_is_named_once_with_the_command_that_looks_at_it() {
        let mut seen = Snapshot::default();
        let missed = Missed { unreached: 12_000, ..Missed::default() };
        seen.processes = Seen::new(Processes { missed, ..Processes::default() });
        seen.groups = Seen::new(Groups { complete: true, ..Groups::default() });
        let late = [
            LateSections { sections: vec!["groups"], after: Duration::from_secs(3) },
            LateSections { sections: vec!["slab", "configured"], after: Duration::from_millis(1500) },
            LateSections { sections: vec!["meminfo", "vmstat"], after: Duration::ZERO },
        ];
        let told: Vec<String> = left_out(&seen, &late)
            .iter()
            .map(|step| format!("{}: {}; try: {}", step.what, step.why, step.fix.as_deref().unwrap_or_default()))
            .collect();
        assert_eq!(
            told,
            [
                "control groups: not looked at: time was up after 3.0 s; try: ramline show cgroups",
                "kernel caches and configuration files: not looked at: time was up after 1.5 s; try: ramline snapshot",
                "counters of the kernel: not looked at: no time was left; try: ramline show memory",
                "12000 processes: not looked at: time was up; try: ramline show processes",
            ]
        );
    }
}
