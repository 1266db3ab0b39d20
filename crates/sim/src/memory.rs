//! One control group at its limit: its pages, lists, counters and swap, and the clock.
//!
//! Stands for `struct lruvec` and the charge of a memory cgroup; read in 6.18. Left out: several groups and nodes.

pub mod by_generation;
#[cfg(test)]
pub mod tests;

use ramline_evidence::rng::SplitMix64;

use crate::area::Area;
use crate::batch::Batches;
use crate::beside::Beside;
use crate::chance::Chance;
use crate::cluster::Clusters;
use crate::cost::Steps;
use crate::epochs::Epochs;
use crate::folio::{self, Folio};
use crate::generations::tables::tables_of;
use crate::generations::{Generations, MOST, faulted};
use crate::load::{Extent, PAGE};
use crate::page::{List, Pages, bit};
use crate::plug::Plug;
pub use crate::setting::{ANON, Counts, FILE, Look, Setting, Sums, SwapTo};
use crate::statistics::{Looks, Statistics};
use crate::stream::{Coming, Stream};

/// The group.
#[derive(Debug)]
pub struct Memory {
    /// What was chosen.
    pub setting: Setting,
    /// All pages of the load.
    pub pages: Pages,
    /// Where its regions lie among them.
    pub regions: Vec<Extent>,
    /// How each region is read.
    pub reads: Vec<Stream>,
    /// By kind: inactive and active, or generations.
    pub lists: [[List; MOST as usize]; 2],
    /// What MGLRU knows of its generations.
    pub generations: Generations,
    /// Pages on their way to a list.
    pub batches: Batches,
    /// Pages charged, without the stock.
    pub charged: u64,
    /// Pages charged ahead, for one processor.
    pub stock: u64,
    /// The most that were charged at once, without the stock.
    pub most: u64,
    /// Of a recording.
    pub epochs: Epochs,
    /// `nonresident_age`.
    pub age: u32,
    /// `anon_cost` and `file_cost`.
    pub cost: [u64; 2],
    /// What of the costs in the statistics is in it (`last_rotated`, `last_io`).
    pub taken: [u64; 2],
    /// `refaults` of the last reclaim.
    pub seen: [u64; 2],
    /// Counters.
    pub counts: Counts,
    /// Nanoseconds since the start.
    pub clock: u64,
    /// What steps take.
    pub steps: Steps,
    /// The swap area.
    pub area: Area,
    /// Pages of files that were asked for last, before anyone needs them.
    pub coming: Coming,
    /// The thread beside it.
    pub beside: Option<Box<dyn Beside>>,
    /// When that acts next; never without one.
    pub acts_at: u64,
    /// The limit in bytes, where the thread beside it writes it.
    pub written_limit: Option<u64>,
    /// Writes to it that are kept back.
    pub plug: Plug,
    /// Pages whose write is done, in the batch of the processor that answers for the disk.
    pub rotating: Vec<u32>,
    /// That processor is another than the load's.
    pub elsewhere: bool,
    /// What swap-ins were worth.
    pub clusters: Clusters,
    /// Where a file's pages begin in the page tables' blocks of 16.
    pub around: u32,
    /// Who reclaims may not enter a file system: it reads ahead.
    pub no_fs: bool,
    /// What is done is done for a touch through a mapping, not for a read(2).
    pub in_fault: bool,
    /// A charge failed for good.
    pub killed: bool,
    /// What the kernel decides on.
    pub looks: Looks,
    /// What a device takes differs by up to this share from one time to the next.
    pub jitter: f64,
    /// Chance within the run.
    pub random: SplitMix64,
}

impl Memory {
    /// Nothing touched yet.
    #[must_use]
    pub fn new(setting: Setting, regions: &[Extent], pages: Pages, chance: Chance) -> Memory {
        Memory {
            charged: setting.base,
            pages,
            regions: regions.to_vec(),
            reads: vec![Stream::default(); regions.len()],
            lists: [(); 2].map(|()| [0, 1, 2, 3].map(List::numbered)),
            generations: Generations::new(tables_of(regions)),
            batches: Batches::begun(chance.others, setting.kernel.batch),
            stock: 0,
            most: setting.base,
            epochs: Epochs::default(),
            age: 0,
            cost: [0; 2],
            taken: [0; 2],
            seen: [0; 2],
            counts: Counts::default(),
            clock: 0,
            steps: Steps::of(&setting.costs),
            area: Area::new(&setting),
            coming: Coming::default(),
            beside: setting.beside.map(|make| make(setting.limit)),
            acts_at: if setting.beside.is_some() { 0 } else { u64::MAX },
            written_limit: setting.beside.map(|_| setting.limit * PAGE),
            plug: Plug::default(),
            rotating: Vec::new(),
            elsewhere: chance.elsewhere,
            clusters: Clusters::behind(chance.cluster),
            around: chance.around,
            no_fs: false,
            in_fault: false,
            killed: false,
            looks: Looks::new(if setting.kernel.sums_up { Sums::AtOnce } else { setting.sums }, &chance),
            jitter: chance.jitter,
            random: SplitMix64::new(chance.seed),
            setting,
        }
    }

    /// To the head of the list its bits say.
    pub fn list(&mut self, id: u32) {
        if let Some(mglru) = self.setting.kernel.mglru() {
            return by_generation::list(self, id, mglru, false);
        }
        let (kind, active) = self.place(id);
        self.lists[kind][active].push(&mut self.pages, id);
    }

    /// Off its list.
    pub fn unlist(&mut self, id: u32) {
        if self.setting.kernel.mglru().is_some() {
            return by_generation::unlist(self, id);
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
        let folio = Folio::of(&self.pages, first);
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

    /// Sums up the statistics if it is time.
    #[inline]
    pub fn sum_up(&mut self) {
        if self.looks.is_due(self.clock) {
            self.statistics();
        }
    }

    /// The sizes the kernel decides on, as old as they are.
    pub fn statistics(&mut self) -> Statistics {
        let len = |kind: usize| [self.lists[kind][0].len, self.lists[kind][1].len];
        let Counts { activated, cost, .. } = self.counts;
        let now = Statistics { size: [len(ANON), len(FILE)], activated, cost };
        self.looks.known(self.clock, now, &mut self.random)
    }

    /// Anonymous pages have where to go.
    #[must_use]
    pub fn can_swap(&self) -> bool {
        self.area.has_room()
    }

    /// Room below the limit; what a pool takes is not there.
    #[must_use]
    pub fn margin(&self) -> u64 {
        self.limit().saturating_sub(self.charged)
    }

    fn limit(&self) -> u64 {
        let rest = || self.setting.limit.saturating_sub(self.area.pool_bytes() / PAGE);
        self.written_limit.map_or_else(rest, |bytes| bytes / PAGE)
    }

    /// More is charged than may be, as when the pool grew.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.charged > self.limit()
    }

    /// Waits for what a disk is done with at that time.
    pub fn wait_until(&mut self, done: u64) {
        self.hand_over();
        self.generations.walk.has_waited |= done > self.clock;
        self.counts.waited += done.saturating_sub(self.clock);
        self.clock = self.clock.max(done);
    }

    /// Begins the write of a page to its slot, which is kept back with others until a plug closes that is open.
    pub fn write_out(&mut self, id: u32) {
        debug_assert!(self.plug.is_open());
        self.counts.written += 1;
        self.clock += self.steps.swap_write;
        self.pages.set(id, bit::WRITEBACK | bit::READ_AHEAD);
        self.keep_back(id, true);
    }

    /// A page that is read from the disk, or written to it, comes to what is kept back.
    pub fn keep_back(&mut self, id: u32, is_write: bool) {
        let slot = self.pages.slot(id);
        if self.plug.is_full(slot, is_write, self.setting.kernel.oldest_request) {
            self.hand_over();
        }
        if is_write { self.plug.write(id, slot) } else { self.plug.read(slot) }
    }

    /// All that is kept back is on its way to the disk.
    #[inline]
    pub fn hand_over(&mut self) {
        let (clock, cost) = (self.clock, self.setting.costs.swap_written);
        self.plug.take(|pages| self.area.write(pages, clock, cost));
    }

    /// Waits until a page that is on its way is there.
    pub fn wait_written(&mut self, id: u32) {
        self.hand_over();
        self.wait_until(self.area.done(id).unwrap_or(self.clock));
        self.settle();
    }

    /// Closes the plug, and with the last one hands over what it kept back.
    pub fn unplug(&mut self) {
        if self.plug.close() {
            self.hand_over();
        }
    }

    /// A slot for a page.
    pub fn take_slot(&mut self, id: u32) -> bool {
        self.area.take(&mut self.pages, id)
    }

    /// The slot of a page is not needed any more.
    pub fn free_slot(&mut self, id: u32) {
        self.area.free(&mut self.pages, id);
    }

    /// Writes that are done by now: their pages wait in a batch until it is full or drained (`folio_rotate_reclaimable`).
    pub fn settle(&mut self) {
        self.coming.arrive(self.clock, &mut self.pages);
        while let Some(id) = self.area.written(self.clock) {
            self.pages.clear(id, bit::WRITEBACK);
            let goes = self.pages.clear(id, bit::READ_AHEAD);
            // A page table that was stored through does not say so to the page itself.
            let is_dirty = self.pages.is(id, bit::DIRTY) && !self.pages.is(id, bit::MAPPED);
            if !goes || !self.pages.is(id, bit::LISTED) || is_dirty {
                continue;
            }
            self.rotating.push(id);
            self.pages.set(id, bit::HELD);
            if self.rotating.len() >= self.setting.kernel.batch {
                self.rotate_all();
            }
        }
    }

    /// All pages whose writes are done, and all that are on their way to a list, are on theirs.
    pub fn settle_all(&mut self) {
        self.settle();
        self.drain();
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
            Some(mglru) => by_generation::list(self, id, mglru, true),
            None => self.lists[self.pages.kind(id)][0].push_last(&mut self.pages, id),
        }
    }

    /// Each page is in one place, and the sums are right: RAM charged, slots, lists.
    ///
    /// # Errors
    /// What is not.
    pub fn check(&self) -> Result<(), String> {
        let has = |bits: u32| self.pages.flags.iter().filter(|flags| **flags & bits == bits).count() as u64;
        let resident = has(bit::RESIDENT);
        let listed: u64 = self.lists.iter().flatten().map(|list| list.len).sum();
        let waiting = self.batches.waiting();
        if resident != listed + waiting || has(bit::LISTED) != listed {
            return Err(format!("{resident} pages are in RAM, {listed} on lists and {waiting} on their way"));
        }
        if self.charged != resident + self.setting.base + self.stock {
            return Err(format!("{} charged, {resident} in RAM, {} in stock", self.charged, self.stock));
        }
        if has(bit::MAPPED) != has(bit::MAPPED | bit::RESIDENT) {
            return Err("a page is mapped and not in RAM".to_owned());
        }
        let held = self.pages.flags.iter().filter(|flags| **flags & (bit::HELD | bit::FILE) == bit::HELD).count();
        let rotating = self.rotating.len();
        if held != rotating {
            return Err(format!("{held} pages are held, {rotating} in the batch of those that were written"));
        }
        let (to, from) = (has(bit::WRITEBACK), has(bit::LOCKED));
        if to != self.area.on_their_way() || from != self.coming.pages.len() as u64 || self.plug.is_open() {
            let known = self.area.on_their_way();
            return Err(format!("{to} pages are written, {known} known to the area, {from} read, in the end"));
        }
        if self.setting.kernel.mglru().is_some() {
            by_generation::check(self)?;
        }
        folio::check(&self.pages)?;
        self.area.check(&self.pages)
    }
}
