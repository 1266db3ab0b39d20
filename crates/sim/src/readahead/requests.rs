//! What a disk is asked for, and of a window of a file what is missing.
//!
//! Stands for `read_pages` (mm/readahead.c), read in 6.12 and 6.18. `page_cache_ra_order` calls it where it can go no further, because there is no room in the group, before the rest is
//! tried page by page. While the disk reads, what is behind is charged, and pages that it has read by then may leave for it: so a window of 8 MiB is read whole where the group has 6 MiB for
//! files. Left out: that a disk begins before a window is whole where there is room, with what lies before a page that is there already; requests shorter than what a disk takes at once;
//! that what was asked for early is there before the rest once the window is whole.

use std::collections::VecDeque;

use crate::chance::unit;
use crate::cost::{Costs, read_cost};
use crate::memory::Memory;
use crate::page::bit;
use crate::plug::LONGEST;

impl Memory {
    /// Asks the disk for `n` pages, behind what it was asked for before: when they are there. Files and the swap area lie on one.
    pub fn ask(&mut self, cost: [f64; 2], n: u64) -> u64 {
        let cost = self.as_it_goes(cost);
        self.ask_behind(cost, 0, n)
    }

    /// What a disk takes this time.
    fn as_it_goes(&mut self, cost: [f64; 2]) -> [f64; 2] {
        let times = 1.0 + self.jitter * (2.0 * unit(&mut self.random) - 1.0);
        cost.map(|ns| ns * times)
    }

    /// The same for pages that belong to a read of which some were asked for before.
    fn ask_behind(&mut self, cost: [f64; 2], before: u64, n: u64) -> u64 {
        let known = if before > 0 { read_cost(cost, before) } else { 0 };
        self.counts.fetched += n;
        self.area.ask(self.clock, read_cost(cost, before + n) - known)
    }
}

/// Missing pages of a window: pages in RAM, locked while it is made.
#[derive(Debug)]
pub struct Missing {
    /// The first page of the window.
    first: u32,
    /// Pages that the disk was not asked for yet, in a number of requests; whether the next page begins one.
    kept: u64,
    requests: u64,
    begins: bool,
    /// Pages that the disk was asked for, and when all of them are there.
    asked: u64,
    at: u64,
    cost: [f64; 2],
    /// What the disk reads at once of those that it was asked for early: when it is there, its first page and the one behind it.
    parts: VecDeque<(u64, u32, u32)>,
}

impl Missing {
    /// Nothing of a window yet.
    pub const fn starting_at(first: u32) -> Missing {
        Missing { first, kept: 0, requests: 0, begins: true, asked: 0, at: 0, cost: [0.0; 2], parts: VecDeque::new() }
    }

    /// So many pages more.
    pub fn keep(&mut self, pages: u32) {
        self.kept += u64::from(pages);
        self.requests += u64::from(std::mem::take(&mut self.begins));
    }

    /// A page that is there parts what is read into several requests.
    pub fn part(&mut self) {
        self.begins = true;
    }

    /// The disk is asked for all that is kept; when all of the window is there, if any was missing.
    pub fn ask(&mut self, memory: &mut Memory) -> Option<u64> {
        if self.begin(memory) {
            let n = std::mem::take(&mut self.kept);
            self.at = memory.ask_behind(self.cost, self.asked, n);
            self.asked += n;
        }
        (self.asked > 0).then_some(self.at)
    }

    /// The same before the first page for which there is no room, where no page of the window was there already: what the disk reads at once is there sooner.
    pub fn ask_early(&mut self, memory: &mut Memory, behind: u32) {
        if self.begin(memory) {
            self.kept = 0;
            for from in (self.first..behind).step_by(LONGEST as usize) {
                let until = behind.min(from + LONGEST);
                let n = u64::from(until - from);
                debug_assert!((from..until).all(|id| memory.pages.is(id, bit::LOCKED)));
                self.at = memory.ask_behind(self.cost, self.asked, n);
                self.asked += n;
                self.parts.push_back((self.at, from, until));
            }
        }
        self.begins = true;
    }

    /// What a processor does with it; false if there is nothing. What was asked for before the window is there first: it lies before it, or the disk has it.
    fn begin(&mut self, memory: &mut Memory) -> bool {
        if self.kept == 0 {
            return false;
        }
        if self.asked == 0 {
            memory.wait_until(memory.in_flight.at);
            memory.in_flight.arrive(memory.clock, &mut memory.pages);
        }
        memory.counts.read += self.kept;
        let [request, page] = memory.steps.fetch;
        memory.clock += request * std::mem::take(&mut self.requests) + page * self.kept;
        if self.asked == 0 {
            let Costs { read: [first, each], layer, .. } = memory.setting.costs;
            self.cost = memory.as_it_goes([first + layer, each]);
        }
        true
    }

    /// What the disk has read by now is no longer locked; whether there is something new of it.
    #[inline]
    pub fn arrive(&mut self, memory: &mut Memory) -> bool {
        let before = self.parts.len();
        while let Some((at, from, behind)) = self.parts.front().copied()
            && at <= memory.clock
        {
            (from..behind).for_each(|id| _ = memory.pages.clear(id, bit::LOCKED));
            self.parts.pop_front();
        }
        self.parts.len() < before
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chance::Chance;
    use crate::insert::insert;
    use crate::kernel::PRESETS;
    use crate::memory::tests::group;

    fn locked(memory: &Memory) -> usize {
        (400..800).filter(|id| memory.pages.is(*id, bit::LOCKED)).count()
    }

    #[test]
    fn what_is_asked_for_early_takes_as_long_as_one_window_and_is_there_request_by_request() {
        let mut memory = group(400, PRESETS[2], Chance::default());
        memory.steps.fetch = [0; 2];
        let cost = memory.setting.costs.read;
        let mut missing = Missing::starting_at(400);
        for (from, behind) in [(400, 700), (700, 710)] {
            (from..behind).for_each(|id| insert(&mut memory, id, bit::LOCKED));
            missing.keep(behind - from);
            if behind == 700 {
                missing.ask_early(&mut memory, behind);
            }
        }
        let [first, second, all] = [254, 300, 310].map(|n| read_cost(cost, n));
        assert_eq!((missing.ask(&mut memory), missing.ask(&mut memory), locked(&memory)), (Some(all), Some(all), 310));
        let mut at = |clock| {
            memory.clock = clock;
            (missing.arrive(&mut memory), locked(&memory))
        };
        let what_is_left = [first - 1, first, second - 1, second, all].map(&mut at);
        assert_eq!(what_is_left, [(false, 310), (true, 56), (false, 56), (true, 10), (false, 10)]);
    }

    #[test]
    fn a_window_of_which_nothing_is_missing_asks_for_nothing() {
        let mut memory = group(400, PRESETS[2], Chance::default());
        let mut missing = Missing::starting_at(400);
        missing.ask_early(&mut memory, 432);
        assert_eq!((missing.ask(&mut memory), memory.clock, memory.counts.fetched), (None, 0, 0));
    }
}
