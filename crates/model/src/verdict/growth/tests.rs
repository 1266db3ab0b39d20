use ramline_snapshot::machine::Machine;
use ramline_snapshot::mounts::{Capacity, Mount};
use ramline_snapshot::{Seen, Snapshot, Window};

use super::*;
use crate::verdict;

/// 967 MiB without swap; this much is available, shared and of processes.
fn at(seconds: u64, available: u64, shmem: u64, anon: u64) -> Snapshot {
    let machine =
        Machine { boot_id: Some("b".into()), uptime: Some(Nanos(seconds * 1_000_000_000)), ..Machine::default() };
    let mut seen = Snapshot::new(machine);
    let text = format!(
        "MemTotal: 990208 kB\nMemFree: {} kB\nMemAvailable: {} kB\nShmem: {} kB\nAnonPages: {} kB\nSwapTotal: 0 kB\nSwapFree: 0 kB\n",
        available * 1024,
        available * 1024,
        shmem * 1024,
        anon * 1024
    );
    seen.meminfo = Seen::new(Meminfo::parse("m", &text).unwrap());
    let psi = "some avg10=0.00 avg60=0 avg300=0 total=0\nfull avg10=0.00 avg60=0 avg300=0 total=0\n";
    seen.pressure_memory = Seen::new(ramline_snapshot::pressure::Pressure::parse("p", psi).unwrap());
    seen
}

fn growing(before: &Snapshot, after: &Snapshot) -> Option<Growing> {
    from_window(&Window::new(before, after).unwrap())
}

fn mounted(seen: &mut Snapshot, used: u64, size: u64) {
    let capacity = Capacity {
        size: Bytes::from_mib(size),
        free: Bytes::from_mib(size - used),
        available: Bytes::from_mib(size - used),
        ..Capacity::default()
    };
    let mount = Mount { at: "/run/big".into(), fs: "tmpfs".into(), capacity: Some(capacity), ..Mount::default() };
    seen.mounts = Seen::new(vec![mount]);
}

#[test]
fn a_leak_of_15_mib_a_second_is_said_half_a_minute_before_the_end() {
    let (before, after) = (at(10, 464, 370, 50), at(12, 434, 400, 50));
    let verdict = verdict::from_snapshot(&after, Some(Window::new(&before, &after).unwrap())).unwrap();
    assert_eq!(
        verdict.text,
        "434.0 MiB available lasts about 29 s: shared memory (memfd, segments) grows by 15.0 MiB/s."
    );
    assert_eq!((verdict.status, verdict.state), (Status::Note, VerdictState::RunningOut));
    assert!(verdict.details.iter().any(|detail| detail.contains("a leak and a cache that fills look the same")));
    assert!(verdict.text.chars().count() < LONGEST);
}

#[test]
fn each_of_the_four_conditions_silences_it() {
    let is_said = |before: (u64, u64, u64), after: (u64, u64, u64), seconds: u64| {
        growing(&at(10, before.0, before.1, before.2), &at(10 + seconds, after.0, after.1, after.2)).is_some()
    };
    assert!(is_said((464, 370, 50), (434, 400, 50), 2));
    assert!(
        !is_said((434, 370, 50), (434, 400, 50), 2),
        "what is left does not fall: cache or free swap makes up for it"
    );
    assert!(!is_said((434, 390, 50), (424, 400, 50), 2), "85 s are not foreseen by 2");
    assert!(is_said((584, 250, 50), (434, 400, 50), 30), "87 s are foreseen by 30");
    assert!(!is_said((800, 20, 50), (740, 80, 50), 2), "it holds a ninth of what is left: it has just begun");
    assert!(!is_said((464, 370, 50), (334, 400, 50), 2), "it explains a quarter of the fall");
    assert!(!is_said((6, 370, 50), (4, 373, 50), 2), "3 MiB are no growth");
}

#[test]
fn a_tmpfs_that_is_full_before_memory_is_ends_by_itself() {
    let with = |size: u64| {
        let (mut before, mut after) = (at(10, 464, 370, 50), at(12, 434, 400, 50));
        mounted(&mut before, 368, size);
        mounted(&mut after, 398, size);
        growing(&before, &after).map(|growing| growing.what)
    };
    assert_eq!(with(900).as_deref(), Some("the tmpfs on /run/big"), "502 MiB of room in it");
    assert_eq!(with(483), None, "85 MiB of room in it");
}

#[test]
fn the_process_that_grows_is_named() {
    let (mut before, mut after) = (at(10, 530, 5, 300), at(12, 430, 5, 400));
    let process = |mib| Process {
        pid: 812,
        name: "leak\u{1b}".into(),
        rss_anon: Some(Bytes::from_mib(mib)),
        ..Process::default()
    };
    assert_eq!(growing(&before, &after).unwrap().what, "process memory");
    before.processes = Seen::new(Processes { list: vec![process(260)], ..Processes::default() });
    after.processes = Seen::new(Processes { list: vec![process(360)], ..Processes::default() });
    let found = growing(&before, &after).unwrap();
    assert_eq!((found.what.as_str(), found.seconds.round()), ("process 812 (leak\\u{1b})", 9.0));
}
