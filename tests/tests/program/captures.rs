//! Files that another program copied, and counters that are wrong: what cannot be is not believed, and what was not copied is not known.

use ramline_testkit::{Tree, ramline};

/// Words with single blanks between them: how a screen is wrapped says nothing.
fn run(arguments: &[&str], tree: &Tree) -> String {
    let run = ramline(&[arguments, &["--root", tree.path()]].concat());
    run.stdout.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn tree_with(meminfo: &str) -> Tree {
    Tree::from_fixture("").file("/proc/meminfo", meminfo)
}

/// 8,000,000 kB, of which 1,000,000 are in no line.
const MEMINFO: &str = "MemTotal: 8000000 kB\nMemFree: 2000000 kB\nMemAvailable: 4000000 kB\nBuffers: 100000 kB\nCached: 2400000 kB\n\
SwapCached: 0 kB\nActive(anon): 1900000 kB\nInactive(anon): 100000 kB\nActive(file): 1200000 kB\nInactive(file): 1000000 kB\n\
Unevictable: 0 kB\nMlocked: 0 kB\nSwapTotal: 0 kB\nSwapFree: 0 kB\nDirty: 0 kB\nWriteback: 0 kB\nAnonPages: 1700000 kB\n\
Mapped: 400000 kB\nShmem: 300000 kB\nKReclaimable: 300000 kB\nSlab: 500000 kB\nSReclaimable: 200000 kB\nSUnreclaim: 300000 kB\n\
KernelStack: 20000 kB\nPageTables: 40000 kB\nSecPageTables: 0 kB\nVmallocUsed: 100000 kB\nVmallocChunk: 0 kB\nPercpu: 60000 kB\n\
Hugetlb: 0 kB\n";

fn with(from: &str, to: &str) -> String {
    assert!(MEMINFO.contains(from), "{from}");
    MEMINFO.replace(from, to)
}

#[test]
fn what_is_available_is_never_more_than_memtotal_and_a_counter_that_says_so_is_named() {
    // A kernel whose count of inactive file pages ran away (oracle-linux#218): the figures are of that kind.
    let text = with("MemAvailable: 4000000", "MemAvailable: 23598896")
        .replace("Inactive(file): 1000000", "Inactive(file): 23297292");
    let tree = tree_with(&text);
    let shown = run(&["show"], &tree);
    assert!(shown.starts_with("About 4.2 of 7.6 GiB available"), "1.9 free, 2.2 of cache less tmpfs: {shown}");
    assert!(
        shown.contains("/proc/meminfo: MemAvailable 22.5 GiB and Inactive(file) 22.2 GiB are above MemTotal"),
        "{shown}"
    );
    assert!(!shown.contains("not of one machine") && !shown.contains("22.5 of"), "{shown}");
    let checked = run(&["checkup", "--quick"], &tree);
    assert!(checked.contains("about 4.2 GiB of 7.6 GiB are available"), "{checked}");
}

#[test]
fn lines_of_a_vendors_kernel_are_terms_and_unknown_ones_are_named() {
    let text = format!(
        "{MEMINFO}Gpu: 200000 kB\nION_heap_pool: 100000 kB\nION_heap: 500000 kB\nZram: 150000 kB\nMisc: 100000 kB\n"
    );
    let shown = run(&["show", "--all"], &tree_with(&text));
    assert!(shown.contains("D device buffers (ION, dma-buf) 488.3 MiB"), "{shown}");
    assert!(shown.contains("Z compressed (zram, zswap) 146.5 MiB"), "not \"freed by their owners only\": {shown}");
    assert!(
        shown.contains("graphics memory in use 195.3 MiB") && shown.contains("a vendor's own (Misc) 97.7 MiB"),
        "{shown}"
    );
    // 8,000,000 less all lines: the pool is in KReclaimable, and no line of its own.
    let json = ramline(&["show", "--json", "--root", tree_with(&text).path()]).stdout;
    let document: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(document["ledger"]["leftover"], (8_000_000 - 7_950_000_i64) * 1024, "{shown}");
    let unknown = run(&["show"], &tree_with(&format!("{MEMINFO}FastRpcBuffers: 700000 kB\nVmallocTotal: 300000 kB\n")));
    assert!(unknown.contains("not known here may be a part: FastRpcBuffers 683.6 MiB."), "{unknown}");
}

#[test]
fn what_zswap_holds_is_compressed_memory_also_where_vmstat_was_not_copied() {
    let shown = run(&["show"], &tree_with(&format!("{MEMINFO}Zswap: 976000 kB\nZswapped: 2000000 kB\n")));
    assert!(shown.contains("Z compressed (zram, zswap) 953.1 MiB"), "{shown}");
    assert!(!shown.contains("in no counter"), "{shown}");
}

#[test]
fn page_tables_of_what_was_swapped_out_are_in_proportion_and_a_phone_is_not_warned_of() {
    // 5 % of RAM, 41 times what is mapped and swapped: many programs that map much sparsely.
    let phone = with("PageTables: 40000", "PageTables: 400000")
        .replace("AnonPages: 1700000", "AnonPages: 600000")
        .replace("SwapTotal: 0", "SwapTotal: 6000000")
        .replace("SwapFree: 0", "SwapFree: 2000000");
    let checked = run(&["checkup", "--quick"], &tree_with(&phone));
    assert!(!checked.contains("Warning"), "{checked}");
    assert!(checked.contains("Page tables take 390.6 MiB, 41 times"), "{checked}");
    // A desktop: 73 MiB beside 0.7 GiB in RAM and 1.0 GiB on swap are 10 times and more without what is on swap.
    let desktop = "MemTotal: 3742148 kB\nMemFree: 225472 kB\nMemAvailable: 900000 kB\nAnonPages: 500000 kB\nMapped: 230000 kB\n\
                   PageTables: 75000 kB\nSwapTotal: 4194300 kB\nSwapFree: 155000 kB\n";
    let checked = run(&["checkup", "--quick"], &tree_with(desktop));
    assert!(!checked.contains("Page tables take"), "8 times: {checked}");
    let much = with("PageTables: 40000", "PageTables: 900000");
    assert!(run(&["show"], &tree_with(&much)).starts_with("Warning: Page tables take 878.9 MiB"), "a tenth of RAM");
}

#[test]
fn the_leftover_of_a_file_without_lines_of_programs_is_not_called_the_kernels() {
    let tree = tree_with(
        "MemTotal: 260000000 kB\nMemFree: 20000000 kB\nMemAvailable: 120000000 kB\nBuffers: 1000000 kB\nCached: 100000000 kB\n\
                   Slab: 8000000 kB\nSReclaimable: 6000000 kB\nSUnreclaim: 2000000 kB\n",
    );
    let kernel = run(&["explain", "kernel-memory"], &tree);
    assert!(kernel.contains("The lines of the kernel hold 7.6 GiB (3.1 % of RAM)"), "{kernel}");
    assert!(kernel.contains("no line tells whether the kernel or programs have it"), "{kernel}");
    assert!(!kernel.contains("in no counter"), "{kernel}");
    let used = run(&["explain", "used"], &tree);
    assert!(used.contains("the kernel and drivers 7.6 GiB; whose") && used.contains("no line tells"), "{used}");
}

#[test]
fn what_was_not_copied_is_not_what_the_kernel_lacks() {
    let text = with("MemAvailable: 4000000 kB\n", "");
    let shown = run(&["show", "--all"], &tree_with(&text));
    assert!(
        shown.contains("This /proc/meminfo has no MemAvailable") && !shown.contains("This kernel has no"),
        "{shown}"
    );
    assert!(shown.contains("Not shown here") && !shown.contains("Not shown by this kernel"), "{shown}");
    let pressure = run(&["show", "pressure"], &tree_with(MEMINFO));
    assert!(pressure.contains("This capture has no /proc/pressure/memory"), "{pressure}");
    assert!(!pressure.contains("psi=1") && !pressure.contains("not built"), "{pressure}");
    // A capture of ramline's own lacks what the machine lacked.
    let own = run(&["show", "pressure"], &Tree::from_fixture("healthy/psi-off"));
    assert!(own.contains("PSI is off or not built here"), "{own}");
    let swap = run(&["show", "--all"], &tree_with(&with("SwapTotal: 0 kB\nSwapFree: 0 kB", "SwapTotal: 1000000 kB")));
    assert!(swap.contains("Swap: 976.6 MiB; how much of it is used is not known."), "{swap}");
    assert!(!swap.contains("no free swap"), "{swap}");
    let cut = run(&["show"], &tree_with("HugePages_Total: 2048\nHugepagesize: 2048 kB\nbad line\n"));
    assert!(cut.starts_with("Nothing can be said: /proc/meminfo has no MemTotal."), "{cut}");
    let checked = run(&["checkup", "--quick"], &tree_with("HugePages_Total: 2048\nHugepagesize: 2048 kB\n"));
    assert!(!checked.contains("was not seen.") && !checked.contains("Nothing to change"), "{checked}");
}

fn psi(some: &str) -> String {
    format!("some avg10={some} avg60=0.00 avg300=0.00 total=9\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=1\n")
}

#[test]
fn tasks_that_wait_are_never_all_clear() {
    let waits = |some: &str| tree_with(MEMINFO).file("/proc/pressure/memory", psi(some));
    let checked = run(&["checkup", "--quick"], &waits("99.80"));
    assert!(checked.contains("Tasks wait for memory, 99.8 % of the last 10 s; no rule names the cause; "), "{checked}");
    assert!(checked.contains("rules could not be judged") && !checked.contains("Nothing to change"), "{checked}");
    assert!(
        run(&["show"], &waits("0.50")).contains("no task waits noticeably (0.5 %)."),
        "{}",
        run(&["show"], &waits("0.50"))
    );
    assert!(run(&["show"], &waits("0.00")).contains("no task waits for memory."));
    assert!(run(&["show", "pressure"], &waits("0.50")).starts_with("No task waits for memory noticeably."));
}

#[test]
fn memory_that_is_nearly_used_up_with_half_of_swap_is_not_fine() {
    let text = |swap_free: u64| {
        format!(
            "MemTotal: 131900000 kB\nMemFree: 900000 kB\nMemAvailable: 2000000 kB\nSwapTotal: 8000000 kB\nSwapFree: {swap_free} kB\n"
        )
    };
    let shown = |free| run(&["show"], &tree_with(&text(free)).file("/proc/pressure/memory", psi("0.00")));
    assert!(
        shown(4_000_000).starts_with("Memory is low: 1.9 of 125.8 GiB available, and 3.8 GiB of swap is free."),
        "{}",
        shown(4_000_000)
    );
    assert!(shown(7_000_000).starts_with("Memory is fine"), "swap has taken little: {}", shown(7_000_000));
}

fn zone(managed: u64) -> String {
    format!(
        "Node 0, zone   Normal\n  pages free     {}\n        min      1000\n        low      2000\n        high     3000\n        \
         present  {}\n        managed  {managed}\n        protection: (0, 0)\n",
        managed / 4,
        managed + 1000
    )
}

#[test]
fn zones_and_counters_of_another_machine_are_left_out_and_said_to_be() {
    let tree = |managed: u64, free: u64| {
        tree_with(MEMINFO)
            .file("/proc/zoneinfo", zone(managed))
            .file("/proc/vmstat", format!("nr_free_pages {free}\nnr_zspages 0\n"))
    };
    let ours = run(&["show"], &tree(2_000_000, 500_000));
    assert!(!ours.contains("of another machine"), "{ours}");
    let other = run(&["show"], &tree(16_000_000, 500_000));
    assert!(
        other.contains("its zones manage 61.0 GiB and MemTotal is 7.6 GiB: of another machine, left out"),
        "{other}"
    );
    let marks = run(&["show", "pressure"], &tree(16_000_000, 500_000));
    assert!(!marks.contains("15.2 GiB"), "no distance to its watermarks: {marks}");
}

#[test]
fn a_leftover_of_gigabytes_is_a_piece_by_itself_on_a_machine_of_any_size() {
    // 23.6 GiB of 1.8 TiB are 1.3 %: more than the 13.5 GiB that such a machine keeps inactive.
    let text = "MemTotal: 1933000000 kB\nMemFree: 1900000000 kB\nMemAvailable: 1899000000 kB\nActive(anon): 1000000 kB\n\
                Inactive(anon): 0 kB\nActive(file): 1000000 kB\nInactive(file): 3000000 kB\nUnevictable: 0 kB\nShmem: 0 kB\nDirty: 0 kB\n\
                Writeback: 0 kB\nSReclaimable: 1000000 kB\nSUnreclaim: 2000000 kB\nKernelStack: 100000 kB\nPageTables: 100000 kB\n\
                VmallocUsed: 100000 kB\nPercpu: 100000 kB\nHugetlb: 0 kB\n";
    let shown = run(&["show"], &tree_with(text));
    assert!(shown.contains("? in no counter (drivers) 23.6 GiB"), "{shown}");
}

#[test]
fn page_descriptors_of_added_memory_have_a_line() {
    let tree = tree_with(MEMINFO).file("/proc/vmstat", "nr_free_pages 500000\nnr_zspages 0\nnr_memmap_pages 100000\n");
    let shown = run(&["show", "--all"], &tree);
    assert!(shown.contains("page descriptors, added RAM 390.6 MiB"), "{shown}");
    // More than no line explains: they lie on that memory itself, outside of MemTotal.
    let tree = tree_with(MEMINFO).file("/proc/vmstat", "nr_free_pages 500000\nnr_zspages 0\nnr_memmap_pages 900000\n");
    assert!(!run(&["show", "--all"], &tree).contains("page descriptors, added RAM"));
}

#[test]
fn a_capture_is_not_asked_to_look_twice() {
    let shown = run(&["show"], &tree_with(MEMINFO));
    assert!(shown.contains("/proc/pressure/memory would have told; it is not in this capture."), "{shown}");
    assert!(!shown.contains("--for 2s"), "{shown}");
    let explained = run(&["explain", "available"], &tree_with(MEMINFO));
    assert!(explained.contains("Next: ramline show pressure") && !explained.contains("--for 2s"), "{explained}");
}

#[test]
fn memory_of_nodes_without_processors_is_said_to_be_and_explained_from_their_own_files() {
    let node = |n: u32, total: u32, free: u32| {
        (
            format!("/sys/devices/system/node/node{n}/meminfo"),
            format!("Node {n} MemTotal: {total} kB\nNode {n} MemFree: {free} kB\n"),
        )
    };
    let tree = [node(0, 4_000_000, 900_000), node(8, 4_000_000, 3_900_000)]
        .into_iter()
        .fold(tree_with(MEMINFO), |tree, (path, text)| tree.file(&path, text))
        .file("/sys/devices/system/node/node0/cpulist", "0-15\n")
        .file("/sys/devices/system/node/node8/cpulist", "\n");
    let shown = run(&["show"], &tree);
    assert!(shown.contains("3.8 GiB of RAM is in a node without processors (8), 3.7 GiB of it free"), "{shown}");
    let numa = run(&["explain", "numa"], &tree);
    assert!(numa.contains("Node 0 has least free, 878.9 MiB of 3.8 GiB. Without processors: 8."), "{numa}");
    let all = tree.file("/sys/devices/system/node/node8/cpulist", "16-31\n");
    assert!(!run(&["show"], &all).contains("without processors"));
}
