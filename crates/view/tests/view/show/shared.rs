//! Shared memory by kind, on `show tmpfs`: the expected text stands here.

use ramline_snapshot::Seen;
use ramline_snapshot::shmem::{
    AgeTotal, Amount, File, Filesystem, Holder, Method, Object, ObjectKind, ObjectTotal, Segment, Shmem, UserTotal,
    Walk,
};
use ramline_units::{Bytes, Nanos};
use ramline_view::text::Style;
use ramline_view::{Screen, ShowTmpfs, TmpfsBy, TmpfsOptions};

use super::{STYLE, machine};

const HOUR: Nanos = Nanos(3600 * 1_000_000_000);

fn mib(count: u64, resident: u64, swapped: u64) -> Amount {
    Amount { count, resident: Bytes::from_mib(resident), swapped: Bytes::from_mib(swapped), either: Bytes::ZERO }
}

fn seen() -> Shmem {
    let holder = |pid, name: &str| Holder { pid, name: name.into(), asleep: true, open: true, ..Holder::default() };
    let object = |kind, name: &str, amount, holder: Holder| Object {
        kind,
        name: name.into(),
        amount,
        uid: Some(1000),
        age: Some(Nanos(HOUR.0 * 50)),
        holders: vec![holder],
        holder_count: 1,
        ..Object::default()
    };
    let file = |path: &str, amount, held| File {
        path: path.into(),
        amount,
        age: Some(Nanos(HOUR.0 / 2)),
        held: Some(held),
        ..File::default()
    };
    Shmem {
        before: Some(Bytes::from_mib(512)),
        after: Some(Bytes::from_mib(512)),
        filesystems: vec![Filesystem {
            fs: "tmpfs".into(),
            at: "/run".into(),
            in_shmem: true,
            used: Some(Bytes::from_mib(340)),
            found: mib(12, 200, 100),
            deleted: mib(1, 30, 10),
            inodes: 15,
            complete: true,
            ..Filesystem::default()
        }],
        segments: vec![Segment {
            id: 7,
            resident: Bytes::from_mib(128),
            uid: 26,
            creator: 800,
            attached: 2,
            holders: vec![holder(800, "postgres"), holder(801, "postgres")],
            ..Segment::default()
        }],
        objects: vec![
            object(ObjectKind::Memfd, "/memfd:wayland", mib(1, 60, 0), holder(900, "sway")),
            object(ObjectKind::Deleted, "/run/old", mib(1, 30, 10), holder(901, "forgetful")),
        ],
        object_totals: vec![
            ObjectTotal { kind: ObjectKind::Memfd, amount: mib(1, 60, 0) },
            ObjectTotal { kind: ObjectKind::Deleted, amount: mib(1, 30, 10) },
        ],
        files: vec![file("/run/a", mib(1, 150, 100), true), file("/run/b", mib(1, 50, 0), false)],
        users: vec![UserTotal { uid: 0, amount: mib(12, 200, 100) }, UserTotal { uid: 26, amount: mib(1, 128, 0) }],
        ages: vec![
            AgeTotal { within: Some(HOUR), amount: mib(12, 200, 100) },
            AgeTotal { within: None, amount: Amount::default() },
        ],
        unowned: Some(mib(1, 50, 0)),
        unowned_files: vec![file("/run/b", mib(1, 50, 0), false)],
        method: Method::Cachestat,
        walk: Walk { processes: 212, processes_complete: true, name_spaces: 3, ..Walk::default() },
        ..Shmem::default()
    }
}

fn text(shmem: Shmem, options: TmpfsOptions) -> String {
    let mut snapshot = machine(100);
    snapshot.shmem = Seen::new(shmem);
    let text = ShowTmpfs { shown: options, ..ShowTmpfs::new(&snapshot) }.text(&STYLE);
    let start = text.find("Shared memory:").unwrap();
    let end = text.find("Could not be seen").unwrap_or(text.len());
    text[start..end].trim_end().to_owned()
}

#[test]
fn shmem_is_taken_apart_by_kind_with_ram_and_swap_and_a_bounded_rest() {
    assert_eq!(
        text(seen(), TmpfsOptions::default()),
        "\
Shared memory: 512.0 MiB in RAM (Shmem, now) and 110.0 MiB in swap, by kind
kind                       count     in RAM    in swap
tmpfs files                   12  200.0 MiB  100.0 MiB
System V segments              1  128.0 MiB
memfd                          1   60.0 MiB
deleted files, still held      1   30.0 MiB   10.0 MiB
shared anonymous memory        0        0 B
the rest                           94.0 MiB
The rest is between 93.8 MiB and 94.2 MiB: the kernel's counter may be off by 256.0 KiB while CPUs
hold back changes.
What is where was asked of the kernel file by file (cachestat), to the page.

The largest of all kinds
what                   in RAM    in swap  owner       last used  held by
/run/a              150.0 MiB  100.0 MiB  root       30 min ago  in use
System V segment 7  128.0 MiB             user 26                postgres (800), postgres (801)
memfd wayland        60.0 MiB             user 1000  2 days ago  sway (900)
/run/b               50.0 MiB             root       30 min ago  no process
deleted /run/old     30.0 MiB   10.0 MiB  user 1000  2 days ago  forgetful (901)

Files with a name that no process has open or mapped: 1 with 50.0 MiB (now); --files lists the
largest.
Deleted files that one sleeping process each keeps, not read or written for an hour or more: 1 with
40.0 MiB (now). The largest is /run/old of forgetful (901). They go when it closes them or ends.
Looked at 212 processes, 3 mount name spaces and 15 inodes."
    );
}

#[test]
fn owners_ages_and_the_largest_files_are_shown_when_asked_for() {
    let with = |by| text(seen(), TmpfsOptions { by, files: true, top: 1 });
    let by_user = with(TmpfsBy::User);
    assert!(by_user.contains("root      12  200.0 MiB  100.0 MiB") && !by_user.contains("user 26"), "{by_user}");
    assert!(by_user.contains("The largest that no process has open or mapped"));
    let by_age = with(TmpfsBy::Age);
    assert!(by_age.contains("in the last 60 minutes") && by_age.contains("more than 60 minutes ago"), "{by_age}");
    assert!(with(TmpfsBy::Cgroup).contains("Memory control groups were not seen."));
}

#[test]
fn without_root_the_rest_is_an_upper_bound_and_says_whom_it_may_belong_to() {
    let walk = Walk { processes: 5, denied: 40, processes_complete: true, ..Walk::default() };
    let text = text(Shmem { walk, unowned: None, ..seen() }, TmpfsOptions::default());
    assert!(text.contains("The rest is at most"), "{text}");
    assert!(text.contains("40 processes refused: root sees them."), "{text}");
    assert!(!text.contains("Files with a name that"), "{text}");
}

#[test]
fn names_of_files_and_processes_are_escaped_and_narrow_screens_keep_their_width() {
    let mut shmem = seen();
    shmem.files[0].path = "/run/\u{1b}[2J".into();
    shmem.objects[0].holders[0].name = "\u{202e}x\n".into();
    let mut snapshot = machine(100);
    snapshot.shmem = Seen::new(shmem);
    for width in [60, 100] {
        let text = ShowTmpfs::new(&snapshot).text(&Style { colour: false, width });
        assert!(!text.contains('\u{1b}') && !text.contains('\u{202e}') && text.contains("\\u{1b}"), "{text}");
        let longest = text.lines().map(|l| l.chars().count()).max();
        assert!(longest <= Some(width), "{longest:?}\n{text}");
    }
}
