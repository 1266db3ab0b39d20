//! The tiers memory moves between, with capacity, use, measured cost, and the order in which they give way.
//!
//! One list from processes to the disk. Not a simulation of reclaim; the order says what
//! the kernel turns to first, swappiness and age decide page by page.
//!
//! Worked example: with zram at priority 100 and a partition at -2 the list is processes, page cache, tmpfs, zram0,
//! the partition, disk; the page cache gives way first, then idle process and tmpfs pages go to zram, and to the
//! partition once zram is full.

use crate::ledger::{Ledger, Term};
use crate::prelude::*;
use crate::swap::{self, AreaKind};
use crate::tmpfs;

/// What a tier is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TierKind {
    /// Anonymous memory of processes.
    Processes,
    /// Pages of files.
    PageCache,
    /// tmpfs and shared memory.
    Tmpfs,
    /// Compressed RAM as a block device.
    Zram,
    /// Compressed RAM in front of a swap area.
    Zswap,
    /// A swap area on disk.
    SwapArea,
    /// The files on disk.
    Disk,
}

/// What one access of 4 KiB costs, where it was measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Measured {
    /// Median.
    pub ns_p50: Nanos,
    /// 99th percentile.
    pub ns_p99: Nanos,
}

/// One tier.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Tier {
    /// What it is.
    pub kind: TierKind,
    /// Its name: `zram0`, `/dev/sda2`, `page cache`.
    pub name: String,
    /// What it can hold, in original (uncompressed) bytes; `None` where it shares RAM with the others.
    pub capacity: Option<Bytes>,
    /// What it holds, in original bytes; `None` where not known.
    pub used: Option<Bytes>,
    /// RAM it takes now; for swap areas on disk nothing.
    pub ram: Option<Bytes>,
    /// What an access costs; filled in from measurements.
    pub cost: Option<Measured>,
    /// Its place in the order of giving way, from 1; equal places are balanced by swappiness and age. `None`: it does not.
    pub gives_way: Option<u32>,
    /// How it gives way, or why it does not.
    pub how: String,
}

/// The tiers, fastest first. Without meminfo only what else was seen.
#[must_use]
pub fn from_snapshot(snapshot: &Snapshot) -> Vec<Tier> {
    let ledger = Ledger::from_snapshot(snapshot);
    let held = |terms: &[Term]| {
        let ledger = ledger.as_ref()?;
        Some(terms.iter().map(|t| ledger.bytes(*t)).sum::<Bytes>())
    };
    let (to_swap, swaps) = match swap::free(snapshot) {
        Some(Bytes(0)) => (None, "stays: there is no free swap"),
        Some(_) => (Some(2), "idle pages are swapped out, balanced against the page cache by swappiness"),
        None => (None, "whether it can go to swap is not known: neither /proc/meminfo nor /proc/swaps was seen"),
    };
    let in_ram = |kind, name, terms: &[Term], gives_way, how| {
        let used = held(terms);
        Tier { used, ram: used, gives_way, ..tier(kind, name, how) }
    };
    let dropped = "clean pages are dropped, dirty ones written first";
    let mut out = vec![
        in_ram(TierKind::Processes, "process memory", &[Term::Anon], to_swap, swaps),
        in_ram(TierKind::PageCache, "page cache", &[Term::FileClean, Term::FileDirty], Some(1), dropped),
        in_ram(TierKind::Tmpfs, "tmpfs and shared memory", &[Term::Shmem], to_swap, swaps),
    ];
    out.extend(zswap(snapshot));
    let areas = swap::from_snapshot(snapshot, None).map(|s| s.areas).unwrap_or_default();
    let zram = snapshot.zram.data();
    for area in &areas {
        let name = area.path.rsplit('/').next().unwrap_or(&area.path);
        let device =
            zram.and_then(|z| z.devices.iter().find(|d| d.name == name)).filter(|_| area.kind == AreaKind::Zram);
        let writeback = device.and_then(|d| d.backing_dev.as_deref()).is_some_and(|b| b != "none");
        let kind = if area.kind == AreaKind::Zram { TierKind::Zram } else { TierKind::SwapArea };
        let keeps = match (kind, writeback) {
            (TierKind::Zram, true) => "reclaimed only by an order to write back",
            (TierKind::Zram, false) => "keeps what it has, however old",
            _ => "keeps what it has until it is read back",
        };
        let ram = match kind {
            TierKind::Zram => device.and_then(|d| Some(d.mm.as_ref()?.mem_used_total)),
            _ => Some(Bytes::ZERO),
        };
        let (capacity, used) = (Some(area.size), Some(area.used));
        let how = format!("{keeps}; full, it passes new pages to the next area");
        out.push(Tier { capacity, used, ram, ..tier(kind, &area.path, &how) });
    }
    out.extend(disk(snapshot));
    out
}

/// A tier that does not give way, of no known size.
fn tier(kind: TierKind, name: &str, how: &str) -> Tier {
    let (name, how) = (name.to_owned(), how.to_owned());
    Tier { kind, name, capacity: None, used: None, ram: None, cost: None, gives_way: None, how }
}

/// zswap where it is on. Its capacity is that of its pool at the ratio reached so far.
fn zswap(snapshot: &Snapshot) -> Option<Tier> {
    let zswap = snapshot.zswap.data().filter(|z| z.enabled)?;
    let meminfo = snapshot.meminfo.data();
    let (pool, stored) = (meminfo.and_then(|m| m.zswap), meminfo.and_then(|m| m.zswapped));
    let limit = snapshot.mem_total().zip(zswap.max_pool_percent).and_then(|(ram, percent)| ram.scale(percent, 100));
    let ratio = stored.zip(pool).filter(|(_, pool)| pool.0 > 0);
    let how = match zswap.shrinker {
        Some(true) => "its coldest pages are written to the swap area under pressure, and when the pool is full",
        _ => "its coldest pages are written to the swap area when the pool is full",
    };
    Some(Tier {
        capacity: limit.and_then(|limit| ratio.and_then(|(stored, pool)| limit.scale(stored.0, pool.0))),
        used: stored,
        ram: pool,
        gives_way: Some(3),
        ..tier(TierKind::Zswap, "zswap", how)
    })
}

/// The files under `/`; `None` where they are in RAM themselves (an initramfs, a live system on tmpfs).
fn disk(snapshot: &Snapshot) -> Option<Tier> {
    let root = snapshot.mounts.data().and_then(|m| m.iter().rev().find(|m| m.at == "/"));
    if root.is_some_and(|m| tmpfs::in_ram(&m.fs)) {
        return None;
    }
    let capacity = root.and_then(|m| m.capacity);
    let how = "holds the files; what was dropped from the page cache is read from here";
    Some(Tier {
        capacity: capacity.map(|c| c.size),
        used: capacity.and_then(|c| c.used()),
        ram: Some(Bytes::ZERO),
        ..tier(TierKind::Disk, root.map_or("files on disk", |m| m.source.as_str()), how)
    })
}

#[cfg(test)]
mod tests;
