//! `show maps` on trees: what it says of mappings that were written down, and how it refuses.

use ramline_testkit::{Tree, ramline};
use serde_json::Value;

const SMAPS: &str = "\
1000000-1004000 r-xp 00000000 fe:00 7      /usr/lib/a\\012b\u{1b}[2J.so
Rss:                  16 kB
Pss:                   8 kB
Shared_Clean:         16 kB
Anonymous:             0 kB
1004000-1006000 r--p 00004000 fe:00 7      /usr/lib/a\\012b\u{1b}[2J.so
Rss:                   8 kB
Pss:                   8 kB
Private_Dirty:         8 kB
Anonymous:             8 kB
2000000-2002000 rw-s 00000000 00:19 9      /dev/shm/x (deleted)
Rss:                   4 kB
Private_Dirty:         4 kB
3000000-3040000 rw-p 00000000 00:00 0      [heap]
Rss:                  32 kB
Anonymous:            32 kB
Private_Dirty:        32 kB
Swap:                  4 kB
4000000-4200000 rw-p 00000000 00:0f 11     /anon_hugepage (deleted)
Rss:                   0 kB
Private_Hugetlb:    2048 kB
ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0                  [vsyscall]
";
const STATUS: &str = "Name:\ta\nVmRSS:\t60 kB\nRssAnon:\t40 kB\nRssFile:\t16 kB\nRssShmem:\t4 kB\nVmSwap:\t4 kB\n";
const MOUNTS: &str = "1 0 254:0 / / rw - ext4 /dev/vda rw\n2 1 0:25 / /dev/shm rw - tmpfs tmpfs rw\n";

fn tree() -> Tree {
    Tree::from_fixture("")
        .file("/proc/31/smaps", SMAPS)
        .file("/proc/31/maps", SMAPS.lines().filter(|l| !l.contains(" kB")).collect::<Vec<_>>().join("\n"))
        .file("/proc/31/status", STATUS)
        .file("/proc/31/comm", "a\n")
        .file("/proc/31/cgroup", "4:memory:/shop/web\n0::/\n")
        .file("/proc/self/mountinfo", MOUNTS)
}

fn json(arguments: &[&str], tree: &Tree) -> Value {
    let run = ramline(&[&["show", "maps", "--json", "--root", tree.path()], arguments].concat());
    assert_eq!(run.code, 0, "{}", run.stderr);
    serde_json::from_str(&run.stdout).unwrap()
}

#[test]
fn ranges_are_told_apart_and_close_on_the_totals_of_the_process() {
    let shown = json(&["31", "--ranges"], &tree());
    let classes: Vec<&str> =
        shown["classes"].as_array().unwrap().iter().map(|c| c["class"].as_str().unwrap()).collect();
    assert_eq!(classes, ["code", "relocated", "heap", "shared_memory", "huge_pages", "kernel"]);
    for line in shown["closure"]["lines"].as_array().unwrap() {
        assert_eq!(line["difference"], 0, "{line}");
    }
    assert_eq!(shown["ranges"].as_array().unwrap().len(), 6);
    assert_eq!(shown["ranges"][1]["device"], "fe:00");
    assert_eq!(shown["ranges"][1]["usage"]["anonymous"], 8192);
    assert_eq!(shown["reread"]["copies"], 8192);
}

#[test]
fn the_page_cache_of_a_capture_is_unknown_and_not_zero() {
    let shown = json(&["--cgroup", "/sys/fs/cgroup/memory/shop"], &tree());
    assert_eq!((&shown["processes"], &shown["reading"]["walked"]), (&1.into(), &false.into()));
    let file = &shown["files"].as_array().unwrap().iter().find(|f| f["inode"] == 7).unwrap();
    assert_eq!((&file["resident"], &file["size"], &file["code_size"]), (&Value::Null, &0x6000.into(), &0x4000.into()));
    assert_eq!(file["why"], "a capture does not hold the page cache");
    assert_eq!(shown["totals"]["known"], 0);
}

#[test]
fn a_hostile_name_stays_in_its_line() {
    let tree = tree();
    let text = ramline(&["show", "maps", "31", "--ranges", "--root", tree.path()]).stdout;
    assert!(!text.contains('\u{1b}') && text.contains("a\\nb\\u{1b}[2J.so"), "{text}");
}

#[test]
fn a_capture_without_mappings_says_so_and_a_snapshot_is_refused() {
    let tree = Tree::from_fixture("healthy/debian-12-user");
    let run = ramline(&["show", "maps", "--root", tree.path()]);
    assert_eq!((run.code, run.stdout.contains("holds no mappings")), (0, true), "{run:?}");
    let one = ramline(&["show", "maps", "1", "--root", tree.path()]);
    assert_eq!((one.code, one.stderr.contains("try: ramline show maps")), (5, true), "{one:?}");
    let file = ramline(&["show", "maps", "--snapshot", "x.json"]);
    assert_eq!((file.code, file.stderr.contains("holds no mappings")), (2, true), "{file:?}");
}

#[test]
fn a_line_that_makes_no_sense_is_counted_of_many_and_named_of_one() {
    let tree = tree().file("/proc/32/maps", "1000-2000 nonsense\n").file("/proc/32/smaps", "1000-2000 nonsense\n");
    let one = ramline(&["show", "maps", "32", "--root", tree.path()]);
    assert!(one.code == 1 && one.stderr.contains("/proc/32/smaps, line 1"), "{one:?}");
    let all = ramline(&["show", "maps", "--json", "--root", tree.path()]);
    let shown: Value = serde_json::from_str(&all.stdout).unwrap();
    assert_eq!((all.code, &shown["missed"]["malformed"], &shown["processes"]), (7, &1.into(), &1.into()));
}
