//! Two positive numbers that bring two others to nothing: Broyden's method (Broyden 1965, "A class of methods for solving nonlinear simultaneous equations").
//!
//! For what is nearly straight from afar and jumps from near, as times of simulations do: a round takes so much for each request to a disk and so much for each page of it, but what
//! happens in it is another thing with the smallest change. So slopes are taken over a wide step at first, and each further step is one more measurement of them.

/// Steps at most.
const STEPS: usize = 12;
/// A number is taken to be so many times as large to see what comes of it; and becomes at most so many times larger or smaller in a step.
const STRIDE: f64 = 2.0;
/// From some numbers on, those within bounds where the larger of both is nearest to nothing, and that one; it is near enough below `same`.
pub fn near(from: [f64; 2], [low, high]: [f64; 2], same: f64, off: impl Fn([f64; 2]) -> [f64; 2]) -> ([f64; 2], f64) {
    let worst = |off: [f64; 2]| off[0].abs().max(off[1].abs());
    let mut at = from.map(|number| number.clamp(low, high));
    let mut now = off(at);
    let mut best = (at, worst(now));
    if best.1 < same {
        return best;
    }
    let mut slopes = from_afar(at, now, &off);
    for _ in 0..STEPS {
        let [[a, b], [c, d]] = slopes;
        let whole = a * d - b * c;
        if best.1 < same || !whole.is_normal() {
            break;
        }
        let straight = [(b * now[1] - d * now[0]) / whole, (c * now[0] - a * now[1]) / whole];
        let next = [0, 1].map(|of| {
            let wide = (at[of] + straight[of]).clamp(at[of] / STRIDE, at[of] * STRIDE);
            wide.clamp(low, high)
        });
        let step = [next[0] - at[0], next[1] - at[1]];
        let length = step[0] * step[0] + step[1] * step[1];
        if length == 0.0 {
            break;
        }
        let then = off(next);
        for one in 0..2 {
            let more = then[one] - now[one] - slopes[one][0] * step[0] - slopes[one][1] * step[1];
            slopes[one] = [0, 1].map(|of| slopes[one][of] + more * step[of] / length);
        }
        (at, now) = (next, then);
        if worst(now) < best.1 {
            best = (at, worst(now));
        }
    }
    best
}

/// How each of both goes with each number.
fn from_afar(at: [f64; 2], now: [f64; 2], off: impl Fn([f64; 2]) -> [f64; 2]) -> [[f64; 2]; 2] {
    let [first, second] = [0, 1].map(|of| {
        let mut larger = at;
        larger[of] *= STRIDE;
        let (then, step) = (off(larger), larger[of] - at[of]);
        [0, 1].map(|one| (then[one] - now[one]) / step)
    });
    [0, 1].map(|one| [first[one], second[one]])
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    const BOUNDS: [f64; 2] = [0.01, 100.0];
    const SAME: f64 = 0.005;

    /// Two rounds whose times are right with 3 and 0.5: what they take beside, and for each of both.
    fn rounds([request, page]: [f64; 2]) -> [f64; 2] {
        let took = |rest: f64, requests: f64, pages: f64| rest + requests * request + pages * page;
        [took(1.0, 1.0, 1.0) / 4.5 - 1.0, took(2.0, 0.5, 8.0) / 7.5 - 1.0]
    }

    #[test]
    fn what_is_straight_is_found_at_once() {
        let asked = Cell::new(0);
        let off = |at| {
            asked.set(asked.get() + 1);
            rounds(at)
        };
        let ([request, page], left) = near([1.5; 2], BOUNDS, SAME, off);
        assert!((request - 3.0).abs() < 0.01 && (page - 0.5).abs() < 0.01 && left < SAME, "{request}, {page}");
        assert!(asked.get() <= 6, "{}", asked.get());
    }

    #[test]
    fn what_jumps_where_it_is_near_is_found_as_near_as_its_jumps() {
        // A time is up to a hundredth longer by chance.
        let jumps = |at: [f64; 2]| rounds(at).map(|off| off + 0.01 * (1e4 * (at[0] + at[1])).sin());
        let ([request, page], left) = near([1.0; 2], BOUNDS, SAME, jumps);
        assert!(
            (2.8..3.2).contains(&request) && (0.47..0.53).contains(&page) && left < 0.02,
            "{request}, {page}, {left}"
        );
    }

    #[test]
    fn where_both_are_alike_or_nothing_within_bounds_does_it_something_is_left() {
        let alike = |at: [f64; 2]| [rounds(at)[0], rounds(at)[0] + 1.0];
        assert!(near([1.0; 2], BOUNDS, SAME, alike).1 > 0.4);
        let (at, left) = near([1.0; 2], [0.7, 2.0], SAME, rounds);
        assert!(left > 0.1 && at.iter().all(|number| (0.7..=2.0).contains(number)), "{at:?}, {left}");
    }
}
