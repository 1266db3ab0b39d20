//! Pools of huge pages.

use ramline_snapshot::hugepages::HugePool;

use super::reader::Reader;
use crate::prelude::*;

const DIR: &str = "/sys/kernel/mm/hugepages";

/// A kernel without huge pages has no pool, which is seen and empty.
pub fn hugepages(reader: &Reader<'_>, meminfo: Option<&Meminfo>) -> Seen<Vec<HugePool>> {
    reader.timed(|| {
        let default = meminfo.map_or_else(|| default_pool(&read_meminfo(reader)?), default_pool);
        let pools: Vec<HugePool> = reader.names(DIR).iter().filter_map(|name| named_pool(reader, name)).collect();
        if pools.is_empty() {
            // A container hides the directory and an old capture lacks it; the default pool is in meminfo too.
            return default.into_iter().collect();
        }
        let size = default.map(|pool| pool.page);
        pools.into_iter().map(|pool| HugePool { default_size: size == Some(pool.page), ..pool }).collect()
    })
}

fn pool(page: Bytes, default_size: bool, counts: [Option<u64>; 4]) -> Option<HugePool> {
    let [total, free, reserved, surplus] = counts;
    let (reserved, surplus) = (reserved.unwrap_or(0), surplus.unwrap_or(0));
    Some(HugePool { page, total: total?, free: free?, reserved, surplus, default_size })
}

fn named_pool(reader: &Reader<'_>, name: &str) -> Option<HugePool> {
    let files = ["nr_hugepages", "free_hugepages", "resv_hugepages", "surplus_hugepages"];
    pool(HugePool::page_of(name)?, false, files.map(|file| reader.number(&format!("{DIR}/{name}/{file}"))))
}

fn read_meminfo(reader: &Reader<'_>) -> Option<Meminfo> {
    Meminfo::parse("/proc/meminfo", &reader.text("/proc/meminfo").ok()?).ok()
}

fn default_pool(meminfo: &Meminfo) -> Option<HugePool> {
    let keys = ["HugePages_Total", "HugePages_Free", "HugePages_Rsvd", "HugePages_Surp"];
    pool(meminfo.hugepagesize.filter(|page| page.0 > 0)?, true, keys.map(|key| meminfo.count(key)))
}
