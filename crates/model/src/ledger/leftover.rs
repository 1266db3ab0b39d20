//! What the leftover of the ledger is: the kernel's own, or what a file does not show, or memory that two lines count.
//!
//! Worked example: a meminfo of MemTotal and MemAvailable alone leaves 100 % over, and none of it is known to be the kernel's.

use super::Ledger;
use crate::prelude::*;

/// What the leftover is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LeftoverKind {
    /// Pages taken straight from the page allocator, of drivers, pipes and sockets, and what this kernel has no counter for.
    #[default]
    Uncounted,
    /// Memory of programs is in it too: the file lacks the lines that would tell.
    NotShown,
    /// Memory of a container that lxcfs shows no line of: its page tables, stacks and sockets.
    Container,
    /// Below zero by more than the counters may be off: lines count the same memory twice, or are not of one moment and one machine.
    Overlap,
}

impl LeftoverKind {
    /// Classifies the leftover; `bound` is what CPUs hold back of the counters. Below zero by no more than that and by per-CPU data is no fault: the first chunk of those
    /// is in Percpu and was taken at boot, before MemTotal was counted (mm/percpu.c).
    pub(super) fn classify(
        snapshot: &Snapshot,
        leftover: SignedBytes,
        bound: Bytes,
        users_missing: bool,
    ) -> LeftoverKind {
        let percpu = snapshot.meminfo.data().and_then(|meminfo| meminfo.percpu).unwrap_or_default();
        if leftover.0 < 0 && leftover.magnitude() > bound + percpu {
            LeftoverKind::Overlap
        } else if snapshot.machine.meminfo_by_lxcfs() {
            LeftoverKind::Container
        } else if users_missing {
            LeftoverKind::NotShown
        } else {
            LeftoverKind::Uncounted
        }
    }
}

impl Ledger {
    /// The part of the leftover that is the kernel's own: all of it, or nothing where a line of programs is missing.
    #[must_use]
    pub fn leftover_of_kernel(&self) -> Bytes {
        match self.leftover_kind {
            LeftoverKind::Uncounted | LeftoverKind::Overlap => self.leftover.or_zero(),
            LeftoverKind::NotShown | LeftoverKind::Container => Bytes::ZERO,
        }
    }

    /// The part of the leftover of which no line tells whether it is the kernel's or of programs.
    #[must_use]
    pub fn leftover_not_known(&self) -> Bytes {
        self.leftover.or_zero().saturating_sub(self.leftover_of_kernel())
    }

    /// By how much the lines are more than MemTotal; nothing where they are not.
    #[must_use]
    pub fn overlap(&self) -> Bytes {
        if self.leftover.0 < 0 { self.leftover.magnitude() } else { Bytes::ZERO }
    }

    /// Which lines of the file are not believed, and why.
    #[must_use]
    pub fn not_believed(&self) -> Option<String> {
        let (last, before) = self.impossible.split_last()?;
        let (names, are) = match before {
            [] => (last.clone(), "is"),
            before => (format!("{} and {last}", before.join(", ")), "are"),
        };
        Some(format!(
            "/proc/meminfo: {names} {are} above MemTotal, so the kernel's counters are wrong there and not believed."
        ))
    }

    /// What shares are of: MemTotal, or the lines where they are more, so that no shares add up to more than the whole.
    #[must_use]
    pub fn whole(&self) -> Bytes {
        self.total + self.overlap()
    }

    /// The likely cause of lines that are more than MemTotal.
    #[must_use]
    pub fn overlap_cause(&self) -> Option<String> {
        if self.leftover_kind != LeftoverKind::Overlap {
            return None;
        }
        let larger = self.lines.iter().find(|line| line.bytes > self.total);
        Some(match larger {
            Some(line) => format!("{} alone is more than MemTotal, so the files are not of one machine", line.label),
            None => "the files are not of one moment or one machine, or a driver's memory is in two of them".to_owned(),
        })
    }
}
