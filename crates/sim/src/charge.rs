//! A page for the group, or none.
//!
//! Stands for `try_charge_memcg` (mm/memcontrol.c); read in 6.18. Left out: memory.high, and charges of several pages.

use crate::memory::Memory;
use crate::reclaim::reclaim;

/// Pages that are charged ahead.
const STOCK: u64 = 64;
/// How often it is tried without any page freed.
const RETRIES: u32 = 16;

/// How hard it is tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effort {
    /// Once: a page that is only read ahead.
    Once,
    /// Until the group is out of memory.
    All,
}

/// Charges one page; whether there is one.
#[inline]
pub fn charge(memory: &mut Memory, effort: Effort) -> bool {
    if memory.stock > 0 {
        memory.stock -= 1;
        return true;
    }
    beyond_stock(memory, effort)
}

fn beyond_stock(memory: &mut Memory, effort: Effort) -> bool {
    let mut retries = RETRIES;
    // Once it is tried again for the stock of other processors, which here have none.
    let mut drained = false;
    // Who reads ahead holds locks of the file system.
    memory.no_fs = effort == Effort::Once;
    loop {
        // The pool grew: what it takes is reclaimed first.
        while memory.is_over() && reclaim(memory) > 0 {}
        match memory.margin() {
            room if room >= STOCK => {
                memory.charged += STOCK;
                memory.stock = STOCK - 1;
                return true;
            }
            0 => {}
            _ => {
                memory.charged += 1;
                return true;
            }
        }
        let freed = reclaim(memory);
        if memory.margin() > 0 {
            continue;
        }
        if !std::mem::replace(&mut drained, true) {
            continue;
        }
        if effort == Effort::Once {
            return false;
        }
        if freed == 0 {
            // Pages on their way to the disk are waited for before anyone is killed.
            memory.hand_over();
            if let Some(at) = memory.area.next_done() {
                memory.wait_until(at);
                memory.settle();
                continue;
            }
            retries -= 1;
            if retries == 0 {
                memory.killed = true;
                return false;
            }
        }
    }
}
