//! A swap area: who has which slot, and which pages are on their way to a disk.
//!
//! Stands for `struct swap_info_struct` and its allocation (mm/swapfile.c), read in 6.18, and for `free_swap_slot` (mm/swap_slots.c), read in 6.12.
//! Left out: several areas, slots taken ahead of need, clusters of areas that do not rotate before 6.14, that slots become free late again only once 320
//! a processor are free, zram's limit.

use std::collections::VecDeque;

use crate::cost::whole;
use crate::page::{NONE, Pages, bit};
use crate::setting::{Setting, SwapTo};
use crate::swap::slots::{Slots, State};
use crate::zsmalloc::Pool;

/// Slots that become free together (`SWAP_SLOTS_CACHE_SIZE`), where they do, and what must be free besides for that.
const TOGETHER: usize = 64;
const SCARCE: u32 = 128;
/// The owner of a slot that is to become free.
const RETURNED: u32 = NONE - 1;

/// The area of a group.
#[derive(Debug)]
pub struct Area {
    owners: Vec<u32>,
    /// Slots that can be given: where there are clusters, the header has the place of one.
    most: u32,
    used: u32,
    /// Which slot comes next where the kernel has clusters of them, and the number of the next slot where it has not.
    clusters: Option<Slots>,
    next: u32,
    /// Slots that are to become free with others, where the kernel has that.
    returned: Option<Vec<u32>>,
    /// Of a zram.
    pub pool: Option<Pool>,
    /// Pages on their way to the disk, by the time they are there.
    writes: VecDeque<(u64, u32)>,
    /// When the disk has done all that it was asked for.
    taken_until: u64,
}

impl Area {
    /// Nothing in it yet.
    #[must_use]
    pub fn new(setting: &Setting) -> Area {
        let pool = (setting.swap == SwapTo::Zram).then(|| Pool::new(setting.kernel.zspage, setting.kernel.quarters));
        let slots = if setting.swap == SwapTo::Nowhere { 0 } else { setting.slots };
        let returned = setting.kernel.frees_late.then(Vec::new);
        let clusters = (!setting.kernel.frees_late && slots > 0).then(|| Slots::new(slots));
        let most = slots - u32::from(clusters.is_some());
        Area {
            most,
            owners: vec![NONE; slots as usize],
            used: 0,
            clusters,
            next: 0,
            returned,
            pool,
            writes: VecDeque::new(),
            taken_until: 0,
        }
    }

    /// A slot is free.
    #[must_use]
    pub fn has_room(&self) -> bool {
        self.used < self.most
    }

    /// Slots that are free.
    #[must_use]
    pub fn room(&self) -> u32 {
        self.len() - self.used
    }

    /// `vm_swap_full`: more than half of it is in use.
    #[must_use]
    pub fn is_half_full(&self) -> bool {
        self.used as usize * 2 > self.owners.len()
    }

    /// Its slots.
    #[must_use]
    pub fn len(&self) -> u32 {
        u32::try_from(self.owners.len()).unwrap_or(u32::MAX)
    }

    /// Owner of a slot, if it has one.
    #[must_use]
    pub fn owner(&self, slot: u32) -> u32 {
        Some(self.owners[slot as usize]).filter(|owner| *owner != RETURNED).unwrap_or(NONE)
    }

    /// A slot for a page; whether there is one.
    pub fn take(&mut self, pages: &mut Pages, id: u32) -> bool {
        if self.room() < SCARCE {
            self.release_returned();
        }
        if !self.has_room() {
            return false;
        }
        let Some(slot) = self.next_slot(pages) else { return false };
        self.owners[slot as usize] = id;
        pages.slots[id as usize] = slot;
        self.used += 1;
        true
    }

    fn next_slot(&mut self, pages: &mut Pages) -> Option<u32> {
        let is_half_full = self.is_half_full();
        let all = self.len();
        let Some(clusters) = &mut self.clusters else {
            while self.owners[self.next as usize] != NONE {
                self.next = (self.next + 1) % all;
            }
            let slot = self.next;
            self.next = (self.next + 1) % all;
            return Some(slot);
        };
        // Where slots are scarce, those of pages that are in use in RAM are taken on the way.
        let is_spare = |flags: u32| {
            let what = bit::SWAP_CACHE | bit::MAPPED | bit::WRITEBACK | bit::LOCKED;
            is_half_full && flags & what == bit::SWAP_CACHE | bit::MAPPED
        };
        let slot = clusters.take(|slot| match self.owners[slot as usize] {
            NONE => State::Free,
            id if is_spare(pages.flags[id as usize]) => State::Spare,
            _ => State::Taken,
        })?;
        let before = self.owner(slot);
        if before != NONE {
            pages.slots[before as usize] = NONE;
            pages.clear(before, bit::SWAP_CACHE);
            pages.set(before, bit::DIRTY);
            self.vacate(slot);
        }
        Some(slot)
    }

    /// The slot of a page is not needed any more.
    pub fn free(&mut self, pages: &mut Pages, id: u32) {
        let slot = std::mem::replace(&mut pages.slots[id as usize], NONE);
        pages.clear(id, bit::SWAP_CACHE);
        if slot == NONE {
            return;
        }
        let is_scarce = self.room() < SCARCE;
        if is_scarce || self.returned.as_ref().is_some_and(|returned| returned.len() >= TOGETHER) {
            self.release_returned();
        }
        match &mut self.returned {
            Some(returned) if !is_scarce => {
                self.owners[slot as usize] = RETURNED;
                returned.push(slot);
            }
            _ => self.release(slot),
        }
    }

    fn release_returned(&mut self) {
        let returned = self.returned.as_mut().map(std::mem::take);
        returned.into_iter().flatten().for_each(|slot| self.release(slot));
    }

    /// A slot is free again.
    fn release(&mut self, slot: u32) {
        self.vacate(slot);
        if let Some(clusters) = &mut self.clusters {
            clusters.free(slot);
        }
    }

    /// A slot has no owner any more, and a zram keeps nothing in it.
    fn vacate(&mut self, slot: u32) {
        self.owners[slot as usize] = NONE;
        self.used -= 1;
        if let Some(pool) = &mut self.pool {
            pool.free(slot);
        }
    }

    /// Bytes of memory that a zram takes.
    #[must_use]
    pub fn pool_bytes(&self) -> u64 {
        self.pool.as_ref().map_or(0, Pool::bytes)
    }

    /// Pages are on their way to the disk, which takes them together: as they are handed over, or once those before them are there.
    #[expect(clippy::cast_precision_loss, reason = "a number of pages")]
    pub fn write(&mut self, pages: &[u32], now: u64, [at_all, each]: [f64; 2]) {
        let done = self.ask(now, whole(at_all + each * pages.len() as f64));
        self.writes.extend(pages.iter().map(|id| (done, *id)));
    }

    /// Asks the disk for what takes so long: when it is done. A disk takes requests in their order.
    pub fn ask(&mut self, now: u64, takes: u64) -> u64 {
        self.taken_until = self.taken_until.max(now) + takes;
        self.taken_until
    }

    /// A page that is there by now, if one is.
    pub fn written(&mut self, now: u64) -> Option<u32> {
        let (_, id) = self.writes.front().copied().filter(|(at, _)| *at <= now)?;
        self.writes.pop_front();
        Some(id)
    }

    /// Pages on their way.
    #[must_use]
    pub fn on_their_way(&self) -> u64 {
        self.writes.len() as u64
    }

    /// When a page is there.
    #[must_use]
    pub fn done(&self, id: u32) -> Option<u64> {
        self.writes.iter().find(|(_, one)| *one == id).map(|(at, _)| *at)
    }

    /// When the next of them is there.
    #[must_use]
    pub fn next_done(&self) -> Option<u64> {
        self.writes.front().map(|(at, _)| *at)
    }

    /// Each slot has one page, each page one slot.
    ///
    /// # Errors
    /// What is not.
    pub fn check(&self, pages: &Pages) -> Result<(), String> {
        let slots = (0..self.len()).filter(|slot| self.owner(*slot) != NONE).count();
        let returned = self.returned.as_ref().map_or(0, Vec::len);
        let of_pages = pages.slots.iter().filter(|slot| **slot != NONE).count();
        let wrong = (0..self.len()).any(|slot| self.owner(slot) != NONE && pages.slot(self.owner(slot)) != slot);
        if slots != of_pages || slots + returned != self.used as usize || wrong {
            return Err(format!("{slots} slots of {of_pages} pages, {returned} returned, {} counted", self.used));
        }
        let has_owner = |slot: u32| self.owners[slot as usize] != NONE;
        self.clusters.as_ref().map_or(Ok(()), |clusters| clusters.check(has_owner))?;
        self.pool.as_ref().map_or(Ok(()), Pool::check)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chance::Chance;
    use crate::kernel::PRESETS;
    use crate::memory::tests::group;

    /// An area of so many slots, and pages that all have one.
    fn full(slots: u32, used: u32) -> (Area, Pages) {
        let [_, kernel, ..] = PRESETS;
        assert!(kernel.frees_late);
        let mut area = Area::new(&Setting { slots, ..group(8, kernel, Chance::default()).setting });
        let mut pages = Pages::default();
        (0..used).for_each(|_| pages.add(0, 4096));
        assert!((0..used).all(|id| area.take(&mut pages, id)));
        (area, pages)
    }

    #[test]
    fn a_disk_takes_writes_and_reads_in_their_order() {
        let (mut area, _) = full(8, 8);
        assert_eq!((area.ask(7, 20), area.ask(7, 1), area.next_done()), (27, 28, None));
        area.write(&[1, 2], 100, [10.0, 5.0]);
        area.write(&[3], 100, [10.0, 5.0]);
        assert_eq!([1, 2, 3].map(|id| area.done(id)), [Some(120), Some(120), Some(135)]);
        assert_eq!(area.ask(90, 20), 155);
        area.write(&[4], 120, [10.0, 5.0]);
        area.write(&[5], 300, [10.0, 5.0]);
        assert_eq!([4, 5].map(|id| area.done(id)), [Some(170), Some(315)]);
    }

    #[test]
    fn with_clusters_the_header_has_the_place_of_a_slot_and_a_spare_one_changes_its_owner() {
        let [.., kernel, _] = PRESETS;
        let mut area = Area::new(&Setting { slots: 512, ..group(8, kernel, Chance::default()).setting });
        let mut pages = Pages::default();
        (0..512).for_each(|_| pages.add(0, 4096));
        (0..400).for_each(|id| assert!(area.take(&mut pages, id)));
        // More than half is in use: the page in RAM whose slot comes next does not need it, one on its way there does.
        area.free(&mut pages, 0);
        for id in [1, 2] {
            pages.set(id, bit::SWAP_CACHE | bit::MAPPED);
        }
        pages.set(1, bit::WRITEBACK);
        (400..511).for_each(|id| assert!(area.take(&mut pages, id)));
        assert_eq!((pages.slot(510), area.used, area.check(&pages)), (510, 510, Ok(())));
        assert!(area.take(&mut pages, 511));
        assert_eq!((pages.slot(511), area.has_room()), (0, false));
        area.free(&mut pages, 0);
        area.free(&mut pages, 4);
        assert!(area.take(&mut pages, 0));
        assert_eq!((pages.slot(0), pages.slot(2), area.used), (2, NONE, 510));
        assert!(pages.is(2, bit::DIRTY) && !pages.is(2, bit::SWAP_CACHE) && pages.is(1, bit::SWAP_CACHE));
        assert_eq!(area.check(&pages), Ok(()));
    }

    #[test]
    fn slots_become_free_64_at_a_time() {
        let (mut area, mut pages) = full(512, 100);
        (0..64).for_each(|id| area.free(&mut pages, id));
        assert_eq!((area.room(), area.owner(0), area.owner(64)), (412, NONE, 64));
        area.free(&mut pages, 64);
        assert_eq!((area.room(), area.check(&pages)), (476, Ok(())));
    }

    #[test]
    fn where_slots_are_scarce_they_are_free_at_once() {
        let (mut area, mut pages) = full(200, 70);
        area.free(&mut pages, 0);
        assert_eq!(area.room(), 130, "one waits for others");
        (70..73).for_each(|_| pages.add(0, 4096));
        assert!((70..73).all(|id| area.take(&mut pages, id)));
        pages.add(0, 4096);
        assert!(area.take(&mut pages, 73));
        assert_eq!(area.room(), 127, "the one that waited is there again");
        area.free(&mut pages, 1);
        assert_eq!((area.room(), area.check(&pages)), (128, Ok(())));
    }
}
