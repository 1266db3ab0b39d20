//! A touch through a mapping, and the faults it may be in a file.
//!
//! Stands for `handle_pte_fault`, `filemap_fault` with `do_sync_mmap_readahead`, and `filemap_map_pages`
//! (mm/memory.c, mm/filemap.c); read in 6.18 and, for folios, in 7.3 (`filemap_map_folio_range`); 6.18 was seen to map as much.
//! Left out: a folio that would cross a page table (the kernel maps only a part of it), stores to files (they count as loads).

use std::ops::Range;

use ramline_trace::generate::Memory as Kind;

use crate::folio::Folio;
use crate::kernel::Hits;
use crate::load::{Extent, OF_A_TABLE, word};
use crate::memory::{Counts, Memory};
use crate::page::bit;
use crate::{anonymous, limit, read_ahead, shared};

/// Pages of one block that a fault maps if they are there.
const AROUND: u32 = 16;
/// Misses after which a file is read page by page.
const LOTS_OF_MISSES: u32 = 100;

/// A touch that the page tables answer; whether it is one.
#[inline]
pub fn hit(memory: &mut Memory, touch: u32) -> bool {
    let Some(flags) = memory.pages.flags.get_mut((touch & word::PAGE) as usize) else { return false };
    let is_store = touch & word::ACCESS == word::STORE;
    let is_zeros = is_store && *flags & bit::ZEROS != 0;
    if *flags & (bit::MAPPED | bit::ZEROS) == 0 || is_zeros {
        return false;
    }
    *flags |= bit::YOUNG | if is_store { bit::DIRTY } else { 0 };
    memory.clock += memory.steps.hit;
    true
}

/// A touch that is a fault.
pub fn miss(memory: &mut Memory, touch: u32) {
    limit::tick(memory);
    memory.in_fault = true;
    let (id, is_store) = (touch & word::PAGE, touch & word::ACCESS == word::STORE);
    let extent = memory.regions[memory.pages.region(id)];
    match extent.memory {
        Kind::File => file(memory, extent, id),
        Kind::Anonymous => anonymous::fault(memory, id, is_store),
        Kind::Shared => shared::fault(memory, extent, id, is_store),
    }
}

fn file(memory: &mut Memory, extent: Extent, id: u32) {
    let region = memory.pages.region(id);
    let most = memory.setting.read_ahead;
    memory.coming.arrive(memory.clock, &mut memory.pages);
    let was_there = memory.pages.is(id, bit::RESIDENT);
    // What is in RAM around it is mapped first, and again when what is missing was read: the fault is tried a second time.
    map_around(memory, extent, id, was_there);
    if was_there {
        let [asks, is_coming] = [bit::READ_AHEAD, bit::LOCKED].map(|bits| memory.pages.is(id, bits));
        let is_retried = asks || is_coming;
        let is_major = is_retried && memory.setting.kernel.retries_are_major;
        let Counts { major, minor, .. } = &mut memory.counts;
        *if is_major { major } else { minor } += 1;
        memory.clock += memory.steps.minor;
        if is_retried && !(is_coming && memory.setting.kernel.hits == Hits::Touched) {
            let misses = &mut memory.reads[region].misses;
            *misses = misses.saturating_sub(1);
        }
        if asks {
            // Who reads ahead holds the page that asked for it.
            memory.pages.set(id, bit::HELD);
            read_ahead::reached(memory, region, id, most);
            memory.pages.clear(id, bit::HELD);
        }
        if is_coming {
            read_ahead::wait_for(memory, id);
        }
        if is_retried {
            // Tried again, it is still a fault for a page that was there.
            map_around(memory, extent, id, true);
        }
        return;
    }
    memory.counts.major += 1;
    let misses = &mut memory.reads[region].misses;
    *misses = (*misses + 1).min(LOTS_OF_MISSES * 10);
    if *misses <= LOTS_OF_MISSES {
        let start = extent.first + (id - extent.first).saturating_sub(most / 2);
        read_ahead::window(memory, region, start, most, most / 4);
    }
    if !memory.pages.is(id, bit::RESIDENT) && !read_ahead::alone(memory, id) {
        return;
    }
    memory.clock += memory.steps.minor;
    map_around(memory, extent, id, false);
}

/// Maps all of the block of 16 that is in RAM, and all of the folios that it is a part of; each page counts against the misses.
/// `was_there`: it is for a page that was in RAM before.
pub fn map_around(memory: &mut Memory, extent: Extent, id: u32, was_there: bool) {
    let region = memory.pages.region(id);
    // What a page table has room for is mapped where one begins (`thp_get_unmapped_area`, for files since 5.18), smaller regions anywhere.
    let before = if extent.pages < OF_A_TABLE { memory.around } else { 0 };
    let place = id - extent.first + before;
    // A block that the file begins in is as long as others.
    let block = (place - place % AROUND).max(before) - before + extent.first;
    let end = (block + AROUND).min(extent.end());
    let mut next = block;
    while next < end {
        let pages = mapped_with(memory, extent, next);
        next = pages.end;
        for one in pages {
            let flags = memory.pages.flags[one as usize];
            // A page in the swap cache is not among those of its file.
            let is_ready = flags & (bit::RESIDENT | bit::SWAP_CACHE | bit::READ_AHEAD | bit::LOCKED) == bit::RESIDENT;
            if is_ready {
                map(memory, one);
                let counts = match memory.setting.kernel.hits {
                    Hits::All => true,
                    Hits::New => flags & bit::WORKINGSET == 0,
                    Hits::Touched => one == id && was_there && flags & bit::WORKINGSET == 0,
                };
                if counts {
                    let misses = &mut memory.reads[region].misses;
                    *misses = misses.saturating_sub(1);
                }
            }
        }
    }
}

/// A folio is mapped as a whole, also beyond the block, but for the last one of a file.
fn mapped_with(memory: &Memory, extent: Extent, id: u32) -> Range<u32> {
    if !memory.setting.kernel.reads_folios() {
        return id..id + 1;
    }
    let folio = Folio::of(&memory.pages, id).ids();
    if folio.end < extent.end() { folio } else { id..id + 1 }
}

/// A page table points to it.
pub fn map(memory: &mut Memory, id: u32) {
    if !memory.pages.is(id, bit::MAPPED) {
        memory.pages.set(id, bit::MAPPED | bit::YOUNG);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chance::Chance;
    use crate::charge::{Effort, charge};
    use crate::kernel::PRESETS;
    use crate::memory::tests::group;

    #[test]
    fn what_was_read_ahead_is_mapped_once_the_disk_has_read_it() {
        for kernel in PRESETS {
            let mut memory = group(200, kernel, Chance::default());
            assert!(charge(&mut memory, 1, Effort::All));
            read_ahead::insert(&mut memory, 300, bit::READ_AHEAD);
            miss(&mut memory, 300);
            let is = |memory: &Memory, bits: u32| [300, 301, 303].map(|id| memory.pages.is(id, bits));
            assert_eq!(
                [bit::RESIDENT, bit::LOCKED, bit::MAPPED].map(|bits| is(&memory, bits)),
                [[true; 3], [false, true, true], [true, false, false]]
            );
            assert_eq!((memory.counts.waited, memory.check()), (0, Ok(())));
            miss(&mut memory, 301);
            assert!(memory.counts.waited > 0);
            assert_eq!([bit::LOCKED, bit::MAPPED].map(|bits| is(&memory, bits)), [[false; 3], [true; 3]]);
            // In 6.1 both are tried again, and so count as major.
            let major = if kernel.retries_are_major { 2 } else { 0 };
            assert_eq!((memory.counts.major, memory.counts.minor), (major, 2 - major), "{}", kernel.release);
            // Reclaim unlocks what the disk has read too, where the file is not touched again.
            assert!(!memory.coming.pages.is_empty());
            memory.clock = memory.coming.at;
            memory.settle();
            assert!(memory.coming.pages.is_empty() && !memory.pages.flags.iter().any(|flags| flags & bit::LOCKED != 0));
        }
    }

    #[test]
    fn a_fault_for_a_page_that_asks_for_more_is_tried_again() {
        let after = |kernel: usize, bits: u32| {
            let mut memory = group(200, PRESETS[kernel], Chance::default());
            memory.reads[1].misses = 50;
            read_ahead::insert(&mut memory, 300, bits);
            miss(&mut memory, 300);
            assert!(memory.pages.is(300, bit::MAPPED));
            (memory.counts.major, memory.counts.minor, memory.reads[1].misses)
        };
        let asks = bit::READ_AHEAD;
        // In 6.1 it is major then. What is read is on its way from the disk, so it is not mapped with it, and does not count.
        let [first, second, third, newest] = [0, 1, 2, 3].map(|kernel| after(kernel, asks));
        assert_eq!([first, second, third].map(|(major, minor, _)| (major, minor)), [(1, 0), (0, 1), (0, 1)]);
        assert!([first, second, third].iter().all(|(.., misses)| *misses == 48));
        // In 7.3 both tries take one from the misses, but only the first where the page is of the working set.
        assert_eq!([newest, after(3, asks | bit::WORKINGSET)], [(0, 1, 48), (0, 1, 49)]);
        // A page that asks for nothing is found at once.
        assert_eq!([0, 1, 2, 3].map(|kernel| after(kernel, 0)), [(0, 1, 49); 4]);
    }
}
