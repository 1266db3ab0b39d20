//! Files below /proc that are not of one machine: lxcfs makes some of them for a container and leaves the others the host's.
//!
//! Where it serves `/proc/meminfo`, that file is the container's, less the lines which lxcfs hands through
//! (`Meminfo::keep_lines_of_lxcfs`); `vmstat`, `zoneinfo`, `buddyinfo` and the like are the host's, and stay out of what is said of the container.
//! A capture without a mount table shows it too: zones that manage more than MemTotal belong to another machine.

use ramline_snapshot::zoneinfo::Zoneinfo;
use ramline_snapshot::{Seen, Snapshot};
use ramline_units::{PageSize, Pages};
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

/// Base pages of 4, 8, 16 and 64 KiB, in pages of 4 KiB.
const PAGE_SIZES: [u64; 4] = [1, 2, 4, 16];

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
        // What ramline captures is of one machine, also where a kernel has RAM that no zone manages yet.
        if out.machine.copied {
            keep_what_fits(out);
        }
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

/// Of a capture that was put together of several machines' files: leaves out zones that do not manage what MemTotal says, and counters of more pages than it
/// has. `buddyinfo` goes with the zones, and nodes that do not add up to MemTotal go too. Where the page size is a guess, any that kernels have may be the
/// one.
fn keep_what_fits(out: &mut Snapshot) {
    let is_guess = out.machine.unseen.is_some();
    // What was not read whole cannot be compared.
    if out.meminfo.skipped().is_some() || out.zoneinfo.skipped().is_some() {
        return;
    }
    let (page, total) = (out.machine.page_size, out.meminfo.data().and_then(|meminfo| meminfo.mem_total));
    let Some(total) = total.filter(|total| total.0 > 0) else { return };
    let zones = out.zoneinfo.data().map(|zones| zones.zones.as_slice()).unwrap_or_default();
    let managed: Bytes = zones.iter().map(|zone| zone.managed.bytes(page)).sum();
    let times: &[u64] = if is_guess { &PAGE_SIZES } else { &[1] };
    // Before 3.9 zones say what is present: the kernel, the page descriptors and what was reserved at boot are in it.
    let slack = if zones.iter().any(|zone| zone.managed != zone.present) { total.0 / SLACK } else { total.0 / 4 };
    let apart = |bytes: Bytes| bytes.max(total).saturating_sub(bytes.min(total));
    let nodes: Bytes = out.machine.nodes.iter().map(|node| node.total).sum();
    // A node says what is present, which is more by what was reserved at boot.
    if apart(nodes).0 > total.0 / 4 {
        out.machine.nodes.clear();
    }
    let fits = |times: &u64| apart(Bytes(managed.0.saturating_mul(*times))).0 <= slack;
    if !zones.is_empty() && !times.iter().any(fits) {
        let why = format!("its zones manage {managed} and MemTotal is {total}: of another machine, left out");
        out.zoneinfo = Seen::Foreign { path: "/proc/zoneinfo".to_owned(), why };
        if out.buddyinfo.data().is_some() {
            let why = "zoneinfo is of another machine, left out".to_owned();
            out.buddyinfo = Seen::Foreign { path: "/proc/buddyinfo".to_owned(), why };
        }
    }
    let lists = ["nr_free_pages", "nr_active_anon", "nr_inactive_anon", "nr_active_file", "nr_inactive_file"];
    let pages = out.vmstat.data().map(|vmstat| {
        let numbers = lists.iter().filter_map(|name| vmstat.unknown.get(*name)?.parse::<u64>().ok());
        Pages(ramline_units::saturating_sum(numbers)).bytes(page)
    });
    if let Some(counted) =
        pages.filter(|_| !is_guess).filter(|counted| counted.0 > total.0.saturating_add(total.0 / SLACK))
    {
        let why = format!("it counts {counted} of pages and MemTotal is {total}: of another machine, left out");
        out.vmstat = Seen::Foreign { path: "/proc/vmstat".to_owned(), why };
    }
}

/// The zones manage more than MemTotal, and the numbers are such as lxcfs writes.
fn other_machine(meminfo: &Meminfo, zoneinfo: Option<&Zoneinfo>, page: PageSize) -> bool {
    let Some((total, zones)) = meminfo.mem_total.zip(zoneinfo) else { return false };
    let managed: Bytes = zones.zones.iter().map(|zone| zone.managed.bytes(page)).sum();
    managed.saturating_sub(total).0 > total.0 / SLACK && meminfo.looks_like_lxcfs()
}
