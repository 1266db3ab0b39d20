//! A batch of pages from the tail of a list: what is kept, moved or freed.
//!
//! Stands for `shrink_active_list`, `shrink_inactive_list`, `shrink_folio_list` and `folio_check_references` (mm/vmscan.c); read in 6.18. Left
//! out: dirty pages of files, pages mapped by several processes, huge pages.

use crate::cost::whole;
use crate::memory::{FILE, Memory, SwapTo};
use crate::page::bit;
use crate::refault;

/// Moves up to `n` pages from the active to the inactive list of a kind. No page here is of a program's code, so none is kept.
pub fn active(memory: &mut Memory, kind: usize, n: u64) {
    for _ in 0..n {
        let Some(id) = memory.oldest(kind, 1) else { break };
        let page = memory.page(id);
        page.clear(bit::YOUNG | bit::ACTIVE);
        page.set(bit::WORKINGSET);
        memory.list(id);
        passed(memory);
    }
}

/// Looks at up to `n` pages of the inactive list of a kind; how many were freed.
pub fn inactive(memory: &mut Memory, kind: usize, n: u64) -> u64 {
    memory.settle();
    let taken: Vec<u32> = (0..n).map_while(|_| memory.oldest(kind, 0)).collect();
    let (mut freed, mut written) = (0, 0);
    let scanned = taken.len() as u64;
    for id in taken {
        passed(memory);
        match one(memory, kind, id, &mut written) {
            End::Freed => freed += 1,
            End::Kept => memory.list(id),
            End::Activated => {
                memory.page(id).set(bit::ACTIVE);
                memory.list(id);
                refault::older(memory);
            }
        }
    }
    memory.counts.scanned[kind] += scanned;
    memory.counts.stolen[kind] += freed;
    memory.note_cost(kind, written, scanned - freed);
    freed
}

enum End {
    Freed,
    Kept,
    Activated,
}

fn one(memory: &mut Memory, kind: usize, id: u32, written: &mut u64) -> End {
    let zram = memory.setting.swap == SwapTo::Zram;
    let page = memory.page(id);
    if page.is(bit::LOCKED) {
        return End::Kept;
    }
    if page.is(bit::WRITEBACK) {
        // A group of version 1 waits for it, since it has no other brake.
        let end = memory.writes.iter().find(|(_, one)| *one == id).map_or(memory.clock, |(at, _)| *at);
        memory.clock = memory.clock.max(end);
        memory.settle();
    }
    let page = memory.page(id);
    let young = page.clear(bit::YOUNG);
    let was = page.clear(bit::REFERENCED);
    if young {
        page.set(bit::REFERENCED);
        return if was { End::Activated } else { End::Kept };
    }
    if kind != FILE {
        if !page.is(bit::SWAP_CACHE) {
            if memory.take_slot(id).is_none() {
                return End::Activated;
            }
            memory.page(id).set(bit::SWAP_CACHE | bit::DIRTY);
        }
        let page = memory.page(id);
        page.clear(bit::MAPPED);
        if page.clear(bit::DIRTY) {
            *written += 1;
            let length = page.length;
            memory.counts.swap_out += 1;
            if zram {
                memory.pool += memory.bytes(length);
                memory.clock += whole(memory.setting.costs.compress);
            } else if length > 0 {
                // Pages of zeros are only noted; others are on their way for a while.
                memory.clock += whole(memory.setting.costs.swap_write[0]);
                memory.writes.push_back((memory.clock + whole(memory.setting.costs.swap_write[1]), id));
                memory.page(id).set(bit::WRITEBACK);
                return End::Kept;
            }
        }
    }
    let page = memory.page(id);
    page.clear(bit::MAPPED | bit::RESIDENT | bit::SWAP_CACHE | bit::READ_AHEAD);
    refault::evicted(memory, id);
    memory.charged -= 1;
    End::Freed
}

fn passed(memory: &mut Memory) {
    memory.clock += whole(memory.setting.costs.scan);
}
