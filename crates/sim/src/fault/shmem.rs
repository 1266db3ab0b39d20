//! Faults in shared anonymous memory.
//!
//! Stands for `shmem_fault` and `shmem_swapin_folio` (mm/shmem.c); read in 6.12, and for the way past the swap cache in what 6.14 says of it. Left out:
//! large folios, several mappings, read(2) and write(2) of a tmpfs. Its pages are on the anonymous lists; how reclaim treats them stands in `shrink`.

use super::swap_in;
use crate::filemap::map::{map, map_around};
use crate::insert::insert;
use crate::kernel::SwapCache;
use crate::load::Extent;
use crate::memcg::charge::{Effort, charge};
use crate::memory::{Memory, SwapTo};
use crate::page::{NONE, bit};

/// A page that no page table points to is touched.
pub fn fault(memory: &mut Memory, extent: Extent, id: u32, is_store: bool) {
    memory.clock += memory.steps.minor;
    if memory.pages.is(id, bit::RESIDENT) {
        memory.settle();
        memory.counts.minor += 1;
        if memory.pages.is(id, bit::SWAP_CACHE) {
            swap_in::found_in_swap_cache(memory, id);
            back(memory, id);
        } else if !is_store {
            // As in a file, a read maps what lies around; a store maps its page alone.
            return map_around(memory, extent, id, true);
        }
        return map(memory, id);
    }
    if memory.pages.slot(id) == NONE {
        memory.counts.minor += 1;
        if !charge(memory, 1, Effort::All) {
            return;
        }
        insert(memory, id, bit::DIRTY);
    } else {
        memory.counts.major += 1;
        let past = memory.setting.kernel.swap_cache != SwapCache::PastForPrivate;
        let has_come = match memory.setting.swap {
            SwapTo::Zram if past => swap_in::read_from_zram(memory, id),
            SwapTo::Zram | SwapTo::Disk | SwapTo::Nowhere => swap_in::read_cluster(memory, id),
        };
        if !has_come {
            return;
        }
        back(memory, id);
    }
    map(memory, id);
}

/// A page goes from the swap cache back to its file: a write that is under way is waited for, and its slot is free.
fn back(memory: &mut Memory, id: u32) {
    memory.pages.set(id, bit::DIRTY);
    if memory.pages.is(id, bit::WRITEBACK) {
        memory.wait_written(id);
    }
    memory.free_slot(id);
}
