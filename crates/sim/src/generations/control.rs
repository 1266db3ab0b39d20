//! Which kind is looked at, and which of its pages are kept for being read several times.
//!
//! Stands for `struct ctrl_pos`, `read_ctrl_pos`, `reset_ctrl_pos`, `positive_ctrl_err`, `get_type_to_scan` and `get_tier_idx` (mm/vmscan.c); read in
//! 6.12 and 6.18. A controller compares shares of refaults, of the generation that goes now and of those before it, each half as much as the next.
//! Left out: histories of more than one generation, which kernels for debugging have.
//!
//! A page's tier is the logarithm of how often it was read: 0 for a page that was read once or is used through page tables only, up to 3.

use crate::kernel::Mglru;
use crate::setting::{ANON, FILE};

/// Tiers (`MAX_NR_TIERS`).
pub const TIERS: usize = 4;
/// Refaults up to which nothing is concluded (`MIN_LRU_BATCH`).
const FEW: u64 = 64;

/// Refaults of a kind.
#[derive(Debug, Clone, Copy, Default)]
pub struct Control {
    /// Of this generation, by tier: refaults.
    pub refaulted: [u64; TIERS],
    /// That went.
    pub evicted: [u64; TIERS],
    /// That were kept.
    pub protected: [u64; TIERS],
    /// Of the generations before.
    came: [u64; TIERS],
    went: [u64; TIERS],
}

/// One side of a comparison.
#[derive(Debug, Clone, Copy)]
pub struct Position {
    refaulted: u64,
    total: u64,
    gain: u64,
}

impl Control {
    /// One tier.
    fn tier(&self, tier: usize, gain: u64) -> Position {
        Position {
            refaulted: self.came[tier] + self.refaulted[tier],
            total: self.went[tier] + self.protected[tier] + self.evicted[tier],
            gain,
        }
    }

    /// All tiers.
    fn all(&self, gain: u64) -> Position {
        let tiers = (0..TIERS).map(|tier| self.tier(tier, gain));
        tiers.fold(Position { refaulted: 0, total: 0, gain }, |sum, one| Position {
            refaulted: sum.refaulted + one.refaulted,
            total: sum.total + one.total,
            gain,
        })
    }

    /// The oldest generation is gone.
    pub fn next(&mut self) {
        for tier in 0..TIERS {
            let Position { refaulted, total, .. } = self.tier(tier, 0);
            (self.came[tier], self.went[tier]) = (refaulted / 2, total / 2);
        }
        (self.refaulted, self.evicted, self.protected) = Default::default();
    }

    /// The last tier whose pages go: those above it refault too often (`get_tier_idx`).
    #[must_use]
    pub fn last_tier(&self, mglru: Mglru) -> usize {
        let (base, each) = if mglru.is_early() { (1, 2) } else { (2, 3) };
        let base = self.tier(0, base);
        (1..TIERS).find(|tier| !is_worth_less(base, self.tier(*tier, each))).unwrap_or(TIERS) - 1
    }
}

/// Few of these refaulted, or a smaller share than of those it is set against: they may be evicted (`positive_ctrl_err`).
fn is_worth_less(set: Position, these: Position) -> bool {
    let wide = |a: u64, b: u64, c: u64| u128::from(a) * u128::from(b) * u128::from(c);
    these.refaulted < FEW
        || wide(these.refaulted, set.total + FEW, set.gain) <= wide(set.refaulted + 1, these.total, these.gain)
}

/// The kind to look at, and before 6.14 the last tier of it, if it is known by then.
#[must_use]
pub fn kind(mglru: Mglru, control: &[Control; 2], min: [u32; 2], swappiness: u64) -> (usize, Option<usize>) {
    let gain = [swappiness, 200_u64.saturating_sub(swappiness)];
    if !mglru.is_early() {
        return match swappiness {
            0 | 1 => (FILE, None),
            200.. => (ANON, None),
            _ => (usize::from(is_worth_less(control[ANON].all(gain[ANON]), control[FILE].all(gain[FILE]))), None),
        };
    }
    if swappiness == 0 {
        return (FILE, None);
    }
    match swappiness {
        _ if min[ANON] < min[FILE] => (ANON, None),
        1 => (FILE, None),
        200.. => (ANON, None),
        _ => {
            let kind = usize::from(is_worth_less(control[ANON].tier(0, gain[ANON]), control[FILE].tier(0, gain[FILE])));
            let other = control[1 - kind].tier(0, gain[1 - kind]);
            let first = (1..TIERS).find(|tier| !is_worth_less(other, control[kind].tier(*tier, gain[kind])));
            (kind, Some(first.unwrap_or(TIERS) - 1))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn control(refaulted: [u64; TIERS], evicted: [u64; TIERS]) -> Control {
        Control { refaulted, evicted, ..Control::default() }
    }

    #[test]
    fn tiers_that_come_back_much_more_often_are_kept() {
        // Of the first tier 100 of 1000 refaulted, of the second 400 of 1000, of the third 60: too few to conclude anything.
        let seen = control([100, 400, 60, 0], [1000, 1000, 60, 0]);
        assert_eq!((seen.last_tier(Mglru::First), seen.last_tier(Mglru::Reworked)), (0, 0));
        let seen = control([100, 150, 60, 500], [1000, 1000, 60, 500]);
        // A tier may refault twice as often, or one and a half times: 150 · 1064 · 2 > 101 · 1000 · 3.
        assert_eq!((seen.last_tier(Mglru::First), seen.last_tier(Mglru::Reworked)), (2, 0));
        assert_eq!(Control::default().last_tier(Mglru::First), 3);
    }

    #[test]
    fn the_kind_that_comes_back_less_often_goes_weighed_by_swappiness() {
        let both = [control([100, 0, 0, 0], [1000, 0, 0, 0]), control([200, 0, 0, 0], [1000, 0, 0, 0])];
        let of = |mglru, swappiness| kind(mglru, &both, [1, 1], swappiness).0;
        // File: 200 · 1064 · s against 101 · 1000 · (200 - s): up to 64 they go first.
        assert_eq!([64, 65].map(|s| of(Mglru::First, s)), [FILE, ANON]);
        assert_eq!([64, 65].map(|s| of(Mglru::Reworked, s)), [FILE, ANON]);
        assert_eq!([0, 1, 200].map(|s| of(Mglru::Reworked, s)), [FILE, FILE, ANON]);
    }

    #[test]
    fn before_6_14_the_kind_with_the_older_generation_goes_first() {
        let none = [Control::default(); 2];
        assert_eq!(kind(Mglru::First, &none, [1, 2], 1), (ANON, None));
        assert_eq!(kind(Mglru::First, &none, [2, 2], 1), (FILE, None));
        assert_eq!(kind(Mglru::First, &none, [1, 2], 0), (FILE, None));
        assert_eq!(kind(Mglru::First, &none, [2, 2], 60), (FILE, Some(3)));
    }

    #[test]
    fn a_generation_that_is_gone_counts_half() {
        let mut seen = control([100, 0, 0, 0], [400, 0, 0, 0]);
        seen.next();
        assert_eq!((seen.came[0], seen.went[0], seen.refaulted[0]), (50, 200, 0));
        seen.next();
        assert_eq!((seen.came[0], seen.went[0]), (25, 100));
    }
}
