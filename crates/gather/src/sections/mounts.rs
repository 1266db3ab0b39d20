//! Mounts with their capacity, and the quotas of a tmpfs. Network and FUSE file systems are not asked: they may hang.

use std::collections::HashMap;
use std::path::Path;

use ramline_kernel::quota;
use ramline_snapshot::Seen;
use ramline_snapshot::mounts::{Capacity, Mount, Quota, parse};
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
        let hidden = hidden(text);
        for (mount, hidden) in mounts.iter_mut().zip(hidden.into_iter().chain(std::iter::repeat(true))) {
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

/// For each line of mountinfo, whether its mount point is covered: by a mount on top of it, or by one on a directory above
/// that is not one of its own ancestors. The order of the lines says nothing; the ids do.
fn hidden(text: &str) -> Vec<bool> {
    struct Line<'a> {
        id: &'a str,
        parent: &'a str,
        at: &'a Path,
    }
    let lines: Vec<Line<'_>> = text
        .lines()
        .filter_map(|line| {
            let mut words = line.split(' ');
            let (id, parent, at) = (words.next()?, words.next()?, words.nth(2)?);
            Some(Line { id, parent, at: Path::new(at) })
        })
        .collect();
    let by_id: HashMap<&str, &Line<'_>> = lines.iter().map(|line| (line.id, line)).collect();
    lines
        .iter()
        .map(|line| {
            // From the mount up to the top; it may be its own parent, and a chain is never longer than the list.
            let mut chain = vec![line];
            while let Some(&next) = chain.last().and_then(|last| by_id.get(last.parent)) {
                if chain.iter().any(|known| known.id == next.id) {
                    break;
                }
                chain.push(next);
            }
            // The way goes through each of the chain up to where the one below it is mounted.
            let covers = |other: &Line<'_>| {
                let below = chain.iter().position(|known| known.id == other.parent).map(|at| at.saturating_sub(1));
                below.and_then(|at| chain.get(at)).is_some_and(|below| below.at.starts_with(other.at))
            };
            lines.iter().any(|other| !chain.iter().any(|known| known.id == other.id) && covers(other))
        })
        .collect()
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_mount_that_a_path_leads_to_is_asked() {
        // The real root comes late, as after an initramfs; a network file system lies on /a, hiding ext4 there and at /a/b.
        let text = "21 62 0:20 / /proc rw - proc proc rw\n\
                    62 1 8:1 / / rw - ext4 /dev/sda1 rw\n\
                    70 62 8:2 / /a rw - ext4 /dev/sda2 rw\n\
                    71 70 8:3 / /a/b rw - ext4 /dev/sda3 rw\n\
                    72 70 0:50 / /a rw - nfs host:/x rw\n\
                    73 72 8:4 / /a/b/c rw - ext4 /dev/sda4 rw\n\
                    1 1 0:2 / / rw - rootfs rootfs rw\n\
                    80 62 8:5 / /ab rw - ext4 /dev/sda5 rw\n";
        assert_eq!(hidden(text), [false, false, true, true, false, false, true, false]);
    }
}
