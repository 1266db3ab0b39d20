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
}

/// When they are summed up, and what they were then.
#[derive(Debug, Clone, Copy)]
pub struct Looks {
    sums: Sums,
    late: u64,
    phase: u64,
    next: u64,
    last: Statistics,
}

impl Looks {
    /// As chance has it.
    #[must_use]
    pub fn new(sums: Sums, chance: &Chance) -> Looks {
        let next = match sums {
            Sums::AtOnce | Sums::Watched(_) => u64::MAX,
            Sums::Every(_) => chance.phase,
        };
        Looks { sums, late: chance.late, phase: chance.phase, next, last: Statistics::default() }
    }

    /// It is time to sum them up.
    #[inline]
    #[must_use]
    pub fn is_due(&self, clock: u64) -> bool {
        clock >= self.next
    }

    /// The rounds begin. Who reads has begun its turns before the load filled its memory; how long that takes is not simulated, so the time until its
    /// next turn is drawn, and until then only what was there at first is known.
    pub fn begin(&mut self, clock: u64) {
        if let Sums::Watched(_) = self.sums {
            self.next = clock + self.phase;
        }
    }

    /// What is known of them at a time at which they are `now`.
    pub fn known(&mut self, clock: u64, now: Statistics, random: &mut SplitMix64) -> Statistics {
        match self.sums {
            Sums::AtOnce => self.last = now,
            Sums::Every(every) | Sums::Watched(every) if self.is_due(clock) => {
                self.last = now;
                // Nothing has changed since a time that has passed meanwhile: the clock is where a wait has ended.
                let passed = (clock - self.next) / every.max(1) * every;
                self.next += passed + every + random.below(self.late);
            }
            Sums::Every(_) | Sums::Watched(_) => {}
        }
        self.last
    }
}
