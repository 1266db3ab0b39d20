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
    match full(reader) {
        // The short table tells no capacities and not what covers what: good for captures alone.
        Seen::Absent { path } if !reader.root.is_live() && reader.exists("/proc/mounts") => {
            match reader.section("/proc/mounts", |_, text| Ok(ramline_snapshot::mounts::parse_short(text))) {
                seen @ Seen::Seen { .. } => seen,
                _ => Seen::Absent { path },
            }
        }
        seen => seen,
    }
}

fn full(reader: &Reader<'_>) -> Seen<Vec<Mount>> {
    reader.section("/proc/self/mountinfo", |path, text| {
        let mut mounts = parse(path, text)?;
        let table = Table::parse(text);
        let covered: HashMap<u64, bool> = table.lines.iter().map(|line| line.id).zip(table.covered()).collect();
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
    asked.flat_map(|(_, group)| quota::read(mount.at.as_ref(), group)).collect()
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
///
/// Everything is found in time linear in the number of mounts: what lies over one is looked up by the mount below and by each directory
/// on the way, and what holds of a way is known from that of its parent.
pub struct Table<'a> {
    pub lines: Vec<Line<'a>>,
    by_id: HashMap<u64, usize>,
    /// In each mount, what is mounted where.
    points: HashMap<u64, HashMap<PathBuf, Vec<u64>>>,
}

impl<'a> Table<'a> {
    pub fn parse(text: &'a str) -> Table<'a> {
        let lines: Vec<Line<'_>> = text.lines().filter_map(Line::parse).collect();
        let by_id = lines.iter().enumerate().map(|(index, line)| (line.id, index)).collect();
        let mut points: HashMap<u64, HashMap<PathBuf, Vec<u64>>> = HashMap::new();
        for line in &lines {
            points.entry(line.parent).or_default().entry(line.at.clone()).or_default().push(line.id);
        }
        Table { lines, by_id, points }
    }

    /// For each line, whether `is` holds of it or of one of those up to the top.
    pub fn any_up(&self, is: impl Fn(&Line<'a>) -> bool) -> Vec<bool> {
        let mut known: Vec<Option<bool>> = vec![None; self.lines.len()];
        let mut way = Vec::new();
        for start in 0..self.lines.len() {
            let mut next = Some(start);
            let mut found = false;
            while let Some(at) = next {
                if let Some(above) = known[at] {
                    found = above;
                    break;
                }
                // A ring, of which a mount that is its own parent is the smallest, ends here.
                known[at] = Some(false);
                way.push(at);
                next = self.by_id.get(&self.lines[at].parent).copied();
            }
            while let Some(at) = way.pop() {
                found |= is(&self.lines[at]);
                known[at] = Some(found);
            }
        }
        known.into_iter().map(Option::unwrap_or_default).collect()
    }

    /// In this mount something other than these lies at the directory, or at one on the way to it.
    fn lies_over(&self, mount: u64, at: &Path, but: [u64; 2]) -> bool {
        let Some(points) = self.points.get(&mount) else { return false };
        let other = |ids: &Vec<u64>| ids.iter().any(|id| !but.contains(id));
        at.ancestors().any(|above| points.get(above).is_some_and(other))
    }

    /// For each line, whether another mount lies over the mount point a way leads to, or over a directory on the way that is not the way
    /// itself.
    pub fn covered(&self) -> Vec<bool> {
        let aside = |line: &Line<'_>| {
            let below = self.by_id.contains_key(&line.parent) && line.parent != line.id;
            below && self.lies_over(line.parent, &line.at, [line.id, line.parent])
        };
        let up = self.any_up(aside);
        let on_top = |line: &Line<'_>| self.lies_over(line.id, &line.at, [line.id; 2]);
        self.lines.iter().zip(up).map(|(line, up)| up || on_top(line)).collect()
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
        let each = table.lines.iter().zip(&covered);
        let mut hidden: Vec<u64> = each.filter(|(_, covered)| **covered).map(|(line, _)| line.id).collect();
        hidden.sort_unstable();
        assert_eq!((hidden, covered.len()), (vec![1, 70, 71], 8));
    }

    #[test]
    fn ways_are_looked_at_once_however_deep_and_however_many_mounts_lie_at_one_place() {
        // Each on top of the one before, and all below a network file system in a directory.
        let line = |id: usize, at: &str| format!("{id} {} 0:{id} / {at} rw - tmpfs t rw\n", id - 1);
        let count = 3000;
        let text: String = (2..count + 2).map(|id| line(id, "/a")).collect();
        let text = format!("1 0 8:1 / / rw - ext4 /dev/sda1 rw\n{text}");
        let table = Table::parse(&text);
        assert_eq!(table.covered().iter().filter(|covered| !**covered).count(), 2, "the root and the topmost");
        let asked = std::cell::Cell::new(0);
        let below = table.any_up(|line| {
            asked.set(asked.get() + 1);
            line.id == 2
        });
        assert_eq!((below.iter().filter(|below| **below).count(), asked.get()), (count, count + 1));
    }

    #[test]
    fn a_ring_of_parents_ends() {
        let text = "5 6 0:1 / /a rw - tmpfs t rw\n6 5 0:2 / /b rw - tmpfs t rw\n7 7 0:3 / /c rw - tmpfs t rw\n";
        let table = Table::parse(text);
        assert_eq!(table.covered(), [false, false, false]);
        assert_eq!(table.any_up(|line| line.id == 7), [false, false, true]);
    }
}
