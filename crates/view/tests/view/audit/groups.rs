//! Groups: what swap is promised, what is the parent's own, who is larger than whom, what waiting is made of.

use std::collections::BTreeMap;

use ramline_advice::{Inputs, explain, findings};
use ramline_model::groups::Selection;
use ramline_snapshot::cgroup::{Group, Version};
use ramline_snapshot::groups::Groups;
use ramline_snapshot::{Seen, Snapshot, Window, swaps};
use ramline_units::{Bytes, Limit};
use ramline_view::{Screen, ShowCgroups};

use super::{STYLE, audited, flat, never, said, two_seconds};

/// A group with these KiB charged and in memory.stat.
fn group(path: &str, charged: u64, stat: &[(&str, u64)]) -> Group {
    let stat: BTreeMap<String, u64> = stat.iter().map(|(key, kib)| ((*key).to_owned(), kib << 10)).collect();
    Group { path: path.into(), current: Some(Bytes::from_kib(charged)), stat, ..Group::default() }
}

fn seen_with(list: Vec<Group>) -> Snapshot {
    let mut seen = audited();
    seen.groups = Seen::new(Groups { version: Some(Version::V1), list, complete: true, ..Groups::default() });
    seen
}

fn one(seen: &Snapshot, name: &str) -> String {
    flat(&ShowCgroups::one(seen, None, Selection::default(), name).unwrap().text(&STYLE))
}

#[test]
fn truth_3_a_group_of_version_1_with_swappiness_0_is_promised_no_swap() {
    // 100 MiB of process memory, a limit of 60, 300 MiB of swap free: "with swap 80.1 MiB", and the kernel killed with 0 kB swapped.
    let shown = |swappiness| {
        let mut small = group(
            "/small",
            100_000,
            &[("total_rss", 82_022), ("total_inactive_anon", 82_022), ("total_active_anon", 0)],
        );
        (small.swappiness, small.max) = (Some(swappiness), Some(Limit::At(Bytes::from_mib(60))));
        let mut seen = seen_with(vec![small]);
        let areas = "Filename Type Size Used Priority\n/swapfile file 307200 0 -2\n";
        seen.swaps = Seen::new(swaps::parse("swaps", areas).unwrap());
        let Seen::Seen { data, .. } = &mut seen.meminfo else { panic!("no meminfo") };
        (data.swap_total, data.swap_free) = (Some(Bytes::from_mib(300)), Some(Bytes::from_mib(300)));
        one(&seen, "/small")
    };
    assert!(shown(1).contains("with swap 80.1 MiB"), "with 1 it survives: {}", shown(1));
    let text = shown(0);
    assert!(
        text.contains("with swap 0 B")
            && text.contains("swappiness 0 keeps it out of swap: at its limit the kernel kills in it instead"),
        "{text}"
    );
    never(&text, &["with swap 80.1 MiB"]);
}

#[test]
fn truth_5_waiting_is_not_made_up_of_pages_and_no_more_came_back_than_was_read() {
    // 470,000 pages a second were counted over 2 s where 256,000 came back: "3407 s of waiting a second".
    let at = |refaults: u64, cache: u64| {
        let limit = Bytes::from_mib(480);
        let mut batch = group("/batch", 0, &[("total_cache", cache), ("total_shmem", 0)]);
        batch.stat.insert("total_workingset_refault_file".to_owned(), refaults);
        (batch.max, batch.current) = (Some(Limit::At(limit)), Some(limit));
        seen_with(vec![batch])
    };
    let mut now = at(941_000, 40_000);
    let mut before = two_seconds(&mut now, &[("pgpgin", 0, 2_048_000)], 0);
    before.groups = at(1000, 90_000).groups;
    let window = Window::new(&before, &now).unwrap();
    let found = findings(&Inputs { snapshot: &now, window: Some(window), tiers: None, runs: &[] });
    let found = found.iter().find(|f| f.id == "group-at-limit-loses-cache").unwrap();
    // 940,000 pages in 2 s of which the statistics may lag by 2 s.
    assert!(found.title.contains("at least 235000 pages a second"), "{}", found.title);
    let said = said(&now, Some(window));
    assert!(said.contains("470000 pages/s over 2.0 s as counted, at least 235000 pages/s for sure"), "{said}");
    never(&said, &["of waiting a second", "470000 pages a second", "3407 s"]);
}

#[test]
fn truth_11_cache_of_a_removed_child_is_not_called_the_parents_own() {
    // "150.1 MiB to itself" beside a column with 0 B.
    let stat = |own: u64, all: u64| {
        [("cache", own), ("total_cache", all), ("inactive_file", own), ("total_inactive_file", all)]
    };
    let seen = seen_with(vec![group("/p", 153_702, &stat(0, 153_702))]);
    let text = one(&seen, "/p");
    assert!(
        text.contains(
            "/p: 150.1 MiB charged (now); 0 B of it to itself, 150.1 MiB to groups below it that were removed."
        ),
        "{text}"
    );
    never(&text, &["150.1 MiB of it to itself"]);
}

#[test]
fn a24_no_group_is_larger_than_the_one_above_it_and_all_clean_cache_is_freeable() {
    // The top had 2.4 GiB charged, its child 3.0; of 2.4 GiB of cache 816 MiB were freeable "at most".
    let cache = [
        ("total_cache", 2_516_582),
        ("total_inactive_file", 835_584),
        ("total_active_file", 1_680_998),
        ("total_rss", 20_480),
    ];
    let mut top = group("/", 2_537_062, &cache);
    top.kernel = Some(Bytes::from_mib(700));
    let child = group("/all", 3_145_728, &cache);
    let shown = ShowCgroups::new(&seen_with(vec![top, child]), None, Selection::default());
    let [above, below] = shown.shown.groups.as_slice() else { panic!("two groups") };
    assert!(above.current >= below.current, "{:?} {:?}", above.current, below.current);
    assert_eq!((above.reclaim.now, below.reclaim.now), (Bytes::from_kib(2_516_582), Bytes::from_kib(2_516_582)));
    let text = flat(&shown.text(&STYLE));
    never(&text, &["816.0 MiB"]);
}

#[test]
fn a6_a_group_short_of_memory_is_no_machine_that_is() {
    // "Yes, badly: Thrashing: everything waited for memory 24.9 % of the time, in a group at its limit; 22.1 GiB of 23.5 GiB can be had".
    let mut now = audited();
    let scanned = [
        ("pgscan_kswapd", 0, 0),
        ("pgscan_direct", 0, 0),
        ("pgscan_anon", 0, 0),
        ("pgscan_file", 0, 80_000),
        ("workingset_refault_file", 0, 80_000),
        ("workingset_activate_file", 0, 0),
        ("allocstall_normal", 0, 0),
    ];
    let before = two_seconds(&mut now, &scanned, 25);
    let window = Window::new(&before, &now).unwrap();
    let told = explain("pressure", &Inputs { snapshot: &now, window: Some(window), tiers: None, runs: &[] }).unwrap();
    assert!(told.answer_short.starts_with("No, the machine is not: "), "{}", told.answer_short);
    assert!(told.answer_short.contains("group"), "{}", told.answer_short);
    never(&said(&now, Some(window)), &["Yes, badly", "Thrashing"]);
}
