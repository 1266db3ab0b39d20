//! Journals of runs that are dead: what of them is undone, and what is left alone.

use std::os::unix::fs::DirBuilderExt;
use std::path::Path;

use ramline_act::{RunLock, leftovers, recover};
use ramline_kernel::KernelError;

use super::Bench;

/// The journal of a run whose process is dead, written by hand.
pub fn dead_run(bench: &Bench, boot_id: &str, steps: &[String]) {
    let path = bench.state.path().join("journal/0000000000001-999999999.jsonl");
    let line = |(seq, step): (usize, &String)| {
        format!(
            r#"{{"run":"0000000000001-999999999","owner":{{"pid":999999999,"start":1,"boot_id":"{boot_id}"}},"seq":{seq},"number":{seq},"time_ms":1,"phase":"done","step":{{{step}}}}}"#
        )
    };
    let intend = |text: String| text.replace("\"phase\":\"done\"", "\"phase\":\"intend\"");
    let lines: Vec<String> = steps.iter().enumerate().flat_map(|step| [intend(line(step)), line(step)]).collect();
    std::fs::write(path, lines.join("\n") + "\n{\"run\":\"cut sho").unwrap();
}

#[test]
fn after_a_reboot_only_files_are_removed_and_no_kernel_object_is_touched() {
    let bench = Bench::with_knobs();
    let scratch = bench.path().join("ramline-x");
    std::fs::DirBuilder::new().mode(0o700).create(&scratch).unwrap();
    let knob = bench.knob("knob", "10\n");
    let steps = [
        format!(r#""kind":"make_dir","path":"{}","id":null"#, scratch.display()),
        format!(r#""kind":"set_knob","path":"{}","before":"60","after":"10""#, knob.display()),
        r#""kind":"hot_add_zram","id":0,"existing":[]"#.to_owned(),
    ];
    dead_run(&bench, "another boot", &steps);
    let left = leftovers(&bench.state, &bench.root).unwrap();
    assert_eq!(
        left.iter().map(|left| left.what.clone()).collect::<Vec<_>>(),
        [format!("directory {}", scratch.display())]
    );
    let line = ramline_act::one_line(&left).unwrap();
    assert!(line.contains("process 999999999") && line.ends_with("try: ramline lab clean"), "{line}");
    let report = recover(&bench.state, &bench.root).unwrap();
    assert!(report.is_clean());
    assert_eq!(report.runs[0].removed, [format!("directory {}", scratch.display())]);
    assert!(!scratch.exists());
    assert_eq!(std::fs::read_to_string(&knob).unwrap(), "10\n");
    assert!(recover(&bench.state, &bench.root).unwrap().is_empty(), "the second time there is nothing to do");
    assert!(leftovers(&bench.state, &bench.root).unwrap().is_empty());
}

#[test]
fn in_the_same_boot_a_knob_is_put_back_only_if_it_is_still_as_we_set_it() {
    let bench = Bench::with_knobs();
    let boot = ramline_kernel::process::boot_id(&bench.root).unwrap();
    let (ours, theirs) = (bench.knob("ours", "10\n"), bench.knob("theirs", "42\n"));
    let step = |path: &Path| format!(r#""kind":"set_knob","path":"{}","before":"60","after":"10""#, path.display());
    dead_run(&bench, &boot, &[step(&ours), step(&theirs)]);
    let report = recover(&bench.state, &bench.root).unwrap();
    assert_eq!(std::fs::read_to_string(&ours).unwrap().trim(), "60");
    assert_eq!(std::fs::read_to_string(&theirs).unwrap().trim(), "42");
    assert!(report.runs[0].left_alone[0].contains("somebody else set it"), "{report:?}");
}

/// Only the user that ramline runs as can write a journal, and needs none to do harm. All the same a forged one makes ramline do none.
#[test]
fn a_forged_journal_writes_no_file_that_is_no_knob_and_unmounts_nothing() {
    let bench = Bench::new();
    let boot = ramline_kernel::process::boot_id(&bench.root).unwrap();
    let victim = bench.path().join("authorized_keys");
    std::fs::write(&victim, "10\n").unwrap();
    let knob = |path: &str| format!(r#""kind":"set_knob","path":"{path}","before":"60","after":"10""#);
    let steps = [
        knob(&victim.display().to_string()),
        knob(&format!("/proc/sys/vm/../../..{}", victim.display())),
        r#""kind":"make_dir","path":"/","id":null"#.to_owned(),
    ];
    dead_run(&bench, &boot, &steps);
    let report = recover(&bench.state, &bench.root).unwrap();
    assert_eq!(std::fs::read_to_string(&victim).unwrap(), "10\n");
    assert_eq!((report.runs[0].left_alone.len(), report.runs[0].errors.len()), (3, 0), "{report:?}");
}

#[test]
fn a_journal_that_is_a_pipe_or_of_another_user_is_named_and_the_others_are_undone() {
    let bench = Bench::new();
    let scratch = bench.path().join("ramline-x");
    std::fs::DirBuilder::new().mode(0o700).create(&scratch).unwrap();
    dead_run(&bench, "another boot", &[format!(r#""kind":"make_dir","path":"{}","id":null"#, scratch.display())]);
    let pipe = bench.state.path().join("journal/0000000000000-1.jsonl");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    assert_eq!(leftovers(&bench.state, &bench.root).unwrap().len(), 1);
    let report = recover(&bench.state, &bench.root).unwrap();
    assert!(report.runs[0].errors[0].to_string().contains("it is a pipe"), "{report:?}");
    assert!(!scratch.exists() && !report.is_clean());
}

/// As a child does that its parent's death met between fork and exec.
#[test]
fn a_journal_held_for_a_moment_after_its_run_died_is_waited_for_and_one_held_for_longer_is_named() {
    let bench = Bench::new();
    let file = bench.path().join("ramline-left");
    std::fs::write(&file, "").unwrap();
    dead_run(&bench, "another boot", &[format!(r#""kind":"make_file","path":"{}","id":null"#, file.display())]);
    let journal = std::fs::File::open(bench.state.path().join("journal/0000000000001-999999999.jsonl")).unwrap();
    journal.lock().unwrap();
    let report = recover(&bench.state, &bench.root).unwrap();
    assert!(report.runs[0].left_alone[0].contains("holds its journal") && file.exists(), "{report:?}");
    std::thread::scope(|scope| {
        scope.spawn(|| {
            std::thread::sleep(std::time::Duration::from_millis(100));
            journal.unlock().unwrap();
        });
        let report = recover(&bench.state, &bench.root).unwrap();
        assert!(report.is_clean() && !report.runs[0].removed.is_empty() && !file.exists(), "{report:?}");
    });
}

#[test]
fn a_run_that_is_alive_is_not_touched() {
    let bench = Bench::new();
    let mut run = bench.run();
    let file = run.make_file(&bench.path().join("ramline-f"), |_| Ok(())).unwrap();
    assert!(recover(&bench.state, &bench.root).unwrap().is_empty());
    assert!(leftovers(&bench.state, &bench.root).unwrap().is_empty());
    assert!(file.exists());
    let busy = RunLock::take(&bench.state, &bench.root).unwrap_err();
    assert_eq!(busy.busy_pid(), Some(std::process::id()));
    run.finish().unwrap();
}

#[test]
fn a_journal_record_nobody_can_read_is_reported_with_its_line() {
    let bench = Bench::new();
    std::fs::write(bench.state.path().join("journal/0000000000001-1.jsonl"), "garbage\n").unwrap();
    let report = recover(&bench.state, &bench.root).unwrap();
    assert!(!report.is_clean() && report.runs.len() == 1, "{report:?}");
    assert!(recover(&bench.state, &bench.root).unwrap().is_empty(), "reported once");
    assert!(bench.state.path().join("journal/0000000000001-1.unreadable").exists(), "and kept");
    let file = bench.path().join("ramline-f");
    std::fs::write(&file, "").unwrap();
    dead_run(&bench, "another boot", &[format!(r#""kind":"make_file","path":"{}","id":null"#, file.display())]);
    let path = bench.state.path().join("journal/0000000000001-999999999.jsonl");
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, format!("garbage\n{text}")).unwrap();
    let report = recover(&bench.state, &bench.root).unwrap();
    let errors: Vec<String> = report.runs[0].errors.iter().map(KernelError::to_string).collect();
    assert!(errors[0].contains(".jsonl:1") && errors[0].contains("garbage"), "{errors:?}");
    assert!(!file.exists(), "the rest is recovered");
    assert!(recover(&bench.state, &bench.root).unwrap().is_empty(), "the second time there is nothing to do");
}
