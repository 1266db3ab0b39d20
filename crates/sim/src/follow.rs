//! A limit that follows what a zram takes, so that both together stay the same; and a load that is held as long as they are more.
//!
//! Stands for the thread of the lab that does so (`Follower`, crates/lab/src/limited/pool.rs), and for what the kernel does as it writes the limit:
//! `mem_cgroup_resize_max` (mm/memcontrol-v1.c) and `memory_max_write` (mm/memcontrol.c); read in 6.18. Left out: that the thread looks while a fault is under way, and
//! that version 2 asks for all that is above the limit at once, which is less than a batch in groups below 128 MiB.

use crate::keeper::Keeper;
use crate::load::PAGE;
use crate::memory::Memory;
use crate::reclaim::reclaim;

/// Nanoseconds between looks, with what a sleep is late.
const EVERY: u64 = 1_055_000;
/// A look at the pool, and a write of the limit beside the reclaim it may need: 200 writes held loads for 40 to 52 ms, with 30 reclaims of 0.3 ms.
const LOOK: u64 = 15_000;
const WRITE: u64 = 130_000;
/// A load that is held looks so often whether it may go on, with what a sleep is late.
const HELD: u64 = 255_000;
/// The limit moves once the pool has by one part of so many, and is lowered by no more at a time.
const STEP: u64 = 1000;
/// Lowered in vain so often, the group is out of memory: version 2 kills then, and of version 1 the lab waits until its watchdog does.
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
    let (mut now, mut held) = (memory.keeper.next, None);
    while held.is_some() || now <= memory.clock {
        now += LOOK;
        let Keeper { limit, .. } = memory.keeper;
        let wanted = nominal.saturating_sub(memory.area.pool_bytes());
        if wanted + step <= limit {
            if held.is_none() {
                now = now.max(memory.clock);
                held = Some(now);
            }
            now += lower(memory, wanted.max(limit.saturating_sub(step)), now);
        } else {
            if let Some(since) = held.take() {
                release(memory, since, now);
            }
            if wanted >= limit + step {
                memory.keeper.limit = wanted;
                now += WRITE;
            } else {
                now += EVERY;
            }
        }
        if memory.killed {
            break;
        }
    }
    memory.keeper.next = now;
}

/// The load sees at its next look that it may go on.
fn release(memory: &mut Memory, since: u64, now: u64) {
    let slept = now.saturating_sub(since).div_ceil(HELD) * HELD;
    memory.keeper.held += slept;
    memory.clock = memory.clock.max(since + slept);
    // It slept, so that it is switched to again.
    memory.generations.walk.has_waited = true;
}

/// The limit is lowered to so many bytes; how long that takes, with the reclaim of what is above it.
fn lower(memory: &mut Memory, limit: u64, now: u64) -> u64 {
    let begin = memory.clock.max(now);
    memory.clock = begin;
    memory.no_fs = false;
    let mut refused = 0;
    while memory.charged > limit / PAGE && !memory.killed {
        let stock = std::mem::take(&mut memory.stock);
        memory.charged -= stock;
        if stock == 0 && reclaim(memory, 1) == 0 {
            refused += 1;
            memory.killed = refused == REFUSED;
        }
    }
    memory.keeper.limit = limit;
    memory.keeper.lowered += 1;
    WRITE + memory.clock - begin
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
        assert!(sum.abs_diff(16_000 * PAGE) < 4 * 16_000 * PAGE / STEP, "{sum}");
        let Keeper { lowered, held, .. } = memory.keeper;
        let pool = memory.area.pool_bytes() / PAGE;
        // 16 pages at a time; a load is held until a look of its own.
        assert!(
            lowered >= pool / 16 && held > 0 && held % HELD == 0 && held < memory.clock,
            "{pool}: {:?}",
            memory.keeper
        );
        assert_eq!(memory.check(), Ok(()));
    }

    #[test]
    fn a_group_from_which_nothing_can_be_taken_is_out_of_memory() {
        let mut memory = group(1000, PRESETS[2], Chance::default());
        memory.setting.swappiness = 0;
        (0..100).for_each(|page| fault::miss(&mut memory, page | word::STORE));
        lower(&mut memory, 150 * PAGE, 0);
        assert!(!memory.killed);
        lower(&mut memory, 50 * PAGE, 0);
        assert!(memory.killed);
    }

    #[test]
    fn without_one_what_the_pool_takes_is_never_there() {
        let memory = filled(false);
        assert_eq!((memory.keeper.pages(), memory.keeper.held), (None, 0));
        assert!(memory.charged + memory.area.pool_bytes() / PAGE <= 16_000);
    }
}
