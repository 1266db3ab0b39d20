use ramline_advice::planning::{Ask, plan};
use ramline_evidence::pages::{PageProfile, Sampling};
use ramline_plan::{Decision, Goal, Step, Topic};
use ramline_snapshot::Seen;
use ramline_snapshot::blocks::{BlockDevice, Reads};
use ramline_snapshot::configured::Setting;

use super::{is_refused, line, planned, steps, systemd, why};
use crate::cases::{Case, with_zram, without_swap};

const KEY: &str = "vm.swappiness";

/// Files at 80 us, zram at 20 us: r is 4.
fn measured() -> Case {
    with_zram().tier("disk:/", 80).tier("swap:/dev/zram0", 20)
}

#[test]
fn swappiness_follows_measured_costs_and_is_kept_where_it_is_near_them() {
    let far = line(&measured(), &systemd(), Topic::Vm, KEY);
    assert_eq!((far.old.as_deref(), far.new.as_deref(), &far.decision), (Some("60"), Some("160"), &Decision::Change));
    assert_eq!(steps(&far), ["create /etc/sysctl.d/99-zz-ramline.conf", "write /proc/sys/vm/swappiness: 60 -> 160"]);
    assert!(why(&far).contains("r = 4.00, 200 r/(1+r) = 160"), "{}", why(&far));
    let near = line(&measured().swappiness(133), &systemd(), Topic::Vm, KEY);
    assert_eq!((near.decision, near.steps.len()), (Decision::Keep, 0));
}

#[test]
fn a_disk_behind_zram_caps_swappiness_at_100_once_zram_is_full() {
    let areas = "/dev/zram0 partition 118812 24576 100\n/dev/sdz1 partition 523260 0 -2\n";
    let both = line(&measured().swaps(areas), &systemd(), Topic::Vm, KEY);
    assert_eq!(both.new.as_deref(), Some("160"));
    let later = "when /dev/zram0 is full (21 % now), pages go to /dev/sdz1, which is read like a disk: 100 will be";
    assert!(why(&both).contains(later), "{}", why(&both));
    let full = "/dev/zram0 partition 118812 118000 100\n/dev/sdz1 partition 523260 0 -2\n";
    let now = line(&measured().swappiness(10).swaps(full), &systemd(), Topic::Vm, KEY);
    assert_eq!(now.new.as_deref(), Some("100"));
    assert!(why(&now).contains("100 is the most that suits both"), "{}", why(&now));
    assert_eq!(line(&measured().swaps(full), &systemd(), Topic::Vm, KEY).decision, Decision::Keep);
}

#[test]
fn what_reads_of_the_disk_took_here_comes_before_what_was_measured_of_new_data() {
    let read = |count: u64, took_ms: u64| {
        let mut case = measured();
        disk(&mut case, "vda", Some(Reads { count, took_ms }));
        line(&case, &systemd(), Topic::Vm, KEY)
    };
    // 120 us against 20 us.
    let found = read(10_000, 1200);
    assert_eq!(found.new.as_deref(), Some("171"));
    assert!(why(&found).contains("120.0 us (the mean of all reads of vda so far)"), "{}", why(&found));
    let slow = read(10_000, 3800);
    assert_eq!(slow.new.as_deref(), Some("180"));
    assert!(why(&slow).contains("= 190; more than 180 is not suggested"), "{}", why(&slow));
    assert_eq!(read(999, 380).new.as_deref(), Some("160"), "too few of them");
}

#[test]
fn pages_of_one_word_cost_a_fault_and_no_compression() {
    let of = |same_filled: u64| {
        let case = measured().tier("swap-write:/dev/zram0", 20).tier("page-cache-mmap-fault", 2);
        let sampling = Sampling { taken: 1000, same_filled, ..Sampling::default() };
        let pages = Some(PageProfile { sampling, ..PageProfile::default() });
        let ask = Ask { topics: vec![Topic::Vm], pages, ..Ask::default() };
        let plan = case.inputs(|inputs| plan(inputs, &systemd(), &ask));
        plan.lines.into_iter().find(|line| line.target == KEY).unwrap()
    };
    // 80 us against 40 us, and against 2 us.
    assert!(why(&of(0)).contains("r = 2.00"), "{}", why(&of(0)));
    assert!(
        why(&of(1000)).contains("(100 % of the pages are of one word and cost a fault): r = 40.00"),
        "{}",
        why(&of(1000))
    );
    assert_eq!(of(1000).new.as_deref(), Some("180"));
}

#[test]
fn with_a_zram_that_is_planned_the_value_for_it_is_planned_at_once() {
    let of = |case: &Case| {
        let plan = planned(case, &systemd(), &[Topic::Zram, Topic::Vm], Goal::Capacity);
        assert_eq!(plan.lines.iter().find(|line| line.target == "zram").unwrap().decision, Decision::Change);
        plan.lines.into_iter().find(|line| line.target == KEY).unwrap()
    };
    // 80 us against 20 us.
    let case = without_swap().tier("disk:/", 80).tier("zram-lzo-rle", 10).tier("zram-lzo-rle/write", 10);
    let found = of(&case);
    assert_eq!((found.decision.clone(), found.new.as_deref()), (Decision::Change, Some("160")), "{}", why(&found));
    assert!(why(&found).contains("it is for the zram of this plan"), "{}", why(&found));
    assert!(matches!(of(&without_swap()).decision, Decision::NotKnown(_)));
}

/// The root file system is on this disk.
fn disk(case: &mut Case, name: &str, reads: Option<Reads>) {
    let Seen::Seen { data: blocks, .. } = &mut case.now.blocks else { panic!("no blocks") };
    let Seen::Seen { data: mounts, .. } = &mut case.now.mounts else { panic!("no mounts") };
    blocks.push(BlockDevice {
        name: name.into(),
        dev: "259:0".into(),
        rotational: Some(false),
        reads,
        ..BlockDevice::default()
    });
    mounts.iter_mut().filter(|mount| mount.at == "/").for_each(|mount| mount.dev = "259:0".into());
}

#[test]
fn without_swap_in_use_or_without_costs_swappiness_is_no_change() {
    assert_eq!(line(&without_swap(), &systemd(), Topic::Vm, KEY).decision, Decision::Keep);
    let open = line(&with_zram(), &systemd(), Topic::Vm, KEY);
    assert_eq!(open.decision, Decision::NotKnown("sudo ramline measure tiers".into()));
}

#[test]
fn kinds_of_devices_give_an_interval_of_which_the_nearer_end_is_taken() {
    let mut case = with_zram();
    case.now.machine.hypervisor = None;
    disk(&mut case, "nvme0n1", None);
    // 60 to 120 us against 8 to 40 us: r is 1.5 to 15, 120 to 188. 60 stands for 0.43, and 1.5 is not far from it.
    assert_eq!(line(&case.clone().swappiness(60), &systemd(), Topic::Vm, KEY).decision, Decision::Keep);
    assert_eq!(line(&case.swappiness(10), &systemd(), Topic::Vm, KEY).new.as_deref(), Some("120"));
}

#[test]
fn a_file_that_sets_it_later_blocks_the_line_and_an_earlier_one_does_not() {
    let set_in = |file: &str| {
        let mut case = measured();
        let Seen::Seen { data, .. } = &mut case.now.configured else { panic!("nothing configured") };
        data.settings.push(Setting { key: KEY.into(), value: "60".into(), file: file.into(), line: 3 });
        line(&case, &systemd(), Topic::Vm, KEY)
    };
    let earlier = set_in("/etc/sysctl.d/99-sysctl.conf");
    assert_eq!(earlier.set_by, ["/etc/sysctl.d/99-sysctl.conf:3 (60)"]);
    assert_eq!(earlier.decision, Decision::Change);
    let later = set_in("/etc/sysctl.d/99-zzz.conf");
    assert!(is_refused(&later, "/etc/sysctl.d/99-zzz.conf:3"), "{:?}", later.decision);
    let mut tuned = systemd();
    tuned.others_set.push(Setting {
        key: KEY.into(),
        value: "10".into(),
        file: "/usr/lib/tuned/x/tuned.conf".into(),
        line: 2,
    });
    assert_eq!(line(&measured(), &tuned, Topic::Vm, KEY).decision, Decision::Change);
    tuned.tuned_yields = false;
    assert!(is_refused(&line(&measured(), &tuned, Topic::Vm, KEY), "/usr/lib/tuned/x/tuned.conf:2"));
}

#[test]
fn what_is_set_is_read_back_from_the_file_that_ramline_wrote_before() {
    let mut set_up = systemd();
    set_up.own.insert("/etc/sysctl.d/99-zz-ramline.conf".into(), "# x\nvm.page-cluster = 3\n".into());
    let far = line(&measured(), &set_up, Topic::Vm, KEY);
    let Some(Step::EditFile { after: Some(after), before: Some(_), .. }) = far.steps.first() else { panic!("{far:?}") };
    assert_eq!(after, "# x\nvm.page-cluster = 3\nvm.swappiness = 160\n");
}

#[test]
fn page_cluster_is_lowered_by_the_hit_ratio_alone() {
    let disk = || without_swap().swaps("/dev/vda2 partition 8388604 1048576 -2\n");
    let of = |case: Case| line(&case, &systemd(), Topic::Vm, "vm.page-cluster");
    // 1,000 pages a second read ahead, 10 of them used.
    let wasted = of(disk().window(&[("swap_ra", 0, 2000), ("swap_ra_hit", 0, 10)]));
    assert_eq!((wasted.old.as_deref(), wasted.new.as_deref()), (Some("3"), Some("2")));
    let used = of(disk().window(&[("swap_ra", 0, 2000), ("swap_ra_hit", 0, 1900)]));
    assert_eq!(used.decision, Decision::Keep);
    let mut zero = disk();
    let Seen::Seen { data, .. } = &mut zero.now.settings else { panic!("no settings") };
    data.page_cluster = Some(0);
    assert_eq!(of(zero).new.as_deref(), Some("3"), "a disk area in use, and no ratio speaks for single pages");
    assert_eq!(of(with_zram()).decision, Decision::Keep);
}

#[test]
fn the_scale_factor_is_raised_by_stalls_and_above_its_crossover() {
    let of = |stalls| {
        let case = with_zram().window(&[("allocstall_normal", 0, stalls)]);
        line(&case, &systemd(), Topic::Vm, "vm.watermark_scale_factor")
    };
    assert_eq!(of(0).decision, Decision::Keep);
    let raised = of(200);
    assert_eq!(raised.decision, Decision::Change, "{raised:?}");
    let then: f64 = raised.new.as_deref().unwrap().parse().unwrap();
    assert!((10.0..=100.0).contains(&then) && why(&raised).contains("100 allocations a second"), "{raised:?}");
    let settled = line(&with_zram(), &systemd(), Topic::Vm, "vm.watermark_scale_factor");
    assert!(why(&settled).contains("no allocation had to wait for reclaim since boot"), "{}", why(&settled));
}

#[test]
fn dirty_limits_are_seconds_of_the_measured_disk_and_hold_the_ratio_for_the_way_back() {
    let of = |case: &Case| line(case, &systemd(), Topic::Vm, "vm.dirty_bytes");
    let unknown = of(&without_swap());
    assert!(matches!(unknown.decision, Decision::NotKnown(_)), "{unknown:?}");
    let measured = |mib_s: f64| {
        let mut case = without_swap().tier("disk:/", 80);
        let tier = case.tiers.as_mut().unwrap().tiers.last_mut().unwrap();
        tier.throughput = ramline_evidence::Measurement::from_values(&[mib_s * 1_048_576.0; 6], "B/s", "test", &["d"]);
        case
    };
    assert_eq!(of(&measured(2000.0)).decision, Decision::Keep);
    let slow = of(&measured(20.0));
    assert_eq!(slow.decision, Decision::Change, "{slow:?}");
    assert_eq!(
        steps(&slow),
        [
            "create /etc/sysctl.d/99-zz-ramline.conf",
            "write /proc/sys/vm/dirty_background_bytes: 0 -> 52428800 (/proc/sys/vm/dirty_background_ratio: 10 -> 0)",
            "create /etc/sysctl.d/99-zz-ramline.conf",
            "write /proc/sys/vm/dirty_bytes: 0 -> 104857600 (/proc/sys/vm/dirty_ratio: 20 -> 0)",
        ]
    );
    // The limit of a small machine is no long work for any disk.
    assert_eq!(of(&with_zram()).decision, Decision::Keep);
}

#[test]
fn a_cache_of_names_that_is_never_given_back_is_changed() {
    let mut case = with_zram();
    assert_eq!(line(&case, &systemd(), Topic::Vm, "vm.vfs_cache_pressure").decision, Decision::Keep);
    let Seen::Seen { data, .. } = &mut case.now.settings else { panic!("no settings") };
    data.vfs_cache_pressure = Some(0);
    assert_eq!(line(&case, &systemd(), Topic::Vm, "vm.vfs_cache_pressure").new.as_deref(), Some("100"));
}
