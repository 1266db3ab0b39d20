//! The ledger in a handful of pieces, for a screen that is read at a glance.
//!
//! Sums of the lines, each line in one piece, and the leftover with the kernel's own.
//!
//! Worked example: free 3 and per-CPU lists 1 MiB are one piece of 4 MiB, unused.

use super::{Freeable, Ledger, Term};
use crate::prelude::*;
use PieceKind::{Cache, Compressed, Dirty, Free, HugePages, Kernel, Locked, Processes, Shared};

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
    /// The kernel's own, the leftover with it.
    Kernel,
    /// Page cache that must be written first.
    Dirty,
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
    /// Of MemTotal, 0 to 1.
    pub share: f64,
    /// What it takes to free it.
    pub freeable: Freeable,
}

/// All pieces, in the order they are shown in.
const ORDER: [PieceKind; 9] = [Processes, Shared, Locked, HugePages, Compressed, Kernel, Dirty, Cache, Free];

impl PieceKind {
    /// The piece a line belongs to.
    #[must_use]
    pub const fn of(term: Term) -> PieceKind {
        match term {
            Term::Free | Term::CpuLists | Term::CmaFree | Term::Unaccepted => Free,
            Term::Anon => Processes,
            Term::Shmem => Shared,
            Term::FileClean => Cache,
            Term::FileDirty => Dirty,
            Term::Unevictable => Locked,
            Term::CompressedPool | Term::ZswapPool => Compressed,
            Term::Hugetlb => HugePages,
            _ => Kernel,
        }
    }
}

impl Ledger {
    /// The pieces that hold anything; they add up to MemTotal, but for a leftover below zero.
    #[must_use]
    pub fn pieces(&self) -> Vec<Piece> {
        let piece = |kind| {
            let lines = || self.lines.iter().filter(|line| PieceKind::of(line.id) == kind);
            let rest = if kind == Kernel { self.leftover.or_zero() } else { Bytes::ZERO };
            let bytes = lines().map(|line| line.bytes).sum::<Bytes>() + rest;
            let largest = lines().max_by_key(|line| line.bytes);
            let freeable = match kind {
                Kernel => Freeable::Partly,
                _ => largest.map_or(Freeable::No, |line| line.freeable),
            };
            Piece { kind, bytes, share: bytes.share_of(self.total).unwrap_or(0.0), freeable }
        };
        ORDER.into_iter().map(piece).filter(|piece| piece.bytes.0 > 0).collect()
    }
}
