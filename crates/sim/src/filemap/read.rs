//! read(2) of a file.
//!
//! Stands for `filemap_read`, `filemap_get_pages` (mm/filemap.c) and `folio_mark_accessed` (mm/swap.c); read in 6.12. Left out: direct I/O, several
//! descriptors of one file, writes.

use crate::folio::{self, Folio};
use crate::generations::refs;
use crate::load::word;
use crate::memcg::limit;
use crate::memory::Memory;
use crate::page::bit;
use crate::readahead;
use crate::workingset;

/// Pages that are looked up at once.
const BATCH: u32 = 31;

/// Reads `n` pages from one on; `inside` if it ends before the end of the last.
pub fn pages(memory: &mut Memory, first: u32, n: u32, inside: bool) {
    limit::tick(memory);
    memory.clock += memory.steps.call + memory.steps.copy * u64::from(n - 1);
    memory.in_fault = false;
    let region = memory.pages.region(first);
    let end = first + n;
    let mut at = first;
    while at < end {
        if !memory.pages.is(at, bit::RESIDENT) {
            readahead::sync_ra(memory, region, at, end - at);
            if !memory.pages.is(at, bit::RESIDENT) && !readahead::alone(memory, at) {
                return;
            }
        }
        let last = found(memory, at, end);
        if memory.pages.is(last, bit::READ_AHEAD) {
            (at..=last).for_each(|id| memory.pages.set(id, bit::HELD));
            readahead::async_ra(memory, region, last, end - last);
            (at..=last).for_each(|id| _ = memory.pages.clear(id, bit::HELD));
        }
        let mut next = at;
        while next <= last {
            let folio = Folio::containing(&memory.pages, next);
            // Who reads a folio in small parts has read it once: only the first of a batch can be the one that the read before ended in.
            if next > at || !folio.ids().contains(&memory.reads[region].last) {
                accessed(memory, folio);
            }
            next = folio.ids().end;
        }
        memory.reads[region].last = last;
        at = last + 1;
        if memory.setting.kernel.on_demand {
            memory.reads[region].next = at;
        }
    }
    memory.reads[region].next = end - u32::from(inside);
}

/// The last of the pages in RAM from this one on: up to a PG_readahead page.
fn found(memory: &Memory, at: u32, end: u32) -> u32 {
    let mut last = at;
    while last + 1 < end.min(at + BATCH)
        && !memory.pages.is(last, bit::READ_AHEAD)
        && memory.pages.is(last + 1, bit::RESIDENT)
    {
        last += 1;
    }
    last
}

/// `folio_mark_accessed`: the second time a page becomes active.
fn accessed(memory: &mut Memory, folio: Folio) {
    let id = folio.first;
    if let Some(mglru) = memory.setting.kernel.mglru() {
        for flags in &mut memory.pages.flags[id as usize..folio.ids().end as usize] {
            *flags = refs::read(mglru, *flags);
        }
    } else if !memory.pages.is(id, bit::REFERENCED) {
        folio.ids().for_each(|id| memory.pages.set(id, bit::REFERENCED));
    } else if !memory.pages.is(id, bit::ACTIVE) {
        for id in folio.ids() {
            if memory.pages.is(id, bit::LISTED) {
                memory.activate(id);
            } else {
                memory.pages.set(id, bit::ACTIVE);
            }
            memory.pages.clear(id, bit::REFERENCED);
        }
        if folio.is_large() {
            memory.list_activated();
        }
        workingset::age_nonresident(memory, folio.pages);
    }
}

/// A read of one page that is in RAM, asks for nothing and changes nothing for its folio but that it was read: almost all there are. Whether it was one.
#[inline]
pub fn hit(memory: &mut Memory, touch: u32) -> bool {
    const READ_TWICE: u32 = bit::ACTIVE | bit::REFERENCED;
    let id = touch & word::PAGE;
    let Some(&flags) = memory.pages.flags.get(id as usize) else { return false };
    let Some(state) = memory.reads.get_mut((flags >> bit::REGION) as usize) else { return false };
    if flags & (bit::RESIDENT | bit::READ_AHEAD) != bit::RESIDENT {
        return false;
    }
    let kernel = &memory.setting.kernel;
    // Its bits after one more read; those of a page that is read a second time change by more than bits.
    let read = match kernel.mglru() {
        Some(mglru) => Some(refs::read(mglru, flags)),
        None if flags & READ_TWICE == READ_TWICE => Some(flags),
        None if flags & bit::REFERENCED != 0 => None,
        None => Some(flags | bit::REFERENCED),
    };
    // Where the read before ended in the same page, or in the same folio, nothing changes for it.
    if state.last != id && read != Some(flags) {
        let is_of_one = folio::follows(&memory.pages, id);
        let is_large = kernel.reads_folios() && (is_of_one || folio::follows(&memory.pages, id + 1));
        let again = is_large && is_of_one && state.last.wrapping_add(1) == id;
        match read {
            _ if again => {}
            Some(read) if !is_large => memory.pages.flags[id as usize] = read,
            _ => return false,
        }
    }
    state.last = id;
    state.next = id + 1 - u32::from(touch & word::INSIDE != 0);
    memory.clock += memory.steps.call;
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chance::Chance;
    use crate::insert;
    use crate::kernel::{Kernel, Lists, PRESETS};
    use crate::memory::tests::group;

    #[test]
    fn pages_that_are_read_twice_in_a_row_are_all_read_twice() {
        let twice = |kernel: Kernel| {
            let mut memory = group(200, kernel, Chance::default());
            (200..204).for_each(|id| insert::insert(&mut memory, id, 0));
            memory.drain();
            (0..2).for_each(|_| pages(&mut memory, 200, 4, false));
            memory.drain();
            memory
        };
        for kernel in PRESETS {
            let memory = twice(kernel);
            assert!((200..204).all(|id| memory.pages.is(id, bit::ACTIVE)), "{}", kernel.release);
            let memory = twice(Kernel { lists: Lists::Generations, ..kernel });
            let [first, last] = [200, 203].map(|id| memory.pages.flags[id] & refs::ALL);
            assert_eq!((first, first > 0), (last, true), "{}", kernel.release);
        }
    }
}
