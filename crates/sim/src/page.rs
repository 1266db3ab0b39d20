//! Pages in one dense arena, and the lists they are on: links are numbers, so that a page costs 20 bytes and a move four writes.
//!
//! Stands for `struct page`'s flags and the list heads of `struct lruvec` (include/linux/mmzone.h); read in 6.18. Left out: folios of several pages.

/// No page, no slot, no shadow.
pub const NONE: u32 = u32::MAX;

/// Bits of a page.
pub mod bit {
    /// Its contents are in RAM.
    pub const RESIDENT: u16 = 1;
    /// A page table points to it.
    pub const MAPPED: u16 = 1 << 1;
    /// That entry was used since it was last looked at.
    pub const YOUNG: u16 = 1 << 2;
    /// `PG_referenced`.
    pub const REFERENCED: u16 = 1 << 3;
    /// `PG_active`: which of its kind's two lists.
    pub const ACTIVE: u16 = 1 << 4;
    /// `PG_workingset`.
    pub const WORKINGSET: u16 = 1 << 5;
    /// It has a slot in swap beside its RAM.
    pub const SWAP_CACHE: u16 = 1 << 6;
    /// `PG_readahead`.
    pub const READ_AHEAD: u16 = 1 << 7;
    /// `PG_writeback`.
    pub const WRITEBACK: u16 = 1 << 8;
    /// Its contents are on their way from the disk.
    pub const LOCKED: u16 = 1 << 9;
    /// It differs from its slot.
    pub const DIRTY: u16 = 1 << 10;
    /// A page of a file.
    pub const FILE: u16 = 1 << 11;
    /// It is on a list.
    pub const LISTED: u16 = 1 << 12;
}

/// One page.
#[derive(Debug, Clone, Copy)]
pub struct Page {
    next: u32,
    prev: u32,
    /// What is left of it when it is gone: the age at which it went, and whether it was of the working set.
    pub shadow: u32,
    /// Its place in swap.
    pub slot: u32,
    /// See [`bit`].
    pub flags: u16,
    /// What a page of it compresses to.
    pub length: u16,
}

impl Page {
    /// Never touched.
    #[must_use]
    pub const fn new(flags: u16, length: u16) -> Page {
        Page { next: NONE, prev: NONE, shadow: NONE, slot: NONE, flags, length }
    }

    /// Has all of these bits.
    #[must_use]
    pub const fn is(&self, bits: u16) -> bool {
        self.flags & bits == bits
    }

    /// Sets bits.
    pub const fn set(&mut self, bits: u16) {
        self.flags |= bits;
    }

    /// Clears bits; whether one of them was set.
    pub const fn clear(&mut self, bits: u16) -> bool {
        let was = self.flags & bits != 0;
        self.flags &= !bits;
        was
    }

    /// 1 for a page of a file, 0 for another.
    #[must_use]
    pub const fn kind(&self) -> usize {
        self.is(bit::FILE) as usize
    }
}

/// One list: the newest at the head.
#[derive(Debug, Clone, Copy)]
pub struct List {
    head: u32,
    tail: u32,
    /// Pages on it.
    pub len: u64,
}

impl Default for List {
    fn default() -> List {
        List { head: NONE, tail: NONE, len: 0 }
    }
}

impl List {
    /// To the head.
    pub fn push(&mut self, pages: &mut [Page], id: u32) {
        let page = &mut pages[id as usize];
        page.set(bit::LISTED);
        (page.prev, page.next) = (NONE, self.head);
        match self.head {
            NONE => self.tail = id,
            head => pages[head as usize].prev = id,
        }
        self.head = id;
        self.len += 1;
    }

    /// To the tail, to be looked at next.
    pub fn push_last(&mut self, pages: &mut [Page], id: u32) {
        let page = &mut pages[id as usize];
        page.set(bit::LISTED);
        (page.next, page.prev) = (NONE, self.tail);
        match self.tail {
            NONE => self.head = id,
            tail => pages[tail as usize].next = id,
        }
        self.tail = id;
        self.len += 1;
    }

    /// Out of the middle.
    pub fn remove(&mut self, pages: &mut [Page], id: u32) {
        let page = &mut pages[id as usize];
        page.clear(bit::LISTED);
        let (next, prev) = (page.next, page.prev);
        match prev {
            NONE => self.head = next,
            prev => pages[prev as usize].next = next,
        }
        match next {
            NONE => self.tail = prev,
            next => pages[next as usize].prev = prev,
        }
        self.len -= 1;
    }

    /// The oldest.
    pub fn pop(&mut self, pages: &mut [Page]) -> Option<u32> {
        let id = self.tail;
        (id != NONE).then(|| self.remove(pages, id))?;
        Some(id)
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
        let mut pages = vec![Page::new(0, 0); 64];
        let (mut list, mut plain) = (List::default(), VecDeque::new());
        let mut random = SplitMix64::new(7);
        for _ in 0..20_000 {
            let id = u32::try_from(random.below(64)).unwrap();
            match (random.below(4), pages[id as usize].is(bit::LISTED)) {
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
        }
    }
}
