//! The proof from records, and back to a series for what words both alike.

use std::collections::BTreeSet;

use crate::prelude::*;
use crate::proof::{ProofArm, ProofPoint, ProofTable, ProofVersus};
use crate::record::{Better, RunOutcome, Verdict};
use crate::sample::Phase;
use crate::series::{ArmResult, FigureResult, SeriesTable};
use crate::study::LEAST_FOR_INTERVAL;
use crate::{even, work};

/// How its numbers were measured.
const METHOD: &str = "counters and clock of the run's record";
/// At most this many points of a run are kept for its chart.
pub(super) const POINTS: usize = 60;

impl ProofTable {
    /// The table of these runs; `None` without runs. Runs of one arm are told by its name. Runs on an emulated processor are left
    /// out: their seconds prove nothing about a machine.
    #[must_use]
    pub fn from_runs(runs: &[RunRecord]) -> Option<ProofTable> {
        let runs: Vec<&RunRecord> = runs.iter().filter(|run| !run.emulated).collect();
        let figures = runs.iter().map(|run| if ran(run) { work::figures(run) } else { Vec::new() }).collect();
        let series = SeriesTable::from_figures(&runs, &even::comparable(figures))?;
        let mut arms: Vec<ProofArm> = series.arms.iter().filter_map(|of| arm(of, &runs)).collect();
        if let Some((base, others)) = arms.split_first_mut() {
            for (other, of) in others.iter_mut().zip(series.arms.iter().skip(1)) {
                other.versus_first = versus(base, other, of);
            }
        }
        let first = runs.first()?;
        let (work, excess) = (&first.workload, first.excess());
        Some(ProofTable {
            experiment: series.experiment,
            machine: series.machine,
            unit: work.unit,
            demand: excess + work.limit,
            limit: work.limit,
            excess,
            rounds: work.rounds,
            shared: work.shared,
            read_ahead: work.read_ahead,
            arms,
        })
    }

    /// The times of its settings as a series, of which a headline is made: a setting without one round has no time there, and all its
    /// runs that did not complete count as the worst of them. The runs themselves are no longer at hand, so what they proved by their
    /// ranks stands as claimed here.
    #[must_use]
    pub fn series(&self) -> SeriesTable {
        let base = self.arms.first().and_then(|arm| arm.seconds_per_round.as_ref());
        let arms = self.arms.iter().map(|arm| {
            // What a setting with a run without progress took is above its bound: how it ended is what leads.
            let time = arm.seconds_per_round.as_ref().filter(|_| arm.more_than_s.is_none()).map(|time| {
                let versus_first = base.zip(arm.versus_first.as_ref()).map(|(base, versus)| {
                    let compared = study::compare(base, time);
                    Comparison { separated: compared.separated || versus.separated, ..compared }
                });
                FigureResult {
                    name: work::TIME.to_owned(),
                    better: Better::Lower,
                    measurement: time.clone(),
                    values: Vec::new(),
                    claimed: arm.versus_first.as_ref().is_some_and(|versus| versus.separated),
                    versus_first,
                }
            });
            let cut_short = arm.n.saturating_sub(arm.completed);
            let verdicts = [(RunOutcome::Completed.word(), arm.completed), (arm.outcome.word(), cut_short)];
            ArmResult {
                name: arm.name.clone(),
                emulated: false,
                n: arm.n,
                verdicts: verdicts.into_iter().filter(|(_, n)| *n > 0).map(|(word, n)| (word.to_owned(), n)).collect(),
                figures: time.into_iter().collect(),
                notes: arm.notes.clone(),
            }
        });
        SeriesTable {
            experiment: self.experiment.clone(),
            machine: self.machine.clone(),
            arms: arms.collect(),
            ..SeriesTable::default()
        }
    }
}

/// A run that failed to start says nothing about time or counts.
fn ran(run: &RunRecord) -> bool {
    !matches!(run.verdict, Verdict::Failed(_))
}

fn arm(of: &ArmResult, all: &[&RunRecord]) -> Option<ProofArm> {
    let runs: Vec<&RunRecord> = all.iter().copied().filter(|run| run.arm.name == of.name).collect();
    let first = runs.first()?;
    let ran: Vec<&RunRecord> = runs.iter().copied().filter(|run| ran(run)).collect();
    let worst = runs.iter().map(|run| &run.verdict).max_by_key(|verdict| verdict.outcome())?;
    let stuck = ran.iter().filter(|run| run.seconds_per_round().is_none()).map(|run| run.elapsed.as_secs_f64());
    let whole =
        |name: &str| of.figure(name).map(|f| Measurement { method: METHOD.to_owned(), ..f.measurement.clone() });
    let each = |name: &str| whole(&even::each(name));
    let completed = of.verdicts.iter().find(|(word, _)| word == RunOutcome::Completed.word());
    Some(ProofArm {
        name: of.name.clone(),
        swap: first.arm.swap.clone(),
        swappiness: first.arm.swappiness,
        fill: first.arm.fill.clone(),
        n: of.n,
        completed: completed.map_or(0, |(_, n)| *n),
        outcome: worst.outcome(),
        why: worst.reason().map(str::to_owned),
        seconds_per_round: whole(work::TIME),
        more_than_s: stuck.filter(|s| *s > 0.0).reduce(f64::max),
        rounds: whole(work::ROUNDS),
        user_s: each(work::USER),
        system_s: each(work::SYSTEM),
        cpu_s: each(even::CPU_TIME),
        major_faults: each(work::FAULTS),
        refault_file: each(work::FILE_REFAULTS),
        refault_anon: each(work::ANON_REFAULTS),
        swap_in: each(work::SWAPPED_IN),
        swap_out: each(work::SWAPPED_OUT),
        read_bytes: each(work::READ),
        pool_deviation: ran.iter().filter_map(|run| run.pool?.deviation()).reduce(f64::max),
        versus_first: None,
        timeline: ran.first().map(|run| timeline(run)).unwrap_or_default(),
        notes: notes(&runs),
    })
}

fn versus(base: &ProofArm, other: &ProofArm, of: &ArmResult) -> Option<ProofVersus> {
    let time = base.seconds_per_round.as_ref()?;
    // A run without any progress is slower than every run with some: its bound alone is what can be said.
    if let Some(bound) = other.more_than_s.filter(|bound| *bound > 0.0 && time.median > 0.0) {
        let ratio = bound / time.median;
        let sentence = format!("more than {ratio:.1} times as much; not one round was done before the clock ran out");
        let enough = base.n.min(other.n) >= LEAST_FOR_INTERVAL as u64;
        return Some(ProofVersus { ratio, at_least: true, separated: enough && bound > time.max, sentence });
    }
    let compared = of.figure(work::TIME)?.versus_first.as_ref()?;
    let ratio = compared.ratio_of_medians?;
    Some(ProofVersus { ratio, at_least: false, separated: compared.is_claimed(), sentence: compared.sentence() })
}

/// Rounds over time, thinned to at most [`POINTS`] points. The last one is where the run ended, which no look every 100 ms hits.
#[must_use]
pub fn timeline(run: &RunRecord) -> Vec<ProofPoint> {
    let rounds: Vec<&Sample> = run.samples.iter().filter(|s| matches!(s.phase, Phase::Rounds | Phase::Done)).collect();
    let Some(start) = rounds.first().map(|s| s.at) else { return Vec::new() };
    let step = rounds.len().div_ceil(POINTS).max(1);
    let last = rounds.len() - 1;
    let kept = rounds.iter().enumerate().filter(|(index, _)| index % step == 0 || *index == last);
    let mut points: Vec<ProofPoint> = kept
        .map(|(_, s)| {
            let fraction = if s.phase == Phase::Rounds { s.fraction } else { 0.0 };
            ProofPoint { at_s: s.at.as_secs_f64() - start.as_secs_f64(), rounds: f64::from(s.rounds) + fraction }
        })
        .collect();
    let end = ProofPoint { at_s: run.elapsed.as_secs_f64(), rounds: run.rounds_done() };
    if end.at_s > 0.0 {
        // A look after the end saw nothing new; its time is not the run's.
        points.retain(|point| point.at_s < end.at_s && point.rounds <= end.rounds);
        points.push(end);
    }
    points
}

/// What qualifies the runs: of notes that differ only in their numbers the one with the largest, and how many runs it is of.
fn notes(runs: &[&RunRecord]) -> Vec<String> {
    let mut kinds: BTreeMap<String, BTreeSet<(u64, &str, usize)>> = BTreeMap::new();
    for (number, run) in runs.iter().enumerate() {
        for note in &run.notes {
            let kind = note.chars().filter(|c| !c.is_ascii_digit()).collect();
            let digits = note.chars().skip_while(|c| !c.is_ascii_digit()).take_while(char::is_ascii_digit);
            let first = digits.collect::<String>().parse().unwrap_or(0);
            kinds.entry(kind).or_default().insert((first, note, number));
        }
    }
    let told = |all: &BTreeSet<(u64, &str, usize)>| {
        let (_, note, _) = all.last()?;
        let (differ, numbers) = (all.iter().any(|(_, other, _)| other != note), all.iter().map(|one| one.2));
        let some = numbers.collect::<BTreeSet<usize>>().len();
        Some(match (some < runs.len(), differ) {
            (true, true) => format!("{note} ({some} of {} runs; this the most)", runs.len()),
            (true, false) => format!("{note} ({some} of {} runs)", runs.len()),
            (false, true) => format!("{note} (every run; this the most)"),
            (false, false) => (*note).to_owned(),
        })
    };
    kinds.values().filter_map(told).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notes_that_differ_in_numbers_are_one_with_the_largest() {
        let with = |notes: &[&str]| RunRecord {
            notes: notes.iter().map(|note| (*note).to_owned()).collect(),
            ..RunRecord::default()
        };
        let runs = [with(&["12 % of it left", "killed"]), with(&["killed"]), with(&["97 % of it left", "killed"])];
        let told = notes(&runs.iter().collect::<Vec<_>>());
        assert_eq!(told, ["97 % of it left (2 of 3 runs; this the most)", "killed"]);
    }
}
