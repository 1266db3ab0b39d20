//! The formulas, one a tool and range of versions; docs/translate.md shows the same table with where each was read.
//!
//! Ordered so that a row differs from the one above by as little as can be: first the tools that trust MemAvailable, then those
//! that take off the caches, then those that take off free pages only.

use super::counter::{Counter, Sign};
use crate::prelude::*;

/// What a tool shows when its sum is below zero.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Floor {
    /// Nothing, or a huge number by overflow; shown as nothing here.
    Zero,
    /// `MemTotal - MemFree`.
    TotalLessFree,
    /// The group's usage.
    Usage,
}

/// Counters with their signs.
type Sum = &'static [(Sign, Counter)];

/// A formula of a tool, written as one.
macro_rules! sum {
    ($first:ident $($sign:tt $counter:ident)*) => {
        &[(Sign::Plus, Counter::$first), $((sum!($sign), Counter::$counter)),*]
    };
    (+) => { Sign::Plus };
    (-) => { Sign::Minus };
}

/// A tool's formulas.
#[derive(Debug, Clone, Copy)]
#[expect(missing_docs, reason = "the fields of `Row`, as constants")]
pub struct Recipe {
    pub id: &'static str,
    pub tool: &'static str,
    pub versions: &'static str,
    /// Of versions hardly found any more: shown, and left out of the spread.
    pub old: bool,
    /// The one interface of control groups it is about.
    pub only: Option<Version>,
    pub used_name: &'static str,
    pub used: Sum,
    pub floor: Floor,
    /// Cache, available and swap used.
    pub others: [(&'static str, Sum); 3],
    pub why: &'static str,
    pub source: &'static str,
}

const NONE: (&str, Sum) = ("", &[]);
const TOTAL_LESS_CACHES: Sum = sum!(Total - Free - Buffers - Cached - SReclaimable);
const AVAILABLE: Sum = sum!(Available);
const SWAP: Sum = sum!(SwapTotal - SwapFree);
const HTOP_CACHE: Sum = sum!(Cached + SReclaimable - Shmem + ArcShrinkable);
/// Swapped pages that are in RAM too, or in zswap, are not swap used.
const HTOP_SWAP: Sum = sum!(SwapTotal - SwapFree - SwapCached - Zswapped);
const WITH_ARC: Sum = sum!(Available + ArcShrinkable);
const BUFF_CACHE: Sum = sum!(Buffers + Cached + SReclaimable);

/// A row's names, and what most rows have in common.
const fn named(id: &'static str, tool: &'static str, versions: &'static str) -> Recipe {
    Recipe {
        id,
        tool,
        versions,
        old: false,
        only: None,
        used_name: "used",
        used: sum!(Total - Available),
        floor: Floor::Zero,
        others: [NONE; 3],
        why: "",
        source: "",
    }
}

/// Tools that speak of the whole machine.
pub const SYSTEM: &[Recipe] = &[
    Recipe {
        floor: Floor::TotalLessFree,
        others: [("buff/cache", BUFF_CACHE), ("available", AVAILABLE), ("used", SWAP)],
        why: "Used is what is not available without swapping, by the kernel's own estimate. Used, free and buff/cache \
              then add up to more than the total: tmpfs is both used and cache.",
        source: "procps-ng 4.0.6, library/meminfo.c; changed in 4.0.1 (NEWS)",
        ..named("procps-4.0.1", "free, top, vmstat -s", "procps-ng >= 4.0.1")
    },
    Recipe {
        used_name: "kbmemused",
        others: [("kbcached", sum!(Cached)), ("kbavail", AVAILABLE), ("kbswpused", SWAP)],
        why: "As free. A graph that spans the update to 12.7.8 shows a step in %memused where nothing happened.",
        source: "sysstat 12.7.8, pr_stats.c; changed in 12.7.8 (CHANGES, 2025-07-28)",
        ..named("sar-12.7.8", "sar -r", "sysstat >= 12.7.8")
    },
    Recipe {
        others: [("cached", sum!(Cached + SReclaimable)), ("system.linux.memory.available", AVAILABLE), NONE],
        why: "As free. The states used, free, buffered and cached now add up to more than the total.",
        source: "opentelemetry-collector-contrib, memory_scraper_linux.go; issue 45413",
        ..named("otel-available", "OpenTelemetry hostmetrics", "UseLinuxMemAvailable on (by 0.142)")
    },
    Recipe {
        used_name: "Memory",
        why: "As free: the root group has no usage of its own in version 2. Older releases showed MemTotal - MemFree.",
        source: "systemd 257, src/basic/procfs-util.c",
        ..named("systemd-root", "systemd-cgtop, row /", "systemd 257")
    },
    Recipe {
        why: "100 * (1 - MemAvailable / MemTotal) of the usual dashboards and alerts. The exporter itself computes nothing.",
        source: "node_exporter 1.12, collector/meminfo.go: raw counters",
        ..named("node-exporter-available", "node_exporter", "recipe with MemAvailable")
    },
    Recipe {
        used: sum!(Total - Available - ArcShrinkable),
        floor: Floor::TotalLessFree,
        others: [("Cached", sum!(Cached + ArcSize)), ("Available", WITH_ARC), ("Used", SWAP)],
        why: "As free, and the ZFS cache above its minimum counts as available (zfs_arc_cached, on by default; before 1.3 \
              all of that cache). Its Cached leaves out reclaimable slab.",
        source: "btop 1.3.2, src/linux/btop_collect.cpp",
        ..named("btop-1.3", "btop", ">= 1.3")
    },
    Recipe {
        used: sum!(Total - Available - ArcShrinkable),
        others: [("cached", sum!(Cached + SReclaimable + ArcSize)), ("available", WITH_ARC), ("used", SWAP)],
        why: "As btop (the ZFS cache since 4.5); older ones count the ZFS cache as used. Its free column shows available.",
        source: "glances 4.5.5, glances/plugins/mem/__init__.py",
        ..named("glances", "glances", ">= 3")
    },
    Recipe {
        used: sum!(Total - Free - Buffers - Cached - Reclaimable + Shmem - ArcShrinkable),
        others: [
            ("cached", sum!(Cached + Reclaimable - Shmem + ArcShrinkable)),
            ("mem.available", WITH_ARC),
            ("used", SWAP),
        ],
        why: "Takes off caches but not tmpfs, which cannot be dropped. Nothing is held back for the kernel's reserves.",
        source: "Netdata 2, src/collectors/proc.plugin/proc_meminfo.c",
        ..named("netdata", "Netdata system.ram", "2.x")
    },
    Recipe {
        used: sum!(Total - Free - Buffers - Cached - SReclaimable + Shmem - ArcShrinkable),
        floor: Floor::TotalLessFree,
        others: [("cache", HTOP_CACHE), ("available", WITH_ARC), ("used", HTOP_SWAP)],
        why: "The number at the bar's end is used + shared + compressed. Swapped pages that are in RAM too, or in zswap, are \
              not swap used.",
        source: "htop 3.4.1, linux/LinuxMachine.c, linux/Platform.c, MemoryMeter.c",
        ..named("htop-3.3-bar", "htop, bar", ">= 3.3")
    },
    Recipe {
        used: sum!(Total - Free - Buffers - Cached - SReclaimable - ArcShrinkable - Zswap),
        floor: Floor::TotalLessFree,
        others: [("cache", HTOP_CACHE), ("available", WITH_ARC), ("used", HTOP_SWAP)],
        why: "The text meter shows used, shared and compressed (the pool of zswap) each by itself.",
        source: "htop 3.4.1, linux/Platform.c, MemoryMeter.c",
        ..named("htop-3.3-text", "htop, text meter", ">= 3.3")
    },
    Recipe {
        used: sum!(Total - Free - Buffers - Cached - SReclaimable - ArcShrinkable),
        floor: Floor::TotalLessFree,
        others: [("cache", HTOP_CACHE), ("available", WITH_ARC), ("used", sum!(SwapTotal - SwapFree - SwapCached))],
        why: "Shared memory is drawn in the bar and left out of its number: tmpfs is neither used nor cache.",
        source: "htop 3.2.2, linux/LinuxProcessList.c, linux/Platform.c, MemoryMeter.c",
        ..named("htop-3.1", "htop", "3.1 to 3.2")
    },
    Recipe {
        used: TOTAL_LESS_CACHES,
        floor: Floor::TotalLessFree,
        others: [("buff/cache", BUFF_CACHE), ("available", AVAILABLE), ("used", SWAP)],
        why: "Everything called cache is taken off, tmpfs with it: it hides in buff/cache.",
        source: "procps-ng 3.3.17, proc/sysinfo.c",
        ..named("procps-3.3.10", "free, top, vmstat -s", "procps-ng 3.3.10 to 4.0.0")
    },
    Recipe {
        used: TOTAL_LESS_CACHES,
        others: [("cached", sum!(Cached + SReclaimable)), ("system.linux.memory.available", AVAILABLE), NONE],
        why: "As free used to: the states used, free, buffered and cached add up to the total.",
        source: "opentelemetry-collector-contrib, memory_scraper_linux.go; gopsutil mem/mem_linux.go",
        ..named("otel-legacy", "OpenTelemetry hostmetrics", "UseLinuxMemAvailable off (before)")
    },
    Recipe {
        used_name: "kbmemused",
        used: sum!(Total - Free - Buffers - Cached - Slab),
        others: [("kbcached", sum!(Cached)), ("kbavail", AVAILABLE), ("kbswpused", SWAP)],
        why: "Takes off all slab, also what cannot shrink: kernel memory that leaks into slab is invisible here.",
        source: "sysstat 12.7.5, pr_stats.c",
        ..named("sar-11.7.4", "sar -r", "sysstat 11.7.4 to 12.7.7")
    },
    Recipe {
        used: sum!(Total - Free - Buffers - Cached),
        why: "MemTotal - MemFree - Buffers - Cached, still found in dashboards: reclaimable slab counts as used, tmpfs as cache.",
        source: "node_exporter 1.12, collector/meminfo.go: raw counters",
        ..named("node-exporter-caches", "node_exporter", "recipe without MemAvailable")
    },
    Recipe {
        used_name: "working set",
        used: sum!(RootUsage - RootInactiveFile),
        why: "Page cache counts as used while the kernel calls it active; kernel memory (slab, page tables) does not count at \
              all. The kubelet evicts by this number. Before runc took pull request 3933 (2023), version 2 started from MemTotal - MemFree.",
        source: "cAdvisor, container/libcontainer/handler.go; opencontainers/cgroups, fs2/memory.go",
        ..named("kubectl-node", "kubectl top node", "cAdvisor")
    },
    Recipe {
        old: true,
        used: sum!(Total - Free),
        why: "All that is not free, the whole page cache included. free then had a second line without it.",
        source: "procps-ng 3.3.9, proc/sysinfo.c; sysstat 11.7.3, pr_stats.c",
        ..named("total-less-free", "free, sar", "procps-ng < 3.3.10, sysstat < 11.7.4")
    },
];

/// Tools that speak of one group.
pub const GROUP: &[Recipe] = &[
    Recipe {
        used_name: "Memory",
        used: sum!(Current),
        why: "All that is charged: process memory, page cache, tmpfs, kernel memory. A unit that reads files looks big.",
        source: "systemd 257, src/cgtop/cgtop.c, src/core/cgroup.c",
        ..named("systemd-unit", "systemd-cgtop, systemctl status", "any")
    },
    Recipe {
        used_name: "MEM USAGE",
        used: sum!(Current - InactiveFile),
        floor: Floor::Usage,
        why: "Takes off the page cache not used lately, the first to go. Active page cache stays in.",
        source: "docker/cli 29, cli/command/container/stats_helpers.go",
        ..named("docker", "docker stats", ">= 20.10")
    },
    Recipe {
        used_name: "working set",
        used: sum!(Current - InactiveFile),
        why: "As docker. It is compared with the limit, though the kernel compares the usage with it.",
        source: "cAdvisor, container/libcontainer/handler.go",
        ..named("kubectl-pod", "kubectl top pod, crictl stats", "cAdvisor")
    },
    Recipe {
        used_name: "MEM USAGE",
        used: sum!(Current - InactiveFile),
        why: "As docker, since containers/common took pull request 2455 (June 2025).",
        source: "podman 6, vendor/go.podman.io/common/pkg/cgroups/memory_linux.go",
        ..named("podman-5.6", "podman stats", ">= 5.6")
    },
    Recipe {
        only: Some(Version::V2),
        used_name: "MEM USAGE",
        used: sum!(Anon),
        why: "Process memory only: no page cache, no tmpfs, no kernel memory. A container that fills its /tmp or /dev/shm \
              reaches its limit while this stays small.",
        source: "podman 5.4.2, vendor/github.com/containers/common/pkg/cgroups/memory_linux.go",
        ..named("podman-anon", "podman stats", "4.0 to 5.5")
    },
    Recipe {
        only: Some(Version::V1),
        used_name: "MEM USAGE",
        used: sum!(Current),
        why: "All that is charged.",
        source: "podman 5.4.2, vendor/github.com/containers/common/pkg/cgroups/memory_linux.go",
        ..named("podman-usage", "podman stats", "to 5.5")
    },
    Recipe {
        old: true,
        only: Some(Version::V1),
        used_name: "MEM USAGE",
        used: sum!(Current - Cache),
        why: "Took off all cache, tmpfs included: a full /dev/shm was invisible (moby issue 40727).",
        source: "docker/cli 19.03, cli/command/container/stats_helpers.go",
        ..named("docker-19.03", "docker stats", "to 19.03")
    },
];
