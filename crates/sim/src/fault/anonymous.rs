//! Faults in private anonymous memory.
//!
//! Stands for `do_anonymous_page`, `do_swap_page` and `should_try_to_free_swap` (mm/memory.c); read in 6.12, 6.18 and 7.3. Left out: large folios, pages of several processes.

use super::swap_in;
use crate::filemap::map::map;
use crate::insert::insert;
use crate::memcg::charge::{Effort, charge};
use crate::memory::{Memory, SwapTo};
use crate::page::{NONE, bit};

/// A page that no page table points to is touched.
pub fn fault(memory: &mut Memory, id: u32, is_store: bool) {
    memory.clock += memory.steps.minor;
    if memory.pages.is(id, bit::RESIDENT) {
        memory.settle();
        memory.counts.minor += 1;
        swap_in::found_in_swap_cache(memory, id);
    } else if memory.pages.slot(id) == NONE {
        memory.counts.minor += 1;
        if !is_store {
            memory.pages.set(id, bit::ZEROS);
            return;
        }
        memory.pages.clear(id, bit::ZEROS);
        if !charge(memory, 1, Effort::All) {
            return;
        }
        insert(memory, id, bit::DIRTY);
    } else {
        memory.counts.major += 1;
        let has_come = match memory.setting.swap {
            SwapTo::Zram => swap_in::read_from_zram(memory, id),
            SwapTo::Disk | SwapTo::Nowhere => swap_in::read_cluster(memory, id),
        };
        if !has_come {
            return;
        }
    }
    let drains = memory.setting.kernel.drains_clusters;
    if is_store && drains && memory.pages.is(id, bit::SWAP_CACHE) && !memory.pages.is(id, bit::LISTED) {
        memory.drain();
    }
    map(memory, id);
    if !memory.pages.is(id, bit::SWAP_CACHE) {
        return;
    }
    // A page on its way to the disk keeps its slot, and one that a batch holds, since it may have other users.
    let is_alone = !drains || !memory.pages.is(id, bit::HELD);
    let is_free = is_store && is_alone || memory.area.is_half_full();
    if is_free && !memory.pages.is(id, bit::WRITEBACK) {
        memory.free_slot(id);
        memory.pages.set(id, bit::DIRTY);
    } else if is_store {
        memory.pages.set(id, bit::DIRTY);
    }
}
