//! Read-ahead of files: what is read beside what was asked for. Sizes of windows: `window`; around a fault: `filemap/fault.rs`; of swap: `swap/cluster.rs`.
//!
//! Stands for `page_cache_sync_ra`, `page_cache_async_ra` and `page_cache_ra_unbounded` (mm/readahead.c); read in 6.12; for `ondemand_readahead`,
//! read in 6.1; and for `page_cache_ra_order`, read in 7.3. Left out: that a read(2) waits for a page that the disk has not read yet, requests larger than a window, `posix_fadvise`, congestion.

mod next_miss;
mod requests;
mod window;

use crate::folio::Folio;
use crate::insert::insert_folio;
use crate::kernel::Cut;
use crate::load::Extent;
use crate::memcg::charge::{Effort, charge};
use crate::memory::Memory;
use crate::page::{NONE, bit};

use self::requests::Missing;
use self::window::{first_window, joined, next_window};

/// The most pages of a folio of ext4, as a power of two.
const MOST_ORDER: u32 = 9;

/// `page_cache_sync_ra`: read(2) of `n` pages from `at`, the first of which is not in RAM.
pub fn sync_ra(memory: &mut Memory, region: usize, at: u32, n: u32) {
    let (extent, most) = (memory.regions[region], memory.setting.read_ahead);
    let state = memory.reads[region];
    let joins = memory.setting.kernel.on_demand;
    let behind = state.start + state.size;
    if joins && at != extent.first && state.size > 0 && (at == behind || at == behind - state.ahead) {
        // The next window, though no page asked for it.
        let size = next_window(state.size, most).max(state.size);
        let (size, ahead) = if at == behind { joined(size, most) } else { (size, size) };
        return submit_window(memory, region, behind, size, ahead);
    }
    let follows = state.next != NONE && (at == state.next || at == state.next + 1);
    if at == extent.first || n > most || follows {
        let size = first_window(n, most);
        let (size, ahead) = match size > n {
            true => (size, size - n),
            false if joins => joined(size, most),
            false => (size, size / 2),
        };
        return submit_window(memory, region, at, size, ahead);
    }
    // Pages before it that are in RAM are taken for the trace of a stream.
    let hole = next_miss::before(memory, extent, at - 1, most);
    let mut before = hole.map_or(at - extent.first, |hole| at - hole - 1);
    if before <= n {
        let asked = read(memory, extent, at, n, 0, None);
        return wait(memory, asked);
    }
    if hole.is_none() {
        before *= 2;
    }
    submit_window(memory, region, at, (before + n).min(most), 1);
}

/// `page_cache_async_ra`: a PG_readahead page was reached, which triggers the next window, alone or with the others of its folio; `n` pages are read from there on.
pub fn async_ra(memory: &mut Memory, region: usize, at: u32, n: u32) {
    let is_same = |memory: &Memory, id: u32| memory.pages.is(id, bit::RESIDENT | bit::READ_AHEAD | bit::SAME_FOLIO);
    let first = (memory.regions[region].first..=at).rev().find(|id| !is_same(memory, *id)).unwrap_or(at);
    let behind = (at + 1..memory.regions[region].end()).take_while(|id| is_same(memory, *id)).last().unwrap_or(at);
    (first..=behind).for_each(|id| _ = memory.pages.clear(id, bit::READ_AHEAD));
    // read(2) looks from the beginning of the folio on.
    let (n, at) = if memory.in_fault { (n, at) } else { (n + at - first, first) };
    let (extent, most) = (memory.regions[region], memory.setting.read_ahead);
    let state = memory.reads[region];
    if at == (state.start + state.size).wrapping_sub(state.ahead) {
        let size = next_window(state.size, most);
        return submit_next_window(memory, region, state.start + state.size, size);
    }
    // Another window than the last: what is missing behind this page is read. Where nothing is, `page_cache_next_miss` once gave the number of the last
    // page that it had looked at.
    let start = match next_miss::behind(memory, extent, at + 1, most) {
        Some(hole) => hole,
        None if memory.setting.kernel.on_demand => at + most,
        None => return,
    };
    let size = next_window(start - at + n, most);
    submit_next_window(memory, region, start, size);
}

/// Reads a window, which the file remembers; a page of it is waited for.
pub fn submit_window(memory: &mut Memory, region: usize, start: u32, size: u32, ahead: u32) {
    memory.reads[region].order = 0;
    let asked = remembered(memory, region, start, size, ahead);
    wait(memory, asked);
}

/// `page_cache_ra_order`: reads the next window, which no touch waits for. Where it is read in folios of several pages, it ends with a whole one.
pub fn submit_next_window(memory: &mut Memory, region: usize, start: u32, mut size: u32) {
    let order = memory.reads[region].order + 2;
    memory.reads[region].order = order;
    if memory.setting.kernel.reads_folios() {
        let end = start + size - memory.regions[region].first;
        let over = end % (1 << order.min(memory.setting.read_ahead.trailing_zeros()));
        size -= if over < size { over } else { 0 };
    }
    let asked = remembered(memory, region, start, size, size);
    memory.in_flight.at = asked.unwrap_or(memory.in_flight.at);
    memory.in_flight.pages.iter().for_each(|id| memory.pages.set(*id, bit::LOCKED));
}

/// Waits for a page that was asked for before.
pub fn wait_for(memory: &mut Memory, id: u32) {
    if memory.pages.is(id, bit::LOCKED) {
        memory.wait_until(memory.in_flight.at);
        memory.in_flight.arrive(memory.clock, &mut memory.pages);
    }
}

fn remembered(memory: &mut Memory, region: usize, start: u32, size: u32, ahead: u32) -> Option<u64> {
    let state = &mut memory.reads[region];
    (state.start, state.size, state.ahead) = (start, size, ahead);
    state.order = state.order.min(size.ilog2()).min(MOST_ORDER);
    let by_order = memory.setting.kernel.reads_folios().then_some(state.order);
    read(memory, memory.regions[region], start, size, ahead, by_order)
}

fn wait(memory: &mut Memory, asked: Option<u64>) {
    if asked.is_some() {
        memory.in_flight.pages.clear();
    }
    memory.wait_until(asked.unwrap_or_default());
}

/// Reads what is missing of a window; the page `ahead` before its end asks for the next one when it is reached. `by_order`: in folios of that order, until a page of one is there already or
/// there is no room for it; from there on page by page, where the first for which there is no room ends it. When they are there, if any was missing.
fn read(
    memory: &mut Memory,
    extent: Extent,
    start: u32,
    size: u32,
    ahead: u32,
    mut by_order: Option<u32>,
) -> Option<u64> {
    let first = start.min(extent.end());
    let last = (first + size).min(extent.end());
    let is_marked = memory.setting.kernel.cut != Cut::Never || first + size < extent.end();
    let mut mark = match memory.setting.kernel.cut {
        _ if !is_marked => NONE,
        Cut::OfTheFile => last.saturating_sub(ahead),
        Cut::OfTheWindow | Cut::Never => (first + size).saturating_sub(ahead),
    };
    let mut missing = Missing::starting_at(first);
    let mut id = first;
    while id < last {
        missing.arrive(memory);
        let mut folio = Folio::alone(id);
        if let Some(order) = by_order {
            folio.pages = folio_of(id - extent.first, last - id, order);
            // It is charged before it is known that a page of it is there.
            let is_charged = charge(memory, folio.pages, Effort::Once);
            let is_there = folio.ids().any(|id| memory.pages.is(id, bit::RESIDENT));
            if is_there || !is_charged {
                memory.charged -= if is_charged { folio.pages.into() } else { 0 };
                if !is_charged {
                    missing.ask_early(memory, id);
                }
                (by_order, folio.pages) = (None, 1);
                mark = if is_marked && ahead <= last - id { last - ahead } else { NONE };
            }
        }
        id += folio.pages;
        if by_order.is_none() {
            if memory.pages.is(folio.first, bit::RESIDENT) {
                missing.part();
                continue;
            }
            // Here a reclaim fails at once. The kernel's goes on, and its last passes find what the disk has read meanwhile.
            let mut is_charged = charge(memory, 1, Effort::Once);
            while !is_charged && missing.arrive(memory) {
                is_charged = charge(memory, 1, Effort::Once);
            }
            if !is_charged {
                break;
            }
        }
        insert_folio(memory, folio, bit::LOCKED | if folio.ids().contains(&mark) { bit::READ_AHEAD } else { 0 });
        missing.keep(folio.pages);
    }
    let asked = missing.ask(memory)?;
    for id in first..last {
        if memory.pages.clear(id, bit::LOCKED) && memory.in_fault {
            memory.in_flight.pages.push(id);
        }
    }
    Some(asked)
}

/// Pages of a folio that begins at a page of its file, of at most that order, where a number of pages is left of the window.
fn folio_of(page: u32, left: u32, order: u32) -> u32 {
    let order = order.min(page.trailing_zeros()).min(left.ilog2());
    1 << order
}

/// One page alone, which the task waits for; whether it could be charged.
pub fn alone(memory: &mut Memory, id: u32) -> bool {
    if !charge(memory, 1, Effort::All) {
        return false;
    }
    insert_folio(memory, Folio::alone(id), 0);
    let mut missing = Missing::starting_at(id);
    missing.keep(1);
    let asked = missing.ask(memory).unwrap_or_default();
    memory.wait_until(asked);
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chance::Chance;
    use crate::insert::insert;
    use crate::kernel::PRESETS;
    use crate::memory::tests::group;

    /// The pages of a file of 200 that a read from one on leaves missing behind 100 that were there, where none asks for more but one of them.
    fn missing(kernel: usize, asks: u32) -> Vec<u32> {
        let mut memory = group(200, PRESETS[kernel], Chance::default());
        for id in 200..300 {
            insert(&mut memory, id, 0);
        }
        memory.pages.set(200 + asks, bit::READ_AHEAD);
        crate::filemap::read::pages(&mut memory, 200 + asks, 1, false);
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
            submit_window(&mut memory, 1, start, 32, 8);
            (200..400).filter(|id| memory.pages.is(*id, bit::READ_AHEAD)).collect::<Vec<u32>>()
        };
        assert_eq!([1, 2, 3].map(|kernel| asks(kernel, 380)), [vec![392], vec![], vec![]]);
        assert_eq!([1, 2, 3].map(|kernel| asks(kernel, 368)), [vec![392], vec![392], vec![]]);
    }

    #[test]
    fn pages_that_are_there_part_a_window_into_requests_each_of_which_costs() {
        let took = |there: &[u32]| {
            let mut memory = group(200, PRESETS[2], Chance::default());
            memory.setting.costs.read = [0.0; 2];
            there.iter().for_each(|page| insert(&mut memory, 200 + page, 0));
            let begin = memory.clock;
            submit_window(&mut memory, 1, 200, 32, 8);
            (memory.clock - begin, memory.counts.read)
        };
        let [request, page] = group(1, PRESETS[2], Chance::default()).steps.fetch;
        assert_eq!(took(&[]), (request + 32 * page, 32));
        assert_eq!(took(&[0, 9, 10, 20]), (3 * request + 28 * page, 28));
    }

    #[test]
    fn where_there_is_no_room_for_a_folio_pages_are_read_as_long_as_there_is() {
        let read = |room: u64| {
            let mut memory = group(200, PRESETS[2], Chance::default());
            memory.setting.limit = room;
            submit_next_window(&mut memory, 1, 200, 32);
            (memory.counts.read, memory.charged)
        };
        // The first folio has four pages, and nothing can be taken from the group.
        assert_eq!([2, 6, 10].map(read), [2, 6, 10].map(|pages| (pages, pages)));
        // A page that is there is charged for and given back.
        let mut memory = group(200, PRESETS[2], Chance::default());
        insert(&mut memory, 205, 0);
        submit_window(&mut memory, 1, 200, 32, 8);
        assert_eq!((memory.counts.read, memory.charged - memory.stock), (31, 31));
    }

    #[test]
    fn a_window_longer_than_the_room_is_read_whole_where_the_disk_keeps_up_with_reclaim() {
        const ROOM: u64 = 300;
        let read = |each: f64| {
            let mut memory = group(400, PRESETS[2], Chance::default());
            (memory.setting.limit, memory.setting.costs.read, memory.in_fault) = (ROOM, [0.0, each], true);
            submit_window(&mut memory, 1, 400, 390, 8);
            assert!(memory.in_flight.pages.is_empty() && (400..800).all(|id| !memory.pages.is(id, bit::LOCKED)));
            assert_eq!(memory.check(), Ok(()));
            memory.counts.read
        };
        assert_eq!([0.0, 1e9].map(read), [390, ROOM]);
    }

    #[test]
    fn all_pages_of_a_folio_ask_for_more_until_one_is_reached() {
        // Folios lie in a file by its own pages; this one begins at the 401st of all.
        let mut memory = group(401, PRESETS[2], Chance::default());
        submit_window(&mut memory, 1, 401, 32, 8);
        let asks = |memory: &Memory| {
            let of = |id: &u32| memory.pages.is(401 + id, bit::READ_AHEAD);
            (0..401).filter(of).collect::<Vec<_>>()
        };
        assert_eq!(asks(&memory), vec![24]);
        // The next window is of folios of four pages, the first of which asks; the one behind it of 16.
        crate::filemap::read::pages(&mut memory, 401 + 24, 1, false);
        assert_eq!(asks(&memory), (32..36).collect::<Vec<_>>());
        // A page beside it that asks for itself is not of that folio.
        memory.pages.set(401 + 31, bit::READ_AHEAD);
        crate::filemap::read::pages(&mut memory, 401 + 34, 1, false);
        let second: Vec<u32> = [31].into_iter().chain(64..80).collect();
        assert_eq!((asks(&memory), memory.reads[1].order), (second, 4));
        let cut = [(0, 32, 4), (12, 32, 4), (16, 9, 4), (6, 100, 2)];
        assert_eq!(cut.map(|(page, left, order)| folio_of(page, left, order)), [16, 4, 8, 2]);
    }

    #[test]
    fn a_read_that_goes_on_behind_pages_that_were_there_begins_a_stream_in_old_kernels() {
        let of = |kernel: usize| {
            let mut memory = group(200, PRESETS[kernel], Chance::default());
            for id in 200..240 {
                insert(&mut memory, id, 0);
            }
            // Three pages are there and the fourth is not; the pages before them are a trace of a stream.
            crate::filemap::read::pages(&mut memory, 237, 4, false);
            (200..400).filter(|id| memory.pages.is(*id, bit::RESIDENT)).count()
        };
        assert_eq!([of(0), of(1)], [44, 72]);
    }
}
