//! A batch of pages from the tail of a list: what is kept, moved or freed.
//!
//! Stands for `shrink_active_list`, `shrink_inactive_list`, `shrink_folio_list` and `folio_check_references` (mm/vmscan.c); read in 6.18. Left
//! out: dirty pages of files, pages mapped by several processes, huge pages.

use crate::folio::{Folio, SLOTS};
use crate::kernel::Group;
use crate::lru_cost;
use crate::memory::{FILE, Memory};
use crate::page::{Pages, bit};
use crate::workingset;

/// Folios that are looked at at once, at most: `reclaim` asks for no more.
const AT_ONCE: usize = 32;

/// Moves up to `n` pages from the active to the inactive list of a kind. No page here is of a program's code, so none is kept.
pub fn active(memory: &mut Memory, kind: usize, n: u64) {
    memory.settle_all();
    let mut looked_at = 0;
    while looked_at < n {
        let Some(folio) = memory.oldest(kind, 1) else { break };
        for id in folio.ids() {
            memory.pages.clear(id, bit::YOUNG | bit::ACTIVE);
            memory.pages.set(id, bit::WORKINGSET);
            memory.list(id);
            passed(memory);
        }
        looked_at += u64::from(folio.pages);
    }
}

/// Looks at up to `n` pages of the inactive list of a kind, and at the rest of the last folio; how many were freed.
pub fn inactive(memory: &mut Memory, kind: usize, n: u64) -> u64 {
    memory.settle_all();
    let (mut taken, mut scanned) = ([Folio::default(); AT_ONCE], 0);
    for place in &mut taken {
        let Some(folio) = (scanned < n).then(|| memory.oldest(kind, 0)).flatten() else { break };
        *place = folio;
        scanned += u64::from(folio.pages);
    }
    let (mut freed, mut written) = (0, 0);
    for folio in taken.into_iter().take_while(|folio| folio.pages > 0) {
        folio.ids().for_each(|_| passed(memory));
        let end = match folio.is_large() {
            true => large(memory, folio, all_references),
            false => one(memory, kind, folio.first, &mut written, references),
        };
        match end {
            End::Freed => freed += u64::from(folio.pages),
            End::Kept => folio.ids().for_each(|id| memory.list(id)),
            End::Activated => {
                give_slot_back(memory, folio.first);
                folio.ids().for_each(|id| activated(memory, id));
                workingset::age_nonresident(memory, folio.pages);
            }
        }
    }
    memory.counts.scanned[kind] += scanned;
    memory.counts.stolen[kind] += freed;
    lru_cost::note(memory, kind, written, scanned - freed);
    freed
}

fn activated(memory: &mut Memory, id: u32) {
    memory.pages.set(id, bit::ACTIVE);
    memory.list(id);
}

/// A page that stays in RAM needs no slot, if slots are scarce.
pub fn give_slot_back(memory: &mut Memory, id: u32) {
    if memory.pages.is(id, bit::SWAP_CACHE) && !memory.pages.is(id, bit::WRITEBACK) && memory.area.is_half_full() {
        memory.free_slot(id);
        memory.pages.set(id, bit::DIRTY);
    }
}

/// Fate of a folio in reclaim.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// Its RAM is free.
    Freed,
    /// It goes back to the lists.
    Kept,
    /// As one that is in use.
    Activated,
}

/// Whether page tables say that a page is in use, and what follows; `None`: it goes.
fn references(memory: &mut Memory, id: u32) -> Option<End> {
    let young = memory.pages.clear(id, bit::YOUNG);
    let was = memory.pages.clear(id, bit::REFERENCED);
    if !young {
        return None;
    }
    memory.clock += memory.steps.in_use;
    memory.pages.set(id, bit::REFERENCED);
    Some(if was { End::Activated } else { End::Kept })
}

/// One page that is off the lists; `references` says what its being in use means to these lists.
pub fn one(
    memory: &mut Memory,
    kind: usize,
    id: u32,
    written: &mut u64,
    references: impl Fn(&mut Memory, u32) -> Option<End>,
) -> End {
    let flags = memory.pages.flags[id as usize];
    if flags & bit::LOCKED != 0 || flags & (bit::HELD | bit::FILE) == bit::HELD | bit::FILE {
        return End::Kept;
    }
    if flags & bit::WRITEBACK != 0 {
        let goes = flags & bit::READ_AHEAD != 0;
        memory.pages.set(id, bit::READ_AHEAD);
        if memory.setting.kernel.group == Group::V2 || !goes {
            return End::Activated;
        }
        // A group of version 1 waits for it, since it has no other brake.
        memory.wait_written(id);
    }
    if let Some(end) = references(memory, id) {
        return end;
    }
    if kind != FILE
        && let Some(end) = leave(memory, id, written)
    {
        return end;
    }
    memory.pages.clear(id, bit::MAPPED);
    if memory.batches.holds(id) {
        return End::Kept;
    }
    memory.pages.clear(id, bit::RESIDENT | bit::SWAP_CACHE | bit::READ_AHEAD);
    memory.counts.early += u64::from(memory.epochs.is_of_this(id));
    workingset::evicted(memory, id);
    memory.charged -= 1;
    End::Freed
}

/// The same of a folio of several pages: one that is in use keeps all.
fn all_references(memory: &mut Memory, folio: Folio) -> Option<End> {
    let pages = &mut memory.pages;
    let (young, was) = (clear_all(pages, folio, bit::YOUNG), clear_all(pages, folio, bit::REFERENCED));
    if !young {
        return None;
    }
    folio.ids().for_each(|id| pages.set(id, bit::REFERENCED));
    Some(if was { End::Activated } else { End::Kept })
}

/// Of every page, also behind the first that had one; whether any had.
pub fn clear_all(pages: &mut Pages, folio: Folio, bits: u32) -> bool {
    folio.ids().filter(|id| pages.clear(*id, bits)).count() > 0
}

/// A folio of several pages that is off the lists.
pub fn large(memory: &mut Memory, folio: Folio, references: impl Fn(&mut Memory, Folio) -> Option<End>) -> End {
    if folio.ids().any(|id| memory.pages.flags[id as usize] & (bit::LOCKED | bit::HELD) != 0) {
        return End::Kept;
    }
    if let Some(end) = references(memory, folio) {
        return end;
    }
    clear_all(&mut memory.pages, folio, bit::MAPPED | bit::RESIDENT | bit::READ_AHEAD);
    if folio.pages >= SLOTS {
        // It has no slots but its own.
        clear_all(&mut memory.pages, folio, bit::SAME_FOLIO);
    }
    memory.counts.early += folio.ids().filter(|id| memory.epochs.is_of_this(*id)).count() as u64;
    workingset::all_evicted(memory, folio);
    memory.charged -= u64::from(folio.pages);
    End::Freed
}

/// An anonymous page goes to its slot; `None` if its RAM is free then.
fn leave(memory: &mut Memory, id: u32, written: &mut u64) -> Option<End> {
    if !memory.pages.is(id, bit::SWAP_CACHE) {
        if memory.pages.is(id, bit::SHARED) && memory.no_fs {
            // It is a file's, so a reclaim without __GFP_FS cannot write it; but no page table points to it any more.
            if memory.pages.clear(id, bit::MAPPED) {
                memory.clock += memory.steps.unmap;
            }
            return Some(End::Kept);
        }
        if !memory.take_slot(id) {
            return Some(End::Activated);
        }
        memory.pages.set(id, bit::SWAP_CACHE | bit::DIRTY);
    }
    memory.pages.clear(id, bit::MAPPED);
    if memory.pages.is(id, bit::HELD) || memory.batches.holds(id) {
        // It was written before, or is on its way to another list: a batch has it.
        return Some(End::Kept);
    }
    if memory.pages.clear(id, bit::DIRTY) {
        *written += 1;
        let (length, slot) = (memory.pages.lengths[id as usize], memory.pages.slot(id));
        memory.counts.swap_out += 1;
        if length == 0 && memory.setting.kernel.zero_map {
            // It is only noted.
            memory.clock += memory.steps.swap_out;
        } else if let Some(pool) = &mut memory.area.pool {
            pool.keep(slot, length);
            memory.clock += memory.steps.swap_out + memory.steps.compress;
        } else {
            memory.write_out(id);
            return Some(End::Kept);
        }
    }
    None
}

fn passed(memory: &mut Memory) {
    memory.clock += memory.steps.scan;
}
