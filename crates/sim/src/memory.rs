//! One control group at its limit: its pages, lists, counters and swap, and the clock.
//!
//! Stands for `struct lruvec` and the charge of a memory cgroup; read in 6.18. Left out: several groups and nodes.

mod check;
mod lists;
pub mod lru_gen;
pub mod statistics;
#[cfg(test)]
pub mod tests;

use ramline_evidence::rng::SplitMix64;

use crate::beside::Beside;
use crate::chance::Chance;
use crate::cost::Steps;
use crate::epochs::Epochs;
use crate::file_ra_state::{FileRaState, InFlight};
use crate::folio_batch::Batches;
use crate::generations::tables::tables_of;
use crate::generations::{Generations, MOST};
use crate::load::{Extent, PAGE};
use crate::memory::statistics::{Flushed, Statistics};
use crate::page::{List, Pages, bit};
use crate::plug::Plug;
pub use crate::setting::{ANON, Counts, FILE, Flushes, Setting, SwapTo};
use crate::swap::area::Area;
use crate::swap::cluster::Clusters;

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
    pub reads: Vec<FileRaState>,
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
    pub in_flight: InFlight,
    /// The thread beside it.
    pub beside: Option<Box<dyn Beside>>,
    /// When that acts next; never without one.
    pub acts_at: u64,
    /// The limit in bytes, where the thread beside it writes it.
    pub written_limit: Option<u64>,
    /// Plugged writes.
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
    /// The statistics by which it decides.
    pub flushed: Flushed,
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
            reads: vec![FileRaState::default(); regions.len()],
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
            steps: Steps::from_costs(&setting.costs),
            area: Area::new(&setting),
            in_flight: InFlight::default(),
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
            flushed: Flushed::new(&setting, &chance),
            jitter: chance.jitter,
            random: SplitMix64::new(chance.seed),
            setting,
        }
    }

    /// Flushes the statistics if it is time.
    #[inline]
    pub fn flush_if_due(&mut self) {
        if self.flushed.is_due(self.clock) {
            self.statistics();
        }
    }

    /// The sizes the kernel decides on, as old as they are.
    pub fn statistics(&mut self) -> Statistics {
        let len = |kind: usize| [self.lists[kind][0].len, self.lists[kind][1].len];
        let Counts { activated, cost, .. } = self.counts;
        let now = Statistics { size: [len(ANON), len(FILE)], activated, cost };
        self.flushed.known(self.clock, now, &mut self.random)
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
        self.flush_plug();
        self.generations.walk.has_waited |= done > self.clock;
        self.counts.waited += done.saturating_sub(self.clock);
        self.clock = self.clock.max(done);
    }

    /// Begins the write of a page to its slot, which stays plugged with others until the open plug closes.
    pub fn write_out(&mut self, id: u32) {
        debug_assert!(self.plug.is_open());
        self.counts.written += 1;
        self.clock += self.steps.swap_write;
        self.pages.set(id, bit::WRITEBACK | bit::READ_AHEAD);
        self.plug_page(id, true);
    }

    /// Plugs the read or write of a page.
    pub fn plug_page(&mut self, id: u32, is_write: bool) {
        let slot = self.pages.slot(id);
        if self.plug.is_full(slot, is_write, self.setting.kernel.oldest_request) {
            self.flush_plug();
        }
        if is_write { self.plug.write(id, slot) } else { self.plug.read(slot) }
    }

    /// Submits all that is plugged to the disk (`blk_flush_plug`).
    #[inline]
    pub fn flush_plug(&mut self) {
        let (clock, cost) = (self.clock, self.setting.costs.swap_written);
        self.plug.take(|pages| self.area.write(pages, clock, cost));
    }

    /// Waits until a page that is on its way is there.
    pub fn wait_written(&mut self, id: u32) {
        self.flush_plug();
        self.wait_until(self.area.done(id).unwrap_or(self.clock));
        self.settle();
    }

    /// Closes the plug, and with the last one submits what is plugged.
    pub fn unplug(&mut self) {
        if self.plug.close() {
            self.flush_plug();
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
        self.in_flight.arrive(self.clock, &mut self.pages);
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
}
