//! Rules over processes, groups, shared memory, kernel caches and configured files: what they say, and their bounds.

use ramline_advice::{Confidence, Weight};
use ramline_snapshot::{Seen, configured::Configured};
use ramline_units::Nanos;

use crate::cases::{Case, fires};
use crate::users::{deleted, group, hot, leftover_grows, processes, read_ahead, slow_disk};

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
    assert_eq!(found.change.unwrap().commands, ["sysctl -w vm.page-cluster=0"]);
    // On flash, reading ahead pays from a tenth on.
    let disk = |hit| read_ahead(1000, hit).swaps("/dev/vda2 partition 8388604 1048576 -2\n").finding(id);
    assert_eq!(disk(50).unwrap().change.unwrap().commands, ["sysctl -w vm.page-cluster=2"]);
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
        change.commands,
        ["sysctl -w vm.dirty_bytes=499122176", "sysctl -w vm.dirty_background_bytes=249561088"]
    );
    assert!(change.undo[0].starts_with("sysctl -w vm.dirty_ratio="), "{:?}", change.undo);
    assert_eq!(found.weight, Weight::Note, "nothing waits to be written now");
    let mut noisy = slow_disk(100e6);
    noisy.tiers.as_mut().unwrap().conditions.push("trust: noisy (before: the CPUs are 95 % busy)".into());
    assert_eq!(noisy.finding("dirty-limits-in-seconds"), None, "a busy disk does not show its own speed");
}

#[test]
fn the_cache_that_grows_is_named_to_root_and_others_are_told_who_may_see_it() {
    let id = "kernel-memory-growing";
    let found = fires(id).finding(id).unwrap();
    assert!(found.title.contains("most of it in kmalloc-4k"), "{}", found.title);
    assert_eq!(found.confidence, Confidence::Low, "two seconds may be a burst");
    let mut nobody = fires(id);
    nobody.now.slab = Seen::Denied { path: "/proc/slabinfo".into() };
    let found = nobody.finding(id).unwrap();
    assert!(found.evidence.iter().any(|e| e.value == "only root may see it"));
}

#[test]
fn the_innermost_group_at_its_limit_is_named_and_its_file_is_one_word_of_the_command() {
    let id = "group-at-limit-loses-cache";
    let found = group(800, 99).finding(id).unwrap();
    assert!(found.title.contains("/batch/job 7") && found.title.contains("400 pages a second"), "{}", found.title);
    let command = &found.change.unwrap().commands[0];
    assert!(
        command.starts_with("echo 629145600 > '/") && command.ends_with("/batch/job 7/memory.limit_in_bytes'"),
        "{command}"
    );
    let mut full = group(800, 99);
    let Seen::Seen { data, .. } = &mut full.now.meminfo else { panic!() };
    data.mem_available = Some(ramline_units::Bytes::from_mib(100));
    let found = full.finding(id).unwrap();
    assert!(found.change.is_none() && found.effect.contains("more RAM"), "a machine without room gives none");
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
fn a_deleted_file_names_its_holder_and_how_long_it_lay() {
    let id = "leaked-tmpfs-files";
    let found = fires(id).finding(id).unwrap();
    assert!(found.effect.contains("restarting worker (process 77)"), "{}", found.effect);
    assert!(found.evidence[0].value.contains("untouched for 1 h"), "{}", found.evidence[0].value);
    let mut case = fires(id);
    let mut of = deleted(512, 3_600_000_000_000, false);
    of.objects[0].age = None;
    case.now.shmem = Seen::of(of);
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
    case.now.configured = Seen::of(seen);
    case
}

#[test]
fn a_setting_that_loses_is_told_from_one_said_twice_and_from_one_not_in_force() {
    let id = "sysctl-set-twice";
    let found = fires(id).finding(id).unwrap();
    assert_eq!(found.weight, Weight::Warning);
    assert!(found.title.contains("vm.swappiness = 10 in /etc/sysctl.d/10-mine.conf has no effect"), "{}", found.title);
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
        case.now.killers = Seen::of(killers);
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
