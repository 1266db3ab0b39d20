//! Pools of huge pages (`/sys/kernel/mm/hugepages`): memory set aside, whether used or not.
//!
//! Example: 512 pages of 2 MiB, 500 free, 20 of these promised: 480 pages, 960 MiB, nobody has a use for.

use crate::prelude::*;

/// One pool, of pages of one size.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct HugePool {
    /// Size of one page.
    pub page: Bytes,
    /// Pages in the pool. Gauge.
    pub total: u64,
    /// Pages nobody uses. Gauge.
    pub free: u64,
    /// Of the free ones, promised to a mapping and not yet touched. Gauge.
    pub reserved: u64,
    /// Pages beyond the pool that were made on demand. Gauge.
    pub surplus: u64,
    /// The pool of the kernel's default size, which `vm.nr_hugepages` sets.
    pub default_size: bool,
}

impl HugePool {
    /// Pages nobody uses and nobody was promised.
    #[must_use]
    pub const fn unused(&self) -> u64 {
        self.free.saturating_sub(self.reserved)
    }

    /// So many pages as bytes.
    #[must_use]
    pub const fn bytes(&self, pages: u64) -> Bytes {
        Bytes(self.page.0.saturating_mul(pages))
    }

    /// The page size in the name of a pool's directory: `hugepages-2048kB`.
    #[must_use]
    pub fn page_of(name: &str) -> Option<Bytes> {
        let kib: u64 = name.strip_prefix("hugepages-")?.strip_suffix("kB")?.parse().ok()?;
        kib.checked_mul(1024).filter(|bytes| *bytes > 0).map(Bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_size_is_in_the_name_and_promised_pages_are_not_unused() {
        assert_eq!(HugePool::page_of("hugepages-2048kB"), Some(Bytes(2 << 20)));
        for name in ["hugepages-0kB", "hugepages-kB", "hugepages-2048", "x", "hugepages-99999999999999999999kB"] {
            assert_eq!(HugePool::page_of(name), None, "{name}");
        }
        let pool = HugePool { page: Bytes(2 << 20), total: 512, free: 500, reserved: 20, ..HugePool::default() };
        assert_eq!(pool.bytes(pool.unused()), Bytes(960 << 20));
        assert_eq!(HugePool { free: 1, reserved: 2, ..pool }.unused(), 0);
    }
}
