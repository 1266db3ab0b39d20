//! One control group at its limit: its pages, lists, counters and swap, and the clock.
//!
//! Stands for `struct lruvec`, the charge of a memory cgroup and `struct swap_info_struct`; read in 6.18. Left out: several groups and nodes.

use std::collections::VecDeque;

use ramline_model::zsmalloc::Zsmalloc;

use crate::cost::Costs;
use crate::page::{List, NONE, Page, bit};

/// Anonymous memory among pairs of numbers by kind.
pub const ANON: usize = 0;
/// Files among pairs of numbers by kind.
pub const FILE: usize = 1;

/// What pages that leave RAM go to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SwapTo {
    /// No area is on.
    Nowhere,
    /// A disk, past which reads come in clusters.
    Disk,
    /// zram: compressed in RAM, at once, page by page.
    Zram,
}

/// What can be chosen.
#[derive(Debug, Clone)]
pub struct Setting {
    /// Pages the group may have, a zram's pool included.
    pub limit: u64,
    /// 0 to 200.
    pub swappiness: u64,
    /// The area.
    pub swap: SwapTo,
    /// Its slots.
    pub slots: u32,
    /// Pages of one read of a file.
    pub read_ahead: u32,
    /// Slots of one read of the swap area.
    pub cluster: u32,
    /// Pages below the limit that are neither mapped nor on a list: the program, its tables.
    pub base: u64,
    /// Time between two looks of the kernel at the group's statistics; `None`: they are exact.
    pub stale: Option<u64>,
    /// What things take.
    pub costs: Costs,
}

/// What the kernel counts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    /// Touches.
    pub touches: u64,
    /// Faults without a read.
    pub minor: u64,
    /// Faults that read.
    pub major: u64,
    /// Pages that came back, by kind.
    pub refault: [u64; 2],
    /// Of these those that went to the active list.
    pub activated: [u64; 2],
    /// Pages read from swap.
    pub swap_in: u64,
    /// Pages written to swap.
    pub swap_out: u64,
    /// Pages looked at, by kind.
    pub scanned: [u64; 2],
    /// Pages freed, by kind.
    pub stolen: [u64; 2],
    /// Pages of files read.
    pub read: u64,
}

/// Sizes of the four lists, as the statistics of the group say.
#[derive(Debug, Clone, Copy, Default)]
pub struct Statistics {
    /// Inactive and active, by kind.
    pub size: [[u64; 2]; 2],
    /// Pages that were activated as they came back, by kind.
    pub activated: [u64; 2],
}

/// The group.
#[derive(Debug)]
pub struct Memory {
    /// What was chosen.
    pub setting: Setting,
    /// All pages of the load.
    pub pages: Vec<Page>,
    /// By kind, inactive and active.
    pub lists: [[List; 2]; 2],
    /// Pages charged, without the stock.
    pub charged: u64,
    /// Pages charged ahead, for one processor.
    pub stock: u64,
    /// `nonresident_age`.
    pub age: u32,
    /// `anon_cost` and `file_cost`.
    pub cost: [u64; 2],
    /// `refaults` of the last reclaim.
    pub seen: [u64; 2],
    /// Counters.
    pub counts: Counts,
    /// Nanoseconds since the start.
    pub clock: u64,
    /// Owner of each slot.
    pub slots: Vec<u32>,
    /// Slots in use.
    pub used_slots: u32,
    /// Where the next free slot is looked for.
    pub next_slot: u32,
    /// Bytes of the pool.
    pub pool: u64,
    /// Pages on their way to the disk, by the time they are there.
    pub writes: VecDeque<(u64, u32)>,
    /// `swapin_readahead_hits`, the last offset and window.
    pub cluster_hits: u32,
    /// The slot of the last read without hits.
    pub cluster_before: u32,
    /// Slots of the last read.
    pub cluster_window: u32,
    /// `mmap_miss` of the file.
    pub misses: u32,
    /// Where a file's pages begin in the page tables' blocks of 16.
    pub around: u32,
    /// A charge failed for good.
    pub killed: bool,
    statistics: Statistics,
    next_look: u64,
    classes: Vec<u64>,
}

impl Memory {
    /// Nothing touched yet. `phase` is when the first look at the statistics is.
    #[must_use]
    pub fn new(setting: Setting, pages: Vec<Page>, phase: u64, around: u32) -> Memory {
        let zs = Zsmalloc::new(4096, 8);
        let classes = (0..=4096).map(|length| zs.bytes_of(length)).collect();
        let slots = vec![NONE; if setting.swap == SwapTo::Nowhere { 0 } else { setting.slots as usize }];
        Memory {
            charged: setting.base,
            pages,
            lists: Default::default(),
            stock: 0,
            age: 0,
            cost: [0; 2],
            seen: [0; 2],
            counts: Counts::default(),
            clock: 0,
            slots,
            used_slots: 0,
            next_slot: 0,
            pool: 0,
            writes: VecDeque::new(),
            cluster_hits: 4,
            cluster_before: 0,
            cluster_window: 0,
            misses: 0,
            around,
            killed: false,
            statistics: Statistics::default(),
            next_look: phase,
            classes,
            setting,
        }
    }

    /// One page.
    pub fn page(&mut self, id: u32) -> &mut Page {
        &mut self.pages[id as usize]
    }

    /// To the head of the list its bits say.
    pub fn list(&mut self, id: u32) {
        let page = self.pages[id as usize];
        self.lists[page.kind()][usize::from(page.is(bit::ACTIVE))].push(&mut self.pages, id);
    }

    /// Off its list.
    pub fn unlist(&mut self, id: u32) {
        let page = self.pages[id as usize];
        self.lists[page.kind()][usize::from(page.is(bit::ACTIVE))].remove(&mut self.pages, id);
    }

    /// The oldest of a list, off it.
    pub fn oldest(&mut self, kind: usize, active: usize) -> Option<u32> {
        self.lists[kind][active].pop(&mut self.pages)
    }

    /// The sizes the kernel decides on: up to `stale` old.
    pub fn statistics(&mut self) -> Statistics {
        match self.setting.stale {
            None => self.look(),
            Some(every) if self.clock >= self.next_look => {
                self.look();
                self.next_look = self.clock + every;
            }
            Some(_) => {}
        }
        self.statistics
    }

    fn look(&mut self) {
        let len = |kind: usize| [self.lists[kind][0].len, self.lists[kind][1].len];
        self.statistics = Statistics { size: [len(ANON), len(FILE)], activated: self.counts.activated };
    }

    /// Whether anonymous pages have where to go.
    #[must_use]
    pub fn can_swap(&self) -> bool {
        self.used_slots < u32::try_from(self.slots.len()).unwrap_or(u32::MAX)
    }

    /// Room below the limit; what a pool takes is not there.
    #[must_use]
    pub fn margin(&self) -> u64 {
        let limit = self.setting.limit.saturating_sub(self.pool / 4096);
        limit.saturating_sub(self.charged)
    }

    /// More is charged than may be, as when the pool grew.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.charged + self.pool / 4096 > self.setting.limit
    }

    /// A slot for a page.
    pub fn take_slot(&mut self, id: u32) -> Option<u32> {
        let all = u32::try_from(self.slots.len()).ok()?;
        if self.used_slots == all {
            return None;
        }
        while self.slots[self.next_slot as usize] != NONE {
            self.next_slot = (self.next_slot + 1) % all;
        }
        let slot = self.next_slot;
        self.next_slot = (slot + 1) % all;
        self.slots[slot as usize] = id;
        self.used_slots += 1;
        self.page(id).slot = slot;
        Some(slot)
    }

    /// A slot is free again, and what a zram kept in it.
    pub fn free_slot(&mut self, id: u32) {
        let page = self.page(id);
        let (slot, length) = (page.slot, page.length);
        page.slot = NONE;
        page.clear(bit::SWAP_CACHE);
        if slot != NONE {
            self.slots[slot as usize] = NONE;
            self.used_slots -= 1;
            if self.setting.swap == SwapTo::Zram {
                self.pool -= self.bytes(length);
            }
        }
    }

    /// What a page of this compressed length takes in the pool.
    #[must_use]
    pub fn bytes(&self, length: u16) -> u64 {
        self.classes.get(usize::from(length)).copied().unwrap_or(4096)
    }

    /// `lru_note_cost`: what reclaim of a kind cost.
    pub fn note_cost(&mut self, kind: usize, io: u64, rotated: u64) {
        let cost = io * 32 + rotated;
        if cost == 0 {
            return;
        }
        self.cost[kind] += cost;
        let all: u64 = self.statistics().size.iter().flatten().sum();
        if self.cost[ANON] + self.cost[FILE] > all / 4 {
            self.cost[ANON] /= 2;
            self.cost[FILE] /= 2;
        }
    }

    /// Writes that are done by now: the page can go at the next look.
    pub fn settle(&mut self) {
        while let Some((_, id)) = self.writes.front().copied().filter(|(at, _)| *at <= self.clock) {
            self.writes.pop_front();
            self.page(id).clear(bit::WRITEBACK);
            let page = self.pages[id as usize];
            if page.is(bit::LISTED) && !page.is(bit::ACTIVE) {
                self.unlist(id);
                self.lists[page.kind()][0].push_last(&mut self.pages, id);
            }
        }
    }

    /// Each page is in one place, and the sums are right: RAM charged, slots, lists.
    ///
    /// # Errors
    /// What is not.
    pub fn check(&self) -> Result<(), String> {
        let resident = self.pages.iter().filter(|page| page.is(bit::RESIDENT)).count() as u64;
        let listed: u64 = self.lists.iter().flatten().map(|list| list.len).sum();
        if resident != listed {
            return Err(format!("{resident} pages are in RAM, {listed} on lists"));
        }
        if self.charged != resident + self.setting.base + self.stock {
            return Err(format!("{} charged, {resident} in RAM, {} in stock", self.charged, self.stock));
        }
        let slots = self.slots.iter().filter(|owner| **owner != NONE).count();
        let owners = self.pages.iter().filter(|page| page.slot != NONE).count();
        let lost = self.pages.iter().any(|page| page.is(bit::MAPPED) && !page.is(bit::RESIDENT));
        if slots != owners || slots != self.used_slots as usize || lost {
            return Err(format!("{slots} slots of {owners} pages, {} counted", self.used_slots));
        }
        Ok(())
    }
}
