//! Shared memory by kind and owner: which tmpfs, segment or forgotten file it is, and how much of it is already in swap.
//!
//! `Shmem` of /proc/meminfo taken apart, with what is left over and how far that may be off. Not process
//! memory; a page mapped by ten processes is one page here.
//!
//! The rest = `Shmem` - what is in RAM of every kind that was seen. Its upper bound adds how far the counter may be off: what
//! moved between two readings, and what CPUs hold back (the threshold of every CPU, `vm stats threshold` of /proc/zoneinfo). Its
//! lower bound takes off, besides, what was seen and may be in RAM or in swap.
//!
//! Worked example: `Shmem` 100 MiB, tmpfs files 60, memfd 30, counter off by at most 0.3: the rest is 10 MiB, 9.7 to 10.3.

use ramline_snapshot::groups::Groups;
use ramline_snapshot::shmem::{Amount, Filesystem, GraphicsClient, Method, Object, ObjectKind, Shmem};
use ramline_units::saturating_sum;

use crate::prelude::*;

/// What a page of shared memory belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "Kind")]
pub enum ShmemKind {
    /// Files with a name in a tmpfs or devtmpfs.
    TmpfsFiles,
    /// What a tmpfs holds by its own count, and no walk reached: covered by a mount, not readable for us, or past the time.
    TmpfsUnreached,
    /// System V segments.
    Segments,
    /// memfd_create(2).
    Memfd,
    /// Deleted tmpfs files that are still open or mapped.
    Deleted,
    /// `MAP_SHARED | MAP_ANONYMOUS`.
    SharedAnonymous,
    /// Buffers of a graphics driver.
    Graphics,
    /// System V segments of other name spaces that somebody has attached.
    OtherSegments,
    /// Other files of the kernel's internal tmpfs.
    Internal,
}

/// One kind.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Line")]
pub struct ShmemLine {
    /// What it is.
    pub kind: ShmemKind,
    /// How many, and where. Gauge.
    pub amount: Amount,
    /// What is in RAM as a share of `Shmem`.
    pub share: Option<f64>,
}

/// A control group's part.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct GroupShare {
    /// Its path.
    pub path: String,
    /// Shared memory in RAM charged to it and to no group below it. Gauge.
    pub resident: Bytes,
}

/// `Shmem` taken apart.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Split {
    /// `Shmem` of /proc/meminfo, after the walk. Gauge.
    pub total: Option<Bytes>,
    /// What of shared memory was seen in swap. Gauge.
    pub swapped: Bytes,
    /// Every kind that was looked for.
    pub lines: Vec<ShmemLine>,
    /// `total` less what is in RAM of all lines.
    pub rest: Option<SignedBytes>,
    /// Not less than this.
    pub rest_at_least: Option<SignedBytes>,
    /// Not more than this.
    pub rest_at_most: Option<SignedBytes>,
    /// How far the counter itself may be off, either way.
    pub counter_off: Bytes,
    /// Every process and every file system was looked at to the end.
    pub complete: bool,
    /// By control group, largest first; empty where groups were not read.
    pub groups: Vec<GroupShare>,
    /// Deleted files that one sleeping process keeps: likely forgotten. Largest first.
    pub leaked: Vec<Object>,
}

/// A deleted file is called forgotten when nobody has read or written it for this long.
pub const FORGOTTEN_AFTER: Nanos = Nanos(3600 * 1_000_000_000);

/// Takes `Shmem` apart; `None` where shared memory was not looked at.
#[must_use]
pub fn from_snapshot(snapshot: &Snapshot) -> Option<Split> {
    let shmem = snapshot.shmem.data()?;
    let total = shmem.after.or_else(|| snapshot.meminfo.data().and_then(|m| m.shmem));
    let lines: Vec<ShmemLine> = amounts(shmem)
        .into_iter()
        .map(|(kind, amount)| ShmemLine {
            kind,
            amount,
            share: total.and_then(|total| amount.resident.share_of(total)),
        })
        .collect();
    let resident: Bytes = lines.iter().map(|line| line.amount.resident).sum();
    let either: Bytes = lines.iter().map(|line| line.amount.either).sum();
    let held_back =
        snapshot.zoneinfo.data().map_or(Bytes::ZERO, |zones| zones.counter_error().bytes(snapshot.machine.page_size));
    let moved = shmem.before.zip(total).map_or(Bytes::ZERO, |(a, b)| SignedBytes::difference(a, b).magnitude());
    let counter_off = held_back + moved;
    let rest = total.map(|total| SignedBytes::difference(total, resident));
    Some(Split {
        total,
        swapped: lines.iter().map(|line| line.amount.swapped).sum(),
        rest,
        rest_at_least: total.map(|total| SignedBytes::difference(total, resident + either + counter_off)),
        rest_at_most: total.map(|total| SignedBytes::difference(total + counter_off, resident)),
        counter_off,
        complete: is_complete(shmem),
        groups: snapshot.groups.data().map(shares).unwrap_or_default(),
        leaked: leaked(shmem).cloned().collect(),
        lines,
    })
}

impl Split {
    /// What the likely forgotten files take, in RAM or in swap. Gauge.
    #[must_use]
    pub fn forgotten(&self) -> Bytes {
        self.leaked.iter().map(|object| object.amount.all()).sum()
    }
}

/// Inodes that were looked at, over all file systems in RAM.
#[must_use]
pub fn inodes(shmem: &Shmem) -> u64 {
    saturating_sum(shmem.filesystems.iter().map(|f| f.inodes))
}

/// Places of file systems in RAM that could not be looked at.
#[must_use]
pub fn refused(shmem: &Shmem) -> u64 {
    saturating_sum(shmem.filesystems.iter().map(|f| f.refused))
}

fn is_complete(shmem: &Shmem) -> bool {
    let walk = &shmem.walk;
    walk.processes_complete
        && walk.denied == 0
        && walk.unasked == 0
        && walk.unreached == 0
        && shmem.filesystems.iter().all(|f| f.complete && f.refused == 0)
}

/// Deleted files that one process keeps, which was asleep, and that were not touched for [`FORGOTTEN_AFTER`].
pub fn leaked(shmem: &Shmem) -> impl Iterator<Item = &Object> {
    shmem.objects.iter().filter(|object| {
        object.kind == ObjectKind::Deleted
            && object.holder_count == 1
            && object.holders.iter().all(|holder| holder.asleep)
            && object.age.is_some_and(|age| age >= FORGOTTEN_AFTER)
    })
}

fn amounts(shmem: &Shmem) -> Vec<(ShmemKind, Amount)> {
    let of_kind = |kind: ObjectKind| {
        shmem.object_totals.iter().find(|total| total.kind == kind).map(|total| total.amount).unwrap_or_default()
    };
    let in_shmem = || shmem.filesystems.iter().filter(|f| f.in_shmem);
    let mut files = Amount::default();
    in_shmem().for_each(|f| files.add(f.found));
    let mut segments = Amount::default();
    for segment in shmem.segments.iter().filter(|s| s.huge != Some(true)) {
        segments.add(Amount { count: 1, resident: segment.resident, swapped: segment.swapped, either: Bytes::ZERO });
    }
    vec![
        (ShmemKind::TmpfsFiles, files),
        (ShmemKind::TmpfsUnreached, unreached(shmem)),
        (ShmemKind::Segments, segments),
        (ShmemKind::Memfd, of_kind(ObjectKind::Memfd)),
        (ShmemKind::Deleted, of_kind(ObjectKind::Deleted)),
        (ShmemKind::SharedAnonymous, of_kind(ObjectKind::SharedAnonymous)),
        (ShmemKind::Graphics, graphics(of_kind(ObjectKind::Graphics), &shmem.graphics)),
        (ShmemKind::OtherSegments, of_kind(ObjectKind::Segment)),
        (ShmemKind::Internal, of_kind(ObjectKind::Other)),
    ]
}

/// What file systems count beyond the files that were found and the deleted ones that were seen held: in RAM or in swap. Where no
/// byte of swap is in use it is in RAM.
fn unreached(shmem: &Shmem) -> Amount {
    let gap = |f: &Filesystem| f.used?.checked_sub(f.found.all() + f.deleted.all()).filter(|gap| gap.0 > 0);
    let gaps: Vec<Bytes> = shmem.filesystems.iter().filter(|f| f.in_shmem).filter_map(gap).collect();
    let mut out = Amount { count: u64::try_from(gaps.len()).unwrap_or(u64::MAX), ..Amount::default() };
    let all: Bytes = gaps.into_iter().sum();
    match shmem.method {
        Method::NoSwapUsed => out.resident = all,
        _ => out.either = all,
    }
    out
}

/// Buffers that are files of shared memory: what the drivers say, or what is mapped of them, whichever is more. What clients
/// share is told by each of them, so it is only known to be there or not.
fn graphics(mapped: Amount, clients: &[GraphicsClient]) -> Amount {
    let regions = clients.iter().filter(|client| client.in_shmem).flat_map(|client| &client.regions);
    // Memory of the device itself, or set apart for it at boot, is no part of MemTotal's Shmem.
    let of_device = |name: &str| ["vram", "local", "stolen"].iter().any(|start| name.starts_with(start));
    let (mut own, mut shared) = (Bytes::ZERO, Bytes::ZERO);
    for region in regions.filter(|region| !of_device(&region.name)) {
        let both = region.shared.unwrap_or_default().min(region.resident.unwrap_or_default());
        own += region.resident.unwrap_or_default().saturating_sub(both);
        shared += both;
    }
    if own + shared <= mapped.all() {
        return mapped;
    }
    let resident = own.max(mapped.resident);
    Amount {
        count: mapped.count.max(u64::try_from(clients.len()).unwrap_or(u64::MAX)),
        resident,
        swapped: mapped.swapped,
        either: (own + shared).saturating_sub(resident),
    }
}

/// Version 1 counts `shmem` of the group alone; version 2 of all below it too.
fn shares(groups: &Groups) -> Vec<GroupShare> {
    let of = |stat: &BTreeMap<String, u64>| stat.get("shmem").copied().unwrap_or(0);
    let mut below: BTreeMap<&str, u64> = BTreeMap::new();
    if groups.version == Some(Version::V2) {
        for group in &groups.list {
            let parent = group.path.rsplit_once('/').map_or("", |(parent, _)| parent);
            let parent = if parent.is_empty() { "/" } else { parent };
            if group.path != "/" {
                let sum = below.entry(parent).or_default();
                *sum = sum.saturating_add(of(&group.stat));
            }
        }
    }
    let mut out: Vec<GroupShare> = groups
        .list
        .iter()
        .map(|group| {
            let children = below.get(group.path.as_str()).copied().unwrap_or(0);
            GroupShare { path: group.path.clone(), resident: Bytes(of(&group.stat).saturating_sub(children)) }
        })
        .filter(|share| share.resident.0 > 0)
        .collect();
    ramline_units::sort_by(&mut out, |a, b| b.resident.cmp(&a.resident).then_with(|| a.path.cmp(&b.path)));
    out
}

#[cfg(test)]
mod tests;
