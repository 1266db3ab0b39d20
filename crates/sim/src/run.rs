//! A load through one setting: fill, rounds, and what they took.

use ramline_trace::generate::{Load, Memory as Kind};

use crate::chance::Chance;
use crate::epochs::Epochs;
use crate::load::{Compact, word};
use crate::memory::{Counts, Look, Memory, Setting};
pub use crate::page::Pages;
use crate::page::bit;
use crate::pool::Pool;
use crate::{fault, free, read};

/// So many touches ahead their bits are fetched, and so many ahead the shadow of a page that is gone.
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
    let load = Compact::of(load)?;
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
        memory.epochs = Epochs::of(load.pages());
    }
    memory.steps.minor += memory.steps.fill;
    let filled = fill(&mut memory, &load.fill, chance.look);
    memory.steps.minor -= memory.steps.fill;
    let (begin, waited) = (memory.clock, memory.counts.waited);
    let before = if load.recorded { memory.counts } else { Counts::default() };
    if let Some(look) = chance.look {
        memory.looks.next_at(begin + look.at);
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

/// Fills memory; how many touches. Where the first look in the rounds is known, the last before it is at the same part of the fill as in that run.
#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a part of the touches of a fill"
)]
fn fill(memory: &mut Memory, words: &[u32], look: Option<Look>) -> u64 {
    let part = look.map_or(0.0, |look| look.filled);
    // It stores page by page, so it can be parted anywhere.
    let (before, after) = words.split_at((words.len() as f64 * part) as usize);
    let done = touches(memory, before, u64::MAX);
    if part > 0.0 {
        memory.looks.next_at(memory.clock);
        memory.sum_up();
    }
    if look.is_some() {
        memory.looks.next_at(u64::MAX);
    }
    done.touches + touches(memory, after, u64::MAX).touches
}

struct Done {
    touches: u64,
    all: bool,
}

/// Touch after touch until a time. Almost all find their page in RAM and mapped, so those are answered here.
fn touches(memory: &mut Memory, words: &[u32], until: u64) -> Done {
    let (mut at, mut touches) = (0, 0);
    while let Some(touch) = words.get(at).copied() {
        if memory.killed || memory.clock > until {
            return Done { touches, all: false };
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
    Done { touches, all: true }
}

/// What a recording has beside touches.
fn beside(memory: &mut Memory, word: u32) {
    let what = word & word::PAGE;
    if word & word::ACCESS == word::STORE {
        free::free(memory, what);
    } else if what == 0 {
        memory.epochs.begin();
    } else {
        memory.clock += u64::from(what) * 1000;
        memory.sum_up();
    }
}

#[expect(clippy::cast_precision_loss, reason = "touches of a run")]
fn share(done: u64, all: u64) -> f64 {
    done as f64 / all.max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::PRESETS;
    use crate::memory::tests::group;
    use crate::memory::{ANON, Sums};
    use crate::statistics::Looks;

    /// Pages that the kernel knows of as the rounds begin, of 100 that are filled before, where its statistics are read `every` so many nanoseconds.
    fn known(look: Option<Look>, every: u64) -> u64 {
        let [.., kernel, _] = PRESETS;
        let chance = Chance { phase: every, look, ..Chance::default() };
        let mut memory = group(100, kernel, chance);
        memory.looks = Looks::new(Sums::Watched { every, first: [every; 2] }, &chance);
        let words: Vec<u32> = (0..100).map(|id| id | word::STORE).collect();
        assert_eq!(fill(&mut memory, &words, look), 100);
        memory.looks.next_at(u64::MAX);
        memory.statistics().size[ANON][0]
    }

    #[test]
    fn what_was_seen_last_before_the_rounds_is_what_was_filled_then() {
        let look = |filled| Some(Look { at: 9, filled });
        // A batch of 31 is not on its list yet.
        assert_eq!([known(None, 1 << 40), known(look(0.7), 1 << 40)], [0, 62]);
        // There is no look after that one, and none at all where the fill was shorter than a turn. Otherwise each page would be seen, since it takes longer than 500 ns.
        assert_eq!([known(None, 500), known(look(0.7), 500), known(look(0.4), 500)], [93, 62, 31]);
        assert_eq!(known(look(0.0), 1 << 16), 0);
    }
}
