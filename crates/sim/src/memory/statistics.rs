//! The group's statistics by which reclaim decides: as old as their last flush.
//!
//! Stands for `lruvec_page_state` of a group and `mem_cgroup_flush_stats_ratelimited` (mm/memcontrol.c), which flushes every 2 s, and for a read of
//! memory.stat, which flushes at once; read in 6.18. Left out: that each processor keeps up to 64 changes to itself even then.

use ramline_evidence::rng::SplitMix64;

use crate::beside::StatReader;
use crate::chance::Chance;
use crate::setting::{Flushes, Setting};

/// Sizes of the four lists, and counters.
#[derive(Debug, Clone, Copy, Default)]
pub struct Statistics {
    /// Inactive and active, by kind.
    pub size: [[u64; 2]; 2],
    /// Refaults that were activated, by kind.
    pub activated: [u64; 2],
    /// What reclaim has cost, by kind.
    pub cost: [u64; 2],
}

/// The statistics as last flushed, and when they are flushed next.
#[derive(Debug)]
pub struct Flushed {
    by: Flusher,
    next: u64,
    last: Statistics,
}

#[derive(Debug)]
enum Flusher {
    EachChange,
    /// Nanoseconds from one flush to the next, and how late one may be.
    Timer([u64; 2]),
    Reader(Box<dyn StatReader>),
}

impl Flushed {
    /// By the setting and what a run draws.
    #[must_use]
    pub fn new(setting: &Setting, chance: &Chance) -> Flushed {
        let (by, next) = match &setting.flushes {
            _ if setting.kernel.flushes_first => (Flusher::EachChange, u64::MAX),
            Flushes::AtOnce => (Flusher::EachChange, u64::MAX),
            Flushes::Every(every) => (Flusher::Timer([*every, chance.late]), chance.phase),
            Flushes::By(readers) => {
                let reader = readers.stat_reader(chance.reads);
                let first = reader.first();
                (Flusher::Reader(reader), first)
            }
        };
        Flushed { by, next, last: Statistics::default() }
    }

    /// The reader of memory.stat, if there is one.
    #[must_use]
    pub fn reader(&self) -> Option<&dyn StatReader> {
        match &self.by {
            Flusher::Reader(reader) => Some(&**reader),
            Flusher::EachChange | Flusher::Timer(_) => None,
        }
    }

    /// The reader reads next at this time.
    pub fn read_at(&mut self, clock: u64) {
        if self.reader().is_some() {
            self.next = clock;
        }
    }

    /// Whether it is time to flush.
    #[inline]
    #[must_use]
    pub fn is_due(&self, clock: u64) -> bool {
        clock >= self.next
    }

    /// The statistics as last flushed, at a time at which they are `now`.
    pub fn known(&mut self, clock: u64, now: Statistics, random: &mut SplitMix64) -> Statistics {
        let due = self.is_due(clock);
        match &mut self.by {
            Flusher::EachChange => self.last = now,
            Flusher::Timer([every, late]) if due => {
                self.last = now;
                self.next = next_turn(self.next, clock, *every) + random.below(*late);
            }
            Flusher::Reader(reader) if due => {
                self.last = now;
                self.next = reader.next(self.next, clock, random);
            }
            Flusher::Timer(_) | Flusher::Reader(_) => {}
        }
        self.last
    }
}

/// The first turn after `clock` of what was due, and is due again after each `every`: a turn that has passed during a wait is not made up for.
#[must_use]
pub fn next_turn(due: u64, clock: u64, every: u64) -> u64 {
    let passed = (clock - due) / every.max(1) * every;
    due + passed + every
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::{Kernel, PRESETS};

    fn flushed(flushes: Flushes) -> Flushed {
        let kernel = Kernel { flushes_first: false, ..PRESETS[2] };
        let setting = Setting { flushes, ..Setting::without_limit(1, kernel) };
        Flushed::new(&setting, &Chance { phase: 30, ..Chance::default() })
    }

    fn known(flushed: &mut Flushed, clock: u64, anon: u64) -> u64 {
        let now = Statistics { size: [[anon, 0], [0, 0]], ..Statistics::default() };
        flushed.known(clock, now, &mut SplitMix64::new(1)).size[0][0]
    }

    #[test]
    fn the_kernel_flushes_by_its_timer_and_makes_up_for_no_turn() {
        let mut timer = flushed(Flushes::Every(100));
        assert_eq!([known(&mut timer, 29, 1), known(&mut timer, 30, 2), known(&mut timer, 129, 3)], [0, 2, 2]);
        // A wait has taken two of them: the next comes in its own time.
        assert_eq!([known(&mut timer, 380, 4), known(&mut timer, 429, 5), known(&mut timer, 430, 6)], [4, 4, 6]);
    }

    #[test]
    fn exact_statistics_are_known_at_once_and_nobody_else_flushes_them() {
        let mut exact = flushed(Flushes::AtOnce);
        exact.read_at(7);
        assert!(!exact.is_due(u64::MAX - 1));
        assert_eq!([known(&mut exact, 0, 1), known(&mut exact, 0, 2)], [1, 2]);
    }
}
