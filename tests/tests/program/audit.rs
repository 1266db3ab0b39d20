//! Commands that an audit quoted with what they printed, typed again as quoted.

use std::fs::{self, File};
use std::io::ErrorKind;

use ramline_testkit::{not_root, ramline, skip_if, tree};

#[test]
fn b2_a_captured_machine_whose_next_zram_writes_fail_is_not_opened_in_green() {
    let tree = tree("findings/zram-limit-fails-writes/fires").display().to_string();
    for words in [&["checkup", "--quick"][..], &["show"], &["show", "memory"]] {
        let run = ramline(&[&["--root", &tree], words, &["--color=always"]].concat());
        let first = run.stdout.lines().next().unwrap_or_default();
        assert!(
            first.contains("Warning: zram0 holds 31.0 MiB of its limit of 32.0 MiB (97 %): the next writes fail."),
            "{words:?}: {}",
            run.stdout
        );
        assert!(!first.contains("\u{1b}[32m") && first.contains("\u{1b}[33m"), "yellow and not green: {first:?}");
    }
}

#[test]
fn b14_a_series_that_is_not_there_is_an_error_of_its_own() {
    for (args, name) in [(&["lab", "report", "/nope"][..], "/nope"), (&["lab", "compare", "a", "b"], "a")] {
        let run = ramline(args);
        assert_eq!((run.code, run.stdout.as_str()), (2, ""), "{args:?}: {}", run.stderr);
        assert!(run.stderr.contains(&format!("there is no series '{name}'")), "{args:?}: {}", run.stderr);
        assert!(run.stderr.trim_end().ends_with("try: ramline lab list"), "{args:?}: {}", run.stderr);
        assert!(!run.stderr.contains("os error") && !run.stderr.contains("ls -ld"), "{args:?}: {}", run.stderr);
    }
}

#[test]
fn a26_a_device_that_is_refused_to_root_says_who_refuses_it() {
    let refused = || {
        let devices = fs::read_dir("/sys/block").ok()?.flatten().map(|e| format!("/dev/{}", e.file_name().display()));
        devices.into_iter().find(|path| File::open(path).is_err_and(|e| e.kind() == ErrorKind::PermissionDenied))
    };
    let test = "a26_a_device_that_is_refused";
    if not_root(test) {
        return;
    }
    let device = refused();
    if skip_if(device.is_none(), test, "needs a block device that is refused to root") {
        return;
    }
    let run = ramline(&["cache", "stat", &device.unwrap()]);
    assert!(run.code != 0 && run.stderr.contains("device rules (DeviceAllow=, --device)"), "{}", run.stderr);
    assert!(!run.stderr.contains("sudo"), "{}", run.stderr);
}
