//! The formulas, one a tool and range of versions; docs/translate.md shows the same table with where each was read.
//!
//! Ordered so that a row differs from the one above by as little as can be: first the tools that trust MemAvailable, then those
//! that take off the caches, then those that take off free pages only.

use super::counter::Counter::{
    Anon, ArcShrinkable, ArcSize, Available, Buffers, Cache, Cached, Current, Free, InactiveFile, Reclaimable,
    RootInactiveFile, RootUsage, SReclaimable, Shmem, Slab, SwapCached, SwapFree, SwapTotal, Total, Zswap, Zswapped,
};
use super::counter::Sign::{Minus, Plus};
use super::counter::{Counter, Sign};

/// Which interface of control groups a recipe is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Only {
    /// Either, or none.
    Any,
    /// Version 1.
    V1,
    /// Version 2.
    V2,
}

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

/// A tool's formulas.
#[derive(Debug, Clone, Copy)]
#[expect(missing_docs, reason = "the fields of `Row`, as constants")]
pub struct Recipe {
    pub id: &'static str,
    pub tool: &'static str,
    pub versions: &'static str,
    /// Of versions hardly found any more: shown, and left out of the spread.
    pub old: bool,
    pub only: Only,
    pub used_name: &'static str,
    pub used: Sum,
    pub floor: Floor,
    pub cache: (&'static str, Sum),
    pub available: (&'static str, Sum),
    pub swap: (&'static str, Sum),
    pub why: &'static str,
    pub source: &'static str,
}

const NONE: (&str, Sum) = ("", &[]);
const TOTAL_LESS_AVAILABLE: Sum = &[(Plus, Total), (Minus, Available)];
const TOTAL_LESS_FREE: Sum = &[(Plus, Total), (Minus, Free)];
const TOTAL_LESS_CACHES: Sum =
    &[(Plus, Total), (Minus, Free), (Minus, Buffers), (Minus, Cached), (Minus, SReclaimable)];
const AVAILABLE: Sum = &[(Plus, Available)];
const SWAP: Sum = &[(Plus, SwapTotal), (Minus, SwapFree)];
const HTOP_CACHE: Sum = &[(Plus, Cached), (Plus, SReclaimable), (Minus, Shmem), (Plus, ArcShrinkable)];
/// Swapped pages that are in RAM too, or in zswap, are not swap used.
const HTOP_SWAP: Sum = &[(Plus, SwapTotal), (Minus, SwapFree), (Minus, SwapCached), (Minus, Zswapped)];
const WITH_ARC: Sum = &[(Plus, Available), (Plus, ArcShrinkable)];
const BUFF_CACHE: Sum = &[(Plus, Buffers), (Plus, Cached), (Plus, SReclaimable)];

/// What most rows have in common.
const PLAIN: Recipe = Recipe {
    id: "",
    tool: "",
    versions: "",
    old: false,
    only: Only::Any,
    used_name: "used",
    used: TOTAL_LESS_AVAILABLE,
    floor: Floor::Zero,
    cache: NONE,
    available: NONE,
    swap: NONE,
    why: "",
    source: "",
};

/// Tools that speak of the whole machine.
pub const SYSTEM: &[Recipe] = &[
    Recipe {
        id: "procps-4.0.1",
        tool: "free, top, vmstat -s",
        versions: "procps-ng >= 4.0.1",
        floor: Floor::TotalLessFree,
        cache: ("buff/cache", BUFF_CACHE),
        available: ("available", AVAILABLE),
        swap: ("used", SWAP),
        why: "Used is what is not available without swapping, by the kernel's own estimate. Used, free and buff/cache \
              then add up to more than the total: tmpfs is both used and cache.",
        source: "procps-ng 4.0.6, library/meminfo.c; changed in 4.0.1 (NEWS)",
        ..PLAIN
    },
    Recipe {
        id: "sar-12.7.8",
        tool: "sar -r",
        versions: "sysstat >= 12.7.8",
        used_name: "kbmemused",
        cache: ("kbcached", &[(Plus, Cached)]),
        available: ("kbavail", AVAILABLE),
        swap: ("kbswpused", SWAP),
        why: "As free. A graph that spans the update to 12.7.8 shows a step in %memused where nothing happened.",
        source: "sysstat 12.7.8, pr_stats.c; changed in 12.7.8 (CHANGES, 2025-07-28)",
        ..PLAIN
    },
    Recipe {
        id: "otel-available",
        tool: "OpenTelemetry hostmetrics",
        versions: "UseLinuxMemAvailable on (by 0.142)",
        cache: ("cached", &[(Plus, Cached), (Plus, SReclaimable)]),
        available: ("system.linux.memory.available", AVAILABLE),
        why: "As free. The states used, free, buffered and cached now add up to more than the total.",
        source: "opentelemetry-collector-contrib, memory_scraper_linux.go; issue 45413",
        ..PLAIN
    },
    Recipe {
        id: "systemd-root",
        tool: "systemd-cgtop, row /",
        versions: "systemd 257",
        used_name: "Memory",
        why: "As free: the root group has no usage of its own in version 2. Older releases showed MemTotal - MemFree.",
        source: "systemd 257, src/basic/procfs-util.c",
        ..PLAIN
    },
    Recipe {
        id: "node-exporter-available",
        tool: "node_exporter",
        versions: "recipe with MemAvailable",
        why: "100 * (1 - MemAvailable / MemTotal) of the usual dashboards and alerts. The exporter itself computes nothing.",
        source: "node_exporter 1.12, collector/meminfo.go: raw counters",
        ..PLAIN
    },
    Recipe {
        id: "btop-1.3",
        tool: "btop",
        versions: ">= 1.3",
        used: &[(Plus, Total), (Minus, Available), (Minus, ArcShrinkable)],
        floor: Floor::TotalLessFree,
        cache: ("Cached", &[(Plus, Cached), (Plus, ArcSize)]),
        available: ("Available", WITH_ARC),
        swap: ("Used", SWAP),
        why: "As free, and the ZFS cache above its minimum counts as available (zfs_arc_cached, on by default; before 1.3 \
              all of that cache). Its Cached leaves out reclaimable slab.",
        source: "btop 1.3.2, src/linux/btop_collect.cpp",
        ..PLAIN
    },
    Recipe {
        id: "glances",
        tool: "glances",
        versions: ">= 3",
        used: &[(Plus, Total), (Minus, Available), (Minus, ArcShrinkable)],
        cache: ("cached", &[(Plus, Cached), (Plus, SReclaimable), (Plus, ArcSize)]),
        available: ("available", WITH_ARC),
        swap: ("used", SWAP),
        why: "As btop (the ZFS cache since 4.5); older ones count the ZFS cache as used. Its free column shows available.",
        source: "glances 4.5.5, glances/plugins/mem/__init__.py",
        ..PLAIN
    },
    Recipe {
        id: "netdata",
        tool: "Netdata system.ram",
        versions: "2.x",
        used: &[
            (Plus, Total),
            (Minus, Free),
            (Minus, Buffers),
            (Minus, Cached),
            (Minus, Reclaimable),
            (Plus, Shmem),
            (Minus, ArcShrinkable),
        ],
        cache: ("cached", &[(Plus, Cached), (Plus, Reclaimable), (Minus, Shmem), (Plus, ArcShrinkable)]),
        available: ("mem.available", WITH_ARC),
        swap: ("used", SWAP),
        why: "Takes off caches but not tmpfs, which cannot be dropped. Nothing is held back for the kernel's reserves.",
        source: "Netdata 2, src/collectors/proc.plugin/proc_meminfo.c",
        ..PLAIN
    },
    Recipe {
        id: "htop-3.3-bar",
        tool: "htop, bar",
        versions: ">= 3.3",
        used: &[
            (Plus, Total),
            (Minus, Free),
            (Minus, Buffers),
            (Minus, Cached),
            (Minus, SReclaimable),
            (Plus, Shmem),
            (Minus, ArcShrinkable),
        ],
        floor: Floor::TotalLessFree,
        cache: ("cache", HTOP_CACHE),
        available: ("available", WITH_ARC),
        swap: ("used", HTOP_SWAP),
        why: "The number at the bar's end is used + shared + compressed. Swapped pages that are in RAM too, or in zswap, are \
              not swap used.",
        source: "htop 3.4.1, linux/LinuxMachine.c, linux/Platform.c, MemoryMeter.c",
        ..PLAIN
    },
    Recipe {
        id: "htop-3.3-text",
        tool: "htop, text meter",
        versions: ">= 3.3",
        used_name: "used",
        used: &[
            (Plus, Total),
            (Minus, Free),
            (Minus, Buffers),
            (Minus, Cached),
            (Minus, SReclaimable),
            (Minus, ArcShrinkable),
            (Minus, Zswap),
        ],
        floor: Floor::TotalLessFree,
        cache: ("cache", HTOP_CACHE),
        available: ("available", WITH_ARC),
        swap: ("used", HTOP_SWAP),
        why: "The text meter shows used, shared and compressed (the pool of zswap) each by itself.",
        source: "htop 3.4.1, linux/Platform.c, MemoryMeter.c",
        ..PLAIN
    },
    Recipe {
        id: "htop-3.1",
        tool: "htop",
        versions: "3.1 to 3.2",
        used: &[
            (Plus, Total),
            (Minus, Free),
            (Minus, Buffers),
            (Minus, Cached),
            (Minus, SReclaimable),
            (Minus, ArcShrinkable),
        ],
        floor: Floor::TotalLessFree,
        cache: ("cache", HTOP_CACHE),
        available: ("available", WITH_ARC),
        swap: ("used", &[(Plus, SwapTotal), (Minus, SwapFree), (Minus, SwapCached)]),
        why: "Shared memory is drawn in the bar and left out of its number: tmpfs is neither used nor cache.",
        source: "htop 3.2.2, linux/LinuxProcessList.c, linux/Platform.c, MemoryMeter.c",
        ..PLAIN
    },
    Recipe {
        id: "procps-3.3.10",
        tool: "free, top, vmstat -s",
        versions: "procps-ng 3.3.10 to 4.0.0",
        used: TOTAL_LESS_CACHES,
        floor: Floor::TotalLessFree,
        cache: ("buff/cache", BUFF_CACHE),
        available: ("available", AVAILABLE),
        swap: ("used", SWAP),
        why: "Everything called cache is taken off, tmpfs with it: it hides in buff/cache.",
        source: "procps-ng 3.3.17, proc/sysinfo.c",
        ..PLAIN
    },
    Recipe {
        id: "otel-legacy",
        tool: "OpenTelemetry hostmetrics",
        versions: "UseLinuxMemAvailable off (before)",
        used: TOTAL_LESS_CACHES,
        cache: ("cached", &[(Plus, Cached), (Plus, SReclaimable)]),
        available: ("system.linux.memory.available", AVAILABLE),
        why: "As free used to: the states used, free, buffered and cached add up to the total.",
        source: "opentelemetry-collector-contrib, memory_scraper_linux.go; gopsutil mem/mem_linux.go",
        ..PLAIN
    },
    Recipe {
        id: "sar-11.7.4",
        tool: "sar -r",
        versions: "sysstat 11.7.4 to 12.7.7",
        used_name: "kbmemused",
        used: &[(Plus, Total), (Minus, Free), (Minus, Buffers), (Minus, Cached), (Minus, Slab)],
        cache: ("kbcached", &[(Plus, Cached)]),
        available: ("kbavail", AVAILABLE),
        swap: ("kbswpused", SWAP),
        why: "Takes off all slab, also what cannot shrink: kernel memory that leaks into slab is invisible here.",
        source: "sysstat 12.7.5, pr_stats.c",
        ..PLAIN
    },
    Recipe {
        id: "node-exporter-caches",
        tool: "node_exporter",
        versions: "recipe without MemAvailable",
        used: &[(Plus, Total), (Minus, Free), (Minus, Buffers), (Minus, Cached)],
        why: "MemTotal - MemFree - Buffers - Cached, still found in dashboards: reclaimable slab counts as used, tmpfs as cache.",
        source: "node_exporter 1.12, collector/meminfo.go: raw counters",
        ..PLAIN
    },
    Recipe {
        id: "kubectl-node",
        tool: "kubectl top node",
        versions: "cAdvisor",
        used_name: "working set",
        used: &[(Plus, RootUsage), (Minus, RootInactiveFile)],
        why: "Page cache counts as used while the kernel calls it active; kernel memory (slab, page tables) does not count at \
              all. The kubelet evicts by this number. Before runc took pull request 3933 (2023), version 2 started from MemTotal - MemFree.",
        source: "cAdvisor, container/libcontainer/handler.go; opencontainers/cgroups, fs2/memory.go",
        ..PLAIN
    },
    Recipe {
        id: "total-less-free",
        tool: "free, sar",
        versions: "procps-ng < 3.3.10, sysstat < 11.7.4",
        old: true,
        used: TOTAL_LESS_FREE,
        why: "All that is not free, the whole page cache included. free then had a second line without it.",
        source: "procps-ng 3.3.9, proc/sysinfo.c; sysstat 11.7.3, pr_stats.c",
        ..PLAIN
    },
];

/// Tools that speak of one group.
pub const GROUP: &[Recipe] = &[
    Recipe {
        id: "systemd-unit",
        tool: "systemd-cgtop, systemctl status",
        versions: "any",
        used_name: "Memory",
        used: &[(Plus, Current)],
        why: "All that is charged: process memory, page cache, tmpfs, kernel memory. A unit that reads files looks big.",
        source: "systemd 257, src/cgtop/cgtop.c, src/core/cgroup.c",
        ..PLAIN
    },
    Recipe {
        id: "docker",
        tool: "docker stats",
        versions: ">= 20.10",
        used_name: "MEM USAGE",
        used: &[(Plus, Current), (Minus, InactiveFile)],
        floor: Floor::Usage,
        why: "Takes off the page cache not used lately, the first to go. Active page cache stays in.",
        source: "docker/cli 29, cli/command/container/stats_helpers.go",
        ..PLAIN
    },
    Recipe {
        id: "kubectl-pod",
        tool: "kubectl top pod, crictl stats",
        versions: "cAdvisor",
        used_name: "working set",
        used: &[(Plus, Current), (Minus, InactiveFile)],
        why: "As docker. It is compared with the limit, though the kernel compares the usage with it.",
        source: "cAdvisor, container/libcontainer/handler.go",
        ..PLAIN
    },
    Recipe {
        id: "podman-5.6",
        tool: "podman stats",
        versions: ">= 5.6",
        used_name: "MEM USAGE",
        used: &[(Plus, Current), (Minus, InactiveFile)],
        why: "As docker, since containers/common took pull request 2455 (June 2025).",
        source: "podman 6, vendor/go.podman.io/common/pkg/cgroups/memory_linux.go",
        ..PLAIN
    },
    Recipe {
        id: "podman-anon",
        tool: "podman stats",
        versions: "4.0 to 5.5",
        only: Only::V2,
        used_name: "MEM USAGE",
        used: &[(Plus, Anon)],
        why: "Process memory only: no page cache, no tmpfs, no kernel memory. A container that fills its /tmp or /dev/shm \
              reaches its limit while this stays small.",
        source: "podman 5.4.2, vendor/github.com/containers/common/pkg/cgroups/memory_linux.go",
        ..PLAIN
    },
    Recipe {
        id: "podman-usage",
        tool: "podman stats",
        versions: "to 5.5",
        only: Only::V1,
        used_name: "MEM USAGE",
        used: &[(Plus, Current)],
        why: "All that is charged.",
        source: "podman 5.4.2, vendor/github.com/containers/common/pkg/cgroups/memory_linux.go",
        ..PLAIN
    },
    Recipe {
        id: "docker-19.03",
        tool: "docker stats",
        versions: "to 19.03",
        old: true,
        only: Only::V1,
        used_name: "MEM USAGE",
        used: &[(Plus, Current), (Minus, Cache)],
        why: "Took off all cache, tmpfs included: a full /dev/shm was invisible (moby issue 40727).",
        source: "docker/cli 19.03, cli/command/container/stats_helpers.go",
        ..PLAIN
    },
];
