//! Rules over rates, measured costs and arms of the sandbox: their bounds, numbers and confidence.

use crate::cases::{Case, THRASHING, ZRAM, fires, with_idle_anonymous, with_zram, without_swap};
use ramline_advice::{Confidence, Weight};
use ramline_evidence::SwapKind;

#[test]
fn an_arm_of_the_sandbox_makes_a_formula_certain() {
    let case = fires("swappiness-against-costs");
    assert_eq!(case.finding("swappiness-against-costs").unwrap().confidence, Confidence::Low);
    let proved = case.runs(ZRAM, Some(60), &[7, 8, 9]).runs(ZRAM, Some(190), &[3, 4, 5]);
    let found = proved.finding("swappiness-against-costs").unwrap();
    assert_eq!((found.confidence, found.weight), (Confidence::High, Weight::Warning));
    assert!(found.evidence.iter().any(|e| e.source == "lab run code-plus-data" && e.value.contains("intervals apart")));
    // r = 80/4 = 20, and 200·20/21 = 190.5.
    assert_eq!(found.change.unwrap().what, "vm.swappiness: 60 -> 180");
    assert_eq!(found.tune.unwrap(), "sudo ramline tune apply swappiness-against-costs");
}

#[test]
fn a_zram_area_measured_itself_counts_before_a_scratch_device_and_its_compression_is_charged() {
    let case = fires("swappiness-against-costs").tier("swap:/dev/zram0", 8).tier("swap-write:/dev/zram0", 8);
    // r = 80/(8+8) = 5, and 200·5/6 = 166.7.
    let change = case.finding("swappiness-against-costs").unwrap().change.unwrap();
    assert_eq!(change.what, "vm.swappiness: 60 -> 167");
    // r = 80/(8+72) = 1 is not far from what 60 stands for.
    let dear = fires("swappiness-against-costs").tier("swap:/dev/zram0", 8).tier("swap-write:/dev/zram0", 72);
    assert!(dear.finding("swappiness-against-costs").is_none());
}

#[test]
fn fewer_than_six_runs_of_each_arm_prove_nothing() {
    let case = with_idle_anonymous(without_swap()).window(THRASHING);
    let proved = case.clone().runs(SwapKind::None, None, &[9, 9]).runs(SwapKind::File, None, &[3, 3]);
    assert_eq!(proved.finding("no-swap-and-refaults").unwrap().confidence, Confidence::High);
    let single = case.runs(SwapKind::None, None, &[9]).runs(SwapKind::File, None, &[3]);
    assert_eq!(single.finding("no-swap-and-refaults").unwrap().confidence, Confidence::Medium);
}

#[test]
fn runs_on_an_emulated_processor_prove_nothing() {
    let case = with_idle_anonymous(without_swap()).window(THRASHING);
    let mut proved = case.runs(SwapKind::None, None, &[9, 9]).runs(SwapKind::File, None, &[3, 3]);
    assert_eq!(proved.finding("no-swap-and-refaults").unwrap().confidence, Confidence::High);
    proved.runs.iter_mut().for_each(|run| run.emulated = true);
    let found = proved.finding("no-swap-and-refaults").unwrap();
    assert_eq!(found.confidence, Confidence::Medium);
    assert!(found.evidence.iter().all(|evidence| evidence.source != "lab run code-plus-data"), "{:?}", found.evidence);
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
fn more_than_180_is_never_named_and_under_mglru_the_formula_is_a_direction() {
    let case = with_zram().tier("disk:/", 8000).tier("zram-zstd", 4);
    let change = |case: &Case| case.finding("swappiness-against-costs").unwrap().change.unwrap().what;
    assert_eq!(change(&case.clone().mglru(0)), "vm.swappiness: 60 -> 180");
    assert_eq!(change(&case.clone().mglru(7)), "vm.swappiness: 60 -> 180");
    let found = case.mglru(7).finding("swappiness-against-costs").unwrap();
    assert!(found.evidence.iter().any(|e| e.what == "MGLRU"));
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
    let planned = with(true, None, None);
    assert_eq!(planned.change.unwrap().commands, ["sudo ramline tune apply no-swap-and-refaults"]);
}

#[test]
fn tasks_that_wait_a_tenth_of_the_time_make_missing_swap_critical() {
    let mut case = fires("no-swap-and-refaults");
    assert_eq!(case.finding("no-swap-and-refaults").unwrap().weight, Weight::Warning);
    let text = "some avg10=10.00 avg60=9.00 avg300=1.00 total=900\n";
    let stalled = ramline_snapshot::pressure::Pressure::parse("memory", text).unwrap();
    case.now.pressure_memory = ramline_snapshot::Seen::new(stalled);
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
    assert!(fires(id).finding(id).unwrap().effect.starts_with("about 7.92 ms lost"));
    // r = 0.01, and 200·0.01/1.01 = 1.98.
    assert_eq!(fires(id).finding(id).unwrap().change.unwrap().what, "vm.swappiness: 60 -> 2");
}

#[test]
fn swap_measured_slower_than_files_is_a_formula_until_the_sandbox_proves_it() {
    let id = "swap-slower-than-reload";
    let found = fires(id).finding(id).unwrap();
    assert_eq!(found.confidence, Confidence::Low);
    assert!(!found.evidence.iter().any(|e| e.source == "lab run code-plus-data"));
    // 60 now, 2 advised: arms near each.
    let arms = |now: &[u64], advised: &[u64]| {
        fires(id).runs(SwapKind::File, Some(60), now).runs(SwapKind::File, Some(1), advised).finding(id)
    };
    let proved = arms(&[7, 8, 9], &[3, 4, 5]).unwrap();
    assert_eq!(proved.confidence, Confidence::High);
    assert!(
        proved.evidence.iter().any(|e| e.source == "lab run code-plus-data" && e.value.contains("intervals apart"))
    );
    assert_eq!(arms(&[3, 4, 5], &[7, 8, 9]), None, "it was slower");
    assert_eq!(arms(&[3, 4, 5], &[3, 4, 5]), None, "no difference");
    assert_eq!(arms(&[9], &[3]).unwrap().confidence, Confidence::Low, "three runs of each prove nothing");
    let far = fires(id).runs(SwapKind::File, Some(180), &[9, 9]).runs(SwapKind::File, Some(100), &[3, 3]);
    assert_eq!(far.finding(id).unwrap().confidence, Confidence::Low, "arms at other values say nothing");
    let zram = fires(id).runs(ZRAM, Some(60), &[9, 9]).runs(ZRAM, Some(1), &[3, 3]);
    assert_eq!(zram.finding(id).unwrap().confidence, Confidence::Low, "arms of another kind of area say nothing");
}

#[test]
fn two_values_close_to_each_other_share_no_arm() {
    let id = "swap-slower-than-reload";
    // r = 1/8, and 200/9 = 22; 30 is in use: an arm at 20 is near both, and counts for 22 alone.
    let case = Case { tiers: None, ..fires(id) }.tier("disk:/", 80).tier("swap:/dev/sdb1", 640).swappiness(30);
    let both = case.runs(SwapKind::File, Some(20), &[3, 3]).runs(SwapKind::File, Some(31), &[9, 9]);
    assert_eq!(both.finding(id).unwrap().confidence, Confidence::High);
}

#[test]
fn swap_ins_are_taken_out_of_what_faults_on_files_read() {
    let mut counters = THRASHING.to_vec();
    counters.iter_mut().find(|c| c.0 == "pswpin").unwrap().2 = 107;
    counters.iter_mut().find(|c| c.0 == "pgpgin").unwrap().2 = 819_200;
    let found = without_swap().swaps("/dev/sdb1 partition 8388604 0 -2\n").window(&counters).waiting(20);
    let found = found.finding("read-ahead-amplifies-faults").unwrap();
    let value = |what: &str| found.evidence.iter().find(|e| e.what == what).unwrap().value.clone();
    // 400 MiB/s less 50 pages a second; 100 faults less 50.
    assert_eq!(value("read from disks"), "399.8 MiB/s over 2.0 s");
    assert_eq!(value("major faults for files"), "50 faults/s over 2.0 s");
    assert!(found.title.contains("reads 8.0 MiB from disk"), "{}", found.title);
}

#[test]
fn the_highest_swappiness_is_not_far_from_itself() {
    let case = with_zram().mglru(0).tier("disk:/", 8000).tier("zram-zstd", 4).swappiness(200);
    assert!(case.finding("swappiness-against-costs").is_none());
}

#[test]
fn a_swap_in_counts_as_slower_from_twice_the_time_of_a_re_read() {
    let id = "swap-slower-than-reload";
    let case = |us| Case { tiers: None, ..fires(id) }.tier("disk:/", 80).tier("swap:/dev/sdb1", us);
    // r = 1/2 implies 67, r = 1/2.5 57: only a value above what is implied is a finding.
    assert!(case(159).swappiness(100).finding(id).is_none());
    let found = case(160).swappiness(100).finding(id).unwrap();
    assert_eq!(found.change.unwrap().what, "vm.swappiness: 100 -> 67");
    assert!(case(160).swappiness(67).finding(id).is_none());
}

#[test]
fn raising_and_lowering_swappiness_are_told_apart() {
    let raise = fires("swappiness-against-costs").finding("swappiness-against-costs").unwrap();
    assert!(raise.effect.starts_with("about 76.0 us for each file page that stays"), "80 us less 4: {}", raise.effect);
    assert!(raise.effect.contains("each file page that stays") && raise.cost_if_wrong.contains("more swap-ins"));
    let equal = with_zram().tier("disk:/", 10).tier("zram-zstd", 8).swappiness(190);
    let lower = equal.finding("swappiness-against-costs").unwrap();
    assert!(lower.effect.contains("each anonymous page that stays") && lower.cost_if_wrong.contains("more re-reads"));
    assert_eq!(lower.change.unwrap().what, "vm.swappiness: 190 -> 111");
}

#[test]
fn an_arm_counts_only_near_the_value_it_stands_for_and_zeros_only_when_nothing_else_ran() {
    let id = "swappiness-against-costs";
    let far = fires(id).runs(ZRAM, Some(81), &[7, 8, 9]).runs(ZRAM, Some(190), &[3, 4, 5]);
    assert_eq!(far.finding(id).unwrap().confidence, Confidence::Low, "81 is not near 60");
    let near = fires(id).runs(ZRAM, Some(80), &[7, 8, 9]).runs(ZRAM, Some(170), &[3, 4, 5]);
    assert_eq!(near.finding(id).unwrap().confidence, Confidence::High);
    // With zeros swapping wins, with random data it makes no difference: random data decides.
    let mut both = near;
    both.runs.iter_mut().for_each(|run| run.arm.fill = "zeros".into());
    assert_eq!(both.finding(id).unwrap().confidence, Confidence::High);
    let both = both.runs(ZRAM, Some(60), &[3, 4, 5]).runs(ZRAM, Some(190), &[3, 4, 5]);
    assert!(both.finding(id).is_none());
}

#[test]
fn read_ahead_is_to_blame_from_256_kib_a_fault_on() {
    let id = "read-ahead-amplifies-faults";
    let case = |kib: u64| {
        let mut counters = THRASHING.to_vec();
        counters.iter_mut().find(|c| c.0 == "pgpgin").unwrap().2 = kib;
        without_swap().swaps("/dev/sdb1 partition 8388604 0 -2\n").window(&counters).waiting(20)
    };
    // 200 faults in the window.
    assert!(case(200 * 256).finding(id).is_some() && case(200 * 256 - 1).finding(id).is_none());
    let effect = fires(id).finding(id).unwrap().effect;
    assert!(
        effect.contains("the 100 faults a second would read at most 12.5 MiB/s instead of 800.0 MiB/s"),
        "{effect}"
    );
}

#[test]
fn swap_is_missed_only_where_anonymous_memory_could_use_it_and_its_worth_is_told_in_time() {
    let id = "no-swap-and-refaults";
    let case = |mib: u64| {
        let mut case = without_swap().window(THRASHING);
        let ramline_snapshot::Seen::Seen { data, .. } = &mut case.now.meminfo else { panic!("no meminfo") };
        // Which of the two lists holds it does not matter.
        data.active_anon = Some(ramline_units::Bytes::from_mib(mib - 8));
        data.inactive_anon = Some(ramline_units::Bytes::from_mib(8));
        case
    };
    // A tenth of 24682416 KiB are 2410.4 MiB.
    assert!(case(2411).finding(id).is_some() && case(2410).finding(id).is_none());
    let effect = case(4096).tier("disk:/", 100).finding(id).unwrap().effect;
    assert!(
        effect.starts_with("of 4.0 GiB") && !effect.contains("a second"),
        "no waiting is made up of pages: {effect}"
    );
    let mut waits = case(4096);
    let text = "some avg10=12.50 avg60=0 avg300=0 total=1\nfull avg10=0.00 avg60=0 avg300=0 total=0\n";
    let pressure = ramline_snapshot::pressure::Pressure::parse("memory", text).unwrap();
    waits.now.pressure_memory = ramline_snapshot::Seen::new(pressure);
    let effect = waits.finding(id).unwrap().effect;
    assert!(effect.ends_with("tasks waited for memory 12.5 % of the last 10 s"), "{effect}");
}

#[test]
fn refaults_are_missed_when_programs_stop_for_them_or_the_kernel_calls_them_working_set() {
    let case = |activated: u64, faults: u64| {
        with_idle_anonymous(without_swap())
            .window(&[
                // As read here from a machine that thrashed: 120,000 refaults a second and next to no activation.
                ("workingset_refault_file", 22_684_574, 22_873_464),
                ("workingset_activate_file", 3_564_570, 3_564_570 + activated),
                ("pgmajfault", 2_345_029, 2_345_029 + faults),
            ])
            .finding("no-swap-and-refaults")
    };
    assert!(case(5, 106).is_some(), "53 major faults a second");
    assert!(case(5, 19).is_none() && case(5, 20).is_some(), "from ten a second on");
    assert!(case(18_889, 0).is_some() && case(18_888, 0).is_none(), "from a tenth of the refaults on");
}

#[test]
fn refaults_of_a_group_at_its_limit_are_told_from_those_of_a_machine_short_of_memory() {
    let case = |scanned: u64| {
        let mut counters = THRASHING.to_vec();
        counters.extend([("pgscan_kswapd", 50, 50 + scanned), ("pgscan_direct", 9, 9)]);
        with_idle_anonymous(without_swap()).window(&counters).finding("no-swap-and-refaults").unwrap()
    };
    let group = case(0);
    assert!(group.title.ends_with("inside a group at its own limit") && group.change.is_none());
    assert!(group.effect.contains("raise the limit of that group first"), "{}", group.effect);
    let machine = case(1);
    assert!(machine.title.ends_with("read again") && machine.change.is_some());
}
