//! The columns of `free`, as the layouts before and after procps 3.3.10 show them, each with its formula.
//!
//! Arithmetic over gauges that were read, of a machine or of a memory group looked at as a small machine. The translation between
//! tools is the model's.
//!
//! ```
//! use ramline_evidence::FreeGauges;
//! use ramline_units::Bytes;
//! let mib = Bytes::from_mib;
//! let seen = FreeGauges { total: mib(1000), free: mib(100), cached: mib(600), available: Some(mib(650)), ..FreeGauges::default() };
//! let old: Vec<_> = seen.old_layout().into_iter().map(|column| (column.name, column.bytes)).collect();
//! assert_eq!(old[1], ("used", mib(900)));
//! assert_eq!(seen.new_layout()[1].bytes, mib(350)); // used, since procps 4.0.1: total - available
//! ```

use crate::prelude::*;

/// What `free` computes its columns from. Gauges.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct FreeGauges {
    /// MemTotal; of a group its limit.
    pub total: Bytes,
    /// MemFree; of a group its limit less its usage.
    pub free: Bytes,
    /// Buffers; a group does not count them apart from its page cache.
    pub buffers: Bytes,
    /// Cached, which includes shmem; of a group all its page cache.
    pub cached: Bytes,
    /// SReclaimable; of a group 0 where it does not say.
    pub reclaimable: Bytes,
    /// Shmem.
    pub shmem: Bytes,
    /// MemAvailable; of a group, which has no watermarks, free and both lists of file pages.
    pub available: Option<Bytes>,
    /// SwapTotal; of a group what it may use.
    pub swap_total: Bytes,
    /// SwapTotal - SwapFree; of a group what it uses.
    pub swap_used: Bytes,
}

/// One column at one moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FreeColumn {
    /// As `free` heads it.
    pub name: &'static str,
    /// How it is made of the kernel's names.
    pub formula: &'static str,
    /// Its value.
    pub bytes: Bytes,
}

impl FreeGauges {
    /// What no program can be given: neither free nor cache.
    #[must_use]
    pub fn used_without_cache(&self) -> Bytes {
        self.total.saturating_sub(self.free).saturating_sub(self.buffers).saturating_sub(self.cached)
    }

    /// Free and the two columns of cache: level while caches are dropped.
    #[must_use]
    pub fn free_with_cache(&self) -> Bytes {
        self.free + self.buffers + self.cached
    }

    /// Buffers + Cached + SReclaimable.
    #[must_use]
    pub fn buff_cache(&self) -> Bytes {
        self.buffers + self.cached + self.reclaimable
    }

    /// procps up to 3.3.9: one row of memory and the row `-/+ buffers/cache`.
    #[must_use]
    pub fn old_layout(&self) -> Vec<FreeColumn> {
        let column = |name, formula, bytes| FreeColumn { name, formula, bytes };
        vec![
            column("total", "MemTotal", self.total),
            column("used", "MemTotal - MemFree", self.total.saturating_sub(self.free)),
            column("free", "MemFree", self.free),
            column("shared", "Shmem", self.shmem),
            column("buffers", "Buffers", self.buffers),
            column("cached", "Cached", self.cached),
            column("-/+ used", "used - buffers - cached", self.used_without_cache()),
            column("-/+ free", "free + buffers + cached", self.free_with_cache()),
        ]
    }

    /// procps from 4.0.1; from 3.3.10 to 4.0.0 `used` was total - free - buff/cache, which is the last one here.
    #[must_use]
    pub fn new_layout(&self) -> Vec<FreeColumn> {
        let column = |name, formula, bytes| FreeColumn { name, formula, bytes };
        let before = self.total.saturating_sub(self.free).saturating_sub(self.buff_cache());
        let mut out = vec![column("total", "MemTotal", self.total)];
        if let Some(available) = self.available {
            out.push(column("used", "MemTotal - MemAvailable", self.total.saturating_sub(available)));
        }
        out.push(column("free", "MemFree", self.free));
        out.push(column("shared", "Shmem", self.shmem));
        out.push(column("buff/cache", "Buffers + Cached + SReclaimable", self.buff_cache()));
        out.extend(self.available.map(|bytes| column("available", "MemAvailable", bytes)));
        out.push(column("used (3.3.10)", "total - free - buff/cache", before));
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: fn(u64) -> Bytes = Bytes::from_mib;

    /// The article's machine of half a gibibyte, after it had read a lot.
    fn article() -> FreeGauges {
        FreeGauges {
            total: MIB(995),
            free: MIB(14),
            buffers: MIB(3),
            cached: MIB(809),
            reclaimable: MIB(20),
            available: Some(MIB(790)),
            ..FreeGauges::default()
        }
    }

    #[test]
    fn nearly_everything_is_used_in_the_first_old_row_and_little_in_the_second() {
        let old = article().old_layout();
        let of = |name: &str| old.iter().find(|column| column.name == name).unwrap().bytes;
        assert_eq!((of("used"), of("free")), (MIB(981), MIB(14)));
        assert_eq!((of("-/+ used"), of("-/+ free")), (MIB(169), MIB(826)));
    }

    #[test]
    fn used_changed_its_meaning_with_procps_4() {
        let new = article().new_layout();
        let of = |name: &str| new.iter().find(|column| column.name == name).unwrap().bytes;
        assert_eq!((of("used"), of("used (3.3.10)")), (MIB(205), MIB(149)));
        let blind = FreeGauges { available: None, ..article() }.new_layout();
        assert!(blind.iter().all(|column| column.name != "used" && column.name != "available"));
    }
}
