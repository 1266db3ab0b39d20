//! The groups looked at again and again: only those are read whose memory has changed since, and those at a limit.
//!
//! What a group uses is one file that the kernel answers from one counter; its other files take ten times as long, because `memory.stat` makes
//! the kernel add up its counters first. At a limit a group loses a page for each that it gets, and its size says nothing: there, and below, all is read.
//! A group is known by the inode of its directory, and its children by the links of that (`kernfs_refresh_inode`).

use rustix::fs::{AtFlags, CWD, Mode, OFlags};

use super::{Above, FoundGroups, MOST, Walk, join, path_of};
use crate::prelude::*;
use ramline_snapshot::cgroup::{Group, Version};
use ramline_snapshot::groups::Groups;
use ramline_units::Limit;

/// Pages that a processor takes of a group's counter at once (`MEMCG_CHARGE_BATCH`, mm/memcontrol.c).
const BATCH: u64 = 64;

/// Cache of the groups of this machine.
#[derive(Debug, Default)]
pub struct GroupCache {
    known: BTreeMap<PathBuf, CachedGroup>,
}

#[derive(Debug)]
struct CachedGroup {
    /// As the snapshot names it.
    name: String,
    inode: u64,
    links: u64,
    current: Option<Bytes>,
    at_limit: bool,
    children: Vec<PathBuf>,
    /// What it says of its children.
    above: Above,
}

/// A group to be looked at: what is known of the group above, and whether that is at a limit.
type Waiting = (PathBuf, Above, bool);

impl GroupCache {
    /// Forgets all: the next look reads everything.
    pub fn forget(&mut self) {
        self.known.clear();
    }

    /// Reads the groups that are new or have changed into `out`; gives the names of the others.
    pub(super) fn look(&mut self, walk: &Walk<'_>, above: Above, out: &mut Groups) -> Vec<String> {
        let mut before = std::mem::take(&mut self.known);
        let mut level: Vec<Waiting> = vec![(PathBuf::new(), above, false)];
        let mut unchanged = Vec::new();
        while !level.is_empty() {
            let mut next = Vec::new();
            for (below, above, at_limit) in level {
                let count = self.known.len();
                if walk.is_late() || count >= MOST {
                    out.complete = false;
                    break;
                }
                let known = before.remove(&below).filter(|known| !at_limit && known.is_as_before(walk, &below));
                let known = match known {
                    Some(known) => {
                        unchanged.push(known.name.clone());
                        known
                    }
                    None => match CachedGroup::read(walk, &below, above, out) {
                        Some(known) => known,
                        None => {
                            // Another may have come with it: links alone do not say so.
                            let parent = below.parent().and_then(|parent| self.known.get_mut(parent));
                            parent.into_iter().for_each(|parent| parent.links = 0);
                            continue;
                        }
                    },
                };
                let tight = at_limit || known.at_limit;
                next.extend(known.children.iter().map(|child| (child.clone(), known.above, tight)));
                self.known.insert(below, known);
            }
            if !out.complete {
                break;
            }
            level = next;
        }
        if !out.complete {
            // What was not come to is as it was; the rest of it is looked at next time.
            unchanged.extend(before.values().map(|known| known.name.clone()));
            self.known.append(&mut before);
        }
        unchanged
    }
}

impl CachedGroup {
    fn is_as_before(&self, walk: &Walk<'_>, below: &Path) -> bool {
        if self.at_limit || self.current.is_none() {
            return false;
        }
        let dir = walk.mount.join(below);
        let Ok(stat) = rustix::fs::statat(CWD, &dir, AtFlags::SYMLINK_NOFOLLOW) else { return false };
        stat.st_ino == self.inode && stat.st_nlink == self.links && usage(walk.version, &dir) == self.current
    }

    fn read(walk: &Walk<'_>, below: &Path, above: Above, out: &mut Groups) -> Option<CachedGroup> {
        let dir = walk.mount.join(below);
        let stat = rustix::fs::statat(CWD, &dir, AtFlags::SYMLINK_NOFOLLOW).ok();
        let mut found = FoundGroups::default();
        walk.one(&(below.to_owned(), above), &mut found);
        let group = found.groups.list.last();
        let own = found.next.first().map_or(above, |(_, above)| *above);
        let known = stat.map(|stat| CachedGroup {
            name: path_of(below.as_os_str()),
            inode: stat.st_ino,
            links: if group.is_some() { stat.st_nlink } else { 0 },
            current: group.and_then(|group| group.current),
            at_limit: group.is_some_and(|group| is_at_limit(group, walk.batch)),
            children: found.next.iter().map(|(child, _)| child.clone()).collect(),
            above: own,
        });
        join(out, found.groups);
        known
    }
}

pub(super) fn is_at_limit(group: &Group, batch: Bytes) -> bool {
    let used = group.current.unwrap_or_default();
    let limits = [group.max, group.high, group.swap_max].into_iter().flatten();
    limits.into_iter().any(|limit| matches!(limit, Limit::At(limit) if used.0.saturating_add(batch.0) >= limit.0))
}

/// The file that has what a group uses.
pub(super) const fn usage_file(version: Version) -> &'static str {
    match version {
        Version::V1 => "memory.usage_in_bytes",
        Version::V2 => "memory.current",
    }
}

/// What a group uses now.
fn usage(version: Version, dir: &Path) -> Option<Bytes> {
    let how = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NOFOLLOW | OFlags::NONBLOCK;
    let file = rustix::fs::open(dir.join(usage_file(version)), how, Mode::empty()).ok()?;
    // A number of 64 bits and the end of its line.
    let mut buffer = [0; 24];
    let count = rustix::io::read(&file, &mut buffer[..]).ok()?;
    std::str::from_utf8(buffer.get(..count)?).ok()?.trim_end().parse().ok().map(Bytes)
}

/// What all processors of a machine take of a counter at once.
pub(super) const fn batch(cpus: u64, page: u64) -> Bytes {
    Bytes(BATCH.saturating_mul(cpus).saturating_mul(page))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_group_is_read_again_where_its_memory_its_children_or_its_limit_ask_for_it() {
        let dir = tempfile::tempdir().unwrap();
        let write = |group: &str, file: &str, text: &str| {
            std::fs::create_dir_all(dir.path().join(group)).unwrap();
            std::fs::write(dir.path().join(group).join(file), text).unwrap();
        };
        write("", "memory.stat", "anon 5\n");
        for group in ["a", "a/b", "z"] {
            write(group, "memory.current", "4096\n");
            write(group, "memory.max", "max\n");
        }
        let walk = Walk::of_test(dir.path(), None);
        let mut known = GroupCache::default();
        let mut read = || {
            let mut out = Groups { complete: true, ..Groups::default() };
            let unchanged = known.look(&walk, Above::the_top(true), &mut out);
            assert!(out.complete);
            let in_order =
                |names: Vec<String>| names.into_iter().collect::<BTreeSet<_>>().into_iter().collect::<Vec<_>>();
            (in_order(out.list.iter().map(|group| group.path.clone()).collect()), in_order(unchanged))
        };
        assert_eq!(read().0, ["/", "/a", "/a/b", "/z"]);
        // The top has no size of its own.
        assert_eq!(read(), (vec!["/".into()], vec!["/a".into(), "/a/b".into(), "/z".into()]));
        write("a", "memory.current", "8192\n");
        assert_eq!(read(), (vec!["/".into(), "/a".into()], vec!["/a/b".into(), "/z".into()]));
        write("a/c", "memory.current", "4096\n");
        assert_eq!(read().0, ["/", "/a", "/a/c"]);
        std::fs::remove_dir_all(dir.path().join("a/c")).unwrap();
        std::fs::remove_dir_all(dir.path().join("a/b")).unwrap();
        let (paths, unchanged) = read();
        assert_eq!((paths, unchanged), (vec!["/".into(), "/a".into()], vec!["/z".into()]));
        write("z", "memory.max", "8192\n");
        write("z", "memory.current", "8192\n");
        assert_eq!(read().0, ["/", "/z"]);
        assert_eq!(read().0, ["/", "/z"], "at a limit the size says nothing");
    }
}
