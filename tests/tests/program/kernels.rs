//! Other kernels, vendors and captures: what they print is read as far as it goes, and what they do not print is not known.

use ramline_testkit::{Tree, ramline};

fn show(tree: &Tree, more: &[&str]) -> (i32, String) {
    let run = ramline(&[&["show", "--root", tree.path()], more].concat());
    (run.code, run.stdout)
}

const MEMINFO: &str = "MemTotal: 1000000 kB\nMemFree: 400000 kB\nMemAvailable: 700000 kB\nCached: 300000 kB\n\
Active(anon): 100000 kB\nInactive(anon): 20000 kB\nActive(file): 200000 kB\nInactive(file): 100000 kB\nUnevictable: 0 kB\n\
Dirty: 0 kB\nWriteback: 0 kB\nAnonPages: 120000 kB\nMapped: 1 kB\nShmem: 0 kB\nSReclaimable: 30000 kB\nSUnreclaim: 20000 kB\n\
KernelStack: 4000 kB\nPageTables: 2000 kB\n";

#[test]
fn a_table_above_the_lines_of_meminfo_costs_nothing_but_its_own_lines() {
    let table = "        total:    used:    free:  shared: buffers:  cached:\nMem:  1024000000 614400000 409600000 0 0 307200000\n\
Swap: 0 0 0\n";
    let tree = Tree::of("").file("/proc/meminfo", format!("{table}{MEMINFO}"));
    let (code, text) = show(&tree, &[]);
    assert!(code == 0 && text.starts_with("683.6 of 976.6 MiB available"), "{code} {text}");
    assert_eq!(text.matches("3 lines are not understood").count(), 1, "{text}");
}

#[test]
fn a_counter_without_a_name_in_zoneinfo_hides_no_watermark() {
    let zone = "Node 0, zone   Normal\n  per-node stats\n      nr_dirty     9\n                   3221440\n  pages free     90000\n\
        min      1000\n        low      2000\n        high     3000\n        managed  250000\n        protection: (0, 0)\n  pagesets\n\
    cpu: 0\n              count: 100\n              high:  186\n  vm stats threshold: 20\n";
    let tree = Tree::of("").file("/proc/meminfo", MEMINFO).file("/proc/zoneinfo", zone);
    let (code, text) = show(&tree, &["--all"]);
    assert!(code == 0 && text.contains("400.0 KiB"), "the list of the CPU: {code} {text}");
    assert!(!text.contains("zoneinfo:"), "nothing to tell of it: {text}");
}
