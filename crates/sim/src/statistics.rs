//! Sizes as the group's statistics say: old ones.
//!
//! Stands for `lruvec_page_state` of a group and `mem_cgroup_flush_stats_ratelimited` (mm/memcontrol.c), which sums up every 2 s; read in 6.18. Left
//! out: that each processor keeps up to 64 changes to itself even then.

use ramline_evidence::rng::SplitMix64;

use crate::chance::Chance;

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
    every: Option<u64>,
    late: u64,
    next: u64,
    last: Statistics,
}

impl Looks {
    /// As chance has it.
    #[must_use]
    pub fn new(every: Option<u64>, chance: &Chance) -> Looks {
        Looks { every, late: chance.late, next: chance.phase, last: Statistics::default() }
    }

    /// What is known of them at a time at which they are `now`.
    pub fn known(&mut self, clock: u64, now: Statistics, random: &mut SplitMix64) -> Statistics {
        match self.every {
            None => self.last = now,
            Some(every) if clock >= self.next => {
                self.last = now;
                self.next = clock + every + random.below(self.late);
            }
            Some(_) => {}
        }
        self.last
    }
}
