//! `/proc/vmstat`: gauges in pages (`nr_*`) and counters of events since boot.

use ramline_units::checked_sum;

use crate::prelude::*;

counters! {
    /// `/proc/vmstat`. A counter since boot is never judged as a rate: use a [`crate::Window`].
    Vmstat of u64 {
        nr_zspages = "nr_zspages",
        nr_isolated_anon = "nr_isolated_anon",
        nr_isolated_file = "nr_isolated_file",
        nr_kernel_misc_reclaimable = "nr_kernel_misc_reclaimable",
        nr_memmap = "nr_memmap_pages",
        nr_memmap_boot = "nr_memmap_boot_pages",
        nr_iommu_pages = "nr_iommu_pages",
        nr_dirty_threshold = "nr_dirty_threshold",
        nr_dirty_background_threshold = "nr_dirty_background_threshold",
        pgpgin = "pgpgin",
        pgpgout = "pgpgout",
        pswpin = "pswpin",
        pswpout = "pswpout",
        swpin_zero = "swpin_zero",
        swpout_zero = "swpout_zero",
        zswpin = "zswpin",
        zswpout = "zswpout",
        zswpwb = "zswpwb",
        swap_ra = "swap_ra",
        swap_ra_hit = "swap_ra_hit",
        pgfault = "pgfault",
        pgmajfault = "pgmajfault",
        pgfree = "pgfree",
        pgscan_kswapd = "pgscan_kswapd",
        pgscan_direct = "pgscan_direct",
        pgsteal_kswapd = "pgsteal_kswapd",
        pgsteal_direct = "pgsteal_direct",
        pgsteal_proactive = "pgsteal_proactive",
        pgscan_proactive = "pgscan_proactive",
        pgscan_anon = "pgscan_anon",
        pgscan_file = "pgscan_file",
        pgsteal_anon = "pgsteal_anon",
        pgsteal_file = "pgsteal_file",
        allocstall_dma32 = "allocstall_dma32",
        allocstall_normal = "allocstall_normal",
        allocstall_movable = "allocstall_movable",
        workingset_refault_anon = "workingset_refault_anon",
        workingset_refault_file = "workingset_refault_file",
        workingset_activate_file = "workingset_activate_file",
        workingset_activate_anon = "workingset_activate_anon",
        workingset_restore_anon = "workingset_restore_anon",
        workingset_restore_file = "workingset_restore_file",
        /// Before 5.9 one counter for file pages alone.
        workingset_refault = "workingset_refault",
        oom_kill = "oom_kill",
        kswapd_low_wmark_hit_quickly = "kswapd_low_wmark_hit_quickly",
        compact_stall = "compact_stall",
        thp_fault_alloc = "thp_fault_alloc",
        thp_fault_fallback = "thp_fault_fallback",
        thp_collapse_alloc = "thp_collapse_alloc",
        thp_split_page = "thp_split_page",
        drop_pagecache = "drop_pagecache",
        balloon_inflate = "balloon_inflate",
        balloon_deflate = "balloon_deflate",
    }
}

impl Vmstat {
    /// Parses lines of `name value`.
    ///
    /// # Errors
    /// No line is of this form.
    pub fn parse(from: &(impl Origin + ?Sized), text: &str) -> Result<Self, Malformed> {
        let mut out = Self::default();
        let () = parse_lines(
            from,
            text,
            |word| Self::KEYS.contains(&word),
            |line| {
                let (key, value) = line.split_once(' ')?;
                out.store(key, value.trim().parse().ok()?, value.trim());
                Some(())
            },
        )?;
        if text.is_empty() { Err(Malformed::whole(from.path(), "")) } else { Ok(out) }
    }

    /// File refaults under either name.
    #[must_use]
    pub fn refault_file(&self) -> Option<u64> {
        self.workingset_refault_file.or(self.workingset_refault)
    }

    /// Times an allocation had to reclaim by itself, over all zones; `None` when no zone reports it.
    #[must_use]
    pub fn allocstall(&self) -> Option<u64> {
        let zones = [self.allocstall_dma32, self.allocstall_normal, self.allocstall_movable];
        zones.iter().flatten().next()?;
        checked_sum(zones.into_iter().flatten())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_counters_are_kept_and_old_names_still_answer() {
        let seen = Vmstat::parse("v", "pswpin 5\nworkingset_refault 9\nnew_thing 1\n").unwrap();
        assert_eq!((seen.pswpin, seen.refault_file(), seen.allocstall()), (Some(5), Some(9), None));
        assert_eq!(seen.unknown["new_thing"], "1");
        assert_eq!(Vmstat::parse("v", "pswpin x\n").unwrap_err().line, 1);
    }

    #[test]
    fn a_sum_of_counters_beyond_the_range_is_not_known() {
        let text = "allocstall_normal 18446744073709551615\nallocstall_movable 1\n";
        assert_eq!(Vmstat::parse("v", text).unwrap().allocstall(), None);
        assert_eq!(Vmstat::parse("v", &text.replace(" 1\n", " 0\n")).unwrap().allocstall(), Some(u64::MAX));
    }
}
