//! A small group, and what becomes of pages whose write is done.

use ramline_trace::generate::Memory as Kind;

use super::{ANON, Memory, Setting, SwapTo};
use crate::chance::Chance;
use crate::cost::{Costs, Steps};
use crate::fault::anonymous;
use crate::kernel::{Kernel, PRESETS};
use crate::load::Extent;
use crate::page::{NONE, Pages, bit};
use crate::vmscan::shrink_list;

/// With so many pages of anonymous memory and as many of a file, none in RAM.
pub fn group(of_each: u32, kernel: Kernel, chance: Chance) -> Memory {
    let setting = Setting { swap: SwapTo::Disk, slots: 1000, fresh: 0.5, ..Setting::without_limit(1 << 20, kernel) };
    let mut pages = Pages::default();
    for id in 0..2 * of_each {
        pages.add(if id < of_each { 0 } else { bit::FILE | 1 << bit::REGION }, 100);
    }
    let region = |first, memory| Extent { first, pages: of_each, memory, mapped: false };
    Memory::new(setting, &[region(0, Kind::Anonymous), region(of_each, Kind::File)], pages, chance)
}

/// Pages of one list, from 0 on, all of them written and done; whether one is a page that is looked at next.
fn written(pages: u32, elsewhere: bool) -> Memory {
    let [_, _, kernel, _] = PRESETS;
    let mut memory = group(200, kernel, Chance { elsewhere, ..Chance::default() });
    memory.plug.open();
    for id in 0..pages {
        memory.pages.set(id, bit::RESIDENT | bit::SWAP_CACHE);
        memory.list(id);
        assert!(memory.take_slot(id));
        memory.write_out(id);
    }
    memory.unplug();
    memory
}

fn settle(memory: &mut Memory) {
    memory.clock += 1 << 40;
    memory.settle();
}

/// The page that is looked at next.
fn next(memory: &Memory) -> Option<u32> {
    memory.lists[ANON][0].last()
}

#[test]
fn what_is_written_is_looked_at_next_and_last_of_all_what_was_written_last() {
    let mut memory = written(40, false);
    assert_eq!(next(&memory), Some(0));
    settle(&mut memory);
    // One batch is full, the rest waits for a drain.
    assert_eq!(next(&memory), Some(30));
    memory.drain();
    assert_eq!(next(&memory), Some(39));
}

#[test]
fn what_is_touched_on_its_way_to_the_disk_stays_where_it_is_and_keeps_its_slot() {
    let mut memory = written(40, false);
    let hits = memory.clusters.hits;
    anonymous::fault(&mut memory, 3, true);
    assert_eq!(
        memory.clusters.hits,
        hits + 1,
        "the kernel takes it for a page that was read ahead: it is the same bit"
    );
    assert!(memory.pages.is(3, bit::SWAP_CACHE | bit::DIRTY | bit::MAPPED) && memory.pages.slot(3) != NONE);
    settle(&mut memory);
    memory.drain();
    let order: Vec<u32> = std::iter::from_fn(|| Some(memory.oldest(ANON, 0)?.first)).collect();
    assert_eq!((order[0], order[39]), (39, 3));
}

#[test]
fn what_another_processor_was_told_of_waits_for_a_batch_of_31() {
    let mut memory = written(30, true);
    settle(&mut memory);
    assert_eq!((next(&memory), memory.pages.is(0, bit::HELD)), (Some(0), true));
    let mut memory = written(33, true);
    // Stored to meanwhile, it will be written again.
    memory.pages.set(5, bit::DIRTY);
    settle(&mut memory);
    assert_eq!(next(&memory), Some(31));
    assert_eq!([5, 31, 32].map(|id| memory.pages.is(id, bit::HELD)), [false, false, true]);
}

#[test]
fn what_reclaim_finds_in_use_takes_longer_and_what_it_unmaps_and_may_not_write_longest() {
    let [_, _, kernel, _] = PRESETS;
    let mut memory = group(200, kernel, Chance::default());
    let flags = bit::RESIDENT | bit::SHARED | bit::DIRTY;
    for id in 0..32 {
        memory.pages.set(id, flags | bit::MAPPED | bit::YOUNG);
        memory.list(id);
    }
    memory.no_fs = true;
    let mut took = || {
        let begin = memory.clock;
        assert_eq!(shrink_list::inactive(&mut memory, ANON, 32), 0);
        (memory.clock - begin) / 32
    };
    let steps = Steps::from_costs(&Costs::default());
    assert_eq!([took(), took(), took()], [steps.scan + steps.in_use, steps.scan + steps.unmap, steps.scan]);
}
