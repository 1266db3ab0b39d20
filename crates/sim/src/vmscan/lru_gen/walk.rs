//! What page tables say: of all pages when a generation begins, and of the neighbours of a page that reclaim finds in use.
//!
//! Stands for `walk_mm` with `walk_pte_range`, the Bloom filters, and `lru_gen_look_around` (mm/vmscan.c); read in 6.1, 6.12 and 7.3. Left out: false
//! positives of the filters (two bits of 32,768 for each table), the accessed bits of tables, which are taken to be set if that of a page is, tables
//! that several regions share: here each region begins a table of its own; that each part of a folio that is mapped by itself is looked around.
//!
//! A walk reads tables in which the last walk, or reclaim, found at least one entry of eight in use. A program that was not
//! switched to since the last walk is not walked at all, and the next filter is not made anew: it is that of two generations before, or lets all pass.

use super::aging;
use crate::folio::Folio;
use crate::generations::tables::TABLE;
use crate::generations::{place, place_in_flags, refs};
use crate::kernel::Mglru;
use crate::load::Extent;
use crate::memory::Memory;
use crate::page::bit;

/// Entries that are looked at around one (`MIN_LRU_BATCH`).
const AROUND: u32 = 64;
/// One entry of so many has to be in use (`suitable_to_scan`): those of a cache line.
const OF: u32 = 8;
/// Reading a table takes as long as reclaim of this number of pages: assumed.
const COST: u64 = 16;

/// May this region go?
fn counts(region: Extent, swappiness: u64) -> bool {
    use ramline_trace::generate::Memory::File;
    region.mapped && (swappiness > 0 || region.memory == File)
}

/// Reads all tables that are worth it.
pub fn tables(memory: &mut Memory, mglru: Mglru, swappiness: u64) {
    let generation = memory.generations.max as usize;
    let (now, next) = (generation % 2, (generation + 1) % 2);
    memory.generations.walk.is_open = true;
    if !memory.generations.walk.begin(memory.clock) {
        return;
    }
    memory.generations.walk.worth[next].fill(false);
    let mut table = 0;
    for number in 0..memory.regions.len() {
        let region = memory.regions[number];
        let mut first = region.first;
        while first < region.end() {
            let end = (first + TABLE).min(region.end());
            if counts(region, swappiness) && memory.generations.walk.worth[now][table] {
                let young = read(memory, mglru, first..end, true);
                memory.clock += memory.steps.scan * COST;
                memory.generations.walk.worth[next][table] |= young * OF >= end - first;
            }
            table += 1;
            first = end;
        }
    }
}

/// Entries in use, which are not in use any more.
fn read(memory: &mut Memory, mglru: Mglru, pages: std::ops::Range<u32>, moves: bool) -> u32 {
    let (mut young, mut behind) = (0, 0);
    for id in pages.clone() {
        let flags = memory.pages.flags[id as usize];
        // Since 6.14 only what is on a list is seen.
        let is_seen = mglru.is_early() || flags & bit::LISTED != 0;
        if flags & (bit::MAPPED | bit::YOUNG) != bit::MAPPED | bit::YOUNG || !is_seen {
            continue;
        }
        memory.pages.clear(id, bit::YOUNG);
        if id < behind {
            // Of a folio with several pages that are in use it is said once; 7.2 and later count all that are mapped, others those in use.
            young += u32::from(mglru != Mglru::Rewritten);
            continue;
        }
        let folio = Folio::containing(&memory.pages, id);
        behind = folio.ids().end;
        young += if mglru == Mglru::Rewritten { mapped(memory, folio, &pages) } else { 1 };
        if moves {
            aging::promote(memory, mglru, folio);
        } else {
            send(memory, mglru, folio);
        }
    }
    young
}

/// Pages of a folio that are mapped, of those in a range.
fn mapped(memory: &Memory, folio: Folio, range: &std::ops::Range<u32>) -> u32 {
    let ids = folio.ids().filter(|id| range.contains(id) && memory.pages.is(*id, bit::MAPPED));
    ids.fold(0, |n, _| n + 1)
}

/// The same in the first form, in a pass that has not aged: few go by the batch of pages that become active and keep their reads, many at once.
fn read_together(memory: &mut Memory, pages: std::ops::Range<u32>) -> u32 {
    let (mut young, mut old) = (0, Vec::new());
    let youngest = place(memory.generations.max);
    for id in pages {
        if !memory.pages.is(id, bit::MAPPED | bit::YOUNG) {
            continue;
        }
        memory.pages.clear(id, bit::YOUNG);
        young += 1;
        match memory.pages.flags[id as usize] {
            flags if flags & bit::LISTED == 0 => memory.pages.set(id, bit::REFERENCED),
            flags if place_in_flags(flags) != youngest => old.push(id),
            _ => {}
        }
    }
    let are_few = old.len() < memory.setting.kernel.batch;
    for id in old {
        if are_few { memory.activate(id) } else { aging::promote(memory, Mglru::First, Folio::alone(id)) }
    }
    young
}

/// As `promote`, by way of the batch of pages that become active.
fn send(memory: &mut Memory, mglru: Mglru, folio: Folio) {
    let id = folio.first;
    let flags = memory.pages.flags[id as usize];
    let is_listed = flags & bit::LISTED != 0;
    let is_youngest = place_in_flags(flags) == place(memory.generations.max);
    if mglru.is_early() {
        if !is_listed {
            memory.pages.set(id, bit::REFERENCED);
        } else if !is_youngest {
            memory.pages.clear(id, refs::ALL);
            memory.activate(id);
        }
        return;
    }
    if see(memory, mglru, folio) && is_listed && !is_youngest {
        memory.activate_all(folio);
    }
}

/// Reclaim learns that a folio is in use; whether it goes to the youngest generation. Its pages have the same bits of reads.
pub fn see(memory: &mut Memory, mglru: Mglru, folio: Folio) -> bool {
    let mut goes = false;
    for id in folio.ids() {
        let flags = &mut memory.pages.flags[id as usize];
        (*flags, goes) = refs::seen(mglru, *flags);
    }
    goes
}

/// Reclaim found a page in use: its neighbours are looked at as well (`lru_gen_look_around`).
pub fn look_around(memory: &mut Memory, mglru: Mglru, folio: Folio) {
    let id = folio.first;
    let region = memory.regions[memory.pages.region(id)];
    let start = id - (id - region.first) % TABLE;
    let end = (start + TABLE).min(region.end());
    if end - start <= 1 {
        return;
    }
    let (mut first, mut last) = (start, end);
    if end - start > AROUND {
        if id - start < AROUND / 2 {
            last = start + AROUND;
        } else if end - id < AROUND / 2 {
            first = end - AROUND;
        } else {
            (first, last) = (id - AROUND / 2, id + AROUND / 2);
        }
    }
    // Its own pages were seen by reclaim.
    let mut young = folio.pages;
    let moves = memory.generations.walk.is_open;
    young += if mglru == Mglru::First && !moves {
        read_together(memory, first..last)
    } else {
        read(memory, mglru, first..last, moves)
    };
    memory.clock += memory.steps.scan;
    if young * OF >= last - first {
        let generation = memory.generations.max as usize;
        let before = memory.regions[..memory.pages.region(id)].iter();
        let table = before.map(|one| one.pages.div_ceil(TABLE)).sum::<u32>() + (id - region.first) / TABLE;
        memory.generations.walk.worth[generation % 2][table as usize] = true;
    }
}
