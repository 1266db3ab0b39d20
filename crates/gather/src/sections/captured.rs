//! The machine of a captured tree without `meta.json`: the release of its kernel, and the page size by its own numbers.

use ramline_snapshot::machine::Machine;
use ramline_snapshot::page_size::derived;
use ramline_snapshot::vmstat::Vmstat;
use ramline_snapshot::zoneinfo::Zoneinfo;

use crate::prelude::*;

/// Processes whose sizes are compared; each of them tells by itself.
const PROCESSES: usize = 64;

/// A small file of the tree.
const LARGEST: u64 = 4 << 20;

/// The machine, as far as the files of the tree show it.
pub fn machine(root: &Root) -> Machine {
    let vmstat = text(root, "/proc/vmstat").and_then(|text| Vmstat::parse("", &text).ok());
    let zoneinfo = text(root, "/proc/zoneinfo").and_then(|text| Zoneinfo::parse("", &text).ok());
    let meminfo = text(root, "/proc/meminfo").and_then(|text| Meminfo::parse("", &text).ok());
    let known = derived(meminfo.as_ref(), vmstat.as_ref(), zoneinfo.as_ref(), &processes(root));
    let default = Machine::default();
    let pages_seen = vmstat.is_some() || zoneinfo.is_some();
    let assumed = || {
        Unseen::new(
            "/meta.json",
            format!("not there, and no file tells the page size: {} assumed", Bytes(default.page_size.0)),
        )
    };
    Machine {
        kernel: release(root).unwrap_or_default(),
        unseen: (known.is_none() && pages_seen).then(assumed),
        page_size: known.unwrap_or(default.page_size),
        nodes: super::nodes::nodes(&|dir| names(root, dir), &|path| text(root, path)),
        copied: true,
        ..Machine::default()
    }
}

/// `Linux version 6.1.0-13-amd64 (...)`, or the release alone.
fn release(root: &Root) -> Option<String> {
    let version = text(root, "/proc/version").and_then(|text| text.split(' ').nth(2).map(str::to_owned));
    version.or_else(|| text(root, "/proc/sys/kernel/osrelease").map(|text| text.trim().to_owned()))
}

/// Sizes of processes in KiB (`status`) and in pages (`statm`).
fn processes(root: &Root) -> Vec<(Bytes, u64)> {
    let entries = fs::read_dir(root.path("/proc")).into_iter().flatten().flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok()).take(PROCESSES);
    let sizes = |pid: u32| {
        let statm = text(root, &format!("/proc/{pid}/statm"))?;
        let status = text(root, &format!("/proc/{pid}/status"))?;
        let kib = status.lines().find_map(|line| line.strip_prefix("VmSize:"))?.trim().strip_suffix("kB")?;
        Some((Bytes::from_kib(kib.trim().parse().ok()?), statm.split(' ').next()?.parse().ok()?))
    };
    pids.filter_map(sizes).collect()
}

fn names(root: &Root, dir: &str) -> Vec<String> {
    let entries = fs::read_dir(root.path(dir)).into_iter().flatten().flatten();
    entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
}

/// A regular file of moderate size: a tree may hold anything.
fn text(root: &Root, path: &str) -> Option<String> {
    let full = root.path(path);
    let meta = fs::symlink_metadata(&full).ok()?;
    (meta.is_file() && meta.len() <= LARGEST)
        .then(|| fs::read(&full).ok())
        .flatten()
        .map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use ramline_units::PageSize;

    use super::*;

    #[test]
    fn a_tree_without_meta_file_tells_its_page_size_and_kernel_or_that_it_is_assumed() {
        let dir = tempfile::tempdir().unwrap();
        let root = Root::new(dir.path());
        let write = |path: &str, text: &str| {
            let path = dir.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        assert_eq!(machine(&root).unseen, None, "nothing in pages");
        write("proc/version", "Linux version 4.18.0-80.el8.aarch64 (x@y) #1\n");
        write("proc/vmstat", "nr_free_pages 14293\n");
        let seen = machine(&root);
        assert!(seen.unseen.unwrap().reason.contains("4.0 KiB assumed") && seen.kernel == "4.18.0-80.el8.aarch64");
        write("proc/7/statm", "2048 100 1 1 0 1 0\n");
        write("proc/7/status", "Name:\tx\nVmSize:\t   32768 kB\n");
        assert_eq!(machine(&root).page_size, PageSize(16_384), "by a process");
        write("proc/7/statm", "0 0 0 0 0 0 0\n");
        write("proc/meminfo", "MemTotal: 4160000 kB\nMemFree: 914752 kB\n");
        let seen = machine(&root);
        assert_eq!((seen.page_size, seen.unseen), (PageSize(65_536), None));
    }
}
