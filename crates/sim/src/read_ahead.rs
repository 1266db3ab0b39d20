//! What is read of a file beside what was asked for.
//!
//! Stands for `page_cache_sync_ra`, `page_cache_async_ra` and `page_cache_ra_unbounded` (mm/readahead.c); read in 6.12, and for `ondemand_readahead`,
//! read in 6.1. Left out: large folios, requests larger than a window, `posix_fadvise`, congestion.

use crate::charge::{Effort, charge};
use crate::cost::Costs;
use crate::kernel::Cut;
use crate::load::Extent;
use crate::memory::Memory;
use crate::page::{NONE, bit};
use crate::refault;
use crate::stream::{first_window, next_window};

/// read(2) of `n` pages from `at`, the first of which is not in RAM.
pub fn missed(memory: &mut Memory, region: usize, at: u32, n: u32) {
    let (extent, most) = (memory.regions[region], memory.setting.read_ahead);
    let state = memory.reads[region];
    let joins = memory.setting.kernel.on_demand;
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
    // Another window than the last: what is missing behind this page is read. Where nothing is, `page_cache_next_miss` once gave the number of the last
    // page that it had looked at.
    let last = (at + 1).saturating_add(most).min(extent.end());
    let hole = (at + 1..last).find(|id| !memory.pages.is(*id, bit::RESIDENT));
    let start = match hole {
        Some(hole) => hole,
        None if last == extent.end() && last <= at + most => last,
        None if memory.setting.kernel.on_demand => at + most,
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
    let mark = match memory.setting.kernel.cut {
        Cut::Never if first + size >= extent.end() => NONE,
        Cut::OfTheFile => last.saturating_sub(ahead),
        Cut::OfTheWindow | Cut::Never => (first + size).saturating_sub(ahead),
    };
    let (mut n, mut requests, mut behind) = (0, 0, false);
    for id in first..last {
        if memory.pages.is(id, bit::RESIDENT) {
            behind = false;
            continue;
        }
        if !charge(memory, Effort::Once) {
            break;
        }
        insert(memory, id, bit::LOCKED | if id == mark { bit::READ_AHEAD } else { 0 });
        n += 1;
        // Pages that are there part what is read into several requests.
        requests += u64::from(!std::mem::replace(&mut behind, true));
    }
    if n > 0 {
        for id in first..last {
            memory.pages.clear(id, bit::LOCKED);
        }
        fetch(memory, n, requests);
    }
}

/// One page alone, for who cannot go on without it; whether there was one for it.
pub fn alone(memory: &mut Memory, id: u32) -> bool {
    if !charge(memory, Effort::All) {
        return false;
    }
    insert(memory, id, 0);
    fetch(memory, 1, 1);
    true
}

/// Reads so many pages of a file in so many requests, all of which are waited for.
fn fetch(memory: &mut Memory, n: u64, requests: u64) {
    memory.counts.read += n;
    let [request, page] = memory.steps.fetch;
    memory.clock += request * requests + page * n;
    let Costs { read: [first, each], layer, .. } = memory.setting.costs;
    memory.wait_for([first + layer, each], n);
}

/// A page that is charged, new in RAM.
pub fn insert(memory: &mut Memory, id: u32, bits: u32) {
    let shadow = memory.pages.shadow(id);
    memory.pages.set(id, bit::RESIDENT | bits);
    refault::came_back(memory, id, shadow);
    memory.add(id);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chance::Chance;
    use crate::kernel::PRESETS;
    use crate::memory::tests::group;

    /// The pages of a file of 200 that a read from one on leaves missing behind 100 that were there, where none asks for more but one of them.
    fn missing(kernel: usize, asks: u32) -> Vec<u32> {
        let mut memory = group(200, PRESETS[kernel], Chance::default());
        for id in 200..300 {
            insert(&mut memory, id, 0);
        }
        memory.pages.set(200 + asks, bit::READ_AHEAD);
        crate::read::pages(&mut memory, 200 + asks, 1, false);
        (300..400).filter(|id| !memory.pages.is(*id, bit::RESIDENT)).map(|id| id - 200).collect()
    }

    #[test]
    fn where_no_page_behind_one_that_asks_is_missing_only_old_kernels_read() {
        // The last page that 6.1 looks at is 32 behind, and it reads 32 pages from there on.
        assert_eq!(missing(0, 60), (124..200).collect::<Vec<u32>>());
        assert_eq!(missing(1, 60), (100..200).collect::<Vec<u32>>());
    }

    #[test]
    fn which_page_asks_for_more_in_a_window_that_the_file_cuts() {
        let asks = |kernel: usize, start: u32| {
            let mut memory = group(200, PRESETS[kernel], Chance::default());
            window(&mut memory, 1, start, 32, 8);
            (200..400).filter(|id| memory.pages.is(*id, bit::READ_AHEAD)).collect::<Vec<u32>>()
        };
        assert_eq!([1, 2, 3].map(|kernel| asks(kernel, 380)), [vec![392], vec![], vec![]]);
        assert_eq!([1, 2, 3].map(|kernel| asks(kernel, 368)), [vec![392], vec![392], vec![]]);
    }

    #[test]
    fn a_read_that_goes_on_behind_pages_that_were_there_begins_a_stream_in_old_kernels() {
        let of = |kernel: usize| {
            let mut memory = group(200, PRESETS[kernel], Chance::default());
            for id in 200..240 {
                insert(&mut memory, id, 0);
            }
            // Three pages are there and the fourth is not; the pages before them are a trace of a stream.
            crate::read::pages(&mut memory, 237, 4, false);
            (200..400).filter(|id| memory.pages.is(*id, bit::RESIDENT)).count()
        };
        assert_eq!([of(0), of(1)], [44, 72]);
    }
}
