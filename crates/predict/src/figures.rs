//! Figures of runs, simulated or measured: of one, and of several with their ranges.

use ramline_units::JsonSchema;
use serde::Serialize;

use crate::range::Range;

/// How runs end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// The load is done.
    #[default]
    Fine,
    /// It was not done in time.
    Thrashing,
    /// The group ran out of memory.
    Killed,
}

/// Figures of one setting: a forecast, or what was measured.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, JsonSchema)]
pub struct Figures {
    /// How most runs end.
    pub verdict: Verdict,
    /// Runs that were simulated; absent of what was measured.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub simulations: Option<usize>,
    /// The middle of major faults, swap-ins or file pages is not known to a tenth, or to 16 pages a round, even by four times as many simulations as were asked for. Absent
    /// where it is known, where fewer than 8 runs were simulated, and of what was measured.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unsettled: bool,
    /// Part of the runs that ran out of memory.
    pub killed: f64,
    /// Part of the runs that were not done in time.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub thrashed: f64,
    /// Seconds that a round takes.
    pub round: Option<Range>,
    /// Major faults a round.
    pub major: Option<Range>,
    /// Pages a round that are read from swap.
    pub swap_in: Option<Range>,
    /// Refaults of file pages a round.
    pub refault_file: Option<Range>,
    /// Part of the time that is spent waiting for disks; this and what follows is simulated and not measured.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub waiting: Option<Range>,
    /// Bytes a round that are read from disks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub disk_read: Option<Range>,
    /// Bytes a round that are written to a swap area on a disk.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub disk_written: Option<Range>,
    /// Bytes of RAM that zram takes at most.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub zram: Option<Range>,
    /// Of a recording: how many times as long it takes as with enough memory. Its counts are beyond those that it has then.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub slower: Option<Range>,
    /// Of a recording: more than a tenth of the pages that leave RAM do so in the epoch in which they were touched, or an epoch touches more than a third of the limit: counts are not known, and may be far more.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unknown_counts: bool,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks so")]
fn is_zero(share: &f64) -> bool {
    *share <= 0.0
}

/// One run, simulated or measured.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RunFigures {
    /// How it ended.
    pub verdict: Verdict,
    /// Rounds done, with the part of one.
    pub rounds: f64,
    /// Seconds of all of them.
    pub seconds: f64,
    /// Counted over all of them.
    pub major: f64,
    /// See [`Figures`].
    pub swap_in: f64,
    /// See [`Figures`].
    pub refault_file: f64,
    /// What a lab does not count.
    pub beside: Option<SimulatedOnly>,
}

/// Of a simulated run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SimulatedOnly {
    /// See [`Figures`].
    pub waiting: f64,
    /// Bytes over all rounds.
    pub disk_read: f64,
    /// Bytes over all rounds.
    pub disk_written: f64,
    /// See [`Figures`].
    pub zram: Option<f64>,
    /// Of a recording.
    pub recorded: Option<OfRecording>,
}

/// Of a simulated run of a recording.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct OfRecording {
    /// Seconds that it takes with enough memory.
    pub alone: f64,
    /// Pages that left RAM, and of these those that did so in the epoch in which they were touched.
    pub left: f64,
    /// See [`OfRecording::left`].
    pub early: f64,
}

impl Figures {
    /// Of several runs; `None` of none.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "a number of runs")]
    pub fn from_runs(runs: &[RunFigures]) -> Option<Figures> {
        let votes = |verdict| runs.iter().filter(|run| run.verdict == verdict).count();
        let verdict = [Verdict::Fine, Verdict::Thrashing, Verdict::Killed].into_iter().max_by_key(|one| votes(*one))?;
        let each = |pick: fn(&RunFigures) -> f64| {
            Range::from_values(runs.iter().filter(|run| run.rounds > 0.0).map(|run| pick(run) / run.rounds).collect())
        };
        (!runs.is_empty()).then(|| Figures {
            verdict,
            simulations: None,
            unsettled: false,
            killed: votes(Verdict::Killed) as f64 / runs.len() as f64,
            thrashed: votes(Verdict::Thrashing) as f64 / runs.len() as f64,
            round: each(|run| run.seconds),
            major: each(|run| run.major),
            swap_in: each(|run| run.swap_in),
            refault_file: each(|run| run.refault_file),
            waiting: all(runs, |run| Some(run.beside?.waiting)),
            disk_read: all(runs, |run| Some(run.beside?.disk_read / run.rounds)),
            disk_written: all(runs, |run| Some(run.beside?.disk_written / run.rounds)),
            zram: all(runs, |run| run.beside?.zram),
            slower: all(runs, |run| Some(run.seconds / run.rounds / run.beside?.recorded?.alone)),
            unknown_counts: early_share(runs).is_some_and(|share| share > MOST_EARLY),
        })
    }

    /// Widens the intervals of counts, of memory and of files, by these margins.
    #[must_use]
    pub fn widened_by(self, [memory, files]: [f64; 2]) -> Figures {
        let wider = |range: Option<Range>, off: f64| {
            range.map(|Range { median, low, high }| Range { median, low: low * (1.0 - off), high: high * (1.0 + off) })
        };
        Figures {
            major: wider(self.major, memory),
            swap_in: wider(self.swap_in, memory),
            refault_file: wider(self.refault_file, files),
            ..self
        }
    }
}

/// So large a part of the pages that leave RAM may do so in the epoch in which they were touched. Were each of them touched once more in it, which nobody saw, counts were as much higher.
const MOST_EARLY: f64 = 0.1;

/// That part; `None` of what was not recorded, 0 where none left.
fn early_share(runs: &[RunFigures]) -> Option<f64> {
    let parts = runs.iter().map(|run| run.beside?.recorded.map(|one| (one.early, one.left)));
    let (early, left) =
        parts.collect::<Option<Vec<_>>>()?.into_iter().fold((0.0, 0.0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
    Some(if left > 0.0 { early / left } else { 0.0 })
}

/// Of what runs know that came to something.
fn all(runs: &[RunFigures], pick: fn(&RunFigures) -> Option<f64>) -> Option<Range> {
    Range::from_values(runs.iter().filter(|run| run.rounds > 0.0).filter_map(pick).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_runs_that_end_in_different_ways_the_part_that_was_killed_is_given() {
        let run = |verdict| RunFigures {
            verdict,
            rounds: 1.0,
            seconds: 1.0,
            major: 0.0,
            swap_in: 0.0,
            refault_file: 0.0,
            beside: None,
        };
        let figures =
            Figures::from_runs(&[Verdict::Fine, Verdict::Killed, Verdict::Fine, Verdict::Fine].map(run)).unwrap();
        assert_eq!((figures.verdict, figures.killed), (Verdict::Fine, 0.25));
    }
}
