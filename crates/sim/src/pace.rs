//! How fast a machine was, by how long something took there.
//!
//! A simulation with each of several paces takes so long; the one that takes as long as the runs did is theirs. What it is not: a count. What a run counts hardly says
//! anything about its pace, so a time of a series leaves its counts to be foretold.

use ramline_evidence::rng::SplitMix64;

use crate::chance::Chance;
use crate::cost::{self, Costs, Pace, Spread};
use crate::forecast::Range;
use crate::load::Compact;
use crate::run;
use crate::setting::Setting;

/// Runs of one step of the search, and steps.
const PACE: (u32, u32) = (5, 11);
/// It is at most so many times faster or slower than it is taken to be, as a power of two.
const FASTEST: f64 = -5.0;
const SLOWEST: f64 = 10.0;

/// By what a pace is found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PaceOf {
    /// A processor, by how long memory took to fill.
    Processor,
    /// The disks, by how long a round took.
    Disk,
}

/// How many times slower a processor or the disks were than a setting has them, by the seconds that its runs took: of the fill, or of a
/// round. `None` where no pace explains the time.
#[must_use]
#[expect(clippy::cast_precision_loss, reason = "nanoseconds of a run")]
pub fn found(
    load: &Compact,
    setting: &Setting,
    timeout: u64,
    seed: u64,
    length: impl Fn(u32, u64) -> u16,
    (of, took): (PaceOf, &[f64]),
) -> Option<Pace> {
    let middle = Range::of(took.to_vec())?.median;
    let pages = run::pages(load, length);
    let (runs, steps) = PACE;
    let takes = |times: f64| {
        let pace = Pace { times, spread: 1.0 };
        let costs = match of {
            PaceOf::Processor => setting.costs.with_processor(pace),
            PaceOf::Disk => setting.costs.with_device(pace),
        };
        let setting = Setting { costs: Costs { spread: Spread::of_all(1.0), ..costs }, ..setting.clone() };
        let mut random = SplitMix64::new(seed);
        let one = |_| {
            let (chance, setting) = Chance::draw(load, &setting, &mut random);
            let run = run::compact(load, pages.clone(), setting, timeout, chance);
            match of {
                PaceOf::Processor => run.fill as f64 / 1e9,
                PaceOf::Disk => run.took as f64 / 1e9 / run.rounds.max(f64::MIN_POSITIVE),
            }
        };
        Range::of((0..runs).map(one).collect()).map_or(0.0, |range| range.median)
    };
    let (mut low, mut high) = (FASTEST, SLOWEST);
    (takes(low.exp2()) < middle && middle < takes(high.exp2())).then_some(())?;
    for _ in 0..steps {
        let between = f64::midpoint(low, high);
        if takes(between.exp2()) < middle { low = between } else { high = between }
    }
    Some(Pace { times: f64::midpoint(low, high).exp2(), spread: spread(took) })
}

/// So many times less or more than the middle values are: two standard deviations of their logarithms. One alone says nothing about it.
#[expect(clippy::cast_precision_loss, reason = "a number of runs")]
fn spread(values: &[f64]) -> f64 {
    let (n, logs) = (values.len() as f64, values.iter().map(|value| value.ln()));
    if values.len() < 2 {
        return cost::MEASURED_SPREAD;
    }
    let mean = logs.clone().sum::<f64>() / n;
    let variance = logs.map(|log| (log - mean).powi(2)).sum::<f64>() / (n - 1.0);
    (2.0 * variance.sqrt()).exp()
}
