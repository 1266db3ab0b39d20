//! `/proc/meminfo`: the kernel's "kB" is KiB and becomes [`Bytes`] here.

use crate::prelude::*;

counters! {
    /// `/proc/meminfo`. Gauges. Page counts of the huge-page pool are in [`Meminfo::unknown`]
    /// except their total in bytes (`Hugetlb`).
    Meminfo of Bytes {
        mem_total = "MemTotal",
        mem_free = "MemFree",
        mem_available = "MemAvailable",
        buffers = "Buffers",
        cached = "Cached",
        swap_cached = "SwapCached",
        active = "Active",
        inactive = "Inactive",
        active_anon = "Active(anon)",
        inactive_anon = "Inactive(anon)",
        active_file = "Active(file)",
        inactive_file = "Inactive(file)",
        unevictable = "Unevictable",
        mlocked = "Mlocked",
        swap_total = "SwapTotal",
        swap_free = "SwapFree",
        zswap = "Zswap",
        zswapped = "Zswapped",
        dirty = "Dirty",
        writeback = "Writeback",
        nfs_unstable = "NFS_Unstable",
        bounce = "Bounce",
        writeback_tmp = "WritebackTmp",
        anon_pages = "AnonPages",
        mapped = "Mapped",
        shmem = "Shmem",
        k_reclaimable = "KReclaimable",
        slab = "Slab",
        s_reclaimable = "SReclaimable",
        s_unreclaim = "SUnreclaim",
        kernel_stack = "KernelStack",
        page_tables = "PageTables",
        sec_page_tables = "SecPageTables",
        vmalloc_used = "VmallocUsed",
        vmalloc_chunk = "VmallocChunk",
        percpu = "Percpu",
        quicklists = "Quicklists",
        hardware_corrupted = "HardwareCorrupted",
        low_total = "LowTotal",
        low_free = "LowFree",
        anon_huge_pages = "AnonHugePages",
        shmem_huge_pages = "ShmemHugePages",
        file_huge_pages = "FileHugePages",
        cma_total = "CmaTotal",
        cma_free = "CmaFree",
        unaccepted = "Unaccepted",
        balloon = "Balloon",
        gpu_active = "GPUActive",
        gpu_reclaim = "GPUReclaim",
        hugetlb = "Hugetlb",
        hugepagesize = "Hugepagesize",
        commit_limit = "CommitLimit",
        committed_as = "Committed_AS",
    }
}

impl Meminfo {
    /// Swap in use; `None` where either size is missing.
    #[must_use]
    pub fn swap_used(&self) -> Option<Bytes> {
        self.swap_total?.checked_sub(self.swap_free?)
    }

    /// `VmallocUsed` where it is RAM. Before 4.4 it is address space with device mappings in it, and the largest hole is beside it
    /// (`VmallocChunk`); from 4.4 to 5.2 both are always 0 (a5ad88ce8c7f); since 5.3 it counts pages again, and the hole is 0 (97105f0ab7b8).
    #[must_use]
    pub fn vmalloc_ram(&self) -> Option<Bytes> {
        let hole = self.vmalloc_chunk.unwrap_or_default();
        self.vmalloc_used.filter(|used| used.0 > 0 && hole == Bytes::ZERO)
    }

    /// Parses the file. Lines without a unit (`HugePages_Total: 0`) are kept in `unknown`.
    ///
    /// Some kernels print the table of Linux 2.4 (`total: used: free:`) above the lines: its lines are passed over.
    ///
    /// # Errors
    /// No line is `key: number`.
    pub fn parse(from: &(impl Origin + ?Sized), text: &str) -> Result<Self, Malformed> {
        let mut out = Self::default();
        let () = parse_lines(
            from,
            text,
            |word| Self::KEYS.contains(&word),
            |line| {
                let (key, rest) = line.split_once(':')?;
                let (key, rest) = (key.trim(), rest.trim());
                let mut words = rest.split_ascii_whitespace();
                let number: u64 = words.next()?.parse().ok()?;
                match words.next() {
                    Some("kB") => out.store(key, Bytes::from_kib(number), rest),
                    // A size without its unit is cut off: no size at all.
                    None if Self::KEYS.contains(&key) => return None,
                    None => drop(out.unknown.insert(key.to_owned(), rest.to_owned())),
                    Some(_) => return None,
                }
                Some(())
            },
        )?;
        if text.is_empty() { Err(Malformed::whole(from.path(), "")) } else { Ok(out) }
    }

    /// A field without a unit, such as `HugePages_Free`.
    #[must_use]
    pub fn count(&self, key: &str) -> Option<u64> {
        self.unknown.get(key)?.parse().ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Noted;

    #[test]
    fn the_kernels_kb_is_kib_and_a_missing_line_is_none() {
        let seen = Meminfo::parse("m", "MemTotal:       24682416 kB\nHugePages_Free:   3\n").unwrap();
        assert_eq!(seen.mem_total, Some(Bytes(24_682_416 * 1024)));
        assert_eq!(seen.swap_total, None);
        assert_eq!(seen.count("HugePages_Free"), Some(3));
    }

    #[test]
    fn a_garbage_line_is_noted_with_its_number_and_the_others_are_read() {
        let from = Noted::new("/proc/meminfo");
        let seen =
            Meminfo::parse(&from, "MemTotal: 1 kB\nMemFree: \u{1b}[31mx kB\nCached: 2 kB\nBuffers: 3\n").unwrap();
        assert_eq!((seen.mem_free, seen.cached, seen.buffers), (None, Some(Bytes(2048)), None));
        let note = from.note().unwrap();
        assert!(note.garbage && note.reason.contains("2 lines") && note.reason.contains("line 2"), "{note:?}");
        assert!(note.reason.contains("\\u{1b}"), "{note:?}");
        assert!(Meminfo::parse("m", "MemTotal: 1 MB\n").is_err());
        assert!(Meminfo::parse("m", "").is_err());
    }

    #[test]
    fn the_table_of_linux_2_4_above_the_lines_is_passed_over_without_harm() {
        let table = "        total:    used:    free:  shared: buffers:  cached:\nMem:  261390336 190099456 71290880        0 \
                     9437184 98566144\nSwap:        0        0        0\nMemTotal: 255264 kB\nMemFree: 69620 kB\n";
        let from = Noted::new("m");
        let seen = Meminfo::parse(&from, table).unwrap();
        assert_eq!((seen.mem_total, seen.mem_free), (Some(Bytes::from_kib(255_264)), Some(Bytes::from_kib(69_620))));
        let note = from.note().unwrap();
        assert!(!note.garbage && note.reason.starts_with("3 lines"), "{note:?}");
    }

    #[test]
    fn vmalloc_is_ram_where_the_kernel_counts_its_pages() {
        let ram = |text: &str| Meminfo::parse("m", text).unwrap().vmalloc_ram();
        assert_eq!(ram("VmallocUsed: 9180332 kB\nVmallocChunk: 34332268932 kB\n"), None, "before 4.4: address space");
        assert_eq!(ram("VmallocUsed: 0 kB\nVmallocChunk: 0 kB\n"), None, "4.4 to 5.2: no counter");
        assert_eq!(ram("VmallocUsed: 79940 kB\nVmallocChunk: 0 kB\n"), Some(Bytes::from_kib(79_940)));
        assert_eq!(ram("MemTotal: 1 kB\n"), None);
    }
}
