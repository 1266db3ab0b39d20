use ramline_snapshot::Seen;
use ramline_snapshot::machine::Machine;

use super::*;

const MIB: u64 = 1 << 20;

/// A group of version 2 at its limit of 100 MiB, which it met 7 times; the parts of its memory in MiB.
fn at_limit(stat: &[(&str, u64)], some: f64, full: f64) -> Group {
    let pressure = format!(
        "some avg10={some} avg60={some} avg300=0 total={}\nfull avg10={full} avg60=0 avg300=0 total=0\n",
        some * 1e4
    );
    Group {
        path: "/shop/web".into(),
        current: Some(Bytes::from_mib(99)),
        max: Some(Limit::At(Bytes::from_mib(100))),
        stat: stat.iter().map(|(name, n)| ((*name).to_owned(), n * MIB)).collect(),
        events: [("max".to_owned(), 7), ("oom_kill".to_owned(), 0)].into(),
        pressure: Some(Pressure::parse("p", &pressure).unwrap()),
        ..Group::default()
    }
}

/// 10 GiB of RAM, 1 GiB of swap of which so many MiB are free.
fn seen(groups: Vec<Group>, swap_free: u64, seconds: u64, version: Version) -> Snapshot {
    let machine =
        Machine { boot_id: Some("b".into()), uptime: Some(Nanos(seconds * 1_000_000_000)), ..Machine::default() };
    let mut out = Snapshot::new(machine);
    let text = format!("MemTotal: 10485760 kB\nSwapTotal: 1048576 kB\nSwapFree: {} kB\n", swap_free * 1024);
    out.meminfo = Seen::new(Meminfo::parse("m", &text).unwrap());
    let top = Group { path: "/".into(), ..Group::default() };
    let list = std::iter::once(top).chain(groups).collect();
    out.limited = Seen::new(Groups { version: Some(version), complete: true, list, ..Groups::default() });
    out
}

fn once(group: Group, swap_free: u64) -> Option<Trouble> {
    worst(&seen(vec![group], swap_free, 1, Version::V2), None)
}

fn cause(group: Group, swap_free: u64) -> Option<Cause> {
    once(group, swap_free).map(|trouble| trouble.cause)
}

const ANON: &[(&str, u64)] =
    &[("anon", 96), ("inactive_anon", 96), ("active_anon", 0), ("active_file", 1), ("file", 1)];
const CACHE: &[(&str, u64)] =
    &[("anon", 10), ("inactive_anon", 10), ("active_anon", 0), ("inactive_file", 85), ("file", 85)];

#[test]
fn why_a_group_waits_is_told_from_one_reading() {
    assert_eq!(cause(at_limit(ANON, 40.0, 30.0), 0), Some(Cause::NothingToReclaim));
    assert!(once(at_limit(ANON, 40.0, 30.0), 0).unwrap().is_frozen());
    assert!(!once(at_limit(ANON, 40.0, 3.0), 0).unwrap().is_frozen(), "some task goes on");
    assert_ne!(cause(at_limit(ANON, 40.0, 30.0), 512), Some(Cause::NothingToReclaim), "swap has room");
    let none = Group { swap_max: Some(Limit::At(Bytes::ZERO)), ..at_limit(ANON, 40.0, 30.0) };
    assert_eq!(cause(none, 512), Some(Cause::NothingToReclaim), "and is forbidden to it");
    let dirty = [
        ("anon", 10),
        ("inactive_anon", 10),
        ("active_anon", 0),
        ("inactive_file", 85),
        ("file", 85),
        ("file_dirty", 60),
    ];
    assert_eq!(cause(at_limit(&dirty, 65.0, 65.0), 0), Some(Cause::Dirty));
    assert_eq!(cause(at_limit(CACHE, 5.0, 1.0), 0), Some(Cause::Waits), "nothing was read again");
    let mut again = at_limit(CACHE, 5.0, 1.0);
    again.stat.insert("workingset_refault_file".into(), 900);
    assert_eq!(cause(again.clone(), 0), Some(Cause::LosesCache));
    again.stat.insert("workingset_refault_anon".into(), 2000);
    assert_eq!(cause(again, 512), Some(Cause::Swaps));
}

#[test]
fn a_group_that_waits_for_nothing_or_never_met_its_limit_is_in_no_trouble() {
    assert_eq!(cause(at_limit(CACHE, 0.9, 0.0), 0), None, "less than a hundredth of the time");
    let full = once(at_limit(ANON, 0.0, 0.0), 0).unwrap();
    assert!(full.is_full() && full.is_telling() && !full.is_frozen(), "the next allocation fails: {full:?}");
    let nearly = Group { current: Some(Bytes::from_mib(95)), ..at_limit(ANON, 0.0, 0.0) };
    assert_eq!(cause(nearly, 0), None, "a twentieth is left");
    let never = Group { events: [("max".to_owned(), 0)].into(), ..at_limit(ANON, 40.0, 30.0) };
    assert_eq!(cause(never, 0), None, "it waits for the machine");
    let below = Group { current: Some(Bytes::from_mib(60)), ..at_limit(ANON, 40.0, 30.0) };
    assert_eq!(cause(below, 0), None);
    let free = Group { max: Some(Limit::Max), ..at_limit(ANON, 40.0, 30.0) };
    assert_eq!(cause(free, 0), None);
}

#[test]
fn a_limit_that_filled_swap_is_told_though_nothing_waits() {
    let owns = |swap| Group { swap_current: Some(Bytes::from_mib(swap)), ..at_limit(CACHE, 0.0, 0.0) };
    let found = once(owns(600), 400).unwrap();
    assert_eq!((found.cause, found.is_telling()), (Cause::OwnsSwap, false));
    assert_eq!(cause(owns(300), 400), None, "less than half of the 624 MiB that are used");
    assert_eq!(cause(owns(500), 520), None, "most of it, and less than a twentieth of RAM");
}

#[test]
fn of_several_the_one_that_stands_still_is_named_and_the_inner_of_equals() {
    let named = |path: &str, group: Group| Group { path: path.into(), ..group };
    let list = vec![
        named("/a", at_limit(CACHE, 80.0, 2.0)),
        named("/shop", at_limit(ANON, 30.0, 30.0)),
        named("/shop/web", at_limit(ANON, 30.0, 30.0)),
        named("/ramline-7-0", at_limit(ANON, 99.0, 99.0)),
    ];
    assert_eq!(worst(&seen(list, 0, 1, Version::V2), None).unwrap().path, "/shop/web");
}

#[test]
fn kills_off_and_out_of_memory_is_told_by_version_1_itself() {
    let stuck = |flags: &[(&str, u64)]| {
        let mut group = at_limit(&[("rss", 98)], 0.0, 0.0);
        group.pressure = None;
        group.events = flags.iter().map(|(name, n)| ((*name).to_owned(), *n)).collect();
        worst(&seen(vec![group], 0, 1, Version::V1), None).map(|trouble| (trouble.cause, trouble.is_frozen()))
    };
    let on = [("oom_kill_disable", 1), ("under_oom", 1), ("failcnt", 9)];
    assert_eq!(stuck(&on), Some((Cause::StuckInOom, true)));
    let full = Some((Cause::NothingToReclaim, false));
    assert_eq!(stuck(&[("oom_kill_disable", 1), ("under_oom", 0), ("failcnt", 9)]), full);
    assert_eq!(stuck(&[("oom_kill_disable", 0), ("under_oom", 1), ("failcnt", 9)]), full, "a kill ends it");
}

#[test]
fn over_a_window_growth_counts_and_few_reads_again_explain_no_waiting() {
    let at = |seconds, kills, refaults: u64, total: u64| {
        let mut group = at_limit(CACHE, 0.0, 0.0);
        group.events = [("max".to_owned(), 7), ("oom_kill".to_owned(), kills)].into();
        group.stat.insert("workingset_refault_file".into(), refaults);
        group.stat.insert("file_dirty".into(), 20 * MIB);
        let pressure = format!("some avg10=0 avg60=0 avg300=0 total={total}\nfull avg10=0 avg60=0 avg300=0 total=0\n");
        group.pressure = Some(Pressure::parse("p", &pressure).unwrap());
        seen(vec![group], 0, seconds, Version::V2)
    };
    let over = |kills, refaults, total| {
        let (before, after) = (at(1, 2, 500, 0), at(3, kills, refaults, total));
        worst(&after, Some(&Window::new(&before, &after).unwrap()))
    };
    assert_eq!(over(2, 500, 0), None, "what it counts since it was made is not now");
    let killed = over(5, 500, 0).unwrap();
    assert_eq!((killed.cause, killed.kills_now, killed.kills), (Cause::Killed, Some(3), Some(5)));
    let waits = over(2, 500, 1_800_000).unwrap();
    assert_eq!((waits.cause, waits.waits), (Cause::Dirty, Some(90.0)), "nothing was read again: it waits for writes");
    assert_eq!(over(2, 900, 1_800_000).unwrap().cause, Cause::LosesCache, "200 a second may be");
}
