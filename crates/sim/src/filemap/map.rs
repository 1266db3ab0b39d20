//! Page tables: what a fault maps beside its page.
//!
//! Stands for `filemap_map_pages` (mm/filemap.c); read in 6.18 and, for folios, in 7.3 (`filemap_map_folio_range`); 6.18 was seen to map as much.
//! Left out: a folio that would cross a page table (the kernel maps only a part of it).

use std::ops::Range;

use crate::folio::Folio;
use crate::kernel::Hits;
use crate::load::{Extent, OF_A_TABLE};
use crate::memory::Memory;
use crate::page::bit;

/// Pages of one block that a fault maps if they are there.
const AROUND: u32 = 16;

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
    let folio = Folio::containing(&memory.pages, id).ids();
    if folio.end < extent.end() { folio } else { id..id + 1 }
}

/// A page table points to it.
pub fn map(memory: &mut Memory, id: u32) {
    if !memory.pages.is(id, bit::MAPPED) {
        memory.pages.set(id, bit::MAPPED | bit::YOUNG);
    }
}
