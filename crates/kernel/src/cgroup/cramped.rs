//! Which groups could not take their swapped pages back: a swapoff reads them in on the charge of their group, and in one at its
//! limit the kernel then kills a process, or gives up with ENOMEM, or (Linux 6.18) both.
//!
//! An estimate: which area a group's pages are in is not known, groups go on while they are looked at, and pages of groups that
//! are gone are charged to the process that switches the area off. Only groups below the mount are seen, and none where the
//! kernel does not account swap to groups. Before Linux 5.12 pages that are in memory as well count as swapped.

use super::hierarchy::Hierarchy;
use super::path::{Version, groups_in};
use super::stat::{Table, table};
use super::v1::UNLIMITED_FROM;
use crate::prelude::*;

/// With less than this left of its allowance of swap a group is taken to swap nothing more.
const HEADROOM: Bytes = Bytes::from_mib(1);
const MEMSW: &str = "memory.memsw.limit_in_bytes";

/// A group with a limit, and what is below it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cramped {
    /// Its directory.
    pub dir: PathBuf,
    /// What it would have to take back.
    pub back: Bytes,
    /// What it can take: below its limit when all its files are given up, and what it could swap to other areas.
    pub room: Bytes,
    /// The limit that is in the way.
    pub limit: Bytes,
    /// How large that would have to be.
    pub needs: Bytes,
    /// The files of the limit, in the order in which they are raised.
    pub files: &'static [&'static str],
}

/// The first group found that could not take back what it has swapped out, of which the area that goes holds at most `used`;
/// other areas have `elsewhere` free, for all groups together. `None` also where no memory controller is, and for what cannot be read.
#[must_use]
pub fn cramped(root: &Root, used: Bytes, elsewhere: Bytes) -> Option<Cramped> {
    let hierarchy = Hierarchy::detect(root).ok()?;
    let swaps = read_u64(&root.path("proc/sys/vm/swappiness")).ok() != Some(0);
    let top = hierarchy.mount.as_path();
    Look { version: hierarchy.version(), top, used, swaps }.below(top, Bytes(u64::MAX), elsewhere).err()
}

/// Through all groups.
struct Look<'a> {
    version: Version,
    top: &'a Path,
    used: Bytes,
    /// Groups of version 2 swap at all.
    swaps: bool,
}

impl Look<'_> {
    /// A group and all below it, of which what is above may swap so much more: what they would take of `elsewhere`.
    fn below(&self, dir: &Path, above: Bytes, elsewhere: Bytes) -> Result<Bytes, Cramped> {
        // A group that gives no figures, as the root of version 2, may have children that do.
        let seen = self.look(dir);
        let allowance = seen.as_ref().map_or(above, |seen| seen.allowance.min(above));
        let mut own = Bytes::ZERO;
        if let Some(seen) = seen {
            // What the top says is an estimate; what a group says has its children in it only in a hierarchy.
            if seen.swapped == Bytes::ZERO && dir != self.top && seen.whole {
                return Ok(Bytes::ZERO);
            }
            let room = if allowance < HEADROOM || !seen.swaps { seen.spare } else { seen.spare + elsewhere };
            let back = seen.swapped.saturating_sub(seen.cached).min(self.used);
            if back > room {
                return Err(seen.cramped(dir, self.version, back, room));
            }
            own = back.saturating_sub(seen.spare);
        }
        let mut all = Bytes::ZERO;
        for group in groups_in(dir) {
            // No more than the area holds goes elsewhere.
            let left = if self.used <= elsewhere { elsewhere } else { elsewhere.saturating_sub(all) };
            all += self.below(&group, allowance, left)?;
        }
        Ok(own.max(all).min(self.used))
    }

    /// `None` when what is swapped is not known.
    fn look(&self, dir: &Path) -> Option<Seen> {
        let stat = table(&read_text(&dir.join("memory.stat")).ok()?);
        let number = |file: &str| read_u64(&dir.join(file)).ok().map(Bytes);
        let limit = |file: &str| number(file).filter(|at| at.0 < UNLIMITED_FROM).unwrap_or(Bytes(u64::MAX));
        Some(match self.version {
            // A page that is read back leaves the count of swap at once. The difference of the two counters is exact, the line of
            // memory.stat may be late.
            Version::V1 => {
                let (usage, most) = (number("memory.usage_in_bytes")?, limit("memory.limit_in_bytes"));
                let (memsw, together) = (number("memory.memsw.usage_in_bytes")?, limit(MEMSW));
                let files = sum(&stat, &["total_inactive_file", "total_active_file"]);
                let allowance = together.saturating_sub(memsw) + files;
                // Memory and swap together are charged first: with nothing left of them, only files make room.
                let full = (allowance < HEADROOM).then_some(together);
                let free = if full.is_some() { Bytes::ZERO } else { most.saturating_sub(usage) };
                Seen {
                    swapped: memsw.saturating_sub(usage),
                    cached: Bytes::ZERO,
                    spare: free + files,
                    limit: most,
                    full,
                    allowance,
                    swaps: number("memory.swappiness") != Some(Bytes::ZERO),
                    whole: number("memory.use_hierarchy") != Some(Bytes::ZERO),
                }
            }
            // Above memory.high a process waits and is not killed. Pages of zswap give up their compressed copies as they come back.
            Version::V2 => {
                let (swapped, most) = (number("memory.swap.current")?, limit("memory.max"));
                let files = sum(&stat, &["inactive_file", "active_file", "zswap"]);
                Seen {
                    swapped,
                    cached: sum(&stat, &["swapcached"]),
                    spare: most.saturating_sub(number("memory.current")?.saturating_sub(files)),
                    limit: most,
                    full: None,
                    allowance: limit("memory.swap.max").saturating_sub(swapped),
                    swaps: self.swaps,
                    whole: true,
                }
            }
        })
    }
}

/// Figures of a group with those of its children.
struct Seen {
    /// Its pages that have a place in swap.
    swapped: Bytes,
    /// Those that are in memory as well, and charged there.
    cached: Bytes,
    /// Room below the limit when what reclaim takes first is given up: files. That of slab it takes is not counted on.
    spare: Bytes,
    limit: Bytes,
    /// The limit of memory and swap together, where nothing is left of it.
    full: Option<Bytes>,
    /// How much more it may swap.
    allowance: Bytes,
    /// With a swappiness of 0 its reclaim takes files alone.
    swaps: bool,
    /// Its children are in these figures.
    whole: bool,
}

impl Seen {
    fn cramped(&self, dir: &Path, version: Version, back: Bytes, room: Bytes) -> Cramped {
        let more = back.saturating_sub(room);
        let by_memory = self.limit + more;
        let (limit, needs, files): (_, _, &[&str]) = match (version, self.full) {
            (Version::V1, Some(together)) => (together, together + HEADROOM.max(more), &[MEMSW]),
            (Version::V1, None) => (self.limit, by_memory, &[MEMSW, "memory.limit_in_bytes"]),
            (Version::V2, _) => (self.limit, by_memory, &["memory.max"]),
        };
        Cramped { dir: dir.to_owned(), back, room, limit, needs, files }
    }
}

fn sum(stat: &Table, keys: &[&str]) -> Bytes {
    keys.iter().filter_map(|key| stat.get(*key)).fold(Bytes::ZERO, |all, one| all + Bytes(*one))
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: u64 = 1 << 20;

    fn machine(version: Version) -> (tempfile::TempDir, Root) {
        let tree = tempfile::tempdir().unwrap();
        let put = |path: &str, text: &str| {
            let path = tree.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        let (mount, own) = match version {
            Version::V1 => ("cgroup cgroup rw,memory", "4:memory:/\n"),
            Version::V2 => ("cgroup2 cgroup2 rw", "0::/\n"),
        };
        put("proc/self/mountinfo", &format!("1 0 0:1 / /cg rw - {mount}\n"));
        put("proc/self/cgroup", own);
        put("cg/cgroup.controllers", "memory\n");
        let root = Root::new(tree.path());
        (tree, root)
    }

    /// Numbers in MiB.
    fn group(tree: &tempfile::TempDir, name: &str, numbers: &[(&str, u64)], stat: &[(&str, u64)]) -> PathBuf {
        let dir = tree.path().join("cg").join(name);
        std::fs::create_dir_all(&dir).unwrap();
        for (file, mib) in numbers {
            std::fs::write(dir.join(file), format!("{}\n", mib * MIB)).unwrap();
        }
        let lines: String = stat.iter().map(|(key, mib)| format!("{key} {}\n", mib * MIB)).collect();
        std::fs::write(dir.join("memory.stat"), lines).unwrap();
        dir
    }

    fn v2(limit: u64, current: u64, swapped: u64) -> [(&'static str, u64); 3] {
        [("memory.max", limit), ("memory.current", current), ("memory.swap.current", swapped)]
    }

    const NO_OTHER: Bytes = Bytes::ZERO;
    const ALL: Bytes = Bytes::from_gib(1);

    #[test]
    fn what_a_group_has_swapped_must_fit_below_its_limit_when_its_files_are_given_up() {
        let (tree, root) = machine(Version::V2);
        assert_eq!(cramped(&root, ALL, NO_OTHER), None);
        group(&tree, "", &[], &[("anon", 1)]);
        group(&tree, "wide", &[("memory.current", 40), ("memory.swap.current", 500)], &[]);
        std::fs::write(tree.path().join("cg/wide/memory.max"), "max\n").unwrap();
        group(&tree, "slice", &[("memory.current", 90), ("memory.swap.current", 60)], &[]);
        group(&tree, "idle", &v2(48, 48, 0), &[]);
        let tight = group(&tree, "slice/tight", &v2(48, 48, 30), &[("inactive_file", 2), ("active_file", 1)]);
        let found = cramped(&root, ALL, NO_OTHER).unwrap();
        assert_eq!((found.dir, found.limit, found.files), (tight, Bytes::from_mib(48), &["memory.max"][..]));
        assert_eq!((found.back, found.room), (Bytes::from_mib(30), Bytes::from_mib(3)));
        // Of an area that holds no more than this all of it can go back.
        assert_eq!(cramped(&root, Bytes::from_mib(3), NO_OTHER), None);
        assert!(cramped(&root, Bytes(3 * MIB + 1), NO_OTHER).is_some());
        // What is in memory as well needs no room of its own, and compressed copies go as pages come.
        group(&tree, "slice/tight", &v2(48, 48, 30), &[("inactive_file", 6), ("swapcached", 22), ("zswap", 2)]);
        assert_eq!(cramped(&root, ALL, NO_OTHER), None);
        group(&tree, "slice/tight", &v2(48, 48, 30), &[("inactive_file", 6), ("swapcached", 22), ("zswap", 1)]);
        assert!(cramped(&root, ALL, NO_OTHER).is_some());
    }

    #[test]
    fn other_areas_are_room_only_for_a_group_that_may_swap_more() {
        let (tree, root) = machine(Version::V2);
        group(&tree, "slice", &[("memory.current", 48), ("memory.swap.current", 30)], &[]);
        group(&tree, "slice/tight", &v2(48, 48, 30), &[("inactive_file", 3)]);
        assert_eq!(cramped(&root, ALL, Bytes::from_mib(27)), None);
        assert_eq!(cramped(&root, ALL, Bytes::from_mib(26)).unwrap().room, Bytes::from_mib(29));
        let swappiness = tree.path().join("proc/sys/vm/swappiness");
        std::fs::create_dir_all(swappiness.parent().unwrap()).unwrap();
        std::fs::write(&swappiness, "0\n").unwrap();
        assert_eq!(cramped(&root, ALL, ALL).unwrap().room, Bytes::from_mib(3), "nobody swaps");
        std::fs::write(&swappiness, "1\n").unwrap();
        for at in ["slice/tight", "slice"] {
            let most = tree.path().join("cg").join(at).join("memory.swap.max");
            std::fs::write(&most, (31 * MIB).to_string()).unwrap();
            assert_eq!(cramped(&root, ALL, ALL), None, "{at}");
            std::fs::write(&most, (31 * MIB - 1).to_string()).unwrap();
            assert_eq!(cramped(&root, ALL, ALL).unwrap().room, Bytes::from_mib(3), "{at}");
            std::fs::remove_file(&most).unwrap();
        }
    }

    #[test]
    fn other_areas_are_room_for_all_groups_together() {
        let (tree, root) = machine(Version::V2);
        for name in ["a", "b", "b/in"] {
            group(&tree, name, &v2(48, 48, 30), &[("inactive_file", 3)]);
        }
        let mib = Bytes::from_mib;
        assert_eq!(cramped(&root, mib(60), mib(54)), None, "what is below a group is in its figures");
        let found = cramped(&root, mib(60), mib(53)).unwrap();
        assert_eq!((found.back, found.room), (mib(30), mib(29)));
        // The area holds no more than others have room for.
        assert_eq!(cramped(&root, mib(28), mib(28)), None);
    }

    #[test]
    fn version_1_counts_a_page_that_was_read_back_as_swapped_no_more() {
        let (tree, root) = machine(Version::V1);
        let numbers = |limit: u64, memsw: u64| {
            [
                ("memory.limit_in_bytes", limit),
                ("memory.usage_in_bytes", 48),
                ("memory.memsw.usage_in_bytes", 56),
                ("memory.memsw.limit_in_bytes", memsw),
            ]
        };
        let stat = [("swap", 0), ("inactive_file", 90), ("total_swapcached", 20), ("total_inactive_file", 1)];
        let unlimited = UNLIMITED_FROM / MIB;
        group(&tree, "", &numbers(unlimited, unlimited), &stat);
        let dir = group(&tree, "docker", &numbers(48, unlimited), &stat);
        let found = cramped(&root, ALL, NO_OTHER).unwrap();
        assert_eq!((found.dir, found.back, found.room), (dir, Bytes::from_mib(8), Bytes::from_mib(1)));
        assert_eq!(found.files, ["memory.memsw.limit_in_bytes", "memory.limit_in_bytes"]);
        group(&tree, "docker", &numbers(55, unlimited), &stat);
        assert_eq!(cramped(&root, ALL, NO_OTHER), None);
        // Nothing left of memory and swap together, though the limit of memory is far.
        group(&tree, "docker", &numbers(55, 56), &[]);
        let found = cramped(&root, ALL, ALL).unwrap();
        assert_eq!((found.room, found.limit, found.needs), (Bytes::ZERO, Bytes::from_mib(56), Bytes::from_mib(64)));
        assert_eq!(found.files, ["memory.memsw.limit_in_bytes"]);
        group(&tree, "docker", &numbers(55, 57), &stat);
        assert_eq!(cramped(&root, ALL, NO_OTHER), None);
        // A group that swaps nothing puts nothing elsewhere.
        let dir = group(&tree, "docker", &numbers(48, unlimited), &stat);
        assert_eq!(cramped(&root, ALL, ALL), None);
        std::fs::write(dir.join("memory.swappiness"), "0\n").unwrap();
        assert_eq!(cramped(&root, ALL, ALL).unwrap().room, Bytes::from_mib(1));
        // Without a hierarchy a group does not tell of those below it.
        let put = |at: &str, whole: u64| {
            let same =
                [("memory.usage_in_bytes", 48), ("memory.memsw.usage_in_bytes", 48), ("memory.use_hierarchy", whole)];
            group(&tree, at, &same, &[]);
        };
        put("docker", 1);
        group(&tree, "docker/x", &numbers(48, unlimited), &stat);
        assert_eq!(cramped(&root, ALL, NO_OTHER), None);
        put("docker", 0);
        assert!(cramped(&root, ALL, NO_OTHER).is_some());
        // Nobody tells.
        std::fs::remove_file(tree.path().join("cg/docker/x/memory.memsw.usage_in_bytes")).unwrap();
        assert_eq!(cramped(&root, ALL, NO_OTHER), None);
    }
}
