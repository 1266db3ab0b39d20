//! Runs on ordinary files: what is undone, in which order, and what is left alone because it is not ours.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod dead;

use std::path::Path;

use dead::dead_run;
use ramline_act::{ActError, Run, RunLock, StateDir, leftovers, recover};
use ramline_kernel::Root;
use ramline_testkit::{not_root, skip_if};

struct Bench {
    dir: tempfile::TempDir,
    state: StateDir,
    root: Root,
}

impl Bench {
    fn new() -> Bench {
        let dir = tempfile::Builder::new().prefix("ramline-test-").tempdir().unwrap();
        let state = StateDir::open(&dir.path().join("state")).unwrap();
        Bench { dir, state, root: Root::live() }
    }

    /// With knobs of its own, and the processes of this machine.
    fn with_knobs() -> Bench {
        let bench = Bench::new();
        std::os::unix::fs::symlink("/proc", bench.path().join("proc")).unwrap();
        std::fs::create_dir_all(bench.path().join("sys/kernel/mm")).unwrap();
        let root = Root::new(bench.path());
        Bench { root, ..bench }
    }

    fn knob(&self, name: &str, value: &str) -> std::path::PathBuf {
        let path = self.path().join("sys/kernel/mm").join(name);
        std::fs::write(&path, value).unwrap();
        path
    }

    fn path(&self) -> &Path {
        self.dir.path()
    }

    fn run(&self) -> Run {
        let lock = RunLock::take(&self.state, &self.root).unwrap();
        Run::begin(&lock, &self.root, None).unwrap()
    }

    /// The phases and steps of the only journal, as `intend make_dir`.
    fn journal(&self) -> Vec<String> {
        let file = std::fs::read_dir(self.state.path().join("journal")).unwrap().next().unwrap().unwrap().path();
        let text = std::fs::read_to_string(file).unwrap();
        text.lines()
            .map(|line| {
                let entry: serde_json::Value = serde_json::from_str(line).unwrap();
                format!("{} {}", entry["phase"].as_str().unwrap(), entry["step"]["kind"].as_str().unwrap())
            })
            .collect()
    }
}

#[test]
fn every_step_is_announced_before_and_undone_in_reverse() {
    let bench = Bench::with_knobs();
    let knob = bench.knob("swappiness", "60\n");
    let mut run = bench.run();
    let scratch = run.make_dir(&bench.path().join("ramline-x")).unwrap();
    run.make_file(&scratch.join("data"), |file| file.set_len(10)).unwrap();
    run.set_knob(&knob, "10").unwrap();
    assert_eq!(std::fs::read_to_string(&knob).unwrap().trim(), "10");
    run.finish().unwrap();
    assert_eq!(std::fs::read_to_string(&knob).unwrap().trim(), "60");
    assert!(!scratch.exists());
    let expected = [
        "intend make_dir",
        "done make_dir",
        "intend make_file",
        "done make_file",
        "intend set_knob",
        "done set_knob",
        "undone set_knob",
        "undone make_file",
        "undone make_dir",
        "ended make_dir",
    ];
    assert_eq!(bench.journal(), expected);
}

#[test]
fn a_step_that_fails_leaves_nothing_and_the_steps_before_it_are_undone_when_the_run_is_dropped() {
    let bench = Bench::new();
    let mut run = bench.run();
    let scratch = run.make_dir(&bench.path().join("ramline-x")).unwrap();
    let half = scratch.join("half");
    let error = run.make_file(&half, |_| Err(std::io::Error::other("the disk is full"))).unwrap_err();
    assert!(error.to_string().contains("the disk is full"), "{error}");
    assert!(!half.exists() && scratch.exists());
    drop(run);
    assert!(!scratch.exists());
    assert_eq!(bench.journal().last().unwrap(), "ended make_dir");
}

#[test]
fn a_panic_undoes_everything() {
    let bench = Bench::new();
    let scratch = bench.path().join("ramline-x");
    let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        let mut run = bench.run();
        run.make_dir(&scratch).unwrap();
        let _: ramline_act::Result<()> = run
            .perform(ramline_act::Step::MakeFile { path: scratch.join("f"), id: None }, || {
                panic!("in the middle of a step")
            });
    }));
    assert!(result.is_err());
    assert!(!scratch.exists());
}

#[test]
fn an_arm_is_undone_alone() {
    let bench = Bench::new();
    let mut run = bench.run();
    let scratch = run.make_dir(&bench.path().join("ramline-x")).unwrap();
    let mark = run.mark();
    let first = run.make_file(&scratch.join("arm"), |_| Ok(())).unwrap();
    run.undo_to(mark).unwrap();
    assert!(!first.exists() && scratch.exists());
    run.make_file(&scratch.join("arm"), |_| Ok(())).unwrap();
    run.finish().unwrap();
    assert!(!scratch.exists());
}

#[test]
fn a_name_that_is_taken_or_not_ours_is_refused_before_anything_is_announced() {
    let bench = Bench::new();
    let mut run = bench.run();
    let taken = bench.path().join("ramline-taken");
    std::fs::create_dir(&taken).unwrap();
    let foreign = bench.path().join("a/b");
    std::fs::create_dir(bench.path().join("a")).unwrap();
    let refused = |error: ActError| matches!(error, ActError::Kernel(error) if error.is_refused());
    assert!(refused(run.make_dir(&taken).unwrap_err()));
    assert!(refused(run.make_dir(&foreign).unwrap_err()));
    assert!(refused(run.swap_on(&bench.path().join("a"), None).unwrap_err()), "only what the run made itself");
    assert!(refused(run.mount_tmpfs(&taken, ramline_units::Bytes::from_mib(1)).unwrap_err()));
    assert_eq!(run.records(), 0);
    run.finish().unwrap();
    assert!(taken.exists());
}

#[test]
fn a_knob_somebody_else_has_set_since_is_left_alone() {
    let bench = Bench::with_knobs();
    let knob = bench.knob("knob", "1\n");
    let mut run = bench.run();
    run.set_knob(&knob, "2").unwrap();
    std::fs::write(&knob, "3\n").unwrap();
    run.finish().unwrap();
    assert_eq!(std::fs::read_to_string(&knob).unwrap(), "3\n");
}

#[test]
fn a_file_that_took_the_name_of_ours_is_left_alone() {
    let bench = Bench::new();
    let mut run = bench.run();
    let file = run.make_file(&bench.path().join("ramline-f"), |_| Ok(())).unwrap();
    std::fs::write(bench.path().join("other"), "precious").unwrap();
    std::fs::rename(bench.path().join("other"), &file).unwrap();
    run.finish().unwrap();
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "precious");
}

#[test]
fn what_cannot_be_undone_is_reported_and_the_rest_is_undone_all_the_same() {
    let bench = Bench::new();
    let mut run = bench.run();
    let first = run.make_file(&bench.path().join("ramline-f"), |_| Ok(())).unwrap();
    let scratch = run.make_dir(&bench.path().join("ramline-x")).unwrap();
    std::fs::write(scratch.join("not in the journal"), "").unwrap();
    let error = run.finish().unwrap_err();
    assert!(error.to_string().contains("ramline lab clean") && error.to_string().contains("ramline-x"), "{error}");
    assert!(!first.exists() && scratch.exists());
}

#[test]
fn a_file_that_took_the_name_of_our_image_gets_no_file_system() {
    let bench = Bench::new();
    let mut run = bench.run();
    let image = run.make_file(&bench.path().join("ramline-image"), |file| file.set_len(1 << 20)).unwrap();
    let theirs = bench.path().join("theirs");
    std::fs::write(&theirs, vec![7; 1 << 20]).unwrap();
    let refused =
        |result: ramline_act::Result<()>| matches!(result, Err(ActError::Kernel(error)) if error.is_refused());
    assert!(refused(run.mkfs_ext4(&theirs)), "only what the run made itself");
    std::fs::rename(&theirs, &image).unwrap();
    assert!(refused(run.mkfs_ext4(&image)));
    assert!(refused(run.swap_on(&image, None)), "nor a swap header");
    run.finish().unwrap();
    assert_eq!(std::fs::read(&image).unwrap(), vec![7; 1 << 20]);
}

#[test]
fn the_memory_controller_a_dead_run_enabled_is_taken_away_unless_others_have_come_to_use_it() {
    let bench = Bench::new();
    let boot = ramline_kernel::process::boot_id(&bench.root).unwrap();
    let top = |name: &str, max: &str| {
        let child = bench.path().join(name).join("other.slice");
        std::fs::create_dir_all(&child).unwrap();
        std::fs::write(child.join("memory.max"), max).unwrap();
        let knob = bench.path().join(name).join("cgroup.subtree_control");
        std::fs::write(&knob, "cpu memory\n").unwrap();
        knob
    };
    let (unused, used) = (top("unused", "max\n"), top("used", "4096\n"));
    let step = |path: &Path| format!(r#""kind":"enable_memory","path":"{}""#, path.display());
    dead_run(&bench, &boot, &[step(&unused), step(&used)]);
    assert_eq!(leftovers(&bench.state, &bench.root).unwrap().len(), 2);
    let report = recover(&bench.state, &bench.root).unwrap();
    assert_eq!(std::fs::read_to_string(&unused).unwrap(), "-memory");
    assert_eq!(std::fs::read_to_string(&used).unwrap(), "cpu memory\n");
    assert!(report.is_clean() && report.runs[0].left_alone[0].contains("other.slice"), "{report:?}");
}

#[test]
fn a_zram_device_made_anew_under_our_number_by_somebody_else_survives_us() {
    use ramline_kernel::zram;
    let test = "a zram number used again";
    if not_root(test) || skip_if(!zram::has_control(&ramline_kernel::Root::live()), test, "needs the zram driver") {
        return;
    }
    // The kernel gives out the lowest number that is free: ours again, unless another test is quicker.
    let again = (0..20).any(|_| {
        let bench = Bench::new();
        let mut run = bench.run();
        let ours = run.hot_add_zram().unwrap();
        ours.hot_remove().unwrap();
        let theirs = zram::hot_add(&bench.root).unwrap();
        let size = ramline_units::Bytes::from_mib(7);
        theirs.set_disksize(size).unwrap();
        run.finish().unwrap();
        let left = theirs.disksize();
        theirs.reset().unwrap();
        theirs.hot_remove().unwrap();
        if theirs.id() == ours.id() {
            assert_eq!(left.unwrap(), size, "their device was reset");
            assert!(bench.journal().ends_with(&["undone hot_add_zram".to_owned(), "ended hot_add_zram".to_owned()]));
        }
        theirs.id() == ours.id()
    });
    assert!(again, "the number was not given out again in 20 attempts");
}

#[test]
fn a_directory_under_a_busy_mount_stays_in_the_journal_until_the_mount_is_gone() {
    if not_root("a directory under a busy mount") {
        return;
    }
    let bench = Bench::new();
    let mut run = bench.run();
    let at = run.make_dir(&bench.path().join("ramline-at")).unwrap();
    run.mount_tmpfs(&at, ramline_units::Bytes::from_mib(1)).unwrap();
    let busy = std::fs::File::create(at.join("open")).unwrap();
    assert!(matches!(run.finish().unwrap_err(), ActError::Undo { .. }));
    assert!(at.exists());
    drop(busy);
    // The owner of the journal is this process, which lives: what recovery would do later is done by hand here.
    ramline_kernel::mount::unmount(&at).unwrap();
    assert!(bench.journal().iter().filter(|line| *line == "undone make_dir").count() == 0, "{:?}", bench.journal());
}

#[test]
fn a_process_that_was_moved_is_back_in_its_group_before_ours_is_emptied() {
    use ramline_kernel::{cgroup::Hierarchy, process};
    let bench = Bench::new();
    let hierarchy = Hierarchy::detect(&bench.root);
    let none = process::uid() != 0 || hierarchy.as_ref().map_or(true, |found| found.parent().is_err());
    if skip_if(none, "a moved process", "needs root and a memory cgroup") {
        return;
    }
    let hierarchy = hierarchy.unwrap();
    let mut child = process::spawn_tied(std::process::Command::new("sleep").arg("60"), None).unwrap();
    let mut run = bench.run();
    let group = run.make_cgroup(&hierarchy, 77).unwrap();
    run.move_into(&group, hierarchy.own(), child.id()).unwrap();
    assert_eq!(group.pids().unwrap(), [child.id()]);
    run.finish().unwrap();
    assert!(!group.dir().exists());
    let back = std::fs::read_to_string(hierarchy.own().join("cgroup.procs")).unwrap();
    assert!(back.lines().any(|line| line == child.id().to_string()), "{back}");
    assert_eq!(child.try_wait().unwrap(), None, "it was killed with the group");
    child.kill().unwrap();
    child.wait().unwrap();
}
