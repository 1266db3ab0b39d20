//! Mounts with their capacity, and the quotas of a tmpfs. Network and FUSE file systems are not asked: they may hang.

use ramline_kernel::quota;
use ramline_snapshot::mounts::{Capacity, Mount, Quota, parse};
use ramline_snapshot::swaps::unescape_octal;

use super::reader::Reader;
use crate::prelude::*;

/// File systems whose `statfs` answers from memory or a local device.
const LOCAL: &[&str] = &[
    "tmpfs", "ramfs", "devtmpfs", "ext2", "ext3", "ext4", "xfs", "btrfs", "f2fs", "zfs", "vfat", "overlay", "erofs",
    "squashfs", "bcachefs",
];

pub fn mounts(reader: &Reader<'_>) -> Seen<Vec<Mount>> {
    reader.section("/proc/self/mountinfo", |path, text| {
        let mut mounts = parse(path, text)?;
        let covered = Table::parse(text).covered();
        let mut lines = text.lines();
        for mount in &mut mounts {
            // A line that is not understood has no mount.
            let line = lines.find(|line| parse("", line).is_ok()).unwrap_or_default();
            let id = line.split(' ').next().and_then(|id| id.parse().ok());
            let hidden = id.and_then(|id: u64| covered.get(&id)).is_none_or(|covered| *covered);
            mount.hidden = hidden;
            (mount.capacity, mount.quotas) = match reader.meta() {
                Some(meta) => {
                    (meta.capacities.get(&mount.at).copied(), meta.quotas.get(&mount.at).cloned().unwrap_or_default())
                }
                // What is asked by a path is the topmost mount there: another file system, maybe one that hangs.
                None if hidden => (None, Vec::new()),
                None => (capacity(mount), quotas(mount)),
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

/// One mount.
pub struct Line<'a> {
    pub id: u64,
    parent: u64,
    pub dev: u64,
    /// Which part of the file system.
    pub root: PathBuf,
    pub at: PathBuf,
    pub fs: &'a str,
    pub options: &'a str,
}

impl<'a> Line<'a> {
    fn parse(line: &'a str) -> Option<Line<'a>> {
        let (left, right) = line.split_once(" - ")?;
        let mut left = left.split(' ');
        let (id, parent) = (left.next()?.parse().ok()?, left.next()?.parse().ok()?);
        let (major, minor) = left.next()?.split_once(':')?;
        let dev = rustix::fs::makedev(major.parse().ok()?, minor.parse().ok()?);
        let (root, at) = (unescape_octal(left.next()?).into(), unescape_octal(left.next()?).into());
        let mut right = right.split(' ');
        let fs = right.next()?;
        Some(Line { id, parent, dev, root, at, fs, options: right.nth(1).unwrap_or_default() })
    }

    /// The whole file system is mounted here, and not a part.
    pub fn is_whole(&self) -> bool {
        self.root == Path::new("/")
    }
}

/// All mounts of a name space by their ids: which of them the way to one crosses, and which lie over it. The order of the lines says
/// nothing, the ids do. Lines of another form are passed over.
pub struct Table<'a> {
    pub lines: Vec<Line<'a>>,
    by_id: HashMap<u64, usize>,
}

impl<'a> Table<'a> {
    pub fn parse(text: &'a str) -> Table<'a> {
        let lines: Vec<Line<'_>> = text.lines().filter_map(Line::parse).collect();
        let by_id = lines.iter().enumerate().map(|(index, line)| (line.id, index)).collect();
        Table { lines, by_id }
    }

    /// From the mount up to the top. It may be its own parent.
    pub fn way<'t>(&'t self, line: &'t Line<'a>) -> Vec<&'t Line<'a>> {
        let mut way = vec![line];
        while let Some(next) =
            way.last().and_then(|last| self.by_id.get(&last.parent)).and_then(|at| self.lines.get(*at))
        {
            if way.iter().any(|known| known.id == next.id) {
                break;
            }
            way.push(next);
        }
        way
    }

    /// Another mount lies over the mount point a way leads to, or over a directory on the way that is not the way itself.
    pub fn is_covered(&self, way: &[&Line<'a>]) -> bool {
        // The way goes through each mount up to where the one below it is mounted.
        let covers = |other: &Line<'_>| {
            let below = way.iter().position(|known| known.id == other.parent).map(|at| at.saturating_sub(1));
            below.and_then(|at| way.get(at)).is_some_and(|below| below.at.starts_with(&other.at))
        };
        self.lines.iter().any(|other| !way.iter().any(|known| known.id == other.id) && covers(other))
    }

    /// By the id of each mount, whether it is covered.
    pub fn covered(&self) -> HashMap<u64, bool> {
        self.lines.iter().map(|line| (line.id, self.is_covered(&self.way(line)))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_mount_that_a_path_leads_to_is_not_covered() {
        // The real root comes late, as after an initramfs; a network file system lies on /a, hiding ext4 there and at /a/b.
        let text = "21 62 0:20 / /proc rw - proc proc rw\n\
                    62 1 8:1 / / rw - ext4 /dev/sda1 rw\n\
                    70 62 8:2 / /a rw - ext4 /dev/sda2 rw\n\
                    71 70 8:3 / /a/b rw - ext4 /dev/sda3 rw\n\
                    72 70 0:50 / /a rw - nfs host:/x rw\n\
                    73 72 8:4 / /a/b/c rw - ext4 /dev/sda4 rw\n\
                    1 1 0:2 / / rw - rootfs rootfs rw\n\
                    80 62 8:5 / /ab rw - ext4 /dev/sda5 rw\n";
        let table = Table::parse(text);
        let covered = table.covered();
        let mut hidden: Vec<u64> = covered.iter().filter(|(_, covered)| **covered).map(|(id, _)| *id).collect();
        hidden.sort_unstable();
        assert_eq!((hidden, covered.len()), (vec![1, 70, 71], 8));
    }
}
