//! A limit that follows what a zram takes, so that both together stay the same; and a load that is held as long as they are more.
//!
//! Stands for the thread of the lab that does so (`Follower`, crates/lab/src/limited/pool.rs), and for what the kernel does as it writes the limit:
//! `mem_cgroup_resize_max` (mm/memcontrol-v1.c) and `memory_max_write` (mm/memcontrol.c); read in 6.18. Left out: that the thread looks while a fault is under way, and
//! what its reclaim and the load, which has another processor, do to each other.

use crate::keeper::PAGE;
use crate::memory::Memory;
use crate::reclaim::reclaim;

/// Nanoseconds between looks, with what a sleep is late.
const EVERY: u64 = 1_055_000;
/// A look at the pool, and a write of the limit beside the reclaim it may need: 200 writes held loads for 40 to 52 ms, with 30 reclaims of 0.3 ms.
const LOOK: u64 = 15_000;
const WRITE: u64 = 130_000;
/// A load that is held looks so often whether it may go on, with what a sleep is late.
const HELD: u64 = 255_000;
/// The limit moves once the pool has by so many thousandths of it, and is lowered by no more at a time.
const STEP: u64 = 1000;
/// Lowered in vain so often, the load is let go: the limit stays.
const REFUSED: u32 = 16;

/// What happens by the clock: the limit follows, and the statistics are summed up, as they are also while nothing is reclaimed.
#[inline]
pub fn tick(memory: &mut Memory) {
    if memory.keeper.is_due(memory.clock) {
        look(memory);
    }
    memory.sum_up();
}

/// All looks until now; the clock goes on as long as the load is held.
fn look(memory: &mut Memory) {
    let nominal = memory.setting.limit * PAGE;
    let step = (nominal / STEP).max(1);
    let (mut now, mut held, mut refused) = (memory.keeper.next, None, 0);
    loop {
        now += LOOK;
        let (pool, limit) = (memory.area.pool_bytes(), memory.keeper.limit);
        let is_more = limit + pool >= nominal + step && refused < REFUSED;
        if let Some(since) = held.filter(|_| !is_more) {
            // It notices at its next look.
            let begin = memory.clock;
            memory.clock = begin.max(since + now.saturating_sub(since).div_ceil(HELD) * HELD);
            memory.keeper.held += memory.clock - begin;
            held = None;
        } else if is_more && held.is_none() {
            held = Some(memory.clock.max(now));
        }
        let wanted = nominal.saturating_sub(pool);
        let moves = wanted.abs_diff(limit) >= step && refused < REFUSED;
        now += if moves { WRITE } else { EVERY };
        if moves {
            now += write(memory, wanted.max(limit.saturating_sub(step)), &mut refused);
        }
        if held.is_none() && now > memory.clock {
            break;
        }
    }
    memory.keeper.next = now;
}

/// The limit is brought to so many bytes; how long what is above it took to reclaim, which is the thread's time.
fn write(memory: &mut Memory, limit: u64, refused: &mut u32) -> u64 {
    let begin = memory.clock;
    memory.no_fs = false;
    while memory.charged > limit / PAGE {
        let stock = std::mem::take(&mut memory.stock);
        memory.charged -= stock;
        if stock == 0 && reclaim(memory) == 0 {
            *refused += 1;
            memory.clock = begin;
            return LOOK;
        }
    }
    memory.keeper.limit = limit;
    let took = memory.clock - begin;
    memory.clock = begin;
    took
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chance::Chance;
    use crate::fault;
    use crate::kernel::PRESETS;
    use crate::load::word;
    use crate::memory::tests::group;
    use crate::memory::{Setting, SwapTo};

    /// 20,000 pages of anonymous memory where 16,000 may be there with what the zram takes, filled and touched again in turn.
    fn filled(follows: bool) -> Memory {
        let small = group(20_000, PRESETS[2], Chance::default());
        let setting = Setting { limit: 16_000, follows, swap: SwapTo::Zram, slots: 40_000, ..small.setting.clone() };
        let mut memory = Memory::new(setting, &small.regions, small.pages, Chance::default());
        memory.pages.lengths.fill(1500);
        for page in (0..20_000).chain(0..20_000) {
            let touch = page | word::STORE;
            if !fault::hit(&mut memory, touch) {
                fault::miss(&mut memory, touch);
            }
            assert!(memory.charged <= memory.keeper.pages().unwrap_or(16_000));
        }
        memory
    }

    #[test]
    fn limit_and_pool_together_stay_what_they_were_and_the_load_is_held_for_it() {
        let memory = filled(true);
        let sum = memory.keeper.limit + memory.area.pool_bytes();
        // What a millisecond of faults adds to a pool is not seen yet.
        assert!(sum.abs_diff(16_000 * PAGE) < 16 * 16_000 * PAGE / STEP, "{sum}");
        assert!(memory.keeper.held > 0 && memory.keeper.held < memory.clock, "{:?}", memory.keeper);
        assert_eq!(memory.check(), Ok(()));
    }

    #[test]
    fn without_one_what_the_pool_takes_is_never_there() {
        let memory = filled(false);
        assert_eq!((memory.keeper.pages(), memory.keeper.held), (None, 0));
        assert!(memory.charged + memory.area.pool_bytes() / PAGE <= 16_000);
    }
}
