//! Swap-ins.
//!
//! Stands for `swap_cluster_readahead` and `swap_cache_get_folio` (mm/swap_state.c), and for the way past the swap cache that
//! synchronous areas have before 7.0 (`do_swap_page`, mm/memory.c); read in 6.18. Left out: read-ahead by address, which areas on disks without a
//! head have.

use crate::insert::insert;
use crate::memcg::charge::{Effort, charge};
use crate::memory::{Memory, SwapTo};
use crate::page::{NONE, bit};

/// A page was in the swap cache.
pub fn found_in_swap_cache(memory: &mut Memory, id: u32) {
    if memory.pages.clear(id, bit::READ_AHEAD) {
        memory.clusters.hits += 1;
    }
}

/// From zram: the page alone, and its slot is freed; whether it could be charged.
pub fn read_from_zram(memory: &mut Memory, id: u32) -> bool {
    if !charge(memory, 1, Effort::All) {
        return false;
    }
    insert(memory, id, bit::DIRTY);
    memory.free_slot(id);
    memory.counts.swap_in += 1;
    let [fault, page] = memory.steps.swap_in;
    memory.clock += fault + page + memory.steps.decompress;
    true
}

/// From a disk: the slots around it too, as many as hits of the last reads allow; whether the page could be charged.
pub fn read_cluster(memory: &mut Memory, wanted: u32) -> bool {
    memory.clock += memory.steps.swap_in[0];
    let slot = memory.pages.slot(wanted);
    let n = memory.clusters.swapin_nr_pages(slot, memory.setting.cluster);
    let mut read = 0;
    if n > 1 {
        // The area's header takes the place of one slot, so that blocks begin one earlier.
        let first = (slot + 1 - (slot + 1) % n).max(1) - 1;
        let end = (slot + n - (slot + 1) % n).min(memory.area.len());
        memory.plug.open();
        for at in first..end {
            let id = memory.area.owner(at);
            if id != NONE && !memory.pages.is(id, bit::RESIDENT) && charge(memory, 1, Effort::All) {
                read += add_to_swap_cache(memory, id, if at == slot { 0 } else { bit::READ_AHEAD });
            }
        }
        memory.unplug();
        for at in first..end {
            if memory.area.owner(at) != NONE {
                memory.pages.clear(memory.area.owner(at), bit::LOCKED);
            }
        }
        if memory.setting.kernel.drains_clusters {
            memory.drain();
        }
    }
    if !memory.pages.is(wanted, bit::RESIDENT) {
        if !charge(memory, 1, Effort::All) {
            return false;
        }
        read += add_to_swap_cache(memory, wanted, 0);
    }
    if memory.setting.swap == SwapTo::Zram {
        memory.clock += memory.steps.decompress * read;
    } else if read > 0 {
        memory.clock += memory.steps.swap_fetch;
        let done = memory.ask(memory.setting.costs.swap_read, read);
        memory.wait_until(done);
    }
    true
}

/// A page is in the swap cache; 1 if the disk had to be asked.
fn add_to_swap_cache(memory: &mut Memory, id: u32, bits: u32) -> u64 {
    let is_read = memory.pages.lengths[id as usize] > 0 || !memory.setting.kernel.zero_map;
    // Until the whole cluster is there the disk has them.
    let is_plugged = is_read && memory.setting.swap == SwapTo::Disk && memory.plug.is_open();
    insert(memory, id, bit::SWAP_CACHE | bits | if is_plugged { bit::LOCKED } else { 0 });
    memory.counts.swap_in += 1;
    memory.clock += memory.steps.swap_in[1];
    if is_plugged {
        memory.plug_page(id, false);
    }
    u64::from(is_read)
}
