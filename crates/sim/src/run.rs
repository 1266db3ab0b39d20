//! A load through one setting: fill, rounds, and what they took.

use ramline_trace::generate::{Access, CodePlusData, Memory as Kind, Region, Touch};

use crate::fault::{self, Extent};
use crate::memory::{Counts, Memory, Setting};
use crate::page::{Page, bit};

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
    /// Nanoseconds of the rounds.
    pub took: u64,
    /// Counters, fill and rounds.
    pub counts: Counts,
}

/// What the kernel leaves open, drawn for each run.
#[derive(Debug, Clone, Copy)]
pub struct Chance {
    /// When the kernel first looks at the statistics, in nanoseconds.
    pub phase: u64,
    /// Where a file's pages begin in the page tables' blocks of 16.
    pub around: u32,
}

/// Runs code-plus-data. `length` gives what a page of its data compresses to, 0 for one of zeros.
pub fn code_plus_data(
    load: &CodePlusData,
    setting: Setting,
    timeout: u64,
    chance: Chance,
    length: impl Fn(u64) -> u16,
) -> Outcome {
    let mut extents: Vec<Extent> = Vec::new();
    let mut pages: Vec<Page> = Vec::new();
    for Region { memory: kind, bytes } in load.regions() {
        let (first, n) = (count(pages.len() as u64), bytes / 4096);
        extents.push(Extent { first, pages: count(n) });
        pages.extend((0..n).map(|page| match kind {
            Kind::File => Page::new(bit::FILE, 4096),
            Kind::Anonymous | Kind::Shared => Page::new(0, length(page)),
        }));
    }
    let mut memory = Memory::new(setting, pages, chance.phase, chance.around);
    let kinds = load.regions().map(|region| region.memory);
    let touch = |memory: &mut Memory, touch: Touch| {
        let region = touch.region as usize;
        let extent = extents[region];
        let id = extent.first + count(touch.offset / 4096);
        match kinds[region] {
            Kind::File => fault::file(memory, extent, id),
            Kind::Anonymous | Kind::Shared => fault::anonymous(memory, id, touch.access == Access::Store),
        }
    };
    touch(&mut memory, Touch { region: CodePlusData::CODE, access: Access::Load, offset: 0 });
    load.fill()
        .take_while(|one| {
            touch(&mut memory, *one);
            !memory.killed
        })
        .for_each(drop);
    let (begin, mut done, all) = (memory.clock, 0_u64, load.steps() * 2);
    let mut end = End::Fine;
    for one in load.rounds() {
        if memory.killed || memory.clock - begin > timeout {
            end = if memory.killed { End::Killed } else { End::Thrashing };
            break;
        }
        touch(&mut memory, one);
        done += 1;
    }
    debug_assert_eq!(memory.check(), Ok(()));
    Outcome { end, rounds: share(done, all), took: memory.clock - begin, counts: memory.counts }
}

#[expect(clippy::cast_precision_loss, reason = "touches of a run")]
fn share(done: u64, all: u64) -> f64 {
    done as f64 / all.max(1) as f64
}

fn count(n: u64) -> u32 {
    u32::try_from(n).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cost::Costs;
    use crate::memory::SwapTo;
    use ramline_evidence::rng::SplitMix64;

    fn load(rounds: u32) -> CodePlusData {
        CodePlusData { unit: 1 << 20, code: 3, data: 14, rounds, seed: 256, shared: false }
    }

    fn setting(swap: SwapTo, limit: u64) -> Setting {
        let costs = Costs::default();
        Setting {
            limit,
            swappiness: 60,
            swap,
            slots: 16 << 8,
            read_ahead: 32,
            cluster: 8,
            base: 60,
            stale: None,
            costs,
        }
    }

    fn run(load: &CodePlusData, setting: Setting) -> Outcome {
        code_plus_data(load, setting, u64::MAX, Chance { phase: 0, around: 0 }, |page| {
            u16::try_from(page % 4097).unwrap()
        })
    }

    /// Every run ends with its books in order: `check` is asked in each.
    #[test]
    fn random_settings_lose_no_page_and_charge_none_twice() {
        let mut random = SplitMix64::new(7);
        for _ in 0..60 {
            let mut draw = |below: u64| random.below(below);
            let swap = [SwapTo::Nowhere, SwapTo::Disk, SwapTo::Zram][usize::try_from(draw(3)).unwrap()];
            let chosen = Setting {
                swappiness: draw(201),
                slots: u32::try_from(draw(5000) + 1).unwrap(),
                read_ahead: u32::try_from(draw(256) + 1).unwrap(),
                cluster: 1 << draw(4),
                stale: (draw(2) == 0).then(|| draw(1 << 30) + 1),
                ..setting(swap, 900 + draw(4000))
            };
            let chance = Chance { phase: draw(1 << 20), around: u32::try_from(draw(16)).unwrap() };
            let length = u16::try_from(draw(4097)).unwrap();
            code_plus_data(&load(3), chosen, 2_000_000_000, chance, |_| length);
        }
    }

    #[test]
    fn with_room_for_all_each_page_is_read_once_and_nothing_comes_back() {
        let outcome = run(&load(11), setting(SwapTo::Disk, 100_000));
        assert_eq!((outcome.counts.refault, outcome.counts.swap_out, outcome.end), ([0, 0], 0, End::Fine));
        // A page of code by which no window passed is still not read.
        assert!(outcome.counts.read <= 3 << 8, "{outcome:?}");
    }

    #[test]
    fn without_files_that_could_go_and_without_swap_the_group_is_killed() {
        assert_eq!(run(&load(1), setting(SwapTo::Nowhere, 3000)).end, End::Killed);
        assert_eq!(run(&load(1), setting(SwapTo::Disk, 3000)).end, End::Fine);
    }

    #[test]
    fn no_fewer_reads_are_needed_than_by_who_knows_the_future() {
        // Belady's rule over all touches of one round, whatever the pages are: what leaves is touched last of all.
        let limit = 2000;
        let whole = load(1);
        let key = |touch: &Touch| (touch.region, touch.offset / 4096);
        let touches: Vec<_> = whole.fill().chain(whole.rounds()).map(|touch| key(&touch)).collect();
        let mut next = vec![usize::MAX; touches.len()];
        let mut seen = std::collections::HashMap::new();
        for (at, page) in touches.iter().enumerate().rev() {
            next[at] = seen.insert(*page, at).unwrap_or(usize::MAX);
        }
        let (mut held, mut when, mut misses) =
            (std::collections::BTreeSet::new(), std::collections::HashMap::new(), 0_u64);
        for (at, page) in touches.iter().enumerate() {
            if let Some(old) = when.insert(*page, next[at]) {
                held.remove(&(old, *page));
            } else {
                misses += 1;
                if held.len() == limit {
                    let (_, gone) = held.pop_last().unwrap();
                    when.remove(&gone);
                }
            }
            held.insert((next[at], *page));
        }
        let outcome = run(&whole, setting(SwapTo::Disk, u64::try_from(limit).unwrap() + 60));
        let came = outcome.counts.read + outcome.counts.swap_in + (14 << 8);
        assert!(came >= misses, "{came} pages came, {misses} had to");
    }
}
