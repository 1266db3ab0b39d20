//! Sizes as the group's statistics say: old ones.
//!
//! Stands for `lruvec_page_state` of a group and `mem_cgroup_flush_stats_ratelimited` (mm/memcontrol.c), which sums up every 2 s; read in 6.18. Left
//! out: that each processor keeps up to 64 changes to itself even then.

use crate::chance::Chance;
use crate::memory::{ANON, FILE, Memory};

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
}

impl Memory {
    /// The sizes the kernel decides on: up to `stale` old.
    pub fn statistics(&mut self) -> Statistics {
        match self.looks.every {
            None => self.look(),
            Some(every) if self.clock >= self.looks.next => {
                self.look();
                self.looks.next = self.clock + every + self.random.below(self.looks.late);
            }
            Some(_) => {}
        }
        self.looks.last
    }

    fn look(&mut self) {
        let len = |kind: usize| [self.lists[kind][0].len, self.lists[kind][1].len];
        self.looks.last = Statistics { size: [len(ANON), len(FILE)], activated: self.counts.activated };
    }
}
