//! The lines of the ledger, one group of counters after the other.
//!
//! What a kernel does not print is no line and no 0: it is named in `missing`, and where it may be large in `uncounted`. Which counters mean what
//! is seen in the file and not told from a version:
//! - `VmallocUsed` is RAM where `VmallocChunk` is 0 and it is not 0 itself (5.3 and later). With a chunk (before 4.4) it is address space, device
//!   mappings in it; 0 beside a chunk of 0 (4.4 to 5.2) is a counter that was taken out.
//! - Without `Hugetlb` (before 4.15) the pool is what `/sys/kernel/mm/hugepages` counts, or `HugePages_Total` of `Hugepagesize`.
//! - Without `Active(anon)` (before 2.6.28) memory of processes is `AnonPages`, and page cache is `Cached + Buffers`, tmpfs in it.
//! - Without `nr_zspages` (before 4.8) the pool of zram is what its devices count.

use ramline_snapshot::processes::Missed;
use ramline_snapshot::vmstat::Vmstat;

use super::line::LedgerLine;
use super::locked::{self, Locked};
use super::term::{self, Term};
use super::vendor;
use crate::prelude::*;

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
pub struct Book<'a> {
    pub snapshot: &'a Snapshot,
    pub meminfo: &'a Meminfo,
    pub lines: Vec<LedgerLine>,
    pub locked: Locked,
    pub counters: u64,
    pub missing: Vec<String>,
    /// Of what is missing, what may be large, in plain words.
    pub uncounted: Vec<String>,
    /// Memory of users is among what is missing: what is left over is then not the kernel's.
    pub users_missing: bool,
}

impl<'a> Book<'a> {
    /// All lines.
    pub fn written(snapshot: &'a Snapshot, meminfo: &'a Meminfo) -> Book<'a> {
        let mut book = Book {
            snapshot,
            meminfo,
            lines: Vec::new(),
            locked: Locked::default(),
            counters: 0,
            missing: Vec::new(),
            uncounted: Vec::new(),
            users_missing: false,
        };
        book.free();
        if meminfo.active_anon.is_some() || meminfo.active_file.is_some() {
            book.lists()
        } else {
            book.before_split_lists()
        }
        book.kernel();
        book.pools();
        book
    }

    /// Adds a line made of so many batched counters, or names what is missing.
    fn add(&mut self, id: Term, bytes: Option<Bytes>, counters: u64, name: &str, children: &[(Term, Part)]) {
        let Some(bytes) = bytes else {
            self.missing.push(name.to_owned());
            self.users_missing |= matches!(id, Term::Free | Term::Anon | Term::FileClean | Term::SlabUnreclaimable);
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

    /// Where there is no counter for something that may be large.
    fn uncounted(&mut self, what: &str) {
        self.uncounted.push(what.to_owned());
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
        let locked = anon_lists.map(|lists| Locked::from_meminfo(m, lists)).unwrap_or_default();
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
        let files = m.active_file.zip(m.inactive_file).map(|(a, i)| a + i);
        // A list that is missing, or not believed: the cache holds tmpfs and what is locked besides.
        let in_cache = || m.cached.map(|cached| cached + m.buffers.unwrap_or_default());
        let beside = || Some(shmem? + unevictable.unwrap_or_default());
        let files = files.or_else(|| Some(in_cache()?.saturating_sub(beside()?)));
        self.files(files, unevictable, "Active(file) + Inactive(file)");
        self.add(Term::Unevictable, unevictable, 1, "Unevictable", &[]);
        let isolated = self.vmstat(|v| v.nr_isolated_anon?.checked_add(v.nr_isolated_file?));
        self.add(Term::Isolated, isolated, 2, "nr_isolated_anon + nr_isolated_file", &[]);
    }

    /// Before 2.6.28 the lists hold both kinds and what is locked, so that they say nothing of either: the counters of the kinds do.
    fn before_split_lists(&mut self) {
        let m = self.meminfo;
        let cache = m.cached.map(|cached| cached + m.buffers.unwrap_or_default());
        // Before 2.6.18 there is no AnonPages: what the lists hold beside the cache.
        let lists = m.active.zip(m.inactive).map(|(a, i)| a + i);
        let anon = m.anon_pages.or_else(|| lists.zip(cache).map(|(lists, cache)| lists.saturating_sub(cache)));
        self.add(Term::Anon, anon, 1, "AnonPages", &[(Term::SwapCache, known(m.swap_cached))]);
        self.files(cache, Bytes::ZERO.into(), "Cached + Buffers");
        if cache.is_some() {
            self.missing.push("Shmem (tmpfs is in the page cache here)".to_owned());
        }
    }

    fn files(&mut self, lists: Option<Bytes>, unevictable: Option<Bytes>, name: &str) {
        let m = self.meminfo;
        let dirty = m.dirty.zip(m.writeback).map(|(d, w)| d + w + m.nfs_unstable.unwrap_or_default());
        let dirty = lists.zip(dirty).map(|(lists, dirty)| dirty.min(lists));
        let clean = lists.map(|lists| lists.saturating_sub(dirty.unwrap_or_default()));
        let parts = [
            (Term::FileActive, known(m.active_file)),
            (Term::FileMapped, self.mapped(unevictable.unwrap_or_default())),
            (Term::Buffers, known(m.buffers)),
        ];
        self.add(Term::FileClean, clean, 2, name, &parts);
        self.add(Term::FileDirty, dirty, 0, "Dirty + Writeback", &[]);
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
        // Before 2.6.19 objects are counted in one sum.
        let whole = m.slab.filter(|_| m.s_reclaimable.is_none() && m.s_unreclaim.is_none());
        if whole.is_none() {
            self.add(Term::SlabReclaimable, m.s_reclaimable, 1, "SReclaimable", &[]);
        }
        self.add(Term::SlabUnreclaimable, m.s_unreclaim.or(whole), 1, "SUnreclaim", &[]);
        let other = m.k_reclaimable.zip(m.s_reclaimable).and_then(|(k, s)| k.checked_sub(s));
        let other = other.or_else(|| self.vmstat(|v| v.nr_kernel_misc_reclaimable));
        self.add(Term::KernelReclaimable, other, 1, "KReclaimable - SReclaimable", &[]);
        // Stacks come from vmalloc on nearly every kernel; larger than it, they cannot be part of it.
        let vmalloc = m.vmalloc_ram();
        let apart = m.kernel_stack > vmalloc;
        let stacks = if apart { None } else { m.kernel_stack };
        self.add(Term::Vmalloc, vmalloc, 0, "VmallocUsed", &[(Term::KernelStacks, known(stacks))]);
        if vmalloc.is_none() {
            self.uncounted("vmalloc (modules, large buffers)");
        }
        if apart {
            self.add(Term::KernelStacks, m.kernel_stack, 1, "KernelStack", &[]);
        }
        self.add(Term::PageTables, m.page_tables, 1, "PageTables", &[]);
        self.add(Term::SecPageTables, m.sec_page_tables, 1, "SecPageTables", &[]);
        self.add(Term::Percpu, m.percpu, 0, "Percpu", &[]);
        if m.percpu.is_none() {
            self.uncounted("per-CPU data");
        }
        // Lines that most kernels do not print are no gap where they are missing.
        for (id, bytes) in [
            (Term::Quicklists, m.quicklists),
            (Term::WriteCopies, m.bounce.map(|bounce| bounce + m.writeback_tmp.unwrap_or_default())),
            (Term::Poisoned, m.hardware_corrupted),
        ] {
            if let Some(bytes) = bytes.filter(|bytes| bytes.0 > 0) {
                self.add(id, Some(bytes), 1, "", &[]);
            }
        }
    }

    /// The pool of huge pages, and whether it is known.
    fn hugetlb(&self) -> Option<Bytes> {
        let m = self.meminfo;
        let of_all = || {
            let pools = self.snapshot.hugepages.data().filter(|pools| !pools.is_empty())?;
            Some(pools.iter().map(|pool| pool.bytes(pool.total)).sum())
        };
        m.hugetlb.or_else(of_all).or_else(|| m.hugepagesize?.scale(m.count("HugePages_Total")?, 1))
    }

    fn pools(&mut self) {
        let m = self.meminfo;
        let pages = |n: u64| m.hugepagesize.and_then(|size| size.scale(n, 1));
        let free = m.count("HugePages_Free");
        // Promised pages are free and taken: a mapping may touch them at any moment, and lowering the pool leaves them.
        let promised = free.map(|free| m.count("HugePages_Rsvd").unwrap_or(0).min(free));
        let unused = free.zip(promised).map(|(free, promised)| free - promised).and_then(pages);
        let parts = [(Term::HugetlbFree, known(unused)), (Term::HugetlbPromised, known(promised.and_then(pages)))];
        let pool = self.hugetlb();
        self.add(Term::Hugetlb, pool, 0, "Hugetlb", &parts);
        // zbud and z3fold, the pools of older zswap, are not counted in nr_zspages.
        let pool = self.snapshot.zswap.data().and_then(|z| z.other.get("zpool"));
        let own_pool = pool.is_some_and(|p| p != "zsmalloc");
        let zswap = if own_pool { None } else { m.zswap };
        // Devices are the host's, and a container's meminfo counts none of them.
        let zram = self.snapshot.zram.data().filter(|_| !self.snapshot.machine.meminfo_by_lxcfs());
        let zram: Option<Bytes> = zram.map(|z| z.devices.iter().flat_map(|d| &d.mm).map(|mm| mm.mem_used_total).sum());
        // A capture may lack the devices, which then are none.
        let zram = zram.filter(|zram| zram.0 > 0).or_else(|| vendor::zram(m)).or(zram);
        let parts = [(Term::ZramShare, known(zram)), (Term::ZswapShare, known(zswap))];
        let counted = self.vmstat(|v| v.nr_zspages);
        // Where none counts the pages of both, what meminfo and the devices say of each.
        let pages = counted.or_else(|| {
            let each = ramline_units::saturating_sum([zram, zswap].map(Option::unwrap_or_default));
            Some(each).filter(|pool| pool.0 > 0)
        });
        if counted.is_none() && zram.is_none() && pages.is_some() {
            // The part of zram is in no line.
            self.missing.push("nr_zspages".to_owned());
        }
        self.add(Term::CompressedPool, pages, 1, "nr_zspages", &parts);
        if own_pool {
            self.add(Term::ZswapPool, m.zswap, 0, "Zswap", &[]);
        }
        let graphics = m.gpu_active.or_else(|| vendor::graphics(m));
        self.add(Term::GpuActive, graphics, 1, "GPUActive", &[]);
        self.add(Term::GpuReclaim, m.gpu_reclaim, 1, "GPUReclaim", &[]);
        for (term, bytes) in vendor::lines(m) {
            self.add(term, Some(bytes), 1, "", &[]);
        }
    }
}
