//! Pages in dense arrays, and the lists they are on: pages of a list stand in a row, and the bits of a page stand apart.
//!
//! Stands for `struct page`'s flags and the list heads of `struct lruvec` (include/linux/mmzone.h); read in 6.18. Each page of a `folio` has its own place, whose bits of lists and reads are those of the others; what page tables say is each page's own.
//!
//! A touch of a page in RAM needs its 4 bytes of bits and nothing else, so that the bits of a million pages stay in a processor's cache. The kernel
//! links pages; here the oldest are known before any of them is looked at, so a processor fetches many at once. In all a page costs 14 bytes,
//! and 4 to 16 in the row of its list: while it is in RAM the place there is kept beside the number of the list, when it is gone the same 4 bytes are its shadow.

use std::collections::VecDeque;

use prefetch_index::prefetch_index;

/// No page, no slot, no shadow.
pub const NONE: u32 = u32::MAX;

/// Bits of a page. The upper 12 are the number of its region.
pub mod bit {
    /// Its contents are in RAM.
    pub const RESIDENT: u32 = 1;
    /// A page table points to it.
    pub const MAPPED: u32 = 1 << 1;
    /// That entry was used since it was last looked at.
    pub const YOUNG: u32 = 1 << 2;
    /// `PG_referenced`.
    pub const REFERENCED: u32 = 1 << 3;
    /// `PG_active`: which of its kind's two lists.
    pub const ACTIVE: u32 = 1 << 4;
    /// `PG_workingset`.
    pub const WORKINGSET: u32 = 1 << 5;
    /// It has a slot in swap beside its RAM.
    pub const SWAP_CACHE: u32 = 1 << 6;
    /// `PG_readahead`; of a page on its way to the disk `PG_reclaim`, which is the same bit: it goes once it is there, unless it is touched before.
    pub const READ_AHEAD: u32 = 1 << 7;
    /// `PG_writeback`.
    pub const WRITEBACK: u32 = 1 << 8;
    /// Its contents are on their way from the disk.
    pub const LOCKED: u32 = 1 << 9;
    /// It differs from its slot.
    pub const DIRTY: u32 = 1 << 10;
    /// A page of a file.
    pub const FILE: u32 = 1 << 11;
    /// It is on a list.
    pub const LISTED: u32 = 1 << 12;
    /// Shared anonymous memory.
    pub const SHARED: u32 = 1 << 13;
    /// Of a page of a file: it is of the same folio as the page before it, also once that is gone, until what is left is parted (`folio::split`). The same bit.
    pub const SAME_FOLIO: u32 = SHARED;
    /// A reader has it in its hands, or a batch of pages that were written.
    pub const HELD: u32 = 1 << 14;
    /// It was read before it was written: a page table points to the kernel's page of zeros, which no group pays for.
    pub const ZEROS: u32 = 1 << 15;
    /// Of MGLRU: where the number of its generation begins, in two bits.
    pub const GENERATION: u32 = 16;
    /// The bits of its generation.
    pub const GENERATIONS: u32 = 3 << GENERATION;
    /// Of MGLRU: where the count of reads beyond the first begins (`LRU_REFS_PGOFF`).
    pub const REF: u32 = 18;
    /// The bits of this count (`LRU_REFS_MASK`).
    pub const REFS: u32 = 3 << REF;
    /// Where the number of the region begins.
    pub const REGION: u32 = 20;
}

/// All pages of a load.
#[derive(Debug, Clone, Default)]
pub struct Pages {
    /// See [`bit`].
    pub flags: Vec<u32>,
    /// Of a page on a list its place there, with the list's number; of one that is gone its shadow.
    places: Vec<u32>,
    /// Their places in swap.
    pub slots: Vec<u32>,
    /// What a page of them compresses to.
    pub lengths: Vec<u16>,
}

impl Pages {
    /// With capacity for this number of pages, and no more.
    #[must_use]
    pub fn with_capacity(count: usize) -> Pages {
        let words = || Vec::with_capacity(count);
        Pages { flags: words(), places: words(), slots: words(), lengths: Vec::with_capacity(count) }
    }

    /// One more that was never touched.
    pub fn add(&mut self, flags: u32, length: u16) {
        self.flags.push(flags);
        self.places.push(NONE);
        self.slots.push(NONE);
        self.lengths.push(length);
    }

    /// Has all of these bits.
    #[must_use]
    pub fn is(&self, id: u32, bits: u32) -> bool {
        self.flags[id as usize] & bits == bits
    }

    /// Sets bits.
    pub fn set(&mut self, id: u32, bits: u32) {
        self.flags[id as usize] |= bits;
    }

    /// Clears bits; whether one of them was set.
    pub fn clear(&mut self, id: u32, bits: u32) -> bool {
        let flags = &mut self.flags[id as usize];
        let was = *flags & bits != 0;
        *flags &= !bits;
        was
    }

    /// 1 for a page of a file, 0 for another.
    #[must_use]
    pub fn kind(&self, id: u32) -> usize {
        usize::from(self.is(id, bit::FILE))
    }

    /// The number of the list that it is on among those of its kind: 0 and 1 are the inactive and the active one, with MGLRU it is a generation's. That in its bits may be a
    /// younger one, since pages that are used are moved late. Of a page that is on none any number up to 3.
    #[must_use]
    pub fn list_of(&self, id: u32) -> usize {
        (self.places[id as usize] >> NUMBER) as usize
    }

    /// The number of its region.
    #[must_use]
    pub fn region(&self, id: u32) -> usize {
        (self.flags[id as usize] >> bit::REGION) as usize
    }

    /// Its slot, or none.
    #[must_use]
    pub fn slot(&self, id: u32) -> u32 {
        self.slots[id as usize]
    }

    /// What is left of a page that is gone.
    pub fn leave(&mut self, id: u32, shadow: u32) {
        self.places[id as usize] = shadow;
    }

    /// Has the bits of a page fetched for a touch that comes soon. It is not waited for, as a plain load would be, with all that comes behind it.
    #[inline]
    pub fn fetch(&self, id: u32) {
        prefetch_index(&self.flags, id as usize);
    }

    /// Has all of a page fetched that soon leaves its list.
    fn fetch_listed(&self, id: u32) {
        self.fetch(id);
        prefetch_index(&self.places, id as usize);
    }

    /// Has what is left of a page fetched, if it is gone, for a touch that comes next.
    #[inline]
    pub fn fetch_shadow(&self, id: u32) {
        if self.flags.get(id as usize).is_some_and(|flags| flags & bit::RESIDENT == 0) {
            prefetch_index(&self.places, id as usize);
        }
    }

    /// The shadow entry of a page that is read again.
    pub fn shadow(&mut self, id: u32) -> u32 {
        std::mem::replace(&mut self.places[id as usize], NONE)
    }
}

/// Gaps are closed once a list has more of them than pages, and this many.
const GAPS: u64 = 64;
/// So many pages before their turn those of the tail are fetched: as many as one pass of reclaim takes, so that they come while others are worked on.
const SOON: usize = 32;

/// Where the number of a list begins in a place. A row, gaps among it, has fewer than 1 << 30 entries where a load has less than 2 TiB (`word::PAGE`).
const NUMBER: u32 = 30;
const PLACE: u32 = (1 << NUMBER) - 1;

/// One list: the newest at the head. A page that leaves the middle leaves a gap; at both ends there is a page.
#[derive(Debug, Clone, Default)]
pub struct List {
    row: VecDeque<u32>,
    /// The place of the first in the row.
    first: u32,
    /// Its number, where places have it.
    number: u32,
    /// Pages on it.
    pub len: u64,
}

impl List {
    /// The list of that number, up to 3.
    #[must_use]
    pub fn numbered(number: u32) -> List {
        debug_assert!(number < 4, "two bits of a place");
        List { number: number << NUMBER, ..List::default() }
    }

    /// To the head.
    pub fn push(&mut self, pages: &mut Pages, id: u32) {
        pages.set(id, bit::LISTED);
        self.first = self.first.wrapping_sub(1);
        pages.places[id as usize] = self.place(0);
        self.row.push_front(id);
        self.len += 1;
    }

    /// To the tail, to be looked at next.
    pub fn push_last(&mut self, pages: &mut Pages, id: u32) {
        pages.set(id, bit::LISTED);
        pages.places[id as usize] = self.place(self.row.len());
        self.row.push_back(id);
        self.len += 1;
    }

    /// Has the place of a page fetched that is taken out soon.
    pub fn fetch(&self, pages: &Pages, id: u32) {
        let at = self.at(pages, id);
        let (front, back) = self.row.as_slices();
        match at.checked_sub(front.len()) {
            Some(at) => prefetch_index(back, at),
            None => prefetch_index(front, at),
        }
    }

    /// Out of the middle.
    pub fn remove(&mut self, pages: &mut Pages, id: u32) {
        pages.clear(id, bit::LISTED);
        let at = self.at(pages, id);
        let was = self.row.len();
        self.row[at] = NONE;
        self.len -= 1;
        self.trim(pages, was);
        if self.row.len() as u64 > 2 * self.len + GAPS {
            self.close_gaps(pages);
        }
    }

    /// The oldest, where it is.
    #[must_use]
    pub fn last(&self) -> Option<u32> {
        self.row.back().copied()
    }

    /// The oldest.
    pub fn pop(&mut self, pages: &mut Pages) -> Option<u32> {
        let was = self.row.len();
        let id = self.row.pop_back()?;
        pages.clear(id, bit::LISTED);
        self.len -= 1;
        self.trim(pages, was);
        Some(id)
    }

    /// How far behind the first it stands.
    fn at(&self, pages: &Pages, id: u32) -> usize {
        (pages.places[id as usize].wrapping_sub(self.first) & PLACE) as usize
    }

    /// The place of what stands so far behind the first.
    fn place(&self, at: usize) -> u32 {
        #[expect(
            clippy::cast_possible_truncation,
            reason = "a row is at most twice as long as there are pages, and places may wrap"
        )]
        let place = self.first.wrapping_add(at as u32);
        place & PLACE | self.number
    }

    /// No gaps at the ends. The row `was` so long: for each place that its tail has lost, a page is fetched whose turn is soon.
    fn trim(&mut self, pages: &Pages, was: usize) {
        while self.row.back() == Some(&NONE) {
            self.row.pop_back();
        }
        let len = self.row.len();
        for at in len.saturating_sub(SOON)..was.saturating_sub(SOON).min(len) {
            pages.fetch_listed(self.row[at]);
        }
        while self.row.front() == Some(&NONE) {
            self.row.pop_front();
            self.first = self.first.wrapping_add(1);
        }
    }

    fn close_gaps(&mut self, pages: &mut Pages) {
        self.row.retain(|id| *id != NONE);
        for at in 0..self.row.len() {
            pages.places[self.row[at] as usize] = self.place(at);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use ramline_evidence::rng::SplitMix64;

    use super::*;

    /// Every operation, against a queue that does the same by search.
    #[test]
    fn a_list_is_what_a_plain_queue_is() {
        let mut pages = Pages::default();
        (0..64).for_each(|_| pages.add(0, 0));
        let (mut list, mut plain) = (List::numbered(3), VecDeque::new());
        let mut random = SplitMix64::new(7);
        for _ in 0..20_000 {
            let id = u32::try_from(random.below(64)).unwrap();
            match (random.below(4), pages.is(id, bit::LISTED)) {
                (0, false) => {
                    list.push(&mut pages, id);
                    plain.push_front(id);
                }
                (1, false) => {
                    list.push_last(&mut pages, id);
                    plain.push_back(id);
                }
                (2, true) => {
                    list.remove(&mut pages, id);
                    plain.retain(|one| *one != id);
                }
                (3, _) => assert_eq!(list.pop(&mut pages), plain.pop_back()),
                _ => {}
            }
            assert_eq!(list.len, plain.len() as u64);
            assert!(plain.iter().all(|id| pages.list_of(*id) == 3));
        }
    }
}
