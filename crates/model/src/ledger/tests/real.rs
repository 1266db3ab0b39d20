//! The ledger of a machine as it was.

use super::*;

/// Linux 6.18 with 24 GB, half an hour after boot.
const REAL_MEMINFO: &str = "MemTotal:       24682416 kB\nMemFree:        21981584 kB\nMemAvailable:   24161172 kB\n\
Buffers:           44204 kB\nCached:          2305652 kB\nSwapCached:            0 kB\nActive:           927700 kB\n\
Inactive:        1432556 kB\nActive(anon):       1060 kB\nInactive(anon):    22112 kB\nActive(file):     926640 kB\n\
Inactive(file):  1410444 kB\nUnevictable:       20752 kB\nMlocked:           18328 kB\nSwapTotal:             0 kB\n\
SwapFree:              0 kB\nZswap:                 0 kB\nZswapped:              0 kB\nDirty:            109720 kB\n\
Writeback:             0 kB\nAnonPages:         31208 kB\nMapped:            25432 kB\nShmem:             12776 kB\n\
KReclaimable:     115876 kB\nSlab:             143344 kB\nSReclaimable:     115876 kB\nSUnreclaim:        27468 kB\n\
KernelStack:        1652 kB\nPageTables:         4080 kB\nSecPageTables:         0 kB\nVmallocUsed:       14652 kB\n\
Percpu:              688 kB\nBalloon:               0 kB\nHugePages_Total:       0\nHugePages_Free:        0\n\
Hugepagesize:       2048 kB\nHugetlb:               0 kB\nDirectMap1G:    25165824 kB\n";

const REAL_ZONEINFO: &str = "Node 0, zone      DMA\n  pages free     3840\n        min      38\n        low      47\n        high     56\n        managed  3840\n  pagesets\n    cpu: 0\n              count:    0\n  vm stats threshold: 4\n    cpu: 1\n              count:    0\n  vm stats threshold: 4\nNode 0, zone    DMA32\n  pages free     772497\n        min      7705\n        low      9631\n        high     11557\n        managed  772497\n  pagesets\n    cpu: 0\n              count:    0\n              high:     4815\n  vm stats threshold: 24\n    cpu: 1\n              count:    0\n              high:     4815\n  vm stats threshold: 24\nNode 0, zone   Normal\n  pages free     242311\n        min      9152\n        low      11440\n        high     13728\n        managed  917504\n  pagesets\n    cpu: 0\n              count:    13436\n              high:     14957\n  vm stats threshold: 24\n    cpu: 1\n              count:    22069\n              high:     22593\n  vm stats threshold: 24\n";

#[test]
fn a_real_machine_of_24_gib_leaves_six_hundredths_of_a_percent() {
    let vmstat = "nr_isolated_anon 0\nnr_isolated_file 0\nnr_zspages 0\nnr_memmap_boot_pages 98304\n";
    let ledger = Ledger::from_snapshot(&machine(REAL_MEMINFO, vmstat, REAL_ZONEINFO)).unwrap();
    assert_eq!(ledger.leftover, SignedBytes(15_040 * 1024));
    assert!(ledger.leftover_share.unwrap() < 0.002);
    assert_eq!(ledger.bytes(Term::CpuLists), Bytes((13_436 + 22_069) * 4096));
    assert_eq!(ledger.bytes(Term::Shmem), Bytes::from_kib(12_776));
    assert_eq!(ledger.bytes(Term::Anon) + ledger.bytes(Term::Shmem), Bytes::from_kib(1060 + 22_112) + ledger.locked);
    assert_eq!(ledger.missing_terms, ["GPUActive", "GPUReclaim"]);
    assert_eq!((ledger.counters, ledger.bound), (14, Bytes(104 * 4096 * 14)));
    assert_eq!(ledger.outside[0].bytes, Bytes::from_mib(384));
}

#[test]
fn an_older_kernel_without_newer_lines_degrades_by_name() {
    // 5.4: no SecPageTables, no graphics counters.
    let text = without(&without(REAL_MEMINFO, "SecPageTables"), "Zswap");
    let vmstat = "nr_isolated_anon 0\nnr_isolated_file 0\nnr_zspages 0\n";
    let ledger = Ledger::from_snapshot(&machine(&text, vmstat, REAL_ZONEINFO)).unwrap();
    assert_eq!(ledger.missing_terms, ["SecPageTables", "GPUActive", "GPUReclaim"]);
    assert_eq!(ledger.leftover, SignedBytes(15_040 * 1024));
}
