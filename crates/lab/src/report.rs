//! What the records of one folder say against each other: reasons to doubt a table made of them.
//!
//! What it is not: the table; that is `ramline-view`'s, a function of the same records.
//!
//! ```
//! use ramline_evidence::{RoundTime, RunRecord};
//! let run = |checksum| RunRecord { rounds: vec![RoundTime { checksum, ..RoundTime::default() }], ..RunRecord::default() };
//! assert!(ramline_lab::report::doubts(&[run(7), run(7)]).is_empty());
//! assert!(ramline_lab::report::doubts(&[run(7), run(8)])[0].contains("data was damaged"));
//! ```

use ramline_evidence::RunRecord;

/// Records that were made with other settings, on another kernel, or that read other data than their like.
#[must_use]
pub fn doubts(records: &[RunRecord]) -> Vec<String> {
    let mut out = Vec::new();
    let Some(first) = records.first() else { return out };
    if records.iter().any(|record| record.workload != first.workload) {
        out.push("the runs do not have the same sizes or settings: compare with care".to_owned());
    }
    if records.iter().any(|record| record.machine.kernel != first.machine.kernel) {
        out.push("the runs were made on different kernels".to_owned());
    }
    out.extend(records.iter().filter(|record| is_odd_one(record, records)).map(|record| {
        format!(
            "run {} ({}): its checksums differ from another run's with the same data: data was damaged",
            record.order, record.arm.name
        )
    }));
    out
}

/// Rounds read the same bytes in every run with the same fill, sizes and seed.
fn is_odd_one(record: &RunRecord, records: &[RunRecord]) -> bool {
    let alike = |other: &&RunRecord| {
        let (a, b) = (&other.workload, &record.workload);
        other.arm.fill == record.arm.fill && (a.unit, a.seed, a.ballast_units) == (b.unit, b.seed, b.ballast_units)
    };
    let differs = |other: &RunRecord| other.rounds.iter().zip(&record.rounds).any(|(a, b)| a.checksum != b.checksum);
    records.iter().filter(alike).any(differs)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ramline_evidence::{Arm, RoundTime};

    fn run(fill: &str, checksums: &[u64]) -> RunRecord {
        RunRecord {
            arm: Arm { fill: fill.to_owned(), ..Arm::default() },
            rounds: checksums.iter().map(|sum| RoundTime { checksum: *sum, ..RoundTime::default() }).collect(),
            ..RunRecord::default()
        }
    }

    #[test]
    fn only_rounds_both_runs_have_done_are_compared_and_only_of_the_same_fill() {
        assert!(doubts(&[run("text", &[1, 2, 3]), run("text", &[1]), run("random", &[9])]).is_empty());
        assert_eq!(doubts(&[run("text", &[1, 2]), run("text", &[1, 3])]).len(), 2);
    }

    #[test]
    fn runs_of_different_kernels_are_not_silently_one_table() {
        let mut other = run("text", &[1]);
        other.machine.kernel = "6.1".to_owned();
        assert_eq!(doubts(&[run("text", &[1]), other]), ["the runs were made on different kernels"]);
    }
}
