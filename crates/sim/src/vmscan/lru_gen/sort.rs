//! The oldest folio of the oldest generation: whether it goes, or is kept.
//!
//! Stands for `sort_folio`, `isolate_folio`, `scan_folios` and `folio_inc_gen` (mm/vmscan.c); read in 6.12, 6.18 and 7.2. Left out: zones, pages that
//! are locked for good, dirty pages of files.

use crate::folio::Folio;
use crate::generations::{LEAST, place, place_in_flags, refs};
use crate::kernel::Mglru;
use crate::memory::Memory;
use crate::memory::lru_gen::{change, move_to, unlist};
use crate::page::bit;

/// Pages that are taken at once, at most (`MIN_LRU_BATCH`).
pub const AT_ONCE: u64 = 64;
/// Pages that are looked at for that, at most (`MAX_LRU_BATCH`).
pub const MOST: u64 = 4096;

/// Folios isolated in a scan of a kind.
#[derive(Debug, Default)]
pub struct IsolatedFolios {
    /// Folios off the lists.
    pub folios: Vec<Folio>,
    /// Their pages.
    pub pages: u64,
    /// Pages looked at.
    pub scanned: u64,
    /// It was the most that may be looked at.
    pub was_all: bool,
}

/// Looks at the oldest folios of a kind, up to a number of pages, and takes those of the tiers up to the last.
pub fn scan(memory: &mut Memory, mglru: Mglru, kind: usize, last_tier: usize, most: u64) -> IsolatedFolios {
    let mut taken = IsolatedFolios::default();
    if memory.generations.count(kind) == LEAST {
        return taken;
    }
    let at = place(memory.generations.min[kind]);
    let mut left = most;
    while left > 0 && taken.pages < AT_ONCE {
        let Some(id) = memory.lists[kind][at].last() else { break };
        let folio = Folio::containing(&memory.pages, id);
        left -= 1;
        taken.scanned += u64::from(folio.pages);
        memory.clock += memory.steps.scan;
        if !sort(memory, mglru, kind, folio, last_tier) {
            folio.ids().for_each(|id| isolate(memory, mglru, id));
            taken.pages += u64::from(folio.pages);
            taken.folios.push(folio);
        }
    }
    taken.was_all = left == 0;
    taken
}

/// Moves a folio that stays; whether it does.
fn sort(memory: &mut Memory, mglru: Mglru, kind: usize, folio: Folio, last_tier: usize) -> bool {
    let flags = memory.pages.flags[folio.first as usize];
    let oldest = memory.generations.min[kind];
    let next = place(oldest + 1);
    // A page table said that it is younger.
    if place_in_flags(flags) != place(oldest) {
        move_to(memory, folio, place_in_flags(flags), false);
        return true;
    }
    let tier = refs::tier(mglru, flags);
    let is_full = refs::is_full(mglru, flags);
    if tier > last_tier || is_full {
        advance(memory, mglru, folio, next);
        move_to(memory, folio, next, mglru.is_early());
        if mglru.is_early() || !is_full {
            memory.generations.control[kind].protected[tier] += u64::from(folio.pages);
        }
        return true;
    }
    let waits = mglru == Mglru::First && flags & (bit::LOCKED | bit::WRITEBACK) != 0;
    if waits {
        advance(memory, mglru, folio, next);
        memory.pages.set(folio.first, bit::READ_AHEAD);
        move_to(memory, folio, next, false);
    }
    waits
}

/// A folio of the oldest generation is of the next (`folio_inc_gen`).
pub fn advance(memory: &mut Memory, mglru: Mglru, folio: Folio, next: usize) {
    let bits = if mglru.is_early() { refs::ALL } else { refs::FLAGS };
    folio.ids().for_each(|id| _ = memory.pages.clear(id, bits));
    change(memory, folio, next);
}

/// A page is off the lists.
fn isolate(memory: &mut Memory, mglru: Mglru, id: u32) {
    let was_read = memory.pages.is(id, bit::REFERENCED);
    if mglru == Mglru::First {
        memory.pages.clear(id, bit::READ_AHEAD);
    }
    if mglru.is_early() {
        memory.pages.clear(id, if was_read { bit::REFERENCED } else { refs::ALL });
    } else if !was_read {
        memory.pages.clear(id, bit::REFS);
    }
    unlist(memory, id);
}
