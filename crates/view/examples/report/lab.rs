//! Measured tiers and runs in the sandbox, as the lab would have recorded them.

use ramline_evidence::{
    Arm, HostPicture, LatencyStats, Measurement, Phase, Reclaim, RoundTime, RunMachine, RunRecord, Sample, SwapKind,
    TierMeasurement, TierReport, Verdict, Workload,
};
use ramline_units::{Bytes, Nanos};

fn tier(id: &str, label: &str, p50: u64, p99: u64, mib_s: f64, notes: &[&str]) -> TierMeasurement {
    let gauss = [0.97, 1.0, 1.02].map(|share| share * mib_s * 1024.0 * 1024.0);
    TierMeasurement {
        tier: id.into(),
        label: label.into(),
        latency: Some(LatencyStats {
            n: 20_000,
            p50_ns: Nanos(p50),
            p99_ns: Nanos(p99),
            p99_low_ns: Some(Nanos(p99 - p99 / 50)),
            p99_high_ns: Some(Nanos(p99 + p99 / 50)),
            mean_ns: Nanos(p50 + (p99 - p50) / 20).as_secs_f64() * 1e9,
            min_ns: Nanos(p50 / 2),
            max_ns: Nanos(p99 * 9),
        }),
        batches: None,
        throughput: Measurement::from_values(&gauss, "bytes/s", "sequential, 1 MiB blocks", &[]),
        method: "random 4 KiB".into(),
        notes: notes.iter().map(|n| (*n).to_owned()).collect(),
    }
}

/// Seven tiers.
pub fn tiers() -> TierReport {
    let mut tiers = vec![
        tier("ram", "RAM", 92, 143, 11_200.0, &["touched twice before timing"]),
        tier("page-cache-mmap", "page cache by mmap", 118, 1_490, 8_100.0, &[]),
        tier("page-cache-read", "page cache by read", 612, 1_020, 6_900.0, &[]),
        tier("tmpfs", "tmpfs", 604, 1_130, 6_700.0, &[]),
        tier("zram-zstd", "zram with zstd", 7_900, 19_400, 640.0, &["scratch device, text-like data at 3.1:1"]),
        tier("disk:/", "disk under /", 131_000, 2_410_000, 412.0, &["virtual disk: the host may cache it"]),
        tier("swap:/dev/vda2", "swap on /dev/vda2", 8_410_000, 31_800_000, 96.0, &["rotating, or says so"]),
    ];
    tiers.push(TierMeasurement {
        latency: None,
        batches: None,
        throughput: None,
        method: "none".into(),
        notes: vec!["no read of an area in use".into()],
        tier: "swap:/srv/swapfile".into(),
        label: "swap in a file".into(),
    });
    TierReport {
        tiers,
        conditions: vec!["4 CPUs at 3.1 GHz".into(), "quiet: 1.2 % busy".into(), "guest of KVM, not nested".into()],
        skipped: vec!["zram with lz4: not agreed to".into()],
        took_s: 11.4,
    }
}

/// Seconds as nanoseconds, without a cast.
fn nanos(seconds: f64) -> Nanos {
    Nanos(format!("{:.0}", seconds * 1e9).parse().unwrap_or(0))
}

fn run(
    name: &str,
    swap: &SwapKind,
    swappiness: Option<u32>,
    repetition: u32,
    per_round: f64,
    done: u32,
    verdict: Verdict,
) -> RunRecord {
    let rounds: Vec<RoundTime> = (0..done).map(|_| RoundTime { took: nanos(per_round), checksum: 7 }).collect();
    let elapsed = nanos(per_round * f64::from(done));
    let steps = 80u32;
    let sample = |step: u32| {
        let share = f64::from(step) / f64::from(steps);
        let at = f64::from(done) * share;
        let whole = (0..=done).rev().find(|n| f64::from(*n) <= at).unwrap_or(0);
        Sample {
            at: nanos(per_round * at),
            phase: Phase::Rounds,
            rounds: whole,
            fraction: at - f64::from(whole),
            host: HostPicture::default(),
            ..Sample::default()
        }
    };
    let slow = per_round > 5.0;
    RunRecord {
        format: 1,
        experiment: "code-plus-data".into(),
        repetition,
        machine: RunMachine {
            kernel: "6.12.57+deb13-amd64".into(),
            cpus: 4,
            mem_total: Bytes::from_kib(7_872_548),
            page_size: 4096,
            cgroup_version: 2,
            scratch_fs: "ext4".into(),
            scratch_disk: Some("vda".into()),
            ..RunMachine::default()
        },
        arm: Arm { name: name.into(), swap: swap.clone(), swappiness, fill: "text".into(), ..Arm::default() },
        workload: Workload {
            unit: Bytes::from_mib(32),
            data_units: 14,
            code_units: 3,
            rounds: 11,
            limit: Bytes::from_mib(480),
            read_ahead: Bytes::from_kib(128),
            ..Workload::default()
        },
        verdict,
        rounds,
        elapsed,
        user: nanos(3.1),
        system: nanos(if slow { 9.4 } else { 1.2 }),
        reclaim: Reclaim {
            major_faults: if slow { 412_880 } else { 9_120 },
            refault_file: Some(if slow { 1_204_118 } else { 2_210 }),
            refault_anon: Some(if slow { 0 } else { 18_114 }),
            swap_in: Some(if slow { 0 } else { 18_100 }),
            swap_out: Some(if slow { 0 } else { 19_004 }),
            read_bytes: Some(Bytes::from_mib(if slow { 4_812 } else { 71 })),
            ..Reclaim::default()
        },
        samples: (0..=steps).map(sample).collect(),
        notes: if slow { vec![format!("bystander {} was slowed", super::machine::HOSTILE_COMMAND)] } else { vec![] },
        ..RunRecord::default()
    }
}

/// Two arms of five interleaved runs, one that never ends a round, one that is hostile by name.
pub fn runs() -> Vec<RunRecord> {
    let mut runs = Vec::new();
    for repetition in 0..5u32 {
        let wobble = 1.0 + f64::from(repetition) * 0.03;
        runs.push(run(
            "as configured",
            &SwapKind::AsConfigured,
            None,
            repetition,
            1.9 * wobble,
            11,
            Verdict::Completed,
        ));
        runs.push(run(
            "no swap",
            &SwapKind::None,
            None,
            repetition,
            8.4 * wobble,
            6,
            Verdict::Thrashing("60 s passed".into()),
        ));
        runs.push(run(
            "zram <b>zstd</b>\u{202e}",
            &SwapKind::Zram { algorithm: Some("zstd".into()) },
            Some(150),
            repetition,
            0.62 * wobble,
            11,
            Verdict::Completed,
        ));
    }
    let mut stuck = run(
        "swappiness 1, random fill, shared data",
        &SwapKind::File,
        Some(1),
        0,
        6.0,
        0,
        Verdict::Thrashing("60 s passed".into()),
    );
    stuck.elapsed = Nanos(14_000_000_000);
    runs.push(stuck);
    runs
}
