//! Shadow entries and refaults of the multi-generational LRU.
//!
//! Stands for `lru_gen_eviction`, `lru_gen_test_recent` and `lru_gen_refault` (mm/workingset.c); read in 6.12 and 6.18. Left out: shadows that the
//! kernel drops when they are too many.
//!
//! A shadow holds the oldest generation of its time, how often the page was read, and whether it was of the working set.

use crate::folio::Folio;
use crate::generations::{MOST, refs};
use crate::kernel::Mglru;
use crate::memory::Memory;
use crate::page::bit;

/// Bits of a generation in a shadow: no shadow has all bits, which mean none.
const SEQUENCES: u32 = (1 << 28) - 1;

/// A page goes: its shadow.
#[inline]
pub fn evicted(memory: &mut Memory, mglru: Mglru, id: u32) -> u32 {
    let flags = memory.pages.flags[id as usize];
    let kind = memory.pages.kind(id);
    let reads = refs::count(mglru, flags);
    let working = if mglru.is_early() { reads > 0 } else { flags & bit::WORKINGSET != 0 };
    memory.generations.control[kind].evicted[refs::tier(mglru, flags)] += 1;
    let oldest = memory.generations.min[kind] & SEQUENCES;
    oldest << 3 | reads.saturating_sub(1).min(3) << 1 | u32::from(working)
}

/// A refault of a folio with this shadow entry; it is not yet on a list.
#[inline]
pub fn refault(memory: &mut Memory, mglru: Mglru, folio: Folio, shadow: u32) {
    let (kind, pages) = (memory.pages.kind(folio.first), u64::from(folio.pages));
    let (then, working) = (shadow >> 3, shadow & 1 == 1);
    let generations = &memory.generations;
    let is_recent = match mglru {
        Mglru::First | Mglru::Mended => then == generations.min[kind] & SEQUENCES,
        Mglru::Reworked | Mglru::Rewritten => (generations.max & SEQUENCES).abs_diff(then) < MOST,
    };
    // The first form counts no others as refaults.
    memory.counts.refault[kind] += if is_recent || mglru != Mglru::First { pages } else { 0 };
    if !is_recent {
        return;
    }
    let kept = shadow >> 1 & 3;
    let reads = kept + if mglru.is_early() { u32::from(working) } else { 1 };
    let tier = refs::tier_of(mglru, reads, working);
    memory.generations.control[kind].refaulted[tier] += pages;
    if mglru.is_early() {
        memory.counts.activated[kind] += pages;
        if memory.in_fault || reads >= 3 {
            // It would have been kept if the tiers had been known.
            folio.ids().for_each(|id| memory.pages.set(id, bit::REFS | bit::WORKINGSET));
        }
        return;
    }
    let is_activated = memory.in_fault && (working || mglru == Mglru::Reworked);
    memory.counts.activated[kind] += if is_activated { pages } else { 0 };
    for id in folio.ids() {
        if working {
            memory.pages.set(id, bit::WORKINGSET);
        } else {
            memory.pages.clear(id, bit::REFS);
            memory.pages.set(id, (reads - 1) << bit::REF);
        }
    }
}
