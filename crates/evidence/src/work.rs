//! The figures of a run of code-plus-data: what its counters and its clock say, one number each.
//!
//! What the lab writes into a record when the run has ended, and what an old record without figures still holds. To make them
//! comparable [`even`](crate::even) divides by the rounds that were done.
//!
//! ```
//! use ramline_evidence::{Reclaim, RoundTime, RunRecord, work};
//! use ramline_units::Nanos;
//! let run = RunRecord { rounds: vec![RoundTime::default(); 2], elapsed: Nanos(3_000_000_000), ..RunRecord::default() };
//! assert_eq!((work::figures(&run)[0].name.as_str(), work::figures(&run)[0].value), (work::TIME, 1.5));
//! ```

use crate::prelude::*;
use crate::record::{Better, Figure};

/// Seconds that a round took.
pub const TIME: &str = "time per round";
/// Rounds done, the one that was cut short by its part.
pub const ROUNDS: &str = "rounds";
/// User time of the whole run (seconds).
pub const USER: &str = "user time";
/// System time of the whole run (seconds).
pub const SYSTEM: &str = "system time";
/// Major faults of the whole run.
pub const FAULTS: &str = "major faults";
/// Refaulted pages of files.
pub const FILE_REFAULTS: &str = "file refaults";
/// Refaulted anonymous pages.
pub const ANON_REFAULTS: &str = "anonymous refaults";
/// Pages swapped in.
pub const SWAPPED_IN: &str = "swapped in";
/// Pages swapped out.
pub const SWAPPED_OUT: &str = "swapped out";
/// Bytes read from disks.
pub const READ: &str = "read from disks";
/// Time in which every task waited for memory (seconds).
pub const STALLED: &str = "PSI full";

/// What the table of a series is made of; a figure that the kernel does not count is not there.
#[must_use]
pub fn figures(record: &RunRecord) -> Vec<Figure> {
    let mut out = Vec::new();
    let mut add = |name: &str, value: Option<f64>, unit: &str, better| {
        out.extend(value.map(|value| Figure::new(name, value, unit, better)));
    };
    let pages = |count: Option<u64>| count.map(|count| count as f64);
    let reclaim = &record.reclaim;
    add(TIME, record.seconds_per_round(), "s", Better::Lower);
    add(ROUNDS, Some(record.rounds_done()), "rounds", Better::Higher);
    add(USER, Some(record.user.as_secs_f64()), "s", Better::Lower);
    add(SYSTEM, Some(record.system.as_secs_f64()), "s", Better::Lower);
    add(FAULTS, pages(Some(reclaim.major_faults)), "faults", Better::Lower);
    add(FILE_REFAULTS, pages(reclaim.refault_file), "pages", Better::Lower);
    add(ANON_REFAULTS, pages(reclaim.refault_anon), "pages", Better::Lower);
    add(SWAPPED_IN, pages(reclaim.swap_in), "pages", Better::Lower);
    add(SWAPPED_OUT, pages(reclaim.swap_out), "pages", Better::Lower);
    add(READ, reclaim.read_bytes.map(Bytes::as_f64), "bytes", Better::Lower);
    add(STALLED, pages(reclaim.psi_full_us).map(|us| us / 1e6), "s", Better::Lower);
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::Reclaim;

    #[test]
    fn a_counter_that_is_not_there_makes_no_figure_and_microseconds_become_seconds() {
        let reclaim = Reclaim { major_faults: 7, psi_full_us: Some(2_500_000), ..Reclaim::default() };
        let shown = figures(&RunRecord { reclaim, ..RunRecord::default() });
        let value = |name: &str| shown.iter().find(|figure| figure.name == name).map(|figure| figure.value);
        assert_eq!(
            (value(FAULTS), value(STALLED), value(FILE_REFAULTS), value(TIME)),
            (Some(7.0), Some(2.5), None, None)
        );
    }
}
