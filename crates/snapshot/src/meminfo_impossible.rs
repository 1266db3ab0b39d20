//! Counters of `/proc/meminfo` that cannot be: a part of RAM that is larger than RAM.
//!
//! Kernels have counted wrongly: pages freed without the counter being lowered, a driver's total that runs away. What is above MemTotal is no size of
//! anything in it, and no sum with it tells anything. What it is not: a judgement of counters that are wrong and still below MemTotal.
//!
//! Worked example: MemAvailable of 22.5 GiB beside a MemTotal of 1.5 GiB is not believed, nor the Inactive(file) that it was made of.

use std::borrow::Cow;

use crate::meminfo::Meminfo;
use crate::prelude::*;

/// Lines that count pages of MemTotal. Not those of swap, of promises and of address space; nor `Balloon`, whose pages most drivers take off MemTotal.
const OF_RAM: &[&str] = &[
    "MemAvailable",
    "MemFree",
    "Buffers",
    "Cached",
    "SwapCached",
    "Active(anon)",
    "Inactive(anon)",
    "Active(file)",
    "Inactive(file)",
    "Active",
    "Inactive",
    "Unevictable",
    "Mlocked",
    "Zswap",
    "Dirty",
    "Writeback",
    "NFS_Unstable",
    "Bounce",
    "WritebackTmp",
    "AnonPages",
    "Mapped",
    "Shmem",
    "KReclaimable",
    "Slab",
    "SReclaimable",
    "SUnreclaim",
    "KernelStack",
    "PageTables",
    "SecPageTables",
    "Percpu",
    "Quicklists",
    "HardwareCorrupted",
    "AnonHugePages",
    "ShmemHugePages",
    "FileHugePages",
    "CmaFree",
    "Unaccepted",
    "GPUActive",
    "GPUReclaim",
    "Hugetlb",
];

impl Meminfo {
    /// Lines of RAM that are above MemTotal, in the order of the file.
    #[must_use]
    pub fn impossible(&self) -> Vec<(&'static str, Bytes)> {
        let Some(total) = self.mem_total else { return Vec::new() };
        let vmalloc = self.vmalloc_ram().map(|bytes| ("VmallocUsed", bytes));
        let lines = OF_RAM.iter().filter_map(|key| Some((*key, self.get(key)?)));
        lines.chain(vmalloc).filter(|(_, bytes)| *bytes > total).collect()
    }

    /// The same file without the lines that cannot be.
    #[must_use]
    pub fn believed(&self) -> Cow<'_, Meminfo> {
        let wrong = self.impossible();
        if wrong.is_empty() {
            return Cow::Borrowed(self);
        }
        let mut out = self.clone();
        wrong.into_iter().for_each(|(key, _)| out.forget(key));
        Cow::Owned(out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_of_ram_above_memtotal_is_not_believed_and_what_is_no_part_of_it_is() {
        let text = "MemTotal: 1000 kB\nMemFree: 400 kB\nMemAvailable: 15000 kB\nInactive(file): 14000 kB\nSwapTotal: 9000 kB\n\
                    Committed_AS: 8000 kB\nBalloon: 7000 kB\nVmallocUsed: 6000 kB\nVmallocChunk: 50000 kB\n";
        let seen = Meminfo::parse("m", text).unwrap();
        let names: Vec<_> = seen.impossible().into_iter().map(|(name, _)| name).collect();
        assert_eq!(names, ["MemAvailable", "Inactive(file)"]);
        let left = seen.believed();
        assert_eq!((left.mem_available, left.inactive_file), (None, None));
        assert_eq!((left.mem_free, left.swap_total), (Some(Bytes::from_kib(400)), Some(Bytes::from_kib(9000))));
        let sound = Meminfo::parse("m", "MemTotal: 1000 kB\nMemFree: 1000 kB\n").unwrap();
        assert!(matches!(sound.believed(), Cow::Borrowed(_)), "all of it may be free");
    }
}
