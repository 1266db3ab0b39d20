//! Settings of a series beside each other: which is the fastest and by how much, which do as well as a given one, how the runs ended.
//!
//! Functions of a [`SeriesTable`]; a claim is where [`Comparison::is_claimed`] says so.
//!
//! ```
//! use ramline_evidence::{Arm, Better, Figure, RunRecord, SeriesTable};
//! let run = |arm: &str, wall| RunRecord {
//!     arm: Arm::named(arm, &[]),
//!     figures: vec![Figure::new("wall", wall, "s", Better::Lower)],
//!     ..RunRecord::default()
//! };
//! let table = SeriesTable::from_records(&[run("cold", 3.0), run("warm", 1.5)]).unwrap();
//! let times: Vec<f64> = table.paced("wall").iter().map(|paced| paced.times).collect();
//! assert_eq!(times, [2.0, 1.0]);
//! ```

use ramline_units::saturating_sum;

use crate::prelude::*;
use crate::record::{Better, RunOutcome};
use crate::series::{ArmResult, FigureResult, SeriesTable, in_order};
use crate::study::LEAST_FOR_INTERVAL;

/// The word for a run that came to its end.
const COMPLETED: &str = RunOutcome::Completed.word();

/// A setting's time against that of the fastest.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Paced<'a> {
    /// The setting.
    pub arm: &'a ArmResult,
    /// Its time.
    pub measurement: &'a Measurement,
    /// How many times the median of the fastest its own is; 1 for the fastest.
    pub times: f64,
}

/// How a setting is not worse than the one it is held against.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lead {
    /// It is better, which may be claimed.
    Ahead,
    /// It is perhaps better: too few runs to claim it.
    PerhapsAhead,
    /// The two cannot be told apart.
    Level,
}

/// A rate at which another setting does as well as a given one, or better.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct NotWon<'a> {
    /// The rate of the given one.
    pub ours: &'a FigureResult,
    /// The other setting.
    pub other: &'a ArmResult,
    /// Its rate.
    pub theirs: &'a FigureResult,
    /// How they compare.
    pub lead: Lead,
}

/// A note of runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunNote<'a> {
    /// As noted.
    pub note: &'a str,
    /// The settings it was noted of, in order.
    pub arms: Vec<&'a str>,
    /// In how many runs; a run that has it twice counts twice.
    pub runs: u64,
}

impl SeriesTable {
    /// The settings that have this time, each with how many times that of the fastest it is.
    #[must_use]
    pub fn paced(&self, name: &str) -> Vec<Paced<'_>> {
        let has = || self.arms.iter().filter_map(|arm| Some((arm, &arm.figure(name)?.measurement)));
        let fastest = has().map(|(_, measurement)| measurement.median).fold(f64::INFINITY, f64::min);
        has().map(|(arm, measurement)| Paced { arm, measurement, times: measurement.median / fastest }).collect()
    }

    /// The rates at which one of `others` is as good as `ours` or better, in the order of its figures.
    #[must_use]
    pub fn not_won<'a>(&'a self, ours: &'a ArmResult, others: impl Fn(&ArmResult) -> bool) -> Vec<NotWon<'a>> {
        let rates = ours.figures.iter().filter(|figure| figure.better == Better::Higher);
        let pairs = rates.flat_map(|rate| {
            self.arms.iter().filter(|arm| others(arm)).filter_map(move |arm| Some((rate, arm, arm.figure(&rate.name)?)))
        });
        pairs
            .filter_map(|(ours, other, theirs)| Some(NotWon { ours, other, theirs, lead: lead(ours, theirs)? }))
            .collect()
    }

    /// True where a setting has too few runs for an interval, and so for a claim.
    #[must_use]
    pub fn has_few_runs(&self) -> bool {
        self.arms.iter().any(|arm| arm.n < u64::try_from(LEAST_FOR_INTERVAL).unwrap_or(u64::MAX))
    }

    /// How many runs came to their end, and how the others ended, each word with its number of runs.
    #[must_use]
    pub fn endings(&self) -> (u64, Vec<(&str, u64)>) {
        let all = || self.arms.iter().flat_map(|arm| &arm.verdicts).map(|(word, n)| (word.as_str(), *n));
        let of = |word: &str| saturating_sum(all().filter(|(other, _)| *other == word).map(|(_, n)| n));
        let others = in_order(all().map(|(word, _)| word).filter(|word| *word != COMPLETED));
        (of(COMPLETED), others.into_iter().map(|word| (word, of(word))).collect())
    }

    /// All runs.
    #[must_use]
    pub fn runs(&self) -> u64 {
        saturating_sum(self.arms.iter().map(|arm| arm.n))
    }

    /// Of these figures the first ones that have together at most so many values.
    #[must_use]
    pub fn within<'a>(&self, names: &[&'a str], most: usize) -> Vec<&'a str> {
        let values = |name: &str| {
            let figures = self.arms.iter().filter_map(|arm| arm.figure(name));
            saturating_sum(figures.map(|figure| figure.values.len()))
        };
        let mut left = most;
        let fits = |name: &&&str| {
            let rest = left.checked_sub(values(name));
            left = rest.unwrap_or(0);
            rest.is_some()
        };
        names.iter().take_while(fits).copied().collect()
    }

    /// What was noted of its runs, each once, in the order of the settings.
    #[must_use]
    pub fn noted<'a>(&'a self, records: &'a [RunRecord]) -> Vec<RunNote<'a>> {
        let mut all: Vec<RunNote<'a>> = Vec::new();
        for arm in &self.arms {
            for note in arm.runs(records).flat_map(|run| &run.notes) {
                match all.iter_mut().find(|noted| noted.note == note.as_str()) {
                    Some(noted) => {
                        noted.runs = noted.runs.saturating_add(1);
                        if !noted.arms.contains(&arm.name.as_str()) {
                            noted.arms.push(&arm.name);
                        }
                    }
                    None => all.push(RunNote { note, arms: vec![&arm.name], runs: 1 }),
                }
            }
        }
        all
    }
}

/// How the other rate is not below ours; `None` where it is.
fn lead(ours: &FigureResult, theirs: &FigureResult) -> Option<Lead> {
    let compared: Comparison =
        study::compare_runs((&ours.measurement, &ours.values), (&theirs.measurement, &theirs.values));
    let lead = match (compared.is_claimed(), compared.may_differ()) {
        (true, _) => Lead::Ahead,
        (false, true) => Lead::PerhapsAhead,
        (false, false) => return Some(Lead::Level),
    };
    compared.ratio_of_medians.is_some_and(|ratio| ratio > 1.0).then_some(lead)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::{Arm, Figure, Verdict};

    fn run(arm: &str, rate: f64, verdict: Verdict) -> RunRecord {
        let figures =
            vec![Figure::new("write", rate, "bytes/s", Better::Higher), Figure::new("wall", rate, "s", Better::Lower)];
        RunRecord { arm: Arm::named(arm, &[]), figures, verdict, ..RunRecord::default() }
    }

    fn runs(arms: &[(&str, f64)], n: u32) -> Vec<RunRecord> {
        let one = |i: u32, (arm, rate): (&str, f64)| run(arm, rate + 0.001 * f64::from(i), Verdict::Completed);
        (0..n).flat_map(|i| arms.iter().map(move |arm| one(i, *arm))).collect()
    }

    #[test]
    fn a_setting_that_is_faster_level_or_perhaps_faster_is_named_and_a_slower_one_is_not() {
        let leads = |n: u32| {
            let table =
                SeriesTable::from_records(&runs(&[("tmpfs", 5.0), ("disk", 6.0), ("nfs", 1.0), ("ram", 5.0)], n))
                    .unwrap();
            let lost = table.not_won(&table.arms[0], |arm| arm.name != "tmpfs");
            lost.iter().map(|one| (one.other.name.clone(), one.ours.name.clone(), one.lead)).collect::<Vec<_>>()
        };
        let of = |arm: &str, lead| (arm.to_owned(), "write".to_owned(), lead);
        assert_eq!(leads(7), [of("disk", Lead::Ahead), of("ram", Lead::Level)], "a time is no rate");
        assert_eq!(leads(3), [of("disk", Lead::PerhapsAhead), of("ram", Lead::Level)]);
    }

    #[test]
    fn endings_are_counted_over_all_settings() {
        let stuck = || Verdict::Thrashing("20 s".into());
        let records = [
            run("a", 1.0, stuck()),
            run("b", 1.0, Verdict::Completed),
            run("b", 1.0, stuck()),
            run("b", 1.0, Verdict::Killed(String::new())),
        ];
        let table = SeriesTable::from_records(&records).unwrap();
        assert_eq!(table.endings(), (1, vec![("thrashing", 2), ("killed", 1)]));
        assert_eq!((table.runs(), table.has_few_runs()), (4, true));
        assert!(!SeriesTable::from_records(&runs(&[("a", 1.0)], 6)).unwrap().has_few_runs());
    }

    #[test]
    fn figures_are_taken_while_their_values_fit() {
        let table = SeriesTable::from_records(&runs(&[("a", 1.0), ("b", 2.0)], 3)).unwrap();
        let names = ["write", "wall", "write"];
        assert_eq!(table.within(&names, 12), ["write", "wall"]);
        assert_eq!(table.within(&names, 11), ["write"]);
        assert_eq!(table.within(&names, 5), Vec::<&str>::new());
    }

    #[test]
    fn a_note_stands_once_with_its_settings_and_how_often_it_was_made() {
        let mut records = runs(&[("a", 1.0), ("b", 2.0)], 2);
        records.iter_mut().for_each(|record| record.notes.push("not quiet".into()));
        records[3].notes = vec!["killed".into()];
        let table = SeriesTable::from_records(&records).unwrap();
        let told = table.noted(&records);
        assert_eq!(told[0], RunNote { note: "not quiet", arms: vec!["a", "b"], runs: 3 });
        assert_eq!(told[1], RunNote { note: "killed", arms: vec!["b"], runs: 1 });
    }
}
