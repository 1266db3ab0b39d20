//! Machines for the rules about who uses memory: processes, groups, shared memory, kernel caches put on top of captured trees.
#![expect(clippy::unwrap_used, reason = "tests")]

use ramline_evidence::Measurement;
use ramline_snapshot::cgroup::{Group, Version};
use ramline_snapshot::groups::Groups;
use ramline_snapshot::processes::{Process, Processes};
use ramline_snapshot::shmem::{Amount, File, Filesystem, Holder, Object, ObjectKind, Shmem};
use ramline_snapshot::slab::{Cache, Slab};
use ramline_snapshot::{Seen, Snapshot};
use ramline_units::{Bytes, Limit, Nanos};

use crate::cases::{Case, with_zram, without_swap};

const HOUR: u64 = 3_600_000_000_000;

/// A case on which the rule fires, for the rules of this file.
pub fn fires(id: &str) -> Option<Case> {
    Some(match id {
        "page-cluster-against-hits" => read_ahead(1000, 300),
        "dirty-limits-in-seconds" => slow_disk(100e6),
        "kernel-memory-growing" => slab_grows(64),
        "group-at-limit-loses-cache" => group(800, 99),
        "process-swap-hot" => hot(2_000_000, 40_000),
        "leaked-tmpfs-files" => leaked(&deleted(512, HOUR, false)),
        _ => return None,
    })
}

/// The nearest misses.
pub fn silent(id: &str) -> Option<Vec<Case>> {
    Some(match id {
        "page-cluster-against-hits" => {
            let mut off = read_ahead(1000, 300);
            settings(&mut off).page_cluster = Some(0);
            // Enough of them used; too few to be a load; nothing read ahead at all; switched off; no window.
            vec![
                read_ahead(1000, 800),
                read_ahead(198, 0),
                read_ahead(0, 0),
                off,
                Case { before: None, ..read_ahead(1000, 300) },
            ]
        }
        // 4.6 GiB in 25 s; not measured.
        // And: held back by a disk that needs 20 s; less unwritten than passes freely.
        "dirty-limits-in-seconds" => {
            vec![slow_disk(200e6), without_swap(), writers(60, 3.0), writers(30, 1.0)]
        }
        // A burst; shrinking; growing, but for a day; no window.
        "kernel-memory-growing" => {
            let mut roomy = slab_grows(65);
            for snapshot in [roomy.before.as_mut().unwrap(), &mut roomy.now] {
                let Seen::Seen { data, .. } = &mut snapshot.meminfo else { panic!("no meminfo") };
                (data.mem_total, data.mem_available) = (Some(Bytes::from_gib(2000)), Some(Bytes::from_gib(2000)));
            }
            // Free memory that was being reported to the hypervisor.
            let mut reported = leftover_grows(70);
            reported.now.machine.free_page_reporting = Some(Bytes::from_mib(2));
            vec![slab_grows(13), slab_grows(0), roomy, reported, Case { before: None, ..slab_grows(64) }]
        }
        // Too few; room below the limit; no window.
        "group-at-limit-loses-cache" => {
            vec![group(190, 99), group(800, 89), Case { before: None, ..group(800, 99) }]
        }
        // Faults that may all have been file reads; too few to be noticed; next to nothing in swap; another process of that id.
        "process-swap-hot" => {
            let mut small = hot(2_000_000, 40_000);
            processes(&mut small.now).list[0].swap = Some(Bytes::from_kib(900));
            let mut reused = hot(2_000_000, 40_000);
            processes(&mut reused.now).list[0].started_ticks = 9;
            vec![hot(2_000_000, 0), hot(100, 100), small, reused]
        }
        // In use; mapped; small; a named file in use, young, or part of a system that runs from RAM.
        "leaked-tmpfs-files" => {
            let mut open = named(512, 72 * HOUR);
            open.unowned_files[0].held = Some(true);
            let mut root = named(512, 72 * HOUR);
            root.filesystems[0].at = "/".into();
            vec![
                leaked(&deleted(512, HOUR / 2, false)),
                leaked(&deleted(512, HOUR, true)),
                leaked(&deleted(200, HOUR, false)),
                leaked(&named(512, 47 * HOUR)),
                leaked(&open),
                leaked(&root),
            ]
        }
        _ => return None,
    })
}

fn settings(case: &mut Case) -> &mut ramline_snapshot::sysctl::VmSettings {
    let Seen::Seen { data, .. } = &mut case.now.settings else { panic!("no settings") };
    data
}

pub fn processes(snapshot: &mut Snapshot) -> &mut Processes {
    let Seen::Seen { data, .. } = &mut snapshot.processes else { panic!("no processes") };
    data
}

/// zram swap from which so many pages were read ahead, and so many of them used, in two seconds.
pub fn read_ahead(ahead: u64, hit: u64) -> Case {
    let mut case = with_zram().window(&[("swap_ra", 500, 500 + ahead), ("swap_ra_hit", 400, 400 + hit)]);
    settings(&mut case).page_cluster = Some(3);
    case
}

/// A dirty limit of 4.6 GiB before a disk of so many bytes a second.
pub fn slow_disk(bytes_per_s: f64) -> Case {
    let mut case = without_swap().tier("disk:/", 80);
    let measured = Measurement::from_values(&[bytes_per_s; 5], "B/s", "test", &[]);
    case.tiers.as_mut().unwrap().tiers[0].throughput = measured;
    case
}

/// `unwritten` MiB in both looks, limits of 16 and 64 MiB, and so many MiB a second written over two seconds.
pub fn writers(unwritten: u64, mib_per_s: f64) -> Case {
    let mut case = without_swap().window(&[]);
    let set = |snapshot: &mut Snapshot, written: f64| {
        let Seen::Seen { data, .. } = &mut snapshot.meminfo else { panic!("no meminfo") };
        (data.dirty, data.writeback) = (Some(Bytes::from_mib(unwritten - 8)), Some(Bytes::from_mib(8)));
        let Seen::Seen { data, .. } = &mut snapshot.vmstat else { panic!("no vmstat") };
        (data.nr_dirty_threshold, data.nr_dirty_background_threshold) = (Some(64 << 8), Some(16 << 8));
        data.unknown.insert("nr_written".into(), format!("{:.0}", 1e6 + written * 256.0));
    };
    set(case.before.as_mut().unwrap(), 0.0);
    set(&mut case.now, 2.0 * mib_per_s);
    case
}

/// Unreclaimable slab that grew by so many MiB in two seconds, most of it in one cache.
pub fn slab_grows(mib: u64) -> Case {
    let mut case = without_swap().window(&[]);
    let cache = |name: &str, mib| Cache { name: name.into(), held: Bytes::from_mib(mib), in_use: Bytes::from_mib(mib) };
    let set = |snapshot: &mut Snapshot, mib| {
        snapshot.slab = Seen::new(Slab { caches: vec![cache("kmalloc-4k", mib), cache("filp", 3)] });
        let Seen::Seen { data, .. } = &mut snapshot.meminfo else { panic!("no meminfo") };
        data.s_unreclaim = Some(Bytes::from_mib(100 + mib));
        // What the cache took is not free any more.
        data.mem_free = data.mem_free.map(|free| free.saturating_sub(Bytes::from_mib(mib)));
    };
    set(case.before.as_mut().unwrap(), 10);
    set(&mut case.now, 10 + mib);
    case
}

/// A group of 480 MiB, so many per cent full, into which so many file pages came back in two seconds.
pub fn group(refaults: u64, percent: u64) -> Case {
    let mut case = without_swap().window(&[]);
    let of = |refaulted: u64, cache: u64| {
        let limit = Bytes::from_mib(480);
        let stat = [("total_workingset_refault_file", refaulted), ("total_cache", cache << 20), ("total_shmem", 0)];
        let small = Group {
            path: "/batch/job 7".into(),
            max: Some(Limit::At(limit)),
            current: Some(Bytes(limit.0 / 100 * percent)),
            stat: stat.iter().map(|(key, value)| ((*key).to_owned(), *value)).collect(),
            ..Group::default()
        };
        let parent = Group { path: "/batch".into(), max: Some(Limit::Max), ..small.clone() };
        Seen::new(Groups { version: Some(Version::V1), list: vec![parent, small], complete: true, ..Groups::default() })
    };
    case.before.as_mut().unwrap().groups = of(1000, 90);
    case.now.groups = of(1000 + refaults, 40);
    case
}

/// So much less is free, and nothing has it.
pub fn leftover_grows(mib: u64) -> Case {
    let mut case = without_swap().window(&[]);
    let Seen::Seen { data, .. } = &mut case.now.meminfo else { panic!("no meminfo") };
    data.mem_free = data.mem_free.map(|free| free.saturating_sub(Bytes::from_mib(mib)));
    case
}

/// One process with 300 MiB in zram: of so many major faults of the machine in two seconds it had so many, all swap-ins but 100.
pub fn hot(all: u64, own: u64) -> Case {
    let all = all.min(own + 100);
    let mut case = with_zram()
        .swaps("/dev/zram0 partition 1188120 300000 100\n")
        .window(&[("pgmajfault", 0, all.max(100)), ("pswpin", 0, own)]);
    let with = |faults| {
        let process = Process {
            pid: 812,
            name: "java".into(),
            started_ticks: 5,
            swap: Some(Bytes::from_mib(300)),
            major_faults: Some(faults),
            ..Process::default()
        };
        Seen::new(Processes { list: vec![process], ..Processes::default() })
    };
    case.before.as_mut().unwrap().processes = with(10);
    case.now.processes = with(10 + own.max(100));
    case
}

fn leaked(shmem: &Shmem) -> Case {
    let mut case = without_swap();
    case.now.shmem = Seen::new(shmem.clone());
    case
}

fn amount(mib: u64) -> Amount {
    Amount { count: 1, resident: Bytes::from_mib(mib), ..Amount::default() }
}

/// A deleted file, open in one process.
pub fn deleted(mib: u64, age: u64, mapped: bool) -> Shmem {
    let holder = Holder { pid: 77, name: "worker".into(), open: true, mapped, ..Holder::default() };
    let object = Object {
        kind: ObjectKind::Deleted,
        name: "/dev/shm/queue.7".into(),
        amount: amount(mib),
        age: Some(Nanos(age)),
        holders: vec![holder],
        holder_count: 1,
        ..Object::default()
    };
    Shmem { objects: vec![object], ..Shmem::default() }
}

/// A named file that nobody has open.
pub fn named(mib: u64, age: u64) -> Shmem {
    let file = File {
        path: "/dev/shm/old".into(),
        dev: "0:23".into(),
        amount: amount(mib),
        age: Some(Nanos(age)),
        held: Some(false),
        ..File::default()
    };
    let fs = Filesystem {
        dev: "0:23".into(),
        fs: "tmpfs".into(),
        at: "/dev/shm".into(),
        in_shmem: true,
        ..Filesystem::default()
    };
    Shmem { filesystems: vec![fs], unowned_files: vec![file], ..Shmem::default() }
}
