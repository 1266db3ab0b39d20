//! The proof in the sandbox as one table: a pure function of the raw records.
//!
//! What it is: for each arm, how often it ran, how it ended, the time per round with its spread, what reclaim did, and how
//! it compares with the first arm. What it is not: a claim beyond the records; where intervals overlap it says so, and
//! where the clock ran out before any progress the time is a lower bound.
//!
//! ```
//! use ramline_evidence::RunRecord;
//! let run = RunRecord::parse(r#"{"format":1,"experiment":"code-plus-data","arm":{"name":"as configured"},
//!     "verdict":"completed","rounds":[{"took":2000000000}],"elapsed":2000000000}"#)?;
//! let table = ramline_evidence::proof::ProofTable::of(&[run]).ok_or("no runs")?;
//! assert_eq!(table.arms[0].seconds_per_round.as_ref().map(|m| m.median), Some(2.0));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod notes;

use ramline_units::{Bytes, Nanos};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::even::LEAST_FOR_SPLIT_S;
use crate::measurement::Measurement;
use crate::record::{Machine, RunRecord, SwapKind, Verdict};
use crate::sample::{Phase, Sample};
use crate::study::{self, LEAST_FOR_INTERVAL};

/// At most this many points of a run are kept for its chart.
const POINTS: usize = 60;

/// How the runs of an arm ended: the worst of them. In order, from good to bad.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// All rounds were done.
    Completed,
    /// No verdict was recorded: the run was cut short.
    #[default]
    Unfinished,
    /// The clock or the watchdog ended it while it was still going.
    Thrashing,
    /// The kernel killed it.
    Killed,
    /// It could not be run.
    Failed,
}

impl Outcome {
    /// The word in tables.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Outcome::Completed => "completed",
            Outcome::Unfinished => "unfinished",
            Outcome::Thrashing => "thrashing",
            Outcome::Killed => "killed",
            Outcome::Failed => "failed",
        }
    }

    fn of(verdict: &Verdict) -> (Outcome, Option<&str>) {
        match verdict {
            Verdict::Completed => (Outcome::Completed, None),
            Verdict::Unfinished => (Outcome::Unfinished, None),
            Verdict::Thrashing(why) => (Outcome::Thrashing, Some(why)),
            Verdict::Killed(why) => (Outcome::Killed, Some(why)),
            Verdict::Failed(why) => (Outcome::Failed, Some(why)),
        }
    }
}

/// One point of a run's progress.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Point {
    /// Seconds since the rounds began.
    pub at_s: f64,
    /// Rounds done by then, with the fraction of the running one.
    pub rounds: f64,
}

/// How a setting compares with the first one, in time per round.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Versus {
    /// Its time over that of the first setting.
    pub ratio: f64,
    /// The clock ran out before any progress: the true ratio is larger.
    pub at_least: bool,
    /// The difference may be claimed: at least 6 runs of both, and intervals that do not overlap.
    pub separated: bool,
    /// The claim in words, with what it rests on.
    pub sentence: String,
}

/// One setting: all its runs taken together. Counts and CPU times are per round, because runs that were cut short did less work;
/// medians over runs, in pages unless the unit says otherwise.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ProofArm {
    /// As given on the command line.
    pub name: String,
    /// The swap it had.
    pub swap: SwapKind,
    /// vm.swappiness of the group; `None`: as it was.
    pub swappiness: Option<u32>,
    /// Fill of the data: `zeros`, `text`, `random`.
    pub fill: String,
    /// Runs.
    pub n: u64,
    /// Runs that completed all rounds.
    pub completed: u64,
    /// The worst outcome.
    pub outcome: Outcome,
    /// The reason of that outcome, where it has one.
    pub why: Option<String>,
    /// Seconds per round.
    pub seconds_per_round: Option<Measurement>,
    /// Where the clock ran out without any progress: a round takes longer than this many seconds.
    pub more_than_s: Option<f64>,
    /// Rounds done.
    pub rounds: Option<Measurement>,
    /// Seconds of user time per round; `None` where the ticks are too few to tell user from system time.
    pub user_s: Option<Measurement>,
    /// Seconds of system time per round; direct reclaim is in here. `None` as above.
    pub system_s: Option<Measurement>,
    /// Major faults per round.
    pub major_faults: Option<Measurement>,
    /// Refaulted file pages per round.
    pub refault_file: Option<Measurement>,
    /// Refaulted anonymous pages per round.
    pub refault_anon: Option<Measurement>,
    /// Pages swapped in per round.
    pub swap_in: Option<Measurement>,
    /// Pages swapped out per round.
    pub swap_out: Option<Measurement>,
    /// Bytes read from disks per round.
    pub read_bytes: Option<Measurement>,
    /// Largest deviation of limit plus pool from nominal, as a share; arms with zram only.
    pub pool_deviation: Option<f64>,
    /// Against the first arm; `None` for the first itself and where nothing can be compared.
    pub versus_first: Option<Versus>,
    /// Progress of the first run.
    pub timeline: Vec<Point>,
    /// What qualifies the runs: bystanders hurt, settings that did not take.
    pub notes: Vec<String>,
}

/// All arms of one experiment.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ProofTable {
    /// Which experiment.
    pub experiment: String,
    /// The machine of the first run.
    pub machine: Option<Machine>,
    /// One unit of the workload.
    pub unit: Bytes,
    /// Data and code together, ballast included.
    pub demand: Bytes,
    /// Nominal limit of the group.
    pub limit: Bytes,
    /// Demand less limit: what cannot stay in RAM.
    pub excess: Bytes,
    /// Rounds asked for.
    pub rounds: u32,
    /// Data in shared instead of private anonymous memory.
    pub shared: bool,
    /// Read-ahead of the scratch device.
    pub read_ahead: Bytes,
    /// The arms, in the order first run.
    pub arms: Vec<ProofArm>,
}

impl ProofTable {
    /// The table of these runs; `None` without runs. Runs of one arm are told by its name. Runs on an emulated processor are left
    /// out: their seconds prove nothing about a machine.
    #[must_use]
    pub fn of(runs: &[RunRecord]) -> Option<ProofTable> {
        let runs: Vec<&RunRecord> = runs.iter().filter(|run| !run.emulated).collect();
        let first = runs.first()?;
        let mut names: Vec<&str> = Vec::new();
        for run in &runs {
            if !names.contains(&run.arm.name.as_str()) {
                names.push(&run.arm.name);
            }
        }
        let mut arms: Vec<ProofArm> = names
            .into_iter()
            .filter_map(|name| arm(&runs.iter().copied().filter(|run| run.arm.name == name).collect::<Vec<_>>()))
            .collect();
        if let Some((base, others)) = arms.split_first_mut() {
            for other in others {
                other.versus_first = versus(base, other);
            }
        }
        let work = &first.workload;
        let excess = first.excess();
        Some(ProofTable {
            experiment: first.experiment.clone(),
            machine: Some(first.machine.clone()),
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
}

fn measured(runs: &[&RunRecord], unit: &str, value: impl Fn(&RunRecord) -> Option<f64>) -> Option<Measurement> {
    let values: Vec<f64> = runs.iter().filter_map(|run| value(run)).collect();
    Measurement::of(&values, unit, "counters and clock of the run's record", &[])
}

fn count(value: u64) -> f64 {
    value as f64
}

/// The share of one round; `None` where none was begun.
fn each(run: &RunRecord, value: f64) -> Option<f64> {
    let rounds = run.rounds_done();
    (rounds > 0.001).then(|| value / rounds)
}

fn arm(runs: &[&RunRecord]) -> Option<ProofArm> {
    let first = runs.first()?;
    // A run that failed to start says nothing about time or counts.
    let ran: Vec<&RunRecord> = runs.iter().copied().filter(|run| !matches!(run.verdict, Verdict::Failed(_))).collect();
    let ended = runs.iter().map(|run| Outcome::of(&run.verdict));
    let (outcome, why) = ended.max_by_key(|(outcome, _)| *outcome)?;
    let stuck = ran.iter().filter(|run| run.seconds_per_round().is_none()).map(|run| run.elapsed.as_secs_f64());
    let pages =
        |value: fn(&RunRecord) -> Option<u64>| measured(&ran, "pages", move |run| each(run, count(value(run)?)));
    // Below that the split is that of a few ticks; see [`even`](crate::even).
    let split = ran.iter().all(|run| run.user.as_secs_f64() + run.system.as_secs_f64() >= LEAST_FOR_SPLIT_S);
    let cpu = |value: fn(&RunRecord) -> Nanos| {
        split.then(|| measured(&ran, "s", move |run| each(run, value(run).as_secs_f64()))).flatten()
    };
    Some(ProofArm {
        name: first.arm.name.clone(),
        swap: first.arm.swap.clone(),
        swappiness: first.arm.swappiness,
        fill: first.arm.fill.clone(),
        n: u64::try_from(runs.len()).ok()?,
        completed: u64::try_from(runs.iter().filter(|run| run.verdict == Verdict::Completed).count()).ok()?,
        outcome,
        why: why.map(str::to_owned),
        seconds_per_round: measured(&ran, "s", RunRecord::seconds_per_round),
        more_than_s: stuck.filter(|s| *s > 0.0).reduce(f64::max),
        rounds: measured(&ran, "rounds", |run| Some(run.rounds_done())),
        user_s: cpu(|run| run.user),
        system_s: cpu(|run| run.system),
        major_faults: measured(&ran, "faults", |run| each(run, count(run.reclaim.major_faults))),
        refault_file: pages(|run| run.reclaim.refault_file),
        refault_anon: pages(|run| run.reclaim.refault_anon),
        swap_in: pages(|run| run.reclaim.swap_in),
        swap_out: pages(|run| run.reclaim.swap_out),
        read_bytes: measured(&ran, "bytes", |run| each(run, run.reclaim.read_bytes?.as_f64())),
        pool_deviation: ran.iter().filter_map(|run| run.pool?.deviation()).reduce(f64::max),
        versus_first: None,
        timeline: ran.first().map(|run| timeline(run)).unwrap_or_default(),
        notes: notes::of(runs),
    })
}

fn versus(base: &ProofArm, other: &ProofArm) -> Option<Versus> {
    let base = base.seconds_per_round.as_ref()?;
    // A run without any progress is slower than every run with some: its bound alone is what can be said.
    if let Some(bound) = other.more_than_s.filter(|bound| *bound > 0.0 && base.median > 0.0) {
        let ratio = bound / base.median;
        let sentence = format!("more than {ratio:.1} times as much; not one round was done before the clock ran out");
        let enough = base.n.min(other.n) >= LEAST_FOR_INTERVAL as u64;
        return Some(Versus { ratio, at_least: true, separated: enough && bound > base.max, sentence });
    }
    let compared = study::compare(base, other.seconds_per_round.as_ref()?);
    let ratio = compared.ratio_of_medians?;
    Some(Versus { ratio, at_least: false, separated: compared.is_claimed(), sentence: compared.sentence() })
}

/// Rounds over time, thinned to at most [`POINTS`] points. The last one is where the run ended, which no look every 100 ms hits.
#[must_use]
pub fn timeline(run: &RunRecord) -> Vec<Point> {
    let rounds: Vec<&Sample> = run.samples.iter().filter(|s| matches!(s.phase, Phase::Rounds | Phase::Done)).collect();
    let Some(start) = rounds.first().map(|s| s.at) else { return Vec::new() };
    let step = rounds.len().div_ceil(POINTS).max(1);
    let last = rounds.len() - 1;
    let kept = rounds.iter().enumerate().filter(|(index, _)| index % step == 0 || *index == last);
    let mut points: Vec<Point> = kept
        .map(|(_, s)| {
            let fraction = if s.phase == Phase::Rounds { s.fraction } else { 0.0 };
            Point { at_s: s.at.as_secs_f64() - start.as_secs_f64(), rounds: f64::from(s.rounds) + fraction }
        })
        .collect();
    let end = Point { at_s: run.elapsed.as_secs_f64(), rounds: run.rounds_done() };
    if end.at_s > 0.0 {
        // A look after the end saw nothing new; its time is not the run's.
        points.retain(|point| point.at_s < end.at_s && point.rounds <= end.rounds);
        points.push(end);
    }
    points
}

#[cfg(test)]
mod tests;
