//! Whose memory it is: process memory, shared memory, what is mapped, huge pages.

use ramline_advice::{Inputs, explain, findings};
use ramline_model::SignedBytes;
use ramline_model::ledger::{Ledger, Term};
use ramline_snapshot::processes::{Process, Processes};
use ramline_snapshot::{Seen, Snapshot};
use ramline_units::Bytes;
use ramline_view::{Screen, ShowMemory};

use super::{STYLE, flat, known_by, never, said, tree};

const RAM: &str = "MemTotal: 24682416 kB\nMemFree: 20000000 kB\nMemAvailable: 23000000 kB\nActive(file): 700000 kB\nInactive(file): 700000 kB\n";

fn shown(seen: &Snapshot) -> String {
    ShowMemory::new(seen, None).text(&STYLE)
}

/// The amount on the line of the table that begins with this name.
fn amount(text: &str, name: &str) -> String {
    let table = text.split("Every line of MemTotal").nth(1).unwrap();
    let line =
        table.lines().find(|line| line.starts_with(&format!("{name} "))).unwrap_or_else(|| panic!("{name}: {text}"));
    line[name.len()..].split_whitespace().take(2).collect::<Vec<_>>().join(" ")
}

#[test]
fn a18_process_memory_is_what_the_kernel_counts_for_processes() {
    // A program that locks its pages is a file in tmpfs; 424.0 KiB were printed.
    let seen = known_by(&format!(
        "{RAM}AnonPages: 13488 kB\nShmem: 8872 kB\nActive(anon): 620 kB\nInactive(anon): 8676 kB\nUnevictable: 14392 kB\nMlocked: 12060 kB\n"
    ));
    let text = shown(&seen);
    assert_eq!(amount(&text, "process memory"), "13.2 MiB", "{text}");
    assert!(flat(&text).contains("processes: heaps and stacks; their code is page cache"), "{text}");
    never(&flat(&text), &["424.0 KiB"]);
}

#[test]
fn a19_shared_memory_does_not_move_while_the_kernels_count_stands() {
    // It was 7.6, then 2.4, then 7.6 MiB, with Shmem 8872 kB: the lists had moved.
    for (anon, lists, locked) in [(13_488, 8676, 14_392), (13_488, 3300, 19_060), (20_000, 14_900, 14_392)] {
        let seen = known_by(&format!(
            "{RAM}AnonPages: {anon} kB\nShmem: 8872 kB\nActive(anon): 620 kB\nInactive(anon): {lists} kB\nUnevictable: {locked} kB\nMlocked: 12060 kB\n"
        ));
        assert_eq!(amount(&shown(&seen), "tmpfs and shared memory"), "8.7 MiB");
    }
}

/// MiB of process memory, of shared memory, of both on the lists, and of what is locked.
fn owners(anon: u64, shmem: u64, lists: u64, locked: u64) -> Snapshot {
    let kib = |mib: u64| mib * 1024;
    known_by(&format!(
        "{RAM}AnonPages: {} kB\nShmem: {} kB\nActive(anon): 0 kB\nInactive(anon): {} kB\nUnevictable: {} kB\nMlocked: {} kB\n",
        kib(anon),
        kib(shmem),
        kib(lists),
        kib(locked),
        kib(locked)
    ))
}

#[test]
fn truth_1_locked_shared_memory_takes_nothing_from_the_line_of_processes() {
    // 1 GiB of locked shared memory beside 1 GiB of plain anonymous: process memory was 14 MiB.
    let seen = owners(1041, 1429, 1041 + 405, 1024);
    let text = shown(&seen);
    assert_eq!(amount(&text, "process memory"), "1.0 GiB", "{text}");
    assert_eq!(amount(&text, "tmpfs and shared memory"), "1.4 GiB", "{text}");
    let inputs = Inputs { snapshot: &seen, window: None, tiers: None, runs: &[] };
    let told = explain("used", &inputs).unwrap();
    let number = told.numbers.iter().find(|n| n.what == "process memory").unwrap();
    assert!(number.value.starts_with("1.0 GiB"), "{}", number.value);
    // Who locked it is not known, and that is said.
    assert!(flat(&text).contains("locked by processes 1.0 GiB 4.2 % at most"), "{text}");
    never(&said(&seen, None), &["14.0 MiB"]);
}

#[test]
fn truth_1_what_comes_is_what_the_line_grows_by() {
    let grown = |before: Snapshot, after: Snapshot, term| {
        let of = |seen: &Snapshot| Ledger::from_snapshot(seen).unwrap().bytes(term);
        SignedBytes::difference(of(&after), of(&before)).0 >> 20
    };
    // Beside 1 GiB of locked shared memory 1,024 MiB came, and +62 was shown.
    assert_eq!(grown(owners(17, 1033, 26, 1024), owners(1041, 1033, 1050, 1024), Term::Anon), 1024);
    // 256 shared, 1,024 anonymous and 1,024 locked anonymous: +770 was shown.
    let (before, after) = (owners(17, 9, 26, 0), owners(17 + 2048, 9 + 256, 26 + 1024 + 256, 1024));
    assert_eq!(grown(before.clone(), after.clone(), Term::Anon), 2048);
    assert_eq!(grown(before, after, Term::Shmem), 256);
}

#[test]
fn truth_2_mapped_shared_memory_is_not_called_program_code() {
    // A memfd of 1 GiB, mapped, beside programs that map 58 to 78 MiB: 670 MiB were said to be mapped cache.
    let mut seen = known_by(&format!(
        "{RAM}Mapped: 1128448 kB\nShmem: 1056768 kB\nActive(anon): 0 kB\nInactive(anon): 1056768 kB\nUnevictable: 20480 kB\nMlocked: 0 kB\nBuffers: 1 kB\nCached: 2456768 kB\nSReclaimable: 1 kB\n"
    ));
    let process = Process { rss_shmem: Some(Bytes::from_gib(1)), ..Process::default() };
    seen.processes = Seen::new(Processes { list: vec![process], ..Processes::default() });
    let text = flat(&shown(&seen));
    assert!(text.contains("- mapped into processes 78.0 MiB 0.32 % at most; at least 58.0 MiB"), "{text}");
    // Where no process was seen, the bounds are wide, and they are said to be bounds.
    let mut nobody = seen.clone();
    nobody.processes = Seen::Unread;
    let text = flat(&shown(&nobody));
    assert!(text.contains("- mapped into processes 1.1 GiB 4.6 % at most; at least 50.0 MiB"), "{text}");
    let inputs = Inputs { snapshot: &seen, window: None, tiers: None, runs: &[] };
    let told = explain("buff-cache", &inputs).unwrap();
    assert!(
        told.numbers.iter().any(|n| n.what == "mapped by programs: code, files, shared memory"),
        "{:?}",
        told.numbers
    );
    never(&said(&seen, None), &["program code above all", "670"]);
}

#[test]
fn truth_9_promised_huge_pages_are_not_there_for_the_taking() {
    // 256 pages of 2 MiB, all promised: "unused huge pages 512 MiB, nobody, freeable by nr_hugepages".
    let mut seen = tree("findings/huge-pages-unused/fires");
    let Seen::Seen { data: pools, .. } = &mut seen.hugepages else { panic!("no huge pages") };
    for pool in pools.iter_mut() {
        (pool.total, pool.free, pool.reserved) = (256, 256, 256);
    }
    let inputs = Inputs { snapshot: &seen, window: None, tiers: None, runs: &[] };
    assert!(findings(&inputs).iter().all(|f| f.id != "huge-pages-unused"));
    let text = shown(&known_by(&format!(
        "{RAM}Hugetlb: 524288 kB\nHugePages_Total: 256\nHugePages_Free: 256\nHugePages_Rsvd: 256\nHugePages_Surp: 0\nHugepagesize: 2048 kB\n"
    )));
    let text = flat(&text);
    assert!(
        text.contains("- promised huge pages 512.0 MiB") && text.contains("2.1 % until their programs end"),
        "{text}"
    );
    assert!(text.contains("only by ending the programs that use them or were promised them"), "{text}");
    never(&text, &["- unused huge pages", "nr_hugepages"]);
}

#[test]
fn graphics_memory_that_its_driver_gives_back_and_a_zfs_cache_that_keeps_all_are_not_said_to_be_the_opposite() {
    let of = |lines: &str| flat(&shown(&known_by(&format!("{RAM}{lines}"))));
    let kept = of("GPUActive: 100 kB\nGPUReclaim: 2000000 kB\n");
    assert!(kept.contains("graphics memory 1.9 GiB 8.1 % freed in part by its driver"), "{kept}");
    let used = of("GPUActive: 2000000 kB\nGPUReclaim: 100 kB\n");
    assert!(used.contains("graphics memory 1.9 GiB 8.1 % until its programs end"), "{used}");
    let arc = |min: u64| {
        let mut seen = known_by("MemTotal: 24682416 kB\nMemFree: 12000000 kB\nMemAvailable: 12000000 kB\n");
        seen.zfs = Seen::new(Some(ramline_snapshot::zfs::Arc {
            size: Bytes::from_gib(8),
            min: Bytes::from_gib(min),
            max: Bytes::from_gib(10),
            evictable: None,
        }));
        flat(&shown(&seen))
    };
    assert!(arc(9).contains("kept by ZFS (zfs_arc_min)"), "{}", arc(9));
    assert!(arc(1).contains("freed in part, down to c_min"), "{}", arc(1));
}
