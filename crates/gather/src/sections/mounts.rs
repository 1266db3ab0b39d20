//! Mounts with their capacity, and the quotas of a tmpfs. Network and FUSE file systems are not asked: they may hang.

use ramline_kernel::quota;
use ramline_snapshot::Seen;
use ramline_snapshot::mounts::{Capacity, Mount, Quota, parse};
use ramline_units::Bytes;

use super::mountinfo::Table;
use super::reader::Reader;

/// File systems whose `statfs` answers from memory or a local device.
const LOCAL: &[&str] = &[
    "tmpfs", "ramfs", "devtmpfs", "ext2", "ext3", "ext4", "xfs", "btrfs", "f2fs", "zfs", "vfat", "overlay", "erofs",
    "squashfs", "bcachefs",
];

pub fn mounts(reader: &Reader<'_>) -> Seen<Vec<Mount>> {
    reader.section("/proc/self/mountinfo", |path, text| {
        let mut mounts = parse(path, text)?;
        let covered = Table::parse(text).covered();
        for (mount, line) in mounts.iter_mut().zip(text.lines()) {
            let id = line.split(' ').next().and_then(|id| id.parse().ok());
            let hidden = id.and_then(|id: u64| covered.get(&id)).is_none_or(|covered| *covered);
            mount.capacity = match reader.meta() {
                Some(meta) => meta.capacities.get(&mount.at).copied(),
                // What is asked by a path is the topmost mount there: another file system, maybe one that hangs.
                None if hidden => None,
                None => capacity(mount),
            };
            mount.hidden = hidden;
            mount.quotas = match reader.meta() {
                Some(meta) => meta.quotas.get(&mount.at).cloned().unwrap_or_default(),
                None if hidden => Vec::new(),
                None => quotas(mount),
            };
        }
        Ok(mounts)
    })
}

/// True for a file system that answers from memory or a local device, so that looking at it cannot hang.
pub fn is_local(fs: &str) -> bool {
    LOCAL.contains(&fs)
}

/// Of a tmpfs alone, whose quotas end in RAM; disks have tools for theirs.
fn quotas(mount: &Mount) -> Vec<Quota> {
    let asked =
        [("usrquota", false), ("grpquota", true)].into_iter().filter(|(key, _)| mount.fs == "tmpfs" && mount.has(key));
    asked.flat_map(|(_, group)| quota::of(mount.at.as_ref(), group)).collect()
}

fn capacity(mount: &Mount) -> Option<Capacity> {
    if !is_local(&mount.fs) {
        return None;
    }
    let s = rustix::fs::statvfs(mount.at.as_str()).ok()?;
    let bytes = |blocks: u64| Bytes(blocks.saturating_mul(s.f_frsize));
    Some(Capacity {
        size: bytes(s.f_blocks),
        free: bytes(s.f_bfree),
        available: bytes(s.f_bavail),
        inodes: s.f_files,
        inodes_free: s.f_ffree,
    })
}
