//! How much is looked at in one pass, and when a generation is made for it.
//!
//! Stands for `lru_gen_shrink_lruvec`, `try_to_shrink_lruvec`, `should_abort_scan`, `get_nr_to_scan` and `get_swappiness` (mm/vmscan.c) for a group at its
//! limit; read in 6.1, 6.12 and 7.3. That 6.18 looks on when enough is free is taken from 6.12. Left out: protection (memory.low), groups that are gone,
//! the whole machine.

use super::aging::{self, Need};
use super::evict::{self, BatchResult};
use super::sort;
use crate::kernel::{Mglru, PRIORITY};
use crate::memory::{ANON, Memory};

/// Slots below which nothing is swapped.
const FEW_SLOTS: u32 = 64;

/// One pass, in a reclaim that still wants a number of pages; how many were freed.
pub fn pass(memory: &mut Memory, mglru: Mglru, priority: u32, wanted: u64) -> u64 {
    memory.settle_all();
    memory.generations.walk.is_open = false;
    let swappiness = if memory.area.room() < FEW_SLOTS { 0 } else { memory.setting.swappiness };
    if mglru == Mglru::Rewritten {
        return rewritten(memory, swappiness, priority, wanted);
    }
    let anonymous = memory.counts.scanned[ANON];
    let (mut all, mut ages) = (BatchResult::default(), 0);
    loop {
        let need = aging::need(&memory.generations, mglru, swappiness);
        let mut evictable = aging::evictable(&memory.generations, swappiness);
        if need != Need::Not && priority != PRIORITY {
            aging::age(memory, mglru, swappiness);
            if mglru != Mglru::First {
                // The rest is left to the next pass.
                return all.freed;
            }
            ages += 1;
        } else if need == Need::Must {
            evictable = 0;
        }
        let most = evictable >> priority;
        if most == 0 {
            return all.freed;
        }
        let done = evict::evict(memory, mglru, swappiness, sort::MOST);
        all.freed += done.freed;
        all.scanned += done.scanned;
        // The first form ends when enough is free, if it swapped; the two after it look at their whole share, to be fair to other groups.
        let is_enough = mglru == Mglru::First && all.freed >= wanted;
        let swapped = memory.counts.scanned[ANON] > anonymous;
        if done.scanned == 0 || all.scanned >= most || (is_enough && swapped) || ages > 1 {
            return all.freed;
        }
    }
}

fn rewritten(memory: &mut Memory, swappiness: u64, priority: u32, wanted: u64) -> u64 {
    let mglru = Mglru::Rewritten;
    let mut left = aging::evictable(&memory.generations, swappiness) >> priority;
    let mut freed = 0;
    while left > 0 {
        let need = aging::need(&memory.generations, mglru, swappiness);
        if need == Need::Must || (need == Need::Better && priority != PRIORITY) {
            aging::age(memory, mglru, swappiness);
        }
        let done = evict::evict(memory, mglru, swappiness, left.min(sort::AT_ONCE));
        freed += done.freed;
        if done.scanned == 0 || freed >= wanted {
            break;
        }
        left = left.saturating_sub(done.scanned);
    }
    freed
}
