//! Pages on their way to a list: each processor puts them there 31 at a time.
//!
//! Stands for `folio_add_lru`, `folio_activate` and `lru_add_drain_cpu` (mm/swap.c) with their `struct folio_batch`; read in 6.18. Left out: the
//! batches of other processors, and of pages whose write is done.

use crate::memory::Memory;
use crate::page::bit;

/// Pages of a batch (`PAGEVEC_SIZE`).
pub const PAGES: usize = 31;

/// Those of one processor.
#[derive(Debug, Clone, Copy)]
pub struct Batches {
    adding: [u32; PAGES],
    added: usize,
    activating: [u32; PAGES],
    activated: usize,
    /// Pages of others that were in the first batch already.
    others: usize,
}

impl Default for Batches {
    fn default() -> Batches {
        Batches { adding: [0; PAGES], added: 0, activating: [0; PAGES], activated: 0, others: 0 }
    }
}

impl Batches {
    /// Of the first batches, so many pages are another's.
    #[must_use]
    pub fn begun(others: u32) -> Batches {
        Batches { others: (others as usize).min(PAGES - 1), ..Batches::default() }
    }

    /// Pages that are in RAM and not yet on a list.
    #[must_use]
    pub fn adding(&self) -> &[u32] {
        &self.adding[..self.added]
    }
}

/// A page that is new in RAM.
pub fn add(memory: &mut Memory, id: u32) {
    let batches = &mut memory.batches;
    batches.adding[batches.added] = id;
    batches.added += 1;
    if batches.added + batches.others == PAGES {
        batches.others = 0;
        list_added(memory);
    }
}

/// A page of the inactive list that was read a second time.
pub fn activate(memory: &mut Memory, id: u32) {
    let batches = &mut memory.batches;
    batches.activating[batches.activated] = id;
    batches.activated += 1;
    if batches.activated == PAGES {
        list_activated(memory);
    }
}

/// Before reclaim looks at a list, all of them are on theirs.
pub fn drain(memory: &mut Memory) {
    if memory.batches.added > 0 {
        list_added(memory);
    }
    if memory.batches.activated > 0 {
        list_activated(memory);
    }
    memory.batches.others = 0;
}

fn list_added(memory: &mut Memory) {
    let Batches { adding, added, .. } = memory.batches;
    memory.batches.added = 0;
    adding[..added].iter().for_each(|id| memory.list(*id));
}

fn list_activated(memory: &mut Memory) {
    let Batches { activating, activated, .. } = memory.batches;
    memory.batches.activated = 0;
    for id in &activating[..activated] {
        if memory.pages.is(*id, bit::LISTED) && !memory.pages.is(*id, bit::ACTIVE) {
            memory.unlist(*id);
            memory.pages.set(*id, bit::ACTIVE);
            memory.list(*id);
        }
    }
}
