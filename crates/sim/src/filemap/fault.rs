//! A fault in a file.
//!
//! Stands for `filemap_fault` with `do_sync_mmap_readahead` (mm/filemap.c); read in 6.18.

use super::map::map_around;
use crate::kernel::Hits;
use crate::load::Extent;
use crate::memory::{Counts, Memory};
use crate::page::bit;
use crate::readahead;

/// Misses after which a file is read page by page.
const LOTS_OF_MISSES: u32 = 100;

/// A page that no page table points to is touched.
pub fn fault(memory: &mut Memory, extent: Extent, id: u32) {
    let region = memory.pages.region(id);
    let most = memory.setting.read_ahead;
    memory.in_flight.arrive(memory.clock, &mut memory.pages);
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
            readahead::async_ra(memory, region, id, most);
            memory.pages.clear(id, bit::HELD);
        }
        if is_coming {
            readahead::wait_for(memory, id);
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
        readahead::submit_window(memory, region, start, most, most / 4);
    }
    if !memory.pages.is(id, bit::RESIDENT) && !readahead::alone(memory, id) {
        return;
    }
    memory.clock += memory.steps.minor;
    map_around(memory, extent, id, false);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chance::Chance;
    use crate::fault::miss;
    use crate::insert;
    use crate::kernel::PRESETS;
    use crate::memcg::charge::{Effort, charge};
    use crate::memory::tests::group;

    #[test]
    fn what_was_read_ahead_is_mapped_once_the_disk_has_read_it() {
        for kernel in PRESETS {
            let mut memory = group(200, kernel, Chance::default());
            assert!(charge(&mut memory, 1, Effort::All));
            insert::insert(&mut memory, 300, bit::READ_AHEAD);
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
            assert!(!memory.in_flight.pages.is_empty());
            memory.clock = memory.in_flight.at;
            memory.settle();
            assert!(
                memory.in_flight.pages.is_empty() && !memory.pages.flags.iter().any(|flags| flags & bit::LOCKED != 0)
            );
        }
    }

    #[test]
    fn a_fault_for_a_page_that_asks_for_more_is_tried_again() {
        let after = |kernel: usize, bits: u32| {
            let mut memory = group(200, PRESETS[kernel], Chance::default());
            memory.reads[1].misses = 50;
            insert::insert(&mut memory, 300, bits);
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
