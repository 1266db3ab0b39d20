//! Pools of huge pages.

use ramline_snapshot::Seen;
use ramline_snapshot::hugepages::HugePool;
use ramline_snapshot::meminfo::Meminfo;

use super::reader::Reader;

const DIR: &str = "/sys/kernel/mm/hugepages";

/// A kernel without huge pages has no pool, which is seen and empty.
pub fn hugepages(reader: &Reader<'_>) -> Seen<Vec<HugePool>> {
    reader.timed(|| {
        let default = default_pool(reader);
        let pools: Vec<HugePool> = reader.names(DIR).iter().filter_map(|name| pool(reader, name)).collect();
        if pools.is_empty() {
            // A container hides the directory and an old capture lacks it; the default pool is in meminfo too.
            return default.into_iter().collect();
        }
        let size = default.map(|pool| pool.page);
        pools.into_iter().map(|pool| HugePool { default_size: size == Some(pool.page), ..pool }).collect()
    })
}

fn pool(reader: &Reader<'_>, name: &str) -> Option<HugePool> {
    let number = |file: &str| reader.number(&format!("{DIR}/{name}/{file}"));
    Some(HugePool {
        page: HugePool::page_of(name)?,
        total: number("nr_hugepages")?,
        free: number("free_hugepages")?,
        reserved: number("resv_hugepages").unwrap_or(0),
        surplus: number("surplus_hugepages").unwrap_or(0),
        default_size: false,
    })
}

fn default_pool(reader: &Reader<'_>) -> Option<HugePool> {
    let meminfo = Meminfo::parse("/proc/meminfo", &reader.text("/proc/meminfo").ok()?).ok()?;
    Some(HugePool {
        page: meminfo.hugepagesize.filter(|page| page.0 > 0)?,
        total: meminfo.count("HugePages_Total")?,
        free: meminfo.count("HugePages_Free")?,
        reserved: meminfo.count("HugePages_Rsvd").unwrap_or(0),
        surplus: meminfo.count("HugePages_Surp").unwrap_or(0),
        default_size: true,
    })
}
