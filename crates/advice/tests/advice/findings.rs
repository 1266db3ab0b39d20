//! The table of rules: each fires where it should, is silent where it should be, and says what a finding must say.

use std::path::Path;

use crate::cases::{Case, THRASHING, ZRAM, fires, silent, with_idle_anonymous, with_zram, without_swap};
use ramline_advice::{Confidence, RULES, TOPICS, Weight};
use ramline_evidence::SwapKind;

#[test]
fn every_rule_fires_on_its_fixture_and_is_silent_on_the_nearest_misses() {
    for rule in RULES {
        let found = fires(rule.id).finding(rule.id);
        assert!(found.is_some_and(|f| f.id == rule.id), "{} does not fire", rule.id);
        for (index, case) in silent(rule.id).iter().enumerate() {
            let found = case.finding(rule.id);
            assert!(found.is_none(), "{} fires on miss {index}: {:?}", rule.id, found.map(|f| f.title));
        }
    }
}

#[test]
fn every_rule_has_a_docs_page_and_a_topic_and_a_name_of_its_own() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    for (index, rule) in RULES.iter().enumerate() {
        let page = std::fs::read_to_string(root.join(format!("docs/findings/{}.md", rule.id)));
        let page = page.unwrap_or_else(|e| panic!("docs/findings/{}.md: {e}", rule.id));
        assert!(page.starts_with(&format!("# {}\n", rule.id)), "{}: the page names another rule", rule.id);
        for part in
            ["## What it means", "## Evidence", "## How sure", "## What to do", "## Undo", "## When it is wrong"]
        {
            assert!(page.contains(part), "{}: no section '{part}'", rule.id);
        }
        assert!(TOPICS.iter().any(|topic| topic.id == rule.explain), "{}: no topic {}", rule.id, rule.explain);
        assert!(RULES.iter().skip(index + 1).all(|other| other.id != rule.id), "{} twice", rule.id);
    }
}

#[test]
fn every_finding_has_numbers_with_sources_and_a_way_back() {
    for rule in RULES {
        let found = fires(rule.id).finding(rule.id).unwrap();
        assert!(
            !found.evidence.is_empty() && found.evidence.iter().all(|e| !e.source.is_empty() && !e.value.is_empty())
        );
        assert!(!found.title.is_empty() && !found.effect.is_empty() && !found.cost_if_wrong.is_empty());
        assert_eq!(found.docs, format!("docs/findings/{}.md", rule.id));
        if let Some(change) = found.change {
            assert!(!change.commands.is_empty() && !change.undo.is_empty(), "{}: no undo", rule.id);
            assert_ne!(change.commands, change.undo, "{}: the undo does the same again", rule.id);
        }
        if rule.id != "nothing-to-change" {
            assert!(
                found.title.chars().any(|c| c.is_ascii_digit())
                    || rule.id == "zram-and-zswap"
                    || rule.id == "other-evictor"
            );
        }
    }
}

#[test]
fn every_healthy_machine_yields_only_nothing_to_change() {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/healthy");
    let mut seen = 0;
    for entry in std::fs::read_dir(dir).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        let case = Case::tree(&format!("healthy/{name}"));
        for case in [case.clone(), still(case)] {
            let ids: Vec<String> = case.findings().into_iter().map(|f| format!("{}: {}", f.id, f.title)).collect();
            assert!(ids.len() == 1 && ids.iter().all(|id| id.starts_with("nothing-to-change")), "{name}: {ids:#?}");
        }
        seen += 1;
    }
    assert!(seen >= 8, "only {seen} healthy machines");
}

/// The same machine over two seconds in which nothing moved.
fn still(mut case: Case) -> Case {
    let mut before = case.now.clone();
    let Some(uptime) = before.machine.uptime else { return case };
    before.machine.uptime = Some(ramline_units::Nanos(uptime.0 - 2_000_000_000));
    case.before = before.machine.boot_id.is_some().then_some(before);
    case
}

#[test]
fn a_machine_of_which_nothing_was_seen_yields_nothing_to_change_and_says_what_was_not_seen() {
    let mut case = with_zram();
    case.now = ramline_snapshot::Snapshot::from_json("s", r#"{"schema_version":1,"machine":{}}"#).unwrap();
    let found = case.findings();
    assert_eq!(found.len(), 1);
    assert_eq!((found[0].id.as_str(), found[0].confidence), ("nothing-to-change", Confidence::Low));
    assert!(found[0].evidence.iter().any(|e| e.what == "not seen" && e.value.contains("meminfo")));
}

#[test]
fn findings_are_ranked_by_weight_and_then_by_confidence() {
    let case = with_idle_anonymous(without_swap()).window(THRASHING);
    let ids: Vec<(Weight, Confidence)> = case.findings().iter().map(|f| (f.weight, f.confidence)).collect();
    assert!(ids.len() >= 2, "no swap and read-ahead both");
    assert!(ids.windows(2).all(|pair| pair[0] >= pair[1]), "{ids:?}");
}

#[test]
fn an_arm_of_the_sandbox_makes_a_formula_certain() {
    let case = fires("swappiness-against-costs");
    assert_eq!(case.finding("swappiness-against-costs").unwrap().confidence, Confidence::Low);
    let proved = case.runs(ZRAM, Some(60), &[7, 8, 9]).runs(ZRAM, Some(190), &[3, 4, 5]);
    let found = proved.finding("swappiness-against-costs").unwrap();
    assert_eq!((found.confidence, found.weight), (Confidence::High, Weight::Warning));
    assert!(found.evidence.iter().any(|e| e.source == "lab run code-plus-data" && e.value.contains("do not overlap")));
    // r = 80/4 = 20, and 200·20/21 = 190.5.
    assert_eq!(found.change.unwrap().commands, ["sysctl -w vm.swappiness=190"]);
}

#[test]
fn a_zram_area_measured_itself_counts_before_a_scratch_device_and_its_compression_is_charged() {
    let case = fires("swappiness-against-costs").tier("swap:/dev/zram0", 8).tier("swap-write:/dev/zram0", 8);
    // r = 80/(8+8) = 5, and 200·5/6 = 166.7.
    let change = case.finding("swappiness-against-costs").unwrap().change.unwrap();
    assert_eq!(change.commands, ["sysctl -w vm.swappiness=167"]);
    // r = 80/(8+72) = 1 is not far from what 60 stands for.
    let dear = fires("swappiness-against-costs").tier("swap:/dev/zram0", 8).tier("swap-write:/dev/zram0", 72);
    assert!(dear.finding("swappiness-against-costs").is_none());
}

#[test]
fn one_run_of_each_arm_proves_nothing() {
    let case = with_idle_anonymous(without_swap()).window(THRASHING);
    let proved = case.clone().runs(SwapKind::None, None, &[9, 9]).runs(SwapKind::File, None, &[3, 3]);
    assert_eq!(proved.finding("no-swap-and-refaults").unwrap().confidence, Confidence::High);
    let single = case.runs(SwapKind::None, None, &[9]).runs(SwapKind::File, None, &[3]);
    assert_eq!(single.finding("no-swap-and-refaults").unwrap().confidence, Confidence::Medium);
}

#[test]
fn the_best_arm_of_each_kind_counts_and_one_that_never_finished_a_round_is_a_lower_bound() {
    let case = with_idle_anonymous(without_swap()).window(THRASHING);
    // A bad setting of swap beside a good one does not hide that swap helps.
    let mixed = case.clone().runs(SwapKind::None, None, &[9, 10]).runs(SwapKind::File, Some(60), &[3, 4]).runs(
        SwapKind::File,
        Some(1),
        &[12, 14],
    );
    assert_eq!(mixed.finding("no-swap-and-refaults").unwrap().confidence, Confidence::High);
    let mut stuck = case.runs(SwapKind::None, None, &[40, 40]).runs(SwapKind::File, Some(60), &[30, 31]);
    for run in stuck.runs.iter_mut().filter(|run| run.arm.swap == SwapKind::None) {
        run.rounds.clear();
        run.verdict = ramline_evidence::Verdict::Thrashing("the clock".into());
    }
    assert_eq!(stuck.finding("no-swap-and-refaults").unwrap().confidence, Confidence::High);
}

#[test]
fn under_mglru_the_formula_is_named_as_a_direction_and_never_reaches_200() {
    let case = with_zram().tier("disk:/", 8000).tier("zram-zstd", 4);
    let change = |case: &Case| case.finding("swappiness-against-costs").unwrap().change.unwrap().commands;
    assert_eq!(change(&case.clone().mglru(0)), ["sysctl -w vm.swappiness=200"]);
    assert_eq!(change(&case.clone().mglru(7)), ["sysctl -w vm.swappiness=199"]);
    let found = case.mglru(7).finding("swappiness-against-costs").unwrap();
    assert!(found.evidence.iter().any(|e| e.what == "MGLRU"));
}

#[test]
fn zram_and_a_disk_at_one_priority_are_out_of_order_and_two_disks_are_a_stripe() {
    let both = with_zram().swaps("/dev/vda2 partition 522236 4096 5\n/dev/zram0 partition 118812 4096 5\n");
    let found = both.finding("swap-outranked").unwrap();
    assert!(found.title.contains("same priority"), "{}", found.title);
    assert_eq!(found.change.unwrap().commands, ["swapoff /dev/zram0", "swapon -p 100 /dev/zram0"]);
    let disks = with_zram().swaps("/dev/vda2 partition 522236 0 5\n/dev/vdb2 partition 522236 0 5\n");
    assert!(disks.finding("swap-outranked").is_none());
}

#[test]
fn a_full_fast_area_is_not_moved_the_slower_one_is_lowered_instead() {
    let case = with_zram().swaps("/dev/vda2 partition 522236 0 20\n/dev/zram0 partition 118812 102400 10\n");
    let change = case.finding("swap-outranked").unwrap().change.unwrap();
    assert_eq!(change.commands, ["swapoff /dev/vda2", "swapon -p 9 /dev/vda2"]);
    assert_eq!(change.undo, ["swapoff /dev/vda2", "swapon -p 20 /dev/vda2"]);
}

#[test]
fn failing_writes_are_counted_over_the_window_and_not_since_boot() {
    let near = fires("zram-limit-fails-writes");
    assert_eq!(near.finding("zram-limit-fails-writes").unwrap().weight, Weight::Warning);
    let mut far = silent("zram-limit-fails-writes").remove(0).window(&[]);
    assert!(far.finding("zram-limit-fails-writes").is_none(), "1873 failed writes since boot are no rate");
    let devices = |s: &mut ramline_snapshot::Snapshot| match &mut s.zram {
        ramline_snapshot::Seen::Seen { data, .. } => data.devices[0].io.as_mut().unwrap().failed_writes -= 30,
        _ => panic!("no zram"),
    };
    devices(far.before.as_mut().unwrap());
    let found = far.finding("zram-limit-fails-writes").unwrap();
    assert_eq!(found.weight, Weight::Critical);
    assert!(found.title.contains("30 swap writes") && found.title.contains("2.0 s"), "{}", found.title);
}

#[test]
fn reclaim_on_request_counts_when_it_goes_on_and_a_hidden_thread_is_a_low_note() {
    let case = |now| with_zram().window(&[("pgsteal_proactive", 1000, now)]);
    assert!(case(1000 + 255).finding("other-evictor").is_none(), "below 1 MiB");
    let found = case(1000 + 256).finding("other-evictor").unwrap();
    assert_eq!((found.confidence, found.change), (Confidence::Medium, None));
    let mut hidden = with_zram();
    let ramline_snapshot::Seen::Seen { data, .. } = &mut hidden.now.evictors else { panic!("no evictors") };
    data.kdamond_threads = Some(1);
    assert_eq!(hidden.finding("other-evictor").unwrap().confidence, Confidence::Low);
}

#[test]
fn a_limit_above_ram_and_swap_is_named_and_limits_that_only_add_up_are_not() {
    let mut case = with_zram();
    let ramline_snapshot::Seen::Seen { data, .. } = &mut case.now.mounts else { panic!("no mounts") };
    let run = data.iter_mut().find(|m| m.at == "/run").unwrap();
    let capacity = run.capacity.as_mut().unwrap();
    capacity.size = ramline_units::Bytes::from_gib(1);
    capacity.free = capacity.size;
    let found = case.finding("tmpfs-near-limit").unwrap();
    assert_eq!(found.weight, Weight::Note);
    assert_eq!(found.change.unwrap().undo, ["mount -o remount,size=1048576k /run"]);
}

#[test]
fn inside_a_container_the_finding_stays_and_its_commands_do_not() {
    let mut case = fires("swap-outranked");
    case.now.machine.container = Some("podman".into());
    let found = case.findings().into_iter().find(|f| f.id == "swap-outranked").unwrap();
    assert_eq!(found.change, None);
    assert!(found.evidence.iter().any(|e| e.value.contains("podman")));
}

#[test]
fn a_hostile_name_of_a_swap_area_is_one_quoted_word_of_the_command() {
    let case = with_zram().swaps("/dev/vda2 partition 522236 4096 -2\n/dev/zram0;\\040reboot partition 118812 0 -3\n");
    let change = case.finding("swap-outranked").unwrap().change.unwrap();
    assert_eq!(change.commands[0], "swapoff '/dev/zram0; reboot'");
}

#[test]
fn refaults_are_told_in_mib_and_the_swap_advised_is_what_the_kernel_has() {
    let with = |control: bool, builtin: Option<bool>, module_installed: Option<bool>| {
        let mut case = fires("no-swap-and-refaults");
        let ramline_snapshot::Seen::Seen { data, .. } = &mut case.now.zram else { panic!("no zram") };
        data.support = ramline_snapshot::zram::ZramSupport { control, builtin, module_installed };
        case.finding("no-swap-and-refaults").unwrap()
    };
    // 400 pages of 4 KiB a second.
    assert!(with(true, None, None).title.contains("400 file pages a second (1.6 MiB/s)"));
    for zram in [with(true, None, None), with(false, Some(true), None), with(false, None, Some(true))] {
        assert_eq!(zram.change.unwrap().commands[0], "modprobe zram");
    }
    for file in [with(false, None, None), with(false, Some(false), Some(false))] {
        // Half of 24682416 KiB.
        assert_eq!(file.change.unwrap().commands[0], "fallocate -l 12051MiB /swapfile");
    }
}

#[test]
fn tasks_that_wait_a_tenth_of_the_time_make_missing_swap_critical() {
    let mut case = fires("no-swap-and-refaults");
    assert_eq!(case.finding("no-swap-and-refaults").unwrap().weight, Weight::Warning);
    let text = "some avg10=10.00 avg60=9.00 avg300=1.00 total=900\n";
    let stalled = ramline_snapshot::pressure::Pressure::parse("memory", text).unwrap();
    case.now.pressure_memory = ramline_snapshot::Seen::of(stalled);
    assert_eq!(case.finding("no-swap-and-refaults").unwrap().weight, Weight::Critical);
}

#[test]
fn swap_slower_than_files_matters_when_pages_come_back_and_needs_enough_reads() {
    let id = "swap-slower-than-reload";
    let case = |now| fires(id).window(&[("pswpin", 100, now)]);
    assert_eq!(case(102).finding(id).unwrap().weight, Weight::Warning, "one a second");
    assert_eq!(case(101).finding(id).unwrap().weight, Weight::Note);
    let reads = |n| Case { tiers: None, ..fires(id) }.tier_of(n, "disk:/", 80).tier_of(n, "swap:/dev/sdb1", 8000);
    assert!(reads(50).finding(id).is_some() && reads(49).finding(id).is_none());
    // r = 0.01, and 200·0.01/1.01 = 1.98.
    assert_eq!(fires(id).finding(id).unwrap().change.unwrap().commands, ["sysctl -w vm.swappiness=2"]);
}

#[test]
fn swap_ins_are_taken_out_of_what_faults_on_files_read() {
    let mut counters = THRASHING.to_vec();
    counters.iter_mut().find(|c| c.0 == "pswpin").unwrap().2 = 107;
    let found = without_swap().swaps("/dev/sdb1 partition 8388604 0 -2\n").window(&counters);
    let found = found.finding("read-ahead-amplifies-faults").unwrap();
    let value = |what: &str| found.evidence.iter().find(|e| e.what == what).unwrap().value.clone();
    // 800 MiB/s less 50 pages a second; 100 faults less 50.
    assert_eq!(value("read from disks"), "799.8 MiB/s over 2.0 s");
    assert_eq!(value("major faults for files"), "50 faults/s over 2.0 s");
    assert!(found.title.contains("reads 16.0 MiB from disk"), "{}", found.title);
}

#[test]
fn a_full_tmp_is_told_once_and_a_read_only_tmpfs_never() {
    let case = with_zram().filled("/tmp", 0.93);
    assert!(case.finding("tmp-near-limit").unwrap().title.contains("tmpfs that has used 93 % of its space"));
    assert!(case.finding("tmpfs-near-limit").is_none());
    let mut sealed = with_zram().filled("/run", 0.95);
    assert!(sealed.finding("tmpfs-near-limit").is_some());
    let ramline_snapshot::Seen::Seen { data, .. } = &mut sealed.now.mounts else { panic!("no mounts") };
    data.iter_mut().find(|m| m.at == "/run").unwrap().options = "ro,nosuid".into();
    assert!(sealed.finding("tmpfs-near-limit").is_none());
}

#[test]
fn a_disk_under_tmp_is_full_by_bytes_only_when_little_is_left() {
    // 97 % of 252 GiB used leaves 7 GiB; 99.8 % leaves half a GiB.
    assert!(without_swap().filled("/", 0.97).finding("tmp-near-limit").is_none());
    let found = without_swap().filled("/", 0.998).finding("tmp-near-limit").unwrap();
    assert!(found.title.contains("on the file system at /, has used 100 % of its space"), "{}", found.title);
    let mut inodes = without_swap();
    let ramline_snapshot::Seen::Seen { data, .. } = &mut inodes.now.mounts else { panic!("no mounts") };
    let capacity = data.iter_mut().find(|m| m.at == "/").unwrap().capacity.as_mut().unwrap();
    capacity.inodes_free = capacity.inodes / 20;
    assert!(inodes.finding("tmp-near-limit").unwrap().title.contains("95 % of its inodes"));
}

#[test]
fn what_zswap_keeps_is_told_when_it_keeps_something() {
    let effect = |case: &Case| case.finding("zram-and-zswap").unwrap().effect;
    let mut case = fires("zram-and-zswap");
    assert!(effect(&case).starts_with("every page that zswap turns away"));
    let ramline_snapshot::Seen::Seen { data, .. } = &mut case.now.meminfo else { panic!("no meminfo") };
    data.zswap = Some(ramline_units::Bytes::from_mib(48));
    data.zswapped = Some(ramline_units::Bytes::from_mib(150));
    assert!(effect(&case).starts_with("48.0 MiB of RAM"), "{}", effect(&case));
}

#[test]
fn the_highest_swappiness_is_not_far_from_itself() {
    let case = with_zram().mglru(0).tier("disk:/", 8000).tier("zram-zstd", 4).swappiness(200);
    assert!(case.finding("swappiness-against-costs").is_none());
}
