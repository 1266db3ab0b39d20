use ramline_snapshot::Seen;
use ramline_snapshot::cgroup::Group;
use ramline_snapshot::machine::Machine;
use ramline_snapshot::shmem::{GraphicsRegion, Holder, ObjectTotal, Segment, Walk};
use ramline_snapshot::zoneinfo::Zoneinfo;

use super::*;

const MIB: u64 = 1 << 20;

fn amount(count: u64, resident: u64, swapped: u64) -> Amount {
    Amount { count, resident: Bytes(resident * MIB), swapped: Bytes(swapped * MIB), either: Bytes::ZERO }
}

fn filesystem(used: u64, found: Amount) -> Filesystem {
    let (used, fs) = (Some(Bytes(used * MIB)), "tmpfs".to_owned());
    Filesystem {
        dev: "0:9".into(),
        fs,
        at: "/t".into(),
        in_shmem: true,
        used,
        found,
        complete: true,
        ..Filesystem::default()
    }
}

fn seen(shmem: Shmem) -> Snapshot {
    let mut out = Snapshot::new(Machine::default());
    out.shmem = Seen::new(shmem);
    out
}

fn all() -> Shmem {
    Shmem {
        before: Some(Bytes(99 * MIB)),
        after: Some(Bytes(100 * MIB)),
        filesystems: vec![filesystem(70, amount(3, 50, 10))],
        segments: vec![
            Segment { resident: Bytes(5 * MIB), swapped: Bytes(MIB), ..Segment::default() },
            Segment { resident: Bytes(64 * MIB), huge: Some(true), ..Segment::default() },
        ],
        object_totals: vec![
            ObjectTotal { kind: ObjectKind::Memfd, amount: amount(2, 20, 0) },
            ObjectTotal { kind: ObjectKind::SharedAnonymous, amount: amount(1, 4, 2) },
        ],
        method: Method::Cachestat,
        walk: Walk { processes: 5, processes_complete: true, ..Walk::default() },
        ..Shmem::default()
    }
}

fn line(split: &Split, kind: ShmemKind) -> Amount {
    split.lines.iter().find(|line| line.kind == kind).unwrap().amount
}

#[test]
fn shmem_less_what_was_seen_in_ram_is_the_rest_with_its_bounds() {
    let mut snapshot = seen(all());
    let zones =
        "Node 0, zone Normal\n  pages free 1\n  pagesets\n    cpu: 0\n      count: 1\n  vm stats threshold: 32\n";
    snapshot.zoneinfo = Seen::new(Zoneinfo::parse("z", zones).unwrap());
    let split = from_snapshot(&snapshot).unwrap();
    assert_eq!(split.total, Some(Bytes(100 * MIB)));
    assert_eq!(line(&split, ShmemKind::TmpfsFiles), amount(3, 50, 10));
    assert_eq!(line(&split, ShmemKind::Segments), amount(1, 5, 1), "huge pages from a pool are not in Shmem");
    assert_eq!(split.rest, Some(SignedBytes(21 << 20)));
    // 70 MiB by the file system's own count, 60 found: 10 in RAM or in swap.
    let unreached = line(&split, ShmemKind::TmpfsUnreached);
    assert_eq!((unreached.either, unreached.resident), (Bytes(10 * MIB), Bytes::ZERO));
    let off = (1 << 20) + 32 * 4096;
    assert_eq!(split.counter_off, Bytes(off), "1 MiB moved, and 32 pages held back by a CPU");
    let off = i64::try_from(off).unwrap();
    assert_eq!(split.rest_at_most, Some(SignedBytes((21 << 20) + off)));
    assert_eq!(split.rest_at_least, Some(SignedBytes((11 << 20) - off)));
    assert_eq!(split.swapped, Bytes(13 * MIB));
    assert!(split.complete);
}

#[test]
fn without_swap_what_a_walk_did_not_reach_is_in_ram() {
    let split = from_snapshot(&seen(Shmem { method: Method::NoSwapUsed, ..all() })).unwrap();
    assert_eq!(line(&split, ShmemKind::TmpfsUnreached).resident, Bytes(10 * MIB));
    assert_eq!(split.rest, Some(SignedBytes(11 << 20)));
}

#[test]
fn deleted_files_are_not_counted_with_the_file_system_again() {
    let mut shmem = all();
    shmem.filesystems[0].deleted = amount(1, 10, 0);
    shmem.object_totals.push(ObjectTotal { kind: ObjectKind::Deleted, amount: amount(1, 10, 0) });
    let split = from_snapshot(&seen(shmem)).unwrap();
    assert_eq!(line(&split, ShmemKind::TmpfsUnreached), Amount::default());
    assert_eq!(line(&split, ShmemKind::Deleted), amount(1, 10, 0));
}

#[test]
fn a_ramfs_is_no_part_of_shmem() {
    let mut shmem = all();
    shmem.filesystems.push(Filesystem { in_shmem: false, ..filesystem(500, amount(1, 500, 0)) });
    assert_eq!(from_snapshot(&seen(shmem)).unwrap().rest, Some(SignedBytes(21 << 20)));
}

#[test]
fn who_refused_or_was_not_reached_makes_it_incomplete() {
    let with = |change: fn(&mut Shmem)| {
        let mut shmem = all();
        change(&mut shmem);
        from_snapshot(&seen(shmem)).unwrap().complete
    };
    assert!(!with(|s| s.walk.denied = 1));
    assert!(!with(|s| s.walk.unreached = 1));
    assert!(!with(|s| s.walk.processes_complete = false));
    assert!(!with(|s| s.filesystems[0].complete = false));
    assert!(!with(|s| s.filesystems[0].refused = 1));
    assert_eq!(from_snapshot(&Snapshot::default()), None);
}

#[test]
fn a_deleted_file_is_forgotten_when_one_sleeping_process_keeps_it_untouched() {
    let holder = Holder { asleep: true, ..Holder::default() };
    let forgotten = Object {
        kind: ObjectKind::Deleted,
        age: Some(FORGOTTEN_AFTER),
        holders: vec![holder.clone()],
        holder_count: 1,
        ..Object::default()
    };
    let awake = Holder { asleep: false, ..holder };
    let others = [
        Object { kind: ObjectKind::Memfd, ..forgotten.clone() },
        Object { age: Some(Nanos(FORGOTTEN_AFTER.0 - 1)), ..forgotten.clone() },
        Object { age: None, ..forgotten.clone() },
        Object { holder_count: 2, ..forgotten.clone() },
        Object { holders: vec![awake], ..forgotten.clone() },
    ];
    let mut shmem = all();
    shmem.objects = others.into_iter().chain([forgotten.clone()]).collect();
    assert_eq!(from_snapshot(&seen(shmem)).unwrap().leaked, [forgotten]);
}

#[test]
fn what_graphics_clients_share_is_known_only_to_be_there_or_not() {
    let region = |name: &str, resident: u64, shared: u64| GraphicsRegion {
        name: name.into(),
        resident: Some(Bytes(resident * MIB)),
        shared: Some(Bytes(shared * MIB)),
        ..GraphicsRegion::default()
    };
    let client = |in_shmem, regions| GraphicsClient { in_shmem, regions, ..GraphicsClient::default() };
    let clients = vec![
        client(true, vec![region("system0", 30, 10), region("vram0", 100, 0), region("stolen-system0", 9, 0)]),
        client(false, vec![region("gtt", 50, 0)]),
    ];
    let split = from_snapshot(&seen(Shmem { graphics: clients, ..all() })).unwrap();
    let graphics = line(&split, ShmemKind::Graphics);
    assert_eq!((graphics.resident, graphics.either), (Bytes(20 * MIB), Bytes(10 * MIB)));
}

#[test]
fn a_group_of_version_2_is_told_without_the_groups_below_it() {
    let group = |path: &str, shmem: u64| Group {
        path: path.into(),
        stat: BTreeMap::from([("shmem".to_owned(), shmem)]),
        ..Group::default()
    };
    let list = vec![group("/", 100), group("/a", 70), group("/a/b", 50), group("/c", 0)];
    let of_version = |version| {
        let mut snapshot = seen(all());
        snapshot.groups = Seen::new(Groups { version: Some(version), list: list.clone(), ..Groups::default() });
        let groups = from_snapshot(&snapshot).unwrap().groups;
        groups.into_iter().map(|g| (g.path, g.resident.0)).collect::<Vec<_>>()
    };
    let own = |pairs: [(&str, u64); 3]| pairs.map(|(path, bytes)| (path.to_owned(), bytes)).to_vec();
    assert_eq!(of_version(Version::V2), own([("/a/b", 50), ("/", 30), ("/a", 20)]));
    assert_eq!(of_version(Version::V1), own([("/", 100), ("/a", 70), ("/a/b", 50)]));
}

#[test]
fn what_is_forgotten_and_what_was_looked_at_are_sums() {
    let object = |resident| Object { amount: amount(1, resident, 1), ..Object::default() };
    let split = Split { leaked: vec![object(2), object(3)], ..from_snapshot(&seen(all())).unwrap() };
    assert_eq!(split.forgotten(), Bytes(7 * MIB));
    let filesystem = |inodes, refused| Filesystem { inodes, refused, ..Filesystem::default() };
    let shmem = Shmem { filesystems: vec![filesystem(5, 1), filesystem(u64::MAX, 2)], ..Shmem::default() };
    assert_eq!((inodes(&shmem), refused(&shmem)), (u64::MAX, 3));
}
