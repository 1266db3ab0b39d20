//! The oldest generation is emptied, 64 pages at a time.
//!
//! Stands for `isolate_folios`, `evict_folios` and the references that `shrink_folio_list` asks for (mm/vmscan.c); read in 6.12, 6.18 and 7.2. What
//! becomes of a page stands in `crate::shrink`, for all lists. Left out: `may_unmap`, huge pages.

use super::sort::{self, IsolatedFolios};
use super::{aging, walk};
use crate::folio::Folio;
use crate::generations::{LEAST, control, refs, will_go};
use crate::kernel::Mglru;
use crate::memory::Memory;
use crate::page::bit;
use crate::vmscan::shrink_list::{self, End};

/// Result of a batch: pages scanned, and those of them that are free.
#[derive(Debug, Clone, Copy, Default)]
pub struct BatchResult {
    /// Looked at; a generation that is over counts as one. 0: there is nothing to be had.
    pub scanned: u64,
    /// Free.
    pub freed: u64,
}

/// One batch, for which up to a number of pages is scanned.
pub fn evict(memory: &mut Memory, mglru: Mglru, swappiness: u64, most: u64) -> BatchResult {
    memory.settle();
    if mglru == Mglru::Rewritten {
        aging::end_empty(memory, mglru, swappiness);
    }
    let (kind, IsolatedFolios { folios, pages, mut scanned, .. }) = isolate(memory, mglru, swappiness, most);
    if mglru == Mglru::Rewritten {
        if scanned > 0 {
            aging::end_empty(memory, mglru, swappiness);
        }
    } else {
        scanned += u64::from(aging::end_empty(memory, mglru, swappiness));
        let generations = &memory.generations;
        let first = if mglru.is_early() {
            generations.min[aging::kinds(swappiness).start]
        } else {
            generations.oldest(swappiness)
        };
        if first + LEAST > generations.max {
            scanned = 0;
        }
    }
    let freed = free(memory, mglru, kind, folios);
    memory.counts.scanned[kind] += pages;
    memory.counts.stolen[kind] += freed;
    BatchResult { scanned, freed }
}

/// Takes folios of one kind, or of the other if there are none; the kind, and what looking at it gave.
fn isolate(memory: &mut Memory, mglru: Mglru, swappiness: u64, most: u64) -> (usize, IsolatedFolios) {
    let generations = &memory.generations;
    let (mut kind, mut tier) = control::kind(mglru, &generations.control, generations.min, swappiness);
    let mut all = 0;
    for _ in aging::kinds(swappiness) {
        let last = tier.take().unwrap_or_else(|| memory.generations.control[kind].last_tier(mglru));
        let taken = sort::scan(memory, mglru, kind, last, most);
        all += taken.scanned;
        if mglru == Mglru::Rewritten {
            if !taken.folios.is_empty() {
                return (kind, IsolatedFolios { scanned: all, ..taken });
            }
            // There are pages of this kind: they only moved.
            if taken.scanned > 0 {
                continue;
            }
        } else if !taken.folios.is_empty() || taken.was_all {
            return (kind, taken);
        }
        kind = 1 - kind;
    }
    (kind, IsolatedFolios { scanned: if mglru == Mglru::Rewritten { all } else { 0 }, ..IsolatedFolios::default() })
}

/// What becomes of the folios; how many pages are free.
fn free(memory: &mut Memory, mglru: Mglru, kind: usize, mut folios: Vec<Folio>) -> u64 {
    let mut freed = 0;
    let mut written = 0;
    for is_second in [false, true] {
        let mut kept = Vec::new();
        for folio in std::mem::take(&mut folios) {
            let id = folio.first;
            if mglru.is_early() && memory.pages.is(id, bit::MAPPED | bit::REFERENCED) {
                // Its neighbour was looked at before.
                kept.push(folio);
                continue;
            }
            let end = match folio.is_large() {
                true => shrink_list::large(memory, folio, |memory, folio| references(memory, mglru, folio)),
                false => shrink_list::one(memory, kind, id, &mut written, |memory, _| references(memory, mglru, folio)),
            };
            match end {
                End::Freed => freed += u64::from(folio.pages),
                End::Kept => kept.push(folio),
                End::Activated => {
                    shrink_list::give_slot_back(memory, id);
                    folio.ids().for_each(|id| memory.pages.set(id, bit::ACTIVE));
                    kept.push(folio);
                }
            }
        }
        for folio in kept {
            if is_rejected(memory, mglru, kind, folio, is_second) {
                folio.ids().for_each(|id| memory.list(id));
            } else {
                // Its write may have ended meanwhile.
                folios.push(folio);
            }
        }
    }
    freed
}

/// A folio that was not freed goes back to the lists, not to the oldest of them; or it is tried once more.
fn is_rejected(memory: &mut Memory, mglru: Mglru, kind: usize, folio: Folio, is_second: bool) -> bool {
    let id = folio.first;
    let flags = folio.ids().fold(0, |all, id| all | memory.pages.flags[id as usize]);
    let has = |bits: u32| flags & bits != 0;
    if mglru.is_early() {
        if will_go(flags) {
            memory.pages.set(id, if has(bit::WORKINGSET) { bit::REFERENCED } else { 0 });
            return true;
        }
        let is_busy = has(bit::ACTIVE | bit::REFERENCED | bit::MAPPED | bit::LOCKED | bit::DIRTY | bit::WRITEBACK);
        if is_second || is_busy {
            memory.pages.clear(id, refs::ALL);
            memory.pages.set(id, bit::ACTIVE);
        }
        return is_second || is_busy;
    }
    if !is_second && !has(bit::ACTIVE | bit::MAPPED | bit::DIRTY | bit::WRITEBACK) {
        return false;
    }
    if memory.generations.home(mglru, flags, false) == memory.generations.min[kind] {
        shrink_list::clear_all(&mut memory.pages, folio, refs::FLAGS);
        folio.ids().for_each(|id| memory.pages.set(id, bit::ACTIVE));
    }
    true
}

/// Whether page tables say that a folio in the hands of reclaim is in use, and what follows; `None`: it goes.
pub fn references(memory: &mut Memory, mglru: Mglru, folio: Folio) -> Option<End> {
    let id = folio.first;
    let mut young = false;
    for id in folio.ids() {
        young |= memory.pages.clear(id, bit::YOUNG) && memory.pages.is(id, bit::MAPPED);
    }
    if mglru.is_early() {
        memory.pages.clear(id, bit::REFERENCED);
    }
    if !young {
        return None;
    }
    walk::look_around(memory, mglru, folio);
    if mglru.is_early() {
        memory.pages.set(id, bit::REFERENCED);
        return Some(End::Kept);
    }
    Some(if walk::see(memory, mglru, folio) { End::Activated } else { End::Kept })
}
