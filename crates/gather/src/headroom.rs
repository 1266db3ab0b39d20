//! How much memory can be taken here before pages in use are evicted or a process is killed.
//!
//! An estimate: others take memory too, and a reading is as old as it is.
//!
//! ```
//! let free = ramline_gather::headroom::memory_headroom(&ramline_kernel::Root::live())?;
//! println!("{free} can be taken without pushing out more than idle cache");
//! # Ok::<(), ramline_kernel::KernelError>(())
//! ```

use ramline_kernel::cgroup::{LimitFigures, limits_of_own_group};
use ramline_kernel::limits::Limited;
use ramline_kernel::{Result, meminfo, process};

use crate::prelude::*;

/// Bytes that can be taken: the least of MemAvailable and, for our memory cgroup and each of its ancestors, its limit
/// less what is charged to it, of which inactive file cache can go. In version 2 `memory.high` limits as `memory.max`
/// does: beyond it every allocation reclaims.
///
/// # Errors
/// When /proc/meminfo cannot be read. A machine without the memory controller has only MemAvailable.
pub fn memory_headroom(root: &Root) -> Result<Bytes> {
    Ok(least(root, meminfo::available(root)?, false).bytes)
}

/// The same for this process: not more than the addresses that it may still have (`ulimit -v`).
///
/// # Errors
/// When /proc/meminfo cannot be read.
pub fn own_headroom(root: &Root) -> Result<Bytes> {
    let free = memory_headroom(root)?;
    let Some(addresses) = Limited::Addresses.now() else { return Ok(free) };
    let statm = read_text(Path::new("/proc/self/statm")).unwrap_or_default();
    let pages: u64 = statm.split_ascii_whitespace().next().and_then(|word| word.parse().ok()).unwrap_or(0);
    Ok(free.min(Bytes(addresses.saturating_sub(pages.saturating_mul(process::page_size())))))
}

/// MemTotal of /proc/meminfo.
///
/// # Errors
/// When the file cannot be read or lacks the line.
pub fn memory_total(root: &Root) -> Result<Bytes> {
    meminfo::line(root, "MemTotal")
}

/// Headroom, and what bounds it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Headroom {
    /// So much can be taken.
    pub bytes: Bytes,
    /// `the machine`, or the control group whose limit is the tightest.
    pub bound: String,
}

/// Headroom for more page cache without pushing out what is in use: as [`memory_headroom`], but of the machine only what is free or on
/// the inactive list of files, where pages are that were read once (MemAvailable also counts the active list), and everywhere less
/// what is mapped: mapped pages may be in use on either list, the kernel looks only when it reclaims.
///
/// # Errors
/// When /proc/meminfo cannot be read.
pub fn cache_headroom(root: &Root) -> Result<Headroom> {
    let text = meminfo::text(root)?;
    let line = |key: &str| meminfo::in_text(&text, key);
    let mapped = line("Mapped").unwrap_or_default();
    let idle =
        line("MemFree").zip(line("Inactive(file)")).map(|(free, inactive)| free + inactive.saturating_sub(mapped));
    let machine = match idle {
        Some(idle) => idle.min(line("MemAvailable").unwrap_or(idle)),
        None => meminfo::available(root)?,
    };
    Ok(least(root, machine, true))
}

fn least(root: &Root, machine: Bytes, spare_mapped: bool) -> Headroom {
    let machine = Headroom { bytes: machine, bound: "the machine".to_owned() };
    let groups = limits_of_own_group(root).into_iter().map(|group| Headroom {
        bytes: below(&group, spare_mapped),
        bound: format!("control group /{}", group.name.display()),
    });
    groups.fold(machine, |least, group| if group.bytes < least.bytes { group } else { least })
}

fn below(group: &LimitFigures, spare_mapped: bool) -> Bytes {
    let idle = group.inactive_file.saturating_sub(if spare_mapped { group.mapped_file } else { Bytes::ZERO });
    // A limit, and nothing said about what is used of it: a part of it is all that can be hoped for.
    group.usage.map_or(Bytes(group.limit.0 / 4), |charged| group.limit.saturating_sub(charged.saturating_sub(idle)))
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: u64 = 1 << 20;

    fn machine(mount: &str, own: &str) -> (tempfile::TempDir, Root) {
        let tree = tempfile::tempdir().unwrap();
        let put = |path: &str, text: &str| {
            let path = tree.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        put("proc/meminfo", "MemTotal: 9 kB\nMemAvailable:    8388608 kB\n");
        put("proc/self/mountinfo", mount);
        put("proc/self/cgroup", own);
        put("cg/cgroup.controllers", "memory\n");
        let root = Root::new(tree.path());
        (tree, root)
    }

    fn group(tree: &Path, name: &str, files: &[(&str, u64)], stat: &str) {
        let dir = tree.join("cg").join(name);
        std::fs::create_dir_all(&dir).unwrap();
        for (file, value) in files {
            std::fs::write(dir.join(file), format!("{value}\n")).unwrap();
        }
        std::fs::write(dir.join("memory.stat"), stat).unwrap();
    }

    #[test]
    fn the_tightest_ancestor_counts_and_its_idle_cache_can_be_taken() {
        let (tree, root) = machine("1 0 0:1 / /cg rw - cgroup2 cgroup2 rw\n", "0::/slice/own\n");
        assert_eq!(memory_headroom(&root).unwrap(), Bytes::from_gib(8));
        group(
            tree.path(),
            "slice",
            &[("memory.max", 4096 * MIB), ("memory.current", 4000 * MIB)],
            "inactive_file 104857600\n",
        );
        group(
            tree.path(),
            "slice/own",
            &[("memory.max", 2048 * MIB), ("memory.current", 512 * MIB)],
            "inactive_file 0\n",
        );
        assert_eq!(memory_headroom(&root).unwrap(), Bytes::from_mib(196));
        group(tree.path(), "slice/own", &[("memory.high", 600 * MIB)], "inactive_file 0\ninactive_file_x 9\n");
        assert_eq!(memory_headroom(&root).unwrap(), Bytes::from_mib(88));
    }

    #[test]
    fn version_1_counts_the_cache_of_the_children_too_and_its_huge_number_is_no_limit() {
        let (tree, root) = machine("1 0 0:1 / /cg rw - cgroup cgroup rw,memory\n", "4:memory:/own\n");
        group(
            tree.path(),
            "",
            &[("memory.limit_in_bytes", 9_223_372_036_854_771_712), ("memory.usage_in_bytes", 1)],
            "",
        );
        let files = [("memory.limit_in_bytes", 512 * MIB), ("memory.usage_in_bytes", 512 * MIB)];
        group(tree.path(), "own", &files, "inactive_file 0\ntotal_inactive_file 209715200\n");
        assert_eq!(memory_headroom(&root).unwrap(), Bytes::from_mib(200));
    }

    #[test]
    fn headroom_of_the_cache_leaves_out_the_active_list_and_names_what_bounds_it() {
        let (tree, root) = machine("1 0 0:1 / /cg rw - cgroup2 cgroup2 rw\n", "0::/own\n");
        let meminfo =
            "MemFree: 1024 kB\nMemAvailable: 8192 kB\nActive(file): 6144 kB\nInactive(file): 2304 kB\nMapped: 256 kB\n";
        std::fs::write(tree.path().join("proc/meminfo"), meminfo).unwrap();
        let headroom = |bytes, bound: &str| Headroom { bytes, bound: bound.to_owned() };
        assert_eq!(cache_headroom(&root).unwrap(), headroom(Bytes::from_kib(3072), "the machine"));
        group(tree.path(), "own", &[("memory.max", 2 * MIB), ("memory.current", MIB)], "inactive_file 0\n");
        assert_eq!(cache_headroom(&root).unwrap(), headroom(Bytes::from_mib(1), "control group /own"));
        group(tree.path(), "own", &[], "inactive_file 786432\nfile_mapped 524288\n");
        assert_eq!(cache_headroom(&root).unwrap(), headroom(Bytes::from_kib(1280), "control group /own"));
        assert_eq!(memory_headroom(&root).unwrap(), Bytes::from_kib(1792));
    }

    #[test]
    fn a_limit_without_a_usage_gives_a_quarter_of_itself() {
        let (tree, root) = machine("1 0 0:1 / /cg rw - cgroup2 cgroup2 rw\n", "0::/own\n");
        group(tree.path(), "own", &[("memory.max", 400 * MIB)], "");
        assert_eq!(memory_headroom(&root).unwrap(), Bytes::from_mib(100));
    }
}
