//! Values of the reader's own that leave less memory to programs, and how much: from a tenth of the RAM on it is said.
//!
//! Less than a quarter of the RAM, or than programs use now, may leave a machine unable to work. Such a machine may not even run the guard that watches the
//! change, so the change is applied only with a timer that undoes it. What is left:
//!
//! | setting | left to programs |
//! |---|---|
//! | min_free_kbytes, watermark_scale_factor | RAM above the high watermark: min + 2 · max(min / 4, RAM · scale / 10000) (mm/page_alloc.c, `__setup_per_zone_wmarks`) |
//! | nr_hugepages | RAM that is no huge page |
//! | overcommit_memory 2, its ratio or kbytes | what may be committed: (RAM - huge pages) · ratio / 100, or kbytes, and swap (mm/util.c, `vm_commit_limit`) |

use crate::prelude::*;

/// Least share of the RAM.
const LEAST: f64 = 0.25;
/// Taking this share of the RAM is worth a word: as elsewhere, a tenth.
const WORTH_A_WORD: f64 = 0.10;

/// What a value leaves to programs.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct LeftForPrograms {
    /// In a sentence without its end.
    pub words: String,
    /// So little that the machine may stand still.
    pub is_harsh: bool,
}

/// What a value leaves to programs, where it takes much; `None` where it does not, or what decides was not seen.
pub(super) fn left_for_programs(snapshot: &Snapshot, name: &str, value: i64) -> Option<LeftForPrograms> {
    let meminfo = snapshot.meminfo.data()?;
    let total = meminfo.mem_total?;
    let settings = snapshot.settings.data();
    let now = |name: &str| settings.and_then(|settings| settings.get(name)).and_then(|now| u64::try_from(now).ok());
    let value = u64::try_from(value).ok()?;
    // A smaller reserve leaves more than there is now.
    if !name.starts_with("overcommit") && now(name).is_some_and(|now| value <= now) {
        return None;
    }
    let used = total.saturating_sub(meminfo.mem_available.unwrap_or(total));
    let watermark = |min: u64, scale: u64| {
        let min = min.saturating_mul(1024);
        let gap = (min / 4).max(total.0 / 10_000 * scale);
        total.saturating_sub(Bytes(min.saturating_add(gap.saturating_mul(2))))
    };
    let (left, used) = match name {
        "min_free_kbytes" => (watermark(value, now("watermark_scale_factor").unwrap_or(10)), used),
        "watermark_scale_factor" => (watermark(now("min_free_kbytes")?, value), used),
        "nr_hugepages" => (total.saturating_sub(Bytes(meminfo.hugepagesize?.0.saturating_mul(value))), used),
        "overcommit_memory" | "overcommit_ratio" | "overcommit_kbytes" => {
            let of = |key: &str| if key == name { Some(value) } else { now(key) };
            if of("overcommit_memory")? != 2 {
                return None;
            }
            let kbytes = match name {
                // The kernel makes the other one 0.
                "overcommit_ratio" => 0,
                _ => of("overcommit_kbytes").unwrap_or_default(),
            };
            let plain = total.saturating_sub(meminfo.hugetlb.unwrap_or_default());
            let allowed = match kbytes {
                0 => Bytes(plain.0 / 100 * of("overcommit_ratio")?),
                kbytes => Bytes(kbytes.saturating_mul(1024)),
            };
            let limit = allowed + meminfo.swap_total.unwrap_or_default();
            (limit, meminfo.committed_as.unwrap_or_default())
        }
        _ => return None,
    };
    let least = bytes_of(total.as_f64() * LEAST);
    let is_strict = name.starts_with("overcommit");
    let taken = total.saturating_sub(left);
    let is_said = is_strict || taken.share_of(total).is_some_and(|share| share >= WORTH_A_WORD);
    is_said.then(|| {
        let words = if is_strict {
            format!(
                "programs may commit {left} with it and have committed {used}: beyond it malloc and fork fail, although memory is free"
            )
        } else {
            format!("of {total} of RAM programs may use {left} with it, and have {used} now")
        };
        LeftForPrograms { words, is_harsh: left < least || left < used }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use ramline_snapshot::Seen;
    use ramline_snapshot::meminfo::Meminfo;
    use ramline_snapshot::sysctl::VmSettings;

    fn snapshot(available_mib: u64) -> Snapshot {
        let meminfo = Meminfo {
            mem_total: Some(Bytes::from_mib(1000)),
            mem_available: Some(Bytes::from_mib(available_mib)),
            hugepagesize: Some(Bytes::from_mib(2)),
            committed_as: Some(Bytes::from_mib(400)),
            ..Meminfo::default()
        };
        let settings = VmSettings {
            min_free_kbytes: Some(16 << 10),
            watermark_scale_factor: Some(10),
            overcommit_memory: Some(0),
            overcommit_ratio: Some(50),
            ..VmSettings::default()
        };
        Snapshot { meminfo: Seen::new(meminfo), settings: Seen::new(settings), ..Snapshot::default() }
    }

    #[test]
    fn a_reserve_is_harsh_from_half_of_the_ram_on_since_the_high_watermark_is_half_as_much_again() {
        let of = |kib: i64| super::left_for_programs(&snapshot(900), "min_free_kbytes", kib);
        assert!(!of(499 << 10).unwrap().is_harsh);
        let why = of(501 << 10).unwrap();
        assert!(why.is_harsh && why.words.contains("of 1000.0 MiB of RAM programs may use 248."), "{why:?}");
        assert_eq!(of(8 << 10), None, "less than now");
        assert_eq!(of(60 << 10), None, "not a tenth of the RAM");
        let third = of(333 << 10).unwrap();
        assert_eq!(third.words, "of 1000.0 MiB of RAM programs may use 500.5 MiB with it, and have 100.0 MiB now");
    }

    #[test]
    fn what_programs_have_now_must_stay() {
        let harsh = |available, pages| {
            left_for_programs(&snapshot(available), "nr_hugepages", pages).filter(|left| left.is_harsh)
        };
        assert_eq!(harsh(900, 300), None);
        assert!(harsh(900, 376).is_some());
        assert!(harsh(300, 300).unwrap().words.ends_with("and have 700.0 MiB now"));
        assert_eq!(left_for_programs(&snapshot(100), "swappiness", 200), None);
    }

    #[test]
    fn strict_accounting_is_harsh_where_more_is_committed_than_it_allows() {
        let strict = left_for_programs(&snapshot(900), "overcommit_memory", 2).unwrap();
        assert!(
            !strict.is_harsh && strict.words.contains("commit 500.0 MiB with it and have committed 400.0 MiB"),
            "{strict:?}"
        );
        assert!(left_for_programs(&snapshot(900), "overcommit_ratio", 10).is_none(), "it is not in force");
        let mut tight = snapshot(900);
        if let Some(meminfo) = tight.meminfo.data_mut() {
            meminfo.committed_as = Some(Bytes::from_mib(600));
        }
        assert!(left_for_programs(&tight, "overcommit_memory", 2).unwrap().is_harsh);
    }
}
