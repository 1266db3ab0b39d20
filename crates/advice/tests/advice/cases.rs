//! Machines for the tests: captured trees, with what a rule is about put on top as the kernel's own text.
//!
//! For every rule there is a case on which it fires, and its nearest misses on which it does not.
#![expect(clippy::unwrap_used, clippy::expect_used, reason = "tests")]

use ramline_advice::{Finding, Inputs, RULES, findings};
use ramline_evidence::{Arm, LatencyStats, RoundTime, RunRecord, SwapKind, TierMeasurement, TierReport, Verdict};
use ramline_gather::gather;
use ramline_kernel::Root;
use ramline_snapshot::vmstat::Vmstat;
use ramline_snapshot::{Seen, Snapshot, Wanted, Window, swaps};
use ramline_units::Nanos;

use crate::users;

/// Everything a rule may look at, owned.
#[derive(Debug, Clone)]
pub struct Case {
    pub now: Box<Snapshot>,
    pub before: Option<Box<Snapshot>>,
    pub tiers: Option<TierReport>,
    pub runs: Vec<RunRecord>,
}

impl Case {
    /// A captured tree below `fixtures/`.
    pub fn tree(path: &str) -> Case {
        Case {
            now: Box::new(gather(&Root::new(ramline_testkit::tree(path)), Wanted::ALL)),
            before: None,
            tiers: None,
            runs: vec![],
        }
    }

    /// The same machine two seconds earlier; `counters` are lines of /proc/vmstat then and now.
    pub fn window(mut self, counters: &[(&str, u64, u64)]) -> Case {
        let text = |pick: fn(&(&str, u64, u64)) -> u64| -> String {
            let lines = counters.iter().map(|c| format!("{} {}\n", c.0, pick(c)));
            "nr_free_pages 1\n".chars().chain(lines.collect::<String>().chars()).collect()
        };
        let uptime = self.now.machine.uptime.unwrap();
        // The trees are of idle machines. Where something is reclaimed or comes back, little is free.
        if let (false, Seen::Seen { data, .. }) = (counters.is_empty(), &mut self.now.meminfo) {
            let (before, free) = (data.mem_free.unwrap(), ramline_units::Bytes(data.mem_total.unwrap().0 / 20));
            data.mem_free = Some(free);
            data.inactive_file = data.inactive_file.map(|files| files + before.saturating_sub(free));
        }
        let mut before = self.now.clone();
        before.machine.uptime = Some(Nanos(uptime.0 - 2_000_000_000));
        before.vmstat = Seen::new(Vmstat::parse("vmstat", &text(|c| c.1)).unwrap());
        self.now.vmstat = Seen::new(Vmstat::parse("vmstat", &text(|c| c.2)).unwrap());
        self.before = Some(before);
        self
    }

    /// Tasks waited for memory so many percent of the window's two seconds.
    pub fn waiting(mut self, percent: u64) -> Case {
        let psi = |us: u64| {
            let text =
                format!("some avg10=0.00 avg60=0 avg300=0 total={us}\nfull avg10=0.00 avg60=0 avg300=0 total=0\n");
            Seen::new(ramline_snapshot::pressure::Pressure::parse("memory", &text).unwrap())
        };
        self.before.as_mut().unwrap().pressure_memory = psi(0);
        self.now.pressure_memory = psi(percent * 20_000);
        self
    }

    pub fn swaps(mut self, lines: &str) -> Case {
        let text = format!("Filename Type Size Used Priority\n{lines}");
        self.now.swaps = Seen::new(swaps::parse("/proc/swaps", &text).unwrap());
        self
    }

    pub fn swappiness(mut self, value: i64) -> Case {
        let Seen::Seen { data, .. } = &mut self.now.settings else { panic!("no settings in the tree") };
        data.swappiness = Some(value);
        self
    }

    pub fn mglru(mut self, enabled: u64) -> Case {
        self.now.lru_gen = Seen::new(ramline_snapshot::switches::LruGen { enabled, min_ttl_ms: None });
        self
    }

    /// A tier of 400 reads of so many microseconds each.
    pub fn tier(self, tier: &str, us: u64) -> Case {
        self.tier_of(400, tier, us)
    }

    /// A tier of `n` reads.
    pub fn tier_of(mut self, n: usize, tier: &str, us: u64) -> Case {
        let measured = TierMeasurement {
            tier: tier.into(),
            label: tier.into(),
            latency: LatencyStats::from_durations(&vec![Nanos(us * 1000); n]),
            batches: None,
            throughput: None,
            method: "test".into(),
            notes: vec![],
        };
        self.tiers.get_or_insert_default().tiers.push(measured);
        self
    }

    /// Runs of an arm, in seconds for one round each, the whole list three times: from six runs on a difference may be claimed.
    pub fn runs(mut self, swap: SwapKind, swappiness: Option<u32>, seconds: &[u64]) -> Case {
        let name = format!("{swap:?} {swappiness:?}");
        self.runs.extend(seconds.iter().cycle().take(3 * seconds.len()).map(|s| RunRecord {
            experiment: "code-plus-data".into(),
            arm: Arm { name: name.clone(), swap: swap.clone(), swappiness, fill: "random".into(), ..Arm::default() },
            verdict: Verdict::Completed,
            rounds: vec![RoundTime { took: Nanos(s * 1_000_000_000), checksum: 1 }],
            elapsed: Nanos(s * 1_000_000_000),
            ..RunRecord::default()
        }));
        self
    }

    /// A mount with so much of its space used.
    pub fn filled(mut self, at: &str, share: f64) -> Case {
        let Seen::Seen { data, .. } = &mut self.now.mounts else { panic!("no mounts in the tree") };
        let mount = data.iter_mut().find(|m| m.at == at).unwrap();
        let capacity = mount.capacity.as_mut().unwrap();
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a share of a small size")]
        let free = (capacity.size.as_f64() * (1.0 - share)) as u64;
        (capacity.free, capacity.available) = (ramline_units::Bytes(free), ramline_units::Bytes(free));
        self
    }

    pub fn inputs<T>(&self, use_them: impl FnOnce(&Inputs<'_>) -> T) -> T {
        let window = self.before.as_ref().map(|before| Window::new(before, &self.now).unwrap());
        use_them(&Inputs { snapshot: &self.now, window, tiers: self.tiers.as_ref(), runs: &self.runs })
    }

    pub fn findings(&self) -> Vec<Finding> {
        self.inputs(findings)
    }

    pub fn finding(&self, id: &str) -> Option<Finding> {
        let rule = RULES.iter().find(|rule| rule.id == id).expect("a rule of the table");
        self.inputs(|inputs| rule.finding(inputs))
    }
}

/// A machine of 24 GiB with an ext4 root on vda (read-ahead 8 MiB), no swap, idle.
pub fn without_swap() -> Case {
    Case::tree("healthy/linux-6.18-cgroup-v1")
}

/// A machine with zram swap (zstd or lzo-rle by kernel), idle.
pub fn with_zram() -> Case {
    Case::tree("healthy/linux-6.12-zram")
}

/// File pages come back at 400 a second, half of them working set; 100 major faults a second read 800 MiB/s.
pub const THRASHING: &[(&str, u64, u64)] = &[
    ("workingset_refault_file", 1000, 1800),
    ("workingset_activate_file", 500, 900),
    ("pgmajfault", 100, 300),
    ("pgpgin", 0, 1_638_400),
    ("pswpin", 7, 7),
    ("pswpout", 7, 7),
];

/// The anonymous memory of `without_swap` is far below a tenth of its RAM: give it some to move out.
pub fn with_idle_anonymous(mut case: Case) -> Case {
    let Seen::Seen { data, .. } = &mut case.now.meminfo else { panic!("no meminfo") };
    data.inactive_anon = Some(ramline_units::Bytes::from_gib(6));
    case
}

const DISK: &str = "/dev/vda2 partition 8388604 1048576 -2\n";
const HDD: &str = "/dev/sdb1 partition 8388604 1048576 -2\n";

/// A scratch zram device with the kernel's own algorithm.
pub const ZRAM: SwapKind = SwapKind::Zram { algorithm: None };

/// Swap on a partition of the disk under the root file system.
fn on_vda(mut case: Case) -> Case {
    let Seen::Seen { data, .. } = &mut case.now.blocks else { panic!("no blocks") };
    let vda = data.iter_mut().find(|b| b.name == "vda").unwrap();
    vda.partitions.push(ramline_snapshot::blocks::Partition { name: "vda2".into(), dev: "254:2".into() });
    case.swaps(DISK)
}

/// A case on which the rule fires.
pub fn fires(id: &str) -> Case {
    match id {
        "nothing-to-change" => with_zram(),
        "no-swap-and-refaults" => with_idle_anonymous(without_swap()).window(THRASHING),
        "swap-slower-than-reload" => without_swap().swaps(HDD).tier("disk:/", 80).tier("swap:/dev/sdb1", 8000),
        "read-ahead-amplifies-faults" => without_swap().swaps(DISK).window(THRASHING).waiting(20),
        "swappiness-against-costs" => with_zram().tier("disk:/", 80).tier("zram-zstd", 4),
        id => users::fires(id).unwrap_or_else(|| Case::tree(&format!("findings/{id}/fires"))),
    }
}

/// The same pages come back while nothing is reclaimed: DAMON, drop_caches or another day had evicted them.
pub fn read_again() -> Vec<(&'static str, u64, u64)> {
    let mut counters = THRASHING.to_vec();
    counters.extend(["pgscan_kswapd", "pgscan_direct", "pgscan_anon", "pgscan_file"].map(|name| (name, 5, 5)));
    counters
}

/// The nearest misses: cases on which the rule does not fire.
pub fn silent(id: &str) -> Vec<Case> {
    let scaled = |name: &str, now: u64| -> Vec<(&'static str, u64, u64)> {
        THRASHING.iter().map(|c| if c.0 == name { (c.0, c.1, now) } else { *c }).collect()
    };
    match id {
        "nothing-to-change" => vec![fires("swap-outranked"), fires("no-swap-and-refaults")],
        "no-swap-and-refaults" => vec![
            // No window; too few; a stream that no one would have kept; nothing idle to swap; swap is there.
            with_idle_anonymous(without_swap()),
            with_idle_anonymous(without_swap()).window(&scaled("workingset_refault_file", 1198)),
            with_idle_anonymous(without_swap()).window(&[
                ("workingset_refault_file", 1000, 1800),
                ("workingset_activate_file", 500, 579),
                ("pgmajfault", 100, 119),
            ]),
            without_swap().window(THRASHING),
            with_idle_anonymous(without_swap()).swaps(DISK).window(THRASHING),
            with_idle_anonymous(without_swap()).window(&read_again()),
            // The sandbox says that swap would not help.
            with_idle_anonymous(without_swap()).window(THRASHING).runs(SwapKind::None, None, &[3, 4, 5]).runs(
                SwapKind::File,
                None,
                &[3, 4, 5],
            ),
        ],
        "swap-slower-than-reload" => vec![
            without_swap().swaps(HDD).tier("disk:/", 80).tier("swap:/dev/sdb1", 150),
            without_swap().swaps(HDD).tier("disk:/", 80),
            // Already as low as the costs say.
            without_swap().swaps(HDD).tier("disk:/", 80).tier("swap:/dev/sdb1", 8000).swappiness(1),
            // A file on the root's own disk: what differs is noise.
            without_swap().swaps("/swapfile file 8388604 0 -2\n").tier("disk:/", 80).tier("swap:/swapfile", 400),
        ],
        "read-ahead-amplifies-faults" => vec![
            without_swap().swaps(DISK),
            without_swap().swaps(DISK).window(&scaled("pgpgin", 20_000)).waiting(20),
            without_swap().swaps(DISK).window(&scaled("workingset_refault_file", 1000)).waiting(20),
            // A fault reads no more than the read-ahead holds: a backup did.
            without_swap().swaps(DISK).window(&scaled("pgpgin", 200 * 8192 + 1)).waiting(20),
            without_swap().swaps(DISK).window(&read_again()).waiting(20),
            // A sequential reader beside programs that fault now and then, as a backup is: no task waits for memory.
            without_swap().swaps(DISK).window(THRASHING),
            // All of the faults may have been swap-ins.
            without_swap().swaps(DISK).window(&scaled("pswpin", 400)).waiting(20),
            with_zram().window(THRASHING).waiting(20),
        ],
        "swappiness-against-costs" => vec![
            with_zram(),
            without_swap().tier("disk:/", 80).tier("zram-zstd", 4),
            with_zram().tier("disk:/", 80).tier("zram-zstd", 4).swappiness(180),
            without_swap().swaps(DISK).tier("disk:/", 80).tier("swap:/dev/vda2", 80),
            // A disk behind zram: 100 at most, which is not far from 60.
            with_zram()
                .swaps("/dev/zram0 partition 118812 24576 100\n/dev/vda2 partition 8388604 0 -2\n")
                .tier("disk:/", 80)
                .tier("zram-zstd", 4),
            // The sandbox found no difference.
            with_zram().tier("disk:/", 80).tier("zram-zstd", 4).runs(ZRAM, Some(60), &[3, 4, 5]).runs(
                ZRAM,
                Some(190),
                &[3, 4, 5],
            ),
            // Swap on the disk of the root file system: what differs is noise.
            on_vda(without_swap()).tier("disk:/", 300).tier("swap:/dev/vda2", 80),
            // The slower area has a rule of its own.
            without_swap().swaps(HDD).tier("disk:/", 80).tier("swap:/dev/sdb1", 8000),
        ],
        id => users::silent(id).unwrap_or_else(|| vec![Case::tree(&format!("findings/{id}/silent"))]),
    }
}
