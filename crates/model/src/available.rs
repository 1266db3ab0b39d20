//! What new programs can take without swapping: one number for every screen.
//!
//! MemAvailable, and what the ZFS cache gives back, which the kernel does not count in it. Before 3.14, which has no MemAvailable, the estimate that 3.14
//! makes, said to be one.
//!
//! Worked example: MemAvailable 4.0 GiB, an ARC of 62.0 GiB with `c_min` 4.0 GiB: 62.0 GiB are available, 58.0 of them ZFS cache.

use crate::ledger::{Ledger, Term};
use crate::prelude::*;
use crate::watermarks::{self, Watermarks};

/// What is available on the machine.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Available {
    /// In all.
    pub bytes: Bytes,
    /// Of it, what the ZFS cache gives back: slower than page cache, for its shrinker evicts by itself.
    pub arc: Bytes,
    /// Where the number without it is from.
    pub from: AvailableFrom,
}

/// Where the number of what is available is from.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum AvailableFrom {
    /// MemAvailable, the kernel's own estimate.
    #[default]
    Kernel,
    /// This file has no MemAvailable (before 3.14): estimated from what else it has.
    Estimate,
    /// Its MemAvailable is more than MemTotal, which cannot be: estimated as without it.
    Impossible,
    /// It has too little to estimate it: the number is 0 and says nothing.
    Nothing,
}

impl AvailableFrom {
    /// The number is an estimate of ours: `about` belongs before it.
    #[must_use]
    pub const fn is_estimate(self) -> bool {
        matches!(self, AvailableFrom::Estimate | AvailableFrom::Impossible)
    }

    /// What belongs below a first line whose number is not the kernel's.
    pub(crate) const fn words(self) -> Option<&'static str> {
        match self {
            AvailableFrom::Kernel => None,
            AvailableFrom::Estimate => Some(
                "This /proc/meminfo has no MemAvailable: it is estimated from free memory, cache and reclaimable objects.",
            ),
            AvailableFrom::Impossible => {
                Some("MemAvailable is not believed: what is available is estimated from free memory and cache.")
            }
            AvailableFrom::Nothing => {
                Some("/proc/meminfo has neither MemAvailable nor what it could be estimated from.")
            }
        }
    }
}

impl Available {
    /// Where it was read.
    #[must_use]
    pub const fn source(self) -> &'static str {
        match self.arc {
            _ if matches!(self.from, AvailableFrom::Impossible) => {
                "estimated from /proc/meminfo, whose MemAvailable is above MemTotal"
            }
            _ if !matches!(self.from, AvailableFrom::Kernel) => {
                "estimated from /proc/meminfo, which has no MemAvailable"
            }
            Bytes::ZERO => "/proc/meminfo MemAvailable",
            _ => "/proc/meminfo MemAvailable + what arcstats says can shrink",
        }
    }
}

/// What is available; `None` without MemTotal, and where a file shows too little to tell.
#[must_use]
pub fn from_snapshot(snapshot: &Snapshot) -> Option<Available> {
    let meminfo = snapshot.meminfo.data()?.believed();
    match (meminfo.mem_available, snapshot.zfs.data()) {
        // Most machines: nothing else is needed.
        (Some(bytes), None | Some(None)) => Some(Available { bytes, ..Available::default() }),
        _ => {
            let found =
                with(snapshot, &Ledger::from_snapshot(snapshot)?, watermarks::from_snapshot(snapshot, None).as_ref());
            Some(found).filter(|found| found.from != AvailableFrom::Nothing)
        }
    }
}

/// The number alone.
#[must_use]
pub fn bytes(snapshot: &Snapshot) -> Option<Bytes> {
    from_snapshot(snapshot).map(|available| available.bytes)
}

/// The same where ledger and watermarks are known.
pub(crate) fn with(snapshot: &Snapshot, ledger: &Ledger, marks: Option<&Watermarks>) -> Available {
    let (kernel, from) = by_kernel(snapshot, ledger, marks);
    // Only a cache that is in this MemTotal.
    let parts = ledger.line(Term::Arc).map(|line| line.children.as_slice()).unwrap_or_default();
    let arc = parts.iter().find(|part| part.id == Term::ArcShrinkable).map_or(Bytes::ZERO, |part| part.bytes);
    let arc = arc.min(ledger.total.saturating_sub(kernel));
    Available { bytes: kernel + arc, arc, from }
}

/// MemAvailable; where the kernel does not show it, the estimate that 3.14 makes (`meminfo_proc_show` of fs/proc/meminfo.c): free pages above the
/// low watermarks, and of page cache and of reclaimable objects what exceeds those, or half where that is more.
fn by_kernel(snapshot: &Snapshot, ledger: &Ledger, marks: Option<&Watermarks>) -> (Bytes, AvailableFrom) {
    let told = snapshot.meminfo.data().and_then(|meminfo| meminfo.mem_available);
    if let Some(told) = told.filter(|told| *told <= ledger.total) {
        return (told, AvailableFrom::Kernel);
    }
    let lines = ledger.line(Term::Free).zip(ledger.line(Term::FileClean));
    let Some((free, clean)) = lines else { return (Bytes::ZERO, AvailableFrom::Nothing) };
    let low = marks.map_or_else(|| low_by_default(ledger.total), |m| m.nodes.iter().map(|n| n.low).sum());
    let beyond = |bytes: Bytes| bytes.saturating_sub(low.min(Bytes(bytes.0 / 2)));
    // The lists of the kernel hold what must be written too.
    let cache = clean.bytes + ledger.bytes(Term::FileDirty);
    let free = (free.bytes + ledger.bytes(Term::CpuLists)).saturating_sub(low);
    let all = free + beyond(cache) + beyond(ledger.bytes(Term::SlabReclaimable));
    let from = if told.is_some() { AvailableFrom::Impossible } else { AvailableFrom::Estimate };
    (all.min(ledger.total), from)
}

/// The low watermarks of a kernel with default settings (`init_per_zone_wmark_min`): 5/4 of `4 · √KiB` KiB, 128 KiB to 64 MiB.
fn low_by_default(total: Bytes) -> Bytes {
    let kib = (total.0 / 1024).saturating_mul(16).isqrt().clamp(128, 65_536);
    Bytes::from_kib(kib + kib / 4)
}

#[cfg(test)]
mod tests {
    use ramline_snapshot::Seen;
    use ramline_snapshot::machine::Machine;
    use ramline_snapshot::zfs::Arc;

    use super::*;

    /// 128 GiB, 4 available, an ARC of 62 GiB that keeps 4.
    fn machine(more: &str, arc: Option<Arc>) -> Snapshot {
        let mut seen = Snapshot::new(Machine::default());
        let text = format!("MemTotal: 134217728 kB\nMemFree: 3145728 kB\nMemAvailable: 4194304 kB\n{more}");
        seen.meminfo = Seen::new(Meminfo::parse("m", &text).unwrap());
        seen.zfs = Seen::new(arc);
        seen
    }

    const ARC: Arc =
        Arc { size: Bytes::from_gib(62), min: Bytes::from_gib(4), max: Bytes::from_gib(64), evictable: None };

    #[test]
    fn what_the_zfs_cache_gives_back_is_available_and_said_to_be_zfs_cache() {
        let seen = from_snapshot(&machine("", Some(ARC))).unwrap();
        assert_eq!((seen.bytes, seen.arc), (Bytes::from_gib(62), Bytes::from_gib(58)));
        assert!(seen.source().contains("arcstats"));
        let held = Arc { evictable: Some(Bytes::from_gib(10)), ..ARC };
        assert_eq!(bytes(&machine("", Some(held))), Some(Bytes::from_gib(14)), "no more than is clean");
        assert_eq!(bytes(&machine("", None)), Some(Bytes::from_gib(4)));
    }

    #[test]
    fn the_cache_of_another_machine_is_not_available_here() {
        // A container on a ZFS host: meminfo speaks of the container, in which all but 2 GiB are process memory.
        let all = "Active(anon): 131072000 kB\nInactive(anon): 0 kB\nAnonPages: 131072000 kB\n";
        assert_eq!(bytes(&machine(all, Some(ARC))), Some(Bytes::from_gib(4)));
    }
}
