//! What new programs can take without swapping: one number for every screen.
//!
//! MemAvailable, and what the ZFS cache gives back, which the kernel does not count in it. Before 3.14, which has no MemAvailable: free memory and clean
//! cache above the reserve.
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
}

impl Available {
    /// Where it was read.
    #[must_use]
    pub const fn source(self) -> &'static str {
        match self.arc {
            Bytes::ZERO => "/proc/meminfo MemAvailable",
            _ => "/proc/meminfo MemAvailable + what arcstats says can shrink",
        }
    }
}

/// What is available; `None` without MemTotal.
#[must_use]
pub fn of(snapshot: &Snapshot) -> Option<Available> {
    let meminfo = snapshot.meminfo.data()?;
    match (meminfo.mem_available, snapshot.zfs.data()) {
        // Most machines: nothing else is needed.
        (Some(bytes), None | Some(None)) => Some(Available { bytes, arc: Bytes::ZERO }),
        _ => Some(with(snapshot, &Ledger::of(snapshot)?, watermarks::of(snapshot, None).as_ref())),
    }
}

/// The number alone.
#[must_use]
pub fn bytes(snapshot: &Snapshot) -> Option<Bytes> {
    of(snapshot).map(|available| available.bytes)
}

/// The same where ledger and watermarks are known.
pub(crate) fn with(snapshot: &Snapshot, ledger: &Ledger, marks: Option<&Watermarks>) -> Available {
    let told = snapshot.meminfo.data().and_then(|meminfo| meminfo.mem_available);
    let kernel = told.unwrap_or_else(|| {
        let reserve: Bytes = marks.map(|m| m.nodes.iter().map(|n| n.low).sum()).unwrap_or_default();
        let clean = ledger.line(Term::FileClean).map_or(Bytes::ZERO, |line| line.bytes);
        (ledger.bytes(Term::Free) + ledger.bytes(Term::CpuLists) + clean).saturating_sub(reserve)
    });
    // Only a cache that is in this MemTotal.
    let parts = ledger.line(Term::Arc).map(|line| line.children.as_slice()).unwrap_or_default();
    let arc = parts.iter().find(|part| part.id == Term::ArcShrinkable).map_or(Bytes::ZERO, |part| part.bytes);
    let arc = arc.min(ledger.total.saturating_sub(kernel));
    Available { bytes: kernel + arc, arc }
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
        seen.meminfo = Seen::of(Meminfo::parse("m", &text).unwrap());
        seen.zfs = Seen::of(arc);
        seen
    }

    const ARC: Arc =
        Arc { size: Bytes::from_gib(62), min: Bytes::from_gib(4), max: Bytes::from_gib(64), evictable: None };

    #[test]
    fn what_the_zfs_cache_gives_back_is_available_and_said_to_be_zfs_cache() {
        let seen = of(&machine("", Some(ARC))).unwrap();
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
