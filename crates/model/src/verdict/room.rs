//! What is left on the machine, and whether that is little.

use super::LITTLE;
use crate::ledger::{Ledger, Term};
use crate::prelude::*;
use crate::watermarks::Watermarks;

/// What is left on the machine.
#[derive(Debug, Clone, Copy)]
pub struct Room {
    /// Without swapping.
    pub available: Bytes,
    /// Free in swap areas; `None` where it was not seen.
    pub swap: Option<Bytes>,
}

impl Room {
    /// Less than this share of RAM, and little in bytes.
    pub(super) fn is_below(self, share: f64, ram: Bytes) -> bool {
        let Some(left) = self.swap.map(|swap| self.available + swap) else { return false };
        left < LITTLE && left.share_of(ram).is_some_and(|left| left < share)
    }
}

/// MemAvailable; where the kernel does not tell it (before 3.14), free memory and clean cache above the reserve.
pub(super) fn available(snapshot: &Snapshot, ledger: &Ledger, marks: Option<&Watermarks>) -> Bytes {
    let told = snapshot.meminfo.data().and_then(|meminfo| meminfo.mem_available);
    told.unwrap_or_else(|| {
        let reserve: Bytes = marks.map(|m| m.nodes.iter().map(|n| n.low).sum()).unwrap_or_default();
        let clean = ledger.line(Term::FileClean).map_or(Bytes::ZERO, |line| line.bytes);
        (ledger.bytes(Term::Free) + ledger.bytes(Term::CpuLists) + clean).saturating_sub(reserve)
    })
}
