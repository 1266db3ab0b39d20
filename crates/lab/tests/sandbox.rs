//! Code-plus-data on this machine's kernel, small: 4 MiB units in a memory cgroup, as root.
//!
//! It also kills ramline with SIGKILL after journal records and looks at what is left. By default every fifth record;
//! `RAMLINE_LONG=1` takes every one.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use ramline_act::{RunLock, StateDir, leftovers, one_line, recover};
use ramline_evidence::Verdict;
use ramline_gather::gather;
use ramline_kernel::cgroup::Hierarchy;
use ramline_kernel::{Root, mount, process, swap};
use ramline_lab::experiments::code_plus_data::plan::CodePlusDataPlan;
use ramline_lab::experiments::code_plus_data::settings::Settings;
use ramline_lab::series::{Consent, Env};
use ramline_lab::store::RunFolder;
use ramline_lab::{experiments, experiments::code_plus_data, report};
use ramline_sandbox::progress::Silent;
use ramline_sandbox::{arm, child};
use ramline_snapshot::Wanted;
use ramline_units::Bytes;

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    match args.first().map(String::as_str) {
        Some(child::ARGUMENT) => return experiments::child_main(&args[1..]),
        Some("__observer") => return observer(&args[1..]),
        Some("--list") => return ExitCode::SUCCESS,
        _ => {}
    }
    let root = Root::live();
    let none = process::uid() != 0 || Hierarchy::detect(&root).and_then(|found| found.parent()).is_err();
    if ramline_testkit::skip_if(none, "the sandbox", "it needs root and a memory cgroup") {
        return ExitCode::SUCCESS;
    }
    // Not below /tmp, which may be a tmpfs: scratch files need a disk.
    let base = tempfile::Builder::new().prefix("ramline-test-").tempdir_in("/var/tmp").unwrap();
    every_arm_ends_with_a_record_and_leaves_nothing(base.path());
    arms_of_swap_run_without_zswap_and_it_is_put_back(base.path());
    without_consent_nothing_outside_the_sandbox_is_touched(base.path());
    what_cannot_end_in_time_is_not_begun_and_named(base.path());
    a_group_that_cannot_hold_the_data_is_killed_and_nobody_else(base.path());
    what_cannot_be_removed_is_the_error_and_nothing_new_is_started_on_it(base.path());
    after_kill_9_the_workload_dies_by_itself_and_recovery_leaves_nothing(base.path());
    println!("sandbox: ok");
    ExitCode::SUCCESS
}

fn settings(base: &Path, arms: &[&str]) -> Settings {
    Settings {
        unit: Bytes::from_mib(4),
        arms: arms.iter().map(|text| arm::parse(text).unwrap()).collect(),
        rounds: 2,
        runs: 1,
        timeout: Duration::from_secs(3),
        dir: Some(base.to_owned()),
        allow_busy: true,
        settle: Duration::ZERO,
        ..Settings::default()
    }
}

fn run(base: &Path, settings: &Settings, crash_after: Option<u64>) -> ramline_lab::Result<RunFolder> {
    let root = Root::live();
    let lock = RunLock::take(&StateDir::open(&base.join("state"))?, &root)?;
    let plan = CodePlusDataPlan::checked(&root, settings)?;
    let env = Env { root: &root, lock: &lock, deadline: None, crash_after };
    let done = code_plus_data::run(&env, &plan, Consent::Given, &mut Silent)?;
    Ok(done.folder.unwrap())
}

fn observer(args: &[String]) -> ExitCode {
    let [base, crash_after] = args else { return ExitCode::FAILURE };
    let settings = settings(Path::new(base), &["swap:60", "zram:60"]);
    match run(Path::new(base), &settings, crash_after.parse().ok()) {
        Ok(_) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

/// What must be as before: swap areas, mounts, loop devices in use and the read-ahead of all, zram devices, scratch.
fn picture(base: &Path) -> BTreeSet<String> {
    let root = Root::live();
    let seen = gather(&root, Wanted { blocks: true, ..Wanted::NOTHING });
    let blocks = seen.blocks.data().cloned().unwrap_or_default();
    let queues =
        blocks.into_iter().map(|block| format!("{} {:?} {:?}", block.name, block.read_ahead, block.backing_file));
    let swaps = swap::areas(&root).unwrap().into_iter().map(|area| format!("swap {}", area.path));
    let mounts = mount::list(&root).unwrap().into_iter().map(|mounted| format!("mount {}", mounted.at));
    let scratch =
        std::fs::read_dir(base).unwrap().flatten().map(|entry| format!("file {}", entry.file_name().display()));
    queues.chain(swaps).chain(mounts).chain(scratch).filter(|line| !line.ends_with("state")).collect()
}

fn groups_of(pid: u32) -> Vec<PathBuf> {
    let parent = Hierarchy::detect(&Root::live()).unwrap().parent().unwrap();
    let ours = |path: &PathBuf| {
        path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(&format!("ramline-{pid}-")))
    };
    std::fs::read_dir(parent).unwrap().flatten().map(|entry| entry.path()).filter(ours).collect()
}

fn every_arm_ends_with_a_record_and_leaves_nothing(base: &Path) {
    let before = picture(base);
    let folder = run(base, &settings(base, &["swap:60", "no-swap", "zram:60"]), None).unwrap();
    assert_eq!(picture(base), before);
    assert!(groups_of(std::process::id()).is_empty());
    let records = folder.read().unwrap().records;
    assert_eq!(records.len(), 3);
    for record in &records {
        let name = &record.arm.name;
        assert!(matches!(record.verdict, Verdict::Completed | Verdict::Thrashing(_)), "{name}: {:?}", record.verdict);
        assert_eq!(record.verified["scratch read-ahead KiB"], "128", "{name}");
        assert!(!record.samples.is_empty() && record.reclaim.major_faults > 0, "{name}");
        assert!(record.notes.iter().all(|note| !note.contains("others paid")), "{name}: {:?}", record.notes);
    }
    let swapped = |at: usize| records[at].reclaim.swap_out.unwrap();
    assert!(swapped(0) > 1000 && swapped(2) > 1000, "{} {}", swapped(0), swapped(2));
    assert_eq!(swapped(1), 0, "no-swap swapped");
    // Half of a round of code is 12 MiB; without swap far more than all of it is read again and again.
    let refaults = |at: usize| records[at].reclaim.refault_file.unwrap();
    assert!(refaults(1) > 2 * refaults(0), "{} without swap, {} with", refaults(1), refaults(0));
    let pool = records[2].pool.unwrap();
    assert!(pool.pool_max > Bytes::ZERO && pool.deviation().unwrap() < 0.05, "{pool:?}");
    assert_eq!(report::doubts(&records), Vec::<String>::new());
}

/// Puts zswap back as it was, also when a check fails.
struct Zswap(PathBuf, String);

impl Drop for Zswap {
    fn drop(&mut self) {
        drop(std::fs::write(&self.0, &self.1));
    }
}

fn arms_of_swap_run_without_zswap_and_it_is_put_back(base: &Path) {
    let path = PathBuf::from("/sys/module/zswap/parameters/enabled");
    if ramline_testkit::skip_if(!path.exists(), "settings of swap run without zswap", "this kernel has no zswap") {
        return;
    }
    let _before = Zswap(path.clone(), std::fs::read_to_string(&path).unwrap());
    std::fs::write(&path, "Y").unwrap();
    let folder = run(base, &settings(base, &["swap:60", "no-swap"]), None).unwrap();
    for record in folder.read().unwrap().records {
        let zswap = record.verified.get("zswap enabled").map(String::as_str);
        assert_eq!(zswap, (record.arm.swappiness.is_some()).then_some("N"), "{}", record.arm.name);
    }
    assert_eq!(std::fs::read_to_string(&path).unwrap().trim(), "Y");
}

fn without_consent_nothing_outside_the_sandbox_is_touched(base: &Path) {
    let root = Root::live();
    let lock = RunLock::take(&StateDir::open(&base.join("state")).unwrap(), &root).unwrap();
    let plan = CodePlusDataPlan::checked(&root, &settings(base, &["swap:60"])).unwrap();
    let env = Env { root: &root, lock: &lock, deadline: None, crash_after: None };
    let refused = code_plus_data::run(&env, &plan, Consent::NotGiven, &mut Silent).unwrap_err();
    assert!(refused.is_refused() && refused.to_string().contains("a swap file of 64.0 MiB"), "{refused}");
    assert!(!CodePlusDataPlan::checked(&root, &settings(base, &["as-configured", "no-swap"])).unwrap().needs_consent());
}

fn what_cannot_end_in_time_is_not_begun_and_named(base: &Path) {
    let (root, before) = (Root::live(), picture(base));
    let state = StateDir::open(&base.join("state")).unwrap();
    let folders = RunFolder::all(state.path(), code_plus_data::NAME).len();
    let lock = RunLock::take(&state, &root).unwrap();
    let plan = CodePlusDataPlan::checked(&root, &settings(base, &["as-configured", "no-swap"])).unwrap();
    let deadline = Some(Instant::now() + Duration::from_secs(2));
    let env = Env { root: &root, lock: &lock, deadline, crash_after: None };
    let done = code_plus_data::run(&env, &plan, Consent::NotGiven, &mut Silent).unwrap();
    assert_eq!(done.out_of_time, ["as-configured text", "no-swap text"]);
    assert_eq!(done.folder, None);
    assert_eq!(RunFolder::all(state.path(), code_plus_data::NAME).len(), folders, "a folder without a record");
    assert_eq!(picture(base), before);
}

fn a_group_that_cannot_hold_the_data_is_killed_and_nobody_else(base: &Path) {
    let settings = Settings { ballast_units: 3, ..settings(base, &["no-swap"]) };
    let records = run(base, &settings, None).unwrap().read().unwrap().records;
    assert!(
        matches!(&records[0].verdict, Verdict::Killed(why) if why.contains("out of memory")),
        "{:?}",
        records[0].verdict
    );
    assert!(records[0].notes.iter().all(|note| !note.contains("processes outside")), "{:?}", records[0].notes);
}

fn what_cannot_be_removed_is_the_error_and_nothing_new_is_started_on_it(base: &Path) {
    let before = picture(base);
    let watched = base.to_owned();
    // Somebody leaves a file of his own in the scratch place; it is not ours to remove.
    let stranger = std::thread::spawn(move || {
        let begin = Instant::now();
        while begin.elapsed() < Duration::from_secs(20) {
            let images = std::fs::read_dir(&watched).unwrap().flatten().map(|entry| entry.path().join("files.img"));
            if let Some(image) = images.into_iter().find(|image| image.exists()) {
                let note = image.with_file_name("note");
                return std::fs::write(&note, "mine").map(|()| note).unwrap();
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        panic!("the scratch place never came");
    });
    // In a process of its own: what a living process has made is not left over.
    let ended = Command::new(std::env::current_exe().unwrap())
        .args(["__observer", &base.display().to_string(), "never"])
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let error = String::from_utf8(ended.stderr).unwrap();
    assert!(!ended.status.success() && error.starts_with("cannot undo everything"), "{error}");
    let note = stranger.join().unwrap();
    let place = note.parent().unwrap().display().to_string();
    assert!(error.contains(&place) && error.contains("try: ramline lab clean"), "{error}");
    let again = run(base, &settings(base, &["no-swap"]), None).unwrap_err();
    assert!(again.is_refused() && again.to_string().contains("had left cannot be removed"), "{again}");
    assert_eq!(std::fs::read_to_string(&note).unwrap(), "mine");
    std::fs::remove_file(&note).unwrap();
    let (state, root) = (StateDir::open(&base.join("state")).unwrap(), Root::live());
    let removed = ramline_act::clean_up(&RunLock::take(&state, &root).unwrap(), &root).unwrap();
    assert!(removed.len() == 1 && removed[0].contains(&place), "{removed:?}");
    assert_eq!(picture(base), before);
}

fn after_kill_9_the_workload_dies_by_itself_and_recovery_leaves_nothing(base: &Path) {
    let root = Root::live();
    let state = StateDir::open(&base.join("state")).unwrap();
    let step = if std::env::var("RAMLINE_LONG").as_deref() == Ok("1") { 1 } else { 5 };
    for (killed, crash_after) in (1..).step_by(step).enumerate() {
        let before = picture(base);
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["__observer", &base.display().to_string(), &crash_after.to_string()])
            .stdin(Stdio::null())
            .spawn()
            .unwrap();
        let pid = child.id();
        if child.wait().unwrap().success() {
            assert!(killed >= 5, "only {killed} records before the end");
            println!("sandbox: killed after {killed} of {} journal records", crash_after - 1);
            return;
        }
        let dead = Instant::now();
        let alive = || {
            groups_of(pid)
                .iter()
                .any(|dir| std::fs::read_to_string(dir.join("cgroup.procs")).is_ok_and(|pids| !pids.trim().is_empty()))
        };
        while alive() {
            assert!(dead.elapsed() < Duration::from_secs(2), "record {crash_after}: the workload is still alive");
            std::thread::sleep(Duration::from_millis(10));
        }
        let left = leftovers(&state, &root).unwrap();
        assert_eq!(one_line(&left).is_some(), !left.is_empty());
        let report = recover(&state, &root).unwrap();
        assert!(report.is_clean(), "record {crash_after}: {report:?}");
        assert_eq!(picture(base), before, "record {crash_after}");
        assert!(groups_of(pid).is_empty(), "record {crash_after}");
        assert!(leftovers(&state, &root).unwrap().is_empty(), "record {crash_after}");
    }
}
