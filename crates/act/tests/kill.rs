//! kill -9 after every journal record in turn, on this machine's kernel, as root: what is left is named, then removed,
//! and the machine is as before.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

use std::collections::BTreeSet;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, ExitStatus};
use std::time::{Duration, Instant};

use ramline_act::{Run, RunLock, StateDir, leftovers, one_line, recover};
use ramline_kernel::cgroup::{Hierarchy, PREFIX};
use ramline_kernel::{Root, loopdev, mount, place, process, swap, zram};
use ramline_testkit::{not_root, skip_if};
use ramline_units::{Bytes, Limit};

const WORKER: &str = "RAMLINE_TEST_WORKER_DIR";
const KILL: &str = "RAMLINE_TEST_KILL_AFTER_STEP";
const ENDING: &str = "RAMLINE_TEST_WORKER_ENDING";

/// What a run of the lab does, small: every kind of step once.
fn every_kind_of_step(run: &mut Run, dir: &Path) -> ramline_act::Result<()> {
    let root = run.root().clone();
    let scratch = run.make_dir(&dir.join("ramline-scratch"))?;
    let image = run.make_image_file(&scratch.join("code.img"), Bytes::from_mib(8))?;
    run.mkfs_ext4(&image)?;
    let existing = loopdev::list(&root);
    let device = run.attach_loop(&image)?;
    std::fs::write(dir.join("made"), format!("{} {}", device.number, u32::from(!existing.contains(&device.number))))
        .ok();
    let read_ahead = ramline_kernel::write::read_knob(&device.read_ahead_knob()).unwrap_or_default();
    std::fs::write(dir.join("loop"), format!("{} {read_ahead}", device.number)).ok();
    run.set_knob(&device.read_ahead_knob(), "64")?;
    let at = run.make_dir(&scratch.join("mnt"))?;
    run.mount_ext4(device.node(), &at, false)?;
    let memory = run.make_dir(&scratch.join("tmpfs"))?;
    run.mount_tmpfs(&memory, Bytes::from_mib(1))?;
    let unlimited = run.make_dir(&scratch.join("ramfs"))?;
    run.mount_ramfs(&unlimited)?;
    let paged = run.make_dir(&scratch.join("huge"))?;
    run.mount_tmpfs_with(&paged, mount::Tmpfs { size: Bytes::from_mib(1), huge: true, noswap: false })?;
    let work = run.make_tree(&scratch.join("work"))?;
    std::fs::create_dir_all(work.join("files")).and_then(|()| std::fs::write(work.join("files/one"), "x")).ok();
    let whole = run.make_image_file(&scratch.join("whole.img"), Bytes::from_mib(16))?;
    let whole = run.attach_loop(&whole)?;
    run.mkfs_on_device(whole.node(), mount::Journalled::Ext4)?;
    let on_device = run.make_dir(&scratch.join("whole"))?;
    run.mount_device(whole.node(), &on_device, mount::Journalled::Ext4)?;
    if let Ok(hierarchy) = Hierarchy::detect(&root) {
        let group = run.make_cgroup(&hierarchy, 0)?;
        group.set_memory_limit(Limit::At(Bytes::from_mib(64)))?;
        let child = run.spawn_into(Some(&group), Command::new("sleep").arg("600"))?;
        std::fs::write(dir.join("child"), format!("{} {}", child.id(), process::start_time(&root, child.id())?)).ok();
        let moved = run.spawn_into(None, Command::new("sleep").arg("600"))?;
        run.move_into(&group, hierarchy.own(), moved.id())?;
    }
    let file = run.make_swap_file(&scratch.join("swap"), Bytes::from_mib(16))?;
    run.swap_on(&file, None)?;
    if zram::has_control(&root) {
        let device = run.hot_add_zram()?;
        // A size nobody else chooses: by it the device is told from those others make meanwhile.
        let size = Bytes(Bytes::from_mib(16).0 + u64::from(std::process::id() % 1009) * process::page_size());
        device.set_disksize(size)?;
        std::fs::write(dir.join("zram"), format!("{} {}", device.id(), size.0)).ok();
        run.swap_on(device.node(), None)?;
    }
    Ok(())
}

/// Not a test: the process the tests below start and kill.
#[test]
fn worker() {
    let Some(dir) = std::env::var_os(WORKER) else { return };
    let number = |name| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    let (dir, root) = (Path::new(&dir), Root::live());
    let state = StateDir::open(&dir.join("state")).unwrap();
    let lock = RunLock::take(&state, &root).unwrap();
    let mut run = Run::begin(&lock, &root, number(KILL)).unwrap();
    let taken = every_kind_of_step(&mut run, dir);
    if std::env::var(ENDING).as_deref() == Ok("wait") {
        taken.unwrap();
        std::fs::write(dir.join("ready"), "").unwrap();
        loop {
            std::thread::sleep(Duration::from_millis(10));
            if run.check_interrupted().is_err() {
                // Dropped here, as by `?` in the lab.
                return;
            }
        }
    }
    let records = run.records();
    run.finish().unwrap();
    taken.unwrap();
    std::fs::write(dir.join("records"), format!("{records}")).unwrap();
}

fn command(dir: &Path) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "worker", "--nocapture"]).env(WORKER, dir);
    command.stdout(std::process::Stdio::null()).stderr(std::process::Stdio::null());
    command
}

fn worker_killed_after(dir: &Path, records: u64) -> ExitStatus {
    command(dir).env(KILL, records.to_string()).status().unwrap()
}

/// Everything a run below `dir` can leave in the kernel and on disk, told from what others make meanwhile.
fn traces(dir: &Path) -> BTreeSet<String> {
    let root = Root::live();
    let mut found = BTreeSet::new();
    let areas = swap::areas(&root).unwrap();
    found.extend(
        areas.iter().filter(|area| Path::new(&area.path).starts_with(dir)).map(|area| format!("swap {}", area.path)),
    );
    if let Some((id, size)) = noted(dir, "zram") {
        let device = zram::Device::open(&root, u32::try_from(id).unwrap());
        if device.disksize().is_ok_and(|now| now == Bytes(size)) {
            found.insert(format!("zram{id}"));
        }
    }
    let mounts = mount::list(&root).unwrap();
    found.extend(
        mounts
            .iter()
            .filter(|mounted| Path::new(&mounted.at).starts_with(dir))
            .map(|mounted| format!("mount {}", mounted.at)),
    );
    for image in ["ramline-scratch/code.img", "ramline-scratch/whole.img"] {
        let attached = loopdev::attached_to(&root, &dir.join(image));
        found.extend(attached.iter().map(|device| format!("loop{}", device.number)));
    }
    if dir.join("ramline-scratch").exists() {
        found.insert("scratch".to_owned());
    }
    found
}

/// A loop device that had to be made for the worker is gone, unless somebody else has attached it since.
fn made_loop_is_gone(dir: &Path) -> bool {
    let Some((number, 1)) = noted(dir, "made") else { return true };
    let number = u32::try_from(number).unwrap();
    let root = Root::live();
    !loopdev::list(&root).contains(&number) || loopdev::LoopDevice::open(&root, number).backing_file().is_some()
}

/// The groups made by the process of that number.
fn groups(pid: u32) -> usize {
    let Ok(parent) = Hierarchy::detect(&Root::live()).and_then(|hierarchy| hierarchy.parent()) else { return 0 };
    let ours = |entry: &std::fs::DirEntry| entry.file_name().to_string_lossy().starts_with(&format!("{PREFIX}{pid}-"));
    std::fs::read_dir(parent).unwrap().flatten().filter(ours).count()
}

/// The read-ahead of the loop device the worker had, unless somebody else has it now: as before, or what it is.
fn read_ahead_is_back(dir: &Path) -> Result<(), String> {
    let Some((number, before)) = noted(dir, "loop") else { return Ok(()) };
    let device = loopdev::LoopDevice::open(&Root::live(), u32::try_from(number).unwrap());
    // A device that was made for the worker is gone, and its setting with it.
    let Some(now) = ramline_kernel::write::read_knob(&device.read_ahead_knob()) else { return Ok(()) };
    if now == before.to_string() || device.backing_file().is_some() {
        Ok(())
    } else {
        Err(format!("{now}, was {before}"))
    }
}

fn child_is_gone_within(dir: &Path, limit: Duration) -> bool {
    let Some((pid, start)) = noted(dir, "child") else { return true };
    process::wait_gone(&Root::live(), u32::try_from(pid).unwrap(), start, limit)
}

/// The two numbers the worker has noted in that file.
fn noted(dir: &Path, name: &str) -> Option<(u64, u64)> {
    let text = std::fs::read_to_string(dir.join(name)).ok()?;
    let (first, second) = text.split_once(' ')?;
    Some((first.parse().ok()?, second.parse().ok()?))
}

fn scratch() -> tempfile::TempDir {
    tempfile::Builder::new().prefix("ramline-test-").tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap()
}

fn skipped(test: &str, dir: &Path) -> bool {
    let place = place::describe(dir).unwrap();
    not_root(test)
        || skip_if(!Path::new("/dev/loop-control").exists(), test, "no loop driver")
        || skip_if(!place.is_disk(), test, &format!("{} is {}", dir.display(), place.fs_type))
}

/// Removes whatever a failing assertion would leave.
struct Sweep<'a>(&'a Path);

impl Drop for Sweep<'_> {
    fn drop(&mut self) {
        let Ok(state) = StateDir::open(&self.0.join("state")) else { return };
        if let Ok(report) = recover(&state, &Root::live())
            && !report.is_clean()
        {
            eprintln!("not everything could be removed: {report:?}");
        }
    }
}

#[test]
fn after_kill_9_at_any_journal_record_the_next_run_leaves_the_machine_as_it_was() {
    let scratch = scratch();
    let dir = std::fs::canonicalize(scratch.path()).unwrap();
    if skipped("kill -9 after every record", &dir) {
        return;
    }
    let _sweep = Sweep(&dir);
    let root = Root::live();
    let (mut kills, mut named) = (0, 0);
    for records in 1.. {
        let status = worker_killed_after(&dir, records);
        assert!(
            child_is_gone_within(&dir, Duration::from_secs(2)),
            "the workload outlived ramline after record {records}"
        );
        if status.signal().is_none() {
            assert!(status.success(), "the undisturbed run failed: {status}");
            break;
        }
        kills += 1;
        let state = StateDir::open(&dir.join("state")).unwrap();
        let traces_left = traces(&dir);
        let left = leftovers(&state, &root).unwrap();
        let line = one_line(&left);
        // Whatever is there is named, in one line; what is not there is not.
        assert_eq!(line.is_some(), !traces_left.is_empty(), "after record {records}: {traces_left:?}, said {line:?}");
        if let Some(line) = line {
            named += 1;
            assert!(!line.contains('\n') && line.contains("ramline lab clean"), "{line}");
        }
        let report = recover(&state, &root).unwrap();
        assert!(report.is_clean(), "after record {records}: {report:?}");
        assert!(report.runs.iter().all(|run| run.left_alone.is_empty()), "after record {records}: {report:?}");
        assert_eq!(traces(&dir), BTreeSet::new(), "after record {records}");
        assert_eq!(read_ahead_is_back(&dir), Ok(()), "after record {records}");
        assert!(made_loop_is_gone(&dir), "after record {records}");
        for run in &report.runs {
            assert_eq!(groups(run.pid), 0, "after record {records}");
        }
        assert!(leftovers(&state, &root).unwrap().is_empty());
    }
    // Every kind of step was taken: announced, done, undone each.
    let taken: u64 = std::fs::read_to_string(dir.join("records")).unwrap().parse().unwrap();
    assert!(taken >= 2 * 10, "{taken} records before undoing");
    assert_eq!(kills, taken / 2 * 3 + 1, "one kill for each of the three records of a step, and one for the end");
    assert!(named > kills / 2, "{named} of {kills} kills left something to name");
}

#[test]
fn sigterm_cleans_up_at_once() {
    let scratch = scratch();
    let dir = std::fs::canonicalize(scratch.path()).unwrap();
    if skipped("SIGTERM", &dir) {
        return;
    }
    let _sweep = Sweep(&dir);
    let mut worker = command(&dir).env(ENDING, "wait").spawn().unwrap();
    let begin = Instant::now();
    while !dir.join("ready").exists() {
        assert!(worker.try_wait().unwrap().is_none(), "the worker ended early");
        assert!(begin.elapsed() < Duration::from_secs(60), "the worker is not ready");
        std::thread::sleep(Duration::from_millis(10));
    }
    assert!(traces(&dir).len() >= 5, "{:?}", traces(&dir));
    let pid = worker.id();
    // Twice, as an impatient person does: the clean-up goes on.
    for _ in 0..2 {
        assert!(Command::new("kill").args(["-TERM", &pid.to_string()]).status().unwrap().success());
    }
    assert!(worker.wait().unwrap().success());
    assert_eq!(traces(&dir), BTreeSet::new());
    assert_eq!(groups(pid), 0);
    assert_eq!(read_ahead_is_back(&dir), Ok(()));
    assert!(child_is_gone_within(&dir, Duration::ZERO));
    let state = StateDir::open(&dir.join("state")).unwrap();
    assert!(leftovers(&state, &Root::live()).unwrap().is_empty());
}
