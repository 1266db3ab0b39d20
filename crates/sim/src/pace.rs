//! How fast a machine was, by how long something took there.
//!
//! A simulation with each of several paces takes so long; the one that takes as long as the runs did is theirs. What a run counts hardly says anything
//! about its pace, so a time of a series leaves its counts to be foretold.

use std::{panic, thread};

use crate::chance::{self, Chance, Draw};
use crate::cost::{self, Costs, Disk, Pace, Spread};
use crate::forecast::Range;
use crate::load::Compact;
use crate::run::{self, Outcome};
use crate::setting::Setting;

/// Runs of one step of the search, and steps: few runs say where to look, many what is there.
const COARSE: (u32, u32) = (5, 7);
const FINE: (u32, u32) = (25, 6);
/// It is at most so many times faster or slower than it is taken to be, as a power of two.
const BOUNDS: [f64; 2] = [-5.0, 10.0];
/// The search with many runs looks so far to both sides of what the one with few has found.
const OFF: f64 = 0.5;
/// Two paces that depend on each other are known where the last turn changed one by less than so many times; turns at most. A search is as fine as 1.01.
const SAME: f64 = 1.02;
const TURNS: usize = 6;
/// Fewer runs than so many may be alike by chance: then times are taken to differ by so many times at least.
const FEW: usize = 5;
const ALIKE: f64 = 1.25;

/// By what a pace is found.
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
    /// That of what a request to a disk takes at all, by how long a round took.
    Requests,
    /// That of each page of a request, by the same.
    Pages,
}

/// How many times slower a processor or the disks were than a setting has them, by the seconds of its runs,
/// simulated up to `most` times at once. `None` where no pace within bounds explains the time, but the fastest of the search for an [`PaceBy::EmulatedRound`] that is too short.
#[must_use]
pub fn found(
    load: &Compact,
    setting: &Setting,
    timeout: u64,
    seed: u64,
    length: impl Fn(u32, u64) -> u16,
    (by, took, most): (PaceBy, &[f64], u32),
) -> Option<f64> {
    let middle = Range::of(took.to_vec())?.median;
    let pages = run::pages(load, length);
    // Of a fill the rounds are no part.
    let timeout = if by == PaceBy::Fill { 0 } else { timeout };
    let takes = |times: f64, runs: u32| {
        let costs = Costs { spread: Spread::of_all(1.0), ..slower(setting.costs, by, times) };
        let setting = Setting { costs, ..setting.clone() };
        let one = |draw: &Draw| {
            let (chance, setting) = Chance::of(load, &setting, draw);
            seconds(&run::compact(load, pages.clone(), setting, timeout, chance), by)
        };
        let draws: Vec<Draw> = chance::draws(runs.min(most), seed).collect();
        Range::of(on_all_processors(&draws, one)).map_or(0.0, |range| range.median)
    };
    let [low, high] = BOUNDS;
    if takes(low.exp2(), COARSE.0) >= middle {
        let is_fast = by == PaceBy::EmulatedRound && middle > 0.0;
        return is_fast.then(|| low.exp2());
    }
    (middle < takes(high.exp2(), COARSE.0)).then_some(())?;
    let search = |[mut low, mut high]: [f64; 2], (runs, steps): (u32, u32)| {
        for _ in 0..steps {
            let between = f64::midpoint(low, high);
            if takes(between.exp2(), runs) < middle { low = between } else { high = between }
        }
        f64::midpoint(low, high)
    };
    let about = search(BOUNDS, COARSE);
    Some(search([about - OFF, about + OFF], FINE).exp2())
}

/// Paces of a disk's requests and of their pages, each by a `search` in the rounds of a setting of its own, with that of both to begin from; `None` where a search finds none.
/// Each search depends on what the other has found, so they take turns until the pace of a page stays the same to 2 %, six at most.
///
/// # Errors
/// Those of a search.
pub fn parted<E>(
    both: Disk,
    mut search: impl FnMut(PaceBy, Disk) -> Result<Option<f64>, E>,
) -> Result<Option<Disk>, E> {
    let mut disk = both;
    for _ in 0..TURNS {
        let before = disk.page;
        let Some(page) = search(PaceBy::Pages, Disk { page: 1.0, ..disk })? else { return Ok(None) };
        let Some(request) = search(PaceBy::Requests, Disk { request: 1.0, page, ..disk })? else { return Ok(None) };
        disk = Disk { request, page, ..disk };
        if (page / before).max(before / page) < SAME {
            break;
        }
    }
    Ok(Some(disk))
}

/// Costs where what such a pace is of takes so many times as long.
fn slower(costs: Costs, by: PaceBy, times: f64) -> Costs {
    let disk = |request, page| costs.with_disk(Disk { request, page, spread: 1.0 });
    match by {
        PaceBy::Fill | PaceBy::Work => costs.with_processor(Pace { times, spread: 1.0 }),
        PaceBy::Round | PaceBy::EmulatedRound => disk(times, times),
        PaceBy::Requests => disk(times, 1.0),
        PaceBy::Pages => disk(1.0, times),
    }
}

/// What becomes of each, in their order: a search has one setting, so that its runs are what can be done side by side.
fn on_all_processors<T: Sync, U: Send>(all: &[T], what: impl Fn(&T) -> U + Sync) -> Vec<U> {
    let threads = thread::available_parallelism().map_or(1, usize::from);
    let what = &what;
    thread::scope(|scope| {
        let parts = all.chunks(all.len().div_ceil(threads).max(1));
        let begun: Vec<_> = parts.map(|part| scope.spawn(move || part.iter().map(what).collect::<Vec<U>>())).collect();
        begun.into_iter().flat_map(|part| part.join().unwrap_or_else(|broken| panic::resume_unwind(broken))).collect()
    })
}

#[expect(clippy::cast_precision_loss, reason = "nanoseconds of a run")]
fn seconds(run: &Outcome, by: PaceBy) -> f64 {
    let of_a_round = |ns: u64| ns as f64 / 1e9 / run.rounds.max(f64::MIN_POSITIVE);
    match by {
        PaceBy::Fill => run.fill as f64 / 1e9,
        PaceBy::Work => of_a_round(run.took - run.waited),
        PaceBy::Round | PaceBy::EmulatedRound | PaceBy::Requests | PaceBy::Pages => of_a_round(run.took),
    }
}

/// So many times less or more than the middle values are: two standard deviations of their logarithms. One alone says nothing about it.
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
    use crate::forecast::RUNS;
    use crate::kernel::PRESETS;
    use crate::memory::tests::group;
    use crate::setting::SwapTo;

    fn length(_: u32, _: u64) -> u16 {
        2000
    }

    /// Seconds in the middle of so many simulations, whose costs do not differ.
    fn middle(load: &Compact, setting: &Setting, by: PaceBy, runs: u32) -> f64 {
        let setting = Setting { costs: Costs { spread: Spread::of_all(1.0), ..setting.costs }, ..setting.clone() };
        let pages = run::pages(load, length);
        let one = |draw: Draw| {
            let (chance, setting) = Chance::of(load, &setting, &draw);
            seconds(&run::compact(load, pages.clone(), setting, u64::MAX, chance), by)
        };
        Range::of(chance::draws(runs, 7).map(one).collect()).unwrap().median
    }

    #[test]
    fn a_pace_is_found_by_the_time_of_a_round_or_of_the_fill_or_none_is_named() {
        let load = Compact::of(&Load::named("heap", 4 << 20, 2, 256).unwrap()).unwrap();
        for (by, swap) in [
            (PaceBy::Round, SwapTo::Disk),
            (PaceBy::EmulatedRound, SwapTo::Disk),
            (PaceBy::Requests, SwapTo::Disk),
            (PaceBy::Pages, SwapTo::Disk),
            (PaceBy::Work, SwapTo::Disk),
            (PaceBy::Fill, SwapTo::Zram),
        ] {
            let known =
                Setting { limit: 3 << 8, swap, slots: 16 << 8, ..group(1, PRESETS[2], Chance::default()).setting };
            let slow = Setting { costs: slower(known.costs, by, 6.0), ..known.clone() };
            let took = middle(&load, &slow, by, RUNS);
            let found = |took: &[f64]| super::found(&load, &known, u64::MAX, 7, length, (by, took, RUNS));
            let times = found(&[0.9 * took, took, 1.1 * took]).unwrap();
            assert!((5.0..7.0).contains(&times), "{by:?}: {times}");
            assert_eq!(found(&[1e-9]), (by == PaceBy::EmulatedRound).then(|| BOUNDS[0].exp2()), "{by:?}");
            assert_eq!([found(&[1e9]), found(&[])], [None, None], "{by:?}");
        }
    }

    #[test]
    fn paces_of_requests_and_of_their_pages_are_found_by_two_settings_that_read_unlike() {
        const SIMULATIONS: u32 = 3;
        let load =
            Load::CodePlusData(CodePlusData { unit: 1 << 19, code: 3, data: 14, rounds: 2, seed: 256, shared: false });
        let load = Compact::of(&load).unwrap();
        let with = |swap| {
            let known = group(1, PRESETS[2], Chance::default()).setting;
            Setting { limit: 16 << 7, swap, slots: 16 << 7, ..known }
        };
        // Without swap it reads 32 pages at once, with it single ones and clusters of 8 too.
        let [short, long] = [SwapTo::Disk, SwapTo::Nowhere].map(with);
        let slow = Disk { request: 3.0, page: 0.5, spread: 1.0 };
        let took = [&short, &long].map(|setting| {
            let costs = setting.costs.with_disk(slow);
            middle(&load, &Setting { costs, ..setting.clone() }, PaceBy::Round, SIMULATIONS)
        });
        let search = |by: PaceBy, disk: Disk| {
            let (setting, took) = if by == PaceBy::Pages { (&long, took[1]) } else { (&short, took[0]) };
            let fixed = Setting { costs: setting.costs.with_disk(disk), ..setting.clone() };
            Ok::<_, ()>(found(&load, &fixed, u64::MAX, 7, length, (by, &[took], SIMULATIONS)))
        };
        let Disk { request, page, .. } =
            parted(Disk { request: 1.0, page: 1.0, spread: 1.0 }, search).unwrap().unwrap();
        assert!((2.8..3.2).contains(&request) && (0.47..0.53).contains(&page), "{request}, {page}");
        assert_eq!(parted(slow, |_, _| Ok::<_, ()>(None)), Ok(None));
    }

    #[test]
    fn turns_end_when_a_page_s_pace_stays_the_same_or_after_six() {
        // What a search finds is by such a part of what the other has found.
        let turns = |part: f64| {
            let mut searches = 0;
            let search = |by: PaceBy, disk: Disk| {
                searches += 1;
                let other = if by == PaceBy::Pages { disk.request } else { disk.page };
                Ok::<_, ()>(Some(2.0 - part * other))
            };
            parted(Disk { request: 8.0, page: 1.0, spread: 1.0 }, search).unwrap();
            searches / 2
        };
        assert_eq!([turns(0.0), turns(0.1), turns(-1.0)], [2, 3, 6]);
    }

    #[test]
    fn few_times_are_taken_to_differ_and_one_says_nothing() {
        assert_eq!([spread(&[1.0; 4]), spread(&[1.0; 5]), spread(&[1.0])], [ALIKE, 1.0, cost::MEASURED_SPREAD]);
    }
}
