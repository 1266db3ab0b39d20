//! Pages on their way to a list, on it, and off it.
//!
//! Stands for `folio_batch_move_lru`, `lru_add_drain` and `folio_rotate_reclaimable` (mm/swap.c); read in 6.18.

use super::{Memory, lru_gen};
use crate::folio::Folio;
use crate::generations::faulted;
use crate::page::bit;

impl Memory {
    /// To the head of the list its bits say.
    pub fn list(&mut self, id: u32) {
        if let Some(mglru) = self.setting.kernel.mglru() {
            return lru_gen::list(self, id, mglru, false);
        }
        let (kind, active) = self.place(id);
        self.lists[kind][active].push(&mut self.pages, id);
    }

    /// Off its list.
    pub fn unlist(&mut self, id: u32) {
        if self.setting.kernel.mglru().is_some() {
            return lru_gen::unlist(self, id);
        }
        let (kind, active) = self.place(id);
        self.lists[kind][active].remove(&mut self.pages, id);
    }

    fn place(&self, id: u32) -> (usize, usize) {
        (self.pages.kind(id), usize::from(self.pages.is(id, bit::ACTIVE)))
    }

    /// The oldest folio of a list, off it.
    pub fn oldest(&mut self, kind: usize, active: usize) -> Option<Folio> {
        let list = &mut self.lists[kind][active];
        let first = list.pop(&mut self.pages)?;
        let folio = Folio::containing(&self.pages, first);
        // They came together and are moved together.
        for id in folio.ids().skip(1) {
            let next = list.pop(&mut self.pages);
            debug_assert_eq!(next, Some(id));
        }
        Some(folio)
    }

    /// A page that is new in RAM, on its way to its list.
    pub fn add(&mut self, id: u32) {
        if let Some(mglru) = self.setting.kernel.mglru().filter(|_| self.in_fault) {
            let flags = &mut self.pages.flags[id as usize];
            *flags = faulted(mglru, *flags);
        }
        if self.batches.add(id) {
            self.list_added();
        }
    }

    /// A page of the inactive list that was read a second time, on its way to the active one.
    pub fn activate(&mut self, id: u32) {
        if self.batches.activate(id) {
            self.list_activated();
        }
    }

    /// All pages of a folio: one of several does not wait in a batch.
    pub fn activate_all(&mut self, folio: Folio) {
        folio.ids().for_each(|id| self.activate(id));
        if folio.is_large() {
            self.list_activated();
        }
    }

    /// `lru_add_drain`: before reclaim looks at a list, all pages are on theirs.
    pub fn drain(&mut self) {
        self.list_added();
        if !self.elsewhere {
            self.rotate_all();
        }
        self.list_activated();
    }

    /// What is on its way to a list is there (`folio_batch_move_lru`).
    pub fn list_added(&mut self) {
        let (pages, n) = self.batches.added();
        pages[..n].iter().for_each(|id| self.list(*id));
    }

    /// And so is what is on its way to the active list.
    pub fn list_activated(&mut self) {
        let (ids, n) = self.batches.activated();
        ids[..n].iter().for_each(|&id| self.lists[self.pages.kind(id)][self.pages.list_of(id)].fetch(&self.pages, id));
        for id in &ids[..n] {
            if self.pages.is(*id, bit::LISTED) && !self.pages.is(*id, bit::ACTIVE) {
                self.unlist(*id);
                self.pages.set(*id, bit::ACTIVE);
                self.list(*id);
            }
        }
    }

    /// Pages whose write is done are on their lists.
    pub fn rotate_all(&mut self) {
        for id in std::mem::take(&mut self.rotating) {
            self.pages.clear(id, bit::HELD);
            if self.pages.is(id, bit::LISTED) {
                self.rotate(id);
            }
        }
    }

    /// A page whose write is done goes where it is looked at next (`lru_move_tail`).
    fn rotate(&mut self, id: u32) {
        self.unlist(id);
        self.pages.clear(id, bit::ACTIVE);
        match self.setting.kernel.mglru() {
            Some(mglru) => lru_gen::list(self, id, mglru, true),
            None => self.lists[self.pages.kind(id)][0].push_last(&mut self.pages, id),
        }
    }
}
