//! Which knob works where: the one table the lab, and whoever changes a setting, looks up.
//!
//! What it is: per knob and place, whether it touches the sandbox alone, the whole host, or does not exist.
//! What it is not: a probe: a kernel may lack a knob the table allows, which only looking tells.
//!
//! Worked example: swappiness in a version-2 group is `Global`, so an arm that changes it there needs consent or a
//! virtual machine.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

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

/// One row of the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Setting {
    /// The knob.
    pub knob: Knob,
    /// On the host.
    pub native: Reach,
    /// In a version-1 group.
    pub cgroup_v1: Reach,
    /// In a version-2 group.
    pub cgroup_v2: Reach,
    /// In a version-2 group of an ordinary user.
    pub delegated: Reach,
    /// In a virtual machine.
    pub vm: Reach,
    /// Where this is from, and what to mind.
    pub source: &'static str,
}

const fn row(knob: Knob, reach: [Reach; 3], source: &'static str) -> Setting {
    let [native, cgroup_v1, cgroup_v2] = reach;
    // What belongs to the whole machine is root's.
    let delegated = if matches!(cgroup_v2, PerGroup) { PerGroup } else { Impossible };
    // A guest has a kernel of its own, so everything in it touches the sandbox alone.
    Setting { knob, native, cgroup_v1, cgroup_v2, delegated, vm: PerGroup, source }
}

use Reach::{Global, Impossible, PerGroup};

/// The table.
#[rustfmt::skip]
pub const SETTINGS: &[Setting] = &[
    row(Knob::Swappiness, [Global, PerGroup, Global], "vm.swappiness; memory.swappiness exists in version 1 only (admin-guide/cgroup-v1/memory.rst); version 2 takes it only as an argument of memory.reclaim; 0 keeps a group at its limit out of swap: the kernel kills in it instead"),
    row(Knob::MemoryLimit, [Impossible, PerGroup, PerGroup], "memory.limit_in_bytes; memory.max; on the host only mem= at boot"),
    row(Knob::SwapLimit, [Impossible, PerGroup, PerGroup], "memory.memsw.limit_in_bytes limits memory and swap together; memory.swap.max; on the host only the size of the areas"),
    row(Knob::SwapArea, [Global, Global, Global], "swapon(2): areas belong to the machine; a group cannot choose its area"),
    row(Knob::Zram, [Global, Global, Global], "zram.rst: a block device of the machine; its pool is charged to no group"),
    row(Knob::Zswap, [Global, Global, PerGroup], "module parameter enabled; version 2 has memory.zswap.max and charges the pool (cgroup-v2.rst); 0 keeps a group out"),
    row(Knob::ReadAhead, [Global, Global, Global], "queue/read_ahead_kb of the device; a scratch image on a loop device of its own has a value of its own"),
    row(Knob::PageCluster, [Global, Global, Global], "vm.page-cluster"),
    row(Knob::Mglru, [Global, Global, Global], "lru_gen/enabled (admin-guide/mm/multigen_lru.rst)"),
    row(Knob::MinFree, [Global, Global, Global], "vm.min_free_kbytes: watermarks belong to zones, not to groups"),
    row(Knob::WatermarkScale, [Global, Global, Global], "vm.watermark_scale_factor: watermarks belong to zones; a group has no kswapd"),
    row(Knob::DropCaches, [Global, PerGroup, PerGroup], "vm.drop_caches; memory.force_empty in version 1; memory.reclaim in version 2 since 5.19, which also takes anonymous pages when there is swap"),
];

/// How far a knob reaches in a place; a knob without a row is impossible everywhere.
#[must_use]
pub fn reach(knob: Knob, place: Place) -> Reach {
    let Some(setting) = setting(knob) else { return Impossible };
    match place {
        Place::Native => setting.native,
        Place::CgroupV1 => setting.cgroup_v1,
        Place::CgroupV2 => setting.cgroup_v2,
        Place::Delegated => setting.delegated,
        Place::Vm => setting.vm,
    }
}

/// A knob's row.
#[must_use]
pub fn setting(knob: Knob) -> Option<&'static Setting> {
    SETTINGS.iter().find(|s| s.knob == knob)
}

#[cfg(test)]
mod tests {
    use super::*;

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
