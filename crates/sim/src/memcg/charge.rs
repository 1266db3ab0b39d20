//! A page for the group, or none.
//!
//! Stands for `try_charge_memcg` (mm/memcontrol.c); read in 6.18. Left out: memory.high.

use crate::memory::Memory;
use crate::vmscan::reclaim::reclaim;

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

/// Charges this number of pages at once; whether that fits.
#[inline]
pub fn charge(memory: &mut Memory, pages: u32, effort: Effort) -> bool {
    let pages = u64::from(pages);
    if memory.stock >= pages {
        memory.stock -= pages;
        return true;
    }
    beyond_stock(memory, pages, effort)
}

fn beyond_stock(memory: &mut Memory, pages: u64, effort: Effort) -> bool {
    let mut retries = RETRIES;
    // Once it is tried again after the stock was given back (`drain_all_stock`); no other processor has one here.
    let mut drained = false;
    // A stock is only charged where there is room for all of it at first.
    let mut batch = STOCK.max(pages);
    // Who reads ahead holds locks of the file system.
    memory.no_fs = effort == Effort::Once;
    loop {
        // The pool grew: what it takes is reclaimed first.
        while memory.is_over() && reclaim(memory, 1) > 0 {}
        let room = memory.margin();
        batch = if room < batch { pages } else { batch };
        if room >= batch {
            memory.charged += batch;
            // What was left of the stock was less than the pages, so it is never more than one batch (`refill_stock`).
            memory.stock += batch - pages;
            memory.most = memory.most.max(memory.charged - memory.stock);
            return true;
        }
        let freed = reclaim(memory, pages);
        if memory.margin() >= pages {
            continue;
        }
        if !std::mem::replace(&mut drained, true) {
            memory.charged -= std::mem::take(&mut memory.stock);
            continue;
        }
        if effort == Effort::Once {
            return false;
        }
        if freed == 0 {
            // Pages on their way to the disk are waited for before anyone is killed.
            memory.flush_plug();
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chance::Chance;
    use crate::kernel::PRESETS;
    use crate::memory::tests::group;

    #[test]
    fn several_pages_come_from_a_stock_that_has_as_many_or_leave_it_as_it_is() {
        let mut memory = group(8, PRESETS[2], Chance::default());
        let mut after = |pages: u32| {
            assert!(charge(&mut memory, pages, Effort::Once));
            (memory.charged, memory.stock)
        };
        assert_eq!([1, 16, 48, 64].map(&mut after), [(64, 63), (64, 47), (128, 63), (192, 63)]);
        assert_eq!([60, 16, 100].map(after), [(192, 3), (256, 51), (356, 51)]);
    }

    #[test]
    fn who_may_try_only_once_gives_the_stock_back_before_it_is_refused() {
        let mut memory = group(8, PRESETS[2], Chance::default());
        memory.setting.limit = 70;
        assert!(charge(&mut memory, 1, Effort::Once));
        assert_eq!((memory.charged, memory.stock), (64, 63));
        // Six are free below the limit and 63 in stock, together one less than these and the one page.
        assert!(!charge(&mut memory, 70, Effort::Once));
        assert_eq!((memory.charged, memory.stock), (1, 0));
        assert!(charge(&mut memory, 69, Effort::Once));
        assert_eq!((memory.charged, memory.stock), (70, 0));
    }
}
