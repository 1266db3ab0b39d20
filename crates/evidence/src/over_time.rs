//! What a run looked like while it went on, as points for a chart: values at each look, and what happened between two looks.
//!
//! Functions of the samples of one [`RunRecord`], thinned so that a page stays small. The run that
//! is shown is one of several, chosen by [`ArmResult::typical`].
//!
//! ```
//! use ramline_evidence::{RunRecord, Sample};
//! use ramline_units::Nanos;
//! let sample = |s: u64, faults| Sample { at: Nanos(s * 1_000_000_000), major_faults: faults, ..Sample::default() };
//! let run = RunRecord { samples: vec![sample(0, 0), sample(1, 50), sample(3, 70)], ..RunRecord::default() };
//! assert_eq!(run.rate(|sample| sample.major_faults), [(1.0, 50.0), (3.0, 10.0)]);
//! ```

mod memory;

pub use memory::{HeldMemory, MemoryPart, limit, stacked};

use ramline_units::growth;

use crate::prelude::*;
use crate::series::ArmResult;

/// Points kept of a run.
const MOST: usize = 90;

/// Seconds since the run began, or the number of a round from 1; and a value there.
pub type Points = Vec<(f64, f64)>;

impl ArmResult {
    /// Its run that was looked at and is nearest to the median of this figure; the first one where none has the figure.
    #[must_use]
    pub fn typical<'a>(&'a self, records: &'a [RunRecord], figure: Option<&str>) -> Option<&'a RunRecord> {
        let median = figure.and_then(|name| self.figure(name)).map(|figure| figure.measurement.median);
        let off = |run: &RunRecord| {
            let value = run.figures.iter().find(|other| Some(other.name.as_str()) == figure).map(|other| other.value);
            value.zip(median).map_or(f64::INFINITY, |(value, median)| (value - median).abs())
        };
        let looked_at = self.runs(records).filter(|run| run.samples.len() > 1);
        looked_at.min_by(|a, b| off(a).total_cmp(&off(b)))
    }

    /// The median time of each round over its runs (seconds), by the number of the round.
    #[must_use]
    pub fn median_rounds(&self, records: &[RunRecord]) -> Points {
        let most = self.runs(records).map(|run| run.rounds.len()).max().unwrap_or_default();
        let median = |at: usize| {
            let took: Vec<f64> =
                self.runs(records).filter_map(|run| run.rounds.get(at)).map(|round| round.took.as_secs_f64()).collect();
            study::median(&study::sorted(&took)?)
        };
        (0..most).filter_map(|at| Some(((at + 1) as f64, median(at)?))).collect()
    }
}

impl RunRecord {
    /// When it began, in nanoseconds since 1970; `None` where that was not recorded.
    #[must_use]
    pub fn started(&self) -> Option<Nanos> {
        (self.started_unix_ms > 0).then(|| Nanos(self.started_unix_ms.saturating_mul(1_000_000)))
    }

    /// Its place in the order in which the runs were made, from 1.
    #[must_use]
    pub fn place(&self) -> u64 {
        u64::from(self.order) + 1
    }

    /// A value at each look.
    #[must_use]
    pub fn at_each_look(&self, value: impl Fn(&Sample) -> f64) -> Points {
        self.looks().map(|sample| (sample.at.as_secs_f64(), value(sample))).collect()
    }

    /// How fast a counter grew between two looks (per second), at the later one.
    #[must_use]
    pub fn rate<C: Into<Option<u64>>>(&self, counter: impl Fn(&Sample) -> C) -> Points {
        let counted = self.looks().filter_map(|sample| Some((sample.at.as_secs_f64(), counter(sample).into()?)));
        let counted = counted.collect::<Vec<_>>();
        between(&counted).map(|(at, span, more)| (at, more as f64 / span)).collect()
    }

    /// Share of the time between two looks, 0 to 1, in which every task waited for memory; by the counter of the group where there is
    /// one, so what was before the run is not in it.
    #[must_use]
    pub fn stalled(&self) -> Points {
        let counted = self.looks().filter_map(|sample| Some((sample.at.as_secs_f64(), sample.psi_full_us?)));
        // The kernel adds up per processor and a little late: a look may find more than has passed.
        let share = |(at, span, more): (f64, f64, u64)| (at, (more as f64 / 1e6 / span).min(1.0));
        between(&counted.collect::<Vec<_>>()).map(share).collect()
    }

    /// The same of the whole run; `None` where nothing was counted or no time passed.
    #[must_use]
    pub fn stalled_share(&self) -> Option<f64> {
        let total = self.samples.iter().rev().find_map(|sample| sample.psi_full_us)?;
        let whole = self.samples.last().map(|sample| sample.at.as_secs_f64()).filter(|whole| *whole > 0.0)?;
        Some((total as f64 / 1e6 / whole).min(1.0))
    }

    /// The time of each of its rounds (seconds), by the number of the round.
    #[must_use]
    pub fn round_times(&self) -> Points {
        let numbered = (1u32..).zip(&self.rounds);
        numbered.map(|(number, round)| (f64::from(number), round.took.as_secs_f64())).collect()
    }

    /// Its samples, thinned; the first and the last are kept.
    fn looks(&self) -> impl Iterator<Item = &Sample> {
        let all = &self.samples;
        let step = all.len().div_ceil(MOST).max(1);
        all.iter().enumerate().filter(move |(at, _)| at % step == 0 || at + 1 == all.len()).map(|(_, sample)| sample)
    }
}

/// Of a counter at its times: the later time, the span and the growth of each two neighbours between which time passed and the
/// counter did not go back.
fn between(counted: &[(f64, u64)]) -> impl Iterator<Item = (f64, f64, u64)> {
    counted.windows(2).filter_map(|pair| match pair {
        [(from, before), (to, after)] if to > from => growth(*before, *after).map(|more| (*to, to - from, more)),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::{Arm, Better, Figure, RoundTime};
    use crate::series::SeriesTable;

    fn sample(seconds: f64, psi_us: Option<u64>) -> Sample {
        let at = Nanos(format!("{:.0}", seconds * 1e9).parse().unwrap());
        Sample { at, psi_full_us: psi_us, psi_full_avg10: Some(77.0), ..Sample::default() }
    }

    #[test]
    fn stalls_are_the_growth_of_the_total_and_not_the_average_of_what_was_before() {
        let samples = vec![sample(0.0, Some(0)), sample(1.0, Some(250_000)), sample(2.0, Some(250_000))];
        let run = RunRecord { samples, ..RunRecord::default() };
        assert_eq!(run.stalled(), [(1.0, 0.25), (2.0, 0.0)], "avg10 said 77 % all the time");
        assert_eq!(run.stalled_share(), Some(0.125));
        let late =
            RunRecord { samples: vec![sample(0.0, Some(0)), sample(1.0, Some(1_200_000))], ..RunRecord::default() };
        assert_eq!((late.stalled(), late.stalled_share()), (vec![(1.0, 1.0)], Some(1.0)), "never more than all of it");
        let unknown = RunRecord { samples: vec![sample(0.0, None), sample(1.0, None)], ..RunRecord::default() };
        assert_eq!((unknown.stalled(), unknown.stalled_share()), (vec![], None));
    }

    #[test]
    fn a_rate_is_of_the_time_that_passed_and_a_counter_that_fell_has_none() {
        let at = |seconds, faults| Sample { major_faults: faults, ..sample(seconds, None) };
        let samples = vec![at(0.0, 10), at(0.5, 20), at(0.5, 30), at(1.0, 5)];
        let run = RunRecord { samples, ..RunRecord::default() };
        assert_eq!(run.rate(|sample| sample.major_faults), [(0.5, 20.0)]);
    }

    #[test]
    fn a_long_run_is_thinned_and_keeps_its_first_and_its_last_look() {
        let samples = (0..1000).map(|i| sample(f64::from(i) / 10.0, None)).collect();
        let points = RunRecord { samples, ..RunRecord::default() }.at_each_look(|sample| sample.at.as_secs_f64());
        assert!(points.len() <= MOST + 1, "{}", points.len());
        assert_eq!((points.first(), points.last()), (Some(&(0.0, 0.0)), Some(&(99.9, 99.9))));
        assert_eq!(RunRecord::default().at_each_look(|_| 1.0), vec![]);
    }

    #[test]
    fn the_run_that_is_shown_is_the_one_nearest_to_the_median() {
        let run = |wall: f64| RunRecord {
            arm: Arm::named("a", &[]),
            figures: vec![Figure::new("wall", wall, "s", Better::Lower)],
            samples: vec![sample(0.0, None), sample(wall, None)],
            ..RunRecord::default()
        };
        let mut records = [run(1.0), run(9.0), run(2.0), run(3.0), run(2.4)];
        let table = SeriesTable::from_records(&records).unwrap();
        let wall = |records: &[RunRecord], name| table.arms[0].typical(records, name).map(|run| run.figures[0].value);
        assert_eq!(wall(&records, Some("wall")), Some(2.4));
        records[4].samples.clear();
        assert_eq!(wall(&records, Some("wall")), Some(2.0), "of those that were looked at");
        assert_eq!(wall(&records, None), Some(1.0));
    }

    #[test]
    fn rounds_have_their_median_over_the_runs_that_did_them() {
        let run = |seconds: &[u64]| RunRecord {
            arm: Arm::named("a", &[]),
            rounds: seconds.iter().map(|s| RoundTime { took: Nanos(s * 1_000_000_000), checksum: 0 }).collect(),
            ..RunRecord::default()
        };
        let records = [run(&[1, 5, 9]), run(&[3, 7])];
        let table = SeriesTable::from_records(&records).unwrap();
        assert_eq!(table.arms[0].median_rounds(&records), [(1.0, 2.0), (2.0, 6.0), (3.0, 9.0)]);
        assert_eq!(records[1].round_times(), [(1.0, 3.0), (2.0, 7.0)]);
    }

    #[test]
    fn a_run_knows_its_place_and_when_it_began() {
        let run = RunRecord { order: 4, started_unix_ms: 7, ..RunRecord::default() };
        assert_eq!((run.place(), run.started()), (5, Some(Nanos(7_000_000))));
        assert_eq!(RunRecord::default().started(), None);
    }
}
