//! The numbers that the kernel takes for a setting below /proc/sys/vm: beyond them a write fails with EINVAL, and nothing changes.
//!
//! As of Linux 6.18 (`extra1` and `extra2` of the tables in kernel/sysctl.c and mm/); older kernels take more of some, and then the kernel itself answers.
//!
//! Worked example: `dirty_bytes` takes two pages or more, 8,192 bytes on most machines; `dirty_ratio` 0 to 100.

use ramline_units::PageSize;

/// Least and most, of settings that have both or one of them; what is not listed takes any number from 0 on.
const BOUNDS: &[(&str, i64, i64)] = &[
    ("compact_unevictable_allowed", 0, 1),
    ("compaction_proactiveness", 0, 100),
    ("dirty_background_bytes", 1, i64::MAX),
    ("dirty_background_ratio", 0, 100),
    ("dirty_ratio", 0, 100),
    ("dirtytime_expire_seconds", 0, i64::MAX),
    ("extfrag_threshold", 0, 1000),
    ("memory_failure_early_kill", 0, 1),
    ("memory_failure_recovery", 0, 1),
    ("min_slab_ratio", 0, 100),
    ("min_unmapped_ratio", 0, 100),
    ("numa_stat", 0, 1),
    ("overcommit_memory", 0, 2),
    ("page-cluster", 0, 31),
    ("panic_on_oom", 0, 2),
    ("swappiness", 0, 200),
    ("unprivileged_userfaultfd", 0, 1),
    ("watermark_scale_factor", 1, 3000),
];

/// Pages that `dirty_bytes` is at least (`dirty_bytes_min` of mm/page-writeback.c).
const DIRTY_PAGES: u64 = 2;

/// Why the kernel refuses the value; `None` where it takes it, as far as is known.
#[must_use]
pub fn refused(name: &str, value: i64, page: PageSize) -> Option<String> {
    let (least, most) = match name {
        "dirty_bytes" => (i64::try_from(page.0.saturating_mul(DIRTY_PAGES)).unwrap_or(i64::MAX), i64::MAX),
        name => BOUNDS.iter().find(|(known, ..)| *known == name).map(|(_, least, most)| (*least, *most))?,
    };
    let range = if most == i64::MAX { format!("{least} or more") } else { format!("{least} to {most}") };
    (value < least || value > most).then(|| format!("the kernel takes {range} for vm.{name}, and refuses {value}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_that_the_kernel_would_refuse_is_refused_with_its_bounds() {
        let of = |name, value| refused(name, value, PageSize(4096));
        assert_eq!(
            of("dirty_bytes", 8191).as_deref(),
            Some("the kernel takes 8192 or more for vm.dirty_bytes, and refuses 8191")
        );
        assert_eq!((of("dirty_bytes", 8192), of("dirty_background_bytes", 1)), (None, None));
        assert!(refused("dirty_bytes", 8192, PageSize(65_536)).is_some());
        assert!(of("dirty_ratio", 101).is_some_and(|why| why.contains("0 to 100")));
        assert_eq!((of("nr_hugepages", 1 << 40), of("swappiness", 200)), (None, None));
    }
}
