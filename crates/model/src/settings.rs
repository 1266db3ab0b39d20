//! Which knob works where: the one table that whoever sets something looks up.
//!
//! Per knob: where it is set on a machine and in a memory group of either version, and what it takes. How far a change reaches
//! follows: a file of the group touches the sandbox alone, everything else the whole host. Not a probe: a kernel may
//! lack a knob the table allows, which only looking tells.
//!
//! Worked example: a version-2 group has no swappiness, so an arm that changes it there sets `vm.swappiness` of the machine:
//! `Global`, which needs consent or a virtual machine.
//!
//! ```
//! use ramline_model::settings::{Home, Knob, Place, Takes, home, reach, Reach};
//! assert_eq!(home(Knob::Swappiness, Place::CgroupV1), Home::Group("memory.swappiness", Takes::Count(0, 200)));
//! assert_eq!(reach(Knob::Swappiness, Place::CgroupV2), Reach::Global);
//! assert_eq!(Takes::Limit.parse("64MiB").as_deref(), Some("67108864"));
//! ```

/// A thing that can be set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Knob {
    /// Balance between anonymous and file pages.
    Swappiness,
    /// Hard limit on memory.
    MemoryLimit,
    /// Limit on swap use.
    SwapLimit,
    /// Adding or removing a swap area.
    SwapArea,
    /// A zram device as swap.
    Zram,
    /// Compressed cache in front of swap.
    Zswap,
    /// Read-ahead of a block device.
    ReadAhead,
    /// Swap read-ahead.
    PageCluster,
    /// Multi-generational LRU on or off.
    Mglru,
    /// `vm.min_free_kbytes`.
    MinFree,
    /// `vm.watermark_scale_factor`.
    WatermarkScale,
    /// Emptying the page cache.
    DropCaches,
}

/// Where it is to work.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Place {
    /// On the host itself.
    Native,
    /// In a memory group of version 1.
    CgroupV1,
    /// In a memory group of version 2.
    CgroupV2,
    /// The same made by an ordinary user, in a group that was given to him (systemd's `Delegate=`).
    Delegated,
    /// In a virtual machine made for it.
    Vm,
}

/// How far a change reaches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Reach {
    /// Only the sandbox, be it a group or a guest.
    PerGroup,
    /// The whole host: ask first.
    Global,
    /// There is no such setting there.
    Impossible,
}

/// What a knob takes, as the kernel reads it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Takes {
    /// A whole number in these bounds, both included.
    Count(u64, u64),
    /// Bytes, or `max` for no limit.
    Limit,
    /// A size, written in KiB.
    Kib,
    /// On or off.
    Switch,
}

impl Takes {
    /// A value as a person writes it or the kernel shows it, as the kernel takes it; `None` where it would refuse.
    #[must_use]
    pub fn parse(self, text: &str) -> Option<String> {
        let text = text.trim();
        match self {
            Takes::Count(least, most) => {
                text.parse().ok().filter(|n| (least..=most).contains(n)).map(|n| n.to_string())
            }
            Takes::Limit if text == "max" => Some(text.to_owned()),
            Takes::Limit => size(text).map(|size| size.0.to_string()),
            Takes::Kib => match text.parse::<u64>() {
                Ok(kib) => Some(kib.to_string()),
                Err(_) => size(text).filter(|size| size.0.is_multiple_of(1024)).map(|size| (size.0 / 1024).to_string()),
            },
            Takes::Switch => match text.to_ascii_lowercase().as_str() {
                "y" | "1" | "on" => Some("Y".to_owned()),
                "n" | "0" | "off" => Some("N".to_owned()),
                _ => None,
            },
        }
    }
}

/// With a unit, or a number of bytes.
fn size(text: &str) -> Option<Bytes> {
    text.parse().map(Bytes).or_else(|_| text.parse()).ok()
}

/// Where a knob is set in a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Home {
    /// In this file of the group.
    Group(&'static str, Takes),
    /// In this file of the machine.
    Machine(&'static str, Takes),
    /// In this file below a block device's folder in sysfs.
    Device(&'static str, Takes),
    /// Not by writing to one file.
    Call(&'static str),
    /// Nowhere.
    Nowhere,
}

/// One row of the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Setting {
    /// The knob.
    pub knob: Knob,
    /// On the host itself.
    pub native: Home,
    /// The file of a version-1 group, where it has one; else the host's is the only one.
    pub cgroup_v1: Option<(&'static str, Takes)>,
    /// The same of a version-2 group.
    pub cgroup_v2: Option<(&'static str, Takes)>,
    /// Where this is from, and what to mind.
    pub source: &'static str,
}

impl Setting {
    const fn home(&self, place: Place) -> Home {
        let own = match place {
            Place::Native | Place::Vm => None,
            Place::CgroupV1 => self.cgroup_v1,
            Place::CgroupV2 | Place::Delegated => self.cgroup_v2,
        };
        match (own, place) {
            (Some((file, takes)), _) => Home::Group(file, takes),
            // What belongs to the whole machine is root's.
            (None, Place::Delegated) => Home::Nowhere,
            (None, _) => self.native,
        }
    }

    const fn reach(&self, place: Place) -> Reach {
        match (place, self.home(place)) {
            // A guest has a kernel of its own, so everything in it touches the sandbox alone.
            (Place::Vm, _) | (_, Home::Group(..)) => Reach::PerGroup,
            (_, Home::Nowhere) => Reach::Impossible,
            _ => Reach::Global,
        }
    }
}

type GroupFile = Option<(&'static str, Takes)>;

const fn row(knob: Knob, native: Home, [cgroup_v1, cgroup_v2]: [GroupFile; 2], source: &'static str) -> Setting {
    Setting { knob, native, cgroup_v1, cgroup_v2, source }
}

use Home::{Call, Device, Machine, Nowhere};
use Takes::{Count, Kib, Limit, Switch};

pub mod bounds;

use crate::prelude::*;

const NO_FILE: [GroupFile; 2] = [None, None];

/// The table.
#[rustfmt::skip]
pub const SETTINGS: &[Setting] = &[
    row(Knob::Swappiness, Machine("/proc/sys/vm/swappiness", Count(0, 200)), [Some(("memory.swappiness", Count(0, 200))), None],
        "vm.swappiness; memory.swappiness exists in version 1 only (admin-guide/cgroup-v1/memory.rst); version 2 takes it only as an argument of memory.reclaim; 0 keeps a group at its limit out of swap: the kernel kills in it instead"),
    row(Knob::MemoryLimit, Nowhere, [Some(("memory.limit_in_bytes", Limit)), Some(("memory.max", Limit))],
        "memory.limit_in_bytes; memory.max; on the host only mem= at boot"),
    row(Knob::SwapLimit, Nowhere, [Some(("memory.memsw.limit_in_bytes", Limit)), Some(("memory.swap.max", Limit))],
        "memory.memsw.limit_in_bytes limits memory and swap together; memory.swap.max; on the host only the size of the areas"),
    row(Knob::SwapArea, Call("swapon(2)"), NO_FILE,
        "swapon(2): areas belong to the machine; a group cannot choose its area"),
    row(Knob::Zram, Call("zram-control/hot_add, then the device's own files"), NO_FILE,
        "zram.rst: a block device of the machine; its pool is charged to no group"),
    row(Knob::Zswap, Machine("/sys/module/zswap/parameters/enabled", Switch), [None, Some(("memory.zswap.max", Limit))],
        "module parameter enabled; version 2 has memory.zswap.max and charges the pool (cgroup-v2.rst); 0 keeps a group out"),
    row(Knob::ReadAhead, Device("queue/read_ahead_kb", Kib), NO_FILE,
        "queue/read_ahead_kb of the device; a scratch image on a loop device of its own has a value of its own"),
    row(Knob::PageCluster, Machine("/proc/sys/vm/page-cluster", Count(0, 31)), NO_FILE,
        "vm.page-cluster"),
    row(Knob::Mglru, Machine("/sys/kernel/mm/lru_gen/enabled", Count(0, 7)), NO_FILE,
        "lru_gen/enabled (admin-guide/mm/multigen_lru.rst): a sum of 1, 2 and 4"),
    row(Knob::MinFree, Machine("/proc/sys/vm/min_free_kbytes", Kib), NO_FILE,
        "vm.min_free_kbytes: watermarks belong to zones, not to groups"),
    row(Knob::WatermarkScale, Machine("/proc/sys/vm/watermark_scale_factor", Count(1, 3000)), NO_FILE,
        "vm.watermark_scale_factor: watermarks belong to zones; a group has no kswapd"),
    row(Knob::DropCaches, Machine("/proc/sys/vm/drop_caches", Count(1, 4)), [Some(("memory.force_empty", Count(0, 1))), Some(("memory.reclaim", Limit))],
        "vm.drop_caches; memory.force_empty in version 1; memory.reclaim in version 2 since 5.19, which also takes anonymous pages when there is swap"),
];

/// Where a knob is set in a place.
#[must_use]
pub fn home(knob: Knob, place: Place) -> Home {
    setting(knob).map_or(Nowhere, |setting| setting.home(place))
}

/// How far a knob reaches in a place; a knob without a row is impossible everywhere.
#[must_use]
pub fn reach(knob: Knob, place: Place) -> Reach {
    setting(knob).map_or(Reach::Impossible, |setting| setting.reach(place))
}

/// A value for a knob, as a person writes it, as the kernel of a machine takes it.
#[must_use]
pub fn parse(knob: Knob, text: &str) -> Option<String> {
    match home(knob, Place::Native) {
        Home::Group(_, takes) | Machine(_, takes) | Device(_, takes) => takes.parse(text),
        Call(_) | Nowhere => None,
    }
}

/// A knob's row.
#[must_use]
pub fn setting(knob: Knob) -> Option<&'static Setting> {
    SETTINGS.iter().find(|s| s.knob == knob)
}

#[cfg(test)]
mod tests {
    use super::Reach::{Global, Impossible, PerGroup};
    use super::*;

    #[test]
    fn a_value_is_read_as_written_and_one_the_kernel_would_refuse_is_none() {
        assert_eq!(parse(Knob::Swappiness, " 060\n").as_deref(), Some("60"));
        assert_eq!((parse(Knob::Swappiness, "201"), parse(Knob::Swappiness, "-1")), (None, None));
        assert_eq!(parse(Knob::ReadAhead, "8MiB").as_deref(), Some("8192"));
        assert_eq!((parse(Knob::ReadAhead, "128").as_deref(), parse(Knob::ReadAhead, "100B")), (Some("128"), None));
        assert_eq!((parse(Knob::Zswap, "on").as_deref(), parse(Knob::Zswap, "perhaps")), (Some("Y"), None));
        assert_eq!(
            (Takes::Limit.parse("max").as_deref(), Takes::Limit.parse("4096").as_deref()),
            (Some("max"), Some("4096"))
        );
        assert_eq!(parse(Knob::SwapArea, "/swapfile"), None);
    }

    #[test]
    fn where_a_group_has_no_file_of_its_own_the_machines_is_the_only_one() {
        assert_eq!(home(Knob::Zswap, Place::CgroupV1), home(Knob::Zswap, Place::Native));
        assert_eq!(home(Knob::Zswap, Place::CgroupV2), Home::Group("memory.zswap.max", Takes::Limit));
        assert_eq!(home(Knob::Swappiness, Place::CgroupV2), home(Knob::Swappiness, Place::Vm));
        assert_eq!(home(Knob::Swappiness, Place::Delegated), Home::Nowhere);
        for setting in SETTINGS {
            let path = match setting.native {
                Home::Machine(path, _) => path,
                _ => continue,
            };
            assert!(path.starts_with("/proc/sys/vm/") || path.starts_with("/sys/"), "{path}");
        }
    }

    #[test]
    fn a_version_1_group_has_its_own_swappiness_and_a_version_2_group_has_not() {
        assert_eq!(reach(Knob::Swappiness, Place::Native), Global);
        assert_eq!(reach(Knob::Swappiness, Place::CgroupV1), PerGroup);
        assert_eq!(reach(Knob::Swappiness, Place::CgroupV2), Global);
        assert_eq!(reach(Knob::Swappiness, Place::Vm), PerGroup);
    }

    #[test]
    fn a_group_cannot_choose_its_swap_area_and_the_host_has_no_memory_limit() {
        for place in [Place::Native, Place::CgroupV1, Place::CgroupV2] {
            assert_eq!(reach(Knob::SwapArea, place), Global);
            assert_eq!(reach(Knob::Zram, place), Global);
        }
        assert_eq!(reach(Knob::MemoryLimit, Place::Native), Impossible);
        assert_eq!(reach(Knob::Zswap, Place::CgroupV2), PerGroup);
    }

    #[test]
    fn without_root_a_group_has_its_limits_and_nothing_of_the_machine() {
        for knob in [Knob::MemoryLimit, Knob::SwapLimit, Knob::DropCaches] {
            assert_eq!(reach(knob, Place::Delegated), PerGroup, "{knob:?}");
        }
        for knob in [Knob::Swappiness, Knob::SwapArea, Knob::Zram, Knob::ReadAhead, Knob::Mglru] {
            assert_eq!(reach(knob, Place::Delegated), Impossible, "{knob:?}");
        }
    }

    #[test]
    fn every_knob_has_one_row_with_its_source_and_works_in_a_guest() {
        let all = [
            Knob::Swappiness,
            Knob::MemoryLimit,
            Knob::SwapLimit,
            Knob::SwapArea,
            Knob::Zram,
            Knob::Zswap,
            Knob::ReadAhead,
            Knob::PageCluster,
            Knob::Mglru,
            Knob::MinFree,
            Knob::WatermarkScale,
            Knob::DropCaches,
        ];
        assert_eq!(SETTINGS.len(), all.len());
        for knob in all {
            assert_eq!(SETTINGS.iter().filter(|s| s.knob == knob).count(), 1, "{knob:?}");
            assert_eq!(reach(knob, Place::Vm), PerGroup);
            assert!(setting(knob).is_some_and(|s| !s.source.is_empty()));
        }
    }
}
