use std::collections::BTreeMap;

use ramline_snapshot::Seen;
use ramline_snapshot::containers::Containers;
use ramline_snapshot::machine::Machine;
use ramline_snapshot::meminfo::Meminfo;
use ramline_units::{Nanos, PageSize};

use super::*;

const fn mib(n: u64) -> Bytes {
    Bytes::from_mib(n)
}

fn group(path: &str, current: Option<u64>, stat: &[(&str, u64)]) -> Group {
    let stat: BTreeMap<String, u64> = stat.iter().map(|(name, n)| ((*name).to_owned(), n << 20)).collect();
    Group { path: path.into(), current: current.map(mib), stat, ..Group::default() }
}

fn machine(version: Version, list: Vec<Group>) -> Snapshot {
    let machine = Machine { cpus: 2, page_size: PageSize(4096), ..Machine::default() };
    let mut snapshot = Snapshot::new(machine);
    snapshot.groups = Seen::new(Groups { version: Some(version), list, complete: true, ..Groups::default() });
    let text =
        "MemTotal: 1048576 kB\nMemFree: 524288 kB\nMemAvailable: 655360 kB\nSwapTotal: 65536 kB\nSwapFree: 20480 kB\n";
    snapshot.meminfo = Seen::new(Meminfo::parse("m", text).unwrap());
    snapshot
}

#[test]
fn the_parts_and_the_rest_are_the_whole_and_kernel_memory_is_not_counted_twice() {
    let stat = [
        ("anon", 40),
        ("file", 45),
        ("shmem", 10),
        ("swapcached", 1),
        ("active_file", 10),
        ("inactive_file", 20),
        ("kernel", 9),
        ("slab_reclaimable", 3),
        ("pagetables", 2),
        ("sock", 1),
        ("file_dirty", 5),
    ];
    let tree = from_snapshot(&machine(Version::V2, vec![group("/g", Some(96), &stat)]), None).unwrap();
    let group = &tree.groups[0];
    let sum: Bytes = group.parts.iter().map(|p| p.bytes).sum();
    assert_eq!(group.part(PartId::FileOther), Some(mib(4)));
    assert_eq!(group.part(PartId::KernelOther), Some(mib(4)));
    assert_eq!((sum, group.kernel(), group.file()), (mib(94), mib(10), mib(34)));
    let rest = group.rest.unwrap();
    assert_eq!(rest.bytes, SignedBytes(2 << 20));
    // 64 pages on 2 CPUs charged ahead, as many that lag, and the swap cache.
    assert_eq!(rest.bound, mib(2));
    assert_eq!(group.part(PartId::Vmalloc), None, "what a kernel does not count is not nothing");
}

#[test]
fn version_1_reads_the_same_from_its_own_names() {
    let mut all = group("/g", Some(50), &[("cache", 1), ("total_cache", 21), ("rss", 2), ("total_rss", 22)]);
    all.stat.extend([("total_inactive_file".to_owned(), 16 << 20), ("total_shmem".to_owned(), 5 << 20)]);
    all.kernel = Some(mib(6));
    let tree = from_snapshot(&machine(Version::V1, vec![all]), None).unwrap();
    let group = &tree.groups[0];
    assert_eq!((group.part(PartId::Anon), group.part(PartId::Shmem)), (Some(mib(22)), Some(mib(5))));
    assert_eq!((group.kernel(), group.file()), (mib(6), mib(16)));
    assert_eq!(group.rest.unwrap().bytes, SignedBytes(1 << 20));
    assert_eq!(group.parts[0].own, SignedBytes(2 << 20));
}

#[test]
fn at_the_top_of_version_1_kernel_memory_is_added_so_that_no_group_is_larger_than_the_one_above() {
    let mut top = group("/", Some(30), &[("total_cache", 20), ("total_inactive_file", 20), ("total_rss", 10)]);
    top.kernel = Some(mib(100));
    let snapshot = machine(Version::V1, vec![top]);
    let tree = from_snapshot(&snapshot, None).unwrap();
    assert_eq!((tree.groups[0].rest, tree.groups[0].current, tree.groups[0].summed), (None, Some(mib(130)), true));
    let node = node_eviction(&tree, &snapshot).unwrap();
    assert_eq!((node.working_set, node.available, node.available_older), (mib(10), mib(1014), None));
}

#[test]
fn the_top_of_version_2_has_no_figure_of_its_own_and_is_the_sum_of_its_parts() {
    let top =
        group("/", None, &[("anon", 100), ("file", 80), ("inactive_file", 60), ("active_file", 20), ("kernel", 30)]);
    let snapshot = machine(Version::V2, vec![top]);
    let tree = from_snapshot(&snapshot, None).unwrap();
    assert_eq!((tree.groups[0].current, tree.groups[0].summed), (Some(mib(210)), true));
    let node = node_eviction(&tree, &snapshot).unwrap();
    // 100 + 80 − 60; and the older way: 1024 − (1024 − 512 − 60).
    assert_eq!((node.working_set, node.available_older), (mib(120), Some(mib(572))));
}

#[test]
fn cache_that_a_removed_group_left_behind_is_not_called_the_parents_own() {
    // 150 MiB of cache were charged to a group below /p that is gone; /p/left has 20, /p itself 3.
    let stat = |own: u64, all: u64| {
        [("cache", own), ("total_cache", all), ("inactive_file", own), ("total_inactive_file", all)]
    };
    let list = vec![group("/p", Some(174), &stat(3, 173)), group("/p/left", Some(20), &stat(20, 20))];
    let tree = from_snapshot(&machine(Version::V1, list), None).unwrap();
    assert_eq!((tree.groups[0].removed, tree.groups[0].own), (Some(mib(150)), Some(SignedBytes(4 << 20))));
    assert_eq!((tree.groups[1].removed, tree.groups[1].own), (Some(Bytes::ZERO), Some(SignedBytes(20 << 20))));
    let stat = |all: u64| [("file", all), ("inactive_file", all)];
    let list = vec![group("/p", Some(173), &stat(173)), group("/p/left", Some(20), &stat(20))];
    let tree = from_snapshot(&machine(Version::V2, list), None).unwrap();
    assert_eq!((tree.groups[0].removed, tree.groups[0].own), (None, Some(SignedBytes(153 << 20))), "not told apart");
}

#[test]
fn a_groups_own_share_is_what_its_children_leave() {
    let anon = |n| [("anon", n)];
    let list = vec![
        group("/", None, &anon(120)),
        group("/a", Some(100), &anon(100)),
        group("/a/x", Some(30), &anon(30)),
        group("/a/x/deep", Some(10), &anon(10)),
        group("/a/y", Some(50), &anon(50)),
        group("/ab", Some(4), &anon(4)),
    ];
    let tree = from_snapshot(&machine(Version::V2, list), None).unwrap();
    let own: Vec<i64> = tree.groups.iter().map(|g| g.own.unwrap().0 >> 20).collect();
    assert_eq!(own, [16, 20, 20, 10, 50, 4]);
    assert_eq!(tree.groups.iter().map(|g| g.below).collect::<Vec<_>>(), [5, 3, 1, 0, 0, 0]);
    assert_eq!(tree.groups[5].parent, Some(0), "/ab is not below /a");
    assert_eq!(tree.groups[1].parts[0].own, SignedBytes(20 << 20));
}

#[test]
fn reclaim_takes_clean_cache_then_what_is_written_then_what_swap_can_hold() {
    let stat = [
        ("anon", 40),
        ("file", 35),
        ("inactive_file", 25),
        ("active_file", 10),
        ("file_dirty", 5),
        ("inactive_anon", 40),
        ("active_anon", 0),
        ("kernel", 10),
        ("slab_reclaimable", 2),
    ];
    let snapshot = machine(Version::V2, vec![group("/g", Some(100), &stat)]);
    let taken = from_snapshot(&snapshot, None).unwrap().groups[0].reclaim;
    assert_eq!((taken.now, taken.after_writing, taken.with_swap, taken.stays), (mib(32), mib(5), mib(20), mib(43)));

    // The group's own limit of swap, and a protection, both bite.
    let mut limited = group("/g", Some(100), &stat);
    limited.swap_max = Some(Limit::At(mib(8)));
    limited.swap_current = Some(mib(5));
    limited.low = Some(mib(65));
    let tree = from_snapshot(&machine(Version::V2, vec![group("/", None, &[]), limited]), None).unwrap();
    let taken = tree.groups[1].reclaim;
    assert_eq!((taken.protected, taken.swap_room), (mib(65), Some(mib(3))));
    assert_eq!((taken.now, taken.after_writing, taken.with_swap, taken.stays), (mib(32), mib(3), mib(0), mib(65)));
}

#[test]
fn the_limit_in_force_is_the_tightest_on_the_way_up_and_says_whose_it_is() {
    let with = |path: &str, current, max| Group { max: Some(Limit::At(mib(max))), ..group(path, Some(current), &[]) };
    let list = vec![with("/a", 90, 100), with("/a/b", 10, 400), with("/a/c", 30, 50)];
    let tree = from_snapshot(&machine(Version::V2, list), None).unwrap();
    let bounds: Vec<_> =
        tree.groups.iter().map(|g| (g.bound.effective_max, g.bound.effective_at.as_deref(), g.bound.room)).collect();
    assert_eq!(bounds[1], (Some(mib(100)), Some("/a"), Some(mib(10))));
    assert_eq!(bounds[2], (Some(mib(50)), Some("/a/c"), Some(mib(10))));
}

#[test]
fn a_window_gives_growth_and_a_group_made_anew_has_no_rate() {
    let at = |seconds: u64, current, refaults: u64| {
        let mut made = group("/g", Some(current), &[]);
        made.stat.insert("workingset_refault_file".into(), refaults);
        let mut snapshot = machine(Version::V2, vec![made]);
        snapshot.machine.boot_id = Some("b".into());
        snapshot.machine.uptime = Some(Nanos(seconds * 1_000_000_000));
        snapshot
    };
    let (before, after, anew) = (at(10, 10, 100), at(12, 14, 160), at(12, 14, 3));
    let rates = |after: &Snapshot| {
        from_snapshot(after, Some(&Window::new(&before, after).unwrap())).unwrap().groups[0].rates.unwrap()
    };
    assert_eq!((rates(&after).growth, rates(&after).refaults_file), (Some(2.0 * 1024.0 * 1024.0), Some(30.0)));
    assert_eq!(rates(&anew).refaults_file, None);
}

#[test]
fn docker_and_kubernetes_take_idle_cache_off_and_systemd_does_not() {
    let snapshot = machine(
        Version::V2,
        vec![group("/g", Some(100), &[("inactive_file", 30)]), group("/h", Some(9), &[("inactive_file", 9)])],
    );
    let tree = from_snapshot(&snapshot, None).unwrap();
    let shown = |at: usize| readings(&tree.groups[at], &snapshot).iter().map(|r| r.bytes).collect::<Vec<_>>();
    assert_eq!(shown(0), [mib(70), mib(70), mib(70), mib(100)]);
    // All of it is idle cache: docker then shows all, cAdvisor nothing.
    assert_eq!(shown(1), [mib(9), mib(9), mib(0), mib(9)]);
}

/// A group of 512 MiB with this much charged, and what is said of what would be missed.
fn missed_of(current: u64, stat: &[(&str, u64)], adj: Option<i64>) -> Vec<(Bytes, String)> {
    let hex = "0123456789abcdef".repeat(4);
    let path = format!("/kubepods/burstable/pod1-2/{hex}");
    let limits =
        |group: Group| Group { max: Some(Limit::At(mib(512))), swap_max: Some(Limit::At(Bytes::ZERO)), ..group };
    let mut snapshot = machine(Version::V2, vec![limits(group(&path, Some(current), stat))]);
    let one = Container {
        id: hex,
        name: Some("a".into()),
        pod: Some("p".into()),
        oom_score_adj: adj,
        ..Container::default()
    };
    snapshot.containers = Seen::new(Containers { list: vec![one], ..Containers::default() });
    let tree = from_snapshot(&snapshot, None).unwrap();
    missed(&tree.groups[0], &snapshot).into_iter().map(|row| (row.bytes, row.formula)).collect()
}

#[test]
fn a_working_set_near_the_limit_that_is_cache_in_use_is_no_sign_of_a_kill() {
    let cached = [("anon", 180), ("file", 320), ("active_file", 300), ("inactive_file", 20)];
    let rows = missed_of(500, &cached, None);
    assert_eq!((rows.len(), rows[0].0), (1, mib(180)));
    assert!(
        rows[0].1.contains("35 % of the limit. A working set of 94 % is no sign of an OOM kill here"),
        "{}",
        rows[0].1
    );
}

#[test]
fn what_cannot_be_freed_near_the_limit_is_told_with_what_is_left_and_far_from_it_as_it_is() {
    let near = missed_of(490, &[("anon", 490), ("inactive_file", 0)], None);
    assert!(
        near[0].1.ends_with("96 % of the limit. If it grows by 22.0 MiB more, the kernel kills in it (OOMKilled)"),
        "{}",
        near[0].1
    );
    let far = missed_of(100, &[("anon", 100), ("inactive_file", 0)], None);
    assert!(far[0].1.ends_with("free at once: 20 % of the limit"), "{}", far[0].1);
}

#[test]
fn a_request_is_named_where_the_working_set_is_beyond_it_and_only_there() {
    // 1 GiB and 900: a tenth of it was requested.
    let rows = missed_of(400, &[("anon", 400), ("inactive_file", 0)], Some(900));
    assert_eq!(rows.len(), 2);
    assert!(rows[1].0 > mib(102) && rows[1].1.contains("at most 103.4 MiB"), "{rows:?}");
    assert_eq!(missed_of(100, &[("anon", 100), ("inactive_file", 0)], Some(900)).len(), 1, "within it");
    for class in [-997, 0, 1000] {
        assert_eq!(
            missed_of(400, &[("anon", 400), ("inactive_file", 0)], Some(class)).len(),
            1,
            "{class} is no request"
        );
    }
}

fn family() -> GroupTree {
    let hex = "0123456789abcdef".repeat(4);
    let list = vec![
        group("/", Some(100), &[]),
        group("/a.slice", Some(60), &[]),
        group("/a.slice/one.service", Some(10), &[]),
        group("/a.slice/two.service", Some(50), &[]),
        group("/b.slice", Some(40), &[]),
        group(&format!("/b.slice/docker-{hex}.scope"), Some(38), &[]),
        group("/b.slice/one.service", Some(2), &[]),
    ];
    let mut tree = from_snapshot(&machine(Version::V2, list), None).unwrap();
    tree.mount = "/sys/fs/cgroup".into();
    tree
}

#[test]
fn the_largest_groups_are_chosen_with_those_above_them() {
    let tree = family();
    let paths = |selection| select(&tree, selection).groups.iter().map(|g| g.path.clone()).collect::<Vec<_>>();
    let top = |n| Selection { top: Some(n), ..Selection::default() };
    assert_eq!(paths(top(3)), ["/", "/a.slice", "/a.slice/two.service"]);
    assert_eq!(paths(Selection { sort: Sort::Own, ..top(1) }), ["/", "/a.slice", "/a.slice/two.service"]);
    assert_eq!(paths(Selection { flat: true, sort: Sort::Own, ..top(1) }), ["/a.slice/two.service"]);
    assert_eq!(paths(Selection { depth: Some(1), ..Selection::default() }), ["/", "/a.slice", "/b.slice"]);
    let selected = select(&tree, top(3));
    assert_eq!((selected.left_out, selected.largest_left_out), (4, Some(mib(40))));
    assert_eq!(selected.groups[2].parent, Some(1));
    assert_eq!(select(&tree, Selection::default()).groups[4].path, "/b.slice", "siblings by size");
}

#[test]
fn a_group_is_found_by_path_last_part_or_container_id_and_never_by_chance() {
    let tree = family();
    let path = |name: &str| find(&tree, name).map(|at| tree.groups[at].path.clone());
    assert_eq!(path("/a.slice").unwrap(), "/a.slice");
    assert_eq!(path("/sys/fs/cgroup/a.slice/").unwrap(), "/a.slice");
    assert_eq!(path("/sys/fs/cgroup").unwrap(), "/");
    assert_eq!(path("two.service").unwrap(), "/a.slice/two.service");
    assert_eq!(path("two").unwrap(), "/a.slice/two.service");
    assert!(path("01234567").unwrap().starts_with("/b.slice/docker-"));
    assert!(path("one.service").unwrap_err().to_string().contains("2 control groups go by"));
    assert!(path("nothing\u{1b}").unwrap_err().to_string().contains("try: ramline show cgroups"));
    assert_eq!(path("two.s").unwrap(), "/a.slice/two.service", "a beginning, where nothing else fits");
    assert!(path("éé").is_err());
}

#[test]
fn a_group_with_impossible_counters_has_shares_at_the_end_of_the_range() {
    let most = |name: &str| (name.to_owned(), u64::MAX);
    let stat = ["anon", "active_file", "inactive_file", "file", "kernel"].map(most).into();
    let top = Group { path: "/".into(), stat, current: Some(Bytes(u64::MAX)), ..Group::default() };
    let mut seen = machine(Version::V2, vec![top.clone(), Group { path: "/g".into(), ..top }]);
    seen.machine.cpus = u64::MAX;
    let tree = from_snapshot(&seen, None).unwrap();
    // What is charged to the top itself: nothing of any part, as all of it is below.
    assert_eq!((tree.groups[0].own, tree.groups[1].own), (Some(SignedBytes(0)), Some(SignedBytes(i64::MAX))));
    let rest = tree.groups[1].rest.unwrap();
    assert_eq!((rest.bytes, rest.bound), (SignedBytes(0), Bytes(u64::MAX)));
}

/// Measured on 6.18, version 1: 100 MiB anonymous, limit 60, 300 MiB of swap free: killed with 0 kB swapped; with 1 it survives.
#[test]
fn with_swappiness_0_nothing_of_a_group_goes_to_swap_and_the_top_is_no_group() {
    let with = |path: &str, swappiness| {
        let stat = [("total_inactive_anon", 30), ("total_active_anon", 0), ("total_rss", 30)];
        let group = Group { swappiness: Some(swappiness), ..group(path, Some(40), &stat) };
        let tree = from_snapshot(&machine(Version::V1, vec![group]), None).unwrap();
        tree.groups[0].reclaim
    };
    assert_eq!((with("/g", 1).with_swap, with("/g", 1).swap_forbidden), (mib(20), false), "20 MiB of swap are free");
    assert_eq!((with("/g", 0).with_swap, with("/g", 0).stays, with("/g", 0).swap_forbidden), (mib(0), mib(40), true));
    assert!(!with("/", 0).swap_forbidden);
    let mut two =
        machine(Version::V2, vec![group("/g", Some(40), &[("anon", 30), ("inactive_anon", 30), ("active_anon", 0)])]);
    assert_eq!(from_snapshot(&two, None).unwrap().groups[0].reclaim.with_swap, mib(20));
    let mut settings = ramline_snapshot::sysctl::VmSettings::default();
    settings.put("swappiness", "0\n");
    two.settings = Seen::new(settings);
    assert_eq!(
        from_snapshot(&two, None).unwrap().groups[0].reclaim.with_swap,
        mib(0),
        "version 2 goes by vm.swappiness"
    );
}

#[test]
fn what_stands_out_is_named_largest_first_and_the_top_is_no_group() {
    let mut list = vec![group("/", None, &[]), group("/a", Some(99), &[]), group("/b", Some(10), &[])];
    list[1].max = Some(Limit::At(mib(100)));
    list[2].max = Some(Limit::At(mib(100)));
    let mut groups = from_snapshot(&machine(Version::V2, list), None).unwrap().groups;
    let rates = |growth, file| Rates { growth: Some(growth), refaults_file: Some(file), ..Rates::default() };
    groups[0].rates = Some(rates(9e9, 9.0));
    groups[1].rates = Some(rates(-5000.0, 0.0));
    groups[2].rates = Some(Rates { refaults_anon: Some(2.5), ..rates(8192.0, 1.0) });
    let named = |all: Vec<(&GroupMemory, f64)>| all.iter().map(|(g, n)| (g.path.clone(), *n)).collect::<Vec<_>>();
    assert_eq!(named(most(&groups, GroupMemory::grew)), [("/b".into(), 8192.0), ("/a".into(), -5000.0)]);
    assert_eq!(named(most(&groups, GroupMemory::came_back)), [("/b".into(), 3.5)]);
    assert_eq!((groups[1].is_near_limit(), groups[2].is_near_limit()), (true, false));
}

#[test]
fn a_wait_that_prints_as_nothing_is_none() {
    let mut group =
        from_snapshot(&machine(Version::V2, vec![group("/a", Some(1), &[])]), None).unwrap().groups.remove(0);
    let mut waited = |avg10: &str| {
        let text = format!("some avg10={avg10} avg60=0 avg300=0 total=0\n");
        group.pressure = Some(Pressure::parse("p", &text).unwrap());
        group.waited()
    };
    assert_eq!((waited("0.00"), waited("0.02"), waited("12.5")), (None, Some(0.02), Some(12.5)));
}

#[test]
fn what_stays_is_told_by_its_reasons_which_may_overlap() {
    let stat = [("anon", 40), ("active_anon", 10), ("inactive_anon", 30), ("kernel", 9), ("unevictable", 4)];
    let group =
        from_snapshot(&machine(Version::V2, vec![group("/a", Some(49), &stat)]), None).unwrap().groups.remove(0);
    // Swap has room for 20 MiB.
    let stays = group.stays();
    assert_eq!((stays.without_swap, stays.locked, stays.kernel), (mib(20), mib(4), mib(9)));
    assert_eq!((stays.kept_from_swap, group.reclaim.stays, stays.overlap), (Bytes::ZERO, mib(29), true));
}
