//! The multi-generational LRU: pages on lists by generation, each kind with up to four of them.
//!
//! Stands for `struct lru_gen_folio` (include/linux/mmzone.h), `lru_gen_add_folio` and `lru_gen_del_folio` (include/linux/mm_inline.h); read in 6.12
//! and 6.18. `refs` counts reads, `aging` makes generations (`walk` reads page tables for it), `evict` empties the oldest (`control` says of which kind,
//! `sort` of which of its pages), `shrink` says how much, `refault` what the coming back of a page means. Left out: zones, the lists of groups,
//! `min_ttl_ms`, histories of more than one generation.
//!
//! Generations are numbered without end; the list of a generation is its number modulo four. The youngest two are what is called active elsewhere.

pub mod aging;
pub mod control;
pub mod evict;
pub mod refault;
pub mod refs;
pub mod shrink;
mod sort;
#[cfg(test)]
mod tests;
pub mod walk;

use crate::kernel::Mglru;
use crate::memory::{ANON, FILE, Memory};
use crate::page::bit;

/// Generations of a kind, at most (`MAX_NR_GENS`).
pub const MOST: u32 = 4;
/// Generations that are never emptied (`MIN_NR_GENS`).
pub const LEAST: u32 = 2;

/// What is known of the generations of a group.
#[derive(Debug, Clone, Default)]
pub struct Generations {
    /// The youngest, of both kinds (`max_seq`).
    pub max: u32,
    /// The oldest, by kind (`min_seq`).
    pub min: [u32; 2],
    /// Pages by kind and generation, as their bits say.
    pub sizes: [[u64; MOST as usize]; 2],
    /// Refaults by kind.
    pub control: [control::Control; 2],
    /// What the page tables said.
    pub walk: walk::Walk,
}

impl Generations {
    /// None has a page (`lru_gen_init_lruvec`).
    #[must_use]
    pub fn new(tables: usize) -> Generations {
        Generations { max: LEAST + 1, walk: walk::Walk::new(tables), ..Generations::default() }
    }

    /// How many a kind has.
    #[must_use]
    pub const fn count(&self, kind: usize) -> u32 {
        self.max - self.min[kind] + 1
    }

    /// The oldest of the kinds that may go (`evictable_min_seq`).
    #[must_use]
    pub fn oldest(&self, swappiness: u64) -> u32 {
        if swappiness == 0 { self.min[FILE] } else { self.min[ANON].min(self.min[FILE]) }
    }

    /// The generation that a page off the lists belongs to (`lru_gen_folio_seq`; before 6.14 within `lru_gen_add_folio`).
    #[must_use]
    pub fn home(&self, mglru: Mglru, flags: u32, written: bool) -> u32 {
        let kind = usize::from(flags & bit::FILE != 0);
        let has = |bits: u32| flags & bits != 0;
        // Anonymous and not in the swap cache, or on its way to the disk: it cannot go at once.
        let cannot = (kind == ANON && !has(bit::SWAP_CACHE)) || has(bit::WRITEBACK);
        let (oldest, youngest) = (self.min[kind], self.max);
        if mglru.is_early() {
            return match () {
                () if has(bit::ACTIVE) => youngest,
                () if cannot => youngest - 1,
                () if written || oldest + LEAST >= youngest => oldest,
                () => oldest + 1,
            };
        }
        let working = has(bit::WORKINGSET);
        let back = match () {
            () if has(bit::ACTIVE) => LEAST - u32::from(working),
            () if written => MOST,
            () if cannot => LEAST,
            () => MOST - u32::from(working || (mglru == Mglru::Rewritten && has(bit::REFERENCED))),
        };
        (youngest + 1 - back).max(oldest)
    }
}

/// The list of a generation.
#[must_use]
pub const fn place(generation: u32) -> usize {
    (generation % MOST) as usize
}

/// The list that the bits of a page say.
#[must_use]
pub const fn said(flags: u32) -> usize {
    ((flags & bit::GENERATIONS) >> bit::GENERATION) as usize
}

/// A page comes to the head of its generation's list, or to the tail if it was `written`.
pub fn list(memory: &mut Memory, id: u32, mglru: Mglru, written: bool) {
    let flags = memory.pages.flags[id as usize];
    let generation = memory.generations.home(mglru, flags, written);
    let (kind, at) = (memory.pages.kind(id), place(generation));
    memory.pages.clear(id, bit::ACTIVE);
    say(memory, id, at);
    memory.generations.sizes[kind][at] += 1;
    put(memory, id, at, written);
}

/// A page is new in RAM, by a fault (`folio_add_lru`): what its bits say then.
#[must_use]
pub const fn faulted(mglru: Mglru, flags: u32) -> u32 {
    match mglru {
        Mglru::First | Mglru::Mended | Mglru::Reworked => flags | bit::ACTIVE,
        // What was only read ahead is not taken to be in use.
        Mglru::Rewritten if flags & bit::WORKINGSET != 0 => flags | bit::ACTIVE,
        Mglru::Rewritten if flags & bit::REFERENCED != 0 => flags,
        Mglru::Rewritten => refs::read(mglru, flags),
    }
}

/// A page leaves the lists.
pub fn unlist(memory: &mut Memory, id: u32) {
    let (kind, at) = (memory.pages.kind(id), said(memory.pages.flags[id as usize]));
    memory.generations.sizes[kind][at] -= 1;
    take(memory, id);
}

/// A page goes from the list it is on to another's head, or its tail.
fn move_to(memory: &mut Memory, id: u32, at: usize, last: bool) {
    take(memory, id);
    put(memory, id, at, last);
}

/// A page is of another generation now (`lru_gen_update_size`); it stays where it is.
fn change(memory: &mut Memory, id: u32, to: usize) {
    let (kind, from) = (memory.pages.kind(id), said(memory.pages.flags[id as usize]));
    let sizes = &mut memory.generations.sizes[kind];
    sizes[from] -= 1;
    sizes[to] += 1;
    say(memory, id, to);
}

fn say(memory: &mut Memory, id: u32, at: usize) {
    let flags = &mut memory.pages.flags[id as usize];
    *flags = *flags & !bit::GENERATIONS | u32::try_from(at).unwrap_or(0) << bit::GENERATION;
}

fn put(memory: &mut Memory, id: u32, at: usize, last: bool) {
    let list = &mut memory.lists[memory.pages.kind(id)][at];
    if last {
        list.push_last(&mut memory.pages, id);
    } else {
        list.push(&mut memory.pages, id);
    }
    memory.pages.on[id as usize] = u8::try_from(at).unwrap_or(0);
}

fn take(memory: &mut Memory, id: u32) {
    let at = usize::from(memory.pages.on[id as usize]);
    memory.lists[memory.pages.kind(id)][at].remove(&mut memory.pages, id);
}

/// Generations are in order, and their sizes are those of the pages on the lists.
///
/// # Errors
/// What is not.
pub fn check(memory: &Memory) -> Result<(), String> {
    let generations = &memory.generations;
    for kind in [ANON, FILE] {
        let count = generations.count(kind);
        if !(LEAST..=MOST).contains(&count) {
            return Err(format!("{count} generations of kind {kind}"));
        }
        let listed: u64 = memory.lists[kind].iter().map(|list| list.len).sum();
        if generations.sizes[kind].iter().sum::<u64>() != listed {
            return Err(format!("{:?} pages by generation, {listed} on lists", generations.sizes[kind]));
        }
    }
    let mut by = [[0; MOST as usize]; 2];
    let listed = memory.pages.flags.iter().filter(|flags| **flags & bit::LISTED != 0);
    listed.for_each(|flags| by[usize::from(flags & bit::FILE != 0)][said(*flags)] += 1);
    if by == generations.sizes { Ok(()) } else { Err(format!("{by:?} pages by their bits, {:?}", generations.sizes)) }
}
