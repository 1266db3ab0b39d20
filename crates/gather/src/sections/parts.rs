//! A snapshot within a time: in parts, each with a bound of its own, so that one that hangs or has too much to read costs only itself.
//!
//! A part is read by a thread of its own. One that reads piece by piece ends a little before its bound, and says that it is not complete;
//! one that waits in the kernel (for a lock of a process, for a device) is left behind at the bound, and its sections were not read.
//! The machine itself is a few files of the kernel and is read at once. Not for captures, which neither hang nor grow.
//!
//! Worked example: 6 s are left, and 20,000 control groups take 9: the groups have 3 s, come as far as the 7,000th, and the parts behind
//! them have what is left.

use ramline_kernel::worker;
use ramline_snapshot::{Snapshot, Wanted};

use super::reader::Reader;
use super::{Walking, machine, read};
use crate::prelude::*;

/// Sections that are not in a snapshot because their time was up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LateSections {
    /// By name.
    pub sections: Vec<&'static str>,
    /// How long they were read.
    pub after: Duration,
}

/// What is read together, since one section needs another or since their figures are compared.
struct Part {
    these: Wanted,
    /// At most this share of the time for all.
    share: f64,
}

const NOTHING: Wanted = Wanted::NOTHING;

/// The order is that of their worth. What the first line is made of comes first and has as much time as there is: on a machine on which
/// nothing else comes to its turn, these are the figures that must not be missing. The shares add up to more than the whole, since few parts
/// ever need theirs.
const PARTS: &[Part] = &[
    Part { these: COUNTERS, share: 1.0 },
    Part { these: Wanted { cgroups: true, limited: true, ..NOTHING }, share: 0.2 },
    Part { these: Wanted { processes: true, killers: true, ..NOTHING }, share: 0.4 },
    Part { these: FILES, share: 0.3 },
    Part { these: Wanted { mounts: true, blocks: true, ..NOTHING }, share: 0.3 },
    Part { these: Wanted { groups: true, ..NOTHING }, share: 0.4 },
    Part { these: Wanted { configured: true, slab: true, containers: true, ..NOTHING }, share: 0.2 },
    Part { these: Wanted { dirs: true, ..NOTHING }, share: 0.25 },
    Part { these: Wanted { shmem: true, ..NOTHING }, share: 0.3 },
];

/// A dozen files that the kernel answers at once, whatever the machine has.
const COUNTERS: Wanted = Wanted {
    meminfo: true,
    vmstat: true,
    zoneinfo: true,
    buddyinfo: true,
    pressure_memory: true,
    pressure_io: true,
    pressure_cpu: true,
    swaps: true,
    settings: true,
    hugepages: true,
    zfs: true,
    ..NOTHING
};

/// Single files too, of drivers and of what else evicts pages.
const FILES: Wanted = Wanted { zram: true, zswap: true, evictors: true, lru_gen: true, thp: true, ..NOTHING };

/// What reads piece by piece ends when so much of its time is used.
const OF_ITS_TIME: f64 = 0.85;

/// Reads the wanted sections of this machine until a moment; what is late is left out and named.
#[must_use]
pub fn gather_until(root: &Root, want: Wanted, walking: Walking, end: Instant) -> (Snapshot, Vec<LateSections>) {
    let start = Instant::now();
    let whole = end.saturating_duration_since(start);
    let mut out = Snapshot::new(machine::machine(&Reader::new(root)));
    let mut late = Vec::new();
    for part in PARTS {
        let these = part.these.and(want);
        if these == NOTHING {
            continue;
        }
        let most = whole.mul_f64(part.share).min(end.saturating_duration_since(Instant::now()));
        match read_part(root, &out, these, walking, most) {
            Some(seen) => out.take(seen, these),
            None => late.push(LateSections { sections: these.names(), after: most }),
        }
    }
    (out, late)
}

fn read_part(root: &Root, so_far: &Snapshot, these: Wanted, walking: Walking, most: Duration) -> Option<Snapshot> {
    if most.is_zero() {
        return None;
    }
    let (root, empty, soft) = (root.clone(), Snapshot::new(so_far.machine.clone()), most.mul_f64(OF_ITS_TIME));
    worker::within("gather", most, move || read(&Reader::until(&root, Instant::now() + soft), empty, these, walking))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_section_is_in_one_part() {
        let names: Vec<&str> = PARTS.iter().flat_map(|part| part.these.names()).collect();
        let mut sorted = names.clone();
        sorted.sort_unstable();
        let mut all = Snapshot::SECTIONS.to_vec();
        all.sort_unstable();
        assert_eq!(sorted, all);
        assert_eq!(names.first(), Some(&"meminfo"), "what the first line is made of comes first");
    }

    #[test]
    fn what_is_late_is_named_and_what_is_not_is_there() {
        let root = Root::live();
        let (seen, late) = gather_until(&root, Wanted::ALL, Walking::Never, Instant::now());
        assert!(!seen.machine.kernel.is_empty() && seen.meminfo.data().is_none());
        assert_eq!(late.iter().map(|late| late.sections.len()).sum::<usize>(), Snapshot::SECTIONS.len());
        let want = Wanted { meminfo: true, processes: true, ..NOTHING };
        let (seen, late) = gather_until(&root, want, Walking::Never, Instant::now() + Duration::from_secs(600));
        assert!(late.is_empty() && seen.meminfo.data().is_some());
        assert!(seen.processes.data().unwrap().missed.unreached == 0);
    }
}
