//! Single screens: files in RAM, zram and swap, measured speeds.

use ramline_evidence::{LatencyStats, Measurement, TierMeasurement, TierReport};
use ramline_model::costs::CostRatio;
use ramline_model::maps::{Mapped, Speed};
use ramline_model::zram;
use ramline_snapshot::dirs::DirUse;
use ramline_snapshot::evictors::{DamonScheme, Evictors};
use ramline_snapshot::mounts::{self, Capacity};
use ramline_snapshot::zram::{Zram, ZramDevice, ZramSupport};
use ramline_snapshot::{Seen, Snapshot};
use ramline_units::{Bytes, Nanos};
use ramline_view::{CheckupReport, Screen, ShowMaps, ShowSwap, ShowTmpfs, ShowZram, html, screen};

use super::{STYLE, audited, flat, never, said, tree};

#[test]
fn a7_a_count_that_the_kernel_does_not_refresh_is_not_zero() {
    // "applied to 0 B since it started" while kdamond evicted 8,319 pages.
    let scheme = DamonScheme { kdamond: 0, state: "on".into(), action: "pageout".into(), applied_bytes: None };
    let mut seen = audited();
    seen.evictors = Seen::new(Evictors { schemes: vec![scheme], kdamond_threads: Some(1), ..Evictors::default() });
    let said = said(&seen, None);
    assert!(said.contains("pageout, on, how much is not refreshed by the kernel"), "{said}");
    never(&said, &["applied to 0 B", "0 B paged out"]);
}

/// A machine of 23.5 GiB with these mounts, each of half of it and empty.
fn mounted(text: &str, hidden: &[&str]) -> Snapshot {
    let mut seen = audited();
    let half = Bytes(seen.mem_total().unwrap().0 / 2);
    let mut all = mounts::parse("mountinfo", text).unwrap();
    for mount in &mut all {
        mount.capacity =
            Some(Capacity { size: half, free: half, available: half, inodes: 3_085_512, inodes_free: 3_085_511 });
        mount.hidden = hidden.contains(&mount.dev.as_str());
    }
    seen.mounts = Seen::new(all);
    seen.shmem = Seen::Unread;
    seen.dirs = Seen::Unread;
    seen
}

#[test]
fn a20_what_no_user_can_fill_is_no_alarm() {
    // devtmpfs, the tmpfs of the control groups, and a /dev/shm hidden under another: "47.1 GiB, 200 % of RAM".
    let seen = mounted(
        "1 0 0:5 / /dev rw - devtmpfs d rw\n2 1 0:6 / /dev/shm rw - tmpfs t rw\n3 1 0:7 / /dev/shm rw - tmpfs t rw\n4 0 0:8 / /sys/fs/cgroup rw - tmpfs c rw\n",
        &["0:6"],
    );
    let text = flat(&ShowTmpfs::new(&seen).text(&STYLE));
    assert!(
        text.starts_with("File systems in RAM use 0 B (now); together they may take 11.8 GiB, 50.0 % of RAM."),
        "{text}"
    );
    assert_eq!(text.matches("/dev/shm").count(), 1, "{text}");
    never(&text, &["200 %", "47.1 GiB", "filling them all", "end in swap or kills", "not told"]);
}

#[test]
fn a27_an_empty_directory_is_near_no_limit() {
    let dir = |path: &str, kib: u64, inodes: u64| DirUse {
        path: path.into(),
        allocated: Bytes::from_kib(kib),
        on_tmpfs: Bytes::from_kib(kib),
        inodes,
        complete: true,
        ..DirUse::default()
    };
    let mut seen = mounted("1 0 8:1 / / rw - ext4 /dev/vda rw\n2 1 0:6 / /tmp rw - tmpfs t rw\n", &[]);
    seen.dirs = Seen::new(vec![dir("/tmp", 4, 3), dir("/var/tmp", 0, 1)]);
    let shown = ShowTmpfs::new(&seen);
    let text = flat(&shown.text(&STYLE));
    assert!(text.contains("/tmp is in RAM already and needs 4.0 KiB and 3 inodes: it fits."), "{text}");
    let page = html::page(&CheckupReport { would_fit: shown.would_fit.clone(), ..CheckupReport::default() });
    for said in [text, flat(&page)] {
        never(&said, &["1 inodes", "inodes breaks first", "inodes is the first to break", "fits by every model"]);
    }
}

#[test]
fn b1_the_first_lines_of_swap_and_zram_say_what_it_means() {
    let seen = audited();
    let first = |text: String| text.lines().next().unwrap().to_owned();
    assert_eq!(
        first(ShowSwap::new(&seen, None).text(&STYLE)),
        "There is no swap: to make room the kernel can only drop page cache; process memory stays."
    );
    assert_eq!(first(ShowZram::new(&seen).text(&STYLE)), "zram is not used as swap: its device has no size.");
    for (tree_name, line) in [
        ("healthy/no-zram", "There is no zram here: no module for this kernel was found."),
        ("healthy/linux-6.12-zram", "zram is used as swap."),
        (
            "findings/swap-outranked/fires",
            "zram is used as swap, and an area that is not zram is used before it or in turn with it.",
        ),
    ] {
        assert_eq!(first(ShowZram::new(&tree(tree_name)).text(&STYLE)), line, "{tree_name}");
    }
}

#[test]
fn a25_zram_is_offered_and_not_the_next_step_where_nothing_is_to_be_changed() {
    let mut seen = audited();
    let files = [("disksize", "0"), ("initstate", "0")].map(|(k, v)| (k.to_owned(), v.to_owned())).into();
    let devices = ZramDevice::from_files("zram0", &files, &mut Vec::new()).into_iter().collect();
    let support = ZramSupport { control: true, ..ZramSupport::default() };
    seen.zram = Seen::new(Zram { support, devices, ..Zram::default() });
    let text = flat(&ShowZram::new(&seen).text(&STYLE));
    assert!(text.contains("How to use zram") && text.contains("zramctl --size"), "{text}");
    let report = CheckupReport { zram: zram::from_snapshot(&seen), ..CheckupReport::default() };
    for said in [text, flat(&html::page(&report))] {
        never(&said, &["Next step"]);
    }
}

#[test]
fn a22_a_speed_says_of_what_it_is_the_speed() {
    // One disk had 2.5 GiB/s by `measure tiers`, 498 MiB/s by `show maps` and 1.1 GiB/s by `explain dirty`.
    let speed = Speed {
        disk: "vda".into(),
        clean: Bytes::from_mib(20),
        files: 3,
        random: LatencyStats::from_durations(&[Nanos(90_000); 100]).unwrap(),
        sequential: Measurement::from_values(&[522e6, 523e6, 524e6], "bytes/s", "", &[]),
        took: Nanos(50_000_000),
        reached: Some(1.0),
    };
    let text = flat(&ShowMaps::new(Mapped::default(), 5, Some(Ok(speed))).text(&STYLE));
    assert!(
        text.contains("these files in order, up to 1 MiB at a time (one large file, as measure tiers reads, is often faster) n 3, median 498.8 MiB/s"),
        "{text}"
    );
}

fn tier(id: &str, ns: u64) -> TierMeasurement {
    TierMeasurement {
        tier: id.into(),
        label: id.into(),
        latency: LatencyStats::from_durations(&[Nanos(ns); 100]),
        batches: None,
        throughput: None,
        method: String::new(),
        notes: vec![],
    }
}

#[test]
fn a23_without_swap_no_swappiness_is_recommended_and_ram_is_as_fast_as_ram() {
    // "swappiness = 200 r / (1 + r) = 198", and 0.4 times RAM for a load from RAM.
    let report = TierReport {
        tiers: vec![tier("ram-load", 90), tier("ram", 230), tier("disk:/", 90_000)],
        ..TierReport::default()
    };
    let ratio = CostRatio {
        file_tier: "disk:/".into(),
        file_ns: 90_000.0,
        swap_tier: "zram-lz4".into(),
        swap_ns: 900.0,
        r: 100.0,
        swappiness: 198,
        confidence: "low".into(),
        hypothetical: true,
        ..CostRatio::default()
    };
    let text = screen::tiers(&report, Some(&ratio), false, &STYLE);
    assert!(flat(&text).contains("No swap is on, so they imply no swappiness."), "{text}");
    let cells =
        |name: &str| text.lines().find(|l| l.starts_with(name)).unwrap().split_whitespace().last().unwrap().to_owned();
    assert_eq!((cells("ram "), cells("disk:/ ")), ("1.0".to_owned(), "391".to_owned()), "{text}");
    never(&flat(&text), &["198", " 0.4"]);
}
