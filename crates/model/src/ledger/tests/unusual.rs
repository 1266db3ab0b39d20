//! Machines that lack a counter, count twice, or have pages of another size.

use super::*;

#[test]
fn page_descriptors_and_a_balloon_are_outside_of_memtotal() {
    let outside = Ledger::from_snapshot(&sample()).unwrap().outside;
    assert_eq!(outside.iter().map(|o| o.bytes.0 / 1024).collect::<Vec<_>>(), [32, 26]);
    let old =
        Ledger::from_snapshot(&machine("MemTotal: 9 kB\nBalloon: 0 kB\n", "nr_memmap_boot 3\n", "")).unwrap().outside;
    assert_eq!(old.iter().map(|o| o.bytes).collect::<Vec<_>>(), [Bytes(3 * 4096)]);
    assert_eq!(
        Ledger::from_snapshot(&machine("MemTotal: 9 kB\n", "nr_memmap_boot_pages 0\n", "")).unwrap().outside,
        []
    );
}

#[test]
fn other_reclaimable_memory_comes_from_vmstat_where_meminfo_lacks_it() {
    let text = without(MEMINFO, "KReclaimable");
    let ledger =
        Ledger::from_snapshot(&machine(&text, &format!("{VMSTAT}nr_kernel_misc_reclaimable 5\n"), ZONEINFO)).unwrap();
    assert_eq!(ledger.bytes(Term::KernelReclaimable), Bytes(5 * 4096));
    let ledger = Ledger::from_snapshot(&machine(&text, VMSTAT, ZONEINFO)).unwrap();
    assert_eq!(ledger.missing_terms, ["KReclaimable - SReclaimable"]);
}

#[test]
fn without_memtotal_there_is_no_ledger() {
    assert_eq!(Ledger::from_snapshot(&Snapshot::default()), None);
    assert_eq!(Ledger::from_snapshot(&machine("MemFree: 5 kB\n", "", "")), None);
}

#[test]
fn page_counts_grow_with_64_kib_pages_and_kib_do_not() {
    let mut seen = sample();
    seen.machine.page_size = PageSize(65536);
    let ledger = Ledger::from_snapshot(&seen).unwrap();
    assert_eq!(ledger.bytes(Term::CpuLists), Bytes(123 * 65536));
    assert_eq!(ledger.bytes(Term::CompressedPool), Bytes(700 * 65536));
    assert_eq!(ledger.bytes(Term::Anon), Bytes::from_kib(3800));
    assert_eq!(ledger.bound, Bytes(24 * 65536 * 16));
}

#[test]
fn overlapping_counters_show_as_a_negative_leftover() {
    let ledger = Ledger::from_snapshot(&machine("MemTotal: 100 kB\nMemFree: 90 kB\nPercpu: 20 kB\n", "", "")).unwrap();
    assert_eq!((ledger.leftover, ledger.leftover_share), (SignedBytes(-10 * 1024), Some(-0.1)));
}

#[test]
fn the_ledger_survives_the_way_through_json() {
    let ledger = Ledger::from_snapshot(&sample()).unwrap();
    let text = serde_json::to_string(&ledger).unwrap();
    assert!(text.contains("\"id\":\"file_clean\"") && text.contains("\"freeable\":\"at_cost\""), "{text}");
    assert_eq!(serde_json::from_str::<Ledger>(&text).unwrap(), ledger);
}

#[test]
fn a_term_is_called_on_its_own_what_its_line_is_called() {
    let mut labels = std::collections::BTreeSet::new();
    for term in Term::ALL {
        let line = term::line(*term, Bytes(1), &Meminfo::default());
        assert_eq!((term.label(), term.owner()), (line.label.as_str(), line.owner.as_str()));
        assert!(labels.insert(term.label()), "{} stands for two", term.label());
    }
    assert_eq!((Term::Free.label(), Term::Free.owner()), ("free", "unused"));
}

#[test]
fn a_sum_of_counters_that_no_machine_has_is_not_known_and_a_size_that_none_has_is_not_believed() {
    let vmstat = VMSTAT.replace("anon 5", "anon 18446744073709551615");
    let zoneinfo = ZONEINFO.replace("threshold: 20", "threshold: 18446744073709551615");
    let ledger = Ledger::from_snapshot(&machine(MEMINFO, &vmstat, &zoneinfo)).unwrap();
    assert_eq!(ledger.line(Term::Isolated), None);
    assert_eq!(ledger.missing_terms, ["nr_isolated_anon + nr_isolated_file"]);
    assert_eq!(ledger.bound, Bytes(u64::MAX));
    let meminfo = MEMINFO.replace("MemFree: 1000001 kB", "MemFree: 18446744073709551615 kB");
    let ledger = Ledger::from_snapshot(&machine(&meminfo, VMSTAT, ZONEINFO)).unwrap();
    // More than RAM is no size of a part of it: it is not believed, and named.
    assert_eq!((ledger.bytes(Term::Free), ledger.impossible.len()), (Bytes::ZERO, 1));
}
