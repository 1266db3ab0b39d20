//! A setting foretold: many runs of the simulator, over what the kernel leaves open and over what a cost may be.
//!
//! The middle of the runs is the forecast; its interval is for nine of ten of them, and of counts goes beyond on kernels that were only read.

use ramline_trace::generate::Load;
use ramline_units::JsonSchema;
use serde::Serialize;

use crate::enough;
use crate::margin;
pub use crate::range::Range;
use crate::recorded::{self, Recorded};
use ramline_sim::chance::{self, Chance};
use ramline_sim::load::Compact;
use ramline_sim::memory::{Counts, Setting};
use ramline_sim::rivals::Simpler;
use ramline_sim::run::{self, End, Outcome};

/// Runs of each setting, if not told otherwise.
pub const RUNS: u32 = 32;

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

/// What is foretold, or was measured, of one setting.
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
    /// Pages of files a round that come back.
    pub refault_file: Option<Range>,
    /// Part of the time that is spent waiting for disks; this and what follows is foretold and not measured.
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

/// Of a simulated setting: its figures, and what they are made of as far as settings are compared.
#[derive(Debug, Clone, PartialEq)]
pub struct Simulated {
    /// The figures.
    pub figures: Figures,
    /// Of each run the seconds of a round; without bound where it was killed or did not get through one. A run has the same place, and meets with the same
    /// chance, under every setting.
    pub rounds: Vec<f64>,
}

/// One run, simulated or measured.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Seen {
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
    pub beside: Option<Beside>,
}

/// Of a simulated run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Beside {
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
    pub fn of(runs: &[Seen]) -> Option<Figures> {
        let votes = |verdict| runs.iter().filter(|run| run.verdict == verdict).count();
        let verdict = [Verdict::Fine, Verdict::Thrashing, Verdict::Killed].into_iter().max_by_key(|one| votes(*one))?;
        let each = |pick: fn(&Seen) -> f64| {
            Range::of(runs.iter().filter(|run| run.rounds > 0.0).map(|run| pick(run) / run.rounds).collect())
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
}

impl Figures {
    /// Of a recording: it takes longer than with enough memory.
    #[must_use]
    pub fn is_slower(&self) -> bool {
        self.slower.is_some_and(|range| range.high >= recorded::JUST_AS_LONG)
    }

    /// Counts, of memory and of files, may be so much less or more than in any run.
    fn within(self, [memory, files]: [f64; 2]) -> Figures {
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
fn early_share(runs: &[Seen]) -> Option<f64> {
    let parts = runs.iter().map(|run| run.beside?.recorded.map(|one| (one.early, one.left)));
    let (early, left) =
        parts.collect::<Option<Vec<_>>>()?.into_iter().fold((0.0, 0.0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
    Some(if left > 0.0 { early / left } else { 0.0 })
}

/// Of what runs know that came to something.
fn all(runs: &[Seen], pick: fn(&Seen) -> Option<f64>) -> Option<Range> {
    Range::of(runs.iter().filter(|run| run.rounds > 0.0).filter_map(pick).collect())
}

#[expect(clippy::cast_precision_loss, reason = "counts of a run")]
fn seen(outcome: &Outcome) -> Seen {
    let verdict = match outcome.end {
        End::Fine => Verdict::Fine,
        End::Thrashing => Verdict::Thrashing,
        End::Killed => Verdict::Killed,
    };
    Seen {
        verdict,
        rounds: outcome.rounds,
        seconds: outcome.took as f64 / 1e9,
        major: outcome.counts.major as f64,
        swap_in: outcome.counts.swap_in as f64,
        refault_file: outcome.counts.refault[1] as f64,
        beside: Some(Beside {
            waiting: outcome.waited as f64 / outcome.took.max(1) as f64,
            disk_read: (outcome.counts.fetched * 4096) as f64,
            disk_written: (outcome.counts.written * 4096) as f64,
            zram: (outcome.pool > 0).then_some(outcome.pool as f64),
            recorded: None,
        }),
    }
}

/// A run of a recording beside the same with enough memory, which reads what it reads in any case.
#[expect(clippy::cast_precision_loss, reason = "counts of a run")]
fn beyond(run: &Outcome, alone: &Outcome) -> Seen {
    let seen = seen(run);
    // What was done of it in time would have read as large a part of that.
    let less = |count: f64, of: u64| (count - of as f64 * seen.rounds).max(0.0);
    let Counts { stolen, early, .. } = run.counts;
    let recorded = OfRecording {
        alone: alone.took.max(1) as f64 / 1e9,
        left: (stolen[0] + stolen[1]) as f64,
        early: early as f64,
    };
    let beside = seen.beside.map(|beside| Beside {
        disk_read: less(beside.disk_read, alone.counts.fetched * 4096),
        recorded: Some(recorded),
        ..beside
    });
    Seen { major: less(seen.major, alone.counts.major), beside, ..seen }
}

/// Foretells one setting of a load: [`RUNS`] runs from a seed; `length` gives what a page of a region compresses to. `None` if the load has more
/// pages than have numbers.
#[must_use]
pub fn load(
    load: &Load,
    setting: &Setting,
    timeout: u64,
    seed: u64,
    length: impl Fn(u32, u64) -> u16,
) -> Option<Figures> {
    Some(compact(&[Compact::of(load)?], setting, timeout, (seed, RUNS), length)?.figures)
}

/// Foretells one setting of a load that is decoded already, as it is for several settings, or of several that it may be, which take turns; in so many runs, or up to four times as many
/// where their middle is not known otherwise ([`enough`]).
#[must_use]
pub fn compact(
    loads: &[Compact],
    setting: &Setting,
    timeout: u64,
    (seed, runs): (u64, u32),
    length: impl Fn(u32, u64) -> u16,
) -> Option<Simulated> {
    let first = loads.first()?;
    let pages = run::pages(first, length);
    let one = |(load, draw)| {
        let (chance, setting) = Chance::of(load, setting, &draw);
        let alone = load.recorded.then(|| recorded::alone(load, pages.clone(), &setting, chance));
        let run = run::compact(load, pages.clone(), setting, timeout, chance);
        alone.map_or_else(|| seen(&run), |alone| beyond(&run, &alone))
    };
    let batch = |seed| loads.iter().cycle().zip(chance::draws(runs, seed)).map(one).collect();
    let all = enough::until_settled(seed, batch);
    let figures = Figures { simulations: Some(all.len()), unsettled: !enough::is_settled(&all), ..Figures::of(&all)? };
    let margin = if first.recorded { margin::of_recording } else { margin::of };
    let figures = figures.within(margin(&setting.kernel, first.files()));
    let round = |run: &Seen| match run.verdict {
        Verdict::Killed => f64::INFINITY,
        _ if run.rounds <= 0.0 => f64::INFINITY,
        _ => run.seconds / run.rounds,
    };
    Some(Simulated { figures, rounds: all.iter().map(round).collect() })
}

/// Foretold beside what was measured, setting by setting.
#[derive(Debug, Clone, PartialEq, Default, Serialize, JsonSchema)]
#[serde(default)]
pub struct Forecast {
    /// The experiment.
    pub experiment: String,
    /// What the group may have.
    pub limit: ramline_units::Bytes,
    /// The settings, in the order asked for.
    pub settings: Vec<Foretold>,
    /// Machine and program are those of a series that was measured (`--against`, `--verify`), so that it can be trusted far more than where they are assumed.
    pub calibrated: bool,
    /// Of settings of the same load on the same kernel, those that no other is better than: [`Forecast::front`].
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub front: Vec<String>,
    /// What is known of the recording that it is of, if it is of one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recorded: Option<Recorded>,
    /// What the costs rest on, and what is not simulated.
    pub notes: Vec<String>,
}

impl Forecast {
    /// The setting with the shortest round of those that end well in all runs, by its median, where it is shorter than every other.
    #[must_use]
    pub fn shortest(&self) -> Option<&Foretold> {
        let all = self
            .settings
            .iter()
            .filter(|setting| setting.ends_well())
            .filter_map(|setting| Some((setting, setting.round()?.median)));
        let (first, took) = all.clone().min_by(|a, b| a.1.total_cmp(&b.1))?;
        (all.filter(|(_, other)| *other <= took).count() == 1).then_some(first)
    }

    /// The settings that end well in all runs and that no other is better than (Pareto): in the limit, in the time of a round and in what it writes to a disk none is
    /// worse and one is better.
    #[must_use]
    pub fn front(&self) -> Vec<&str> {
        let cost = |setting: &Foretold| {
            let figures = setting.foretold.filter(|_| setting.ends_well())?;
            let written = figures.disk_written.map_or(0.0, |range| range.median);
            Some((setting.limit, figures.round?.median, written))
        };
        let all: Vec<_> =
            self.settings.iter().filter_map(|setting| Some((setting.name.as_str(), cost(setting)?))).collect();
        let is_better = |a: &(_, f64, f64), b: &(_, f64, f64)| a != b && a.0 <= b.0 && a.1 <= b.1 && a.2 <= b.2;
        let is_beaten = |one: &_| all.iter().any(|(_, other)| is_better(other, one));
        all.iter().filter(|(_, cost)| !is_beaten(cost)).map(|(name, _)| *name).collect()
    }

    /// Settings of which most runs end well and some are killed, where they are faster than this one.
    pub fn risky<'a>(&'a self, than: Option<&'a Foretold>) -> impl Iterator<Item = &'a Foretold> {
        let most_end_well =
            |setting: &Foretold| setting.foretold.is_some_and(|figures| figures.verdict == Verdict::Fine);
        let is_faster =
            move |setting: &Foretold| than.is_none_or(|than| setting.times(than).is_some_and(|times| times < 1.0));
        self.settings.iter().filter(move |setting| most_end_well(setting) && !setting.ends_well() && is_faster(setting))
    }

    /// The names, as the lab has them, of what a measurement says most about: the setting without swap, and those with the shortest and the longest round.
    #[must_use]
    pub fn to_verify(&self) -> Vec<String> {
        let settings = self.settings.iter();
        let all = settings.filter_map(|setting| Some((setting.name.split(' ').next()?, setting.round()?.median)));
        let (least, most) = (all.clone().min_by(|a, b| a.1.total_cmp(&b.1)), all.max_by(|a, b| a.1.total_cmp(&b.1)));
        let mut chosen: Vec<String> = Vec::new();
        for name in [Some("no-swap"), least.map(|one| one.0), most.map(|one| one.0)].into_iter().flatten() {
            if !chosen.iter().any(|known| known == name) {
                chosen.push(name.to_owned());
            }
        }
        chosen
    }

    /// The setting with the longest round, and how many times as long it is as this one.
    #[must_use]
    pub fn slowest(&self, than: &Foretold) -> Option<(&Foretold, f64)> {
        let all = self.settings.iter().filter_map(|setting| Some((setting, setting.times(than)?)));
        all.filter(|(setting, _)| setting.name != than.name).max_by(|a, b| a.1.total_cmp(&b.1))
    }

    /// Of the figures that were measured too, how many lie in the interval foretold, and how many there are.
    #[must_use]
    pub fn held(&self) -> Option<(u32, u32)> {
        let each = self.settings.iter().filter_map(Foretold::held);
        each.reduce(|(held, all), (more, of)| (held + more, all + of))
    }
}

/// One setting.
#[derive(Debug, Clone, PartialEq, Default, Serialize, JsonSchema)]
#[serde(default)]
pub struct Foretold {
    /// Its name in the lab.
    pub name: String,
    /// What the group may have.
    pub limit: ramline_units::Bytes,
    /// What is foretold; `None` where it is not simulated.
    pub foretold: Option<Figures>,
    /// What the lab measured.
    pub measured: Option<Figures>,
    /// Of each simulation the seconds of a round, by draw ([`Simulated`]).
    #[serde(skip)]
    pub rounds: Vec<f64>,
    /// Runs of the lab.
    pub runs: u32,
    /// What models of one list and of two say instead; only beside what was measured.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub simpler: Option<Simpler>,
}

impl Foretold {
    /// It is done in time in most runs, and killed in none.
    #[must_use]
    pub fn ends_well(&self) -> bool {
        self.foretold.is_some_and(|figures| figures.verdict == Verdict::Fine && figures.killed <= 0.0)
    }

    /// What a round is foretold to take.
    #[must_use]
    pub fn round(&self) -> Option<Range> {
        self.foretold?.round
    }

    /// How many times as long as that of another its round is foretold to take.
    #[must_use]
    pub fn times(&self, than: &Foretold) -> Option<f64> {
        Some(self.round()?.median / than.round()?.median)
    }

    /// Whether the intervals hold what was measured, figure by figure: how many of how many.
    #[must_use]
    pub fn held(&self) -> Option<(u32, u32)> {
        let (foretold, measured) = (self.foretold?, self.measured?);
        // A recording has no time of its own to be held against: it was made under a recorder.
        let round = foretold.round.filter(|_| foretold.slower.is_none());
        if foretold.unknown_counts {
            return None;
        }
        let pairs = [
            (round, measured.round),
            (foretold.major, measured.major),
            (foretold.swap_in, measured.swap_in),
            (foretold.refault_file, measured.refault_file),
        ];
        let both = pairs.into_iter().filter_map(|(a, b)| Some((a?, b?.median)));
        Some(both.fold((0, 0), |(held, all), (range, value)| (held + u32::from(range.holds(value)), all + 1)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::setting;

    #[test]
    fn of_runs_that_end_in_different_ways_the_part_that_was_killed_is_told() {
        let run = |verdict| Seen {
            verdict,
            rounds: 1.0,
            seconds: 1.0,
            major: 0.0,
            swap_in: 0.0,
            refault_file: 0.0,
            beside: None,
        };
        let figures = Figures::of(&[Verdict::Fine, Verdict::Killed, Verdict::Fine, Verdict::Fine].map(run)).unwrap();
        assert_eq!((figures.verdict, figures.killed), (Verdict::Fine, 0.25));
    }

    #[test]
    fn so_many_simulations_are_made_as_were_asked_for_where_they_are_alike() {
        let load = Compact::of(&Load::named("heap", 1 << 20, 2, 7).unwrap()).unwrap();
        let setting = setting();
        let figures = compact(&[load], &setting, u64::MAX, (7, 9), |_, _| 1000).unwrap();
        let (figures, rounds) = (figures.figures, figures.rounds);
        assert_eq!((figures.simulations, figures.unsettled, rounds.len()), (Some(9), false, 9));
    }

    #[test]
    fn the_front_has_what_no_other_is_better_than() {
        let setting = |name: &str, limit: u64, round: f64, written: f64, verdict: Verdict| {
            let of = |value: f64| Some(Range { median: value, low: value, high: value });
            let figures = Figures { verdict, round: of(round), disk_written: of(written), ..Figures::default() };
            let limit = ramline_units::Bytes(limit);
            Foretold { name: name.to_owned(), limit, foretold: Some(figures), ..Foretold::default() }
        };
        let mut settings = vec![
            setting("small and slow", 100, 3.0, 0.0, Verdict::Fine),
            setting("large and fast", 200, 1.0, 0.0, Verdict::Fine),
            setting("small, fast, and writes", 100, 1.0, 9.0, Verdict::Fine),
            setting("as large and slower", 200, 2.0, 0.0, Verdict::Fine),
            setting("the same as another", 200, 1.0, 0.0, Verdict::Fine),
            setting("smallest, and never done", 50, 0.5, 0.0, Verdict::Thrashing),
            setting("fastest, and killed now and then", 50, 0.25, 0.0, Verdict::Fine),
        ];
        if let Some(figures) = settings.last_mut().and_then(|setting| setting.foretold.as_mut()) {
            figures.killed = 0.25;
        }
        let forecast = Forecast { settings, ..Forecast::default() };
        assert_eq!(
            forecast.front(),
            ["small and slow", "large and fast", "small, fast, and writes", "the same as another"]
        );
        let risky: Vec<&str> = forecast.risky(forecast.settings.first()).map(|setting| setting.name.as_str()).collect();
        assert_eq!(risky, ["fastest, and killed now and then"]);
    }
}
