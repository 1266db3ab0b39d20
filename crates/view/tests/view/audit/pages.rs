//! What the pages and the answers of explain state about the kernel, where the audit found it wrong or asked for the source.

use std::fs;
use std::path::PathBuf;

use ramline_advice::{Inputs, TOPICS, explain};
use ramline_view::screen;

use super::{STYLE, flat, never, project, tree};

/// All that is said on a topic, on a machine with zram and a disk behind it, and its page.
fn told(id: &str) -> String {
    let seen = tree("healthy/debian-13");
    let inputs = Inputs { snapshot: &seen, window: None, tiers: None, runs: &[] };
    let answer = explain(id, &inputs).unwrap();
    flat(&format!("{} {} {}", screen::explain_more(&answer, &STYLE), answer.mechanism.join(" "), section(id)))
}

/// What the guide says on a topic.
fn section(id: &str) -> String {
    let guide = page("explain.md");
    let from = guide.split(&format!("### {id} ")).nth(1).unwrap_or_else(|| panic!("explain.md has no section {id}"));
    from.split(" ### ").next().unwrap_or_default().to_owned()
}

/// A page below docs/.
fn page(path: &str) -> String {
    flat(&fs::read_to_string(project("docs").join(path)).unwrap())
}

/// Every page, and all that is said on every topic.
fn everything() -> Vec<(String, String)> {
    let mut pages = vec![project("README.md")];
    let mut folders: Vec<PathBuf> = vec![project("docs")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap().flatten().map(|entry| entry.path()) {
            if entry.is_dir() {
                folders.push(entry);
            } else if entry.extension().is_some_and(|e| e == "md") {
                pages.push(entry);
            }
        }
    }
    assert!(pages.len() > 45, "{} pages are too few", pages.len());
    let pages = pages.into_iter().map(|path| (path.display().to_string(), flat(&fs::read_to_string(&path).unwrap())));
    pages.chain(TOPICS.iter().map(|topic| (format!("explain {}", topic.id), told(topic.id)))).collect()
}

#[test]
fn no_page_says_what_was_found_to_be_wrong() {
    for (name, text) in everything() {
        for wrong in [
            "in swap it shows in no process at all",
            "cache first, then swap",
            "behaves nearly like no swap",
            "only swapoff or a limit of zero",
            "its split by kind since 5.9",
            "before 6.0",
            "Percpu since 4.20",
            "shmem_enabled rules tmpfs",
            "program code above all",
            "32,844",
        ] {
            assert!(!text.contains(wrong), "{name}: {wrong}");
        }
    }
}

#[test]
fn shared_memory_in_swap_is_in_smaps_and_not_in_vmswap() {
    // Documentation/filesystems/proc.rst: VmSwap leaves shmem out; Swap of smaps has what of it is mapped and out.
    let told = told("shmem");
    assert!(
        told.contains(
            "The part in swap is missing from VmSwap of /proc/PID/status; Swap in smaps counts what of it is mapped."
        ),
        "{told}"
    );
    assert!(told.contains("proc.rst (VmSwap; Swap of smaps)"), "{told}");
}

#[test]
fn the_split_of_pss_came_with_5_3() {
    let told = told("rss-pss");
    assert!(told.contains("smaps_rollup exists since 4.14, its split by kind since 5.3 (ee2ad71b0756)."), "{told}");
    let schema = ramline_view::schema::text();
    for kind in ["anonymous", "files", "shared memory"] {
        assert!(schema.contains(&format!("Of `pss`, {kind}; `None` before 5.3.")), "{kind}");
    }
}

#[test]
fn a_group_at_its_limit_balances_cache_and_swap_as_the_machine_does() {
    // swap:60 swapped 113,000 pages of a group while it refaulted 58,000 of its files.
    let told = told("cgroup-memory");
    assert!(told.contains("from cache and process memory by the same balance as on the machine: a group with swap swaps while it still has cache"), "{told}");
    assert!(told.contains("get_scan_count() in mm/vmscan.c"), "{told}");
}

#[test]
fn shmem_enabled_does_not_rule_mounts_of_tmpfs() {
    // 5a6e75f8110c, Linux 4.8: a mount has its own huge=; only deny and force are for all.
    let told = told("thp");
    assert!(
        told.contains("shmem_enabled rules System V, memfd and shared anonymous memory. A tmpfs mount goes by its own huge= option, whatever shmem_enabled says, except deny and force, which rule both."),
        "{told}"
    );
    assert!(told.contains("(shmem_enabled and the mount option huge=: 5a6e75f8110c, 4.8)"), "{told}");
}

#[test]
fn swappiness_0_holds_for_groups_in_both_versions_and_not_for_the_whole_machine() {
    // get_scan_count(): cgroup_reclaim() and no swappiness is SCAN_FILE; mem_cgroup_swappiness() is vm.swappiness in version 2.
    let swappiness = told("swappiness");
    assert!(
        swappiness.contains("With hardly any file pages left, anonymous ones go, on the whole machine even at 0."),
        "{swappiness}"
    );
    assert!(
        swappiness.contains("A group at its limit drops file pages only at 0 (memory.swappiness of version 1, vm.swappiness on version 2), and is killed with swap free."),
        "{swappiness}"
    );
    let none = told("no-swap");
    assert!(none.contains("It does for a group at its limit"), "{none}");
    assert!(
        none.contains("swappiness 0: file pages only in reclaim for a group's limit; all reclaim under MGLRU"),
        "{none}"
    );
    let groups = told("cgroup-memory");
    assert!(
        groups.contains(
            "With swappiness 0 (memory.swappiness on version 1, vm.swappiness on version 2) it drops files only."
        ),
        "{groups}"
    );
}

#[test]
fn swappiness_1_reads_far_more_code_and_still_gets_through() {
    let page = page("experiments/code-plus-data.md");
    assert!(page.contains("Swappiness 1 is not \"a little swap\""), "{page}");
    assert!(page.contains("but completes: 0.89 s a round below, against 3.03 without swap"), "{page}");
    // Runs that did not do as many rounds are compared per round (A11).
    assert!(page.contains("per round its counts compare with those of a run that finished"), "{page}");
}

#[test]
fn where_memavailable_is_worked_out_moved_in_6_5() {
    let told = told("available");
    assert!(told.contains("si_mem_available() in mm/show_mem.c (mm/page_alloc.c before 6.5)"), "{told}");
}

#[test]
fn percpu_is_in_meminfo_since_4_19() {
    // Posted on 7 August 2018 and merged for 4.19; a 4.19 tree has the line.
    let told = told("kernel-memory");
    assert!(told.contains("Percpu since 4.19 (7e8a6304d541)"), "{told}");
}

#[test]
fn all_that_evicts_by_request_is_named() {
    let told = told("evictors");
    for request in [
        "DAMON",
        "memory.reclaim",
        "/sys/devices/system/node/node*/reclaim",
        "drop_caches",
        "posix_fadvise(DONTNEED)",
        "MADV_PAGEOUT",
        "process_madvise",
    ] {
        assert!(told.contains(request), "{request}: {told}");
    }
}

#[test]
fn read_around_of_a_mapping_ends_after_100_misses() {
    let told = told("read-ahead");
    assert!(
        told.contains("After 100 faults more that had to read than were found in the cache, the kernel stops this for the open file and reads single pages"),
        "{told}"
    );
    assert!(told.contains("do_sync_mmap_readahead() in mm/filemap.c (MMAP_LOTSAMISS, 100)"), "{told}");
}

#[test]
fn from_7_0_on_zram_reads_nothing_ahead() {
    let told = told("page-cluster");
    assert!(told.contains("before 7.0 pages with one owner, from 7.0 on all"), "{told}");
    assert!(told.contains("Before 7.0 this holds for pages of one process"), "{told}");
    let seen = tree("healthy/linux-6.12-zram");
    let inputs = Inputs { snapshot: &seen, window: None, tiers: None, runs: &[] };
    let answer = explain("page-cluster", &inputs).unwrap().answer_short;
    assert!(
        answer.contains("has no effect from kernel 7.0 on, before it only on pages shared after a fork"),
        "{answer}"
    );
}

#[test]
fn options_of_tmpfs_have_their_kernels() {
    let told = told("tmpfs");
    assert!(told.contains("mount options noswap since 6.4, quotas since 6.6"), "{told}");
    assert!(told.contains("mount option usrquota"), "{told}");
    never(&told, &["quotas since 6.4"]);
}
