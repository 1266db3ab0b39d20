//! How often a page was read, and what it means that a page table says it was used.
//!
//! Stands for `folio_inc_refs` (`lru_gen_inc_refs`, mm/swap.c), `folio_lru_refs` and `lru_tier_from_refs` (include/linux/mm_inline.h),
//! `lru_gen_set_refs` and the part of `folio_check_references` (mm/vmscan.c) that is MGLRU's; read in 6.12 and 6.18. Left out: nothing.
//!
//! The first read sets a bit, and up to four more are counted: before 6.14 the second sets the bit of the working set and the next three count, since
//! then the next three count and the fifth sets that bit, which stays.

use crate::kernel::Mglru;
use crate::page::bit;

/// All bits that say how often a page was read (`LRU_REFS_MASK | LRU_REFS_FLAGS` before 6.14).
pub const ALL: u32 = bit::REFS | bit::REFERENCED | bit::WORKINGSET;
/// Those that a new generation clears since 6.14 (`LRU_REFS_FLAGS`): the working set stays.
pub const FLAGS: u32 = bit::REFS | bit::REFERENCED;
const ONE: u32 = 1 << bit::REF;

/// One more read of a page, through read(2).
#[inline]
#[must_use]
pub const fn read(mglru: Mglru, flags: u32) -> u32 {
    let is_full = flags & bit::REFS == bit::REFS;
    if mglru.is_early() {
        return match () {
            () if flags & bit::REFERENCED == 0 => flags | bit::REFERENCED,
            () if flags & bit::WORKINGSET == 0 => flags | bit::WORKINGSET,
            () if is_full => flags,
            () => flags + ONE,
        };
    }
    match () {
        () if flags & bit::REFERENCED == 0 => flags & !bit::REFS | bit::REFERENCED,
        () if is_full => flags | bit::WORKINGSET,
        () => flags + ONE,
    }
}

/// Reads that count (`folio_lru_refs`).
#[must_use]
pub const fn count(mglru: Mglru, flags: u32) -> u32 {
    let counted = (flags & bit::REFS) >> bit::REF;
    match mglru {
        Mglru::First | Mglru::Mended => counted + (flags & bit::WORKINGSET != 0) as u32,
        _ if flags & bit::REFERENCED == 0 => 0,
        _ => counted + 1,
    }
}

/// The tier of a page.
#[must_use]
pub fn tier(mglru: Mglru, flags: u32) -> usize {
    tier_of(mglru, count(mglru, flags), flags & bit::WORKINGSET != 0)
}

/// The tier of a number of reads.
#[must_use]
pub fn tier_of(mglru: Mglru, count: u32, working: bool) -> usize {
    let tier = match mglru {
        Mglru::First | Mglru::Mended => ceiling_log2(count + 1),
        _ if working => 3,
        _ => ceiling_log2(count),
    };
    tier.min(3)
}

fn ceiling_log2(n: u32) -> usize {
    n.next_power_of_two().ilog2() as usize
}

/// It was read so often that all counts are full: it goes on to the next generation whatever its tier.
#[must_use]
pub const fn is_full(mglru: Mglru, flags: u32) -> bool {
    let all = if mglru.is_early() { bit::REFS | bit::WORKINGSET } else { ALL };
    flags & all == all
}

/// What reclaim finds out from the page tables about a page: its bits then, and whether it goes to the youngest generation (`lru_gen_set_refs`, since
/// 6.14).
#[must_use]
pub const fn seen(mglru: Mglru, flags: u32) -> (u32, bool) {
    let is_new = flags & (bit::REFERENCED | bit::WORKINGSET) == 0;
    if matches!(mglru, Mglru::Rewritten) && !is_new && count(mglru, flags) <= 1 {
        // A read more, and no member of the working set yet.
        return (read(mglru, flags), true);
    }
    used(flags)
}

/// What a walk over the page tables says of it, likewise (`folio_update_gen`, since 6.14).
#[must_use]
pub const fn used(flags: u32) -> (u32, bool) {
    if flags & (bit::REFERENCED | bit::WORKINGSET) == 0 {
        return (flags & !bit::REFS | bit::REFERENCED, false);
    }
    (flags & !FLAGS | bit::WORKINGSET, true)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The tier after each of a number of reads.
    fn tiers(mglru: Mglru, reads: usize) -> Vec<usize> {
        let mut flags = 0;
        (0..reads)
            .map(|_| {
                flags = read(mglru, flags);
                tier(mglru, flags)
            })
            .collect()
    }

    #[test]
    fn tiers_are_logarithms_of_reads() {
        // One read and none are the same tier, two are the next.
        assert_eq!(tiers(Mglru::First, 7), [0, 1, 2, 2, 3, 3, 3]);
        // The fifth is the working set, which is the last tier by itself.
        assert_eq!(tiers(Mglru::Reworked, 7), [0, 1, 2, 2, 3, 3, 3]);
    }

    #[test]
    fn since_6_14_a_page_table_has_to_say_it_twice() {
        let (once, goes) = used(0);
        assert_eq!((once, goes), (bit::REFERENCED, false));
        let (twice, goes) = used(once);
        assert_eq!((twice, goes), (bit::WORKINGSET, true));
        assert_eq!(used(bit::WORKINGSET | bit::REFS | bit::REFERENCED), (bit::WORKINGSET, true));
        // From 7.3 on reclaim takes it for a second read first, though it goes.
        let (again, goes) = seen(Mglru::Rewritten, once);
        assert_eq!((count(Mglru::Rewritten, again), again & bit::WORKINGSET, goes), (2, 0, true));
        assert_eq!(seen(Mglru::Rewritten, again), (bit::WORKINGSET, true));
    }
}
