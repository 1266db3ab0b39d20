//! How many runs it takes to say what lies in their middle.
//!
//! Where chance decides between two ways a load may go, the middle of 32 runs is itself chance: 6,600 file pages a round in one build and 9,000 in the next. The order of
//! the runs says how well it is known: the middle of all that could be lies between two of them with about the chance that the binomial distribution
//! gives (Conover, Practical Nonparametric Statistics, 3.2; the runs of one batch are spread more evenly than by chance, so it is a little better known).

use ramline_evidence::rng::SplitMix64;

use crate::forecast::RunFigures;
use crate::range::Range;

/// The middle is known where both of those two runs are as near to it as this part of it (runs are added until they are half as far off),
const NEAR: f64 = 0.1;
/// or as near as so many pages of a round.
const NEAR_PAGES: f64 = 16.0;
/// Standard deviations for a chance of nine of ten.
const DEVIATIONS: f64 = 1.645;
/// Fewer runs say nothing about it: who asks for so few wants no more.
const LEAST: usize = 8;
/// Batches of runs at most.
const BATCHES: usize = 4;

/// Runs in batches, each from a seed of its own, until the middle of each count is known twice as well as it has to be, or there are four batches.
pub fn until_settled(seed: u64, mut batch: impl FnMut(u64) -> Vec<RunFigures>) -> Vec<RunFigures> {
    let mut runs = batch(seed);
    let mut random = SplitMix64::new(seed);
    for _ in 1..BATCHES {
        if is_known_to(NEAR / 2.0, &runs) {
            break;
        }
        runs.extend(batch(random.next_u64()));
    }
    runs
}

/// The middle of each count is known.
#[must_use]
pub fn is_settled(runs: &[RunFigures]) -> bool {
    is_known_to(NEAR, runs)
}

/// The middle of each count is known to such a part of it.
fn is_known_to(near: f64, runs: &[RunFigures]) -> bool {
    let counts: [fn(&RunFigures) -> f64; 3] = [|run| run.major, |run| run.swap_in, |run| run.refault_file];
    runs.len() < LEAST
        || counts.into_iter().all(|pick| {
            let done = runs.iter().filter(|run| run.rounds > 0.0);
            is_known(near, done.map(|run| pick(run) / run.rounds).collect())
        })
}

#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "places among some values"
)]
fn is_known(near: f64, mut values: Vec<f64>) -> bool {
    values.sort_by(f64::total_cmp);
    let half = values.len() as f64 / 2.0;
    let off = DEVIATIONS * (half / 2.0).sqrt();
    let at = |place: f64| values.get(place.max(0.0) as usize).or(values.last()).copied().unwrap_or_default();
    let [low, high] = [half - off, half + off].map(at);
    let middle = Range::from_values(values).map_or(0.0, |range| range.median);
    (high - middle).max(middle - low) <= (near * middle).max(NEAR_PAGES)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::forecast::Verdict;

    fn run(major: f64) -> RunFigures {
        RunFigures {
            verdict: Verdict::Fine,
            rounds: 1.0,
            seconds: 1.0,
            major,
            swap_in: 0.0,
            refault_file: 0.0,
            beside: None,
        }
    }

    /// How many runs are made, in batches of so many, and from how many seeds.
    fn made(n: u32, value: fn(u32) -> f64) -> (usize, usize) {
        let mut seeds = Vec::new();
        let runs = until_settled(7, |seed| {
            seeds.push(seed);
            (0..n).map(|number| run(value(number))).collect()
        });
        assert_eq!(seeds[0], 7);
        seeds.sort_unstable();
        seeds.dedup();
        (runs.len(), seeds.len())
    }

    #[test]
    fn runs_that_go_two_ways_are_made_until_the_middle_is_known_and_at_most_four_times() {
        // Runs that hardly differ; half of them 8 % more, 15 % more, and twice as many; three of eight twice as many.
        assert_eq!(made(32, |run| f64::from(1000 + run)), (32, 1));
        assert_eq!(made(32, |run| f64::from(1000 + run % 2 * 80)), (32, 1));
        assert_eq!(made(32, |run| f64::from(1000 + run % 2 * 150)), (128, 4));
        assert_eq!(made(32, |run| f64::from(1000 + run % 2 * 1000)), (128, 4));
        assert_eq!(made(32, |run| f64::from(1000 + u32::from(run % 8 < 3) * 1000)), (64, 2));
        // A difference of 16 pages a round needs no more runs; seven runs are too few to judge by.
        assert_eq!(made(32, f64::from), (32, 1));
        assert_eq!(made(7, |run| f64::from(run * 1000)), (7, 1));
    }

    #[test]
    fn the_middle_is_known_where_it_is_near_to_both_sides() {
        // All of what is open lies on one side.
        let skewed = |high: f64| is_known(NEAR, (0..32).map(|run| if run < 17 { 1000.0 } else { high }).collect());
        assert_eq!([1090.0, 1150.0].map(skewed), [true, false]);
    }
}
