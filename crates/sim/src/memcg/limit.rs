//! A limit that is written while the group is in use.
//!
//! Stands for `mem_cgroup_resize_max` (mm/memcontrol-v1.c) and `memory_max_write` (mm/memcontrol.c); read in 6.18. Left out: version 2 asks for all that is above the limit at once,
//! which is less than a batch in groups below 128 MiB.

use crate::beside::LimitedGroup;
use crate::load::PAGE;
use crate::memory::Memory;
use crate::vmscan::reclaim::reclaim;

/// Lowered in vain so often (`MAX_RECLAIM_RETRIES`), the group is out of memory: version 2 kills then, and on version 1 the write fails.
const RETRIES: u32 = 16;

/// What happens by the clock, also while nothing is reclaimed: the thread beside the group acts, and statistics are flushed.
#[inline]
pub fn tick(memory: &mut Memory) {
    if memory.clock >= memory.acts_at {
        act(memory);
    }
    memory.flush_if_due();
}

fn act(memory: &mut Memory) {
    if let Some(mut beside) = memory.beside.take() {
        memory.acts_at = beside.act(memory);
        memory.beside = Some(beside);
    }
}

impl LimitedGroup for Memory {
    fn clock(&self) -> u64 {
        self.clock
    }

    fn pool_bytes(&self) -> u64 {
        self.area.pool_bytes()
    }

    fn charged(&self) -> u64 {
        self.charged
    }

    fn limit(&self) -> u64 {
        self.written_limit.unwrap_or(self.setting.limit * PAGE)
    }

    fn is_killed(&self) -> bool {
        self.killed
    }

    fn write_limit(&mut self, limit: u64, at: u64) -> u64 {
        if limit >= LimitedGroup::limit(self) {
            self.written_limit = Some(limit);
            return 0;
        }
        let begin = self.clock.max(at);
        self.clock = begin;
        self.no_fs = false;
        let mut refused = 0;
        while self.charged > limit / PAGE && !self.killed {
            let stock = std::mem::take(&mut self.stock);
            self.charged -= stock;
            if stock == 0 && reclaim(self, 1) == 0 {
                refused += 1;
                self.killed = refused == RETRIES;
            }
        }
        self.written_limit = Some(limit);
        self.clock - begin
    }

    fn sleep_until(&mut self, time: u64) {
        self.clock = self.clock.max(time);
        // It is switched to again.
        self.generations.walk.has_waited = true;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chance::Chance;
    use crate::fault;
    use crate::kernel::PRESETS;
    use crate::load::word;
    use crate::memory::tests::group;

    #[test]
    fn a_group_from_which_nothing_can_be_taken_is_out_of_memory() {
        let mut memory = group(1000, PRESETS[2], Chance::default());
        memory.setting.swappiness = 0;
        (0..100).for_each(|page| fault::miss(&mut memory, page | word::STORE));
        memory.setting.limit = 1 << 20;
        memory.write_limit(150 * PAGE, 0);
        assert!(!memory.killed);
        memory.write_limit(50 * PAGE, 0);
        assert!(memory.killed);
    }
}
