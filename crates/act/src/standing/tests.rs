//! Changes of a tree: what is written and in which order, what a kill leaves, what undo puts back.

use std::collections::BTreeMap;
use std::path::Path;

use ramline_kernel::Root;
use ramline_plan::{Step, ZramSetUp, with_generator, without_generator};
use ramline_units::Bytes;

use super::*;
use crate::{ActError, RunLock};

struct Place {
    _dir: tempfile::TempDir,
    tree: std::path::PathBuf,
    root: Root,
    lock: RunLock,
}

fn place() -> Place {
    // Each record is synced, hundreds of times: in memory where there is a tmpfs.
    let dir = tempfile::tempdir_in(if Path::new("/dev/shm").is_dir() { "/dev/shm" } else { "/tmp" }).unwrap();
    let tree = dir.path().join("tree");
    for (name, text) in [
        ("etc/sysctl.d/99-mine.conf", "vm.swappiness = 10\n"),
        ("etc/systemd/system/x", ""),
        ("etc/modules-load.d/y", ""),
        ("etc/modprobe.d/y", ""),
        ("etc/udev/rules.d/y", ""),
        ("proc/sys/vm/swappiness", "10\n"),
        ("proc/sys/kernel/random/boot_id", "b0\n"),
    ] {
        let path = tree.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    let wants = tree.join("etc/systemd/system/multi-user.target.wants");
    std::fs::create_dir(&wants).unwrap();
    std::os::unix::fs::symlink(TARGET, wants.join("zramswap.service")).unwrap();
    let state = StateDir::open(&dir.path().join("state")).unwrap();
    let lock = RunLock::take(&state, &Root::live()).unwrap();
    Place { root: Root::new(&tree), tree, lock, _dir: dir }
}

/// Every file and link below a directory, with what it holds.
fn listing(dir: &Path) -> BTreeMap<String, String> {
    let mut all = BTreeMap::new();
    for entry in std::fs::read_dir(dir).unwrap().flatten() {
        let (path, kind) = (entry.path(), entry.file_type().unwrap());
        let name = path.display().to_string();
        if kind.is_dir() {
            all.insert(format!("{name}/"), String::new());
            all.extend(listing(&path));
        } else if kind.is_symlink() {
            let modified = std::fs::symlink_metadata(&path).unwrap().modified();
            all.insert(name, format!("{modified:?} -> {}", std::fs::read_link(&path).unwrap().display()));
        } else {
            let meta = std::fs::metadata(&path).unwrap();
            // A knob of a tree is written as the kernel's is: its time moves, and it ends without a line's end.
            let text = std::fs::read_to_string(&path).unwrap();
            let held = match name.contains("/proc/") {
                true => text.trim().to_owned(),
                false => format!("{:?} {:?} {text}", meta.permissions(), meta.modified()),
            };
            all.insert(name, held);
        }
    }
    all
}

const TARGET: &str = "/usr/lib/systemd/system/zramswap.service";

fn edit() -> Vec<Step> {
    vec![
        Step::DisableUnit {
            unit: "zramswap.service".into(),
            link: "/etc/systemd/system/multi-user.target.wants/zramswap.service".into(),
            target: TARGET.into(),
        },
        Step::EditFile {
            path: "/etc/sysctl.d/99-mine.conf".into(),
            before: Some("vm.swappiness = 10\n".into()),
            after: Some("vm.swappiness = 133\n".into()),
        },
        Step::EditFile { path: "/etc/new.conf".into(), before: None, after: Some("a\n".into()) },
        Step::SetKnob { path: "/proc/sys/vm/swappiness".into(), before: "10".into(), after: "133".into() },
    ]
}

fn request(steps: Vec<Step>) -> Request {
    Request { what: "a test".into(), steps, ..Request::default() }
}

fn zram() -> Vec<Step> {
    without_generator(
        &ZramSetUp { number: 0, algorithm: Some("lz4".into()), size: Bytes::from_mib(64), priority: 100 },
        false,
    )
}

#[test]
fn a_change_is_written_in_order_and_undone_to_the_last_byte() {
    for steps in [edit(), zram()] {
        let place = place();
        let before = listing(&place.tree);
        let wanted: Vec<String> = steps.iter().map(Step::line).collect();
        let transaction = Transaction::new(&place.lock, &place.root, None);
        let applied = transaction.apply(request(steps), &mut |_| {}).unwrap();
        assert_eq!(applied.written, wanted);
        assert_ne!(listing(&place.tree), before);
        let (changes, unreadable) = Standing::new(place.lock.state()).list().unwrap();
        assert!(unreadable.is_empty());
        assert_eq!((changes[0].phase, changes[0].head.number), (ChangePhase::InForce, 1));
        transaction.undo(&changes[0], "asked", false, &mut |_| {}).unwrap();
        assert_eq!(listing(&place.tree), before);
        assert!(!Standing::new(place.lock.state()).list().unwrap().0[0].stands());
    }
}

#[test]
fn what_would_undo_a_change_goes_when_it_is_kept_and_when_it_is_undone() {
    for kept in [true, false] {
        let place = place();
        std::fs::create_dir(place.tree.join("etc/systemd/system/timers.target.wants")).unwrap();
        let before = listing(&place.tree);
        let transaction = Transaction::new(&place.lock, &place.root, None);
        let revert = ramline_plan::Revert {
            after: std::time::Duration::from_secs(600),
            exe: "/usr/local/bin/ramline".into(),
            state_dir: "/s".into(),
        };
        let asked = Request { revert: Some(revert), ..request(edit()) };
        let number = transaction.apply(asked, &mut |_| {}).unwrap().number;
        let units = place.tree.join("etc/systemd/system");
        let link = units.join(format!("timers.target.wants/ramline-revert-{number}.timer"));
        assert!(units.join(format!("ramline-revert-{number}.service")).exists() && link.is_symlink());
        let change = || Standing::new(place.lock.state()).list().unwrap().0.remove(0);
        if kept {
            transaction.confirm(&change(), &mut |_| {}).unwrap();
            assert_eq!(change().phase, ChangePhase::InForce);
            assert!(!listing(&place.tree).keys().any(|name| name.contains("ramline-revert")));
            assert!(place.tree.join("etc/new.conf").exists());
        }
        transaction.undo(&change(), "asked", false, &mut |_| {}).unwrap();
        assert_eq!(listing(&place.tree), before);
    }
}

#[test]
fn a_plan_that_is_out_of_date_does_nothing() {
    let place = place();
    std::fs::write(place.tree.join("etc/sysctl.d/99-mine.conf"), "vm.swappiness = 11\n").unwrap();
    let before = listing(&place.tree);
    let transaction = Transaction::new(&place.lock, &place.root, None);
    let error = transaction.apply(request(edit()), &mut |_| {}).unwrap_err();
    assert!(matches!(&error, ActError::Changed { objects, .. } if objects.len() == 1), "{error}");
    assert_eq!(listing(&place.tree), before);
    assert!(Standing::new(place.lock.state()).list().unwrap().0.is_empty());
}

#[test]
fn a_step_that_fails_takes_all_before_it_back() {
    let place = place();
    let before = listing(&place.tree);
    let mut steps = edit();
    steps.push(Step::EditFile { path: "/etc/no/such/dir".into(), before: None, after: Some("a".into()) });
    let transaction = Transaction::new(&place.lock, &place.root, None);
    let error = transaction.apply(request(steps), &mut |_| {}).unwrap_err();
    assert!(matches!(error, ActError::RolledBack { number: 1, .. }), "{error}");
    assert_eq!(listing(&place.tree), before);
}

#[test]
fn what_somebody_else_has_changed_since_is_not_put_back_unasked() {
    let place = place();
    let transaction = Transaction::new(&place.lock, &place.root, None);
    transaction.apply(request(edit()), &mut |_| {}).unwrap();
    let mine = place.tree.join("etc/sysctl.d/99-mine.conf");
    std::fs::write(&mine, "vm.swappiness = 133\n# mine\n").unwrap();
    let change = || Standing::new(place.lock.state()).list().unwrap().0.remove(0);
    assert_eq!(states(&place.root, &change())[1], StepState::Other("another text".into()));
    let error = transaction.undo(&change(), "asked", false, &mut |_| {}).unwrap_err();
    assert!(error.to_string().contains("99-mine.conf"), "{error}");
    assert!(place.tree.join("etc/new.conf").exists());
    transaction.undo(&change(), "asked", true, &mut |_| {}).unwrap();
    assert!(!place.tree.join("etc/new.conf").exists());
    assert!(std::fs::read_to_string(mine).unwrap().ends_with("# mine\n"));
    assert_eq!(change().left_alone.len(), 1);
}

#[test]
fn what_was_so_from_the_start_is_not_ours_to_undo() {
    let place = place();
    let steps = vec![
        Step::SetKnob { path: "/proc/sys/vm/swappiness".into(), before: "60".into(), after: "10".into() },
        Step::MakeDirectory { path: "/etc/udev".into() },
    ];
    let before = listing(&place.tree);
    let transaction = Transaction::new(&place.lock, &place.root, None);
    assert!(transaction.apply(request(steps), &mut |_| {}).unwrap().written.is_empty());
    let change = Standing::new(place.lock.state()).list().unwrap().0.remove(0);
    transaction.undo(&change, "asked", false, &mut |_| {}).unwrap();
    assert_eq!(listing(&place.tree), before);
}

#[test]
fn from_every_moment_a_kill_may_leave_a_change_is_finished_and_undone() {
    let steps = [edit(), zram(), with_generator_steps()].concat();
    for cut in 0..=steps.len() {
        for half in [false, true] {
            let place = place();
            let before = listing(&place.tree);
            // As a run leaves it that is killed: `cut` steps taken, the next one announced, taken or not.
            let transaction = Transaction::new(&place.lock, &place.root, None);
            let whole = transaction.apply(request(steps.clone()), &mut |_| {}).unwrap();
            let after = listing(&place.tree);
            let change = |_: &()| Standing::new(place.lock.state()).list().unwrap().0.remove(0);
            transaction.undo(&change(&()), "to begin again", false, &mut |_| {}).unwrap();
            let standing = Standing::new(place.lock.state());
            let head = Head { number: standing.next().unwrap(), ..change(&()).head };
            let mut record = standing.begin(&head).unwrap();
            let mut written = perform::Written::default();
            for (number, held) in head.steps.iter().enumerate().take(cut + usize::from(half)) {
                record.append(&Record::Begun { step: number }).unwrap();
                perform::perform(&place.root, &held.step, &mut written).unwrap();
                if number < cut {
                    record.append(&Record::Done { step: number }).unwrap();
                }
            }
            let cut_off = standing.list().unwrap().0.pop().unwrap();
            assert_eq!(cut_off.phase, ChangePhase::Applying);
            if half {
                transaction.finish(&cut_off, &mut |_| {}).unwrap();
                let strip = |all: BTreeMap<String, String>| all.into_keys().collect::<Vec<_>>();
                assert_eq!(strip(listing(&place.tree)), strip(after), "{cut}, {}", whole.number);
            }
            let cut_off = standing.list().unwrap().0.pop().unwrap();
            transaction.undo(&cut_off, "asked", false, &mut |_| {}).unwrap();
            assert_eq!(listing(&place.tree), before, "{cut}");
        }
    }
}

#[test]
fn files_are_read_again_only_behind_what_was_written() {
    let held = |step: &Step| HeldStep { step: step.clone(), was_so: false, until_kept: false, image: None };
    let reads = |steps: &[HeldStep], forward: bool| -> Vec<usize> {
        let idle = |number: usize| match forward {
            true => transaction::is_idle(&steps[number].step, steps.iter().take(number).rev()),
            false => transaction::is_idle(&steps[number].step, steps.iter().skip(number + 1)),
        };
        let again = |step: &Step| matches!(step, Step::ReloadUnits | Step::ReloadRules);
        (0..steps.len()).filter(|number| again(&steps[*number].step) && !idle(*number)).collect()
    };
    let [edited, twice] = [with_generator_steps(), [edit(), with_generator_steps(), with_generator_steps()].concat()]
        .map(|steps| steps.iter().map(held).collect::<Vec<_>>());
    assert_eq!(edited.iter().filter(|held| held.step == Step::ReloadUnits).count(), 2);
    assert_eq!((reads(&edited, true), reads(&edited, false)), (vec![2], vec![0]));
    // One that stands behind another file is not idle; each pair reads once.
    let (before, pair) = (edit().len(), edited.len());
    assert_eq!(reads(&twice, true), [before, before + 2, before + pair + 2]);
    assert_eq!(reads(&twice, false), [before, before + pair]);
}

fn with_generator_steps() -> Vec<Step> {
    with_generator(
        &ZramSetUp { number: 1, algorithm: Some("zstd".into()), size: Bytes::from_mib(64), priority: 100 },
        None,
    )
    .unwrap()
}

#[test]
fn a_knob_that_made_another_0_is_undone_by_setting_that_one_again() {
    let place = place();
    let vm = place.tree.join("proc/sys/vm");
    std::fs::write(vm.join("dirty_bytes"), "0\n").unwrap();
    std::fs::write(vm.join("dirty_ratio"), "20\n").unwrap();
    let path = |name: &str| format!("/proc/sys/vm/{name}");
    let set = |before: &str, other_before: &str| Step::SetOneOf {
        path: path("dirty_bytes"),
        before: before.into(),
        after: "1048576".into(),
        other: path("dirty_ratio"),
        other_before: other_before.into(),
    };
    let read = |name: &str| std::fs::read_to_string(vm.join(name)).unwrap().trim().to_owned();
    let mut written = perform::Written::default();
    perform::perform(&place.root, &set("0", "20"), &mut written).unwrap();
    assert_eq!(probe::probe(&place.root, &set("0", "20")).unwrap(), StepState::After);
    // As the kernel does.
    std::fs::write(vm.join("dirty_ratio"), "0\n").unwrap();
    perform::reverse(&place.root, &set("0", "20"), None, &mut written).unwrap();
    // The kernel refuses 0 as bytes, and makes it 0 by itself.
    assert_eq!((read("dirty_ratio").as_str(), read("dirty_bytes").as_str()), ("20", "1048576"));
    perform::reverse(&place.root, &set("4096", "0"), None, &mut written).unwrap();
    assert_eq!(read("dirty_bytes"), "4096");
}

#[test]
fn what_the_boot_after_a_cut_undo_has_made_again_is_undone_again() {
    let place = place();
    let before = listing(&place.tree);
    let transaction = Transaction::new(&place.lock, &place.root, None);
    let number = transaction.apply(request(edit()), &mut |_| ()).unwrap().number;
    let standing = Standing::new(place.lock.state());
    let change = |number| standing.list().unwrap().0.into_iter().find(|change| change.head.number == number).unwrap();
    let knob = edit().iter().position(|step| matches!(step, Step::SetKnob { .. })).unwrap();
    let mut record = standing.reopen(&change(number)).unwrap();
    record.append(&Record::Undoing { time_ms: 1, why: String::new() }).unwrap();
    record.append(&Record::Undone { step: knob }).unwrap();
    // The power went; the file was still there, and the boot has set the knob: it reads 133.
    transaction.undo(&change(number), "again", false, &mut |_| ()).unwrap();
    assert_eq!(listing(&place.tree), before);
}
