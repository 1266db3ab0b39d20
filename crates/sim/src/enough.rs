//! Whether runs are enough to say what lies in their middle.
//!
//! Where chance decides between two ways a load may go, the middle of 32 runs is itself chance: 6,600 file pages a round in one build and 9,000 in the next. So much is
//! said by the order of the runs alone: the middle of all lies between two of them with a chance that the binomial distribution gives (Conover, Practical
//! Nonparametric Statistics, 3.2).

use crate::forecast::Seen;

/// The middle is known where both of those are so near, as a part of it,
const NEAR: f64 = 0.2;
/// or where they are so few pages of a round apart.
const FEW: f64 = 32.0;
/// Standard deviations for a chance of nine of ten.
const DEVIATIONS: f64 = 1.645;
/// Fewer runs say nothing about it: who asks for so few wants no more.
const LEAST: usize = 8;
/// So many times as many runs are made at most.
pub const MOST: u32 = 4;

/// The middle of each count is known.
#[must_use]
pub fn are(runs: &[Seen]) -> bool {
    let counts: [fn(&Seen) -> f64; 3] = [|run| run.major, |run| run.swap_in, |run| run.refault_file];
    runs.len() < LEAST
        || counts.into_iter().all(|pick| {
            let done = runs.iter().filter(|run| run.rounds > 0.0);
            is_known(done.map(|run| pick(run) / run.rounds).collect())
        })
}

#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "places among some values"
)]
fn is_known(mut values: Vec<f64>) -> bool {
    values.sort_by(f64::total_cmp);
    let n = values.len() as f64;
    let off = DEVIATIONS * n.sqrt() / 2.0;
    let at = |place: f64| values.get(place.max(0.0) as usize).or(values.last()).copied().unwrap_or_default();
    let [low, middle, high] = [n / 2.0 - off, n / 2.0, n / 2.0 + off].map(at);
    high - low <= (NEAR * middle).max(FEW)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_middle_of_runs_that_go_two_ways_is_known_late_or_never() {
        let of = |n: u32, value: fn(u32) -> f64| is_known((0..n).map(value).collect());
        // One way and a little beside it; and half of them another way.
        assert!(of(32, |run| f64::from(1000 + run)));
        let [half, fewer]: [fn(u32) -> f64; 2] =
            [|run| f64::from(1000 + run % 2 * 1000), |run| f64::from(1000 + u32::from(run % 8 < 3) * 1000)];
        assert_eq!([32, 128].map(|n| of(n, half)), [false, false]);
        assert_eq!([32, 128].map(|n| of(n, fewer)), [false, true]);
        // So few pages matter to nobody.
        assert!(of(32, |run| f64::from(run)));
    }
}
