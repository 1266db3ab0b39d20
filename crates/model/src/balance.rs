//! What `vm.swappiness` really sets: the balance of scanning between anonymous and file pages.
//!
//! The classic LRU's formula (`get_scan_count`, mm/vmscan.c) and the value a measured cost ratio
//! implies. Not a percentage of memory, or a threshold; and with the multi-generational LRU
//! (MGLRU) the formula does not apply, only its direction.
//!
//! With swappiness `s` (0 to 200), costs `a` (anonymous) and `f` (file), `T = a + f`:
//! anonymous `s·(3T+1)/(T+a+1)` against file `(200−s)·(3T+1)/(T+f+1)`, integer divisions. The kernel does not
//! export the costs, so shares are given for three cases: equal, file pages costless, anonymous pages costless.
//!
//! The value for a cost ratio `r` = cost of a random file re-read / cost of a swap-in: `s = 200·r/(1+r)`.
//! Worked example: swap twice as fast as the file system, r = 2: s = 133.

use crate::prelude::*;

/// The largest swappiness.
pub const MAX: u64 = 200;

/// More is not suggested, whatever costs say: memory in use goes then as well. Of five loads measured at 60, 100, 180 and 195 (docs/tune.md) none was
/// measurably faster above it, and pgbench swapped in 8,153 pages at 195, 3,142 at 180 and 928 at 60.
pub const MOST_SUGGESTED: u64 = 180;

/// With a slow area behind a fast one, more than this is not suggested: once the fast one is full, the slow one pays.
pub const TWO_TIER_CEILING: u64 = 100;

/// Scan weights of one reclaim pass.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Weights {
    /// For anonymous pages.
    pub anon: u128,
    /// For file pages.
    pub file: u128,
}

/// The scan balance at one swappiness.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Balance {
    /// `vm.swappiness`.
    pub swappiness: u64,
    /// Anonymous share of scanning when both kinds cost the same: s/200.
    pub equal_costs: f64,
    /// When re-reading files costs nothing: s/(400−s). The lower end of the band.
    pub file_costless: f64,
    /// When swapping costs nothing: 2s/(200+s). The upper end.
    pub anon_costless: f64,
    /// MGLRU is on: the shares do not apply; a higher value still means more anonymous pages.
    pub mglru: bool,
}

/// The kernel's integer weights; costs in its own (unexported) units. `s` above 200 counts as 200.
#[must_use]
pub fn weights(s: u64, anon_cost: u64, file_cost: u64) -> Weights {
    let s = u128::from(s.min(MAX));
    let (a, f) = (u128::from(anon_cost), u128::from(file_cost));
    let all = a + f;
    Weights { anon: s * (3 * all + 1) / (all + a + 1), file: (u128::from(MAX) - s) * (3 * all + 1) / (all + f + 1) }
}

#[expect(clippy::cast_precision_loss, reason = "0 to 200")]
fn float(s: u64) -> f64 {
    s.min(MAX) as f64
}

/// The balance at a swappiness.
#[must_use]
pub fn for_swappiness(swappiness: u64, mglru: bool) -> Balance {
    let s = float(swappiness);
    Balance {
        swappiness,
        equal_costs: s / 200.0,
        file_costless: s / (400.0 - s),
        anon_costless: 2.0 * s / (200.0 + s),
        mglru,
    }
}

/// `200·r/(1+r)` rounded, at most 200; `None` when `r` is negative or no number.
#[must_use]
pub fn swappiness_for_ratio(r: f64) -> Option<u64> {
    if r.is_nan() || r < 0.0 {
        return None;
    }
    let s = if r.is_infinite() { 200.0 } else { 200.0 * r / (1.0 + r) };
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 to 200 by construction")]
    Some((s.round() as u64).min(MAX))
}

/// The cost ratio with two tiers: the swap-in cost is blended by the share of swap-ins the fast tier serves.
///
/// Costs in any one unit; `None` unless costs are positive and the share is between 0 and 1.
#[must_use]
pub fn blended_ratio(file_cost: f64, fast_cost: f64, slow_cost: f64, fast_share: f64) -> Option<f64> {
    let usable = |cost: f64| cost.is_finite() && cost > 0.0;
    let ok = usable(file_cost) && usable(fast_cost) && usable(slow_cost) && (0.0..=1.0).contains(&fast_share);
    ok.then(|| file_cost / (fast_share * fast_cost + (1.0 - fast_share) * slow_cost))
}

/// The swappiness for two tiers: from the blended ratio, never above [`TWO_TIER_CEILING`].
#[must_use]
pub fn swappiness_for_two_tiers(file_cost: f64, fast_cost: f64, slow_cost: f64, fast_share: f64) -> Option<u64> {
    let s = swappiness_for_ratio(blended_ratio(file_cost, fast_cost, slow_cost, fast_share)?)?;
    Some(s.min(TWO_TIER_CEILING))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shares_are_those_of_the_kernels_formula() {
        // file costless: 18, 33, 60, 82 %; equal: 30, 50, 75, 90 %; anonymous costless: 46, 67, 86, 95 %.
        for (s, low, equal, high) in [(60, 18, 30, 46), (100, 33, 50, 67), (150, 60, 75, 86), (180, 82, 90, 95)] {
            let b = for_swappiness(s, false);
            let percent = |share: f64| format!("{:.0}", share * 100.0);
            assert_eq!(
                [percent(b.file_costless), percent(b.equal_costs), percent(b.anon_costless)],
                [low.to_string(), equal.to_string(), high.to_string()]
            );
            assert_eq!((b.swappiness, b.mglru), (s, false));
        }
        assert!(for_swappiness(60, true).mglru);
    }

    #[test]
    fn integer_weights_round_down_as_in_the_kernel() {
        // At equal costs c: 60·(6c+1)/(3c+1) = 119 and 140·(6c+1)/(3c+1) = 279 after rounding down.
        assert_eq!(weights(60, 1000, 1000), Weights { anon: 119, file: 279 });
        // a = 1000, f = 0: 60·3001/2001 = 89, 140·3001/1001 = 419.
        assert_eq!(weights(60, 1000, 0), Weights { anon: 89, file: 419 });
        assert_eq!(weights(60, 0, 1000), Weights { anon: 179, file: 209 });
        assert_eq!(weights(60, 0, 0), Weights { anon: 60, file: 140 });
        assert_eq!(weights(1, 1000, 1000), Weights { anon: 1, file: 397 });
        assert_eq!(weights(999, 0, 0), Weights { anon: 200, file: 0 });
    }

    #[test]
    fn swap_twice_as_fast_as_files_gives_133() {
        for (r, s) in [(2.0, 133), (1.0, 100), (0.0, 0), (f64::INFINITY, 200), (40.0, 195), (0.01, 2), (1e300, 200)] {
            assert_eq!(swappiness_for_ratio(r), Some(s), "r = {r}");
        }
        assert_eq!((swappiness_for_ratio(-1.0), swappiness_for_ratio(f64::NAN)), (None, None));
    }

    #[test]
    fn two_tiers_blend_the_cost_and_stop_at_a_cautious_100() {
        assert_eq!(blended_ratio(100.0, 5.0, 100.0, 1.0), Some(20.0));
        assert_eq!(blended_ratio(100.0, 10.0, 190.0, 0.5), Some(1.0));
        assert_eq!(swappiness_for_two_tiers(100.0, 5.0, 100.0, 1.0), Some(100));
        assert_eq!(swappiness_for_two_tiers(100.0, 10.0, 390.0, 0.5), Some(67));
        for bad in [(0.0, 1.0, 1.0, 0.5), (1.0, 0.0, 1.0, 0.5), (1.0, 1.0, -1.0, 0.5), (1.0, 1.0, 1.0, 1.5)] {
            assert_eq!(blended_ratio(bad.0, bad.1, bad.2, bad.3), None);
        }
        assert_eq!(blended_ratio(f64::INFINITY, 1.0, 1.0, 0.5), None);
    }
}
