//! Which lines of a `/proc/meminfo` made by lxcfs are the container's.
//!
//! lxcfs reads the host's file and writes some lines anew from the container's group; the others it hands through (`proc_meminfo_read`,
//! src/proc_fuse.c of 4.0 to 7.0). What it fills in with 0 because it does not know it (buffers, swap cache, slab and dirty pages by version of
//! the groups) is not known here either.
//!
//! Worked example: KReclaimable of 1.2 GiB beside a MemTotal of 1 GiB is the host's, and SReclaimable of 0 kB stands for "not known".

use crate::meminfo::Meminfo;
use crate::prelude::*;

/// Lines written anew, whose 0 is a size.
const SIZES: [&str; 11] = [
    "MemTotal",
    "MemFree",
    "MemAvailable",
    "Cached",
    "Active",
    "Inactive",
    "Active(anon)",
    "Inactive(anon)",
    "Active(file)",
    "Inactive(file)",
    "Unevictable",
];

/// Lines written anew, whose 0 may stand for what lxcfs does not know.
const SIZES_OR_UNKNOWN: [&str; 12] = [
    "AnonPages",
    "Shmem",
    "Mapped",
    "SwapTotal",
    "SwapFree",
    "Dirty",
    "Writeback",
    "Slab",
    "SReclaimable",
    "SUnreclaim",
    "AnonHugePages",
    "Zswap",
];

impl Meminfo {
    /// Leaves the lines that are the container's, of a file that lxcfs made.
    pub fn keep_lines_of_lxcfs(&mut self) {
        let whole = std::mem::take(self);
        for key in Self::KEYS {
            let keep = |bytes: &Bytes| SIZES.contains(key) || SIZES_OR_UNKNOWN.contains(key) && bytes.0 > 0;
            if let Some(bytes) = whole.get(key).filter(keep) {
                self.store(key, bytes, "");
            }
        }
        // It makes AnonPages and the lists of the same numbers: what one tells is in the other.
        self.anon_pages = whole.anon_pages;
        self.shmem = whole.shmem;
    }

    /// The numbers are such as lxcfs writes: what no kernel counts is 0, and memory of processes is the lists' to the byte.
    #[must_use]
    pub fn looks_like_lxcfs(&self) -> bool {
        let lists = self.active_anon.zip(self.inactive_anon).map(|(active, inactive)| active + inactive);
        let owners = self.anon_pages.zip(self.shmem).map(|(anon, shmem)| anon + shmem);
        let none = |bytes: Option<Bytes>| bytes.is_none_or(|bytes| bytes == Bytes::ZERO);
        // Two numbers in KiB make up for one.
        let same = lists.zip(owners).is_some_and(|(lists, owners)| lists.0.abs_diff(owners.0) <= 2048);
        same && none(self.buffers) && none(self.swap_cached)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "MemTotal: 1048576 kB\nMemFree: 900000 kB\nBuffers: 0 kB\nSwapCached: 0 kB\nActive(anon): 12 kB\n\
Inactive(anon): 1856 kB\nAnonPages: 1868 kB\nShmem: 0 kB\nSwapTotal: 0 kB\nKReclaimable: 1235536 kB\nSReclaimable: 0 kB\n\
PageTables: 11832 kB\nHugePages_Total: 4\nHugepagesize: 2048 kB\n";

    #[test]
    fn what_lxcfs_hands_through_is_the_hosts_and_its_zeros_are_not_known() {
        let mut seen = Meminfo::parse("m", TEXT).unwrap();
        assert!(seen.looks_like_lxcfs());
        seen.keep_lines_of_lxcfs();
        assert_eq!((seen.mem_total, seen.anon_pages), (Some(Bytes::from_gib(1)), Some(Bytes::from_kib(1868))));
        assert_eq!((seen.k_reclaimable, seen.page_tables, seen.count("HugePages_Total")), (None, None, None));
        assert_eq!((seen.s_reclaimable, seen.swap_total, seen.buffers), (None, None, None));
    }

    #[test]
    fn a_kernels_own_file_does_not_look_like_it() {
        let seen = Meminfo::parse("m", &TEXT.replace("AnonPages: 1868", "AnonPages: 1700")).unwrap();
        assert!(!seen.looks_like_lxcfs());
        assert!(!Meminfo::parse("m", &TEXT.replace("Buffers: 0", "Buffers: 8")).unwrap().looks_like_lxcfs());
        assert!(!Meminfo::parse("m", "MemTotal: 1 kB\n").unwrap().looks_like_lxcfs());
    }
}
