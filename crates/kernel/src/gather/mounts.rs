//! Mounts with their capacity. Network and FUSE file systems are not asked: they may hang.

use ramline_snapshot::Seen;
use ramline_snapshot::mounts::{Capacity, Mount, parse};
use ramline_units::Bytes;

use super::reader::Reader;

/// File systems whose `statfs` answers from memory or a local device.
const LOCAL: &[&str] = &[
    "tmpfs", "ramfs", "devtmpfs", "ext2", "ext3", "ext4", "xfs", "btrfs", "f2fs", "zfs", "vfat", "overlay", "erofs",
    "squashfs", "bcachefs",
];

pub fn mounts(reader: &Reader<'_>) -> Seen<Vec<Mount>> {
    reader.section("/proc/self/mountinfo", |path, text| {
        let mut mounts = parse(path, text)?;
        for mount in &mut mounts {
            mount.capacity = match reader.meta() {
                Some(meta) => meta.capacities.get(&mount.at).copied(),
                None => capacity(mount),
            };
        }
        Ok(mounts)
    })
}

fn capacity(mount: &Mount) -> Option<Capacity> {
    if !LOCAL.contains(&mount.fs.as_str()) {
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
