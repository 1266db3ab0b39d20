//! The oldest generation is emptied, 64 pages at a time.
//!
//! Stands for `isolate_folios`, `evict_folios` and the references that `shrink_folio_list` asks for (mm/vmscan.c); read in 6.12, 6.18 and 7.2. What
//! becomes of a page stands in `crate::shrink`, for all lists. Left out: `may_unmap`, huge pages.

use super::sort::{self, Taken};
use super::{aging, walk};
use crate::generations::{LEAST, control, refs, will_go};
use crate::kernel::Mglru;
use crate::memory::Memory;
use crate::page::bit;
use crate::shrink::{self, End};

/// Pages that a batch looked at, and those of them that are free.
#[derive(Debug, Clone, Copy, Default)]
pub struct Done {
    /// Looked at; a generation that is over counts as one. 0: there is nothing to be had.
    pub scanned: u64,
    /// Free.
    pub freed: u64,
}

/// One batch, for which up to so many pages are looked at.
pub fn evict(memory: &mut Memory, mglru: Mglru, swappiness: u64, most: u64) -> Done {
    memory.settle();
    if mglru == Mglru::Rewritten {
        aging::end_empty(memory, mglru, swappiness);
    }
    let (kind, mut scanned, pages) = isolate(memory, mglru, swappiness, most);
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
    let n = pages.len() as u64;
    let freed = free(memory, mglru, kind, pages);
    memory.counts.scanned[kind] += n;
    memory.counts.stolen[kind] += freed;
    Done { scanned, freed }
}

/// Takes pages of one kind, or of the other if there are none; the kind, how many were looked at, and the pages.
fn isolate(memory: &mut Memory, mglru: Mglru, swappiness: u64, most: u64) -> (usize, u64, Vec<u32>) {
    let generations = &memory.generations;
    let (mut kind, mut tier) = control::kind(mglru, &generations.control, generations.min, swappiness);
    let mut all = 0;
    for _ in aging::kinds(swappiness) {
        let last = tier.take().unwrap_or_else(|| memory.generations.control[kind].last_tier(mglru));
        let Taken { pages, scanned, was_all } = sort::scan(memory, mglru, kind, last, most);
        all += scanned;
        if mglru == Mglru::Rewritten {
            if !pages.is_empty() {
                return (kind, all, pages);
            }
            // There are pages of this kind: they only moved.
            if scanned > 0 {
                continue;
            }
        } else if !pages.is_empty() || was_all {
            return (kind, scanned, pages);
        }
        kind = 1 - kind;
    }
    (kind, if mglru == Mglru::Rewritten { all } else { 0 }, Vec::new())
}

/// What becomes of the pages; how many are free.
fn free(memory: &mut Memory, mglru: Mglru, kind: usize, mut pages: Vec<u32>) -> u64 {
    let mut freed = 0;
    let mut written = 0;
    for is_second in [false, true] {
        let mut kept = Vec::new();
        for id in std::mem::take(&mut pages) {
            if mglru.is_early() && memory.pages.is(id, bit::MAPPED | bit::REFERENCED) {
                // Its neighbour was looked at before.
                kept.push(id);
                continue;
            }
            match shrink::one(memory, kind, id, &mut written, |memory, id| references(memory, mglru, id)) {
                End::Freed => freed += 1,
                End::Kept => kept.push(id),
                End::Activated => {
                    shrink::give_slot_back(memory, id);
                    memory.pages.set(id, bit::ACTIVE);
                    kept.push(id);
                }
            }
        }
        for id in kept {
            if is_rejected(memory, mglru, kind, id, is_second) {
                memory.list(id);
            } else {
                // Its write may have ended meanwhile.
                pages.push(id);
            }
        }
    }
    freed
}

/// A page that was not freed goes back to the lists, not to the oldest of them; or it is tried once more.
fn is_rejected(memory: &mut Memory, mglru: Mglru, kind: usize, id: u32, is_second: bool) -> bool {
    let flags = memory.pages.flags[id as usize];
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
        memory.pages.clear(id, refs::FLAGS);
        memory.pages.set(id, bit::ACTIVE);
    }
    true
}

/// Whether page tables say that a page in the hands of reclaim is in use, and what follows; `None`: it goes.
pub fn references(memory: &mut Memory, mglru: Mglru, id: u32) -> Option<End> {
    let young = memory.pages.clear(id, bit::YOUNG) && memory.pages.is(id, bit::MAPPED);
    if mglru.is_early() {
        memory.pages.clear(id, bit::REFERENCED);
    }
    if !young {
        return None;
    }
    walk::look_around(memory, mglru, id);
    if mglru.is_early() {
        memory.pages.set(id, bit::REFERENCED);
        return Some(End::Kept);
    }
    let (used, goes) = refs::seen(mglru, memory.pages.flags[id as usize]);
    memory.pages.flags[id as usize] = used;
    Some(if goes { End::Activated } else { End::Kept })
}
