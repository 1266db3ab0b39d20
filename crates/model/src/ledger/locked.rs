//! How much of process memory and of shared memory is locked: together known, apart known within bounds.
//!
//! Locked pages leave the lists of anonymous and shared memory for the unevictable one, which holds locked files, ramfs and secret memory too. What the
//! lists lack is what is locked: `AnonPages + Shmem − (Active(anon) + Inactive(anon))`. So the owners' lines are exact, with no split to
//! guess; only which of the two is locked is between bounds, and what is unevictable beside them is the rest of that list.
//!
//! Not exact while pages are in the swap cache that no process maps (they are on the lists and in neither counter) or while freed pages
//! wait (`MADV_FREE`: on the lists of files): at most Unevictable moves between the lines, never out of their sum.
//!
//! Worked example: lists 1280 MiB, AnonPages 2048, Shmem 256: 1024 are locked; at least 768 of them belong to processes.

use crate::prelude::*;

/// Locked memory of the two kinds that have owners.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Locked {
    /// Of both together.
    pub both: Bytes,
    /// The most that is of processes: no more than they have, and all of it is in Mlocked.
    pub anon_most: Bytes,
    /// The most that is shared memory.
    pub shmem_most: Bytes,
}

impl Locked {
    /// Locked memory, from the counters and the length of the lists of anonymous and shared memory.
    pub fn from_meminfo(meminfo: &Meminfo, lists: Bytes) -> Locked {
        let (anon, shmem) = (meminfo.anon_pages.unwrap_or_default(), meminfo.shmem.unwrap_or_default());
        let both = (anon + shmem).saturating_sub(lists).min(meminfo.unevictable.unwrap_or_default());
        let mlocked = meminfo.mlocked.unwrap_or(both);
        Locked { both, anon_most: both.min(anon).min(mlocked), shmem_most: both.min(shmem) }
    }

    /// The least that is of processes: what cannot be shared memory.
    pub fn anon_least(&self) -> Bytes {
        self.both.saturating_sub(self.shmem_most).min(self.anon_most)
    }

    /// The least that is shared memory.
    pub fn shmem_least(&self) -> Bytes {
        self.both.saturating_sub(self.anon_most).min(self.shmem_most)
    }
}

/// Of Mapped, which counts page cache, shared memory and secret memory alike, what may be page cache: the least and the most.
///
/// Mapped shared memory is no more than there is, and no more than processes map where they were looked at; at least what one of them maps.
pub fn mapped_files(mapped: Bytes, shmem: Bytes, unevictable: Bytes, seen: Option<(Bytes, Bytes)>) -> (Bytes, Bytes) {
    let (largest, sum) = seen.unwrap_or((Bytes::ZERO, shmem));
    (mapped.saturating_sub(shmem.min(sum) + unevictable), mapped.saturating_sub(largest.min(shmem)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn meminfo(text: &str) -> Meminfo {
        Meminfo::parse("m", text).unwrap()
    }

    const fn mib(n: u64) -> Bytes {
        Bytes::from_mib(n)
    }

    #[test]
    fn what_the_lists_lack_is_locked_and_whose_it_is_lies_between_bounds() {
        // 256 shared, 1024 plain and 1024 locked anonymous MiB.
        let text = "AnonPages: 2097152 kB\nShmem: 262144 kB\nUnevictable: 1048576 kB\nMlocked: 1048576 kB\n";
        let locked = Locked::from_meminfo(&meminfo(text), mib(1280));
        assert_eq!((locked.both, locked.anon_least(), locked.anon_most), (mib(1024), mib(768), mib(1024)));
        assert_eq!((locked.shmem_least(), locked.shmem_most), (Bytes::ZERO, mib(256)));
        // A System V segment is locked without mlock: nothing of it can be of processes.
        let text = "AnonPages: 1048576 kB\nShmem: 1048576 kB\nUnevictable: 1048576 kB\nMlocked: 0 kB\n";
        let locked = Locked::from_meminfo(&meminfo(text), mib(1024));
        assert_eq!((locked.anon_most, locked.shmem_least(), locked.shmem_most), (Bytes::ZERO, mib(1024), mib(1024)));
    }

    #[test]
    fn no_more_is_locked_than_is_unevictable_and_a_swap_cache_hides_but_never_turns_negative() {
        let text = "AnonPages: 2048 kB\nShmem: 1024 kB\nUnevictable: 512 kB\n";
        assert_eq!(Locked::from_meminfo(&meminfo(text), Bytes::from_kib(1024)).both, Bytes::from_kib(512));
        assert_eq!(
            Locked::from_meminfo(&meminfo(text), Bytes::from_kib(9999)),
            Locked { both: Bytes::ZERO, ..Locked::default() }
        );
    }

    #[test]
    fn mapped_shared_memory_is_not_program_code() {
        // 1 GiB of memfd mapped beside 78 MiB of programs, 8 MiB of tmpfs.
        let bounds = |seen| mapped_files(mib(1102), mib(1032), mib(20), seen);
        assert_eq!(bounds(None), (mib(50), mib(1102)));
        assert_eq!(bounds(Some((mib(1024), mib(1024)))), (mib(58), mib(78)), "as far as the processes were seen");
    }
}
