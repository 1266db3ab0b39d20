//! The pool of a zram: which pages lie together in which zspage, and what all zspages take.
//!
//! Stands for `zs_malloc`, `zs_free`, `find_get_zspage` and `fix_fullness_group` (mm/zsmalloc.c); read in 6.18, and in 6.1 where it has four lists
//! (`insert_zspage`). Left out: compaction, which only a machine short of memory begins.
//!
//! A page that is swapped in leaves a hole in its zspage, which only a page of the same class can fill: a pool that is used is larger than its contents.

use ramline_model::zsmalloc::{Class, Zsmalloc};

use crate::page::NONE;

/// Bytes of a page of memory.
const PAGE: u64 = 4096;
/// By how full they are, those that are neither empty nor full: each tenth has a list. Before 6.4 there are two, for more than three quarters and for less.
const GROUPS: usize = 10;

/// Some pages of memory that hold compressed pages of one class.
#[derive(Debug, Clone, Copy)]
struct Zspage {
    class: u16,
    held: u64,
    next: u32,
    prev: u32,
}

/// All of them.
#[derive(Debug, Default)]
pub struct Pool {
    classes: Vec<Class>,
    quarters: bool,
    /// The newest of each class by how full it is.
    heads: Vec<[u32; GROUPS]>,
    /// The class of each compressed length.
    by_length: Vec<Option<u16>>,
    zspages: Vec<Zspage>,
    /// Those that are gone, to be used again.
    gone: Vec<u32>,
    /// Which of them holds the page of a slot.
    of: Vec<u32>,
    /// Bytes they take, and took at most.
    bytes: u64,
    most: u64,
}

impl Pool {
    /// The pool of a kernel with zspages of up to `chain` pages, with or without lists of `quarters`; nothing in it.
    #[must_use]
    pub fn new(chain: u64, quarters: bool) -> Pool {
        let zsmalloc = Zsmalloc::new(PAGE, chain);
        let mut pool = Pool { quarters, ..Pool::default() };
        for length in 0..=PAGE {
            let place = zsmalloc.class_of(length).map(|class| {
                pool.classes.iter().position(|known| *known == class).unwrap_or_else(|| {
                    pool.classes.push(class);
                    pool.classes.len() - 1
                })
            });
            pool.by_length.push(place.and_then(|place| u16::try_from(place).ok()));
        }
        pool.heads = vec![[NONE; GROUPS]; pool.classes.len()];
        pool
    }

    /// Memory that the pool takes.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// The most memory it took.
    #[must_use]
    pub fn most(&self) -> u64 {
        self.most
    }

    /// A page that compresses to this length is stored, in the place of what was stored in its slot before.
    pub fn keep(&mut self, slot: u32, length: u16) {
        self.free(slot);
        let Some(class) = self.by_length.get(usize::from(length)).copied().flatten() else { return };
        let fullest = self.heads[usize::from(class)].into_iter().rev().find(|head| *head != NONE);
        let zspage = fullest.unwrap_or_else(|| self.begin(class));
        self.change(zspage, |held| held + 1);
        let place = slot as usize;
        if place >= self.of.len() {
            self.of.resize(place + 1, NONE);
        }
        self.of[place] = zspage;
    }

    /// What was stored in a slot is not needed any more.
    pub fn free(&mut self, slot: u32) {
        let Some(place) = self.of.get_mut(slot as usize) else { return };
        let zspage = std::mem::replace(place, NONE);
        if zspage == NONE {
            return;
        }
        self.change(zspage, |held| held - 1);
        if self.zspages[zspage as usize].held == 0 {
            self.bytes -= self.class(zspage).pages * PAGE;
            self.gone.push(zspage);
        }
    }

    fn class(&self, zspage: u32) -> Class {
        self.classes[usize::from(self.zspages[zspage as usize].class)]
    }

    /// One more zspage, on no list while it is empty.
    fn begin(&mut self, class: u16) -> u32 {
        let new = Zspage { class, held: 0, next: NONE, prev: NONE };
        self.bytes += self.classes[usize::from(class)].pages * PAGE;
        self.most = self.most.max(self.bytes);
        if let Some(again) = self.gone.pop() {
            self.zspages[again as usize] = new;
            return again;
        }
        self.zspages.push(new);
        u32::try_from(self.zspages.len() - 1).unwrap_or(NONE)
    }

    /// It holds another number of pages, and moves to another list if that makes a difference: to its head, in front of one that is fuller only where
    /// lists are of tenths.
    fn change(&mut self, zspage: u32, held: impl Fn(u64) -> u64) {
        let objects = self.class(zspage).objects;
        let was = self.zspages[zspage as usize].held;
        let is = held(was);
        self.zspages[zspage as usize].held = is;
        let (before, after) = (self.group(was, objects), self.group(is, objects));
        if before == after {
            return;
        }
        let Zspage { class, next, prev, .. } = self.zspages[zspage as usize];
        let heads = &mut self.heads[usize::from(class)];
        if let Some(before) = before {
            match prev {
                NONE => heads[before] = next,
                prev => self.zspages[prev as usize].next = next,
            }
            if next != NONE {
                self.zspages[next as usize].prev = prev;
            }
        }
        if let Some(after) = after {
            let first = heads[after];
            let is_second = self.quarters && first != NONE && is < self.zspages[first as usize].held;
            let (prev, next) = if is_second { (first, self.zspages[first as usize].next) } else { (NONE, first) };
            if is_second {
                self.zspages[first as usize].next = zspage
            } else {
                heads[after] = zspage
            }
            if next != NONE {
                self.zspages[next as usize].prev = zspage;
            }
            (self.zspages[zspage as usize].next, self.zspages[zspage as usize].prev) = (next, prev);
        }
    }

    /// Which list such a zspage is on; none if it is empty or full.
    fn group(&self, held: u64, objects: u64) -> Option<usize> {
        let tenth = || usize::try_from(held * 10 / objects).unwrap_or(GROUPS - 1);
        let group = || if self.quarters { usize::from(held > objects * 3 / 4) } else { tenth() };
        (held > 0 && held < objects).then(group)
    }

    /// Zspages hold what is stored, and take what they are said to.
    ///
    /// # Errors
    /// What is not so.
    pub fn check(&self) -> Result<(), String> {
        let stored = self.of.iter().filter(|zspage| **zspage != NONE).count() as u64;
        let held: u64 = self.zspages.iter().map(|one| one.held).sum();
        let used = self.zspages.iter().filter(|one| one.held > 0);
        let bytes: u64 = used.map(|one| self.classes[usize::from(one.class)].pages * PAGE).sum();
        if (stored, bytes) != (held, self.bytes) {
            return Err(format!(
                "{stored} pages are stored, {held} held; {bytes} bytes are used, {} counted",
                self.bytes
            ));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use ramline_evidence::rng::SplitMix64;

    use super::*;

    #[test]
    fn a_full_pool_is_what_its_classes_say_and_holes_are_filled_first() {
        let mut pool = Pool::new(8, false);
        // 2,000 bytes: two to a page.
        (0..100).for_each(|id| pool.keep(id, 2000));
        assert_eq!(pool.bytes(), 50 * PAGE);
        // Half of it is gone, and no page is: each has one left.
        (0..50).for_each(|id| pool.free(id * 2));
        assert_eq!(pool.bytes(), 50 * PAGE);
        (0..50).for_each(|id| pool.keep(id * 2, 2000));
        assert_eq!(pool.bytes(), 50 * PAGE);
        // A page that is stored again takes no second place; one of a single word takes none.
        pool.keep(7, 2000);
        pool.keep(1000, 0);
        assert_eq!((pool.bytes(), pool.check()), (50 * PAGE, Ok(())));
        (0..100).for_each(|id| pool.free(id));
        assert_eq!((pool.bytes(), pool.check()), (0, Ok(())));
    }

    /// Three zspages of the same number of objects, of which some go from the first and from the second; which of the two the next page comes to.
    fn next_goes_to(quarters: bool, gone: [u64; 2]) -> u32 {
        let mut pool = Pool::new(8, quarters);
        let objects = Zsmalloc::new(PAGE, 8).class_of(500).unwrap().objects;
        (0..3 * objects).for_each(|slot| pool.keep(u32::try_from(slot).unwrap(), 500));
        let of = |zspage: u64, n: u64| zspage * objects..zspage * objects + n;
        of(0, gone[0]).chain(of(1, gone[1])).for_each(|slot| pool.free(u32::try_from(slot).unwrap()));
        pool.keep(500, 500);
        pool.of[500]
    }

    #[test]
    fn a_page_comes_to_the_fuller_zspage_by_tenths_and_by_quarters_to_what_heads_the_list() {
        assert_eq!([next_goes_to(false, [4, 3]), next_goes_to(false, [3, 4])], [1, 0]);
        // Both are less than three quarters full: the second was the fuller as it came to their list, and heads it since.
        assert_eq!([next_goes_to(true, [4, 3]), next_goes_to(true, [3, 4])], [1, 1]);
        assert_eq!(next_goes_to(true, [1, 4]), 0, "more than three quarters come first");
    }

    #[test]
    fn whatever_comes_and_goes_the_sums_are_right_and_a_used_pool_is_larger_than_its_contents() {
        [false, true].into_iter().for_each(comes_and_goes);
    }

    fn comes_and_goes(quarters: bool) {
        let (mut pool, mut random) = (Pool::new(8, quarters), SplitMix64::new(3));
        for _ in 0..40_000 {
            let id = u32::try_from(random.below(2000)).unwrap();
            match random.below(2) {
                0 => pool.keep(id, u16::try_from(random.below(4097)).unwrap()),
                _ => pool.free(id),
            }
        }
        assert_eq!(pool.check(), Ok(()));
        let zsmalloc = Zsmalloc::new(PAGE, 8);
        let stored = pool.of.iter().filter(|zspage| **zspage != NONE);
        let packed: u64 = stored
            .map(|zspage| {
                let class = pool.class(*zspage);
                (class.pages * PAGE).div_ceil(class.objects)
            })
            .sum();
        assert!(pool.bytes() > packed, "{} for {packed}", pool.bytes());
        assert_eq!(zsmalloc.bytes_of(0), 0);
    }
}
