//! The counters of the formulas, where each is read, and the parts each is made of.

use ramline_snapshot::zfs::Arc;

use crate::groups::total;
use crate::prelude::*;

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
    pub(super) const fn apply(self, amount: i128) -> i128 {
        match self {
            Sign::Plus => amount,
            Sign::Minus => -amount,
        }
    }
}

worded! {
    /// A counter some tool adds up.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    #[expect(missing_docs, reason = "the names are the kernel's; see `name`")]
    pub enum Counter {
        Total = "MemTotal",
        Free = "MemFree",
        Available = "MemAvailable",
        Buffers = "Buffers",
        Cached = "Cached",
        Shmem = "Shmem",
        SReclaimable = "SReclaimable",
        /// KReclaimable where the kernel has it (4.20), otherwise SReclaimable.
        Reclaimable = "KReclaimable",
        Slab = "Slab",
        Zswap = "Zswap",
        Zswapped = "Zswapped",
        SwapTotal = "SwapTotal",
        SwapFree = "SwapFree",
        SwapCached = "SwapCached",
        ArcSize = "ZFS cache",
        ArcShrinkable = "ZFS cache above its minimum",
        /// Of the root group: process memory and page cache.
        RootUsage = "anon + file of the root group",
        RootInactiveFile = "its inactive_file",
        /// Of the group looked at.
        Current = "memory.current",
        InactiveFile = "inactive_file",
        Anon = "anon",
        /// Version 1: cache of the group alone, without its children.
        Cache = "cache",
    }
    /// The kernel's name; in version 1 of control groups some are called otherwise.
    usual_name
}

worded! {
    /// Bytes that are in no other part.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
    pub(super) enum Part {
        Free = "free pages",
        FileCache = "page cache of files",
        Buffers = "buffers (cache of raw devices)",
        Shmem = "tmpfs and shared memory, which Cached contains",
        Reclaimable = "kernel caches that can shrink (SReclaimable)",
        OtherReclaimable = "other kernel memory that can shrink",
        Unreclaimable = "slab that cannot shrink (SUnreclaim)",
        Processes = "process memory (AnonPages)",
        Rest = "other kernel memory, huge pages, drivers",
        HeldBack = "what MemAvailable holds back (reserves, cache worth keeping or locked)",
        Zswap = "the pool of zswap",
        Zswapped = "pages that zswap holds",
        Swap = "swap",
        SwapCached = "swapped pages that are in RAM too",
        Arc = "the ZFS cache that can shrink",
        RootDrift = "what the root group counts otherwise (swap cache, updates not yet added up)",
        GroupAnon = "process memory",
        GroupFile = "page cache in use, tmpfs and shared memory",
        GroupInactive = "page cache not used lately (inactive_file)",
        GroupRest = "kernel memory and sockets",
    }
    /// In words.
    words
}

/// What the counters are read from.
pub(super) struct Inputs<'a> {
    meminfo: Option<&'a Meminfo>,
    arc: Option<Arc>,
    root: Option<&'a Group>,
    group: Option<&'a Group>,
    pub(super) version: Option<Version>,
}

impl<'a> Inputs<'a> {
    pub(super) fn for_system(snapshot: &'a Snapshot) -> Option<Self> {
        let cgroups = snapshot.cgroups.data();
        Some(Inputs {
            meminfo: Some(snapshot.meminfo.data()?),
            arc: snapshot.zfs.data().copied().flatten(),
            root: cgroups.map(|c| &c.root),
            group: None,
            version: cgroups.map(|c| c.version),
        })
    }

    pub(super) const fn for_group(group: &'a Group, version: Version) -> Self {
        Inputs { meminfo: None, arc: None, root: None, group: Some(group), version: Some(version) }
    }

    /// Whether a recipe is about this interface.
    pub(super) fn applies(&self, only: Option<Version>) -> bool {
        only.is_none() || only == self.version
    }

    /// A counter's name and bytes.
    pub(super) fn read(&self, counter: Counter) -> Option<(&'static str, u64)> {
        let name = match counter {
            Counter::Reclaimable if self.meminfo?.k_reclaimable.is_none_or(|b| b.0 == 0) => "SReclaimable",
            _ => counter.name(self.version),
        };
        let of_group = |key| total(self.group?, self.version?, key);
        let bytes = match counter {
            Counter::RootUsage => root_usage(self.root?, self.version?),
            Counter::RootInactiveFile => total(self.root?, self.version?, "inactive_file"),
            Counter::Current => self.group?.current,
            Counter::InactiveFile => of_group("inactive_file"),
            Counter::Anon => of_group("anon"),
            Counter::Cache => self.group?.stat.get("cache").copied().map(Bytes),
            Counter::ArcSize => Some(self.arc?.size),
            Counter::ArcShrinkable => Some(self.arc?.above_min()),
            _ => self.meminfo?.get(name),
        };
        Some((name, bytes?.0))
    }

    /// The parts of a counter; they add up to it.
    pub(super) fn parts(&self, counter: Counter) -> Vec<(Part, i128)> {
        let value = |counter| self.read(counter).map_or(0, |(_, bytes)| i128::from(bytes));
        let whole = value(counter);
        let (free, buffers, cached, shmem) =
            (value(Counter::Free), value(Counter::Buffers), value(Counter::Cached), value(Counter::Shmem));
        let slab = value(Counter::SReclaimable);
        let anon = self.meminfo.and_then(|m| m.anon_pages).map_or(0, |b| i128::from(b.0));
        let with_cache = |own: &[_]| [&[(Part::FileCache, cached - shmem), (Part::Buffers, buffers)][..], own].concat();
        match counter {
            Counter::Total => {
                let hard = (value(Counter::Slab) - slab).max(0);
                let other = value(Counter::Reclaimable) - slab;
                with_cache(&[
                    (Part::Free, free),
                    (Part::Shmem, shmem),
                    (Part::Reclaimable, slab),
                    (Part::OtherReclaimable, other),
                    (Part::Unreclaimable, hard),
                    (Part::Processes, anon),
                    (Part::Rest, whole - free - cached - buffers - slab - hard - other - anon),
                ])
            }
            Counter::Available => {
                let held = free + cached - shmem + buffers + slab - whole;
                with_cache(&[(Part::Free, free), (Part::Reclaimable, slab), (Part::HeldBack, -held)])
            }
            Counter::Cached => vec![(Part::FileCache, cached - shmem), (Part::Shmem, shmem)],
            Counter::Slab => vec![(Part::Reclaimable, slab), (Part::Unreclaimable, whole - slab)],
            Counter::Reclaimable => vec![(Part::Reclaimable, slab), (Part::OtherReclaimable, whole - slab)],
            Counter::RootUsage => {
                let drift = whole - cached - buffers - anon;
                with_cache(&[(Part::Shmem, shmem), (Part::Processes, anon), (Part::RootDrift, drift)])
            }
            Counter::Current => {
                let (inactive, anon) = (value(Counter::InactiveFile), value(Counter::Anon));
                // All page cache of the group, tmpfs included.
                let of_group = self.group.zip(self.version).and_then(|(group, version)| total(group, version, "file"));
                let file = of_group.map_or(inactive, |bytes| i128::from(bytes.0));
                let (used, rest) = ((Part::GroupFile, file - inactive), (Part::GroupRest, whole - anon - file));
                vec![(Part::GroupAnon, anon), (Part::GroupInactive, inactive), used, rest]
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
}

/// Version 2 has no `memory.current` at the root: runc adds up what version 1's `usage_in_bytes` is there.
fn root_usage(root: &Group, version: Version) -> Option<Bytes> {
    match version {
        Version::V1 => root.current,
        Version::V2 => total(root, version, "anon")?.0.checked_add(total(root, version, "file")?.0).map(Bytes),
    }
}

impl Counter {
    /// Left out of a formula where it is not there or zero: most machines have neither zswap nor ZFS.
    pub(super) const fn is_optional(self) -> bool {
        matches!(self, Counter::Zswap | Counter::Zswapped | Counter::ArcSize | Counter::ArcShrinkable)
    }

    /// The kernel's name.
    pub(super) const fn name(self, version: Option<Version>) -> &'static str {
        match (self, version) {
            (Counter::RootUsage, Some(Version::V1)) => "usage_in_bytes of the root group",
            (Counter::RootInactiveFile, Some(Version::V1)) => "its total_inactive_file",
            (Counter::Current, Some(Version::V1)) => "memory.usage_in_bytes",
            (Counter::InactiveFile, Some(Version::V1)) => "total_inactive_file",
            (Counter::Anon, Some(Version::V1)) => "total_rss",
            _ => self.usual_name(),
        }
    }
}
