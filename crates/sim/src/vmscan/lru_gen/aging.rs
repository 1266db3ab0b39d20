//! A new youngest generation, and the end of the oldest.
//!
//! Stands for `try_to_inc_max_seq`, `inc_max_seq`, `inc_min_seq`, `try_to_inc_min_seq` and `should_run_aging` (mm/vmscan.c); read in 6.12, 6.18 and
//! 7.2. Left out: several processes.

use super::{sort, walk};
use crate::folio::Folio;
use crate::generations::{Generations, LEAST, MOST, place, place_in_flags, refs};
use crate::kernel::Mglru;
use crate::memory::lru_gen::{change, move_to};
use crate::memory::{ANON, FILE, Memory};
use crate::page::bit;

/// Need of aging before a pass.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Need {
    /// Nothing can go before.
    Must,
    /// It would be better.
    Better,
    /// None.
    Not,
}

/// Kinds that may go (`for_each_evictable_type`).
#[must_use]
pub const fn kinds(swappiness: u64) -> std::ops::Range<usize> {
    if swappiness == 0 { FILE..2 } else { ANON..2 }
}

/// Whether a generation is needed (`should_run_aging`).
#[must_use]
pub fn need(generations: &Generations, mglru: Mglru, swappiness: u64) -> Need {
    if !mglru.is_early() {
        let first = generations.oldest(swappiness) + LEAST;
        return match () {
            () if first > generations.max => Need::Must,
            () if first == generations.max => Need::Better,
            () => Need::Not,
        };
    }
    // Anonymous memory is never younger than files here, so its oldest generation says it for both.
    let first = generations.min[kinds(swappiness).start] + LEAST;
    if first > generations.max {
        return Need::Must;
    }
    let of = |generation: u32| {
        let kinds = kinds(swappiness).filter(|kind| generations.min[*kind] <= generation);
        kinds.map(|kind| generations.sizes[kind][place(generation)]).sum::<u64>()
    };
    let (young, old) = (of(generations.max), of(generations.max - LEAST));
    let total = evictable(generations, swappiness);
    let least = u64::from(LEAST);
    let is_unequal = young * least > total || old * (least + 2) < total;
    if first == generations.max && is_unequal { Need::Better } else { Need::Not }
}

/// Pages of the kinds that may go.
#[must_use]
pub fn evictable(generations: &Generations, swappiness: u64) -> u64 {
    kinds(swappiness).map(|kind| generations.sizes[kind].iter().sum::<u64>()).sum()
}

/// Reads the page tables and begins a generation.
pub fn age(memory: &mut Memory, mglru: Mglru, swappiness: u64) {
    walk::tables(memory, mglru, swappiness);
    for kind in [FILE, ANON] {
        if memory.generations.count(kind) == MOST {
            end_oldest(memory, mglru, kind, swappiness);
        }
    }
    memory.generations.max += 1;
}

/// The oldest generation of a kind has to make room; what is left of it goes to the next (`inc_min_seq`).
fn end_oldest(memory: &mut Memory, mglru: Mglru, kind: usize, swappiness: u64) {
    let oldest = memory.generations.min[kind];
    if kinds(swappiness).contains(&kind) {
        let (from, to) = (place(oldest), place(oldest + 1));
        while let Some(id) = memory.lists[kind][from].last() {
            let folio = Folio::containing(&memory.pages, id);
            let flags = memory.pages.flags[folio.first as usize];
            if !mglru.is_early() && !refs::is_full(mglru, flags) {
                memory.generations.control[kind].protected[refs::tier(mglru, flags)] += u64::from(folio.pages);
            }
            if place_in_flags(flags) == from {
                sort::advance(memory, mglru, folio, to);
                move_to(memory, folio, to, true);
            } else {
                move_to(memory, folio, place_in_flags(flags), true);
            }
        }
    }
    memory.generations.control[kind].next();
    memory.generations.min[kind] += 1;
}

/// Oldest generations without pages are over (`try_to_inc_min_seq`); whether one was.
pub fn end_empty(memory: &mut Memory, mglru: Mglru, swappiness: u64) -> bool {
    let generations = &memory.generations;
    let before = generations.min;
    let mut min = before;
    for kind in kinds(swappiness) {
        while min[kind] + LEAST <= generations.max && memory.lists[kind][place(min[kind])].last().is_none() {
            min[kind] += 1;
        }
    }
    if mglru.is_early() {
        if swappiness > 0 {
            min[ANON] = min[ANON].min(min[FILE]);
            min[FILE] = min[ANON].max(before[FILE]);
        }
    } else if (1..=200).contains(&swappiness) {
        // One kind does not run ahead of the other by more than it has to.
        let last = generations.max - LEAST;
        for (one, other) in [(ANON, FILE), (FILE, ANON)] {
            if min[one] > last && min[other] < last {
                min[one] = last;
                break;
            }
        }
    }
    let mut was = false;
    for kind in kinds(swappiness).filter(|kind| min[*kind] > before[*kind]) {
        memory.generations.control[kind].next();
        memory.generations.min[kind] = min[kind];
        was = true;
    }
    was
}

/// A folio that a page table says was used is of the youngest generation from now on, or of it the next time (`folio_update_gen`).
pub fn promote(memory: &mut Memory, mglru: Mglru, folio: Folio) {
    let id = folio.first;
    let flags = memory.pages.flags[id as usize];
    let is_listed = flags & bit::LISTED != 0;
    let youngest = place(memory.generations.max);
    if mglru.is_early() {
        if !is_listed {
            // Reclaim has it in its hands, and will see this bit.
            memory.pages.set(id, bit::REFERENCED);
            return;
        }
        memory.pages.clear(id, refs::ALL);
        change(memory, folio, youngest);
        return;
    }
    let (_, goes) = refs::used(flags);
    if !goes || is_listed {
        folio.ids().for_each(|id| memory.pages.flags[id as usize] = refs::used(memory.pages.flags[id as usize]).0);
    }
    if goes && is_listed {
        change(memory, folio, youngest);
    }
}
