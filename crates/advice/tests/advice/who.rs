//! Rules over processes, groups, shared memory, kernel caches and configured files: what they say, and their bounds.

use ramline_advice::planning::{Ask, plan};
use ramline_advice::{Confidence, Inputs, Weight, explain, headline};
use ramline_plan::Topic;
use ramline_snapshot::setup::SetUp;
use ramline_snapshot::{Seen, Snapshot, Window, configured::Configured};
use ramline_units::Nanos;

use crate::cases::{Case, fires};
use crate::users::{deleted, group, hot, leftover_grows, processes, read_ahead, slow_disk, writers};

#[test]
fn memory_on_its_way_to_the_hypervisor_is_no_leak_and_what_exceeds_it_is() {
    let id = "kernel-memory-growing";
    let grown = |mib, reporting: Option<u64>| {
        let mut case = leftover_grows(mib);
        case.now.machine.free_page_reporting = reporting.map(ramline_units::Bytes::from_mib);
        case.finding(id)
    };
    assert!(grown(70, None).unwrap().title.starts_with("Memory that no counter has grows by 35.0 MiB a second"));
    assert_eq!(grown(130, Some(2)), None);
    assert!(grown(150, Some(2)).is_some());
}

#[test]
fn zram_is_told_to_read_nothing_ahead_and_a_disk_one_step_less() {
    let id = "page-cluster-against-hits";
    let found = read_ahead(1000, 300).finding(id).unwrap();
    assert!(found.title.contains("500 pages a second") && found.title.contains("30 %"), "{}", found.title);
    assert_eq!(found.change.unwrap().what, "vm.page-cluster: 3 -> 0");
    // On flash, reading ahead pays from a tenth on.
    let disk = |hit| read_ahead(1000, hit).swaps("/dev/vda2 partition 8388604 1048576 -2\n").finding(id);
    assert_eq!(disk(50).unwrap().change.unwrap().what, "vm.page-cluster: 3 -> 2");
    assert_eq!(disk(120), None);
}

#[test]
fn the_dirty_limit_is_told_in_seconds_and_the_undo_restores_the_ratio() {
    let found = slow_disk(100e6).finding("dirty-limits-in-seconds").unwrap();
    // 1201793 pages of 4 KiB at 100 MB/s: 49.2 s.
    assert!(found.title.contains("4.6 GiB") && found.title.contains("49 s"), "{}", found.title);
    let change = found.change.unwrap();
    // What is written in five seconds, in whole MiB: 476.
    assert_eq!(
        change.what,
        "vm.dirty_background_bytes: 0 (dirty_background_ratio 10) -> 249561088, vm.dirty_bytes: 0 (dirty_ratio 20) -> 499122176"
    );
    assert_eq!(found.weight, Weight::Note, "nothing waits to be written now");
    let mut noisy = slow_disk(100e6);
    noisy.tiers.as_mut().unwrap().conditions.push("trust: noisy (before: the CPUs are 95 % busy)".into());
    assert_eq!(noisy.finding("dirty-limits-in-seconds"), None, "a busy disk does not show its own speed");
    let why = |case: &crate::cases::Case| {
        let gaps = case.inputs(ramline_advice::not_looked);
        gaps.into_iter().find(|gap| gap.rules.contains(&"dirty-limits-in-seconds")).map(|gap| gap.why)
    };
    assert!(why(&noisy).unwrap().contains("the CPUs are 95 % busy"), "it says why it could not look");
    assert_eq!(why(&slow_disk(100e6)), None);
}

#[test]
fn noise_in_tiers_that_a_rule_does_not_use_does_not_silence_it() {
    let id = "dirty-limits-in-seconds";
    let with = |reason: &str| {
        let mut case = slow_disk(100e6).tier("zram-lz4", 4).tier("page-cache-read", 1);
        case.tiers.as_mut().unwrap().conditions.push(format!("trust: noisy ({reason})"));
        case
    };
    // As it was missed: the disk was measured right, and zram and the page cache were not.
    let missed = with("zram-lz4: batch medians from 900 to 4000 ns; page-cache-read: batch medians from 1 to 9 ns");
    assert!(missed.finding(id).is_some());
    assert!(with("this is an unoptimised build: whatever the CPU does is too slow").finding(id).is_some());
    assert!(with("disk:/: batch medians from 80000 to 900000 ns").finding(id).is_none());
    assert!(
        with("zram-lz4: batch medians from 1 to 9 ns; after: tasks wait for I/O 80 % of the time")
            .finding(id)
            .is_none()
    );
    let mut uneven = slow_disk(100e6);
    let measured = ramline_evidence::Measurement::from_values(&[60e6, 100e6, 140e6], "B/s", "test", &[]);
    uneven.tiers.as_mut().unwrap().tiers[0].throughput = measured;
    assert!(uneven.finding(id).is_none(), "a disk whose own speed varies so much is not judged");
}

#[test]
fn a_group_of_version_1_is_charged_with_no_more_than_is_sure_and_no_more_than_was_read() {
    let id = "group-at-limit-loses-cache";
    // 940,000 pages in 2 s read as 470,000 a second; 256,000 were true.
    let found = group(940_000, 99).finding(id).unwrap();
    assert!(found.title.contains("at least 235000 pages a second"), "{}", found.title);
    let text = format!("{} {:?}", found.effect, found.evidence);
    assert!(!text.contains("of waiting a second"), "no waiting is made up of pages: {text}");
    // Of a disk that gave 100 MiB in these 2 s, 12,800 pages a second at most came back.
    let mut read = group(940_000, 99);
    let counters = |kib: u64| ramline_snapshot::vmstat::Vmstat::parse("vmstat", &format!("pgpgin {kib}\n")).unwrap();
    read.before.as_mut().unwrap().vmstat = Seen::new(counters(0));
    read.now.vmstat = Seen::new(counters(102_400));
    let found = read.finding(id).unwrap();
    assert!(found.title.contains("at least 12800 pages a second (50.0 MiB/s)"), "{}", found.title);
    assert!(found.evidence.iter().any(|e| e.value.contains("50.0 MiB/s were read from disks")), "{:?}", found.evidence);
    // The clause of waiting is the kernel's own, where groups have it.
    assert!(!found.effect.contains("wait"), "{}", found.effect);
}

#[test]
fn writers_that_are_held_back_show_the_pace_of_the_disk_themselves() {
    let found = writers(60, 1.0).finding("dirty-limits-in-seconds").unwrap();
    assert_eq!(found.title, "Programs that write wait for the disk: up to 64.0 MiB unwritten, 64 s of its work");
    assert_eq!(found.weight, Weight::Warning);
    // A disk whose requests are large ends none of them in two seconds: no pace is known, and writers wait.
    let stuck = writers(60, 0.0).finding("dirty-limits-in-seconds").unwrap();
    assert!(stuck.title.ends_with("it writes hardly anything, up to 64.0 MiB unwritten"), "{}", stuck.title);
    assert!(stuck.change.is_none_or(|change| change.commands.is_empty()), "no limit follows from it");
}

#[test]
fn the_cache_that_grows_is_named_to_root_and_others_are_told_who_may_see_it() {
    let id = "kernel-memory-growing";
    let found = fires(id).finding(id).unwrap();
    assert!(found.title.contains("most of it in kmalloc-4k"), "{}", found.title);
    assert_eq!(found.confidence, Confidence::Low, "two seconds may be a burst");
    let mut nobody = fires(id);
    nobody.now.machine.root = false;
    nobody.now.slab = Seen::Denied { path: "/proc/slabinfo".into() };
    let found = nobody.finding(id).unwrap();
    assert!(found.evidence.iter().any(|e| e.value == "only root may see it"));
}

#[test]
fn the_innermost_group_at_its_limit_is_named_and_no_limit_is_made_up() {
    let id = "group-at-limit-loses-cache";
    let found = group(800, 99).finding(id).unwrap();
    assert!(
        found.title.contains("/batch/job 7") && found.title.contains("at least 200 pages a second"),
        "{}",
        found.title
    );
    // A limit that was not measured is not advised: 250 MiB were, where 550 were needed.
    assert!(found.change.is_none() && found.effect.contains("measures how much it needs"), "{}", found.effect);
    assert!(found.effect.contains("sudo ramline need '/batch/job 7'"), "{}", found.effect);
}

#[test]
fn a_group_that_stands_still_is_named_from_one_reading_with_the_way_out_and_back() {
    let id = "group-held-at-limit";
    let found = Case::tree("findings/group-held-at-limit/fires").finding(id).unwrap();
    let title = "Group /system.slice/worker.service is held at memory.high (200.0 MiB): all its tasks wait 60.1 % of the time, \
                 and 0.3 % of what it has can be reclaimed";
    assert_eq!(found.title, title);
    assert_eq!((found.weight, found.confidence), (Weight::Critical, Confidence::High));
    let change = found.change.unwrap();
    assert_eq!(change.commands, ["systemctl set-property --runtime worker.service MemoryHigh=infinity"]);
    assert_eq!(change.undo, ["systemctl set-property --runtime worker.service MemoryHigh=209715200"]);
    assert!(
        found.effect.starts_with("allow it swap (memory.swap.max), or raise or remove memory.high"),
        "{}",
        found.effect
    );
}

#[test]
fn a_plan_names_the_group_that_the_checkup_names_and_none_where_it_is_about_something_else() {
    let case = Case::tree("findings/group-held-at-limit/fires");
    let found = case.finding("group-held-at-limit").unwrap();
    let planned = |topics: &[Topic], own: &[(String, i64)]| {
        let ask = Ask { topics: topics.to_vec(), own: own.to_vec(), ..Ask::default() };
        case.inputs(|inputs| plan(inputs, &SetUp::default(), &ask)).group
    };
    let group = planned(&[], &[]).unwrap();
    assert_eq!(
        (group.path.as_str(), &group.what, &group.to_do),
        ("/system.slice/worker.service", &found.title, &found.effect)
    );
    assert_eq!(planned(&[Topic::Vm], &[]), Some(group));
    assert_eq!(planned(&[Topic::Tmp], &[]), None);
    assert_eq!(planned(&[], &[("vm.swappiness".to_owned(), 10)]), None);
}

#[test]
fn huge_pages_that_fill_a_group_are_said_with_a_bound_and_the_way_back() {
    let case = Case::tree("findings/huge-pages-fill-group/fires");
    let found = case.finding("huge-pages-fill-group").unwrap();
    assert!(
        found.title.starts_with("Group /system.slice/jvm.service is at its limit of 256.0 MiB, and 87 %"),
        "{found:?}"
    );
    assert!(found.effect.starts_with("up to 199.6 MiB may be memory"), "{}", found.effect);
    assert_eq!((found.weight, found.confidence), (Weight::Note, Confidence::Low), "a bound is no measurement");
    let dir = "/sys/kernel/mm/transparent_hugepage/khugepaged/max_ptes_none";
    let change = found.change.unwrap();
    assert_eq!((change.commands, change.undo), (vec![format!("echo 0 > {dir}")], vec![format!("echo 511 > {dir}")]));
    let told = case.inputs(|inputs| explain("thp", inputs)).unwrap();
    assert!(told.answer_short.contains("Group /system.slice/jvm.service is at its limit"), "{}", told.answer_short);
    assert!(told.to_do.contains(&format!("back: echo 511 > {dir}")), "{}", told.to_do);
}

#[test]
fn what_the_lab_does_while_it_runs_is_no_finding() {
    let mut lab = group(800, 99);
    for snapshot in [Some(&mut lab.now), lab.before.as_mut()].into_iter().flatten() {
        let Seen::Seen { data, .. } = &mut snapshot.groups else { panic!() };
        data.list.iter_mut().for_each(|group| group.path = group.path.replace("/batch", "/ramline-4711-0"));
    }
    assert!(lab.finding("group-at-limit-loses-cache").is_none());
    let mut worker = hot(u64::MAX, 40_000);
    for snapshot in [Some(&mut worker.now), worker.before.as_mut()].into_iter().flatten() {
        let seen = processes(snapshot);
        seen.groups = vec!["/ramline-4711-0/ramline-hot".to_owned()];
        seen.list.iter_mut().for_each(|process| process.group = Some(0));
    }
    assert!(worker.finding("process-swap-hot").is_none());
}

#[test]
fn a_process_is_charged_only_with_the_faults_that_cannot_be_another_ones() {
    let id = "process-swap-hot";
    let found = hot(u64::MAX, 40_000).finding(id).unwrap();
    // 40,000 of its own less the 100 that were no swap-ins, over two seconds.
    assert!(found.title.contains("java (process 812)") && found.title.contains("19950 swap-ins"), "{}", found.title);
    // The sandbox measured 4 us a swap-in: 800 a second are 0.3 % of the time, 19,950 are 8 %.
    assert!(hot(u64::MAX, 40_000).tier("zram-zstd", 4).finding(id).is_some());
    assert!(hot(u64::MAX, 1600).tier("zram-zstd", 4).finding(id).is_none());
    let mut alone = hot(u64::MAX, 40_000);
    processes(&mut alone.now).list.clear();
    assert!(alone.finding(id).is_none());
}

#[test]
fn a_process_in_a_group_at_its_limit_is_the_trouble_of_the_group() {
    let id = "process-swap-hot";
    let with = |times: u64| {
        let mut case = hot(u64::MAX, 40_000);
        for (snapshot, times) in [(case.before.as_mut(), 5), (Some(&mut case.now), times)] {
            let Some(snapshot) = snapshot else { continue };
            let seen = processes(snapshot);
            seen.groups = vec!["/slow/job".to_owned()];
            seen.list.iter_mut().for_each(|process| process.group = Some(0));
            let slow = ramline_snapshot::cgroup::Group {
                path: "/slow".into(),
                high: Some(ramline_units::Limit::At(ramline_units::Bytes::from_mib(96))),
                events: [("high".to_owned(), times)].into(),
                ..Default::default()
            };
            snapshot.groups = Seen::new(ramline_snapshot::groups::Groups { list: vec![slow], ..Default::default() });
        }
        case
    };
    assert_eq!(with(9).finding(id).unwrap().group.as_deref(), Some("/slow"));
    let line = with(9).inputs(ramline_advice::headline).unwrap().text;
    assert!(line.ends_with("group /slow is at its limit and waits for its swapped pages."), "{line}");
    assert_eq!(with(5).finding(id).unwrap().group, None, "it did not meet its limit: the machine's");
}

#[test]
fn a_deleted_file_names_its_holder_and_how_long_it_lay() {
    let id = "leaked-tmpfs-files";
    let found = fires(id).finding(id).unwrap();
    assert!(found.effect.contains("restarting worker (process 77)"), "{}", found.effect);
    assert!(found.evidence[0].value.contains("untouched for 1 h"), "{}", found.evidence[0].value);
    let mut case = fires(id);
    let mut of = deleted(512, 3_600_000_000_000, false);
    of.objects[0].age = None;
    case.now.shmem = Seen::new(of);
    assert!(case.finding(id).is_none(), "no time, no judgement");
}

#[test]
fn unused_huge_pages_are_those_that_are_neither_used_nor_promised() {
    let id = "huge-pages-unused";
    let found = fires(id).finding(id).unwrap();
    assert!(found.title.starts_with("160.0 MiB"), "{}", found.title);
    let change = found.change.unwrap();
    assert_eq!(
        (change.commands, change.undo),
        (vec!["sysctl -w vm.nr_hugepages=20".into()], vec!["sysctl -w vm.nr_hugepages=100".to_owned()])
    );
    assert_eq!(found.confidence, Confidence::Low, "the machine booted a moment ago");
    let mut later = fires(id);
    later.now.machine.uptime = Some(Nanos(601_000_000_000));
    assert_eq!(later.finding(id).unwrap().confidence, Confidence::High);
}

/// The captured machine with these files and values.
fn files(files: &[(&str, &str)], in_force: &[(&str, &str)]) -> Case {
    let mut seen = Configured::default();
    for (file, text) in files {
        seen.read(file, text);
    }
    seen.in_force = in_force.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
    let mut case = fires("sysctl-set-twice");
    case.now.configured = Seen::new(seen);
    case
}

#[test]
fn a_setting_that_loses_is_told_from_one_said_twice_and_from_one_not_in_force() {
    let id = "sysctl-set-twice";
    let found = fires(id).finding(id).unwrap();
    assert_eq!(found.weight, Weight::Warning);
    assert!(found.title.starts_with("vm.swappiness = 10 in 10-mine.conf has no effect: "), "{}", found.title);
    let twice = files(&[("/etc/sysctl.d/a.conf", "vm.x=1\nvm.x=2\n")], &[("vm.x", "2")]).finding(id).unwrap();
    assert!(twice.title.contains("set twice") && twice.change.is_none() && twice.weight == Weight::Note);
    let by_hand = files(&[("/etc/sysctl.d/a.conf", "vm.x=1\n")], &[("vm.x", "2")]).finding(id).unwrap();
    assert_eq!(by_hand.change.unwrap().commands, ["sysctl -w vm.x=1"]);
}

#[test]
fn what_sysctl_files_are_for_is_no_finding() {
    let id = "sysctl-set-twice";
    let none = |list: &[(&str, &str)], in_force: &[(&str, &str)]| files(list, in_force).finding(id).map(|f| f.title);
    let over = [("/usr/lib/sysctl.d/50-a.conf", "vm.x=1\n"), ("/etc/sysctl.d/90-b.conf", "vm.x=2\n")];
    assert_eq!(none(&over, &[("vm.x", "2")]), None, "/etc after /usr/lib");
    assert_eq!(none(&[("/etc/sysctl.d/a", "vm.x=1\nvm.x=1\n")], &[("vm.x", "1")]), None, "the same value twice");
    assert_eq!(none(&[("/etc/sysctl.d/a", "vm.gone=1\n")], &[]), None, "a knob this kernel does not have");
    assert_eq!(none(&[("/etc/sysctl.d/a", "vm.drop_caches=3\n")], &[("vm.drop_caches", "0")]), None);
    let pair = [("/etc/sysctl.d/a", "vm.dirty_ratio=20\nvm.dirty_bytes=1000\n")];
    assert_eq!(none(&pair, &[("vm.dirty_ratio", "0"), ("vm.dirty_bytes", "1000")]), None, "one switch, two names");
    let mut inside = files(&[("/etc/sysctl.d/a", "vm.x=1\n")], &[("vm.x", "2")]);
    inside.now.machine.container = Some("docker".into());
    assert_eq!(inside.finding(id), None, "a container's files do not set the host");
}

#[test]
fn a_killer_without_anything_to_act_on_is_named() {
    use ramline_snapshot::killers::{Earlyoom, Killers, Oomd, Watched};
    let id = "killer-cannot-trigger";
    let with = |killers: Killers| {
        let mut case = fires(id);
        case.now.killers = Seen::new(killers);
        case.finding(id).map(|f| f.title)
    };
    let watched = |swap, pressure| Some(vec![Watched { unit: "-.slice".into(), swap, pressure }]);
    let oomd = |watched| Killers { oomd: Some(Oomd { watched, ..Oomd::default() }), ..Killers::default() };
    assert!(with(oomd(Some(vec![]))).unwrap().contains("0 units ask"));
    assert!(
        with(oomd(watched(true, false))).unwrap().contains("0 B of swap"),
        "{:?}",
        with(oomd(watched(true, false)))
    );
    assert_eq!(with(oomd(watched(true, true))), None, "pressure needs no swap");
    assert_eq!(with(oomd(None)), None, "the unit files were not read");
    let early = |arguments: &str| {
        with(Killers { earlyoom: Some(Earlyoom::from_cmdline("c", arguments)), ..Killers::default() })
    };
    assert_eq!(early("earlyoom\0-m\x001\0"), None, "1 % of 24 GiB is above the watermarks");
    assert!(early("earlyoom\0-m\x005\0-M\x001024\0").is_some(), "the lower of the two counts");
}

/// As written before the section came, or without it.
#[expect(clippy::unwrap_used, reason = "tests")]
fn without(case: &Case, section: &str) -> Case {
    let mut document = serde_json::to_value(&case.now).unwrap();
    document.as_object_mut().unwrap().remove(section).unwrap();
    Case { now: Box::new(Snapshot::from_json("old.json", &document.to_string()).unwrap()), ..case.clone() }
}

#[test]
fn what_an_old_snapshot_does_not_hold_is_no_fact_about_the_machine() {
    use ramline_snapshot::killers::{Killers, Oomd, Watched};
    let id = "killer-cannot-trigger";
    let watched = Some(vec![Watched { unit: "-.slice".into(), swap: false, pressure: true }]);
    let mut case = fires(id);
    case.now.killers = Seen::new(Killers { oomd: Some(Oomd { watched, ..Oomd::default() }), ..Killers::default() });
    case.now.pressure_memory = Seen::Absent { path: "/proc/pressure/memory".into() };
    assert!(case.finding(id).is_some_and(|found| found.title.contains("this kernel does not measure it")));
    assert_eq!(without(&case, "pressure_memory").finding(id), None, "whether it measures is not known");
    case.now.lru_gen = Seen::Absent { path: "/sys/kernel/mm/lru_gen".into() };
    let answer = |case: &Case| format!("{:?}", case.inputs(|inputs| explain("mglru", inputs)).unwrap().numbers);
    assert!(answer(&case).contains("not there: two lists"));
    assert!(!answer(&without(&case, "lru_gen")).contains("not there: two lists"));
    let quiet = without(&Case::tree("healthy/linux-6.12-zram"), "groups");
    let judged = quiet.finding("nothing-to-change").unwrap();
    assert!(judged.evidence.iter().any(|known| known.value.contains("groups (not in this file)")), "{judged:?}");
}

#[test]
fn the_first_line_names_what_a_group_loses_however_long_the_groups_name_is() {
    let verdict = |name: &str| {
        let mut case = group(800, 99);
        for snapshot in [case.before.as_mut().unwrap(), &mut case.now] {
            let Seen::Seen { data, .. } = &mut snapshot.groups else { panic!("no groups") };
            data.list.iter_mut().for_each(|group| group.path = name.to_owned());
        }
        let window = case.before.as_ref().map(|before| Window::new(before, &case.now).unwrap());
        headline(&Inputs { snapshot: &case.now, window, tiers: None, runs: &[] }).unwrap()
    };
    let line = |name: &str| verdict(name).text;
    let details = verdict("/web").details;
    assert_eq!(
        details.iter().filter(|detail| detail.contains("/web")).count(),
        1,
        "the same is said once: {details:?}"
    );
    assert!(line("/web").ends_with(" available; group /web is at its limit and loses its cache."), "{}", line("/web"));
    assert_eq!(
        line("/system.slice/a-rather-long-name.service"),
        "Machine ok; group /system.slice/a-rather-long-name.service is at its limit and loses its cache."
    );
}
