//! The counters of the formulas, where each is read, and the parts each is made of.

use ramline_snapshot::Snapshot;
use ramline_snapshot::cgroup::{Group, Version};
use ramline_snapshot::meminfo::Meminfo;
use ramline_snapshot::zfs::Arc;
use ramline_units::Bytes;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::recipes::Only;

/// Added or taken away.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Sign {
    /// Added.
    Plus,
    /// Taken away.
    Minus,
}

impl Sign {
    pub(super) fn of(self, bytes: u64) -> i128 {
        self.of_signed(i128::from(bytes))
    }

    pub(super) const fn of_signed(self, amount: i128) -> i128 {
        match self {
            Sign::Plus => amount,
            Sign::Minus => -amount,
        }
    }
}

/// A counter some tool adds up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names are the kernel's; see `name`")]
pub enum Counter {
    Total,
    Free,
    Available,
    Buffers,
    Cached,
    Shmem,
    SReclaimable,
    /// KReclaimable where the kernel has it (4.20), otherwise SReclaimable.
    Reclaimable,
    Slab,
    Zswap,
    Zswapped,
    SwapTotal,
    SwapFree,
    SwapCached,
    ArcSize,
    ArcShrinkable,
    /// Of the root group: process memory and page cache.
    RootUsage,
    RootInactiveFile,
    /// Of the group looked at.
    Current,
    InactiveFile,
    Anon,
    /// Version 1: cache of the group alone, without its children.
    Cache,
}

/// Bytes that are in no other part.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Part {
    Free,
    FileCache,
    Buffers,
    Shmem,
    Reclaimable,
    OtherReclaimable,
    Unreclaimable,
    Processes,
    Rest,
    HeldBack,
    Zswap,
    Zswapped,
    Swap,
    SwapCached,
    Arc,
    RootDrift,
    GroupAnon,
    GroupFile,
    GroupInactive,
    GroupRest,
}

impl Part {
    pub(super) const fn words(self) -> &'static str {
        match self {
            Part::Free => "free pages",
            Part::FileCache => "page cache of files",
            Part::Buffers => "buffers (cache of raw devices)",
            Part::Shmem => "tmpfs and shared memory, which Cached contains",
            Part::Reclaimable => "kernel caches that can shrink (SReclaimable)",
            Part::OtherReclaimable => "other kernel memory that can shrink",
            Part::Unreclaimable => "slab that cannot shrink (SUnreclaim)",
            Part::Processes => "process memory (AnonPages)",
            Part::Rest => "other kernel memory, huge pages, drivers",
            Part::HeldBack => "what MemAvailable holds back (reserves, cache worth keeping or locked)",
            Part::Zswap => "the pool of zswap",
            Part::Zswapped => "pages that zswap holds",
            Part::Swap => "swap",
            Part::SwapCached => "swapped pages that are in RAM too",
            Part::Arc => "the ZFS cache that can shrink",
            Part::RootDrift => "what the root group counts otherwise (swap cache, updates not yet added up)",
            Part::GroupAnon => "process memory",
            Part::GroupFile => "page cache in use, tmpfs and shared memory",
            Part::GroupInactive => "page cache not used lately (inactive_file)",
            Part::GroupRest => "kernel memory and sockets",
        }
    }
}

/// What the counters are read from.
pub(super) struct Inputs<'a> {
    meminfo: Option<&'a Meminfo>,
    arc: Option<Arc>,
    root: Option<&'a Group>,
    group: Option<&'a Group>,
    version: Option<Version>,
}

impl<'a> Inputs<'a> {
    pub(super) fn of_system(snapshot: &'a Snapshot) -> Option<Self> {
        let cgroups = snapshot.cgroups.data();
        Some(Inputs {
            meminfo: Some(snapshot.meminfo.data()?),
            arc: snapshot.zfs.data().copied().flatten(),
            root: cgroups.map(|c| &c.root),
            group: None,
            version: cgroups.map(|c| c.version),
        })
    }

    pub(super) const fn of_group(group: &'a Group, version: Version) -> Self {
        Inputs { meminfo: None, arc: None, root: None, group: Some(group), version: Some(version) }
    }

    pub(super) const fn version(&self) -> Option<Version> {
        self.version
    }

    /// Whether a recipe is about this interface.
    pub(super) fn applies(&self, only: Only) -> bool {
        match only {
            Only::Any => true,
            Only::V1 => self.version == Some(Version::V1),
            Only::V2 => self.version == Some(Version::V2),
        }
    }

    /// A counter's name and bytes.
    pub(super) fn read(&self, counter: Counter) -> Option<(&'static str, u64)> {
        let bytes = match counter {
            Counter::RootUsage => root_usage(self.root?, self.version?)?,
            Counter::RootInactiveFile => total(self.root?, self.version?, "inactive_file")?,
            Counter::Current => self.group?.current?.0,
            Counter::InactiveFile => total(self.group?, self.version?, "inactive_file")?,
            Counter::Anon => anon(self.group?, self.version?)?,
            Counter::Cache => *self.group?.stat.get("cache")?,
            Counter::ArcSize => self.arc?.size.0,
            Counter::ArcShrinkable => self.arc?.shrinkable().0,
            _ => self.meminfo(counter)?.0,
        };
        let name = match counter {
            Counter::Reclaimable if self.meminfo?.k_reclaimable.is_none_or(|b| b.0 == 0) => "SReclaimable",
            _ => counter.name(self.version),
        };
        Some((name, bytes))
    }

    fn meminfo(&self, counter: Counter) -> Option<Bytes> {
        let m = self.meminfo?;
        match counter {
            Counter::Total => m.mem_total,
            Counter::Free => m.mem_free,
            Counter::Available => m.mem_available,
            Counter::Buffers => m.buffers,
            Counter::Cached => m.cached,
            Counter::Shmem => m.shmem,
            Counter::SReclaimable => m.s_reclaimable,
            Counter::Reclaimable => m.k_reclaimable.filter(|b| b.0 > 0).or(m.s_reclaimable),
            Counter::Slab => m.slab,
            Counter::Zswap => m.zswap,
            Counter::Zswapped => m.zswapped,
            Counter::SwapTotal => m.swap_total,
            Counter::SwapFree => m.swap_free,
            Counter::SwapCached => m.swap_cached,
            _ => None,
        }
    }

    /// The parts of a counter; they add up to it.
    pub(super) fn parts(&self, counter: Counter) -> Vec<(Part, i128)> {
        let value = |counter| self.read(counter).map_or(0, |(_, bytes)| i128::from(bytes));
        let whole = value(counter);
        let (free, buffers, cached, shmem) =
            (value(Counter::Free), value(Counter::Buffers), value(Counter::Cached), value(Counter::Shmem));
        let slab = value(Counter::SReclaimable);
        let cache = [(Part::FileCache, cached - shmem), (Part::Buffers, buffers)];
        match counter {
            Counter::Total => {
                let anon = self.meminfo.and_then(|m| m.anon_pages).map_or(0, |b| i128::from(b.0));
                let hard = (value(Counter::Slab) - slab).max(0);
                let other = value(Counter::Reclaimable) - slab;
                let rest = whole - free - cached - buffers - slab - hard - other - anon;
                let own = [
                    (Part::Free, free),
                    (Part::Shmem, shmem),
                    (Part::Reclaimable, slab),
                    (Part::OtherReclaimable, other),
                    (Part::Unreclaimable, hard),
                    (Part::Processes, anon),
                    (Part::Rest, rest),
                ];
                [&cache[..], &own].concat()
            }
            Counter::Available => {
                let held = free + cached - shmem + buffers + slab - whole;
                let own = [(Part::Free, free), (Part::Reclaimable, slab), (Part::HeldBack, -held)];
                [&cache[..], &own].concat()
            }
            Counter::Cached => vec![(Part::FileCache, cached - shmem), (Part::Shmem, shmem)],
            Counter::Slab => vec![(Part::Reclaimable, slab), (Part::Unreclaimable, whole - slab)],
            Counter::Reclaimable => vec![(Part::Reclaimable, slab), (Part::OtherReclaimable, whole - slab)],
            Counter::RootUsage => {
                let anon = self.meminfo.and_then(|m| m.anon_pages).map_or(0, |b| i128::from(b.0));
                let own =
                    [(Part::Shmem, shmem), (Part::Processes, anon), (Part::RootDrift, whole - cached - buffers - anon)];
                [&cache[..], &own].concat()
            }
            Counter::Current => {
                let inactive = value(Counter::InactiveFile);
                let anon = value(Counter::Anon);
                let file = self.file().unwrap_or(inactive);
                vec![
                    (Part::GroupAnon, anon),
                    (Part::GroupInactive, inactive),
                    (Part::GroupFile, file - inactive),
                    (Part::GroupRest, whole - anon - file),
                ]
            }
            Counter::Cache => {
                let inactive = value(Counter::InactiveFile);
                vec![(Part::GroupInactive, inactive), (Part::GroupFile, whole - inactive)]
            }
            Counter::Free => vec![(Part::Free, whole)],
            Counter::Buffers => vec![(Part::Buffers, whole)],
            Counter::Shmem => vec![(Part::Shmem, whole)],
            Counter::SReclaimable => vec![(Part::Reclaimable, whole)],
            Counter::Zswap => vec![(Part::Zswap, whole)],
            Counter::Zswapped => vec![(Part::Zswapped, whole)],
            Counter::SwapTotal | Counter::SwapFree => vec![(Part::Swap, whole)],
            Counter::SwapCached => vec![(Part::SwapCached, whole)],
            Counter::ArcSize | Counter::ArcShrinkable => vec![(Part::Arc, whole)],
            // Of one kind with the cache it is taken from: what stays is the cache in use.
            Counter::RootInactiveFile => vec![(Part::FileCache, whole)],
            Counter::InactiveFile => vec![(Part::GroupInactive, whole)],
            Counter::Anon => vec![(Part::GroupAnon, whole)],
        }
    }

    /// All page cache of the group, tmpfs included.
    fn file(&self) -> Option<i128> {
        let name = if self.version? == Version::V1 { "cache" } else { "file" };
        total(self.group?, self.version?, name).map(i128::from)
    }
}

/// Version 1 counts the group alone under the plain name, and with its children as `total_`; version 2 counts all.
fn total(group: &Group, version: Version, name: &str) -> Option<u64> {
    let with_children = || group.stat.get(&format!("total_{name}"));
    match version {
        Version::V1 => with_children().or_else(|| group.stat.get(name)).copied(),
        Version::V2 => group.stat.get(name).copied(),
    }
}

fn anon(group: &Group, version: Version) -> Option<u64> {
    total(group, version, if version == Version::V1 { "rss" } else { "anon" })
}

/// Version 2 has no `memory.current` at the root: runc adds up what version 1's `usage_in_bytes` is there.
fn root_usage(root: &Group, version: Version) -> Option<u64> {
    match version {
        Version::V1 => root.current.map(|b| b.0),
        Version::V2 => anon(root, version)?.checked_add(total(root, version, "file")?),
    }
}

impl Counter {
    /// Left out of a formula where it is not there or zero: most machines have neither zswap nor ZFS.
    pub(super) const fn is_optional(self) -> bool {
        matches!(self, Counter::Zswap | Counter::Zswapped | Counter::ArcSize | Counter::ArcShrinkable)
    }

    /// The kernel's name.
    pub(super) const fn name(self, version: Option<Version>) -> &'static str {
        let v1 = matches!(version, Some(Version::V1));
        match self {
            Counter::Total => "MemTotal",
            Counter::Free => "MemFree",
            Counter::Available => "MemAvailable",
            Counter::Buffers => "Buffers",
            Counter::Cached => "Cached",
            Counter::Shmem => "Shmem",
            Counter::SReclaimable => "SReclaimable",
            Counter::Reclaimable => "KReclaimable",
            Counter::Slab => "Slab",
            Counter::Zswap => "Zswap",
            Counter::Zswapped => "Zswapped",
            Counter::SwapTotal => "SwapTotal",
            Counter::SwapFree => "SwapFree",
            Counter::SwapCached => "SwapCached",
            Counter::ArcSize => "ZFS cache",
            Counter::ArcShrinkable => "ZFS cache above its minimum",
            Counter::RootUsage if v1 => "usage_in_bytes of the root group",
            Counter::RootUsage => "anon + file of the root group",
            Counter::RootInactiveFile if v1 => "its total_inactive_file",
            Counter::RootInactiveFile => "its inactive_file",
            Counter::Current if v1 => "memory.usage_in_bytes",
            Counter::Current => "memory.current",
            Counter::InactiveFile if v1 => "total_inactive_file",
            Counter::InactiveFile => "inactive_file",
            Counter::Anon if v1 => "total_rss",
            Counter::Anon => "anon",
            Counter::Cache => "cache",
        }
    }
}
