//! From records to the table of results: a pure function, so an old run can be judged anew at any time.
//!
//! What it is not: a renderer; text, JSON and HTML are made from [`Results`].
//!
//! ```
//! use ramline_evidence::RunRecord;
//! let results = ramline_lab::report::of(&[RunRecord::default()]);
//! assert_eq!(results.arms.len(), 1);
//! assert_eq!(results.arms[0].wall, None); // a run without a verdict is no measurement
//! ```

use ramline_evidence::study::{self, Comparison};
use ramline_evidence::{Measurement, Reclaim, RunRecord, Verdict};
use ramline_units::Bytes;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The table, and what holds for all of it.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Results {
    /// Which experiment.
    pub experiment: String,
    /// One row per arm, in the order in which they were asked for.
    pub arms: Vec<ArmResult>,
    /// What held for all runs: machine, sizes, limit, read-ahead.
    pub conditions: Vec<String>,
    /// The claims in words, each with what it rests on.
    pub sentences: Vec<String>,
    /// What qualifies the table: differing settings, checksums, bystanders.
    pub warnings: Vec<String>,
}

/// One row.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ArmResult {
    /// The arm, with its fill.
    pub arm: String,
    /// Runs of it.
    pub n: u32,
    /// Of them completed.
    pub completed: u32,
    /// Ended by the clock or the watchdog.
    pub thrashing: u32,
    /// Killed by the kernel.
    pub killed: u32,
    /// Not run to an end for another reason.
    pub failed: u32,
    /// Wall time of the rounds in seconds.
    pub wall: Option<Measurement>,
    /// The median of `wall` is a lower bound: the clock ended at least half of the runs.
    pub wall_at_least: bool,
    /// Seconds per round; a run that was cut short counts with the fraction it reached.
    pub per_round: Option<Measurement>,
    /// Rounds reached, with fractions.
    pub rounds: Option<Measurement>,
    /// Major faults of the workload.
    pub major_faults: Option<Measurement>,
    /// Refaulted file pages.
    pub refault_file: Option<Measurement>,
    /// Refaulted anonymous pages.
    pub refault_anon: Option<Measurement>,
    /// Pages swapped in, without pages of zeros.
    pub swap_in: Option<Measurement>,
    /// Pages swapped out, without pages of zeros.
    pub swap_out: Option<Measurement>,
    /// Pages of zeros that a swap-in made anew instead of reading.
    pub swap_in_zero: Option<Measurement>,
    /// Bytes read from disks.
    pub read_bytes: Option<Measurement>,
    /// Seconds in which all of the group waited for memory, where PSI is on.
    pub psi_full: Option<Measurement>,
    /// User time in seconds.
    pub user: Option<Measurement>,
    /// System time in seconds.
    pub system: Option<Measurement>,
    /// With zram: the largest deviation of limit + pool from nominal, as a share.
    pub pool_deviation: Option<f64>,
    /// With zram: the largest pool.
    pub pool_max: Option<Bytes>,
    /// Seconds per round against the first arm.
    pub against_first: Option<Comparison>,
}

/// Judges records. Those of runs that failed count in `n` and `failed` only.
#[must_use]
pub fn of(records: &[RunRecord]) -> Results {
    let mut names: Vec<&str> = Vec::new();
    for record in records {
        if !names.contains(&record.arm.name.as_str()) {
            names.push(&record.arm.name);
        }
    }
    let mut arms: Vec<ArmResult> = names
        .into_iter()
        .map(|name| row(name, &records.iter().filter(|record| record.arm.name == name).collect::<Vec<_>>()))
        .collect();
    let first = arms.first().and_then(|arm| arm.per_round.clone());
    for arm in arms.iter_mut().skip(1) {
        arm.against_first = first.as_ref().zip(arm.per_round.as_ref()).map(|(first, own)| study::compare(first, own));
    }
    let sentences = arms.iter().map(|arm| sentence(arm, arms.first())).collect();
    Results {
        experiment: records.first().map(|record| record.experiment.clone()).unwrap_or_default(),
        conditions: records.first().map(conditions).unwrap_or_default(),
        warnings: warnings(records),
        sentences,
        arms,
    }
}

fn row(name: &str, records: &[&RunRecord]) -> ArmResult {
    let count = |of: fn(&Verdict) -> bool| {
        u32::try_from(records.iter().filter(|record| of(&record.verdict)).count()).unwrap_or(u32::MAX)
    };
    // A run that was killed while filling has no rounds to be timed.
    let timed: Vec<&RunRecord> = records
        .iter()
        .copied()
        .filter(|record| matches!(record.verdict, Verdict::Completed | Verdict::Thrashing(_)) && record.elapsed.0 > 0)
        .collect();
    let measured = |unit: &str, value: &dyn Fn(&RunRecord) -> Option<f64>| {
        let values: Vec<f64> = timed.iter().filter_map(|record| value(record)).collect();
        Measurement::of(&values, unit, "one run after the other, arms interleaved", &[name])
    };
    let pages = |field: fn(&Reclaim) -> Option<u64>| measured("pages", &|record| field(&record.reclaim).map(|n| n as f64));
    let thrashing = count(|verdict| matches!(verdict, Verdict::Thrashing(_)));
    let completed = count(|verdict| *verdict == Verdict::Completed);
    ArmResult {
        arm: name.to_owned(),
        n: u32::try_from(records.len()).unwrap_or(u32::MAX),
        completed,
        thrashing,
        killed: count(|verdict| matches!(verdict, Verdict::Killed(_))),
        failed: count(|verdict| matches!(verdict, Verdict::Failed(_) | Verdict::Unfinished)),
        wall: measured("s", &|record| Some(record.elapsed.as_secs_f64())),
        wall_at_least: thrashing > 0 && thrashing >= completed,
        per_round: measured("s", &|record| record.seconds_per_round()),
        rounds: measured("rounds", &|record| Some(record.rounds_done())),
        major_faults: pages(|reclaim| Some(reclaim.major_faults)),
        refault_file: pages(|reclaim| reclaim.refault_file),
        refault_anon: pages(|reclaim| reclaim.refault_anon),
        swap_in: pages(|reclaim| reclaim.swap_in),
        swap_out: pages(|reclaim| reclaim.swap_out),
        swap_in_zero: pages(|reclaim| reclaim.swap_in_zero),
        read_bytes: measured("bytes", &|record| record.reclaim.read_bytes.map(Bytes::as_f64)),
        psi_full: measured("s", &|record| record.reclaim.psi_full_us.map(|us| us as f64 / 1e6)),
        user: measured("s", &|record| Some(record.user.as_secs_f64())),
        system: measured("s", &|record| Some(record.system.as_secs_f64())),
        pool_deviation: records.iter().filter_map(|record| record.pool?.deviation()).max_by(f64::total_cmp),
        pool_max: records.iter().filter_map(|record| record.pool.map(|pool| pool.pool_max)).max(),
        against_first: None,
    }
}

fn sentence(arm: &ArmResult, first: Option<&ArmResult>) -> String {
    let ended = match (arm.n, arm.completed, arm.thrashing, arm.killed) {
        (n, completed, 0, 0) if completed == n => "completed".to_owned(),
        (n, 0, thrashing, 0) if thrashing == n => {
            let rounds = arm.rounds.as_ref().map_or(0.0, |rounds| rounds.median);
            format!("thrashed: {rounds:.1} rounds when the clock ran out")
        }
        (n, 0, 0, killed) if killed == n => "was killed".to_owned(),
        (n, completed, thrashing, killed) => {
            format!("completed {completed}, thrashed {thrashing}, was killed {killed} times of {n}")
        }
    };
    let pace = arm.per_round.as_ref().map_or_else(|| "no pace".to_owned(), |pace| format!("{pace} per round"));
    let against = match (&arm.against_first, first) {
        (Some(comparison), Some(first)) => format!("; against '{}': {}", first.arm, comparison.sentence()),
        _ => String::new(),
    };
    format!("'{}' {ended}; {pace}{against}.", arm.arm)
}

fn conditions(record: &RunRecord) -> Vec<String> {
    let (work, machine) = (&record.workload, &record.machine);
    let units = |count: u32| Bytes(work.unit.0.saturating_mul(u64::from(count)));
    let kind = if work.shared { "shared" } else { "private" };
    vec![
        format!(
            "{} of code, {} of data ({kind} anonymous memory), {} of ballast; limit {}: {} too little",
            units(work.code_units),
            units(work.data_units),
            units(work.ballast_units),
            work.limit,
            record.excess()
        ),
        format!("{} rounds, given up after {:.0} s; read-ahead {}", work.rounds, work.timeout.as_secs_f64(), work.read_ahead),
        format!(
            "Linux {}, {} CPUs, {} of RAM, cgroup v{}, scratch on {} ({})",
            machine.kernel,
            machine.cpus,
            machine.mem_total,
            machine.cgroup_version,
            machine.scratch_fs,
            machine.scratch_disk.as_deref().unwrap_or("no disk named")
        ),
    ]
}

fn warnings(records: &[RunRecord]) -> Vec<String> {
    let mut out = Vec::new();
    let first = records.first();
    if records.iter().any(|record| first.is_some_and(|first| record.workload != first.workload)) {
        out.push("the runs do not have the same sizes or settings: compare with care".to_owned());
    }
    if records.iter().any(|record| first.is_some_and(|first| record.machine.kernel != first.machine.kernel)) {
        out.push("the runs were made on different kernels".to_owned());
    }
    for record in records {
        let same = |other: &&RunRecord| other.arm.fill == record.arm.fill && other.workload == record.workload;
        let sums = |of: &RunRecord| of.rounds.iter().map(|round| round.checksum).collect::<Vec<_>>();
        let differs = records.iter().filter(same).any(|other| sums(other).iter().zip(sums(record)).any(|(a, b)| *a != b));
        if differs {
            out.push(format!("run {}: its checksums differ from those of another run with the same fill: data was damaged", record.order));
        }
    }
    let told = |record: &RunRecord| record.notes.iter().map(|note| format!("run {} ({}): {note}", record.order, record.arm.name)).collect::<Vec<_>>();
    out.extend(records.iter().flat_map(told));
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use ramline_evidence::{Arm, RoundTime};
    use ramline_units::Nanos;

    fn run(arm: &str, seconds: u64, rounds: usize, verdict: Verdict) -> RunRecord {
        RunRecord {
            arm: Arm { name: arm.to_owned(), fill: "random".to_owned(), ..Arm::default() },
            elapsed: Nanos(seconds * 1_000_000_000),
            rounds: vec![RoundTime { took: Nanos(1), checksum: 9 }; rounds],
            verdict,
            ..RunRecord::default()
        }
    }

    #[test]
    fn an_arm_that_thrashes_is_compared_by_its_pace_and_its_time_is_a_lower_bound() {
        let thrash = || Verdict::Thrashing("20 s passed".to_owned());
        let records = [
            run("swap:60 random", 11, 11, Verdict::Completed),
            run("no-swap random", 20, 4, thrash()),
            run("swap:60 random", 22, 11, Verdict::Completed),
            run("no-swap random", 20, 5, thrash()),
        ];
        let results = of(&records);
        let [swap, none] = results.arms.as_slice() else { panic!("two arms") };
        assert!(!swap.wall_at_least && none.wall_at_least);
        assert_eq!(none.per_round.as_ref().map(|pace| (pace.min, pace.max)), Some((4.0, 5.0)));
        assert_eq!(none.against_first.as_ref().map(|c| (c.separated, c.ratio_of_medians)), Some((true, Some(3.0))));
        assert!(results.sentences[1].starts_with("'no-swap random' thrashed: 4.5 rounds when the clock ran out"), "{:?}", results.sentences);
        assert!(results.sentences[1].contains("3.0 times as much; the full ranges do not overlap"));
        assert_eq!(results.warnings, Vec::<String>::new());
    }

    #[test]
    fn a_run_that_was_killed_while_filling_has_no_time() {
        let results = of(&[run("a", 0, 0, Verdict::Killed("the group was out of memory".to_owned()))]);
        assert_eq!((results.arms[0].killed, results.arms[0].wall.clone()), (1, None));
        assert!(results.sentences[0].contains("was killed; no pace"));
    }

    #[test]
    fn damaged_data_is_found_by_its_checksum() {
        let mut bad = run("b", 1, 1, Verdict::Completed);
        bad.rounds[0].checksum = 8;
        let results = of(&[run("a", 1, 1, Verdict::Completed), bad]);
        assert!(results.warnings.iter().any(|warning| warning.contains("data was damaged")), "{:?}", results.warnings);
    }
}
