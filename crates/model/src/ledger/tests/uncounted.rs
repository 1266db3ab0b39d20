//! The ZFS cache, a balloon, and the kernel's memory in pieces.

use ramline_snapshot::zfs::Arc;

use super::*;
use crate::ledger::PieceKind;

const MIB: u64 = 1024;

/// 1000 MiB, 100 free, 300 slab in use, 50 reclaimable.
fn with(more: &str, vmstat: &str) -> Snapshot {
    let text = format!(
        "MemTotal: {} kB\nMemFree: {} kB\nSUnreclaim: {} kB\nSReclaimable: {} kB\n{more}",
        1000 * MIB,
        100 * MIB,
        300 * MIB,
        50 * MIB
    );
    machine(&text, vmstat, "")
}

fn mib(ledger: &Ledger, term: Term) -> u64 {
    ledger.bytes(term).0 >> 20
}

#[test]
fn a_balloon_of_vmware_is_in_memtotal_and_one_of_xen_is_not() {
    // 400 of the 550 MiB that no counter has.
    let inflated = "balloon_inflate 152400\nballoon_deflate 50000\n";
    let of = |vendor: Option<&str>, deflates: Option<bool>, more: &str| {
        let mut seen = with(more, inflated);
        seen.machine.hypervisor = vendor.map(str::to_owned);
        seen.machine.balloon_deflates_on_oom = deflates;
        let ledger = Ledger::from_snapshot(&seen).unwrap();
        (
            mib(&ledger, Term::Balloon),
            ledger.leftover.0 >> 20,
            ledger.outside.iter().map(|o| o.bytes.0 >> 20).sum::<u64>(),
        )
    };
    assert_eq!(of(Some("VMware, Inc."), None, ""), (400, 150, 0));
    assert_eq!(of(Some("QEMU"), Some(true), ""), (400, 150, 0), "virtio that deflates before a kill");
    assert_eq!(of(Some("QEMU"), Some(false), ""), (0, 550, 400), "virtio as it is by default");
    assert_eq!(of(Some("Xen"), None, ""), (0, 550, 400));
    assert_eq!(of(None, None, ""), (400, 150, 0), "no name: the leftover can hold it");
    let used = format!("Active(anon): {} kB\nInactive(anon): 0 kB\n", 500 * MIB);
    assert_eq!(of(None, None, &used), (0, 50, 400), "the leftover cannot hold it");
    assert_eq!(of(Some("VMware, Inc."), None, &used), (0, 50, 400), "nor can a name make it");
    assert_eq!(of(None, None, "Balloon: 450560 kB\n"), (440, 110, 0), "the gauge of 6.16, where it is there");
}

#[test]
fn the_zfs_cache_is_one_line_from_the_leftover_and_from_slab() {
    let of = |size: u64, clean: Option<u64>| {
        let mut seen = with("", "");
        seen.zfs = Seen::new(Some(Arc {
            size: Bytes::from_mib(size),
            min: Bytes::from_mib(32),
            max: Bytes::from_mib(900),
            evictable: clean.map(Bytes::from_mib),
        }));
        Ledger::from_snapshot(&seen).unwrap()
    };
    let small = of(500, None);
    assert_eq!((mib(&small, Term::Arc), small.leftover.0 >> 20, mib(&small, Term::SlabUnreclaimable)), (500, 50, 300));
    assert_eq!(small.line(Term::Arc).unwrap().children[0].bytes, Bytes::from_mib(468));
    let large = of(600, Some(200));
    let slab = (mib(&large, Term::SlabUnreclaimable), mib(&large, Term::SlabReclaimable));
    assert_eq!((mib(&large, Term::Arc), large.leftover.0, slab), (600, 0, (250, 50)), "50 MiB of it are slab");
    assert_eq!(large.line(Term::Arc).unwrap().children[0].bytes, Bytes::from_mib(200));
    let whole = of(880, None);
    assert_eq!((mib(&whole, Term::SlabUnreclaimable), mib(&whole, Term::SlabReclaimable)), (0, 20));
    let foreign = of(901, None);
    assert_eq!(foreign.line(Term::Arc), None, "more than this MemTotal can hold: the file is another machine's");
    assert_eq!((foreign.leftover.0 >> 20, mib(&foreign, Term::SlabUnreclaimable)), (550, 300));
}

#[test]
fn what_is_large_of_the_kernel_is_a_piece_and_all_pieces_are_the_whole() {
    let pieces = |more: &str| {
        let ledger = Ledger::from_snapshot(&with(more, "")).unwrap();
        let pieces = ledger.pieces();
        let share: f64 = pieces.iter().map(|piece| piece.share).sum();
        assert!((share - 1.0).abs() < 1e-9, "{share}");
        assert_eq!(
            pieces.iter().map(|piece| piece.bytes).sum::<Bytes>(),
            ledger.total.max(ledger.lines.iter().map(|l| l.bytes).sum())
        );
        pieces.iter().map(|piece| (piece.kind, piece.bytes.0 >> 20)).collect::<Vec<_>>()
    };
    use PieceKind::{Free, Graphics, Kernel, Processes, Slab, Uncounted};
    let lists = "Active(anon): 0 kB\nInactive(anon): 0 kB\nActive(file): 0 kB\nInactive(file): 0 kB\n";
    assert_eq!(pieces(lists), [(Slab, 300), (Uncounted, 550), (Kernel, 50), (Free, 100)]);
    let desktop = format!("{lists}GPUActive: {} kB\nPercpu: {} kB\n", 500 * MIB, 10 * MIB);
    assert_eq!(
        pieces(&desktop),
        [(Graphics, 500), (Slab, 300), (Kernel, 100), (Free, 100)],
        "40 in no counter are few"
    );
    // Counters that overlap: more than there is, and still no share above the whole.
    let over = format!("Active(anon): {} kB\nInactive(anon): 0 kB\n", 900 * MIB);
    assert_eq!(pieces(&over), [(Processes, 900), (Slab, 300), (Kernel, 50), (Free, 100)]);
}
