//! Sizes as the group's statistics say: old ones.
//!
//! Stands for `lruvec_page_state` of a group and `mem_cgroup_flush_stats_ratelimited` (mm/memcontrol.c), which sums up every 2 s, and of a read of
//! memory.stat, which sums up at once; read in 6.18. Left out: that each processor keeps up to 64 changes to itself even then.

use ramline_evidence::rng::SplitMix64;

use crate::chance::Chance;
use crate::setting::Sums;

/// Sizes of the four lists, as the statistics of the group say.
#[derive(Debug, Clone, Copy, Default)]
pub struct Statistics {
    /// Inactive and active, by kind.
    pub size: [[u64; 2]; 2],
    /// Pages that were activated as they came back, by kind.
    pub activated: [u64; 2],
    /// What reclaim has cost, by kind.
    pub cost: [u64; 2],
}

/// When they are summed up, and what they were then.
#[derive(Debug, Clone, Copy)]
pub struct Looks {
    sums: Sums,
    late: u64,
    next: u64,
    last: Statistics,
}

impl Looks {
    /// As chance has it.
    #[must_use]
    pub fn new(sums: Sums, chance: &Chance) -> Looks {
        let next = if sums == Sums::AtOnce { u64::MAX } else { chance.phase };
        Looks { sums, late: chance.late, next, last: Statistics::default() }
    }

    /// They are summed up next at this time, where they are not known at once.
    pub fn next_at(&mut self, clock: u64) {
        if self.sums != Sums::AtOnce {
            self.next = clock;
        }
    }

    /// It is time to sum them up.
    #[inline]
    #[must_use]
    pub fn is_due(&self, clock: u64) -> bool {
        clock >= self.next
    }

    /// What is known of them at a time at which they are `now`.
    pub fn known(&mut self, clock: u64, now: Statistics, random: &mut SplitMix64) -> Statistics {
        match self.sums {
            Sums::AtOnce => self.last = now,
            Sums::Every(every) | Sums::Watched { every, .. } if self.is_due(clock) => {
                self.last = now;
                // Nothing has changed since a time that has passed meanwhile: the clock is where a wait has ended.
                let passed = (clock - self.next) / every.max(1) * every;
                self.next += passed + every + random.below(self.late);
            }
            Sums::Every(_) | Sums::Watched { .. } => {}
        }
        self.last
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(anon: u64) -> Statistics {
        Statistics { size: [[anon, 0], [0, 0]], ..Statistics::default() }
    }

    fn seen(looks: &mut Looks, clock: u64, anon: u64) -> u64 {
        looks.known(clock, of(anon), &mut SplitMix64::new(1)).size[0][0]
    }

    #[test]
    fn a_reader_takes_turns_from_its_first_on_and_makes_up_for_none() {
        let mut looks =
            Looks::new(Sums::Watched { every: 100, first: [0; 2] }, &Chance { phase: 30, ..Chance::default() });
        assert_eq!([seen(&mut looks, 29, 1), seen(&mut looks, 30, 2), seen(&mut looks, 129, 3)], [0, 2, 2]);
        // A wait has taken two of them: the next comes in its own time.
        assert_eq!([seen(&mut looks, 380, 4), seen(&mut looks, 429, 5), seen(&mut looks, 430, 6)], [4, 4, 6]);
        looks.next_at(500);
        assert_eq!([seen(&mut looks, 499, 7), seen(&mut looks, 500, 8), seen(&mut looks, 600, 9)], [6, 8, 9]);
    }

    #[test]
    fn the_kernel_takes_its_turns_whatever_the_load_does_and_exact_ones_are_known_at_once() {
        let mut looks = Looks::new(Sums::Every(100), &Chance { phase: 30, ..Chance::default() });
        assert_eq!([seen(&mut looks, 29, 1), seen(&mut looks, 30, 2), seen(&mut looks, 129, 3)], [0, 2, 2]);
        let mut exact = Looks::new(Sums::AtOnce, &Chance::default());
        exact.next_at(7);
        assert!(!exact.is_due(u64::MAX - 1));
        assert_eq!([seen(&mut exact, 0, 1), seen(&mut exact, 0, 2)], [1, 2]);
    }
}
