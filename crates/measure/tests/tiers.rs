//! The tiers of this very machine: order, names for what was not measured, and nothing left behind.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

use std::collections::BTreeSet;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use ramline_act::{RunLock, StateDir};
use ramline_kernel::{Root, meminfo, mount, place, process, swap, zram};
use ramline_measure::tiers::{self, Measured, PageSample, TierOptions};
use ramline_sandbox::fill::Fill;
use ramline_sandbox::progress::Silent;
use ramline_testkit::skip_if;
use ramline_units::Bytes;

const STATE: &str = "RAMLINE_TEST_TIERS_STATE";

/// What a run could leave behind. Other tests may add zram devices of their own meanwhile, so those are compared by the caller.
fn residue(scratch: &Path) -> (BTreeSet<String>, Vec<String>) {
    let mounts = mount::list(&Root::live()).unwrap();
    let ours =
        mounts.into_iter().filter(|mounted| mounted.source == "ramline").map(|mounted| mounted.at.clone()).collect();
    let files = std::fs::read_dir(scratch).unwrap().flatten().map(|entry| entry.path().display().to_string()).collect();
    (ours, files)
}

fn p50(measured: &Measured, tier: &str) -> u64 {
    let found = measured.report.tier(tier).unwrap_or_else(|| panic!("no tier {tier}: {:?}", measured.report.skipped));
    found.latency.unwrap_or_else(|| panic!("no latency for {tier}")).p50_ns.0
}

fn zram_possible() -> bool {
    process::uid() == 0
        && zram::has_control(&Root::live())
        && meminfo::available(&Root::live()).unwrap() > Bytes::from_gib(1)
}

fn no_zram(test: &str) -> bool {
    skip_if(!zram_possible(), test, "a scratch zram device needs root, the zram driver and 1 GiB available")
}

fn state(dir: &Path) -> RunLock {
    RunLock::take(&StateDir::open(&dir.join("state")).unwrap(), &Root::live()).unwrap()
}

#[test]
fn a_quick_run_reads_only_and_finds_ram_below_the_page_cache_below_the_disk() {
    let measured = tiers::measure(&TierOptions::quick(), &mut Silent).unwrap();
    assert_eq!(measured.written, Bytes::ZERO);
    assert!(p50(&measured, "ram-load") < p50(&measured, "page-cache-read"));
    assert!(p50(&measured, "ram-load") < p50(&measured, "tmpfs"));
    let disk = measured.report.tiers.iter().find(|tier| tier.tier.starts_with("disk:"));
    match disk.and_then(|disk| disk.latency) {
        Some(disk) => assert!(p50(&measured, "page-cache-read") < disk.p50_ns.0),
        None => assert!(
            measured.report.skipped.iter().any(|line| line.starts_with("disk:")),
            "a disk that was not measured is named"
        ),
    }
    assert!(
        measured
            .report
            .skipped
            .iter()
            .any(|line| line.starts_with("zram on a scratch device: a quick run makes no device"))
    );
    assert!(measured.report.tier("zram-lz4").unwrap().notes.iter().any(|note| note.starts_with("user space")));
    let trust = &measured.report.conditions[0];
    assert!(trust.starts_with("trust: "), "{trust}");
    assert!(cfg!(not(debug_assertions)) || trust.contains("unoptimised build"), "{trust}");
}

#[test]
fn a_full_run_with_consent_measures_every_algorithm_and_leaves_nothing_behind() {
    let dir = tempfile::tempdir_in(".").unwrap();
    let scratch = dir.path().join("scratch");
    std::fs::create_dir(&scratch).unwrap();
    let lock = state(dir.path());
    let sample = PageSample::from_bytes("zeros", usize::try_from(process::page_size()).unwrap(), vec![0; 1 << 20]);
    let options = TierOptions {
        dir: scratch.clone(),
        scratch_zram: zram_possible().then_some(lock),
        sample: Some(sample),
        ..TierOptions::full()
    };
    let devices = zram::list(&Root::live());
    let before = residue(&scratch);
    let measured = tiers::measure(&options, &mut Silent).unwrap();
    assert_eq!(residue(&scratch), before);
    assert!(measured.report.tier("page-cache-read").is_some() || !place::describe(&scratch).unwrap().is_disk());
    if no_zram("a full run") {
        return;
    }
    let first = devices.first().copied();
    let algorithms = zram::Device::open(&Root::live(), first.unwrap_or(0))
        .algorithms()
        .unwrap_or_else(|_| vec!["lzo-rle".to_owned()]);
    for algorithm in algorithms {
        for tier in ["", "/write", "/random", "/random/write", "/sample"].map(|part| format!("zram-{algorithm}{part}"))
        {
            assert!(p50(&measured, &tier) > 0, "{tier}");
        }
        let random = measured.report.tier(&format!("zram-{algorithm}/random")).unwrap();
        assert!(random.method.contains("1.00:1"), "{}", random.method);
    }
    assert!(devices.iter().all(|id| zram::list(&Root::live()).contains(id)), "a device that was there before is gone");
    let cost = measured.cost.unwrap();
    assert!(cost.r > 0.0 && cost.swappiness <= 200 && cost.confidence == "low");
}

#[test]
fn a_place_that_is_no_disk_is_named_and_the_rest_is_measured() {
    for dir in ["/proc", "/no/such/place"] {
        let options = TierOptions { dir: dir.into(), ..TierOptions::quick() };
        let measured = tiers::measure(&options, &mut Silent).unwrap();
        assert!(
            measured.report.skipped.iter().any(|line| line.starts_with(&format!("disk:{dir}: cannot"))),
            "{:?}",
            measured.report.skipped
        );
        assert!(measured.report.tier("ram").is_some() && measured.report.tier("tmpfs").is_some());
        assert!(measured.cost.is_none() && measured.report.tier("page-cache-read").is_none());
    }
}

#[test]
fn real_pages_can_be_passed_and_get_rows_of_their_own() {
    let page = usize::try_from(process::page_size()).unwrap();
    let sample = PageSample::generated(Fill::Zeros, 64, page, 1);
    let options = TierOptions { sample: Some(sample), ..TierOptions::quick() };
    let measured = tiers::measure(&options, &mut Silent).unwrap();
    assert!(measured.report.tier("zram-lz4/sample").unwrap().method.contains("64 pages of zeros"));
}

#[test]
fn swap_areas_that_cannot_be_read_cost_what_the_tier_they_are_on_costs() {
    let (test, place) = ("swap areas that cannot be read", place::describe(".".as_ref()).unwrap());
    if no_zram(test) || skip_if(!place.is_disk(), test, &format!("{} is {}", place.dir.display(), place.fs_type)) {
        return;
    }
    let dir = tempfile::tempdir_in(".").unwrap();
    let lock = state(dir.path());
    let mut run = ramline_act::Run::begin(&lock, &Root::live(), None).unwrap();
    let scratch = run.make_dir(&dir.path().join("ramline-swap")).unwrap();
    let file = run.make_swap_file(&scratch.join("swap"), Bytes::from_mib(32)).unwrap();
    run.swap_on(&file, Some(1)).unwrap();
    let device = run.hot_add_zram().unwrap();
    device.set_algorithm("lz4").unwrap();
    device.set_disksize(Bytes::from_mib(32)).unwrap();
    run.swap_on(device.node(), Some(2)).unwrap();
    let options = TierOptions { dir: dir.path().to_owned(), scratch_zram: Some(lock), ..TierOptions::full() };
    let measured = tiers::measure(&options, &mut Silent).unwrap();
    run.finish().unwrap();
    assert!(!swap::is_on(&Root::live(), &file).unwrap() && !device.exists());
    let row = |path: &Path| measured.report.tier(&format!("swap:{}", path.display())).unwrap();
    // A fresh swap file holds nothing: the file system answers for its blocks in less time than RAM takes.
    assert!(row(&file).method.starts_with("taken over from disk:"), "{}", row(&file).method);
    assert!(
        row(device.node()).method.starts_with("taken over from zram-lz4: a device in use is left alone"),
        "{}",
        row(device.node()).method
    );
    let cost = measured.cost.unwrap();
    assert_eq!((cost.swap_tier, cost.hypothetical), (format!("swap:{}", device.node().display()), false));
    assert!(cost.blended.iter().any(|blend| blend.slow_tier.ends_with("/swap") && blend.swappiness <= 100));
}

/// Started by the test below, in a process of its own, because a signal is for the whole process. By itself it does nothing.
#[test]
fn interrupted_child() {
    let Some(dir) = std::env::var_os(STATE) else { return };
    ramline_kernel::signals::install();
    let dir = Path::new(&dir);
    let options = TierOptions { dir: dir.join("scratch"), scratch_zram: Some(state(dir)), ..TierOptions::full() };
    match tiers::measure(&options, &mut Silent) {
        Err(tiers::TiersError::Interrupted) => println!("interrupted as asked"),
        other => println!("not interrupted: {}", other.is_ok()),
    }
}

#[test]
fn a_run_interrupted_while_its_zram_device_exists_removes_it() {
    if no_zram("a run interrupted") {
        return;
    }
    let dir = tempfile::tempdir_in(".").unwrap();
    std::fs::create_dir(dir.path().join("scratch")).unwrap();
    let journals = dir.path().join("state/journal");
    let child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "interrupted_child", "--nocapture"])
        .env(STATE, dir.path().canonicalize().unwrap())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    // Once the journal names a device as done, the device exists.
    let id = || -> Option<u32> {
        let journal = std::fs::read_dir(&journals).ok()?.flatten().next()?;
        let text = std::fs::read_to_string(journal.path()).ok()?;
        let done = text.lines().find(|line| line.contains("done") && line.to_lowercase().contains("zram"))?;
        let after = done.split("\"id\":").nth(1)?;
        after.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
    };
    let start = Instant::now();
    let device = loop {
        if let Some(id) = id() {
            break id;
        }
        assert!(start.elapsed() < Duration::from_secs(60), "no device was made");
        std::thread::sleep(Duration::from_millis(5));
    };
    assert!(zram::list(&Root::live()).contains(&device));
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
    let output = child.wait_with_output().unwrap();
    assert!(String::from_utf8_lossy(&output.stdout).contains("interrupted as asked"), "{output:?}");
    assert!(!zram::list(&Root::live()).contains(&device), "zram{device} is still there");
    assert_eq!(residue(&dir.path().join("scratch")).1, Vec::<String>::new());
}
