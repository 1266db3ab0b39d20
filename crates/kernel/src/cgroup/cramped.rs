//! Which groups could not take their swapped pages back: a swapoff reads them in on the charge of their group, and in one at its
//! limit the kernel then kills a process, or gives up with ENOMEM, or (Linux 6.18) both.
//!
//! What it is not: exact. Which area a group's pages are in nobody can tell, and groups go on while they are looked at.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use ramline_units::Bytes;

use super::hierarchy::{Hierarchy, Version};
use super::v1::UNLIMITED_FROM;
use crate::Root;
use crate::sys::{read_text, read_u64};

/// A group with a limit, and what is below it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cramped {
    /// Its directory.
    pub dir: PathBuf,
    /// What of it is swapped out, and not in memory as well.
    pub swapped: Bytes,
    /// What it can take below its limit, when all its files are given up.
    pub room: Bytes,
    /// The file that holds the limit.
    pub limit: PathBuf,
}

/// The first group found that could not take back what it has swapped out, of which an area holds at most `at_most`. `None` also
/// where no memory controller is, and for what cannot be read.
#[must_use]
pub fn cramped(root: &Root, at_most: Bytes) -> Option<Cramped> {
    let hierarchy = Hierarchy::detect(root).ok()?;
    let mut left = vec![hierarchy.mount_point().to_owned()];
    while let Some(dir) = left.pop() {
        match look(&dir, hierarchy.version()) {
            // The group that gives no figures, as the root of version 2, may have children that do.
            Some(seen) if seen.swapped == Bytes::ZERO => continue,
            Some(seen) if seen.swapped.min(at_most) > seen.room => return Some(seen),
            _ => {}
        }
        let entries = std::fs::read_dir(&dir).into_iter().flatten().flatten();
        left.extend(
            entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir())).map(|entry| entry.path()),
        );
    }
    None
}

/// Figures with those of the children; `None` when what is swapped is not told.
fn look(dir: &Path, version: Version) -> Option<Cramped> {
    let stat = read_text(&dir.join("memory.stat")).ok()?;
    let stat: HashMap<&str, &str> = stat.lines().filter_map(|line| line.split_once(' ')).collect();
    let of = |key: &str| stat.get(key).and_then(|value| value.trim().parse().ok()).map(Bytes);
    let sum = |keys: [&str; 2]| keys.iter().filter_map(|key| of(key)).fold(Bytes::ZERO, |all, one| all + one);
    let (limit, usage, swapped, cached, files) = match version {
        Version::V1 => (
            "memory.limit_in_bytes",
            "memory.usage_in_bytes",
            of("total_swap")?,
            "total_swapcached",
            sum(["total_inactive_file", "total_active_file"]),
        ),
        Version::V2 => (
            // Above memory.high one waits, and nobody is killed.
            "memory.max",
            "memory.current",
            read_u64(&dir.join("memory.swap.current")).ok().map(Bytes)?,
            "swapcached",
            sum(["inactive_file", "active_file"]),
        ),
    };
    let swapped = swapped - of(cached).unwrap_or_default();
    let limit = dir.join(limit);
    let most = read_u64(&limit).ok().filter(|at| *at < UNLIMITED_FROM);
    let used = read_u64(&dir.join(usage)).map(Bytes).unwrap_or_default();
    let room = most.map_or(Bytes(u64::MAX), |most| Bytes(most) - (used - files));
    Some(Cramped { dir: dir.to_owned(), swapped, room, limit })
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

    fn group(tree: &tempfile::TempDir, name: &str, files: &[(&str, String)]) -> PathBuf {
        let dir = tree.path().join("cg").join(name);
        std::fs::create_dir_all(&dir).unwrap();
        for (file, text) in files {
            std::fs::write(dir.join(file), text).unwrap();
        }
        dir
    }

    fn v2(limit: &str, used: u64, swapped: u64, stat: &str) -> Vec<(&'static str, String)> {
        vec![
            ("memory.max", format!("{limit}\n")),
            ("memory.current", format!("{}\n", used * MIB)),
            ("memory.swap.current", format!("{}\n", swapped * MIB)),
            ("memory.stat", stat.to_owned()),
        ]
    }

    #[test]
    fn what_a_group_has_swapped_must_fit_below_its_limit_when_its_files_are_given_up() {
        let (tree, root) = machine(Version::V2);
        assert_eq!(cramped(&root, Bytes(u64::MAX)), None);
        let limit = (48 * MIB).to_string();
        group(&tree, "", &[("memory.stat", "anon 1\n".to_owned())]);
        group(&tree, "wide", &v2("max", 40, 500, "anon 1\n"));
        group(&tree, "slice", &v2("max", 90, 60, "anon 1\n"));
        group(&tree, "idle", &v2(&limit, 48, 0, "anon 1\n"));
        let tight = group(&tree, "slice/tight", &v2(&limit, 48, 30, "inactive_file 2097152\nactive_file 1048576\n"));
        let found = cramped(&root, Bytes(u64::MAX)).unwrap();
        assert_eq!((found.dir, found.limit), (tight.clone(), tight.join("memory.max")));
        assert_eq!((found.swapped, found.room), (Bytes::from_mib(30), Bytes::from_mib(3)));
        // Of an area that holds no more than this all of it can go back.
        assert_eq!(cramped(&root, Bytes::from_mib(3)), None);
        assert!(cramped(&root, Bytes(3 * MIB + 1)).is_some());
        // What is in memory as well needs no room of its own.
        group(&tree, "slice/tight", &v2(&limit, 48, 30, "inactive_file 8388608\nswapcached 23068672\n"));
        assert_eq!(cramped(&root, Bytes(u64::MAX)), None);
    }

    #[test]
    fn version_1_counts_its_children_under_names_of_their_own_and_knows_a_limit_that_is_none() {
        let (tree, root) = machine(Version::V1);
        let files = |limit: u64| {
            vec![
                ("memory.limit_in_bytes", limit.to_string()),
                ("memory.usage_in_bytes", (48 * MIB).to_string()),
                (
                    "memory.stat",
                    "swap 0\ninactive_file 99999999\ntotal_swap 8388608\ntotal_inactive_file 4096\n".to_owned(),
                ),
            ]
        };
        group(&tree, "", &files(9_223_372_036_854_771_712));
        let dir = group(&tree, "docker", &files(48 * MIB));
        let found = cramped(&root, Bytes::from_gib(1)).unwrap();
        assert_eq!((found.dir, found.swapped, found.room), (dir, Bytes::from_mib(8), Bytes(4096)));
        group(&tree, "docker", &files(60 * MIB));
        assert_eq!(cramped(&root, Bytes::from_gib(1)), None);
    }
}
