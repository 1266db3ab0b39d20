//! A touch, and the faults it may be: in a file, or in anonymous memory.
//!
//! Stands for `handle_pte_fault`, `filemap_fault` with `do_sync_mmap_readahead`, `filemap_map_pages`, `do_anonymous_page` and `do_swap_page`
//! (mm/memory.c, mm/filemap.c, mm/swap_state.c); read in 6.18. Left out: large folios, and reads that the disk has not finished.

use crate::charge::{Effort, charge};
use crate::cost::{whole, with_each};
use crate::memory::{Memory, SwapTo};
use crate::page::{NONE, bit};
use crate::refault;

/// Pages of one block that a fault maps if they are there.
const AROUND: u32 = 16;
/// Misses after which a file is read page by page.
const LOTS_OF_MISSES: u32 = 100;

/// Pages of one file, among all pages.
#[derive(Debug, Clone, Copy)]
pub struct Extent {
    /// Its first.
    pub first: u32,
    /// How many.
    pub pages: u32,
}

impl Extent {
    const fn end(self) -> u32 {
        self.first + self.pages
    }
}

/// Touches a page of a mapped file.
pub fn file(memory: &mut Memory, extent: Extent, id: u32) {
    if is_mapped(memory, id, false) {
        return;
    }
    if memory.page(id).is(bit::RESIDENT) {
        memory.counts.minor += 1;
        memory.clock += whole(memory.setting.costs.minor);
        if memory.page(id).clear(bit::READ_AHEAD) {
            memory.misses = memory.misses.saturating_sub(1);
            let at = id - extent.first + memory.setting.read_ahead / 4;
            // Who reads ahead holds the page that asked for it.
            memory.page(id).set(bit::LOCKED);
            read_ahead(memory, extent, at, memory.setting.read_ahead, memory.setting.read_ahead);
            memory.page(id).clear(bit::LOCKED);
            map(memory, id);
        } else {
            map_around(memory, extent, id);
        }
        return;
    }
    memory.counts.major += 1;
    memory.misses = (memory.misses + 1).min(LOTS_OF_MISSES * 10);
    if memory.misses <= LOTS_OF_MISSES {
        let size = memory.setting.read_ahead;
        read_ahead(memory, extent, (id - extent.first).saturating_sub(size / 2), size, size / 4);
    }
    if !memory.page(id).is(bit::RESIDENT) {
        if !charge(memory, Effort::All) {
            return;
        }
        insert(memory, id, 0);
        memory.counts.read += 1;
        memory.clock += with_each(memory.setting.costs.read, 1);
    }
    memory.clock += whole(memory.setting.costs.minor);
    map_around(memory, extent, id);
}

/// Reads what is missing of a window; the page `ahead` before its end asks for the next one when it is touched.
fn read_ahead(memory: &mut Memory, extent: Extent, at: u32, size: u32, ahead: u32) {
    let first = (extent.first + at).min(extent.end());
    let last = (first + size).min(extent.end());
    let mark = (first + size).saturating_sub(ahead);
    let mut read = Vec::new();
    for id in first..last {
        if memory.page(id).is(bit::RESIDENT) {
            continue;
        }
        if !charge(memory, Effort::Once) {
            break;
        }
        insert(memory, id, bit::LOCKED | if id == mark { bit::READ_AHEAD } else { 0 });
        read.push(id);
    }
    for id in &read {
        memory.page(*id).clear(bit::LOCKED);
    }
    let n = read.len() as u64;
    if n > 0 {
        memory.counts.read += n;
        memory.clock += with_each(memory.setting.costs.read, n);
    }
}

/// A page that is charged, new in RAM.
fn insert(memory: &mut Memory, id: u32, bits: u16) {
    memory.page(id).set(bit::RESIDENT | bits);
    refault::came_back(memory, id);
    memory.list(id);
}

/// Maps all of the block of 16 that is in RAM; each of them counts against the misses.
fn map_around(memory: &mut Memory, extent: Extent, id: u32) {
    let place = id - extent.first + memory.around;
    let block = (place - place % AROUND).saturating_sub(memory.around) + extent.first;
    let end = (place - place % AROUND + AROUND - memory.around + extent.first).min(extent.end());
    for one in block..end {
        let page = memory.page(one);
        if page.is(bit::RESIDENT) && (one == id || !page.is(bit::READ_AHEAD)) {
            let is_hit = !page.is(bit::WORKINGSET);
            map(memory, one);
            memory.misses = memory.misses.saturating_sub(u32::from(is_hit));
        }
    }
}

fn map(memory: &mut Memory, id: u32) {
    let page = memory.page(id);
    if !page.is(bit::MAPPED) {
        page.set(bit::MAPPED | bit::YOUNG);
    }
}

/// Touches a page of anonymous memory.
pub fn anonymous(memory: &mut Memory, id: u32, write: bool) {
    if is_mapped(memory, id, write) {
        return;
    }
    let page = *memory.page(id);
    let (resident, slot) = (page.is(bit::RESIDENT), page.slot);
    let costs = memory.setting.costs;
    memory.clock += whole(costs.minor);
    if resident {
        // In the swap cache.
        memory.counts.minor += 1;
        if memory.page(id).clear(bit::READ_AHEAD) {
            memory.cluster_hits += 1;
        }
    } else if slot == NONE {
        memory.counts.minor += 1;
        if !charge(memory, Effort::All) {
            return;
        }
        insert(memory, id, bit::DIRTY);
    } else {
        memory.counts.major += 1;
        if memory.setting.swap == SwapTo::Zram {
            if !charge(memory, Effort::All) {
                return;
            }
            insert(memory, id, bit::DIRTY);
            memory.free_slot(id);
            memory.counts.swap_in += 1;
            memory.clock += whole(costs.decompress);
        } else {
            cluster(memory, slot);
            if !memory.page(id).is(bit::RESIDENT) {
                if !charge(memory, Effort::All) {
                    return;
                }
                swapped_in(memory, id, 0);
                memory.clock += with_each(costs.swap_read, u64::from(page.length > 0));
            }
        }
    }
    map(memory, id);
    let half_full = memory.used_slots as usize * 2 > memory.slots.len();
    if memory.page(id).is(bit::SWAP_CACHE) && (write || half_full) {
        memory.free_slot(id);
        memory.page(id).set(bit::DIRTY);
    }
}

fn swapped_in(memory: &mut Memory, id: u32, bits: u16) {
    insert(memory, id, bit::SWAP_CACHE | bits);
    memory.counts.swap_in += 1;
}

/// Reads the slots around one: so many as the last reads were worth.
fn cluster(memory: &mut Memory, slot: u32) {
    let hits = std::mem::take(&mut memory.cluster_hits);
    let n = window(memory, slot, hits);
    if hits == 0 {
        memory.cluster_before = slot;
    }
    memory.cluster_window = n;
    let first = slot - slot % n;
    let end = (first + n).min(u32::try_from(memory.slots.len()).unwrap_or(u32::MAX));
    let mut read = 0;
    for at in first..end {
        let id = memory.slots[at as usize];
        if id == NONE || memory.page(id).is(bit::RESIDENT) {
            continue;
        }
        if !charge(memory, if at == slot { Effort::All } else { Effort::Once }) {
            break;
        }
        swapped_in(memory, id, if at == slot { 0 } else { bit::READ_AHEAD });
        read += u64::from(memory.page(id).length > 0);
    }
    if read > 0 {
        memory.clock += with_each(memory.setting.costs.swap_read, read);
    }
}

/// `__swapin_nr_pages`.
fn window(memory: &Memory, slot: u32, hits: u32) -> u32 {
    let most = memory.setting.cluster;
    let is_beside = slot.abs_diff(memory.cluster_before) == 1;
    let pages = match hits {
        0 if is_beside => 2,
        0 => 1,
        hits => (hits + 2).next_power_of_two().max(4),
    };
    pages.min(most).max(memory.cluster_window / 2).max(1)
}

/// A touch that the page tables answer.
fn is_mapped(memory: &mut Memory, id: u32, write: bool) -> bool {
    memory.counts.touches += 1;
    let page = memory.page(id);
    if !page.is(bit::MAPPED) {
        return false;
    }
    page.set(bit::YOUNG);
    if write && page.is(bit::SWAP_CACHE) {
        memory.free_slot(id);
        memory.page(id).set(bit::DIRTY);
    }
    memory.clock += whole(memory.setting.costs.hit);
    true
}
