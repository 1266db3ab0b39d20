//! Groups that could not take their swapped pages back: a swapoff reads them in on the charge of their group, and in one at its
//! limit the kernel then kills a process, or gives up with ENOMEM, or (Linux 6.18) both.
//!
//! An estimate: which area a group's pages are in is not known, groups go on while they are read, and pages of groups that
//! are gone are charged to the process that switches the area off. Only groups below the mount are seen, and none where the
//! kernel does not account swap to groups. Before Linux 5.12 pages that are in memory as well count as swapped.

use std::path::{Path, PathBuf};

use ramline_kernel::cgroup::{Hierarchy, SwapFigures, Version, groups_in};
use ramline_kernel::{Root, swap};
use ramline_units::Bytes;

/// With less than this left of its allowance of swap a group is taken to swap nothing more.
const HEADROOM: Bytes = Bytes::from_mib(1);
const MEMSW: &str = "memory.memsw.limit_in_bytes";

/// A group with a limit below which its swapped pages have no place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TooSmallGroup {
    /// Its directory.
    pub dir: PathBuf,
    /// What it would have to take back.
    pub swapped: Bytes,
    /// What it can take: below its limit when all its files are given up, and what it could swap to other areas.
    pub free: Bytes,
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
pub fn too_small_group(root: &Root, used: Bytes, elsewhere: Bytes) -> Option<TooSmallGroup> {
    let hierarchy = Hierarchy::detect(root).ok()?;
    let swaps = swap::swappiness(root) != Some(0);
    let top = hierarchy.mount.as_path();
    Walk { version: hierarchy.version(), top, used, swaps }.below(top, Bytes(u64::MAX), elsewhere).err()
}

/// Through all groups.
struct Walk<'a> {
    version: Version,
    top: &'a Path,
    used: Bytes,
    /// Groups of version 2 swap at all.
    swaps: bool,
}

impl Walk<'_> {
    /// A group and all below it, of which what is above may swap so much more: what they would take of `elsewhere`.
    fn below(&self, dir: &Path, above: Bytes, elsewhere: Bytes) -> Result<Bytes, TooSmallGroup> {
        // A group that gives no figures, as the root of version 2, may have children that do.
        let group = SwapFigures::read(dir, self.version).map(|figures| Capacity::new(&figures, self.swaps));
        let allowance = group.as_ref().map_or(above, |group| group.allowance.min(above));
        let mut own = Bytes::ZERO;
        if let Some(group) = group {
            // What the top says is an estimate; what a group says has its children in it only in a hierarchy.
            if group.swapped == Bytes::ZERO && dir != self.top && group.with_children {
                return Ok(Bytes::ZERO);
            }
            let free = if allowance < HEADROOM || !group.swaps { group.spare } else { group.spare + elsewhere };
            let swapped = group.swapped.saturating_sub(group.cached).min(self.used);
            if swapped > free {
                return Err(group.too_small(dir, self.version, swapped, free));
            }
            own = swapped.saturating_sub(group.spare);
        }
        let mut all = Bytes::ZERO;
        for group in groups_in(dir) {
            // No more than the area holds goes elsewhere.
            let left = if self.used <= elsewhere { elsewhere } else { elsewhere.saturating_sub(all) };
            all += self.below(&group, allowance, left)?;
        }
        Ok(own.max(all).min(self.used))
    }
}

/// What a group with its children could take back.
struct Capacity {
    swapped: Bytes,
    /// Pages that are in memory as well, and charged there.
    cached: Bytes,
    /// Free below the limit when what reclaim takes first is given up: files. That of slab it takes is not counted on.
    spare: Bytes,
    limit: Bytes,
    /// The limit of memory and swap together, where nothing is left of it.
    full: Option<Bytes>,
    /// How much more it may swap.
    allowance: Bytes,
    /// With a swappiness of 0 its reclaim takes files alone.
    swaps: bool,
    with_children: bool,
}

impl Capacity {
    fn new(figures: &SwapFigures, machine_swaps: bool) -> Capacity {
        let SwapFigures { swapped, cached, usage, limit, files, with_children, .. } = *figures;
        // Memory and swap together are charged first: with nothing left of them, only files make room.
        let allowance = figures.swap_left + if figures.memsw_limit.is_some() { files } else { Bytes::ZERO };
        let full = figures.memsw_limit.filter(|_| allowance < HEADROOM);
        // Above memory.high a process waits and is not killed.
        let spare = match (figures.memsw_limit, full) {
            (Some(_), Some(_)) => files,
            (Some(_), None) => limit.saturating_sub(usage) + files,
            (None, _) => limit.saturating_sub(usage.saturating_sub(files)),
        };
        let swaps = figures.swaps.unwrap_or(machine_swaps);
        Capacity { swapped, cached, spare, limit, full, allowance, swaps, with_children }
    }

    fn too_small(&self, dir: &Path, version: Version, swapped: Bytes, free: Bytes) -> TooSmallGroup {
        let more = swapped.saturating_sub(free);
        let by_memory = self.limit + more;
        let (limit, needs, files): (_, _, &[&str]) = match (version, self.full) {
            (Version::V1, Some(together)) => (together, together + HEADROOM.max(more), &[MEMSW]),
            (Version::V1, None) => (self.limit, by_memory, &[MEMSW, "memory.limit_in_bytes"]),
            (Version::V2, _) => (self.limit, by_memory, &["memory.max"]),
        };
        TooSmallGroup { dir: dir.to_owned(), swapped, free, limit, needs, files }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: u64 = 1 << 20;
    /// A limit of version 1 that is none (PAGE_COUNTER_MAX).
    const UNLIMITED: u64 = 0x7fff_ffff_ffff_f000;

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
        assert_eq!(too_small_group(&root, ALL, NO_OTHER), None);
        group(&tree, "", &[], &[("anon", 1)]);
        group(&tree, "wide", &[("memory.current", 40), ("memory.swap.current", 500)], &[]);
        std::fs::write(tree.path().join("cg/wide/memory.max"), "max\n").unwrap();
        group(&tree, "slice", &[("memory.current", 90), ("memory.swap.current", 60)], &[]);
        group(&tree, "idle", &v2(48, 48, 0), &[]);
        let tight = group(&tree, "slice/tight", &v2(48, 48, 30), &[("inactive_file", 2), ("active_file", 1)]);
        let found = too_small_group(&root, ALL, NO_OTHER).unwrap();
        assert_eq!((found.dir, found.limit, found.files), (tight, Bytes::from_mib(48), &["memory.max"][..]));
        assert_eq!((found.swapped, found.free), (Bytes::from_mib(30), Bytes::from_mib(3)));
        // Of an area that holds no more than this all of it can go back.
        assert_eq!(too_small_group(&root, Bytes::from_mib(3), NO_OTHER), None);
        assert!(too_small_group(&root, Bytes(3 * MIB + 1), NO_OTHER).is_some());
        // What is in memory as well needs no room of its own, and compressed copies go as pages come.
        group(&tree, "slice/tight", &v2(48, 48, 30), &[("inactive_file", 6), ("swapcached", 22), ("zswap", 2)]);
        assert_eq!(too_small_group(&root, ALL, NO_OTHER), None);
        group(&tree, "slice/tight", &v2(48, 48, 30), &[("inactive_file", 6), ("swapcached", 22), ("zswap", 1)]);
        assert!(too_small_group(&root, ALL, NO_OTHER).is_some());
    }

    #[test]
    fn other_areas_are_room_only_for_a_group_that_may_swap_more() {
        let (tree, root) = machine(Version::V2);
        group(&tree, "slice", &[("memory.current", 48), ("memory.swap.current", 30)], &[]);
        group(&tree, "slice/tight", &v2(48, 48, 30), &[("inactive_file", 3)]);
        assert_eq!(too_small_group(&root, ALL, Bytes::from_mib(27)), None);
        assert_eq!(too_small_group(&root, ALL, Bytes::from_mib(26)).unwrap().free, Bytes::from_mib(29));
        let swappiness = tree.path().join("proc/sys/vm/swappiness");
        std::fs::create_dir_all(swappiness.parent().unwrap()).unwrap();
        std::fs::write(&swappiness, "0\n").unwrap();
        assert_eq!(too_small_group(&root, ALL, ALL).unwrap().free, Bytes::from_mib(3), "nobody swaps");
        std::fs::write(&swappiness, "1\n").unwrap();
        for at in ["slice/tight", "slice"] {
            let most = tree.path().join("cg").join(at).join("memory.swap.max");
            std::fs::write(&most, (31 * MIB).to_string()).unwrap();
            assert_eq!(too_small_group(&root, ALL, ALL), None, "{at}");
            std::fs::write(&most, (31 * MIB - 1).to_string()).unwrap();
            assert_eq!(too_small_group(&root, ALL, ALL).unwrap().free, Bytes::from_mib(3), "{at}");
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
        assert_eq!(too_small_group(&root, mib(60), mib(54)), None, "what is below a group is in its figures");
        let found = too_small_group(&root, mib(60), mib(53)).unwrap();
        assert_eq!((found.swapped, found.free), (mib(30), mib(29)));
        // The area holds no more than others have room for.
        assert_eq!(too_small_group(&root, mib(28), mib(28)), None);
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
        let unlimited = UNLIMITED / MIB;
        group(&tree, "", &numbers(unlimited, unlimited), &stat);
        let dir = group(&tree, "docker", &numbers(48, unlimited), &stat);
        let found = too_small_group(&root, ALL, NO_OTHER).unwrap();
        assert_eq!((found.dir, found.swapped, found.free), (dir, Bytes::from_mib(8), Bytes::from_mib(1)));
        assert_eq!(found.files, ["memory.memsw.limit_in_bytes", "memory.limit_in_bytes"]);
        group(&tree, "docker", &numbers(55, unlimited), &stat);
        assert_eq!(too_small_group(&root, ALL, NO_OTHER), None);
        // Nothing left of memory and swap together, though the limit of memory is far.
        group(&tree, "docker", &numbers(55, 56), &[]);
        let found = too_small_group(&root, ALL, ALL).unwrap();
        assert_eq!((found.free, found.limit, found.needs), (Bytes::ZERO, Bytes::from_mib(56), Bytes::from_mib(64)));
        assert_eq!(found.files, ["memory.memsw.limit_in_bytes"]);
        group(&tree, "docker", &numbers(55, 57), &stat);
        assert_eq!(too_small_group(&root, ALL, NO_OTHER), None);
        // A group that swaps nothing puts nothing elsewhere.
        let dir = group(&tree, "docker", &numbers(48, unlimited), &stat);
        assert_eq!(too_small_group(&root, ALL, ALL), None);
        std::fs::write(dir.join("memory.swappiness"), "0\n").unwrap();
        assert_eq!(too_small_group(&root, ALL, ALL).unwrap().free, Bytes::from_mib(1));
        // Without a hierarchy a group does not tell of those below it.
        let put = |at: &str, whole: u64| {
            let same =
                [("memory.usage_in_bytes", 48), ("memory.memsw.usage_in_bytes", 48), ("memory.use_hierarchy", whole)];
            group(&tree, at, &same, &[]);
        };
        put("docker", 1);
        group(&tree, "docker/x", &numbers(48, unlimited), &stat);
        assert_eq!(too_small_group(&root, ALL, NO_OTHER), None);
        put("docker", 0);
        assert!(too_small_group(&root, ALL, NO_OTHER).is_some());
        // Nobody tells.
        std::fs::remove_file(tree.path().join("cg/docker/x/memory.memsw.usage_in_bytes")).unwrap();
        assert_eq!(too_small_group(&root, ALL, NO_OTHER), None);
    }
}
