//! Where the next missing page of a file is, as read-ahead looks for it.
//!
//! Stands for `page_cache_prev_miss` and `page_cache_next_miss` (mm/filemap.c) with `xas_prev` and `xas_next` (lib/xarray.c); read in 6.12 and 7.3. Left
//! out: folios of 64 pages and more, whose slots are in nodes above the lowest.
//!
//! Of a folio the index finds the first page's slot, whichever page was asked for. Who begins at another counts from that page and looks from that slot on, and so tells
//! a hole too late by as many pages as lie between, forwards and backwards.

use crate::folio::{self, Folio, SLOTS};
use crate::load::Extent;
use crate::memory::Memory;
use crate::page::bit;

/// The previous miss: of a file's pages from one on, backwards, the first of at most `most` that is missing; `None`: all are there, down to the first of the file.
#[must_use]
#[inline]
pub fn before(memory: &Memory, extent: Extent, id: u32, most: u32) -> Option<u32> {
    if !memory.pages.is(id, bit::RESIDENT) {
        return Some(id);
    }
    let (mut at, mut slot) = begin(memory, extent, id);
    for _ in 0..most {
        if !is_there(memory, extent, slot) {
            return Some(extent.first + at);
        }
        let before = at.checked_sub(1);
        if slot % SLOTS > 0 {
            slot -= 1;
        } else if let Some(before) = before.filter(|before| before % SLOTS > 0) {
            // The node before, at what the count says.
            let Some(node) = (slot / SLOTS).checked_sub(1) else { return Some(extent.first + before) };
            slot = node * SLOTS + before % SLOTS;
        }
        at = before?;
    }
    Some(extent.first + at)
}

/// The next miss, forwards; `None`: none of `most` is missing. What lies behind the file's end is.
#[must_use]
pub fn behind(memory: &Memory, extent: Extent, id: u32, most: u32) -> Option<u32> {
    let (mut at, mut slot) = begin(memory, extent, id);
    for _ in 0..most {
        if !is_there(memory, extent, slot) {
            return Some(extent.first + at);
        }
        at += 1;
        if slot % SLOTS < SLOTS - 1 {
            slot += 1;
        } else if at % SLOTS < SLOTS - 1 {
            slot = (slot / SLOTS + 1) * SLOTS + at % SLOTS;
        }
    }
    None
}

/// A page's number in its file, and whose slot is found for it.
fn begin(memory: &Memory, extent: Extent, id: u32) -> (u32, u32) {
    let first = (extent.first..=id).rev().find(|id| !folio::was_of_one(&memory.pages, *id)).unwrap_or(id);
    let first = if first == id && id < extent.end() { Folio::containing(&memory.pages, id).first } else { first };
    (id - extent.first, first - extent.first)
}

/// Of a folio that is gone only the slot of its first page says so; the others are taken for pages.
fn is_there(memory: &Memory, extent: Extent, slot: u32) -> bool {
    let id = extent.first + slot;
    slot < extent.pages && (memory.pages.is(id, bit::RESIDENT) || folio::was_of_one(&memory.pages, id))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chance::Chance;
    use crate::kernel::PRESETS;
    use crate::memory::tests::group;

    /// A file of 300 pages, behind as many of memory, with these folios in RAM: their first pages and how many they have.
    fn memory(folios: &[(u32, u32)]) -> Memory {
        let mut memory = group(300, PRESETS[3], Chance::default());
        for (first, pages) in folios {
            for page in *first..first + pages {
                memory.pages.set(300 + page, bit::RESIDENT | if page > *first { bit::SAME_FOLIO } else { 0 });
            }
        }
        memory
    }

    fn both_misses(folios: &[(u32, u32)], page: u32) -> [Option<u32>; 2] {
        let memory = memory(folios);
        [before, behind].map(|look| look(&memory, memory.regions[1], 300 + page, 32).map(|id| id - 300))
    }

    #[test]
    fn pages_by_themselves_are_told_as_they_are() {
        let singles: Vec<(u32, u32)> = (0..24).chain(62..70).chain(100..200).map(|page| (page, 1)).collect();
        assert_eq!(both_misses(&singles, 23), [None, Some(24)]);
        assert_eq!(both_misses(&singles, 69), [Some(61), Some(70)]);
        assert_eq!(both_misses(&singles, 62), [Some(61), Some(70)]);
        assert_eq!(both_misses(&singles, 50), [Some(50), Some(50)]);
        // None of the 32 is missing: backwards it gives the page before them, forwards none.
        assert_eq!(both_misses(&singles, 150), [Some(118), None]);
        assert_eq!(both_misses(&[(290, 1), (299, 1)], 299), [Some(298), Some(300)]);
    }

    #[test]
    fn who_begins_inside_a_folio_tells_a_hole_too_late() {
        // The first eight by themselves, four folios behind them (traced in 7.3): three of the 24 are not counted, and the file's beginning is not seen.
        let singles = (0..8).map(|page| (page, 1));
        let file: Vec<(u32, u32)> = singles.chain([8, 12, 16, 20].map(|first| (first, 4))).collect();
        assert_eq!(both_misses(&file, 23), [Some(2), Some(27)]);
        assert_eq!(both_misses(&file, 20), [None, Some(24)]);
        // One too few is one node too few, and the count catches up there.
        assert_eq!(both_misses(&file, 9), [None, Some(25)]);
    }

    #[test]
    fn of_a_folio_that_is_gone_only_its_first_page_is_missing_until_one_comes_back() {
        let mut memory = memory(&[(8, 4), (12, 1)]);
        (308..312).for_each(|id| _ = memory.pages.clear(id, bit::RESIDENT));
        let look = |memory: &Memory, page: u32| before(memory, memory.regions[1], 300 + page, 32).map(|id| id - 300);
        assert_eq!([12, 11, 9].map(|page| look(&memory, page)), [Some(8), Some(11), Some(9)]);
        folio::split(&mut memory.pages, Folio::alone(309));
        assert_eq!(look(&memory, 12), Some(11));
    }

    #[test]
    fn past_a_node_of_the_index_it_looks_at_the_slots_that_the_count_says() {
        // From 67 on, whose slot is that of 64: the node before is looked at from 2 on, as if that were 66 less one.
        let mut file: Vec<(u32, u32)> = vec![(60, 4), (64, 4)];
        assert_eq!(both_misses(&file, 67)[0], Some(66));
        file.push((0, 4));
        assert_eq!(both_misses(&file, 67)[0], Some(63));
        assert_eq!(both_misses(&file, 64)[0], Some(59));
        // Forwards the node behind is looked at that many slots later.
        assert_eq!(both_misses(&[(60, 4), (64, 2)], 63)[1], Some(67));
    }
}
