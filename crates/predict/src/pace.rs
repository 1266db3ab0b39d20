//! How fast a machine was, by how long something took there.
//!
//! A simulation with each of several paces takes so long; the one that takes as long as the runs did is theirs. What a run counts hardly says anything
//! about its pace, so a time of a series leaves its counts to be forecast.

use crate::forecast::{RUNS, Range};
use crate::root;
use crate::workers::Workers;
use ramline_sim::chance::{self, Chance, Draw};
use ramline_sim::cost::{self, Costs, Disk, Pace};
use ramline_sim::load::Compact;
use ramline_sim::memory::Setting;
use ramline_sim::run::Pages;
use ramline_sim::run::{self, Outcome};

/// Runs of one step of the search, and steps: few runs say where to look, as many as a forecast has what is there. Where they lead astray, as many look everywhere.
const COARSE: (u32, u32) = (5, 7);
const FINE: (u32, u32) = (RUNS, 6);
const EVERYWHERE: (u32, u32) = (RUNS, 10);
/// It is at most so many times faster or slower than it is taken to be, as a power of two.
const BOUNDS: [f64; 2] = [-5.0, 10.0];
/// The search with many runs looks so far to both sides of what the one with few has found.
const OFF: f64 = 0.5;
/// Two paces are looked for until rounds take by them what was measured to the first of these parts; they are known where they do to the second.
const SAME: f64 = 0.005;
const NEAR: f64 = 0.05;
/// Fewer runs than so many may be alike by chance: then times are taken to differ by so many times at least.
const FEW: usize = 5;
const ALIKE: f64 = 1.25;

/// The measured time by which a speed is found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PaceBy {
    /// That of a processor, by how long memory took to fill.
    Fill,
    /// That of a processor, by its own time in a round.
    Work,
    /// That of the disks, by how long a round took.
    Round,
    /// The same of a guest on an emulated processor, beside which disks may take next to nothing.
    EmulatedRound,
}

/// A load in a setting whose times were measured.
pub struct Timed<'a> {
    load: &'a Compact,
    setting: Setting,
    pages: Pages,
    timeout: u64,
    seed: u64,
    most: u32,
    workers: Workers<'a>,
}

impl<'a> Timed<'a> {
    /// Simulated up to `most` times, from a seed, by `workers`: a search has one setting, so that its runs are what can be done side by side. `length` gives what a page of a
    /// region compresses to.
    #[must_use]
    pub fn new(
        load: &'a Compact,
        setting: Setting,
        timeout: u64,
        (seed, most): (u64, u32),
        length: impl Fn(u32, u64) -> u16,
        workers: Workers<'a>,
    ) -> Timed<'a> {
        Timed { load, setting, pages: run::pages(load, length), timeout, seed, most, workers }
    }

    /// Seconds in the middle of so many runs with such costs.
    fn takes(&self, costs: Costs, by: PaceBy, runs: u32) -> f64 {
        let setting = Setting { costs, ..self.setting.clone() };
        // Of a fill the rounds are no part.
        let timeout = if by == PaceBy::Fill { 0 } else { self.timeout };
        let one = |draw: &Draw| {
            let (chance, setting) = Chance::from_draw(self.load, &setting, draw);
            seconds(&run::compact(self.load, self.pages.clone(), setting, timeout, chance), by)
        };
        let draws: Vec<Draw> = chance::draws(runs.min(self.most), self.seed).collect();
        Range::from_values(self.workers.in_parts(&draws, one)).map_or(0.0, |range| range.median)
    }

    /// How many times slower a processor or the disks were than the setting has them, by the seconds of its runs. Paces differ from run to run by `spread`, and other costs as the
    /// setting says, as they do in its forecast: where two differ, the middle of their sum is above the sum of their middles. `None` where no pace within bounds explains the time,
    /// but the fastest of the search for an [`PaceBy::EmulatedRound`] that is too short.
    #[must_use]
    pub fn pace(&self, by: PaceBy, took: &[f64], spread: f64) -> Option<f64> {
        let middle = Range::from_values(took.to_vec())?.median;
        let takes =
            |times: f64, runs: u32| self.takes(slower(self.setting.costs, by, Pace { times, spread }), by, runs);
        let [low, high] = BOUNDS;
        if takes(low.exp2(), RUNS) >= middle {
            let is_fast = by == PaceBy::EmulatedRound && middle > 0.0;
            return is_fast.then(|| low.exp2());
        }
        (middle < takes(high.exp2(), RUNS)).then_some(())?;
        let search = |[mut low, mut high]: [f64; 2], (runs, steps): (u32, u32)| {
            for _ in 0..steps {
                let between = f64::midpoint(low, high);
                if takes(between.exp2(), runs) < middle { low = between } else { high = between }
            }
            f64::midpoint(low, high)
        };
        let about = search(BOUNDS, COARSE);
        let [near, far] = [about - OFF, about + OFF];
        let is_there = takes(near.exp2(), RUNS) < middle && middle <= takes(far.exp2(), RUNS);
        Some(if is_there { search([near, far], FINE) } else { search(BOUNDS, EVERYWHERE) }.exp2())
    }
}

/// Paces of a disk's requests and of their pages, by the seconds of rounds of two settings that read unlike, with that of both to begin from; `None` where none are found that explain
/// both times to 5 %.
#[must_use]
pub fn parted(settings: [&Timed<'_>; 2], took: [&[f64]; 2], both: Disk) -> Option<Disk> {
    let [short, long] = took.map(|took| Range::from_values(took.to_vec()).map(|range| range.median));
    let took = [short?, long?];
    let disk = |[request, page]: [f64; 2]| Disk { request, page, ..both };
    // What part of each time is too much.
    let off = |paces: [f64; 2]| {
        [0, 1].map(|one: usize| {
            let costs = settings[one].setting.costs.with_disk(disk(paces));
            settings[one].takes(costs, PaceBy::Round, FINE.0) / took[one] - 1.0
        })
    };
    let (paces, left) = root::near([both.request, both.page], BOUNDS.map(f64::exp2), SAME, off);
    (left < NEAR).then_some(disk(paces))
}

/// Costs where what such a pace is of takes so many times as long.
fn slower(costs: Costs, by: PaceBy, pace: Pace) -> Costs {
    match by {
        PaceBy::Fill | PaceBy::Work => costs.with_processor(pace),
        PaceBy::Round | PaceBy::EmulatedRound => costs.with_disk(Disk::same_pace(pace)),
    }
}

#[expect(clippy::cast_precision_loss, reason = "nanoseconds of a run")]
fn seconds(run: &Outcome, by: PaceBy) -> f64 {
    let of_a_round = |ns: u64| ns as f64 / 1e9 / run.rounds.max(f64::MIN_POSITIVE);
    match by {
        PaceBy::Fill => run.fill as f64 / 1e9,
        PaceBy::Work => of_a_round(run.took - run.waited),
        PaceBy::Round | PaceBy::EmulatedRound => of_a_round(run.took),
    }
}

/// Uncertainty factor of values around their median: two standard deviations of their logarithms. One alone says nothing about it.
#[must_use]
#[expect(clippy::cast_precision_loss, reason = "a number of runs")]
pub fn spread(values: &[f64]) -> f64 {
    let (n, logs) = (values.len() as f64, values.iter().map(|value| value.ln()));
    if values.len() < 2 {
        return cost::MEASURED_SPREAD;
    }
    let mean = logs.clone().sum::<f64>() / n;
    let variance = logs.map(|log| (log - mean).powi(2)).sum::<f64>() / (n - 1.0);
    let spread = (2.0 * variance.sqrt()).exp();
    if values.len() < FEW { spread.max(ALIKE) } else { spread }
}

#[cfg(test)]
mod tests {
    use ramline_trace::generate::{CodePlusData, Load};

    use super::*;
    use crate::tests::setting;
    use ramline_sim::cost::Spread;
    use ramline_sim::load::Overhead;
    use ramline_sim::memory::SwapTo;

    fn length(_: u32, _: u64) -> u16 {
        2000
    }

    fn timed<'a>(load: &'a Compact, setting: &Setting, most: u32) -> Timed<'a> {
        Timed::new(load, setting.clone(), u64::MAX, (7, most), length, Workers::ONE)
    }

    /// Costs differ from run to run, so that rounds in the middle take longer than with those in the middle.
    #[test]
    fn a_pace_is_found_by_the_time_of_a_round_or_of_the_fill_or_none_is_named() {
        const SPREAD: f64 = 1.5;
        let load = Compact::decode(&Load::named("heap", 4 << 20, 2, 256).unwrap()).unwrap();
        for (by, swap) in [
            (PaceBy::Round, SwapTo::Disk),
            (PaceBy::EmulatedRound, SwapTo::Disk),
            (PaceBy::Work, SwapTo::Disk),
            (PaceBy::Fill, SwapTo::Zram),
        ] {
            let known = Setting { limit: 3 << 8, swap, slots: 16 << 8, ..setting() };
            let timed = timed(&load, &known, RUNS);
            let took = timed.takes(slower(known.costs, by, Pace { times: 6.0, spread: SPREAD }), by, RUNS);
            let found = |took: &[f64]| timed.pace(by, took, SPREAD);
            let times = found(&[0.9 * took, took, 1.1 * took]).unwrap();
            assert!((5.9..6.1).contains(&times), "{by:?}: {times}");
            assert_eq!(found(&[1e-9]), (by == PaceBy::EmulatedRound).then(|| BOUNDS[0].exp2()), "{by:?}");
            assert_eq!([found(&[1e9]), found(&[])], [None, None], "{by:?}");
        }
    }

    #[test]
    fn paces_of_requests_and_of_their_pages_are_found_by_two_settings_that_read_unlike() {
        const SIMULATIONS: u32 = 9;
        let load =
            Load::CodePlusData(CodePlusData { unit: 1 << 19, code: 3, data: 14, rounds: 2, seed: 256, shared: false });
        let load = Compact::decode(&load).unwrap().with_overhead(Overhead { idle: 0, pages: [202, 202] });
        let with = |swap| {
            let known = setting();
            let costs = Costs { spread: Spread::same(1.2), ..known.costs };
            Setting { limit: 16 << 7, swap, slots: 16 << 7, costs, ..known }
        };
        // Without swap it reads 32 pages at once, with it single ones and clusters of 8 too.
        let both = [SwapTo::Disk, SwapTo::Nowhere].map(|swap| timed(&load, &with(swap), SIMULATIONS));
        let [short, long] = &both;
        let slow = Disk { request: 3.0, page: 0.5, spread: 1.2 };
        let took = both.each_ref().map(|timed| {
            let costs = timed.setting.costs.with_disk(slow);
            [timed.takes(costs, PaceBy::Round, SIMULATIONS)]
        });
        let found = |settings, took: [&[f64]; 2]| parted(settings, took, Disk { request: 1.0, page: 1.0, ..slow });
        let disk = found([short, long], [&took[0], &took[1]]).unwrap();
        let Disk { request, page, spread } = disk;
        assert!((2.95..3.05).contains(&request) && (0.49..0.51).contains(&page), "{disk:?}");
        assert_eq!(spread, slow.spread);
        // By two settings that are alike, or times that no disk gives, neither is known.
        assert_eq!(found([short, short], [&took[0], &[9.0 * took[0][0]]]), None);
        assert_eq!([found([short, long], [&[1e9], &took[1]]), found([short, long], [&took[0], &[]])], [None; 2]);
    }

    #[test]
    fn few_times_are_taken_to_differ_and_one_says_nothing() {
        assert_eq!([spread(&[1.0; 4]), spread(&[1.0; 5]), spread(&[1.0])], [ALIKE, 1.0, cost::MEASURED_SPREAD]);
    }
}
