//! The first line and what follows from it: shortage, forecasts, what is available, how far reclaim is.

use ramline_advice::{Inputs, explain, findings, headline};
use ramline_model::verdict::{Status, amount_of};
use ramline_snapshot::meminfo::Meminfo;
use ramline_snapshot::zoneinfo::Zoneinfo;
use ramline_snapshot::{Seen, Snapshot, Window};
use ramline_units::{Bytes, Pages};
use ramline_view::text::Style;
use ramline_view::{Screen, ShowMemory, ShowPressure, html, screen};

use super::{STYLE, audited, checkup, flat, never, project, said, tree, two_seconds};

/// What `cat` of files that were read long ago does to the counters of 2 s: so many pages a second come back, none of them belongs to the
/// working set, nothing is looked at to evict, and 23 faults a second have to read while 318.9 MiB/s come from the disk.
fn cold_files(per_second: u64) -> Vec<(&'static str, u64, u64)> {
    let still = [
        "workingset_activate_file",
        "workingset_restore_file",
        "workingset_refault_anon",
        "pgscan_kswapd",
        "pgscan_direct",
        "pgscan_anon",
        "pgscan_file",
        "allocstall_normal",
        "oom_kill",
        "pswpin",
        "pswpout",
    ];
    let mut counters: Vec<_> = still.into_iter().map(|name| (name, 0, 0)).collect();
    counters.extend([("workingset_refault_file", 0, 2 * per_second), ("pgmajfault", 0, 46), ("pgpgin", 0, 653_107)]);
    counters
}

#[test]
fn a1_files_read_again_with_21_gib_free_are_no_working_set_that_does_not_fit() {
    // 100 a second was the threshold; 4807 and 37634 were quoted.
    for (per_second, waited) in [(100, 0), (4807, 0), (37_634, 0), (37_634, 3)] {
        let mut now = audited();
        let before = two_seconds(&mut now, &cold_files(per_second), waited);
        let window = Window::new(&before, &now).unwrap();
        let line = ShowMemory::new(&now, Some(&window)).verdict.unwrap();
        assert_eq!(line.status, Status::Ok, "{}", line.text);
        assert!(line.text.starts_with("Memory is fine: 23.0 of 23.5 GiB available"), "{}", line.text);
        never(
            &said(&now, Some(window)),
            &["working set does not fit", "just after eviction", "soon after", "just evicted", "Memory is short"],
        );
    }
}

#[test]
fn a2_a_cat_of_cold_files_is_no_reason_to_lower_the_read_ahead() {
    // 318.9 MiB/s over 23 faults a second are 13.9 MiB each, of a read-ahead of 8 MiB: a fault cannot have read that.
    for waited in [0, 20] {
        let mut now = audited();
        let before = two_seconds(&mut now, &cold_files(37_634), waited);
        let window = Window::new(&before, &now).unwrap();
        let inputs = Inputs { snapshot: &now, window: Some(window), tiers: None, runs: &[] };
        assert!(findings(&inputs).iter().all(|f| f.id != "read-ahead-amplifies-faults"));
        never(&said(&now, Some(window)), &["Each major fault reads", "13.9 MiB", "echo 128 >"]);
    }
}

#[test]
fn a3_two_seconds_of_a_copy_are_no_forecast() {
    let mut now = audited();
    let mut before = two_seconds(&mut now, &[("pgmajfault", 0, 2)], 0);
    let more = Bytes::from_gib(1);
    let (Seen::Seen { data: zones, .. }, Seen::Seen { data: meminfo, .. }) =
        (&mut before.zoneinfo, &mut before.meminfo)
    else {
        panic!("no zones, no meminfo");
    };
    let normal = zones.zones.iter_mut().find(|zone| zone.name == "Normal").unwrap();
    normal.free = Pages(normal.free.0 + more.0 / 4096);
    meminfo.mem_free = meminfo.mem_free.map(|free| free + more);
    // At this pace all of it would be used in less than a minute.
    let said = said(&now, Some(Window::new(&before, &now).unwrap()));
    never(
        &said,
        &["free memory would be used up", "free memory is used up", "little cache left to drop", "if it went on"],
    );
    assert!(said.contains("Memory is fine: 23.0 of 23.5 GiB available, no task waits for memory."));
}

#[test]
fn a4_what_is_available_is_one_number_on_every_screen() {
    let mut trees = 0;
    for name in ramline_testkit::names("healthy") {
        let seen = tree(&name);
        let inputs = Inputs { snapshot: &seen, window: None, tiers: None, runs: &[] };
        let Some((kernel, total)) = seen.meminfo.data().and_then(|m| m.mem_available.zip(m.mem_total)) else {
            continue;
        };
        let available = ramline_model::available::bytes(&seen).unwrap();
        assert!(available == kernel || seen.zfs.data().is_some_and(Option::is_some), "MemAvailable, but for ZFS");
        let line = headline(&inputs).unwrap();
        if line.group.is_some() {
            // In a group its limit ends first, and both are named (a test of the advice).
            continue;
        }
        let both = amount_of(available, total);
        assert!(line.text.contains(&both), "{name}: {}", line.text);
        let told = explain("available", &inputs).unwrap().answer_short;
        assert!(told.contains(&available.to_string()), "{name}: {told}");
        let report = checkup(&inputs);
        assert!(report.findings[0].title.contains(&available.to_string()), "{name}: {}", report.findings[0].title);
        for text in [screen::checkup(&report, &[], &STYLE), html::page(&report)] {
            assert!(flat(&text).contains(&both), "{name}: {text}");
        }
        never(
            &said(&seen, None),
            &["can be had", "without waiting for a write", "can be freed at once", "Without waiting"],
        );
        trees += 1;
    }
    assert!(trees >= 8, "{trees} machines are too few");
}

/// 20.3 GiB are free, and the one zone has been given 6618 MiB, of which 3273 are left above the mark at which kswapd wakes.
fn deferred() -> Snapshot {
    let mut seen = audited();
    let meminfo = "MemTotal: 24682416 kB\nMemFree: 21286092 kB\nMemAvailable: 23900000 kB\nActive(file): 900000 kB\nInactive(file): 1400000 kB\n";
    seen.meminfo = Seen::new(Meminfo::parse("meminfo", meminfo).unwrap());
    let zone = "Node 0, zone Normal\n pages free 849328\n min 9152\n low 11440\n high 13728\n managed 1694208\n protection: (0, 0)\n";
    seen.zoneinfo = Seen::new(Zoneinfo::parse("zoneinfo", zone).unwrap());
    seen
}

#[test]
fn a5_the_distance_to_reclaim_counts_memory_that_no_zone_has_yet() {
    let seen = deferred();
    // 3273 MiB above the mark and 17.1 GiB that the kernel hands out before it wakes kswapd.
    let text = flat(&ShowPressure::new(&seen, None).text(&Style { colour: false, width: 300 }));
    assert!(text.contains("Reclaim: 20.3 GiB more can be used before the kernel starts to free memory, 20.3 GiB before tasks wait for it."), "{text}");
    let inputs = Inputs { snapshot: &seen, window: None, tiers: None, runs: &[] };
    let told = explain("watermarks", &inputs).unwrap().answer_short;
    assert_eq!(told, "Reclaim begins when 20.3 GiB more is used on node 0.");
    let text = flat(&screen::checkup(&checkup(&inputs), &[], &STYLE));
    assert!(text.contains("kswapd 20.3 GiB away, stalls 20.3 GiB away"), "{text}");
    never(&said(&seen, None), &["3273 MiB away", "3290 MiB away", "3.2 GiB more"]);
    let readme = std::fs::read_to_string(project("README.md")).unwrap();
    never(&flat(&readme), &["22654 MiB", "MiB away, stalls"]);
}

#[test]
fn b2_a_machine_whose_next_zram_writes_fail_does_not_open_in_green() {
    let seen = tree("findings/zram-limit-fails-writes/fires");
    let line = "Warning: zram0 holds 31.0 MiB of its limit of 32.0 MiB (97 %): the next writes fail.";
    let text = ShowMemory::new(&seen, None).text(&STYLE);
    assert_eq!(text.lines().next(), Some(line));
    let report = checkup(&Inputs { snapshot: &seen, window: None, tiers: None, runs: &[] });
    assert_eq!(report.verdict.as_ref().map(|v| v.status), Some(Status::Warning));
    assert_eq!(screen::checkup(&report, &[], &STYLE).lines().next(), Some(line));
    let page = html::page(&report);
    assert!(flat(&page).contains(&format!("<h1 class=\"verdict warn\">{line}</h1>")), "{page}");
}
