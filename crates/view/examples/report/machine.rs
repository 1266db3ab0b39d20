//! The machine of the example: 8 GiB, a slow swap partition before a fast zram, a full /tmp. Some names are hostile.

use ramline_model::SignedBytes;
use ramline_model::ledger::Term;
use ramline_model::pressure::{self, PressureModel, PressureState, Psi, Rates};
use ramline_model::swap::{Area, AreaKind, Flow, SwapState, SwapVerdict};
use ramline_model::tmpfs::{Fit, Margin, Model, PushedOut, TmpfsMount, TmpfsState};
use ramline_model::zram::{self, Device, Rung, Step, ZramState};
use ramline_snapshot::machine::Machine;
use ramline_snapshot::meminfo::Meminfo;
use ramline_snapshot::pressure::Stall;
use ramline_snapshot::vmstat::Vmstat;
use ramline_snapshot::zoneinfo::Zoneinfo;
use ramline_snapshot::zram::{BdStat, IoStat, MmStat, ZramDevice};
use ramline_snapshot::{Seen, Snapshot, swaps};
use ramline_units::{Bytes, Limit, Nanos, PageSize, Pages};
use ramline_view::{Drift, Moved};

/// Markup, an escape sequence and a right-to-left override, as a mount point.
pub const HOSTILE_MOUNT: &str = "/mnt/<script>document.title='pwned';ramlinePwned=1</script>\u{1b}[2J";
/// A file name that would end the style and the title, and text turned round.
pub const HOSTILE_FILE: &str = "/srv/</style></title><img src=x onerror=\"ramlinePwned=1\">\u{202e}gpj.exe";
/// A process that would leave its attribute, and one that is escaped already.
pub const HOSTILE_COMMAND: &str = "x\" onload=\"ramlinePwned=1\" '&lt;\n\u{9b}31m\u{200b}";

const MEMINFO: &str = "MemTotal: 7872548 kB\nMemFree: 402116 kB\nMemAvailable: 1893420 kB\nBuffers: 61240 kB\nCached: 2391004 kB\nSwapCached: 21560 kB
Active: 3350208 kB\nInactive: 3169648 kB\nActive(anon): 2412340 kB\nInactive(anon): 2253108 kB\nActive(file): 937868 kB\nInactive(file): 916540 kB
Unevictable: 12288 kB\nMlocked: 8192 kB\nSwapTotal: 6291448 kB\nSwapFree: 4522112 kB\nDirty: 51204 kB\nWriteback: 0 kB\nAnonPages: 4068980 kB\nMapped: 488124 kB
Shmem: 596460 kB\nKReclaimable: 282104 kB\nSlab: 431220 kB\nSReclaimable: 262104 kB\nSUnreclaim: 169116 kB\nKernelStack: 14128 kB\nPageTables: 41220 kB
SecPageTables: 2100 kB\nVmallocUsed: 61220 kB\nPercpu: 8320 kB\nHardwareCorrupted: 0 kB\nAnonHugePages: 1210368 kB\nHugePages_Total: 0\nHugePages_Free: 0\nHugepagesize: 2048 kB\nHugetlb: 0 kB
Zswap: 0 kB\nUnaccepted: 0 kB\nCmaTotal: 0 kB\nCmaFree: 0 kB\n";

const ZONEINFO: &str = "Node 0, zone      DMA\n  pages free     2688\n        boost    0\n        min      33\n        low      41\n        high     49\n        spanned  4095\n        present  3998\n        managed  3840
        protection: (0, 2975, 7921, 7921, 7921)\n  pagesets\n    cpu: 0\n              count: 0\n              high:  0\n              batch: 1\n  vm stats threshold: 6
Node 0, zone    DMA32\n  pages free     40210\n        boost    0\n        min      6330\n        low      7912\n        high     9494\n        spanned  1044480\n        present  782288\n        managed  765904
        protection: (0, 0, 4946, 4946, 4946)\n  pagesets\n    cpu: 0\n              count: 412\n              high:  1582\n              batch: 63\n  vm stats threshold: 36
Node 0, zone   Normal\n  pages free     11840\n        boost    0\n        min      10530\n        low      13162\n        high     15794\n        spanned  1310720\n        present  1310720\n        managed  1266244
        protection: (0, 0, 0, 0, 0)\n      nr_zspages  94208\n  pagesets\n    cpu: 0\n              count: 1403\n              high:  2632\n              batch: 63\n  vm stats threshold: 42\n";

const SWAPS: &str = "Filename\tType\tSize\tUsed\tPriority\n/dev/vda2 partition 2097148 1645568 100\n/dev/zram0 partition 4194300 123904 5\n";

/// What was read.
pub fn snapshot() -> Option<Snapshot> {
    let mut seen = Snapshot::new(Machine {
        kernel: "6.12.57+deb13-amd64".into(),
        arch: "x86_64".into(),
        cpus: 4,
        uptime: Some(Nanos(3_628_800_000_000_000)),
        taken_unix_ns: Some(1_795_291_200_000_000_000),
        hypervisor: Some("KVM".into()),
        root: true,
        ..Machine::default()
    });
    seen.meminfo = Seen::new(Meminfo::parse("meminfo", MEMINFO).ok()?);
    seen.vmstat =
        Seen::new(Vmstat::parse("vmstat", "nr_zspages 90112\nnr_isolated_anon 0\nnr_isolated_file 31\n").ok()?);
    seen.swaps = Seen::new(swaps::parse("swaps", SWAPS).ok()?);
    seen.zoneinfo = Seen::new(Zoneinfo::parse("zoneinfo", ZONEINFO).ok()?);
    Some(seen)
}

/// How far the ledger moved.
pub fn drift() -> Drift {
    let moved = |id, mib: i64| Moved { id, bytes: SignedBytes(mib << 20) };
    Drift {
        span: Nanos(10_000_000_000),
        lines: vec![moved(Term::FileClean, -9), moved(Term::Free, 6)],
        leftover: SignedBytes(-131_072),
    }
}

fn psi(avg10: f64, window: f64) -> Psi {
    let stall = |share: f64| Stall {
        avg10: avg10 * share,
        avg60: avg10 * share * 0.6,
        avg300: avg10 * share * 0.2,
        total_us: 81_204_113,
    };
    Psi { some: Some(stall(1.0)), full: Some(stall(0.4)), some_percent: Some(window), full_percent: Some(window * 0.4) }
}

/// Pressure: pages come back that were just evicted.
pub fn pressure() -> PressureModel {
    PressureModel {
        memory: Some(psi(0.82, 0.74)),
        io: Some(psi(2.1, 1.9)),
        cpu: None,
        rates: Some(Rates {
            refault_file: Some(412.3),
            refault_anon: Some(3.1),
            restore_file: Some(88.0),
            major_faults: Some(97.4),
            scanned: Some(1204.0),
            stolen: Some(877.0),
            efficiency: Some(0.728),
            direct_share: Some(0.02),
            allocstall: Some(0.4),
            oom_kills: Some(0),
            groups_only: Some(false),
            working_set: Some(88.0),
            machine_scanned: Some(1204.0),
        }),
        span: Some(Nanos(10_000_000_000)),
        state: PressureState::Refaulting,
        ..pressure::from_snapshot(&Snapshot::default(), None)
    }
}

/// A partition before zram, and a file with a hostile name.
pub fn swap() -> SwapState {
    let area = |path: &str, kind, size: u64, used: u64, priority, turn| Area {
        path: path.into(),
        kind,
        is_file: false,
        rotational: Some(kind == AreaKind::Rotating),
        size: Bytes::from_mib(size),
        used: Bytes::from_mib(used),
        share: Bytes(used).share_of(Bytes(size)),
        priority,
        turn,
        striped_with: vec![],
        outranked_by: None,
        slots: None,
    };
    SwapState {
        areas: vec![
            area("/dev/vda2", AreaKind::Rotating, 2048, 1607, 100, 1),
            Area { outranked_by: Some("/dev/vda2".into()), ..area("/dev/zram0", AreaKind::Zram, 4096, 121, 5, 2) },
            Area { is_file: true, ..area(HOSTILE_FILE, AreaKind::Unknown, 64, 0, -2, 3) },
        ],
        total: Bytes::from_mib(6208),
        used: Bytes::from_mib(1728),
        flow: Some(Flow {
            in_per_s: Some(Bytes::from_kib(1_210)),
            out_per_s: Some(Bytes::from_kib(388)),
            refaults_per_s: Some(3.1),
            ..Flow::default()
        }),
        verdict: SwapVerdict::Active { in_per_s: Bytes::from_kib(1_210), out_per_s: Bytes::from_kib(388) },
    }
}

/// A zram device that comes after the partition.
pub fn zram() -> ZramState {
    let device = ZramDevice {
        name: "zram0".into(),
        disksize: Bytes::from_gib(4),
        initialised: true,
        algorithm: Some("zstd".into()),
        algorithms: vec!["lzo-rle".into(), "lz4".into(), "zstd".into()],
        mm: Some(MmStat {
            orig_data_size: Bytes::from_mib(1_121),
            compr_data_size: Bytes::from_mib(338),
            mem_used_total: Bytes::from_mib(352),
            mem_limit: Some(Limit::At(Bytes::from_gib(1))),
            mem_used_max: Bytes::from_mib(410),
            same_pages: Pages(20_480),
            pages_compacted: Pages(812),
            huge_pages: Some(Pages(9_120)),
            huge_pages_since: Some(Pages(10_004)),
            unknown: vec![],
        }),
        bd: Some(BdStat { count: Bytes::ZERO, reads: Bytes::ZERO, writes: Bytes::ZERO }),
        io: Some(IoStat { failed_reads: 0, failed_writes: 0, invalid_io: 0, notify_free: 40_112 }),
        ..ZramDevice::default()
    };
    let next = Some(Step {
        words: "give it a higher priority than the areas that come first".into(),
        command: Some("swapoff /dev/zram0 && swapon --priority 101 /dev/zram0".into()),
    });
    ZramState {
        rung: Rung::Outranked,
        next: next.clone(),
        container: None,
        devices: vec![Device {
            name: "zram0".into(),
            rung: Rung::Outranked,
            next,
            disksize: device.disksize,
            algorithm: device.algorithm.clone(),
            algorithms: device.algorithms.clone(),
            priority: Some(5),
            outranked_by: None,
            fields: zram::fields(&device),
            gain: zram::gain(&device, PageSize(4096), Some(Bytes::from_kib(7_872_548))),
            slots: None,
            failed_writes: Some(0),
            beyond_twice_ram: false,
            backing: Some("none".into()),
            recompression: None,
        }],
        zswap_in_front: true,
        pool_starved: false,
    }
}

/// Mounts in RAM, one of them hostile.
pub fn tmpfs() -> TmpfsState {
    let ram = Bytes::from_kib(7_872_548);
    let mount = |at: &str, size: u64, used: u64| TmpfsMount {
        at: at.into(),
        also_at: vec![],
        fs: "tmpfs".into(),
        size: Some(Limit::At(Bytes::from_mib(size))),
        used: Some(Bytes::from_mib(used)),
        share: Bytes(used).share_of(Bytes(size)),
        share_of_ram: Bytes::from_mib(used).share_of(ram),
        inodes: Some(1_015_818),
        inodes_used: Some(1_412),
        inode_share: Some(0.00139),
        swappable: true,
        fillable: true,
        quotas: None,
    };
    TmpfsState {
        mounts: vec![
            mount("/tmp", 512, 471),
            mount("/dev/shm", 3968, 88),
            TmpfsMount { also_at: vec!["/run/lock".into()], ..mount("/run", 794, 2) },
            mount(HOSTILE_MOUNT, 256, 21),
            TmpfsMount {
                fs: "ramfs".into(),
                size: Some(Limit::Max),
                used: None,
                share: None,
                share_of_ram: None,
                swappable: false,
                ..mount("/run/credentials/systemd-journald.service", 1, 1)
            },
        ],
        used: Bytes::from_mib(582),
        limits: Bytes::from_mib(5530),
        limits_over_ram: Bytes::from_mib(5530).share_of(ram),
        elsewhere: Some(SignedBytes(541_065)),
    }
}

/// /var/cache would not fit by two models, and a hostile directory is in RAM already.
pub fn fits() -> Vec<Fit> {
    let (gib, mib) = (Bytes::from_gib(1), Bytes::from_mib(1));
    let margins = |need: Bytes| {
        [(Model::HalfOfRam, 3968), (Model::HalfOfFree, 196), (Model::Available, 1849), (Model::FreePlusSwap, 4809)]
            .map(|(model, limit)| Margin {
                model,
                limit: Bytes::from_mib(limit),
                margin: SignedBytes::difference(Bytes::from_mib(limit), need),
            })
            .to_vec()
    };
    vec![
        Fit {
            path: "/tmp".into(),
            need: Bytes(gib.0 + 211 * mib.0),
            inodes: 48_211,
            inode_limit: 1_015_818,
            inode_margin: 967_607,
            margins: margins(Bytes(gib.0 + 211 * mib.0)),
            breaks_first: Some(Model::HalfOfFree),
            fits: false,
            already_tmpfs: false,
            cached: Some(Bytes::from_mib(388)),
            pushed_out: Some(PushedOut { cache: Bytes::from_mib(454), swap: Bytes::ZERO, nowhere: Bytes::ZERO }),
            lower_bound: true,
        },
        Fit {
            path: HOSTILE_MOUNT.into(),
            need: Bytes::from_mib(21),
            inodes: 12,
            inode_limit: 1_015_818,
            inode_margin: 1_015_806,
            margins: margins(Bytes::from_mib(21)),
            breaks_first: Some(Model::HalfOfFree),
            fits: true,
            already_tmpfs: true,
            cached: None,
            pushed_out: None,
            lower_bound: false,
        },
    ]
}

pub fn who() -> ramline_view::WhoUses {
    use ramline_model::processes::Spread;
    use ramline_view::{GroupUse, ProgramUse};
    let spread = |low, value, high| Spread {
        low: Bytes::from_mib(low),
        value: Bytes::from_mib(value),
        high: Bytes::from_mib(high),
    };
    let program = |name: &str, processes, holds, swap| ProgramUse { name: name.into(), processes, holds, swap };
    let group = |path: &str, own, limit| GroupUse { path: path.into(), own: Bytes::from_mib(own), limit: Some(limit) };
    ramline_view::WhoUses {
        programs: vec![
            program("postgres", 253, spread(2_900, 3_100, 3_300), Bytes::from_mib(120)),
            program("java <server>", 1, spread(1_400, 1_420, 1_440), Bytes::from_mib(800)),
        ],
        processes: 412,
        whole: Some(spread(5_900, 6_000, 6_100)),
        groups: vec![
            group("/system.slice/postgresql.service", 3_800, Limit::Max),
            group("/docker/3f2a", 1_020, Limit::At(Bytes::from_mib(1_024))),
        ],
    }
}
