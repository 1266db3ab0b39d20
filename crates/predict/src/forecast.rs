//! Monte Carlo forecast of one setting: many simulations over unknown kernel state and uncertain costs.
//!
//! The median of the runs is the forecast; its interval is for nine of ten of them, and of counts wider on kernels that were only read.

use ramline_trace::generate::Load;

pub use crate::comparison::{Forecast, SettingForecast};
use crate::enough;
pub use crate::figures::{Figures, RunFigures, Verdict};
use crate::figures::{OfRecording, SimulatedOnly};
use crate::margin;
pub use crate::range::Range;
use crate::recorded;
use ramline_sim::chance::{self, Chance};
use ramline_sim::load::Compact;
use ramline_sim::memory::{Counts, Setting};
use ramline_sim::run::{self, End, Outcome};

/// Runs of each setting, unless another number is asked for.
pub const RUNS: u32 = 32;

/// Of a simulated setting: its figures, and what they are made of as far as settings are compared.
#[derive(Debug, Clone, PartialEq)]
pub struct Simulated {
    /// The figures.
    pub figures: Figures,
    /// Of each run the seconds of a round; without bound where it was killed or did not get through one. A run has the same place, and meets with the same
    /// chance, under every setting.
    pub rounds: Vec<f64>,
}

#[expect(clippy::cast_precision_loss, reason = "counts of a run")]
fn figures_of_run(outcome: &Outcome) -> RunFigures {
    let verdict = match outcome.end {
        End::Fine => Verdict::Fine,
        End::Thrashing => Verdict::Thrashing,
        End::Killed => Verdict::Killed,
    };
    RunFigures {
        verdict,
        rounds: outcome.rounds,
        seconds: outcome.took as f64 / 1e9,
        major: outcome.counts.major as f64,
        swap_in: outcome.counts.swap_in as f64,
        refault_file: outcome.counts.refault[1] as f64,
        beside: Some(SimulatedOnly {
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
fn beyond(run: &Outcome, alone: &Outcome) -> RunFigures {
    let figures = figures_of_run(run);
    // What was done of it in time would have read as large a part of that.
    let less = |count: f64, of: u64| (count - of as f64 * figures.rounds).max(0.0);
    let Counts { stolen, early, .. } = run.counts;
    let recorded = OfRecording {
        alone: alone.took.max(1) as f64 / 1e9,
        left: (stolen[0] + stolen[1]) as f64,
        early: early as f64,
    };
    let beside = figures.beside.map(|beside| SimulatedOnly {
        disk_read: less(beside.disk_read, alone.counts.fetched * 4096),
        recorded: Some(recorded),
        ..beside
    });
    RunFigures { major: less(figures.major, alone.counts.major), beside, ..figures }
}

/// The forecast of one setting of a load: [`RUNS`] runs from a seed; `length` gives what a page of a region compresses to. `None` if the load has more
/// pages than have numbers.
#[must_use]
pub fn load(
    load: &Load,
    setting: &Setting,
    timeout: u64,
    seed: u64,
    length: impl Fn(u32, u64) -> u16,
) -> Option<Figures> {
    Some(compact(&[Compact::decode(load)?], setting, timeout, (seed, RUNS), length)?.figures)
}

/// The forecast of one setting of a load that is decoded already, or of several that it may be, which take turns; in so many runs, or up to four times as many
/// where their median is uncertain otherwise ([`enough`]).
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
        let (chance, setting) = Chance::from_draw(load, setting, &draw);
        let alone = load.recorded.then(|| recorded::alone(load, pages.clone(), &setting, chance));
        let run = run::compact(load, pages.clone(), setting, timeout, chance);
        alone.map_or_else(|| figures_of_run(&run), |alone| beyond(&run, &alone))
    };
    let batch = |seed| loads.iter().cycle().zip(chance::draws(runs, seed)).map(one).collect();
    let all = enough::until_settled(seed, batch);
    let figures =
        Figures { simulations: Some(all.len()), unsettled: !enough::is_settled(&all), ..Figures::from_runs(&all)? };
    let margin = if first.recorded { margin::for_recording } else { margin::for_kernel };
    let figures = figures.widened_by(margin(&setting.kernel, first.files()));
    let round = |run: &RunFigures| match run.verdict {
        Verdict::Killed => f64::INFINITY,
        _ if run.rounds <= 0.0 => f64::INFINITY,
        _ => run.seconds / run.rounds,
    };
    Some(Simulated { figures, rounds: all.iter().map(round).collect() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::setting;

    #[test]
    fn no_more_simulations_are_made_than_asked_for_where_they_are_alike() {
        let load = Compact::decode(&Load::named("heap", 1 << 20, 2, 7).unwrap()).unwrap();
        let setting = setting();
        let figures = compact(&[load], &setting, u64::MAX, (7, 9), |_, _| 1000).unwrap();
        let (figures, rounds) = (figures.figures, figures.rounds);
        assert_eq!((figures.simulations, figures.unsettled, rounds.len()), (Some(9), false, 9));
    }
}
