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
        percpu = "Percpu",
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

    /// Parses the file. Lines without a unit (`HugePages_Total: 0`) are kept in `unknown`.
    ///
    /// # Errors
    /// A line without `key: number`, with path, line and text.
    pub fn parse(path: &str, text: &str) -> Result<Self, Malformed> {
        let mut out = Self::default();
        let () = parse_lines(path, text, |line| {
            let (key, rest) = line.split_once(':')?;
            let (key, rest) = (key.trim(), rest.trim());
            let mut words = rest.split_ascii_whitespace();
            let number: u64 = words.next()?.parse().ok()?;
            match words.next() {
                Some("kB") => out.store(key, Bytes::from_kib(number), rest),
                None => drop(out.unknown.insert(key.to_owned(), rest.to_owned())),
                Some(_) => return None,
            }
            Some(())
        })?;
        if text.is_empty() { Err(Malformed::whole(path, "")) } else { Ok(out) }
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

    #[test]
    fn the_kernels_kb_is_kib_and_a_missing_line_is_none() {
        let seen = Meminfo::parse("m", "MemTotal:       24682416 kB\nHugePages_Free:   3\n").unwrap();
        assert_eq!(seen.mem_total, Some(Bytes(24_682_416 * 1024)));
        assert_eq!(seen.swap_total, None);
        assert_eq!(seen.count("HugePages_Free"), Some(3));
    }

    #[test]
    fn a_garbage_line_is_named_with_its_number() {
        let error = Meminfo::parse("/proc/meminfo", "MemTotal: 1 kB\nMemFree: \u{1b}[31mx kB\n").unwrap_err();
        assert_eq!(error.line, 2);
        assert!(error.to_string().contains("\\u{1b}"), "{error}");
        assert!(Meminfo::parse("m", "MemTotal: 1 MB\n").is_err());
        assert!(Meminfo::parse("m", "").is_err());
    }
}
