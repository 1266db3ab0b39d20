//! tmpfs: what the mounts hold and may hold, and whether a directory would fit into RAM.
//!
//! One line a mount, and four models of "would /tmp fit". Not a promise. Data in tmpfs does
//! not survive a reboot, and reaches the swap device unencrypted.
//!
//! The models: half of RAM (what tmpfs allows by default), half of free memory, available memory, and free memory
//! plus free swap; margin = model − need, where need is every file rounded up to pages. Inodes are held against
//! tmpfs's default, one for every two pages of RAM (`shmem_default_max_inodes`, mm/shmem.c). The models credit no
//! cache: what of the directory is in the page cache already counts in full. Only what would be pushed out leaves it
//! out, both of the need and of the cache that can be dropped: in tmpfs it is neither new nor droppable.
//! A directory on tmpfs already is held against its own mount's size and inodes instead of the defaults, and against what
//! quotas leave the user or group that has least ([`quota`]).
//!
//! Worked example: 3 GiB in /tmp on a machine of 8 GiB with 4 free: half of RAM leaves 1 GiB, half of free lacks 1.

mod quota;

use ramline_snapshot::dirs::DirUse;
use ramline_snapshot::mounts::{self, Mount};

use crate::ledger::{Ledger, Term};
use crate::prelude::*;
use crate::{available, group, swap};
pub use quota::{DefaultQuota, QuotaUse, Quotas};

/// One file system in RAM.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TmpfsMount {
    /// Where it is mounted first.
    pub at: String,
    /// Other places that show the same file system.
    pub also_at: Vec<String>,
    /// tmpfs, devtmpfs, ramfs or rootfs.
    pub fs: String,
    /// What it may hold: ramfs has no limit. `None` where it was not asked.
    pub size: Option<Limit>,
    /// What it holds; `None` for ramfs, which does not say.
    pub used: Option<Bytes>,
    /// Share of its limit.
    pub share: Option<f64>,
    /// What it holds as a share of RAM.
    pub share_of_ram: Option<f64>,
    /// Inodes there can be; `None` where unlimited or unknown.
    pub inodes: Option<u64>,
    /// Inodes in use.
    pub inodes_used: Option<u64>,
    /// Share of inodes in use.
    pub inode_share: Option<f64>,
    /// May go to swap: not ramfs, not mounted with `noswap`.
    pub swappable: bool,
    /// Programs can put files into it: not the kernel's device nodes, no mount point of kernel file systems, not read-only.
    #[serde(default)]
    pub fillable: bool,
    /// Limits by user and group; `None` where it keeps none.
    #[serde(default)]
    pub quotas: Option<Quotas>,
}

/// All of them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TmpfsState {
    /// One entry a file system.
    pub mounts: Vec<TmpfsMount>,
    /// What they hold together.
    pub used: Bytes,
    /// What they may hold together, limits added up of those that programs put files into.
    pub limits: Bytes,
    /// `limits` over RAM: above 1 they could fill it.
    pub limits_over_ram: Option<f64>,
    /// `Shmem` less `used`: shared memory in no visible mount (segments, memfd, graphics, other name spaces).
    /// Negative when tmpfs pages are on swap.
    pub elsewhere: Option<SignedBytes>,
}

/// File systems in RAM; `None` where mounts were not seen.
#[must_use]
pub fn from_snapshot(snapshot: &Snapshot) -> Option<TmpfsState> {
    let all = snapshot.mounts.data()?;
    let ram = snapshot.mem_total();
    let topmost: HashMap<&str, usize> = all.iter().enumerate().map(|(index, m)| (m.at.as_str(), index)).collect();
    let mut mounts: Vec<TmpfsMount> = Vec::new();
    let mut places: HashMap<&str, usize> = HashMap::new();
    for (index, mount) in all.iter().enumerate().filter(|(_, m)| in_ram(&m.fs)) {
        // What is mounted over it hides it, and is what was asked for its size.
        if mount.hidden || topmost.get(mount.at.as_str()) != Some(&index) {
            continue;
        }
        match places.get(mount.dev.as_str()).and_then(|place| mounts.get_mut(*place)) {
            Some(first) => first.also_at.push(mount.at.clone()),
            None => {
                places.insert(&mount.dev, mounts.len());
                mounts.push(line(mount, ram));
            }
        }
    }
    let used = mounts.iter().filter_map(|m| m.used).sum();
    let limits: Bytes = mounts.iter().filter(|m| m.fillable).filter_map(|m| m.size?.bytes()).sum();
    let shmem = snapshot.meminfo.data().and_then(|m| m.shmem);
    let limits_over_ram = ram.and_then(|ram| limits.share_of(ram));
    Some(TmpfsState {
        used,
        limits,
        limits_over_ram,
        elsewhere: shmem.map(|s| SignedBytes::difference(s, used)),
        mounts,
    })
}

/// Programs put files into it: not the kernel's device nodes, nor what holds nothing but mount points of kernel file systems.
/// Container runtimes cover parts of /proc and /sys with read-only ones.
fn is_for_files(mount: &Mount) -> bool {
    let read_only = |options: &str| options.split(',').any(|option| option == "ro");
    let of_kernel = ["/sys/", "/proc/"].iter().any(|dir| mount.at.starts_with(dir));
    mount.fs != "devtmpfs" && !of_kernel && !read_only(&mount.options) && !read_only(&mount.super_options)
}

/// File systems whose files are in RAM. `rootfs` is what an initramfs is unpacked into: a ramfs, or a tmpfs.
#[must_use]
pub fn in_ram(fs: &str) -> bool {
    matches!(fs, "tmpfs" | "devtmpfs" | "ramfs" | "rootfs")
}

fn line(mount: &Mount, ram: Option<Bytes>) -> TmpfsMount {
    // A ramfs does not count what it holds; a rootfs that is one reports a size of 0.
    let ramfs = mount.fs == "ramfs" || (mount.fs == "rootfs" && mount.capacity.is_none_or(|c| c.size.0 == 0));
    let capacity = mount.capacity.filter(|_| !ramfs);
    // A tmpfs without limit reports a size of 0.
    let size = capacity.map(|c| if c.size.0 == 0 { Limit::Max } else { Limit::At(c.size) });
    let limit = size.and_then(Limit::bytes);
    let used = limit.and(capacity).and_then(|c| c.used());
    let inodes = capacity.map(|c| c.inodes).filter(|n| *n > 0);
    let inodes_used = inodes.and(capacity).and_then(|c| c.inodes_used());
    TmpfsMount {
        at: mount.at.clone(),
        also_at: Vec::new(),
        fs: mount.fs.clone(),
        size: if ramfs { Some(Limit::Max) } else { size },
        used,
        share: used.zip(limit).and_then(|(used, limit)| used.share_of(limit)),
        share_of_ram: used.zip(ram).and_then(|(used, ram)| used.share_of(ram)),
        inodes,
        inodes_used,
        inode_share: inodes_used.zip(inodes).and_then(|(used, all)| Bytes(used).share_of(Bytes(all))),
        swappable: !ramfs && !mount.has("noswap"),
        fillable: is_for_files(mount),
        quotas: quota::from_mount(mount),
    }
}

/// A limit a directory is held against.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Model {
    /// Half of RAM: what tmpfs allows by default.
    HalfOfRam,
    /// What the tmpfs it is on allows it: its own bytes and what is free there. In place of half of RAM.
    Mount,
    /// What quotas of the tmpfs it is on leave the user or group that has least.
    Quota,
    /// Half of free memory: nothing else has to move.
    HalfOfFree,
    /// Available memory: clean cache gives way. Where our group has a limit, at most what that leaves.
    Available,
    /// Free memory and free swap.
    FreePlusSwap,
    /// tmpfs's default number of inodes, or the number its mount has.
    Inodes,
}

/// One model's answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Margin {
    /// The model.
    pub model: Model,
    /// What it allows.
    pub limit: Bytes,
    /// What is left of it; negative when the directory does not fit.
    pub margin: SignedBytes,
}

/// What a directory in tmpfs would push out of RAM.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PushedOut {
    /// Clean page cache dropped.
    pub cache: Bytes,
    /// Moved to swap.
    pub swap: Bytes,
    /// With no place to go: this is where the killing starts.
    pub nowhere: Bytes,
}

/// Whether a directory would fit into RAM.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Fit {
    /// The directory.
    pub path: String,
    /// Bytes a tmpfs would need.
    pub need: Bytes,
    /// Inodes it would need.
    pub inodes: u64,
    /// tmpfs's default number of inodes here; on tmpfs already, its own and what is free there (`u64::MAX`: no limit).
    pub inode_limit: u64,
    /// What is left of it; negative when there are too many files.
    pub inode_margin: i64,
    /// The models, as far as their terms were seen.
    pub margins: Vec<Margin>,
    /// The limit of which it needs the largest share: the first to break as it grows. `None` while it needs less than
    /// 1 % of any.
    pub breaks_first: Option<Model>,
    /// Every model and the inodes have room.
    pub fits: bool,
    /// It is in RAM already; free memory is then counted as if it were emptied.
    pub already_tmpfs: bool,
    /// Of `need`, in the page cache already: moving it needs no further RAM, but it can then no longer be dropped.
    pub cached: Option<Bytes>,
    /// What would have to leave; `None` where it is in RAM already.
    pub pushed_out: Option<PushedOut>,
    /// The walk was cut short or refused in places: the need is a lower bound.
    pub lower_bound: bool,
}

/// A limit is near enough to be named from 1 in so many on.
pub const NEAR_NONE: u64 = 100;

/// tmpfs's default number of inodes: one for every two pages of RAM.
#[must_use]
pub fn default_inodes(ram: Bytes, page: ramline_units::PageSize) -> u64 {
    ram.0.checked_div(page.0).unwrap_or(0) / 2
}

/// Holds a directory against the four models and the inodes; `None` without MemTotal and MemFree.
#[must_use]
pub fn would_fit(dir: &DirUse, snapshot: &Snapshot) -> Option<Fit> {
    let meminfo = snapshot.meminfo.data()?;
    let (ram, free) = (meminfo.mem_total?, meminfo.mem_free?);
    let mounted = snapshot.mounts.data().map(Vec::as_slice).unwrap_or_default();
    let on = mounts::holding(mounted, &dir.path).filter(|m| in_ram(&m.fs));
    let already_tmpfs = on.is_some();
    let mount = on.filter(|m| m.fs != "ramfs").and_then(|m| m.capacity);
    let quotas = on.and_then(quota::from_mount).map(|q| quota::room(&q)).unwrap_or_default();
    let need = dir.on_tmpfs;
    let own = if already_tmpfs { need } else { Bytes::ZERO };
    // What our group may still have ends at its limit.
    let group = group::from_snapshot(snapshot);
    let half = |whole: Bytes| Bytes(whole.0 / 2);
    // Where others fill the mount, their part of it is no room for this directory.
    let first = match mount.filter(|c| c.size.0 > 0) {
        Some(c) => (Model::Mount, Some((c.free + need).min(c.size))),
        None => (Model::HalfOfRam, Some(half(ram))),
    };
    let limits = [
        first,
        (Model::Quota, quotas.bytes.map(|room| need + room)),
        (Model::HalfOfFree, Some(half(free + own))),
        (
            Model::Available,
            meminfo.mem_available.and(available::bytes(snapshot)).map(|a| group.map_or(a, |g| a.min(g.room)) + own),
        ),
        (Model::FreePlusSwap, swap::free(snapshot).map(|s| free + own + s)),
    ];
    let margins: Vec<Margin> = limits
        .into_iter()
        .filter_map(|(model, limit)| {
            Some(Margin { model, limit: limit?, margin: SignedBytes::difference(limit?, need) })
        })
        .collect();
    let inode_limit = match mount {
        Some(c) if c.inodes == 0 => u64::MAX,
        Some(c) => c.inodes_free.saturating_add(dir.inodes).min(c.inodes),
        None => default_inodes(ram, snapshot.machine.page_size),
    };
    let inode_limit = quotas.inodes.map_or(inode_limit, |room| inode_limit.min(dir.inodes.saturating_add(room)));
    let inode_margin = SignedBytes::difference(Bytes(inode_limit), Bytes(dir.inodes)).0;
    let mut first = (Model::Inodes, dir.inodes, inode_limit);
    for margin in &margins {
        // need_a / limit_a against need_b / limit_b, without dividing; at a tie bytes break before inodes.
        let (here, there) =
            (u128::from(need.0) * u128::from(first.2), u128::from(first.1) * u128::from(margin.limit.0));
        if here > there || (here == there && first.0 == Model::Inodes) {
            first = (margin.model, need.0, margin.limit.0);
        }
    }
    let near = first.1.checked_mul(NEAR_NONE).is_none_or(|needed| needed >= first.2) && first.1 > 0;
    let cached = dir.cached.map(|c| c.min(need));
    Some(Fit {
        path: dir.path.clone(),
        need,
        inodes: dir.inodes,
        inode_limit,
        inode_margin,
        fits: inode_margin >= 0 && margins.iter().all(|m| !m.margin.is_negative()),
        margins,
        breaks_first: near.then_some(first.0),
        already_tmpfs,
        cached,
        pushed_out: (!already_tmpfs).then(|| pushed_out(need, cached.unwrap_or_default(), free, snapshot)),
        lower_bound: !dir.complete || dir.refused > 0,
    })
}

/// What is not cached takes free memory first, then clean cache, then pushes anonymous pages to swap. The directory's
/// own cached pages become its tmpfs pages: they need no RAM again, and are no longer there to be dropped.
fn pushed_out(need: Bytes, cached: Bytes, free: Bytes, snapshot: &Snapshot) -> PushedOut {
    let clean = Ledger::from_snapshot(snapshot).map_or(Bytes::ZERO, |l| l.bytes(Term::FileClean));
    let swap_free = swap::free(snapshot).unwrap_or_default();
    let beyond = need.saturating_sub(cached + free);
    let cache = beyond.min(clean.saturating_sub(cached));
    let left = beyond.saturating_sub(cache);
    let swap = left.min(swap_free);
    PushedOut { cache, swap, nowhere: left.saturating_sub(swap) }
}

#[cfg(test)]
mod tests;
