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
//! graphics memory. Measured on a 24 GiB machine the leftover is 0.06 % and moves by 0.6 MB while gigabytes
//! move between tmpfs, zram and mapped files.
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

mod drift;
mod locked;
mod pieces;
mod term;
mod uncounted;

use ramline_snapshot::processes::Missed;
use ramline_snapshot::vmstat::Vmstat;

pub use self::drift::{Drift, LineMove, Moved};
use self::locked::Locked;
pub use self::pieces::{Piece, PieceKind};
pub use self::term::Term;
use crate::prelude::*;

/// Whether a line can be freed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Freeable {
    /// At once, all of it.
    Now,
    /// Some of it; how much is not known beforehand.
    Partly,
    /// After a write, or by moving it to a slower tier.
    AtCost,
    /// Only by its owner.
    No,
}

/// One line of the ledger.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Line")]
pub struct LedgerLine {
    /// What it counts.
    pub id: Term,
    /// Its name in plain words.
    pub label: String,
    /// How much; the most it can be where `at_least` says that it is known within bounds only. Gauge.
    pub bytes: Bytes,
    /// An estimate: the truth is between this and `bytes`. `None`: `bytes` is known. Gauge.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_least: Option<Bytes>,
    /// Whose it is.
    pub owner: String,
    /// Whether it can be freed.
    pub freeable: Freeable,
    /// By what.
    pub by_what: String,
    /// And at what cost.
    pub at_cost: String,
    /// "Of which": parts of this line. They may overlap and need not add up to it.
    pub children: Vec<LedgerLine>,
}

/// Memory known to exist outside MemTotal.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Outside {
    /// What.
    pub label: String,
    /// How much.
    pub bytes: Bytes,
    /// Why it is not in MemTotal.
    pub why: String,
}

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
}

impl Ledger {
    /// The ledger; `None` without MemTotal.
    #[must_use]
    pub fn of(snapshot: &Snapshot) -> Option<Ledger> {
        let meminfo = snapshot.meminfo.data()?;
        let total = meminfo.mem_total?;
        let mut book =
            Book { snapshot, meminfo, lines: Vec::new(), locked: Locked::default(), counters: 0, missing: Vec::new() };
        book.free();
        book.lists();
        book.kernel();
        book.pools();
        let error = snapshot.zoneinfo.data().map_or(Pages(0), |z| z.counter_error());
        let Book { mut lines, locked, counters, missing, .. } = book;
        let bound = Bytes(error.bytes(snapshot.machine.page_size).0.saturating_mul(counters));
        let outside = uncounted::place(snapshot, meminfo, total, &mut lines, bound);
        let leftover = SignedBytes::difference(total, lines.iter().map(|l| l.bytes).sum());
        Some(Ledger {
            total,
            leftover,
            leftover_share: leftover.share_of(total),
            bound,
            in_report: snapshot.machine.in_report(),
            counters,
            locked: locked.both,
            outside,
            missing_terms: missing,
            lines,
        })
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

/// A part of a line: its size, or the most and the least of it.
#[derive(Debug, Clone, Copy)]
struct Part {
    most: Option<Bytes>,
    least: Option<Bytes>,
}

const fn known(bytes: Option<Bytes>) -> Part {
    Part { most: bytes, least: None }
}

const fn between(least: Bytes, most: Bytes) -> Part {
    Part { most: Some(most), least: Some(least) }
}

/// The ledger while it is written.
struct Book<'a> {
    snapshot: &'a Snapshot,
    meminfo: &'a Meminfo,
    lines: Vec<LedgerLine>,
    locked: Locked,
    counters: u64,
    missing: Vec<String>,
}

impl Book<'_> {
    /// Adds a line made of so many batched counters, or names what is missing.
    fn add(&mut self, id: Term, bytes: Option<Bytes>, counters: u64, name: &str, children: &[(Term, Part)]) {
        let Some(bytes) = bytes else {
            self.missing.push(name.to_owned());
            return;
        };
        let mut line = term::line(id, bytes, self.meminfo);
        // A part never exceeds its line: counters are read at slightly different moments.
        let parts = children.iter().filter_map(|(id, part)| {
            let most = part.most.filter(|p| p.0 > 0)?.min(bytes);
            let least = part.least.map(|least| least.min(most)).filter(|least| *least < most);
            Some(LedgerLine { at_least: least, ..term::line(*id, most, self.meminfo) })
        });
        line.children = parts.collect();
        self.counters = self.counters.saturating_add(counters);
        self.lines.push(line);
    }

    fn page(&self) -> PageSize {
        self.snapshot.machine.page_size
    }

    fn vmstat(&self, counter: impl Fn(&Vmstat) -> Option<u64>) -> Option<Bytes> {
        Some(Pages(self.snapshot.vmstat.data().and_then(counter)?).bytes(self.page()))
    }

    fn free(&mut self) {
        let m = self.meminfo;
        let parts = [(Term::CmaFree, known(m.cma_free)), (Term::Unaccepted, known(m.unaccepted))];
        self.add(Term::Free, m.mem_free, 1, "MemFree", &parts);
        let lists = self.snapshot.zoneinfo.data().map(|z| z.cpu_lists().bytes(self.page()));
        self.add(Term::CpuLists, lists, 0, "per-CPU free lists", &[]);
    }

    fn lists(&mut self) {
        let m = self.meminfo;
        let anon_lists = m.active_anon.zip(m.inactive_anon).map(|(a, i)| a + i);
        let locked = anon_lists.map(|lists| Locked::of(m, lists)).unwrap_or_default();
        let both = anon_lists.map(|lists| lists + locked.both);
        let shmem = both.zip(m.shmem).map(|(both, shmem)| shmem.min(both));
        let anon = both.map(|both| both.saturating_sub(shmem.unwrap_or_default()));
        let unevictable = m.unevictable.map(|all| all.saturating_sub(locked.both));
        self.locked = locked;
        let parts = [
            (Term::AnonLocked, between(locked.anon_least(), locked.anon_most)),
            (Term::SwapCache, known(m.swap_cached)),
            (Term::AnonHuge, known(m.anon_huge_pages)),
        ];
        // Of the three lines that the locked pages are moved between only the sum counts: its counters are these two and Unevictable.
        self.add(Term::Anon, anon, 2, "Active(anon) + Inactive(anon)", &parts);
        let parts = [(Term::ShmemLocked, between(locked.shmem_least(), locked.shmem_most))];
        self.add(Term::Shmem, shmem, 0, "Shmem", &parts);
        let file_lists = m.active_file.zip(m.inactive_file).map(|(a, i)| a + i);
        let dirty = m.dirty.zip(m.writeback).map(|(d, w)| d + w);
        let dirty = file_lists.zip(dirty).map(|(lists, dirty)| dirty.min(lists));
        let clean = file_lists.map(|lists| lists.saturating_sub(dirty.unwrap_or_default()));
        let parts = [
            (Term::FileActive, known(m.active_file)),
            (Term::FileMapped, self.mapped(unevictable.unwrap_or_default())),
            (Term::Buffers, known(m.buffers)),
        ];
        self.add(Term::FileClean, clean, 2, "Active(file) + Inactive(file)", &parts);
        self.add(Term::FileDirty, dirty, 0, "Dirty + Writeback", &[]);
        self.add(Term::Unevictable, unevictable, 1, "Unevictable", &[]);
        let isolated = self.vmstat(|v| v.nr_isolated_anon?.checked_add(v.nr_isolated_file?));
        self.add(Term::Isolated, isolated, 2, "nr_isolated_anon + nr_isolated_file", &[]);
    }

    /// Mapped page cache. Processes, where they were all looked at, narrow down how much of Mapped is shared memory.
    fn mapped(&self, unevictable: Bytes) -> Part {
        let Some(mapped) = self.meminfo.mapped else { return known(None) };
        let all = |missed: &Missed| missed.denied == 0 && !missed.hidden && missed.nested != Some(true);
        let processes = self.snapshot.processes.data().filter(|p| all(&p.missed));
        let seen = processes.map(|p| {
            let shared = || p.list.iter().filter_map(|process| process.rss_shmem);
            (shared().max().unwrap_or_default(), shared().sum())
        });
        let (least, most) = locked::mapped_files(mapped, self.meminfo.shmem.unwrap_or_default(), unevictable, seen);
        between(least, most)
    }

    fn kernel(&mut self) {
        let m = self.meminfo;
        self.add(Term::SlabReclaimable, m.s_reclaimable, 1, "SReclaimable", &[]);
        self.add(Term::SlabUnreclaimable, m.s_unreclaim, 1, "SUnreclaim", &[]);
        let other = m.k_reclaimable.zip(m.s_reclaimable).and_then(|(k, s)| k.checked_sub(s));
        let other = other.or_else(|| self.vmstat(|v| v.nr_kernel_misc_reclaimable));
        self.add(Term::KernelReclaimable, other, 1, "KReclaimable - SReclaimable", &[]);
        // Stacks come from vmalloc on nearly every kernel; larger than it, they cannot be part of it.
        let apart = m.kernel_stack > m.vmalloc_used;
        let stacks = if apart { None } else { m.kernel_stack };
        self.add(Term::Vmalloc, m.vmalloc_used, 0, "VmallocUsed", &[(Term::KernelStacks, known(stacks))]);
        if apart {
            self.add(Term::KernelStacks, m.kernel_stack, 1, "KernelStack", &[]);
        }
        self.add(Term::PageTables, m.page_tables, 1, "PageTables", &[]);
        self.add(Term::SecPageTables, m.sec_page_tables, 1, "SecPageTables", &[]);
        self.add(Term::Percpu, m.percpu, 0, "Percpu", &[]);
    }

    fn pools(&mut self) {
        let m = self.meminfo;
        let pages = |n: u64| m.hugepagesize.and_then(|size| size.scale(n, 1));
        let free = m.count("HugePages_Free");
        // Promised pages are free and taken: a mapping may touch them at any moment, and lowering the pool leaves them.
        let promised = free.map(|free| m.count("HugePages_Rsvd").unwrap_or(0).min(free));
        let unused = free.zip(promised).map(|(free, promised)| free - promised).and_then(pages);
        let parts = [(Term::HugetlbFree, known(unused)), (Term::HugetlbPromised, known(promised.and_then(pages)))];
        self.add(Term::Hugetlb, m.hugetlb, 0, "Hugetlb", &parts);
        // zbud and z3fold, the pools of older zswap, are not counted in nr_zspages.
        let pool = self.snapshot.zswap.data().and_then(|z| z.other.get("zpool"));
        let own_pool = pool.is_some_and(|p| p != "zsmalloc");
        let zswap = if own_pool { None } else { m.zswap };
        let zram = self.snapshot.zram.data().map(|z| z.devices.iter().flat_map(|d| &d.mm).map(|mm| mm.mem_used_total));
        let parts = [(Term::ZramShare, known(zram.map(Iterator::sum))), (Term::ZswapShare, known(zswap))];
        let pages = self.vmstat(|v| v.nr_zspages);
        self.add(Term::CompressedPool, pages, 1, "nr_zspages", &parts);
        if own_pool {
            self.add(Term::ZswapPool, m.zswap, 0, "Zswap", &[]);
        }
        self.add(Term::GpuActive, m.gpu_active, 1, "GPUActive", &[]);
        self.add(Term::GpuReclaim, m.gpu_reclaim, 1, "GPUReclaim", &[]);
    }
}

#[cfg(test)]
mod tests;
