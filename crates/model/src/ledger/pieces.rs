//! The ledger in a handful of pieces, for a screen that is read at a glance.
//!
//! Sums of the lines, each line in one piece, and the leftover with the kernel's own. What of the kernel's memory is large is a piece of its own: slab
//! that is in use, graphics memory, and the leftover, from [`SPLIT`] of RAM on. The pieces are shares of MemTotal, or of their sum where counters overlap and
//! that is more: together they are never above 1.
//!
//! Worked example: free 3 and per-CPU lists 1 MiB are one piece of 4 MiB, unused.

use super::{Freeable, Ledger, Term};
use crate::low_mark::low_mark;
use crate::prelude::*;
use PieceKind::{
    Arc, Balloon, Cache, Compressed, Device, Dirty, Free, Graphics, HugePages, Kernel, Locked, NotKnown, Processes,
    Shared, Slab, Uncounted,
};

/// From this share of RAM on a part of the kernel's memory is a piece by itself. On machines without a leak slab, graphics and leftover are a few
/// hundredths: there one row of the kernel is enough. On a large machine a twentieth is much: there it is as much as the kernel wants on its inactive
/// lists ([`low_mark`]: 3.0 GiB of 93, 13.5 GiB of 1.8 TiB), for so much less is what makes a machine short of memory.
pub const SPLIT: f64 = 0.05;

/// Which piece.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PieceKind {
    /// Memory of processes.
    Processes,
    /// tmpfs and shared memory.
    Shared,
    /// Locked.
    Locked,
    /// The pool of huge pages.
    HugePages,
    /// What zram and zswap hold.
    Compressed,
    /// Taken by the hypervisor and still in MemTotal.
    Balloon,
    /// Graphics memory, where it is much.
    Graphics,
    /// Buffers of devices, where they are much.
    Device,
    /// Kernel objects in use, where they are much.
    Slab,
    /// In no counter, where it is much: pages of drivers above all.
    Uncounted,
    /// The kernel's own, and of those above what is not much.
    Kernel,
    /// What no line tells: of programs or the kernel's.
    NotKnown,
    /// Page cache that must be written first.
    Dirty,
    /// The cache of ZFS.
    Arc,
    /// Page cache.
    Cache,
    /// Unused.
    Free,
}

/// A piece of MemTotal.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Piece {
    /// Which.
    pub kind: PieceKind,
    /// How much. Gauge.
    pub bytes: Bytes,
    /// Of MemTotal, 0 to 1; of the sum of all where that is more.
    pub share: f64,
    /// What it takes to free it.
    pub freeable: Freeable,
}

/// All pieces, in the order they are shown in.
const ORDER: [PieceKind; 16] = [
    Processes, Shared, Locked, HugePages, Compressed, Balloon, Graphics, Device, Slab, Uncounted, Kernel, NotKnown,
    Dirty, Arc, Cache, Free,
];

impl PieceKind {
    /// The piece a line belongs to.
    #[must_use]
    pub const fn for_term(term: Term) -> PieceKind {
        match term {
            Term::Free | Term::CpuLists | Term::CmaFree | Term::Unaccepted => Free,
            Term::Anon => Processes,
            Term::Shmem => Shared,
            Term::FileClean => Cache,
            Term::FileDirty => Dirty,
            Term::Unevictable => Locked,
            Term::CompressedPool | Term::ZswapPool => Compressed,
            Term::Hugetlb => HugePages,
            Term::Balloon => Balloon,
            Term::GpuActive | Term::GpuReclaim => Graphics,
            Term::DeviceBuffers => Device,
            Term::SlabUnreclaimable => Slab,
            Term::Arc => Arc,
            _ => Kernel,
        }
    }
}

impl Ledger {
    /// The pieces that hold anything; they add up to MemTotal, or to the lines where those are more.
    #[must_use]
    pub fn pieces(&self) -> Vec<Piece> {
        let own = |kind| self.lines.iter().filter(move |line| PieceKind::for_term(line.id) == kind);
        let sum = |kind| match kind {
            Uncounted => self.leftover_of_kernel(),
            NotKnown => self.leftover_not_known(),
            _ => own(kind).map(|line| line.bytes).sum(),
        };
        let is_large = |kind: &PieceKind| {
            let bytes = sum(*kind);
            bytes.share_of(self.total).is_some_and(|share| share >= SPLIT) || bytes >= low_mark(self.total)
        };
        let with_kernel = [Graphics, Device, Slab, Uncounted].into_iter().filter(|kind| !is_large(kind));
        let small: Bytes = with_kernel.clone().map(sum).sum();
        let bytes = |kind| match kind {
            Kernel => sum(kind) + small,
            _ if with_kernel.clone().any(|other| other == kind) => Bytes::ZERO,
            _ => sum(kind),
        };
        let whole = self.total.max(ORDER.into_iter().map(bytes).sum());
        let piece = |kind| {
            let bytes = bytes(kind);
            let largest = own(kind).max_by_key(|line| line.bytes);
            let freeable = match kind {
                Kernel => Freeable::Partly,
                _ => largest.map_or(Freeable::No, |line| line.freeable),
            };
            Piece { kind, bytes, share: bytes.share_of(whole).unwrap_or(0.0), freeable }
        };
        ORDER.into_iter().map(piece).filter(|piece| piece.bytes.0 > 0).collect()
    }
}
