//! `tune plan` as its users call it, on captured machines.

use ramline_testkit::{Tree, ramline, tree};
use serde_json::Value;

/// A machine whose zram comes behind a disk, and zram-generator made it.
fn outranked() -> Tree {
    Tree::from_fixture("findings/swap-outranked/fires")
        .file("/proc/1/comm", "systemd\n")
        .file("/proc/self/mountinfo", "1 0 254:1 / / rw - ext4 /dev/vda1 rw\n")
        .file("/usr/lib/systemd/system-generators/zram-generator", "x")
        .file("/etc/systemd/zram-generator.conf", "# mine\n[zram0]\nzram-size = 116\n")
}

#[test]
fn a_change_is_shown_with_its_reason_and_all_shows_the_steps() {
    let tree = outranked();
    let plan = ramline(&["tune", "plan", "zram", "--all", "--root", tree.path()]);
    assert_eq!((plan.code, plan.stderr.as_str()), (0, ""));
    for text in [
        "1 of 1 setting to change: zram0.",
        "zram0: 116.0 MiB, zstd, priority -3 -> priority 100",
        "why: /dev/vda2 (priority -2) is used before it or in turn with it, and is slower",
        "set by: /etc/systemd/zram-generator.conf",
        "replace /etc/systemd/zram-generator.conf",
    ] {
        assert!(plan.stdout.contains(text), "{text}: {}", plan.stdout);
    }
    let brief = ramline(&["tune", "plan", "zram", "--root", tree.path()]).stdout;
    assert!(!brief.contains("replace /etc") && brief.contains("--all shows more."), "{brief}");
}

#[test]
fn as_data_it_has_the_keys_of_its_schema_and_every_step() {
    let tree = outranked();
    let plan = ramline(&["tune", "plan", "--json", "--root", tree.path()]);
    let plan: Value = serde_json::from_str(&plan.stdout).unwrap();
    let schema: Value = serde_json::from_str(&ramline(&["generate", "schema", "tune-plan"]).stdout).unwrap();
    for key in plan.as_object().unwrap().keys() {
        assert!(schema["properties"].get(key).is_some(), "no {key}");
    }
    let edit = plan["steps"].as_array().unwrap().iter().find(|step| step["kind"] == "edit_file").unwrap();
    assert_eq!(edit["after"], "# mine\n[zram0]\nzram-size = 116\nswap-priority = 100\n");
}

#[test]
fn a_read_only_etc_is_an_obstacle_with_its_way_out_and_a_plan_for_this_boot_has_none() {
    let tree = outranked().file("/proc/self/mountinfo", "1 0 254:1 / / ro - ext4 /dev/vda1 ro\n");
    let of = |more: &[&str]| ramline(&[&["tune", "plan", "zram", "--root", tree.path()], more].concat()).stdout;
    assert!(of(&[]).contains(
        "It cannot be applied here: /etc is read-only; for this boot alone: ramline tune plan --runtime-only"
    ));
    let boot = of(&["--runtime-only", "--all"]);
    assert!(!boot.contains("cannot be applied") && !boot.contains("replace /etc"), "{boot}");
    assert!(boot.contains("swapon /dev/zram1 at priority 100"), "{boot}");
}

#[test]
fn every_command_names_the_same_group_in_trouble() {
    let tree = Tree::from_fixture("findings/group-held-at-limit/fires");
    for words in
        [&[][..], &["checkup", "--quick"], &["explain", "cgroup-memory"], &["explain", "oom"], &["tune", "plan"]]
    {
        let shown = ramline(&[words, &["--root", tree.path()]].concat());
        let text = shown.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(text.contains("/system.slice/worker.service"), "{words:?}: {}", shown.stdout);
    }
    let plan = ramline(&["tune", "plan", "vm", "--root", tree.path()]).stdout;
    let second = plan.lines().nth(1).unwrap_or_default();
    assert!(second.starts_with("Group /system.slice/worker.service is held at memory.high (200.0 MiB)"), "{plan}");
    assert!(!ramline(&["tune", "plan", "tmp", "--root", tree.path()]).stdout.contains("worker.service"));
}

#[test]
fn a_topic_or_a_goal_that_is_none_is_refused_with_those_there_are() {
    let topic = ramline(&["tune", "plan", "zswap"]);
    assert_eq!(topic.code, 2);
    assert!(topic.stderr.contains("swap, zram, vm, tmp"), "{}", topic.stderr);
    assert!(topic.stderr.contains("near it: zram-and-zswap"), "{}", topic.stderr);
    let unplanned = ramline(&["tune", "plan", "other-evictor"]);
    assert!(unplanned.code == 2 && unplanned.stderr.contains("tune has no plan for other-evictor: it belongs to"));
    let goal = ramline(&["tune", "plan", "--goal", "speed"]);
    assert!(goal.code == 2 && goal.stderr.contains("flash-wear"), "{}", goal.stderr);
    let span = ramline(&["tune", "plan", "--for", "2s", "--root", &tree("healthy/debian-13").display().to_string()]);
    assert!(span.code == 2 && span.stderr.contains("a capture is one moment"), "{}", span.stderr);
}

/// What an apply would do on such a machine, in order.
fn dry(tree: &Tree, words: &[&str]) -> Vec<String> {
    let done = ramline(&[&["tune", "apply"], words, &["--dry-run", "--root", tree.path()]].concat());
    assert_eq!((done.code, done.stderr.as_str()), (0, ""), "{words:?}");
    done.stdout.lines().map(str::to_owned).collect()
}

#[test]
fn a_dry_run_lists_the_steps_of_each_kind_of_plan_in_their_order() {
    assert_eq!(
        dry(&outranked(), &["swap-outranked"]),
        [
            "stop dev-zram0.swap",
            "reload units of systemd",
            "replace /etc/systemd/zram-generator.conf",
            "reload units of systemd",
            "start dev-zram0.swap (zram0: 116.0 MiB, priority 100)",
        ]
    );
    assert_eq!(
        dry(
            &outranked().file("/proc/sys/vm/page-cluster", "3\n"),
            &["--set", "vm.swappiness=100", "--set", "vm.page-cluster=1"]
        ),
        [
            "create /etc/sysctl.d/99-zz-ramline.conf",
            "write /proc/sys/vm/swappiness: 60 -> 100",
            "write /proc/sys/vm/page-cluster: 3 -> 1",
        ]
    );
    let both = Tree::from_fixture("findings/zram-and-zswap/fires")
        .file("/proc/1/comm", "systemd\n")
        .file("/proc/self/mountinfo", "1 0 254:1 / / rw - ext4 /dev/vda1 rw\n");
    assert_eq!(
        dry(&both, &["zram-and-zswap"]),
        ["create /etc/tmpfiles.d/ramline-zswap.conf", "write /sys/module/zswap/parameters/enabled: Y -> N"]
    );
    let refused = ramline(&["tune", "apply", "zram", "--root", outranked().path()]);
    assert!(refused.code == 2 && refused.stderr.contains("not on a capture"), "{}", refused.stderr);
}

#[test]
fn a_checkup_ends_with_the_command_that_does_what_it_advises() {
    let tree = Tree::from_fixture("findings/zram-and-zswap/fires")
        .file("/proc/1/comm", "systemd\n")
        .file("/proc/self/mountinfo", "1 0 254:1 / / rw - ext4 /dev/vda1 rw\n");
    let seen = ramline(&["checkup", "--root", tree.path()]).stdout;
    assert!(seen.trim_end().ends_with("try: sudo ramline tune apply zram-and-zswap"), "{seen}");
    assert!(seen.contains("change: zswap: on -> off"), "{seen}");
}
