//! Rules over the kernel's state: swap areas, zram, tmpfs, /tmp, watermarks, other evictors.

use crate::cases::{Case, fires, silent, with_zram, without_swap};
use ramline_advice::{Confidence, Weight};

#[test]
fn zram_and_a_disk_at_one_priority_are_out_of_order_and_two_disks_are_a_stripe() {
    let both = with_zram().swaps("/dev/vda2 partition 522236 4096 5\n/dev/zram0 partition 118812 4096 5\n");
    let found = both.finding("swap-outranked").unwrap();
    assert_eq!(found.title, "/dev/zram0 shares priority 5 with the slower swap /dev/vda2");
    assert_eq!(found.tune.as_deref(), Some("sudo ramline tune apply swap-outranked"));
    let disks = with_zram().swaps("/dev/vda2 partition 522236 0 5\n/dev/vdb2 partition 522236 0 5\n");
    assert!(disks.finding("swap-outranked").is_none());
}

#[test]
fn a_slower_area_that_is_full_took_the_pages_until_now_in_the_finding_and_on_the_screen_alike() {
    for (rows, words) in [
        ("/dev/vda2 partition 4096 4096 20\n/dev/zram0 partition 118812 1024 10\n", "until now"),
        ("/dev/vda2 partition 8192 4096 20\n/dev/zram0 partition 118812 1024 10\n", "first"),
        ("/dev/vda2 partition 8192 4096 10\n/dev/zram0 partition 118812 1024 10\n", "same priority"),
        ("/dev/vda2 partition 8192 4096 9\n/dev/zram0 partition 118812 1024 10\n", ""),
    ] {
        let case = with_zram().swaps(rows);
        let found = case.finding("swap-outranked");
        let state = ramline_model::zram::from_snapshot(&case.now).unwrap();
        let over = state.devices.iter().find_map(|d| d.outranked_by.clone());
        assert_eq!((found.is_some(), over.is_some()), (!words.is_empty(), !words.is_empty()), "{rows}");
        let (Some(found), Some(over)) = (found, over) else { continue };
        assert!(over.words().contains(words), "{}", over.words());
        assert_eq!(found.effect.starts_with("until now"), words == "until now", "{}", found.effect);
        let told = case.inputs(|i| ramline_advice::explain("swap-order", i)).unwrap();
        assert!(!told.numbers.is_empty());
    }
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
fn a_damon_that_only_watches_is_no_evictor_and_one_thread_more_may_be() {
    let mut case = with_zram();
    let ramline_snapshot::Seen::Seen { data, .. } = &mut case.now.evictors else { panic!("no evictors") };
    data.kdamond_threads = Some(1);
    data.damon_stat.insert("enabled".into(), "Y".into());
    assert!(case.finding("other-evictor").is_none(), "the thread is damon_stat's");
    let told = case.inputs(|i| ramline_advice::explain("evictors", i)).unwrap();
    assert!(
        told.answer_short.starts_with("Nothing else evicts pages here: DAMON runs, but it only watches"),
        "{}",
        told.answer_short
    );
    let ramline_snapshot::Seen::Seen { data, .. } = &mut case.now.evictors else { panic!("no evictors") };
    data.kdamond_threads = Some(2);
    assert_eq!(case.finding("other-evictor").unwrap().confidence, Confidence::Low);
}

#[test]
fn a_user_near_its_quota_is_named_with_its_file_system_and_root_never() {
    let mut case = fires("tmpfs-quota-near-limit");
    let found = case.finding("tmpfs-quota-near-limit").unwrap();
    assert_eq!(found.title, "User 1000 has used 99 % of its space quota on /tmp");
    assert_eq!(found.change, None, "twice 186 MiB is more than /tmp has");
    assert!(case.finding("tmp-near-limit").is_none(), "/tmp itself has room");
    let ramline_snapshot::Seen::Seen { data, .. } = &mut case.now.mounts else { panic!("no mounts") };
    let tmp = data.iter_mut().find(|m| m.at == "/tmp").unwrap();
    tmp.capacity.as_mut().unwrap().size = ramline_units::Bytes::from_gib(1);
    let change = case.finding("tmpfs-quota-near-limit").unwrap().change.unwrap();
    assert_eq!(change.commands, ["setquota -u 1000 0 380204 0 0 /tmp"]);
    assert_eq!(change.undo, ["setquota -u 1000 0 190102 0 0 /tmp"]);
    let ramline_snapshot::Seen::Seen { data, .. } = &mut case.now.mounts else { panic!("no mounts") };
    data.iter_mut().for_each(|m| m.quotas.retain(|q| q.id == 0));
    assert!(case.finding("tmpfs-quota-near-limit").is_none());
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
    let case = without_swap()
        .swaps("/dev/sda2 partition 522236 4096 -2\n/dev/sdb;\\040reboot partition 118812 0 -3\n")
        .tier("swap:/dev/sda2", 9000)
        .tier("swap:/dev/sdb; reboot", 80);
    let found = case.finding("swap-outranked").unwrap();
    assert_eq!((found.change.unwrap().commands[0].as_str(), found.tune), ("swapoff '/dev/sdb; reboot'", None));
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
fn a_tmp_of_its_own_on_disk_is_full_at_nine_tenths_whatever_is_left() {
    let mut case = without_swap();
    let ramline_snapshot::Seen::Seen { data, .. } = &mut case.now.mounts else { panic!("no mounts") };
    let mut own = data.iter().find(|m| m.at == "/").unwrap().clone();
    own.at = "/tmp".into();
    data.push(own);
    assert!(
        case.clone().filled("/tmp", 0.91).finding("tmp-near-limit").unwrap().title.starts_with("/tmp has used 91 %")
    );
    assert!(case.filled("/tmp", 0.89).finding("tmp-near-limit").is_none());
}

#[test]
fn incompressible_pages_are_written_out_where_there_is_a_place() {
    let mut case = fires("zram-incompressible");
    let found = case.finding("zram-incompressible").unwrap();
    assert_eq!((found.change, found.weight), (None, Weight::Warning), "66 % is more than half");
    let ramline_snapshot::Seen::Seen { data, .. } = &mut case.now.zram else { panic!("no zram") };
    data.devices[0].backing_dev = Some("/dev/vdc".into());
    let found = case.finding("zram-incompressible").unwrap();
    assert_eq!(found.change.unwrap().commands, ["echo huge > /sys/block/zram0/writeback"]);
    assert!(found.already.contains(&"a backing device: /dev/vdc".to_owned()));
}

#[test]
fn a_kill_is_predicted_where_no_swap_area_has_room_and_not_where_a_disk_stands_below() {
    for id in ["zram-incompressible", "zram-limit-fails-writes"] {
        let mut case = fires(id);
        let ramline_snapshot::Seen::Seen { data, .. } = &mut case.now.swaps else { panic!("no swaps") };
        data.iter_mut().for_each(|area| area.used = area.size);
        let mut below = data[0].clone();
        let found = case.finding(id).unwrap();
        assert!(
            found.effect.contains("no swap area has room left") && found.effect.contains("is killed"),
            "{}",
            found.effect
        );
        assert!(found.weight >= Weight::Warning);
        (below.path, below.priority, below.used) = ("/swapfile".into(), -2, ramline_units::Bytes::ZERO);
        let ramline_snapshot::Seen::Seen { data, .. } = &mut case.now.swaps else { panic!("no swaps") };
        data.push(below);
        assert!(!case.finding(id).unwrap().effect.contains("is killed"), "{id}");
    }
}

#[test]
fn the_share_of_a_zram_device_that_its_limit_leaves_unusable_is_told() {
    let found = fires("zram-limit-fails-writes").finding("zram-limit-fails-writes").unwrap();
    // 58.0 MiB stored in 31.0 of 32.0 MiB: 59.9 MiB fit, and disksize is 116.0 MiB.
    assert!(found.effect.starts_with("56.2 MiB of swap"), "{}", found.effect);
}

#[test]
fn the_scale_factor_is_not_judged_while_memory_is_still_being_handed_out() {
    let mut case = fires("watermark-scale-factor-without-effect");
    let ramline_snapshot::Seen::Seen { data, .. } = &mut case.now.meminfo else { panic!("no meminfo") };
    data.mem_total = data.mem_total.map(|total| total + total);
    assert!(case.finding("watermark-scale-factor-without-effect").is_none());
    let mut low = fires("watermark-scale-factor-without-effect");
    let ramline_snapshot::Seen::Seen { data, .. } = &mut low.now.settings else { panic!("no settings") };
    // Crossover 2500·1700/475256 = 8.9: the default has an effect, so lowering it to 5 has one too.
    (data.watermark_scale_factor, data.min_free_kbytes) = (Some(5), Some(1700));
    assert!(low.finding("watermark-scale-factor-without-effect").is_none());
}

#[test]
fn a_scheme_that_pages_out_now_is_a_warning_and_a_hidden_thread_only_may() {
    let case = fires("other-evictor").window(&[]);
    let still = case.finding("other-evictor").unwrap();
    assert!(still.weight == Weight::Note && still.title.contains(" evicts pages"));
    // The capture's count stood still: that is not zero.
    assert!(
        still.evidence.iter().any(|e| e.value == "on; how much it pages out is not refreshed by the kernel"),
        "{:?}",
        still.evidence
    );
    let mut busy = case;
    for (snapshot, bytes) in [(busy.before.as_mut().unwrap(), 4096), (&mut busy.now, 8192)] {
        let ramline_snapshot::Seen::Seen { data, .. } = &mut snapshot.evictors else { panic!() };
        data.schemes[0].applied_bytes = Some(bytes);
    }
    assert_eq!(busy.finding("other-evictor").unwrap().weight, Weight::Warning);
    let mut hidden = with_zram();
    let ramline_snapshot::Seen::Seen { data, .. } = &mut hidden.now.evictors else { panic!("no evictors") };
    data.kdamond_threads = Some(1);
    let title = hidden.finding("other-evictor").unwrap().title;
    assert!(title.contains("1 DAMON thread whose") && title.contains(" may evict pages"), "{title}");
    let ramline_snapshot::Seen::Seen { data, .. } = &mut hidden.now.evictors else { panic!("no evictors") };
    data.damon_reclaim.insert("enabled".into(), "Y".into());
    let found = hidden.finding("other-evictor").unwrap();
    assert!(!found.title.contains("not visible"), "the one thread is damon_reclaim's: {}", found.title);
    assert_eq!(found.change.unwrap().undo, ["echo Y > /sys/module/damon_reclaim/parameters/enabled"]);
}

#[test]
fn a_small_full_tmpfs_is_doubled_and_one_of_half_the_ram_is_not() {
    let mut case = with_zram().filled("/run", 0.95);
    assert_eq!(case.finding("tmpfs-near-limit").unwrap().change, None, "/run has half of RAM already");
    let ramline_snapshot::Seen::Seen { data, .. } = &mut case.now.mounts else { panic!("no mounts") };
    data.iter_mut().find(|m| m.at == "/run").unwrap().capacity.as_mut().unwrap().size =
        ramline_units::Bytes::from_mib(16);
    let change = case.filled("/run", 0.95).finding("tmpfs-near-limit").unwrap().change.unwrap();
    assert_eq!(change.commands, ["mount -o remount,size=32768k /run"]);
    assert_eq!(change.undo, ["mount -o remount,size=16384k /run"]);
}
