//! What is known of the generations of a group: which there are, what their tiers did, what the page tables said.
//!
//! Stands for `struct lru_gen_folio` (include/linux/mmzone.h) and `lru_gen_folio_seq` (include/linux/mm_inline.h); read in 6.12 and 6.18. `refs` counts
//! reads, `control` compares refaults, `tables` are the page tables that are worth reading. What is done with them stands in `crate::mglru`. Left out:
//! zones, histories of more than one generation.
//!
//! Generations are numbered without end; the list of a generation is its number modulo four. The youngest two are what is called active elsewhere.

pub mod control;
pub mod refs;
pub mod tables;

use crate::kernel::Mglru;
use crate::page::bit;
use crate::setting::{ANON, FILE};
use control::Control;
use tables::Tables;

/// Generations of a kind, at most (`MAX_NR_GENS`).
pub const MOST: u32 = 4;
/// Generations that are never emptied (`MIN_NR_GENS`).
pub const LEAST: u32 = 2;

/// Generations of a group (`lru_gen_folio`).
#[derive(Debug, Clone, Default)]
pub struct Generations {
    /// The youngest, of both kinds (`max_seq`).
    pub max: u32,
    /// The oldest, by kind (`min_seq`).
    pub min: [u32; 2],
    /// Pages by kind and generation, as their bits say.
    pub sizes: [[u64; MOST as usize]; 2],
    /// Refaults by kind.
    pub control: [Control; 2],
    /// What the page tables said.
    pub walk: Tables,
}

impl Generations {
    /// None has a page (`lru_gen_init_lruvec`).
    #[must_use]
    pub fn new(tables: usize) -> Generations {
        Generations { max: LEAST + 1, walk: Tables::new(tables), ..Generations::default() }
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
        let cannot = (kind == ANON && !has(bit::SWAP_CACHE)) || will_go(flags);
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

/// It goes once it was written (`PG_reclaim`, and `PG_dirty` or `PG_writeback`).
#[must_use]
pub const fn will_go(flags: u32) -> bool {
    let is_dirty = flags & (bit::DIRTY | bit::MAPPED) == bit::DIRTY;
    flags & bit::READ_AHEAD != 0 && (flags & bit::WRITEBACK != 0 || is_dirty)
}

/// The list of a generation.
#[must_use]
pub const fn place(generation: u32) -> usize {
    (generation % MOST) as usize
}

/// The list that the bits of a page say.
#[must_use]
pub const fn place_in_flags(flags: u32) -> usize {
    ((flags & bit::GENERATIONS) >> bit::GENERATION) as usize
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
