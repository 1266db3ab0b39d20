//! What a run of the lab measured, as a simulated run has it.

use ramline_evidence::{RunRecord, Verdict as Ended};

use crate::forecast::{RunFigures, Verdict};

/// The figures of a command's record, all of which is one round; `None` of a run that ended otherwise.
#[must_use]
pub fn command(record: &RunRecord) -> Option<RunFigures> {
    Some(RunFigures { rounds: 1.0, ..measured(record)? })
}

/// The figures of a record; `None` of a run that ended otherwise, or whose kernel does not count them.
#[must_use]
#[expect(clippy::cast_precision_loss, reason = "counts of a run")]
pub fn measured(record: &RunRecord) -> Option<RunFigures> {
    let verdict = match &record.verdict {
        Ended::Completed => Verdict::Fine,
        Ended::Thrashing(_) => Verdict::Thrashing,
        Ended::Killed(_) => Verdict::Killed,
        _ => return None,
    };
    let reclaim = &record.reclaim;
    let zeros = reclaim.swap_in_zero.unwrap_or(0);
    Some(RunFigures {
        verdict,
        rounds: record.rounds.len() as f64 + record.fraction,
        seconds: record.elapsed.0 as f64 / 1e9,
        major: reclaim.major_faults as f64,
        swap_in: (reclaim.swap_in? + zeros) as f64,
        refault_file: reclaim.refault_file? as f64,
        beside: None,
    })
}
