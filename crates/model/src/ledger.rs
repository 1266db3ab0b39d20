//! The ledger that closes: every byte of MemTotal on one line, with its owner and what it takes to free it.
//!
//! What it is: `MemTotal = sum of the lines + leftover`. What it is not: a list per process (pages are
//! shared), nor a claim about the leftover, which holds what drivers took straight from the page allocator
//! (network rings, DMA and trace buffers, ZFS buffers).
//!
//! The terms: MemFree; the free lists of the CPUs (zoneinfo `count:`, which MemFree leaves out); the LRU lists
//! (Active + Inactive + Unevictable); isolated pages; slab; other reclaimable kernel memory (`KReclaimable` −
//! `SReclaimable`); vmalloc; page tables; per-CPU data; huge-page pool; the compressed pool (`nr_zspages`);
//! graphics memory. Measured on a 24 GiB machine the leftover is 0.06 % and moves by 0.6 MB while gigabytes
//! move between tmpfs, zram and mapped files.
//!
//! How the LRU term is split, so that the lines add up to it exactly and none is negative:
//! - `A` = Active(anon) + Inactive(anon). It holds tmpfs too, and neither holds what is locked: that sits in Unevictable.
//!   `L` = AnonPages + Shmem − A is locked memory of the two kinds, and its split is an estimate: mlock is mostly used by
//!   programs for their own pages, so Mlocked is taken to be process memory, and the rest of `L` (SHM_LOCK, at most
//!   Unevictable − Mlocked) to be shared. Where Mlocked exceeds AnonPages that cannot be: then Mlocked is split as AnonPages
//!   is to Shmem. Shmem line = Shmem less its locked part, at most A; process line = A less the Shmem line. The split is off
//!   by at most Mlocked; the sum never is.
//! - `F` = Active(file) + Inactive(file). Dirty line = min(Dirty + Writeback, F), clean line = F − that. A page
//!   dirtied again while it is written counts twice, so clean is understated rather than overstated.
//! - Unevictable is a line of its own: locked pages of any kind, ramfs, secret memory.
//!
//! Worked example: Active(anon) 10, Inactive(anon) 20 and Shmem 12 MiB give 12 MiB tmpfs and 18 MiB processes.

mod pieces;
mod term;
mod words;

use ramline_snapshot::Snapshot;
use ramline_snapshot::meminfo::Meminfo;
use ramline_snapshot::vmstat::Vmstat;
use ramline_units::{Bytes, PageSize, Pages};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use self::pieces::{Piece, PieceKind};
pub use self::term::Term;
use crate::SignedBytes;

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
pub struct Line {
    /// What it counts.
    pub id: Term,
    /// Its name in plain words.
    pub label: String,
    /// How much. Gauge.
    pub bytes: Bytes,
    /// Whose it is.
    pub owner: String,
    /// Whether it can be freed.
    pub freeable: Freeable,
    /// By what.
    pub by_what: String,
    /// And at what cost.
    pub at_cost: String,
    /// "Of which": parts of this line. They may overlap and need not add up to it.
    pub children: Vec<Line>,
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
    pub lines: Vec<Line>,
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
        let mut book = Book { snapshot, meminfo, lines: Vec::new(), counters: 0, missing: Vec::new() };
        book.free();
        book.lists();
        book.kernel();
        book.pools();
        let Book { lines, counters, missing, .. } = book;
        let leftover = SignedBytes::difference(total, lines.iter().map(|l| l.bytes).sum());
        let error = snapshot.zoneinfo.data().map_or(Pages(0), |z| z.counter_error());
        Some(Ledger {
            total,
            leftover,
            leftover_share: leftover.share_of(total),
            bound: Bytes(error.bytes(snapshot.machine.page_size).0.saturating_mul(counters)),
            in_report: snapshot.machine.in_report(),
            counters,
            outside: outside(snapshot, meminfo),
            missing_terms: missing,
            lines,
        })
    }

    /// The line of a term.
    #[must_use]
    pub fn line(&self, term: Term) -> Option<&Line> {
        self.lines.iter().find(|l| l.id == term)
    }

    /// Bytes of a term; nothing when it has no line.
    #[must_use]
    pub fn bytes(&self, term: Term) -> Bytes {
        self.line(term).map_or(Bytes::ZERO, |l| l.bytes)
    }

    /// The sum of the lines that can be freed in this way.
    #[must_use]
    pub fn sum(&self, freeable: Freeable) -> Bytes {
        self.lines.iter().filter(|l| l.freeable == freeable).map(|l| l.bytes).sum()
    }
}

/// The ledger while it is written.
struct Book<'a> {
    snapshot: &'a Snapshot,
    meminfo: &'a Meminfo,
    lines: Vec<Line>,
    counters: u64,
    missing: Vec<String>,
}

impl Book<'_> {
    /// Adds a line made of so many batched counters, or names what is missing.
    fn add(&mut self, id: Term, bytes: Option<Bytes>, counters: u64, name: &str, children: &[(Term, Option<Bytes>)]) {
        let Some(bytes) = bytes else {
            self.missing.push(name.to_owned());
            return;
        };
        let mut line = words::line(id, bytes, self.meminfo);
        // A part never exceeds its line: counters are read at slightly different moments.
        let parts = children.iter().filter_map(|(id, part)| Some((*id, part.filter(|p| p.0 > 0)?.min(bytes))));
        line.children = parts.map(|(id, part)| words::line(id, part, self.meminfo)).collect();
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
        let parts = [(Term::CmaFree, m.cma_free), (Term::Unaccepted, m.unaccepted)];
        self.add(Term::Free, m.mem_free, 1, "MemFree", &parts);
        let lists = self.snapshot.zoneinfo.data().map(|z| z.cpu_lists().bytes(self.page()));
        self.add(Term::CpuLists, lists, 0, "per-CPU free lists", &[]);
    }

    fn lists(&mut self) {
        let m = self.meminfo;
        let anon_lists = m.active_anon.zip(m.inactive_anon).map(|(a, i)| a + i);
        let shmem = anon_lists.zip(m.shmem).map(|(lists, shmem)| (shmem - self.locked_shmem(lists, shmem)).min(lists));
        let anon = anon_lists.map(|lists| lists - shmem.unwrap_or_default());
        let parts = [(Term::SwapCache, m.swap_cached), (Term::AnonHuge, m.anon_huge_pages)];
        self.add(Term::Anon, anon, 2, "Active(anon) + Inactive(anon)", &parts);
        self.add(Term::Shmem, shmem, 0, "Shmem", &[]);
        let file_lists = m.active_file.zip(m.inactive_file).map(|(a, i)| a + i);
        let dirty = m.dirty.zip(m.writeback).map(|(d, w)| d + w);
        let dirty = file_lists.zip(dirty).map(|(lists, dirty)| dirty.min(lists));
        let clean = file_lists.map(|lists| lists - dirty.unwrap_or_default());
        let parts = [(Term::FileActive, m.active_file), (Term::FileMapped, m.mapped), (Term::Buffers, m.buffers)];
        self.add(Term::FileClean, clean, 2, "Active(file) + Inactive(file)", &parts);
        self.add(Term::FileDirty, dirty, 0, "Dirty + Writeback", &[]);
        self.add(Term::Unevictable, m.unevictable, 1, "Unevictable", &[(Term::Mlocked, m.mlocked)]);
        let isolated = self.vmstat(|v| v.nr_isolated_anon?.checked_add(v.nr_isolated_file?));
        self.add(Term::Isolated, isolated, 2, "nr_isolated_anon + nr_isolated_file", &[]);
    }

    /// Shared memory that is on no list because it is locked; see the module's text.
    fn locked_shmem(&self, lists: Bytes, shmem: Bytes) -> Bytes {
        let m = self.meminfo;
        let anon = m.anon_pages.unwrap_or_default();
        let of_both_kinds = (anon + shmem) - lists;
        let mlocked = m.mlocked.unwrap_or_default().min(of_both_kinds);
        let otherwise = m.unevictable.map_or(Bytes::ZERO, |unevictable| unevictable - mlocked);
        let by_mlock = if mlocked > anon { mlocked.scale(shmem.0, (anon + shmem).0) } else { None };
        (of_both_kinds - mlocked).min(otherwise) + by_mlock.unwrap_or_default()
    }

    fn kernel(&mut self) {
        let m = self.meminfo;
        self.add(Term::SlabReclaimable, m.s_reclaimable, 1, "SReclaimable", &[]);
        self.add(Term::SlabUnreclaimable, m.s_unreclaim, 1, "SUnreclaim", &[]);
        let other = m.k_reclaimable.zip(m.s_reclaimable).map(|(k, s)| k - s);
        let other = other.or_else(|| self.vmstat(|v| v.nr_kernel_misc_reclaimable));
        self.add(Term::KernelReclaimable, other, 1, "KReclaimable - SReclaimable", &[]);
        // Stacks come from vmalloc on nearly every kernel; larger than it, they cannot be part of it.
        let apart = m.kernel_stack > m.vmalloc_used;
        let stacks = if apart { None } else { m.kernel_stack };
        self.add(Term::Vmalloc, m.vmalloc_used, 0, "VmallocUsed", &[(Term::KernelStacks, stacks)]);
        if apart {
            self.add(Term::KernelStacks, m.kernel_stack, 1, "KernelStack", &[]);
        }
        self.add(Term::PageTables, m.page_tables, 1, "PageTables", &[]);
        self.add(Term::SecPageTables, m.sec_page_tables, 1, "SecPageTables", &[]);
        self.add(Term::Percpu, m.percpu, 0, "Percpu", &[]);
    }

    fn pools(&mut self) {
        let m = self.meminfo;
        let unused = m.count("HugePages_Free").zip(m.hugepagesize).and_then(|(n, size)| size.scale(n, 1));
        self.add(Term::Hugetlb, m.hugetlb, 0, "Hugetlb", &[(Term::HugetlbFree, unused)]);
        // zbud and z3fold, the pools of older zswap, are not counted in nr_zspages.
        let pool = self.snapshot.zswap.data().and_then(|z| z.other.get("zpool"));
        let own_pool = pool.is_some_and(|p| p != "zsmalloc");
        let zswap = if own_pool { None } else { m.zswap };
        let zram = self.snapshot.zram.data().map(|z| z.devices.iter().flat_map(|d| &d.mm).map(|mm| mm.mem_used_total));
        let parts = [(Term::ZramShare, zram.map(Iterator::sum)), (Term::ZswapShare, zswap)];
        let pages = self.vmstat(|v| v.nr_zspages);
        self.add(Term::CompressedPool, pages, 1, "nr_zspages", &parts);
        if own_pool {
            self.add(Term::ZswapPool, m.zswap, 0, "Zswap", &[]);
        }
        self.add(Term::GpuActive, m.gpu_active, 1, "GPUActive", &[]);
        self.add(Term::GpuReclaim, m.gpu_reclaim, 1, "GPUReclaim", &[]);
    }
}

fn outside(snapshot: &Snapshot, meminfo: &Meminfo) -> Vec<Outside> {
    let mut out = Vec::new();
    let boot = snapshot
        .vmstat
        .data()
        .and_then(|v| v.nr_memmap_boot.or_else(|| v.unknown.get("nr_memmap_boot").and_then(|text| text.parse().ok())));
    if let Some(pages) = boot.filter(|n| *n > 0) {
        out.push(Outside {
            label: "page descriptors".into(),
            bytes: Pages(pages).bytes(snapshot.machine.page_size),
            why: "reserved at boot for the kernel's note on every page, before MemTotal was counted".into(),
        });
    }
    // virtio and VMware balloons lower MemTotal as they grow, so their pages are no term of it.
    if let Some(bytes) = meminfo.balloon.filter(|b| b.0 > 0) {
        out.push(Outside {
            label: "balloon".into(),
            bytes,
            why: "given back to the hypervisor; most drivers lower MemTotal by it, otherwise it is in the leftover"
                .into(),
        });
    }
    out
}

#[cfg(test)]
mod tests;
