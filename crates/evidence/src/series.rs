//! A series as a table: for each setting (arm) and each figure the median of its runs with its spread, and against the first one.
//!
//! A pure function of raw records, for any experiment. A difference is claimed only where both arms have at least [`study::LEAST_FOR_INTERVAL`] runs and their intervals or ranks are apart.
//!
//! ```
//! use ramline_evidence::{Arm, Better, Figure, RunRecord, SeriesTable};
//! let run = |arm: &str, wall| RunRecord {
//!     arm: Arm::named(arm, &[]),
//!     figures: vec![Figure::new("wall", wall, "s", Better::Lower)],
//!     ..RunRecord::default()
//! };
//! let records: Vec<_> = (0..7).flat_map(|i| [run("cold", 2.0 + 0.01 * f64::from(i)), run("warm", 1.0)]).collect();
//! let table = SeriesTable::from_records(&records).unwrap();
//! let warm = table.arms[1].figure("wall").unwrap();
//! assert_eq!(warm.measurement.median, 1.0);
//! assert!(warm.claimed);
//! ```

use crate::even;
use crate::outcome::no_pressure;
use crate::prelude::*;
use crate::record::{Better, Figure, RunMachine, Verdict};

/// All arms of one series.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct SeriesTable {
    /// Which experiment.
    pub experiment: String,
    /// The machine of the first run.
    pub machine: Option<RunMachine>,
    /// Where the runs were made.
    pub sandbox: String,
    /// Options it was run with, as given.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub parameters: BTreeMap<String, Vec<String>>,
    /// The processor was emulated: seconds are not those of a machine and never basis of advice.
    pub emulated: bool,
    /// No run was short of memory, so nothing is shown; with this unit of data and code they would have been.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub no_pressure: Option<Bytes>,
    /// In the order in which they first ran.
    pub arms: Vec<ArmResult>,
    /// What only this experiment knows, of the first run of each arm that has it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub details: Vec<ArmDetail>,
}

/// The detail of one run.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ArmDetail {
    /// The arm.
    pub arm: String,
    /// Which of its runs, from 0.
    pub repetition: u32,
    /// How that run ended.
    pub verdict: Verdict,
    /// As recorded.
    pub detail: serde_json::Value,
}

/// One arm: all its runs taken together.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ArmResult {
    /// Its name.
    pub name: String,
    /// Its runs were made on an emulated processor: its seconds are never compared with those of an arm that was not.
    pub emulated: bool,
    /// Runs.
    pub n: u64,
    /// How they ended, each with a count: completed, thrashing, killed, failed.
    pub verdicts: Vec<(String, u64)>,
    /// Its figures, in the order of the records.
    pub figures: Vec<FigureResult>,
    /// What qualifies the runs, each once.
    pub notes: Vec<String>,
}

/// One figure of one arm.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FigureResult {
    /// Its name.
    pub name: String,
    /// Which direction is good.
    pub better: Better,
    /// Over the runs that have it.
    pub measurement: Measurement,
    /// One a run, in the order of the runs.
    #[serde(default)]
    pub values: Vec<f64>,
    /// Against the first arm that has it; `None` for that one.
    pub versus_first: Option<Comparison>,
    /// A difference from the first arm may be claimed.
    pub claimed: bool,
}

impl ArmResult {
    /// A figure by name.
    #[must_use]
    pub fn figure(&self, name: &str) -> Option<&FigureResult> {
        self.figures.iter().find(|figure| figure.name == name)
    }

    /// Its runs among the records: where real and emulated runs are mixed, these are an arm of their own.
    pub fn runs<'a>(&'a self, records: &'a [RunRecord]) -> impl Iterator<Item = &'a RunRecord> {
        records.iter().filter(move |record| {
            let own = record.arm.name.as_str();
            record.emulated == self.emulated && (own == self.name || self.name.strip_suffix(EMULATED) == Some(own))
        })
    }
}

/// What follows the name of an arm whose runs were emulated while others of the series were not.
const EMULATED: &str = " (emulated)";

impl SeriesTable {
    /// The table of these records; `None` when there are none.
    #[must_use]
    pub fn from_records(records: &[RunRecord]) -> Option<SeriesTable> {
        let runs: Vec<&RunRecord> = records.iter().collect();
        let table = SeriesTable::from_figures(&runs, &even::figures(records))?;
        Some(SeriesTable { no_pressure: no_pressure(records), ..table })
    }

    /// The table of these runs and their figures made comparable, one list a run; whether there was pressure is not looked at.
    pub(crate) fn from_figures(records: &[&RunRecord], figures: &[Vec<Figure>]) -> Option<SeriesTable> {
        let first = records.first()?;
        let all: Vec<One<'_>> = records.iter().zip(figures).map(|(record, figures)| One { record, figures }).collect();
        let mut arms: Vec<ArmResult> = Vec::new();
        let emulated = records.iter().any(|record| record.emulated);
        let mixed = emulated && records.iter().any(|record| !record.emulated);
        for name in in_order(records.iter().map(|record| record.arm.name.as_str())) {
            for kind in [false, true] {
                let of_kind = |one: &&One<'_>| one.record.arm.name == name && one.record.emulated == kind;
                let runs: Vec<One<'_>> = all.iter().filter(of_kind).copied().collect();
                if runs.is_empty() {
                    continue;
                }
                let shown = if mixed && kind { format!("{name}{EMULATED}") } else { name.to_owned() };
                let arm = arm(&shown, &runs, &arms);
                arms.push(arm);
            }
        }
        Some(SeriesTable {
            experiment: first.experiment.clone(),
            machine: Some(first.machine.clone()),
            sandbox: first.sandbox.clone(),
            parameters: first.parameters.clone(),
            emulated,
            no_pressure: None,
            details: details(records),
            arms,
        })
    }
}

fn details(records: &[&RunRecord]) -> Vec<ArmDetail> {
    let of = |name: &str| {
        let record = records.iter().find(|record| record.arm.name == name && record.detail.is_some())?;
        let detail = record.detail.clone()?;
        Some(ArmDetail { arm: name.to_owned(), repetition: record.repetition, verdict: record.verdict.clone(), detail })
    };
    in_order(records.iter().map(|record| record.arm.name.as_str())).into_iter().filter_map(of).collect()
}

/// Each once, in the order in which they came.
pub(crate) fn in_order<'a>(names: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut seen: Vec<&str> = Vec::new();
    names.for_each(|name| {
        if !seen.contains(&name) {
            seen.push(name);
        }
    });
    seen
}

/// A run, and its figures made comparable.
#[derive(Clone, Copy)]
struct One<'a> {
    record: &'a RunRecord,
    figures: &'a [Figure],
}

fn arm(name: &str, runs: &[One<'_>], before: &[ArmResult]) -> ArmResult {
    let count = |n: usize| u64::try_from(n).unwrap_or(u64::MAX);
    let words: Vec<&str> = runs.iter().map(|run| run.record.verdict.word()).collect();
    let verdicts = in_order(words.iter().copied())
        .into_iter()
        .map(|word| (word.to_owned(), count(words.iter().filter(|other| **other == word).count())))
        .collect();
    let names = in_order(runs.iter().flat_map(|run| run.figures.iter().map(|figure| figure.name.as_str())));
    let notes = in_order(runs.iter().flat_map(|run| run.record.notes.iter().map(String::as_str)));
    ArmResult {
        name: name.to_owned(),
        emulated: runs.first().is_some_and(|run| run.record.emulated),
        n: count(runs.len()),
        verdicts,
        figures: names.into_iter().filter_map(|name| figure(name, runs, before)).collect(),
        notes: notes.into_iter().map(str::to_owned).collect(),
    }
}

fn figure(name: &str, runs: &[One<'_>], before: &[ArmResult]) -> Option<FigureResult> {
    let all = || runs.iter().flat_map(|run| run.figures.iter().filter(|figure| figure.name == name));
    let values: Vec<f64> = all().map(|figure| figure.value).collect();
    let (unit, better) = all().next().map(|figure| (figure.unit.as_str(), figure.better))?;
    let measurement = Measurement::from_values(&values, unit, "one value a run", &[])?;
    // Seconds of an emulated processor are no seconds of a machine; counts are what they are.
    let emulated = runs.first().is_some_and(|run| run.record.emulated);
    let of_time = unit == "s" || unit.ends_with("/s");
    let alike = |arm: &&ArmResult| !of_time || arm.emulated == emulated;
    let first = before.iter().filter(alike).find_map(|arm| arm.figure(name));
    let versus_first =
        first.map(|first| study::compare_runs((&first.measurement, &first.values), (&measurement, &values)));
    let claimed = versus_first.as_ref().is_some_and(Comparison::is_claimed);
    Some(FigureResult { name: name.to_owned(), better, measurement, values, versus_first, claimed })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::Arm;

    fn run(arm: &str, wall: f64, verdict: Verdict) -> RunRecord {
        let figures = vec![Figure::new("wall", wall, "s", Better::Lower)];
        RunRecord { arm: Arm::named(arm, &[]), figures, verdict, ..RunRecord::default() }
    }

    #[test]
    fn below_six_runs_the_range_is_shown_and_no_difference_is_claimed() {
        let records: Vec<_> =
            (0..5).flat_map(|_| [run("a", 1.0, Verdict::Completed), run("b", 9.0, Verdict::Completed)]).collect();
        let table = SeriesTable::from_records(&records).unwrap();
        let b = table.arms[1].figure("wall").unwrap();
        assert_eq!((b.measurement.ci95, b.claimed), (None, false));
        assert!(b.versus_first.as_ref().unwrap().separated, "the ranges are apart, which is no claim");
    }

    #[test]
    fn verdicts_are_counted_in_the_order_in_which_they_came() {
        let records = [
            run("a", 1.0, Verdict::Thrashing("x".into())),
            run("a", 1.0, Verdict::Completed),
            run("a", 1.0, Verdict::Thrashing("y".into())),
        ];
        let table = SeriesTable::from_records(&records).unwrap();
        assert_eq!(table.arms[0].verdicts, [("thrashing".to_owned(), 2), ("completed".to_owned(), 1)]);
        assert_eq!(SeriesTable::from_records(&[]), None);
    }

    #[test]
    fn emulated_seconds_are_never_compared_with_native_ones_but_counts_are() {
        let mut all: Vec<RunRecord> = Vec::new();
        for index in 0..14 {
            let mut one = run("a", if index < 7 { 1.0 } else { 20.0 }, Verdict::Completed);
            one.figures.push(Figure::new("faults", 100.0, "faults", Better::Lower));
            one.figures.push(Figure::new("rate", 5.0, "bytes/s", Better::Higher));
            one.emulated = index >= 7;
            all.push(one);
        }
        let table = SeriesTable::from_records(&all).unwrap();
        let names: Vec<&str> = table.arms.iter().map(|arm| arm.name.as_str()).collect();
        assert_eq!(names, ["a", "a (emulated)"]);
        let [native, emulated] = table.arms.as_slice() else { panic!("two settings") };
        assert_eq!(
            (native.figure("wall").unwrap().measurement.n, native.figure("wall").unwrap().measurement.median),
            (7, 1.0)
        );
        for name in ["wall", "rate"] {
            let figure = emulated.figure(name).unwrap();
            assert_eq!((figure.versus_first.as_ref(), figure.claimed), (None, false), "{name}");
        }
        assert!(emulated.figure("faults").unwrap().versus_first.is_some());
    }

    #[test]
    fn the_detail_of_the_first_run_of_each_arm_goes_with_the_table() {
        let with = |arm: &str, repetition, detail: Option<u32>| RunRecord {
            repetition,
            detail: detail.map(Into::into),
            ..run(arm, 1.0, Verdict::Completed)
        };
        let records = [with("a", 0, None), with("b", 0, Some(5)), with("a", 1, Some(7)), with("b", 1, Some(6))];
        let table = SeriesTable::from_records(&records).unwrap();
        let seen: Vec<_> =
            table.details.iter().map(|d| (d.arm.as_str(), d.repetition, d.detail.as_u64().unwrap())).collect();
        assert_eq!(seen, [("a", 1, 7), ("b", 0, 5)]);
    }

    #[test]
    fn one_emulated_run_makes_the_series_emulated() {
        let mut other = run("a", 1.0, Verdict::Completed);
        other.emulated = true;
        assert!(SeriesTable::from_records(&[run("a", 1.0, Verdict::Completed), other]).unwrap().emulated);
    }
}
