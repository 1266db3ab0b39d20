//! Files below /proc that are not of one machine: lxcfs makes some of them for a container and leaves the others the host's.
//!
//! Where it serves `/proc/meminfo`, that file is the container's, less the lines which lxcfs hands through
//! (`Meminfo::keep_lines_of_lxcfs`); `vmstat`, `zoneinfo`, `buddyinfo` and the like are the host's, and stay out of what is said of the container.
//! A capture without a mount table shows it too: zones that manage more than MemTotal belong to another machine.

use ramline_snapshot::zoneinfo::Zoneinfo;
use ramline_snapshot::{Seen, Snapshot};
use ramline_units::PageSize;
use rustix::fs::statfs;

use super::reader::Reader;
use crate::prelude::*;

/// What lxcfs can serve of what is read here (src/proc_fuse.c, 7.0).
const SERVED: [&str; 6] = [
    "/proc/meminfo",
    "/proc/swaps",
    "/proc/slabinfo",
    "/proc/pressure/memory",
    "/proc/pressure/io",
    "/proc/pressure/cpu",
];

/// FUSE_SUPER_MAGIC of linux/magic.h.
const FUSE: u64 = 0x6573_5546;

/// MemTotal is the sum of what zones manage; memory that is added or taken between two reads is less than this part of it.
const SLACK: u64 = 50;

const WHY: &str = "it is the host's, and /proc/meminfo is this container's (lxcfs)";

/// The files that lxcfs serves here.
pub fn lxcfs(reader: &Reader<'_>) -> Vec<String> {
    // On the machine the mount table, which may be long, is read only where one of the files is on FUSE.
    let on_fuse = |path: &&str| statfs(*path).is_ok_and(|fs| u64::try_from(fs.f_type).is_ok_and(|kind| kind == FUSE));
    if reader.root.is_live() && !SERVED.iter().any(on_fuse) {
        return Vec::new();
    }
    let table = ["/proc/self/mountinfo", "/proc/mounts"].into_iter().find_map(|path| reader.text(path).ok());
    let table = table.unwrap_or_default();
    let mounts: Vec<&str> = table.lines().filter(|line| line.split(' ').any(|word| word == "fuse.lxcfs")).collect();
    let serves = |path: &str| mounts.iter().any(|line| line.split(' ').any(|word| word == path));
    SERVED.into_iter().filter(|path| serves(path)).map(str::to_owned).collect()
}

/// Leaves in a snapshot what is of the machine that meminfo is of.
pub fn keep_one_machine(out: &mut Snapshot) {
    let made = out.machine.meminfo_by_lxcfs()
        || out.meminfo.data().is_some_and(|m| other_machine(m, out.zoneinfo.data(), out.machine.page_size));
    if !made {
        return;
    }
    if !out.machine.meminfo_by_lxcfs() {
        out.machine.lxcfs.push("/proc/meminfo".to_owned());
    }
    if let Some(meminfo) = out.meminfo.data_mut() {
        meminfo.keep_lines_of_lxcfs();
    }
    let served = out.machine.lxcfs.clone();
    let not_ours = |path: &str| !served.iter().any(|file| file == path);
    macro_rules! foreign {
        ($($section:ident: $path:literal),*) => {$(
            if out.$section.data().is_some() && not_ours($path) {
                out.$section = Seen::Foreign { path: $path.to_owned(), why: WHY.to_owned() };
            }
        )*};
    }
    if out.hugepages.data().is_some() {
        out.hugepages = Seen::Foreign { path: "/sys/kernel/mm/hugepages".to_owned(), why: WHY.to_owned() };
    }
    foreign!(vmstat: "/proc/vmstat", zoneinfo: "/proc/zoneinfo", buddyinfo: "/proc/buddyinfo", slab: "/proc/slabinfo");
    foreign!(pressure_memory: "/proc/pressure/memory", pressure_io: "/proc/pressure/io", pressure_cpu: "/proc/pressure/cpu");
}

/// The zones manage more than MemTotal, and the numbers are such as lxcfs writes.
fn other_machine(meminfo: &Meminfo, zoneinfo: Option<&Zoneinfo>, page: PageSize) -> bool {
    let Some((total, zones)) = meminfo.mem_total.zip(zoneinfo) else { return false };
    let managed: Bytes = zones.zones.iter().map(|zone| zone.managed.bytes(page)).sum();
    managed.saturating_sub(total).0 > total.0 / SLACK && meminfo.looks_like_lxcfs()
}
