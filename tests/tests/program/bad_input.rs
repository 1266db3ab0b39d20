//! Bad input gets one clear error, the rest works, the exit status tells.

use std::fs;

use ramline_testkit::{Tree, ramline, tree};

const BASE: &str = "healthy/linux-6.12-zram";

#[test]
fn a_garbage_line_is_named_with_file_line_and_text_and_the_other_sections_work() {
    let tree = Tree::from_fixture(BASE).file("/proc/meminfo", "MemTotal: 1024 kB\nMemFree: \x1b[31mlots\n");
    let run = ramline(&["show", "pressure", "--all", "--root", tree.path()]);
    assert_eq!(run.code, 7, "{}", run.stderr);
    assert!(run.stdout.contains("kswapd wakes at low"), "zones are still shown: {}", run.stdout);
    let memory = ramline(&["show", "--root", tree.path()]);
    assert_eq!(memory.code, 7);
    assert!(memory.stdout.contains("/proc/meminfo") && memory.stdout.contains("line 2"), "{}", memory.stdout);
    assert!(!memory.stdout.contains('\x1b'), "the garbage is shown escaped");
}

#[test]
fn a_missing_meminfo_is_said_by_name_and_told_by_the_exit_status() {
    let tree = Tree::from_fixture(BASE).without("/proc/meminfo");
    let run = ramline(&["show", "--root", tree.path()]);
    assert_eq!(run.code, 7);
    assert!(run.stdout.contains("/proc/meminfo was not seen"), "{}", run.stdout);
    assert!(ramline(&["show", "swap", "--root", tree.path()]).stdout.lines().count() > 3);
}

#[test]
fn a_file_cut_off_in_the_middle_loses_its_section_only() {
    let whole = fs::read(tree(BASE).join("proc/zoneinfo")).unwrap();
    let tree = Tree::from_fixture(BASE).file("/proc/zoneinfo", [&whole[..whole.len() / 2], b"  cut off he"].concat());
    let run = ramline(&["show", "--root", tree.path()]);
    assert_eq!(run.code, 7);
    assert!(run.stdout.contains("P processes") && run.stdout.contains("/proc/zoneinfo"), "{}", run.stdout);
}

#[test]
fn what_the_kernel_refused_to_the_capturing_user_is_said_to_be_refused() {
    let meta = fs::read_to_string(tree(BASE).join("meta.json")).unwrap();
    let meta = meta.replace("\"denied\": []", "\"denied\": [\"/proc/vmstat\"]");
    let tree = Tree::from_fixture(BASE).file("/meta.json", meta);
    let run = ramline(&["show", "--root", tree.path()]);
    assert!(run.stdout.contains("/proc/vmstat (permission denied)"), "{}", run.stdout);
    assert_eq!(run.code, 0, "a refusal is no malformed file");
}

#[test]
fn a_pipe_in_a_captured_tree_does_not_hang_the_reader() {
    let tree = Tree::from_fixture(BASE).without("/proc/vmstat");
    let fifo = format!("{}/proc/vmstat", tree.path());
    assert!(std::process::Command::new("mkfifo").arg(&fifo).status().unwrap().success());
    let run = ramline(&["show", "--root", tree.path()]);
    assert_eq!(run.code, 7);
    assert!(run.stdout.contains("not a regular file"), "{}", run.stdout);
}

#[test]
fn a_tree_without_meta_file_still_answers() {
    let tree = Tree::from_fixture(BASE).without("/meta.json");
    let run = ramline(&["show", "--all", "--root", tree.path()]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    assert!(run.stdout.contains("leftover"));
}

#[test]
fn an_empty_tree_answers_with_what_is_missing() {
    let tree = Tree::from_fixture("");
    for topic in ["memory", "tiers", "zram", "swap", "tmpfs", "pressure"] {
        let run = ramline(&["show", topic, "--root", tree.path()]);
        assert_eq!(run.code, 7, "{topic}");
        assert!(!run.stdout.is_empty() && !run.stderr.contains("panicked"), "{topic}: {}", run.stderr);
    }
    let run = ramline(&["checkup", "--quick", "--root", tree.path()]);
    assert_eq!(run.code, 7);
    assert!(run.stdout.contains("Not seen"), "{}", run.stdout);
}

#[test]
fn every_garbage_file_of_a_capture_is_survived() {
    let files =
        ["meminfo", "vmstat", "zoneinfo", "buddyinfo", "swaps", "self/mountinfo", "self/cgroup", "pressure/memory"];
    for garbage in [&b"\xff\xfe\x00\x01"[..], b"9999999999999999999999 kB\n", b":::\n\n\n", b"Node 0, zone", b""] {
        for file in files {
            let tree = Tree::from_fixture(BASE).file(&format!("/proc/{file}"), garbage);
            let run = ramline(&["checkup", "--quick", "--root", tree.path(), "--json", "-"]);
            assert!(run.code == 0 || run.code == 7, "{file} {garbage:?}: {} {}", run.code, run.stderr);
            assert!(run.stdout.starts_with('{'), "{file}");
        }
    }
}

#[test]
fn a_snapshot_file_that_is_cut_off_or_of_the_future_is_refused_with_the_way_out() {
    let tree = Tree::from_fixture(BASE);
    let text = ramline(&["snapshot", "--root", tree.path()]).stdout;
    let tree = tree.file("/cut.json", &text[..text.len() / 2]);
    let cut = ramline(&["show", "--snapshot", &format!("{}/cut.json", tree.path())]);
    assert_eq!((cut.code, cut.stdout.as_str()), (1, ""));
    assert!(cut.stderr.contains("try: ramline snapshot"), "{}", cut.stderr);
    let tree = tree.file("/new.json", text.replacen("\"schema_version\":1", "\"schema_version\":9", 1));
    let new = ramline(&["show", "--snapshot", &format!("{}/new.json", tree.path())]);
    assert!(new.code == 1 && new.stderr.contains("schema version 9"), "{}", new.stderr);
    let missing = ramline(&["show", "--snapshot", "/no/such/file"]);
    assert!(missing.code == 1 && missing.stderr.contains("/no/such/file"), "{}", missing.stderr);
}

#[test]
fn a_snapshot_answers_like_the_tree_it_came_from() {
    let tree = Tree::from_fixture(BASE);
    let text = ramline(&["snapshot", "--root", tree.path()]).stdout;
    let tree = tree.file("/s.json", text);
    for topic in ["memory", "tiers", "zram", "swap", "pressure", "tmpfs"] {
        let from_tree = ramline(&["show", topic, "--root", tree.path()]).stdout;
        let from_file = ramline(&["show", topic, "--snapshot", &format!("{}/s.json", tree.path())]).stdout;
        assert_eq!(from_tree, from_file, "{topic}");
    }
}

#[test]
fn hostile_names_are_shown_escaped() {
    let mountinfo = fs::read_to_string(tree(BASE).join("proc/self/mountinfo")).unwrap();
    let evil = "99 1 0:99 / /mnt/\x1b]0;owned\x07<script>alert(1)</script> rw - tmpfs evil\u{202e}name rw,size=4k\n";
    let swaps = "Filename Type Size Used Priority\n/swap\x1b[2J<img/src=x/onerror=alert(2)> file 1048572 8 -2\n";
    let tree = Tree::from_fixture(BASE).file("/proc/self/mountinfo", mountinfo + evil).file("/proc/swaps", swaps);
    for topic in ["tmpfs", "swap", "tiers"] {
        let text = ramline(&["show", topic, "--root", tree.path()]).stdout;
        assert!(!text.contains(['\x1b', '\x07', '\u{202e}']), "{topic}: {text:?}");
    }
    let html = format!("{}/r.html", tree.path());
    let run = ramline(&["checkup", "--quick", "--root", tree.path(), "--html", &html]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    assert!(!run.stdout.contains('\x1b'));
    let page = fs::read_to_string(html).unwrap();
    assert!(!page.contains("<script>alert") && !page.contains("<img/src"), "markup is escaped");
    assert!(!page.contains(['\x1b', '\x07', '\u{202e}']));
}

#[test]
fn redaction_keeps_numbers_and_drops_names() {
    let mountinfo = fs::read_to_string(tree(BASE).join("proc/self/mountinfo")).unwrap();
    let private = "99 1 0:99 / /home/alice/clients rw - tmpfs alice rw,size=4k\n";
    let tree = Tree::from_fixture(BASE).file("/proc/self/mountinfo", mountinfo + private);
    let text = ramline(&["snapshot", "--redact", "--root", tree.path()]).stdout;
    assert!(!text.contains("alice"));
    assert!(text.contains("\"mem_total\"") && text.contains("size=4k"));
}

#[test]
fn wrong_words_are_usage_errors_that_name_the_way_out() {
    for (args, says) in [
        (&["explain", "swapiness"][..], "swappiness"),
        (&["show", "--root", "/no/such/dir"], "not a directory"),
        (&["show", "--for", "2x"], "for example"),
        (&["measure", "tiers", "--root", "/tmp"], "running machine"),
        (&["lab", "run", "no-such-experiment"], "lab list"),
        (&["lab", "run", "code-plus-data", "--unit", "32"], "for example"),
        (&["lab", "run", "code-plus-data", "--arms", "swap:900"], "try:"),
        (&["lab", "run", "code-plus-data", "--fill", "jelly"], "jelly"),
        (&["predict", "--unit", "1TiB", "--limit", "2TiB"], "try: ramline predict --unit 1TiB --limit 3145728MiB"),
        (&["predict", "fork-storm"], "only code-plus-data"),
        (&["predict", "--settings", "swap:900"], "try:"),
        (&["predict", "--unit", "1KiB"], "whole number of MiB"),
        (&["predict", "--kernel", "5.10"], "only 6.1, 6.12, 6.18, 7.3"),
        (&["predict", "--lru", "lfu"], "neither classic nor mglru"),
        (&["predict", "--against", "99"], "lab list"),
        (&["checkup", "--html", "/no/such/dir/r.html"], "/no/such/dir"),
        (&["checkup", "--compare", "/proc/version"], "not a report"),
    ] {
        let run = ramline(args);
        assert_eq!((run.code, run.stdout.as_str()), (2, ""), "{args:?}: {}", run.stderr);
        assert!(run.stderr.contains(says), "{args:?}: {}", run.stderr);
    }
}

#[test]
fn no_hint_names_the_file_that_was_given_by_mistake() {
    let tree = Tree::from_fixture("").file("/precious", "mine\n");
    let precious = format!("{}/precious", tree.path());
    let run = ramline(&["checkup", "--quick", "--compare", &precious]);
    let hint = run.stderr.split("try:").nth(1).unwrap();
    assert!(run.code == 2 && !hint.contains(&precious), "{}", run.stderr);
    assert_eq!(fs::read_to_string(&precious).unwrap(), "mine\n");
}

#[test]
fn a_report_replaces_the_file_a_link_leads_to_and_the_link_stays() {
    let tree = Tree::from_fixture(BASE).file("/old", "mine\n");
    let (old, link) = (format!("{}/old", tree.path()), format!("{}/r.html", tree.path()));
    std::os::unix::fs::symlink(&old, &link).unwrap();
    let run = ramline(&["checkup", "--quick", "--root", tree.path(), "--html", &link]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    assert!(fs::read_to_string(&old).unwrap().starts_with("<!DOCTYPE html>"));
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let command = format!("'{}' show | head -n 1", ramline_testkit::binary().display());
    let output = std::process::Command::new("bash").args(["-o", "pipefail", "-c", &command]).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
}

#[test]
fn a_garbage_file_inside_a_section_is_named_and_told_by_the_exit_status_and_zero_is_not_claimed() {
    let zram = Tree::from_fixture(BASE).file("/sys/block/zram0/disksize", "\x1b[31mlots\n");
    let run = ramline(&["show", "zram", "--root", zram.path()]);
    assert_eq!(run.code, 7, "{}", run.stdout);
    assert!(run.stdout.contains("/sys/block/zram0/disksize") && !run.stdout.contains("no size yet"), "{}", run.stdout);
    assert!(!run.stdout.contains('\x1b'), "{}", run.stdout);
    let meta = Tree::from_fixture(BASE).file("/meta.json", "{\"machine\": {\"page_si");
    let run = ramline(&["show", "--root", meta.path()]);
    assert_eq!(run.code, 7, "{}", run.stdout);
    assert!(run.stdout.contains("/meta.json") && run.stdout.contains("page size"), "{}", run.stdout);
    let damon = Tree::from_fixture(BASE).file("/sys/kernel/mm/damon/admin/kdamonds/nr_kdamonds", "many\n");
    let run = ramline(&["checkup", "--quick", "--root", damon.path(), "--json", "-"]);
    assert_eq!(run.code, 7, "{}", run.stderr);
    assert!(run.stdout.contains("nr_kdamonds"), "{}", run.stdout);
}

#[test]
fn what_would_take_more_memory_than_there_is_is_refused_before_it_takes_any_with_a_size_that_fits() {
    let out = tempfile::tempdir().unwrap().path().join("load.trace").display().to_string();
    let large: [(&[&str], &str); 3] = [
        (&["predict", "--unit", "64GiB", "--simulations", "1"], "--unit "),
        (&["predict", "known-load", "--load", "heap", "--size", "1TiB", "--settings", "swap:60"], "--size "),
        (&["trace", "make", "heap", "--size", "8TiB", "--out", &out], "--size "),
    ];
    for (words, option) in large {
        // 3 GB of addresses: more than any of them may take on the way to its refusal.
        let script = r#"ulimit -v 3000000; exec "$0" "$@""#;
        let program = ramline_testkit::binary();
        let done = std::process::Command::new("sh").args(["-c", script]).arg(program).args(words).output().unwrap();
        let said = String::from_utf8_lossy(&done.stderr);
        assert_eq!(done.status.code(), Some(5), "{words:?}: {said}");
        let hint = said.split("try: ").nth(1).unwrap_or_default();
        let size = hint.split(option).nth(1).and_then(|rest| rest.split(['M', ' ', '\n']).next());
        let size: u64 = size.and_then(|size| size.parse().ok()).unwrap_or(0);
        assert!(said.contains("memory: ") && said.contains(" can be taken") && size > 64, "{words:?}: {said}");
    }
}

#[test]
fn an_argument_of_a_command_may_be_empty_and_a_command_that_is_proposed_can_be_copied() {
    let words = ["lab", "run", "knee", "--within", "x", "--", "/no such/pro gram", "", "it's", "$HOME"];
    let run = ramline(&words);
    assert_eq!(run.code, 2, "{}", run.stderr);
    assert!(run.stderr.contains(r"--within 10% -- '/no such/pro gram' '' 'it'\''s' '$HOME'"), "{}", run.stderr);
}

#[test]
fn a_setting_that_is_not_of_memory_is_said_to_be_none_and_who_sets_it() {
    for command in ["plan", "apply"] {
        let run = ramline(&["tune", command, "--set", "kernel.panic=1"]);
        assert_eq!(run.code, 2, "{}", run.stdout);
        assert!(
            run.stderr.contains("'kernel.panic' is no setting of memory: --set takes those below vm."),
            "{}",
            run.stderr
        );
    }
}

#[test]
fn a_number_that_the_kernel_would_refuse_is_blocked_with_its_bounds_and_one_that_takes_much_says_how_much() {
    let of = |set: &str| ramline(&["tune", "plan", "--set", set, "--root", &tree(BASE).to_string_lossy()]).stdout;
    let refused = of("vm.dirty_ratio=150");
    assert!(refused.contains("blocked: the kernel takes 0 to 100 for vm.dirty_ratio, and refuses 150"), "{refused}");
    // 464 MiB.
    let third = of("vm.min_free_kbytes=150000").split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(third.contains("risk: of 464.1 MiB of RAM programs may use"), "{third}");
    assert!(of("vm.min_free_kbytes=20000").contains("not judged: it is your own value"));
}

#[test]
fn a_folder_with_other_files_is_no_series() {
    let folder = Tree::from_fixture("").file("/settings.json", "{}").file("/notes.json", "[1]");
    let run = ramline(&["lab", "report", folder.path()]);
    assert_eq!((run.code, run.stdout.as_str()), (1, ""));
    assert!(
        run.stderr.contains("is no folder of a series") && run.stderr.contains("try: ramline lab list"),
        "{}",
        run.stderr
    );
}
