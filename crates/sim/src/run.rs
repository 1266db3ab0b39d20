//! A load through one setting: fill, rounds, and what they took.

use ramline_trace::generate::{Load, Memory as Kind};

use crate::beside::StatReader;
use crate::chance::Chance;
use crate::epochs::Epochs;
use crate::fault;
use crate::filemap::read;
use crate::load::{Compact, word};
use crate::memory::{Counts, Memory, Setting};
pub use crate::page::Pages;
use crate::page::bit;
use crate::unmap;
use crate::zsmalloc::Pool;

/// The distance, in touches, at which bits of pages are prefetched, and that of shadow entries.
const AHEAD: usize = 32;
const NEXT: usize = 12;

/// How it ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// All rounds are done.
    Fine,
    /// The time was over before.
    Thrashing,
    /// The group was out of memory.
    Killed,
}

/// One run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Outcome {
    /// How it ended.
    pub end: End,
    /// Rounds that were done, with the part of one.
    pub rounds: f64,
    /// Nanoseconds of the fill before the rounds.
    pub fill: u64,
    /// Nanoseconds of the rounds.
    pub took: u64,
    /// Of these those of waiting for disks.
    pub waited: u64,
    /// Bytes of RAM that a zram took at most.
    pub pool: u64,
    /// The most pages that the group had at once, without what was charged ahead.
    pub most: u64,
    /// Counters, fill and rounds; of a recording those of its rounds.
    pub counts: Counts,
}

/// Runs a load for up to `timeout` nanoseconds. `length` gives what a page of a region compresses to, 0 for one of zeros. `None` if it has more
/// pages than have numbers.
pub fn load(
    load: &Load,
    setting: Setting,
    timeout: u64,
    chance: Chance,
    length: impl Fn(u32, u64) -> u16,
) -> Option<Outcome> {
    let load = Compact::decode(load)?;
    let pages = pages(&load, length);
    Some(compact(&load, pages, setting, timeout, chance))
}

/// The pages of a load, none of them in RAM.
pub fn pages(load: &Compact, length: impl Fn(u32, u64) -> u16) -> Pages {
    let mut pages = Pages::with_capacity(load.pages() as usize);
    for (number, region) in (0_u32..).zip(&load.regions) {
        let flags = number << bit::REGION;
        for page in 0..region.pages {
            match region.memory {
                Kind::File => pages.add(flags | bit::FILE, 4096),
                Kind::Anonymous => pages.add(flags, length(number, page.into())),
                Kind::Shared => pages.add(flags | bit::SHARED, length(number, page.into())),
            }
        }
    }
    pages
}

/// Runs a decoded load with its pages.
#[must_use]
pub fn compact(load: &Compact, pages: Pages, setting: Setting, timeout: u64, chance: Chance) -> Outcome {
    let mut memory = Memory::new(setting, &load.regions, pages, chance);
    if load.recorded {
        memory.epochs = Epochs::for_pages(load.pages());
    }
    memory.steps.minor += memory.steps.fill;
    let filled = fill(&mut memory, &load.fill);
    memory.steps.minor -= memory.steps.fill;
    let (begin, waited) = (memory.clock, memory.counts.waited);
    let before = if load.recorded { memory.counts } else { Counts::default() };
    if let Some(first) = memory.flushed.reader().and_then(|reader| reader.first_in_rounds(begin)) {
        memory.flushed.read_at(first);
    }
    let done = touches(&mut memory, &load.rounds, begin.saturating_add(timeout));
    memory.counts.touches = filled + done.touches;
    let end = match (memory.killed, done.all) {
        (true, _) => End::Killed,
        (false, true) => End::Fine,
        (false, false) => End::Thrashing,
    };
    debug_assert_eq!(memory.check(), Ok(()));
    Outcome {
        end,
        rounds: share(done.touches, load.of_a_round),
        fill: begin,
        took: memory.clock - begin,
        waited: memory.counts.waited - waited,
        pool: memory.area.pool.as_ref().map_or(0, Pool::most),
        most: memory.most,
        counts: memory.counts.since(&before),
    }
}

/// Fills memory; how many touches. A reader of the statistics may say behind which part of the fill it reads last.
#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a part of the touches of a fill"
)]
fn fill(memory: &mut Memory, words: &[u32]) -> u64 {
    let last = memory.flushed.reader().and_then(StatReader::last_in_fill);
    let part = last.unwrap_or_default();
    // It stores page by page, so it can be parted anywhere.
    let (before, after) = words.split_at((words.len() as f64 * part) as usize);
    let done = touches(memory, before, u64::MAX);
    if part > 0.0 {
        memory.flushed.read_at(memory.clock);
        memory.flush_if_due();
    }
    if last.is_some() {
        memory.flushed.read_at(u64::MAX);
    }
    done.touches + touches(memory, after, u64::MAX).touches
}

struct Progress {
    touches: u64,
    all: bool,
}

/// Touch after touch until a time. Almost all find their page in RAM and mapped, so those are answered here.
fn touches(memory: &mut Memory, words: &[u32], until: u64) -> Progress {
    let (mut at, mut touches) = (0, 0);
    while let Some(touch) = words.get(at).copied() {
        if memory.killed || memory.clock > until {
            return Progress { touches, all: false };
        }
        if let Some(soon) = words.get(at + AHEAD) {
            memory.pages.fetch(soon & word::PAGE);
        }
        if let Some(next) = words.get(at + NEXT) {
            memory.pages.fetch_shadow(next & word::PAGE);
        }
        at += 1;
        match touch & word::ACCESS {
            word::READ if read::hit(memory, touch) => {}
            word::READ => read::pages(memory, touch & word::PAGE, 1, touch & word::INSIDE != 0),
            word::MANY => {
                let n = words.get(at).copied().unwrap_or(1);
                at += 1;
                read::pages(memory, touch & word::PAGE, n, touch & word::INSIDE != 0);
            }
            _ if touch & word::INSIDE != 0 => beside(memory, touch),
            _ => {
                if !fault::hit(memory, touch) {
                    fault::miss(memory, touch);
                }
                memory.epochs.touched(touch & word::PAGE);
            }
        }
        touches += 1;
    }
    Progress { touches, all: true }
}

/// What a recording has beside touches.
fn beside(memory: &mut Memory, word: u32) {
    let what = word & word::PAGE;
    if word & word::ACCESS == word::STORE {
        unmap::free(memory, what);
    } else if what == 0 {
        memory.epochs.begin();
    } else {
        memory.clock += u64::from(what) * 1000;
        memory.flush_if_due();
    }
}

#[expect(clippy::cast_precision_loss, reason = "touches of a run")]
fn share(done: u64, all: u64) -> f64 {
    done as f64 / all.max(1) as f64
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use ramline_evidence::rng::SplitMix64;

    use super::*;
    use crate::beside::MakeStatReader;
    use crate::kernel::{Kernel, PRESETS};
    use crate::memory::statistics::{Flushed, next_turn};
    use crate::memory::tests::group;
    use crate::memory::{ANON, Flushes};

    /// Reads every so many nanoseconds, and where it is given last behind a part of the fill.
    #[derive(Debug, Clone)]
    struct Reads {
        every: u64,
        filled: Option<f64>,
    }

    impl StatReader for Reads {
        fn first(&self) -> u64 {
            self.every
        }

        fn next(&mut self, due: u64, clock: u64, _: &mut SplitMix64) -> u64 {
            next_turn(due, clock, self.every)
        }

        fn last_in_fill(&self) -> Option<f64> {
            self.filled
        }

        fn first_in_rounds(&self, begin: u64) -> Option<u64> {
            self.filled.map(|_| begin + 9)
        }
    }

    impl MakeStatReader for Reads {
        fn stat_reader(&self, _: [f64; 2]) -> Box<dyn StatReader> {
            Box::new(self.clone())
        }
    }

    /// Pages that the kernel knows of as the rounds begin, of 100 that are filled before.
    fn known(filled: Option<f64>, every: u64) -> u64 {
        let [.., kernel, _] = PRESETS;
        let chance = Chance::default();
        let mut memory = group(100, kernel, chance);
        let flushes = Flushes::By(Arc::new(Reads { every, filled }));
        let kernel = Kernel { flushes_first: false, ..kernel };
        memory.flushed = Flushed::new(&Setting { flushes, ..Setting::without_limit(1, kernel) }, &chance);
        let words: Vec<u32> = (0..100).map(|id| id | word::STORE).collect();
        assert_eq!(fill(&mut memory, &words), 100);
        memory.flushed.read_at(u64::MAX);
        memory.statistics().size[ANON][0]
    }

    #[test]
    fn what_was_read_last_before_the_rounds_is_what_was_filled_then() {
        // A batch of 31 is not on its list yet.
        assert_eq!([known(None, 1 << 40), known(Some(0.7), 1 << 40)], [0, 62]);
        // Nothing is read after that, and nothing at all where the fill was shorter than a turn. Otherwise each page would be seen, since it takes longer than 500 ns.
        assert_eq!([known(None, 500), known(Some(0.7), 500), known(Some(0.4), 500)], [93, 62, 31]);
        assert_eq!(known(Some(0.0), 1 << 16), 0);
    }
}
