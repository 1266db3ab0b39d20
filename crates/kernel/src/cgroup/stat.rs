//! The counters of one group, with one name for both versions. A file or line this kernel lacks is `None`, never zero.

use std::collections::HashMap;

use super::path::Version;
use crate::prelude::*;

/// Gauges in bytes, counters since the group was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct GroupStat {
    /// All memory charged (memory.usage_in_bytes, memory.current).
    pub current: Option<Bytes>,
    /// The most it ever was (memory.max_usage_in_bytes, memory.peak from Linux 5.19).
    pub peak: Option<Bytes>,
    /// Anonymous memory, huge pages included (v1 `rss`).
    pub anon: Option<Bytes>,
    /// Transparent huge pages, inside `anon` (v1 `rss_huge`, v2 `anon_thp`).
    pub anon_huge: Option<Bytes>,
    /// Page cache, shmem included (v1 `cache`).
    pub file: Option<Bytes>,
    /// tmpfs and shared anonymous memory, inside `file`.
    pub shmem: Option<Bytes>,
    /// Page cache that is mapped.
    pub mapped_file: Option<Bytes>,
    /// Swap in use.
    pub swap: Option<Bytes>,
    /// Page cache that is reclaimed first.
    pub inactive_file: Option<Bytes>,
    /// Page cache that is in use.
    pub active_file: Option<Bytes>,
    /// Waiting to be written.
    pub dirty: Option<Bytes>,
    /// Being written.
    pub writeback: Option<Bytes>,
    /// Tables of pages; version 2 only.
    pub page_tables: Option<Bytes>,
    /// Kernel memory of the group (v2 `kernel`, v1 memory.kmem.usage_in_bytes).
    pub kernel: Option<Bytes>,
    /// Faults.
    pub pgfault: Option<u64>,
    /// Faults that needed I/O.
    pub pgmajfault: Option<u64>,
    /// Refaults of evicted pages of files.
    pub refault_file: Option<u64>,
    /// Refaults of anonymous pages (Linux 5.9).
    pub refault_anon: Option<u64>,
    /// Pages scanned; version 2 only.
    pub pgscan: Option<u64>,
    /// Pages reclaimed; version 2 only.
    pub pgsteal: Option<u64>,
    /// Pages swapped in; version 2 from Linux 6.11.
    pub pswpin: Option<u64>,
    /// Pages swapped out; version 2 from Linux 6.11.
    pub pswpout: Option<u64>,
    /// Processes killed because the group was out of memory.
    pub oom_kills: Option<u64>,
    /// How often the limit was hit (memory.failcnt, `max` of memory.events).
    pub limit_hits: Option<u64>,
    /// Microseconds in which a task of the group waited for memory; version 2 with PSI only.
    pub psi_some_us: Option<u64>,
    /// Microseconds in which all of them did.
    pub psi_full_us: Option<u64>,
}

/// Lines of a name and a number, by name.
pub type Table = HashMap<String, u64>;

/// Reads the files of a group.
pub fn read(dir: &Path, version: Version) -> Result<GroupStat> {
    let stat = table(&read_text(&dir.join("memory.stat"))?);
    let v1 = version == Version::V1;
    let either = |old, new| if v1 { old } else { new };
    let number = |old, new| read_u64(&dir.join(either(old, new))).ok();
    let events = read_text(&dir.join(either("memory.oom_control", "memory.events")));
    let events = events.map(|text| table(&text)).unwrap_or_default();
    // Version 1 has no pressure of groups.
    let psi = if v1 { String::new() } else { read_text(&dir.join("memory.pressure")).unwrap_or_default() };
    // Version 1 counts the group alone, and all below it under another name; version 2 has only that.
    let total = |key: &str| v1.then(|| stat.get(&format!("total_{key}")).copied()).flatten();
    let count = |key: &str| total(key).or_else(|| stat.get(key).copied());
    let bytes = |old, new| count(either(old, new)).map(Bytes);
    Ok(GroupStat {
        current: number("memory.usage_in_bytes", "memory.current").map(Bytes),
        peak: number("memory.max_usage_in_bytes", "memory.peak").map(Bytes),
        anon: bytes("rss", "anon"),
        anon_huge: bytes("rss_huge", "anon_thp"),
        file: bytes("cache", "file"),
        shmem: bytes("shmem", "shmem"),
        mapped_file: bytes("mapped_file", "file_mapped"),
        swap: if v1 { count("swap") } else { number("", "memory.swap.current") }.map(Bytes),
        inactive_file: bytes("inactive_file", "inactive_file"),
        active_file: bytes("active_file", "active_file"),
        dirty: bytes("dirty", "file_dirty"),
        writeback: bytes("writeback", "file_writeback"),
        page_tables: bytes("pagetables", "pagetables"),
        kernel: if v1 { number("memory.kmem.usage_in_bytes", "") } else { count("kernel") }.map(Bytes),
        pgfault: count("pgfault"),
        pgmajfault: count("pgmajfault"),
        // Before 5.9 one counter, which was of file pages only.
        refault_file: count("workingset_refault_file").or_else(|| count("workingset_refault")),
        refault_anon: count("workingset_refault_anon"),
        pgscan: count("pgscan"),
        pgsteal: count("pgsteal"),
        pswpin: count("pswpin"),
        pswpout: count("pswpout"),
        oom_kills: events.get("oom_kill").copied(),
        limit_hits: if v1 { number("memory.failcnt", "") } else { events.get("max").copied() },
        psi_some_us: psi_total(&psi, "some"),
        psi_full_us: psi_total(&psi, "full"),
    })
}

/// Lines of a name and a number.
pub fn table(text: &str) -> Table {
    let pair =
        |line: &str| line.split_once(' ').and_then(|(key, value)| Some((key.to_owned(), value.trim().parse().ok()?)));
    text.lines().filter_map(pair).collect()
}

fn psi_total(text: &str, kind: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(kind)?.strip_prefix(' '))?;
    line.split_whitespace().find_map(|word| word.strip_prefix("total=")?.parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_version_does_not_count_is_unknown_and_not_zero() {
        let dir = tempfile::tempdir().unwrap();
        let write = |file: &str, text: &str| std::fs::write(dir.path().join(file), text).unwrap();
        write("memory.stat", "cache 8192\nrss 4096\nshmem 0\nswap 12288\npgmajfault 7\nworkingset_refault_file 3\n");
        write("memory.usage_in_bytes", "16384\n");
        write("memory.oom_control", "oom_kill_disable 0\nunder_oom 0\noom_kill 2\n");
        let stat = read(dir.path(), Version::V1).unwrap();
        assert_eq!((stat.anon, stat.file, stat.swap), (Some(Bytes(4096)), Some(Bytes(8192)), Some(Bytes(12288))));
        assert_eq!((stat.oom_kills, stat.pgmajfault, stat.refault_file), (Some(2), Some(7), Some(3)));
        assert_eq!((stat.pgscan, stat.psi_full_us, stat.peak), (None, None, None));
    }

    #[test]
    fn version_two_reads_its_own_names() {
        let dir = tempfile::tempdir().unwrap();
        let write = |file: &str, text: &str| std::fs::write(dir.path().join(file), text).unwrap();
        write(
            "memory.stat",
            "anon 4096\nfile 8192\nkernel 512\nfile_mapped 4096\nfile_dirty 0\npgscan 9\npgsteal 8\npswpin 1\n",
        );
        write("memory.current", "12800\n");
        write("memory.swap.current", "4096\n");
        write("memory.events", "low 0\nhigh 0\nmax 5\noom 1\noom_kill 1\n");
        write(
            "memory.pressure",
            "some avg10=0.00 avg60=0.00 avg300=0.00 total=17\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=9\n",
        );
        let stat = read(dir.path(), Version::V2).unwrap();
        assert_eq!((stat.anon, stat.swap, stat.mapped_file), (Some(Bytes(4096)), Some(Bytes(4096)), Some(Bytes(4096))));
        assert_eq!((stat.oom_kills, stat.limit_hits, stat.psi_full_us), (Some(1), Some(5), Some(9)));
    }
}
