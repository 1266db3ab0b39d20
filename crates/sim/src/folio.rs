//! Folios of several pages of a file: on the lists, for reclaim and for a read(2) they are one.
//!
//! Stands for `folio_nr_pages` and its users in mm/vmscan.c, mm/workingset.c and mm/filemap.c; read in 6.12 and 7.3. Left out: folios of anonymous and of shared memory; folios
//! that are split.

use crate::page::{Pages, bit};

/// Slots of a node of the index of a file: a folio with this number of pages or more has one slot, in a node above (`XA_CHUNK_SIZE`).
pub const SLOTS: u32 = 64;

/// Pages in a row, by the first of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Folio {
    /// The first.
    pub first: u32,
    /// Pages.
    pub pages: u32,
}

impl Folio {
    /// One page by itself.
    #[must_use]
    pub const fn alone(id: u32) -> Folio {
        Folio { first: id, pages: 1 }
    }

    /// The folio of a page: for most it is that page alone.
    #[inline]
    #[must_use]
    pub fn containing(pages: &Pages, id: u32) -> Folio {
        if follows(pages, id) || follows(pages, id + 1) { Folio::large(pages, id) } else { Folio::alone(id) }
    }

    #[cold]
    fn large(pages: &Pages, id: u32) -> Folio {
        let mut first = id;
        while follows(pages, first) {
            first -= 1;
        }
        let mut end = id + 1;
        while follows(pages, end) {
            end += 1;
        }
        Folio { first, pages: end - first }
    }

    /// Its pages.
    #[inline]
    pub fn ids(self) -> std::ops::Range<u32> {
        self.first..self.first + self.pages
    }

    /// The folio has several pages.
    #[inline]
    #[must_use]
    pub fn is_large(self) -> bool {
        self.pages > 1
    }
}

/// The bits of a page that is of the folio of the page before it.
const FOLLOWS: u32 = bit::FILE | bit::SAME_FOLIO | bit::RESIDENT;

/// A page is of the folio of the page before it.
#[inline]
#[must_use]
pub fn follows(pages: &Pages, id: u32) -> bool {
    pages.flags.get(id as usize).is_some_and(|flags| flags & FOLLOWS == FOLLOWS)
}

/// A page is gone, and what is left of it stands at the first page of the folio that it was of.
#[inline]
#[must_use]
pub fn was_of_one(pages: &Pages, id: u32) -> bool {
    pages.flags.get(id as usize).is_some_and(|flags| flags & FOLLOWS == FOLLOWS & !bit::RESIDENT)
}

/// A folio is read again: what is left of a larger one that its first page was of is in parts of as many pages from now on (`xas_split` in 6.12, `xas_try_split` in 7.3; what had 64 pages
/// and more has no slots here, though the kernel halves it). Both begin at a multiple of their size, so the folio is one of the parts.
#[inline]
pub fn split(pages: &mut Pages, folio: Folio) {
    let id = folio.first;
    if !was_of_one(pages, id) && !was_of_one(pages, id + 1) {
        return;
    }
    let mut first = id;
    while was_of_one(pages, first) {
        first -= 1;
    }
    let mut next = first + 1;
    while was_of_one(pages, next) {
        if (next - first).is_multiple_of(folio.pages) {
            pages.clear(next, bit::SAME_FOLIO);
        }
        next += 1;
    }
    debug_assert!(!was_of_one(pages, id), "{folio:?} is no part of what it was of");
}

/// All pages of a folio are in one place.
///
/// # Errors
/// Which one is elsewhere.
pub fn check(pages: &Pages) -> Result<(), String> {
    const PLACE: u32 =
        bit::RESIDENT | bit::LISTED | bit::ACTIVE | bit::REFERENCED | bit::WORKINGSET | bit::REFS | bit::GENERATIONS;
    let parted = |(id, pair): &(u32, &[u32])| follows(pages, *id) && (pair[0] ^ pair[1]) & PLACE != 0;
    match (1..).zip(pages.flags.windows(2)).find(parted) {
        Some((id, _)) => Err(format!("page {id} is elsewhere than the page before it in its folio")),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chance::Chance;
    use crate::fault;
    use crate::filemap::map::map;
    use crate::filemap::read;
    use crate::insert;
    use crate::kernel::PRESETS;
    use crate::memory::tests::group;
    use crate::memory::{FILE, Memory};
    use crate::readahead;
    use crate::vmscan::shrink_list;

    /// A file of 200 pages behind as many of memory, of which 32 were read in folios of four pages, on the inactive list.
    fn memory() -> Memory {
        let mut memory = group(200, PRESETS[2], Chance::default());
        readahead::submit_next_window(&mut memory, 1, 200, 32);
        memory.drain();
        memory
    }

    fn there(memory: &Memory) -> Vec<u32> {
        (200..400).filter(|id| memory.pages.is(*id, bit::RESIDENT)).collect()
    }

    #[test]
    fn one_page_that_is_in_use_keeps_its_folio_and_the_others_go_as_one() {
        let mut memory = memory();
        assert_eq!(
            [200, 203, 204].map(|id| Folio::containing(&memory.pages, id).ids()),
            [200..204, 200..204, 204..208]
        );
        map(&mut memory, 205);
        // Two are asked for, and a folio is not parted.
        assert_eq!([2, 2, 4].map(|n| shrink_list::inactive(&mut memory, FILE, n)), [4, 0, 4]);
        assert_eq!(there(&memory), (204..208).chain(212..232).collect::<Vec<_>>());
        // All its pages leave the same; the folio that goes next left four pages later.
        let left = [200, 201, 203, 208].map(|id| memory.pages.shadow(id));
        assert_eq!(left, [left[0], left[0], left[0], left[0] + (4 << 1)]);
        assert_eq!((memory.age, memory.counts.scanned[FILE], memory.charged - memory.stock), (8, 12, 24));
        assert_eq!(check(&memory.pages), Ok(()));
    }

    #[test]
    fn a_folio_is_read_twice_when_two_reads_go_through_it_and_active_then() {
        let mut memory = memory();
        memory.pages.flags.iter_mut().for_each(|flags| *flags &= !bit::READ_AHEAD);
        let active = |memory: &Memory| (200..400).filter(|id| memory.pages.is(*id, bit::ACTIVE)).collect::<Vec<u32>>();
        // Page by page is one read of it; another of its pages later is the second.
        (200..204).for_each(|id| read::pages(&mut memory, id, 1, false));
        read::pages(&mut memory, 210, 1, false);
        assert!(active(&memory).is_empty());
        read::pages(&mut memory, 202, 1, false);
        assert_eq!(active(&memory), [200, 201, 202, 203]);
        assert_eq!((memory.age, check(&memory.pages)), (4, Ok(())));
    }

    #[test]
    fn a_folio_comes_back_by_what_was_left_of_its_last_page() {
        // Of its pages one left long ago, and one lately and of the working set.
        let [old, new] = [0, (999 << 1) | 1];
        for (last, is_active) in [(new, true), (old, false)] {
            let mut memory = memory();
            assert_eq!(shrink_list::inactive(&mut memory, FILE, 32), 32);
            (200..232).for_each(|id| _ = memory.pages.shadow(id));
            memory.age = 1000;
            // Ten pages of memory are on the lists: what left so many pages ago would have stayed with them.
            (0..10).for_each(|id| insert::insert(&mut memory, id, 0));
            memory.drain();
            memory.pages.leave(200, if last == old { new } else { old });
            memory.pages.leave(203, last);
            readahead::submit_next_window(&mut memory, 1, 200, 4);
            assert_eq!((memory.counts.refault[FILE], there(&memory)), (4, vec![200, 201, 202, 203]));
            for bits in [bit::ACTIVE, bit::WORKINGSET] {
                let is = (200..204).map(|id| memory.pages.is(id, bits)).collect::<Vec<_>>();
                assert_eq!(is, [is_active; 4]);
            }
            assert_eq!((memory.cost[FILE] > 0, memory.counts.activated[FILE] == 4), (is_active, is_active));
        }
    }

    #[test]
    fn a_folio_that_is_active_goes_to_the_inactive_list_as_one() {
        let mut memory = memory();
        map(&mut memory, 205);
        (0..2).for_each(|_| _ = shrink_list::inactive(&mut memory, FILE, 8));
        fault::hit(&mut memory, 205);
        memory.pages.set(205, bit::YOUNG);
        while memory.lists[FILE][1].len == 0 && memory.lists[FILE][0].len > 0 {
            shrink_list::inactive(&mut memory, FILE, 4);
        }
        assert_eq!((memory.lists[FILE][1].len, memory.pages.is(204, bit::ACTIVE)), (4, true));
        shrink_list::active(&mut memory, FILE, 1);
        assert_eq!((memory.lists[FILE][1].len, check(&memory.pages)), (0, Ok(())));
    }

    #[test]
    fn of_a_folio_that_goes_its_slots_are_left_unless_it_has_only_one() {
        for (pages, left) in [(32, 31), (64, 0)] {
            let mut memory = group(200, PRESETS[2], Chance::default());
            memory.charged = u64::from(pages);
            for id in 200..200 + pages {
                memory.pages.set(id, bit::RESIDENT | if id > 200 { bit::SAME_FOLIO } else { 0 });
            }
            let folio = Folio::containing(&memory.pages, 200);
            assert_eq!(
                (shrink_list::large(&mut memory, folio, |_, _| None), memory.charged),
                (shrink_list::End::Freed, 0)
            );
            assert_eq!((200..300).filter(|id| was_of_one(&memory.pages, *id)).count(), left);
        }
    }

    /// Folios that are gone, by their first pages and how many they had; what is left after another has come back.
    fn left(gone: &[(u32, u32)], back: Folio) -> (Memory, Vec<u32>) {
        let mut memory = group(200, PRESETS[2], Chance::default());
        for (first, pages) in gone {
            (first + 1..first + pages).for_each(|id| memory.pages.set(id, bit::SAME_FOLIO));
        }
        split(&mut memory.pages, back);
        let left = (200..240).filter(|id| was_of_one(&memory.pages, *id)).collect();
        (memory, left)
    }

    #[test]
    fn what_is_left_of_a_folio_is_in_parts_as_large_as_what_comes_back() {
        let of_eight = |first: u32, pages: u32| left(&[(200, 8), (208, 4)], Folio { first, pages }).1;
        let next = [209, 210, 211];
        assert_eq!([of_eight(200, 1), of_eight(203, 1)], [next, next]);
        assert_eq!(of_eight(204, 2), [[201, 203, 205, 207].as_slice(), &next].concat());
        assert_eq!(of_eight(200, 8), [(201..208).collect::<Vec<_>>().as_slice(), &next].concat());
        assert_eq!(of_eight(208, 1), (201..208).collect::<Vec<_>>());
    }

    #[test]
    fn a_folio_that_comes_back_over_several_smaller_ones_is_one() {
        let (mut memory, _) = left(&[(208, 4), (212, 4), (216, 8)], Folio { first: 208, pages: 8 });
        insert::insert_folio(&mut memory, Folio { first: 208, pages: 8 }, 0);
        assert_eq!([208, 215].map(|id| Folio::containing(&memory.pages, id).ids()), [208..216, 208..216]);
        assert!(!was_of_one(&memory.pages, 216) && was_of_one(&memory.pages, 217));
    }

    #[test]
    fn a_fault_maps_all_of_a_folio_but_of_the_last_one_only_the_block() {
        let whole = [(2, 200, 220, 200..232, 32), (3, 200, 220, 200..232, 1)];
        let parts = [(2, 368, 399, 392..400, 8), (3, 368, 399, 392..400, 1), (1, 200, 220, 216..232, 16)];
        for (kernel, first, id, mapped, hits) in whole.into_iter().chain(parts) {
            let mut memory = group(200, PRESETS[kernel], Chance::default());
            memory.reads[1].misses = 50;
            for one in first..first + 32 {
                insert::insert(&mut memory, one, if one > first { bit::SAME_FOLIO } else { 0 });
            }
            fault::miss(&mut memory, id);
            let is_mapped = |id: &u32| memory.pages.is(*id, bit::MAPPED);
            let found: Vec<u32> = (200..400).filter(is_mapped).collect();
            assert_eq!((found, memory.reads[1].misses), (mapped.collect(), 50 - hits), "{kernel} {id}");
        }
    }
}
