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
    let tree = Tree::from_fixture("").file("/proc/meminfo", format!("{table}{MEMINFO}"));
    let (code, text) = show(&tree, &[]);
    assert!(code == 0 && text.starts_with("683.6 of 976.6 MiB available"), "{code} {text}");
    assert_eq!(text.matches("3 lines are not understood").count(), 1, "{text}");
}

#[test]
fn a_counter_without_a_name_in_zoneinfo_hides_no_watermark() {
    let zone = "Node 0, zone   Normal\n  per-node stats\n      nr_dirty     9\n                   3221440\n  pages free     90000\n\
        min      1000\n        low      2000\n        high     3000\n        managed  250000\n        protection: (0, 0)\n  pagesets\n\
    cpu: 0\n              count: 100\n              high:  186\n  vm stats threshold: 20\n";
    let tree = Tree::from_fixture("").file("/proc/meminfo", MEMINFO).file("/proc/zoneinfo", zone);
    let (code, text) = show(&tree, &["--all"]);
    assert!(code == 0 && text.contains("400.0 KiB"), "the list of the CPU: {code} {text}");
    assert!(!text.contains("zoneinfo:"), "nothing to tell of it: {text}");
}

#[test]
fn what_a_file_does_not_show_is_not_known_and_neither_0_nor_the_kernels() {
    let (_, text) =
        show(&Tree::from_fixture("").file("/proc/meminfo", "MemTotal: 8000000 kB\nMemAvailable: 6800000 kB\n"), &[]);
    assert!(text.contains("n not known  7.6 GiB  100 %") && !text.contains("kernel  "), "{text}");
    let (_, text) = show(&Tree::from_fixture("").file("/proc/meminfo", "MemTotal: 8388608 kB\n"), &[]);
    assert!(text.starts_with("How much of 8.0 GiB is available is not known") && !text.contains("0 B of"), "{text}");
    let (code, text) = show(&Tree::from_fixture("").file("/proc/meminfo", "SwapTotal: 10 kB\n"), &[]);
    assert!(code == 7 && text.contains("has no MemTotal") && !text.contains("meminfo was not seen"), "{text}");
}

#[test]
fn before_4_15_the_pool_of_huge_pages_is_its_pages_and_their_size() {
    let pool = "HugePages_Total: 100\nHugePages_Free: 0\nHugePages_Rsvd: 0\nHugepagesize: 2048 kB\n";
    let (_, text) = show(&Tree::from_fixture("").file("/proc/meminfo", format!("{MEMINFO}{pool}")), &[]);
    assert!(text.contains("H huge pages") && text.contains("200.0 MiB"), "{text}");
    let all = Tree::from_fixture("").file("/proc/meminfo", format!("{MEMINFO}{pool}"));
    let sizes = [("2048kB", 100), ("1048576kB", 1)];
    let all = sizes.into_iter().fold(all, |tree, (size, n)| {
        let file = |name: &str| format!("/sys/kernel/mm/hugepages/hugepages-{size}/{name}");
        tree.file(&file("nr_hugepages"), format!("{n}\n")).file(&file("free_hugepages"), "0\n")
    });
    assert!(show(&all, &["--all"]).1.contains("1.2 GiB"), "of both sizes: {}", show(&all, &["--all"]).1);
}

#[test]
fn vmalloc_is_no_ram_before_5_3_and_the_leftover_says_what_is_not_counted() {
    for vmalloc in ["VmallocUsed: 900000 kB\nVmallocChunk: 34332268932 kB\n", "VmallocUsed: 0 kB\nVmallocChunk: 0 kB\n"]
    {
        let (_, text) = show(&Tree::from_fixture("").file("/proc/meminfo", format!("{MEMINFO}{vmalloc}")), &["--all"]);
        assert!(text.contains("kernel stacks") && !text.contains("- kernel stacks"), "{text}");
        let told = text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(told.contains("per-CPU data: this kernel counts none of them"), "{text}");
        assert!(!told.contains("Nothing in: vmalloc") && !told.contains("more than MemTotal"), "{text}");
    }
}

#[test]
fn before_2_6_28_cache_and_memory_of_processes_are_what_their_own_counters_say() {
    let text = "MemTotal: 48258496 kB\nMemFree: 5351808 kB\nBuffers: 8000 kB\nCached: 38612864 kB\nSwapCached: 177280 kB\n\
Active: 20000000 kB\nInactive: 20520064 kB\nSwapTotal: 0 kB\nSwapFree: 0 kB\nDirty: 0 kB\nWriteback: 0 kB\nAnonPages: 1872832 kB\n\
Mapped: 100 kB\nSlab: 1340416 kB\nSReclaimable: 1100000 kB\nSUnreclaim: 240416 kB\nPageTables: 152832 kB\n\
VmallocUsed: 172992 kB\nVmallocChunk: 35184359619008 kB\n";
    let (_, text) = show(&Tree::from_fixture("").file("/proc/meminfo", text), &[]);
    assert!(text.starts_with("About 42.9 of 46.0 GiB available"), "{text}");
    assert!(text.contains("no MemAvailable: it is estimated") && text.contains("c page cache  36.8 GiB"), "{text}");
}

#[test]
fn the_page_size_of_a_capture_is_what_its_numbers_say_or_said_to_be_assumed() {
    let zone = "Node 0, zone   Normal\n  pages free     6250\n        min      100\n        low      200\n        high     300\n        \
managed  15625\n        protection: (0, 0)\n";
    let tree = |vmstat: &str| {
        Tree::from_fixture("").file("/proc/meminfo", MEMINFO).file("/proc/vmstat", vmstat).file("/proc/zoneinfo", zone)
    };
    let pressure = |tree: &Tree| ramline(&["show", "pressure", "--root", tree.path()]).stdout;
    let text = pressure(&tree("nr_free_pages 6250\n"));
    assert!(text.contains("378.1 MiB"), "6050 pages of 64 KiB: {text}");
    let bare = Tree::from_fixture("").file("/proc/meminfo", "MemTotal: 1000 kB\n").file("/proc/vmstat", "pgfault 5\n");
    assert!(show(&bare, &[]).1.contains("4.0 KiB assumed"), "{}", show(&bare, &[]).1);
}

#[test]
fn low_memory_that_is_used_up_is_told_whatever_is_free_above_it() {
    let zone = |name: &str, free: u32, managed: u32| {
        format!(
            "Node 0, zone {name}\n  pages free     {free}\n        min      2048\n        low      4096\n        high     5120\n        \
managed  {managed}\n        protection: (0, 0, 0)\n"
        )
    };
    let stall = |percent: &str| {
        format!("some avg10={percent} avg60=0.00 avg300=0.00 total=9\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=1\n")
    };
    let tree = |free: u32, percent: &str| {
        Tree::from_fixture("")
            .file("/proc/meminfo", MEMINFO)
            .file("/proc/vmstat", "nr_free_pages 100000\n")
            .file("/proc/zoneinfo", format!("{}{}", zone("Normal", free, 50_000), zone("HighMem", 90_000, 200_000)))
            .file("/proc/pressure/memory", stall(percent))
    };
    let (_, text) = show(&tree(2304, "35.00"), &[]);
    assert!(text.starts_with("Low memory is short: 9.0 of 195.3 MiB free in zone Normal"), "{text}");
    let marks = ramline(&["explain", "watermarks", "--root", tree(2304, "0.00").path()]).stdout;
    assert!(marks.contains("7.0 MiB") && !marks.contains("Reclaim begins when"), "{marks}");
    assert!(show(&tree(2304, "0.00"), &[]).1.starts_with("Memory is fine"), "kswapd at work is no trouble");
    assert!(!show(&tree(30_000, "35.00"), &[]).1.contains("Low memory"), "it has room there");
    let cached = |pages: u32| {
        let counters = "      nr_zone_inactive_anon 0\n      nr_zone_active_anon 0\n";
        let files = format!("      nr_zone_inactive_file {pages}\n      nr_zone_active_file 7\n{counters}");
        let zones = format!("{}{files}{}{files}", zone("Normal", 2304, 50_000), zone("HighMem", 90_000, 200_000));
        show(&tree(2304, "0.00").file("/proc/zoneinfo", zones), &[]).1
    };
    let text = cached(100);
    assert!(text.starts_with("Low memory is nearly used up: 9.0 of 195.3 MiB free in zone Normal"), "{text}");
    assert!(cached(2900).starts_with("Memory is fine"), "2816 pages bring it to its high mark: {}", cached(2900));
}

#[test]
fn groups_are_found_by_the_short_table_of_mounts_and_without_any() {
    let group = |tree: Tree| {
        tree.file("/proc/meminfo", MEMINFO)
            .file("/cgroup/memory/memory.usage_in_bytes", "9000000\n")
            .file("/cgroup/memory/a/memory.usage_in_bytes", "5000000\n")
    };
    let groups = |tree: Tree| ramline(&["show", "cgroups", "--root", group(tree).path()]).stdout;
    for tree in [
        Tree::from_fixture("").file("/proc/mounts", "cgroup /cgroup/memory cgroup rw,memory 0 0\n"),
        Tree::from_fixture(""),
    ] {
        let text = groups(tree);
        assert!(text.contains("2 memory control groups"), "{text}");
    }
    let bare = Tree::from_fixture("").file("/proc/meminfo", MEMINFO);
    assert!(show(&bare, &[]).1.contains("/proc/self/mountinfo"), "the file that is missing is named");
}

/// 1 GiB of which 100 MiB are used, as lxcfs writes it on a host of 24 GiB.
const LXCFS: &str = "MemTotal: 1048576 kB\nMemFree: 946176 kB\nMemAvailable: 1000000 kB\nBuffers: 0 kB\nCached: 60000 kB\nSwapCached: 0 kB\n\
Active: 50000 kB\nInactive: 40000 kB\nActive(anon): 10000 kB\nInactive(anon): 20000 kB\nActive(file): 40000 kB\nInactive(file): 20000 kB\n\
Unevictable: 0 kB\nMlocked: 21364 kB\nSwapTotal: 0 kB\nSwapFree: 0 kB\nDirty: 0 kB\nWriteback: 0 kB\nAnonPages: 30000 kB\nMapped: 0 kB\n\
Shmem: 0 kB\nKReclaimable: 1235536 kB\nSlab: 0 kB\nSReclaimable: 0 kB\nSUnreclaim: 0 kB\nKernelStack: 3240 kB\nPageTables: 411832 kB\n\
VmallocUsed: 22384 kB\nVmallocChunk: 0 kB\nPercpu: 1112 kB\nHugePages_Total: 64\nHugePages_Free: 64\nHugepagesize: 2048 kB\n";

#[test]
fn of_a_meminfo_by_lxcfs_each_line_is_of_the_container_and_the_hosts_are_left_out() {
    let zone = "Node 0, zone   Normal\n  pages free     90000\n        min      1000\n        low      2000\n        high     3000\n        \
managed  6000000\n        protection: (0, 0)\n  pagesets\n    cpu: 0\n              count: 43000\n";
    let mounted = "69 67 0:21 / /proc rw - proc proc rw\n103 69 0:41 /proc/meminfo /proc/meminfo rw,nosuid - fuse.lxcfs lxcfs rw\n";
    let stall = "some avg10=5.00 avg60=0.00 avg300=0.00 total=9\n";
    let tree = Tree::from_fixture("")
        .file("/proc/meminfo", LXCFS)
        .file("/proc/zoneinfo", zone)
        .file("/proc/pressure/memory", stall);
    // With the mount table, and without it by zones that manage more than there is.
    for tree in [
        tree.file("/proc/self/mountinfo", mounted),
        Tree::from_fixture("").file("/proc/meminfo", LXCFS).file("/proc/zoneinfo", zone),
    ] {
        let (_, text) = show(&tree, &[]);
        assert!(text.starts_with("976.6 MiB of 1.0 GiB available; whether tasks wait"), "the host's pressure: {text}");
        assert!(text.contains("lxcfs") && text.contains("n not known") && text.contains("12.1 MiB"), "{text}");
        for wrong in ["k kernel", "huge pages", "Page tables", "Warning", "Swap: none"] {
            assert!(!text.contains(wrong), "{wrong}: {text}");
        }
    }
}

#[test]
fn the_memory_of_wsl_is_said_to_be_that_of_its_virtual_machine() {
    let tree = Tree::from_fixture("")
        .file("/proc/meminfo", MEMINFO)
        .file("/proc/version", "Linux version 5.15.90.1-microsoft-standard-WSL2 (x@y) #1 SMP\n");
    assert!(show(&tree, &[]).1.contains("WSL 2: this is the memory of its virtual machine"), "{}", show(&tree, &[]).1);
}

#[test]
fn lines_that_are_more_than_memtotal_are_said_to_be_and_no_shares_are_more_than_the_whole() {
    let text = MEMINFO.replace("MemFree: 400000", "MemFree: 900000");
    let tree = Tree::from_fixture("").file("/proc/meminfo", text);
    let (_, text) = show(&tree, &["--all"]);
    assert!(text.contains("more than MemTotal: the files are not of one moment"), "{text}");
    let run = ramline(&["show", "--root", tree.path(), "--json"]);
    let document: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
    let pieces = document["pieces"].as_array().unwrap();
    let shares: f64 = pieces.iter().map(|piece| piece["share"].as_f64().unwrap()).sum();
    assert!((0.99..=1.0001).contains(&shares), "{shares}");
}

#[test]
fn units_that_were_not_looked_for_are_not_0_units() {
    let oomd = |tree: Tree| tree.file("/proc/meminfo", MEMINFO).file("/proc/900/comm", "systemd-oomd\n");
    let check = |tree: Tree| ramline(&["checkup", "--quick", "--root", oomd(tree).path()]).stdout;
    let text = check(Tree::from_fixture(""));
    assert!(!text.contains("0 units") && !text.contains("tune apply"), "{text}");
    let text = check(Tree::from_fixture("").file("/etc/systemd/system/x.service", "[Service]\n"));
    assert!(text.contains("0 units ask it"), "{text}");
}

#[test]
fn nothing_switches_on_psi_in_a_kernel_that_is_older() {
    let pressure = |more: &str| {
        // With the file that a capture of ramline has: what is not there was not there.
        let text = format!("{MEMINFO}Slab: 50000 kB\n{more}");
        let tree = Tree::from_fixture("").file("/proc/meminfo", text).file("/meta.json", "{}");
        ramline(&["show", "pressure", "--root", tree.path()]).stdout
    };
    assert!(pressure("").contains("has no PSI (since 4.20)") && !pressure("").contains("psi=1"), "{}", pressure(""));
    assert!(pressure("KReclaimable: 30000 kB\n").contains("psi=1"), "{}", pressure("KReclaimable: 30000 kB\n"));
}

#[test]
fn a_memory_controller_that_is_switched_off_is_said_to_be_and_how_it_is_switched_on() {
    let tree = Tree::from_fixture("healthy/linux-6.12-zram")
        .file("/sys/fs/cgroup/cgroup.controllers", "cpuset cpu io pids\n")
        .file(
            "/proc/cgroups",
            "#subsys_name\thierarchy\tnum_cgroups\tenabled\ncpu\t0\t36\t1\nmemory\t0\t36\t0\npids\t0\t36\t1\n",
        );
    let run = ramline(&["explain", "cgroup-memory", "--root", tree.path()]);
    let text = run.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains("memory controller of control groups, which is switched off"), "{text}");
    assert!(text.contains("cgroup_enable=memory"), "{text}");
}
