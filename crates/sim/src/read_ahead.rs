//! What is read of a file beside what was asked for.
//!
//! Stands for `page_cache_sync_ra`, `page_cache_async_ra` and `page_cache_ra_unbounded` (mm/readahead.c); read in 6.12, and for `ondemand_readahead`,
//! read in 6.1. Left out: large folios, requests larger than a window, `posix_fadvise`, congestion.

use crate::charge::{Effort, charge};
use crate::load::Extent;
use crate::memory::Memory;
use crate::page::{NONE, bit};
use crate::refault;
use crate::stream::{first_window, next_window};

/// read(2) of `n` pages from `at`, the first of which is not in RAM.
pub fn missed(memory: &mut Memory, region: usize, at: u32, n: u32) {
    let (extent, most) = (memory.regions[region], memory.setting.read_ahead);
    let state = memory.reads[region];
    let joins = memory.setting.kernel.joins_windows;
    let behind = state.start + state.size;
    if joins && at != extent.first && state.size > 0 && (at == behind || at == behind - state.ahead) {
        // The next window, though no page asked for it.
        let size = next_window(state.size, most).max(state.size);
        let (size, ahead) = if at == behind { joined(size, most) } else { (size, size) };
        return window(memory, region, behind, size, ahead);
    }
    let follows = state.next != NONE && (at == state.next || at == state.next + 1);
    if at == extent.first || n > most || follows {
        let size = first_window(n, most);
        let (size, ahead) = match size > n {
            true => (size, size - n),
            false if joins => joined(size, most),
            false => (size, size / 2),
        };
        return window(memory, region, at, size, ahead);
    }
    // Pages before it that are in RAM are taken for the trace of a stream.
    let least = at.saturating_sub(most).max(extent.first);
    let before = (least..at).rev().take_while(|id| memory.pages.is(*id, bit::RESIDENT)).count();
    let mut before = u32::try_from(before).unwrap_or(most);
    if before <= n {
        return read(memory, extent, at, n, 0);
    }
    if at - before == extent.first {
        before *= 2;
    }
    window(memory, region, at, (before + n).min(most), 1);
}

/// A window whose own first page would ask for the next is as long as both.
fn joined(size: u32, most: u32) -> (u32, u32) {
    let next = next_window(size, most);
    if size + next <= most { (size + next, next) } else { (most, most / 2) }
}

/// A page was reached that asks for the next window; `n` pages are read from there on.
pub fn reached(memory: &mut Memory, region: usize, at: u32, n: u32) {
    memory.pages.clear(at, bit::READ_AHEAD);
    let (extent, most) = (memory.regions[region], memory.setting.read_ahead);
    let state = memory.reads[region];
    if at == (state.start + state.size).wrapping_sub(state.ahead) {
        let size = next_window(state.size, most);
        return window(memory, region, state.start + state.size, size, size);
    }
    // Another window than the last: what is missing behind this page is read.
    let last = (at + 1).saturating_add(most).min(extent.end());
    let hole = (at + 1..last).find(|id| !memory.pages.is(*id, bit::RESIDENT));
    let start = match hole {
        Some(hole) => hole,
        None if last == extent.end() && last <= at + most => last,
        None => return,
    };
    let size = next_window(start - at + n, most);
    window(memory, region, start, size, size);
}

/// A window, which the file remembers.
pub fn window(memory: &mut Memory, region: usize, start: u32, size: u32, ahead: u32) {
    let state = &mut memory.reads[region];
    (state.start, state.size, state.ahead) = (start, size, ahead);
    read(memory, memory.regions[region], start, size, ahead);
}

/// Reads what is missing of a window; the page `ahead` before its end asks for the next one when it is reached.
fn read(memory: &mut Memory, extent: Extent, start: u32, size: u32, ahead: u32) {
    let first = start.min(extent.end());
    let last = (first + size).min(extent.end());
    let mark = (first + size).saturating_sub(ahead);
    let mut n = 0;
    for id in first..last {
        if memory.pages.is(id, bit::RESIDENT) {
            continue;
        }
        if !charge(memory, Effort::Once) {
            break;
        }
        insert(memory, id, bit::LOCKED | if id == mark { bit::READ_AHEAD } else { 0 });
        n += 1;
    }
    if n > 0 {
        for id in first..last {
            memory.pages.clear(id, bit::LOCKED);
        }
        memory.counts.read += n;
        memory.wait_for(memory.setting.costs.read, n);
    }
}

/// One page alone, for who cannot go on without it; whether there was one for it.
pub fn alone(memory: &mut Memory, id: u32) -> bool {
    if !charge(memory, Effort::All) {
        return false;
    }
    insert(memory, id, 0);
    memory.counts.read += 1;
    memory.wait_for(memory.setting.costs.read, 1);
    true
}

/// A page that is charged, new in RAM.
pub fn insert(memory: &mut Memory, id: u32, bits: u32) {
    let shadow = memory.pages.shadow(id);
    memory.pages.set(id, bit::RESIDENT | bits);
    refault::came_back(memory, id, shadow);
    memory.add(id);
}
