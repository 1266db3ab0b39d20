//! Memory that a program gives back: its page, its slot, and what is left of both.
//!
//! Stands for `zap_present_folio_ptes`, `folio_put` and `free_swap_and_cache` (mm/memory.c, mm/swap.c, mm/swapfile.c) as munmap(2), `MADV_DONTNEED` and the end of a process call them; read
//! in 6.18. Left out: shared memory and files, which no process can give back, and what this takes of a processor, which a recording has in its CPU time.

use crate::memory::Memory;
use crate::page::bit;

/// A page of private memory is given back.
pub fn free(memory: &mut Memory, id: u32) {
    memory.settle();
    if memory.pages.is(id, bit::FILE) || memory.pages.is(id, bit::SHARED) {
        return;
    }
    if memory.pages.is(id, bit::RESIDENT) {
        if !memory.pages.is(id, bit::LISTED) || memory.pages.is(id, bit::HELD) || memory.batches.holds(id) {
            memory.drain();
            memory.rotate_all();
        }
        if memory.pages.is(id, bit::WRITEBACK) {
            // The disk has it: it stays in the swap cache until it is written, and is then reclaimed as any clean page.
            memory.pages.clear(id, bit::MAPPED | bit::YOUNG | bit::DIRTY);
            return;
        }
        memory.unlist(id);
        memory.charged -= 1;
    }
    memory.free_slot(id);
    // Nothing is left of it, no shadow either: what is touched there next is new.
    _ = memory.pages.shadow(id);
    let kept = u32::MAX << bit::REGION;
    memory.pages.flags[id as usize] &= kept;
}

#[cfg(test)]
mod tests {
    use crate::chance::Chance;
    use crate::kernel::{Kernel, Lists, PRESETS};
    use crate::load::{Compact, word};
    use crate::memory::tests::group;
    use crate::memory::{Setting, SwapTo};
    use crate::page::Pages;
    use crate::run;
    use ramline_evidence::rng::SplitMix64;
    use ramline_trace::generate::{Memory as Kind, Region};

    /// Stores to and frees of 400 pages in an order of chance, in a group of so many pages.
    fn churned(kernel: Kernel, swap: SwapTo, limit: u64) -> run::Outcome {
        let regions =
            [Region { memory: Kind::Anonymous, bytes: 400 << 12 }, Region { memory: Kind::File, bytes: 200 << 12 }];
        let mut load = Compact::new(&regions, [].into_iter(), [].into_iter(), 1).unwrap();
        load.regions[1].mapped = true;
        let mut random = SplitMix64::new(7);
        for _ in 0..20_000 {
            let page = u32::try_from(random.below(400)).unwrap();
            let kind = [word::STORE, word::LOAD, word::STORE, word::FREE][usize::try_from(random.below(4)).unwrap()];
            load.rounds.push(kind | page);
            load.rounds.push(word::LOAD | (400 + page / 2));
        }
        load.of_a_round = load.rounds.len() as u64;
        let known = group(1, kernel, Chance::default()).setting;
        let setting = Setting { limit, swap, slots: 2048, base: 0, ..known };
        let pages: Pages = run::pages(&load, |_, _| 1000);
        // Its own check of lists, charges and slots is made at the end of each run.
        run::compact(&load, pages, setting, u64::MAX, Chance::default())
    }

    #[test]
    fn pages_that_are_given_back_leave_no_charge_no_slot_and_no_place_on_a_list() {
        let generations = PRESETS.map(|kernel| Kernel { lists: Lists::Generations, ..kernel });
        for kernel in PRESETS.into_iter().chain(generations) {
            for swap in [SwapTo::Disk, SwapTo::Zram] {
                let [tight, free] = [260, 10_000].map(|limit| churned(kernel, swap, limit));
                assert_eq!(tight.end, run::End::Fine);
                assert!(tight.counts.swap_in > 0 && free.counts.swap_in == 0, "{tight:?}");
                assert!(free.most <= 700, "{free:?}");
            }
        }
    }
}
