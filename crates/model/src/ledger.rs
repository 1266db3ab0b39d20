//! The ledger that closes: every byte of MemTotal on one line, with its owner and what it takes to free it.
//!
//! `MemTotal = sum of the lines + leftover`. Not a list per process (pages are
//! shared), nor a claim about the leftover, which holds what was taken straight from the page allocator
//! (network rings, pipes, unix sockets, DMA and trace buffers). The ZFS cache and a balloon are in no counter either; other files say how
//! large they are, and so they are lines (`uncounted.rs`).
//!
//! The terms: MemFree; the free lists of the CPUs (zoneinfo `count:`, which MemFree leaves out); the LRU lists
//! (Active + Inactive + Unevictable); isolated pages; slab; other reclaimable kernel memory (`KReclaimable` −
//! `SReclaimable`); vmalloc; page tables; per-CPU data; huge-page pool; the compressed pool (`nr_zspages`);
//! graphics memory. Measured on a 24 GiB machine of Linux 6.18 the leftover is 0.06 % and moves by 0.6 MB while gigabytes
//! move between tmpfs, zram and mapped files. It is that small where drivers take little and the kernel has all counters (5.3 and later); what
//! an older one does not count is named (`uncounted`), and what the leftover then is (`leftover.rs`).
//!
//! How the LRU term is split, so that the lines add up to it exactly and none is negative:
//! - `A` = Active(anon) + Inactive(anon). It holds tmpfs too, and neither holds what is locked: that sits in Unevictable.
//!   `L` = AnonPages + Shmem − A is locked memory of the two kinds together, at most Unevictable. Shmem line = Shmem, process line
//!   = A + L − Shmem, which is AnonPages and the swap cache, and the line of what is unevictable beside them = Unevictable − L. So
//!   whose memory it is needs no estimate; which of it is locked is printed with its bounds (`locked.rs`).
//! - `F` = Active(file) + Inactive(file). Dirty line = min(Dirty + Writeback, F), clean line = F − that. A page
//!   dirtied again while it is written counts twice, so clean is understated rather than overstated.
//! - Unevictable less `L` is a line of its own: locked files, ramfs, secret memory.
//!
//! Worked example: Active(anon) 10, Inactive(anon) 20 and Shmem 12 MiB give 12 MiB tmpfs and 18 MiB processes.

mod book;
mod drift;
mod leftover;
mod line;
mod locked;
mod pieces;
mod term;
mod uncounted;
mod vendor;

use self::book::Book;
pub use self::drift::{Drift, LineMove, Moved};
pub use self::leftover::LeftoverKind;
pub use self::line::{Freeable, LedgerLine, Outside};
pub use self::pieces::{Piece, PieceKind};
pub use self::term::Term;
use crate::prelude::*;

/// Where MemTotal is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Ledger {
    /// MemTotal.
    pub total: Bytes,
    /// The terms. With `leftover` they add up to `total`.
    pub lines: Vec<LedgerLine>,
    /// `total` less all lines. Negative when counters overlap or moved between two reads.
    pub leftover: SignedBytes,
    /// `leftover / total`.
    pub leftover_share: Option<f64>,
    /// What the leftover is.
    #[serde(default)]
    pub leftover_kind: LeftoverKind,
    /// What it holds beside drivers, pipes and sockets because this kernel, or this capture, has no counter for it.
    #[serde(default)]
    pub uncounted: Vec<String>,
    /// How far the counters together may be off: each CPU holds changes back up to a threshold.
    pub bound: Bytes,
    /// What may be in no counter for moments beside: free memory on its way to the hypervisor.
    #[serde(default)]
    pub in_report: Bytes,
    /// How many such counters the lines are made of.
    pub counters: u64,
    /// Locked, of process memory and shared memory together: it is in their lines, and neither reclaim nor swap takes it.
    #[serde(default)]
    pub locked: Bytes,
    /// Not part of MemTotal, where known.
    pub outside: Vec<Outside>,
    /// Terms this kernel or this user does not show; what they would count is in the leftover.
    pub missing_terms: Vec<String>,
    /// Lines of /proc/meminfo above MemTotal, with their sizes: no part of RAM is, so they are not believed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub impossible: Vec<String>,
    /// Lines of /proc/meminfo that are not known here, with their sizes, and may be a part of the leftover.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unknown_lines: Vec<String>,
}

impl Ledger {
    /// The ledger; `None` without MemTotal.
    #[must_use]
    pub fn from_snapshot(snapshot: &Snapshot) -> Option<Ledger> {
        let seen = snapshot.meminfo.data()?;
        let total = seen.mem_total?;
        let impossible = seen.impossible().into_iter().map(|(key, bytes)| format!("{key} {bytes}")).collect();
        let meminfo = &*seen.believed();
        let book = Book::written(snapshot, meminfo);
        let error = snapshot.zoneinfo.data().map_or(Pages(0), |z| z.counter_error());
        let Book { mut lines, locked, counters, missing, uncounted: names, users_missing, .. } = book;
        let bound = Bytes(error.bytes(snapshot.machine.page_size).0.saturating_mul(counters));
        let outside = uncounted::place(snapshot, meminfo, total, &mut lines, bound);
        let leftover = SignedBytes::difference(total, lines.iter().map(|l| l.bytes).sum());
        let leftover_kind = LeftoverKind::classify(snapshot, leftover, bound, users_missing);
        Some(Ledger {
            total,
            leftover,
            leftover_share: leftover.share_of(total),
            leftover_kind,
            uncounted: names,
            bound,
            in_report: if snapshot.machine.meminfo_by_lxcfs() { Bytes::ZERO } else { snapshot.machine.in_report() },
            counters,
            locked: locked.both,
            outside,
            missing_terms: missing,
            impossible,
            unknown_lines: match leftover_kind {
                LeftoverKind::Uncounted | LeftoverKind::NotShown => vendor::unknown(meminfo, leftover.or_zero()),
                LeftoverKind::Container | LeftoverKind::Overlap => Vec::new(),
            },
            lines,
        })
    }

    /// What the hypervisor's balloon holds and its driver has taken off MemTotal.
    #[must_use]
    pub fn balloon_outside(&self) -> Option<Bytes> {
        self.outside.iter().find(|outside| outside.label == uncounted::BALLOON).map(|outside| outside.bytes)
    }

    /// The line of a term.
    #[must_use]
    pub fn line(&self, term: Term) -> Option<&LedgerLine> {
        self.lines.iter().find(|l| l.id == term)
    }

    /// Bytes of a term; nothing when it has no line.
    #[must_use]
    pub fn bytes(&self, term: Term) -> Bytes {
        self.line(term).map_or(Bytes::ZERO, |l| l.bytes)
    }

    /// The sum of the lines that can be freed in this way; what is locked of them counts as memory that cannot.
    #[must_use]
    pub fn sum(&self, freeable: Freeable) -> Bytes {
        let whole: Bytes = self.lines.iter().filter(|l| l.freeable == freeable).map(|l| l.bytes).sum();
        let mut locked = self.locked;
        let mut owned = [Bytes::ZERO; 2];
        for (part, term) in owned.iter_mut().zip([Term::Anon, Term::Shmem]) {
            let Some(line) = self.line(term).filter(|line| line.freeable != Freeable::No) else { continue };
            let of_it = locked.min(line.bytes);
            locked = locked.saturating_sub(of_it);
            if line.freeable == freeable || freeable == Freeable::No {
                *part = of_it;
            }
        }
        let owned = owned[0] + owned[1];
        if freeable == Freeable::No { whole + owned } else { whole.saturating_sub(owned) }
    }
}

#[cfg(test)]
mod tests;
