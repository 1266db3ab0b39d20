//! What a swap-in costs a group at its limit: some pages of our own are paged out and touched again. The page that comes in is charged, so that the same task
//! reclaims another first; from zram a page leaves its slot when it comes in, and is compressed again when it goes. So both ways are counted.
//!
//! Done where swap is on zram alone, which reads at once and one page at a time; its own counters are of ticks and leave the fault out. Other swap has the
//! counters of its disk.

use ramline_kernel::map::{Advice, Map, Sharing};

use crate::prelude::*;

/// Pages that are paged out: 1 MiB.
const PAGES: usize = 256;
/// Fewer swap-ins have no median worth anything.
const FEWEST: usize = 64;

/// Nanoseconds of one page out, the mean, and one in, the median, with its whole fault; `None` where our pages did not go.
pub fn out_and_in_ns() -> Option<f64> {
    let page = usize::try_from(process::page_size()).ok()?;
    let mut map = Map::anonymous(Bytes(process::page_size() * 256), Sharing::Private).ok()?;
    map.advise(Advice::NoHugePages).ok()?;
    let mut random = SplitMix64::new(51);
    // Half of a page is random, half is zeros: compressed it is half as large, as much memory is.
    for at in 0..PAGES {
        let half: Vec<u8> = (0..page / 16).flat_map(|_| random.below(u64::MAX).to_ne_bytes()).collect();
        map.write_at(at * page, &half).ok()?;
    }
    let begun = Instant::now();
    map.advise(Advice::PageOut).ok()?;
    let all_out = begun.elapsed().as_secs_f64() * 1e9;
    let mut took: Vec<f64> = Vec::with_capacity(PAGES);
    for n in 0..PAGES {
        // 97 and 256 have no common divisor: all pages, and no two neighbours.
        let at = n * 97 % PAGES * page;
        if map.is_resident(at).ok()? {
            continue;
        }
        let begun = Instant::now();
        map.touch_read(at).ok()?;
        took.push(begun.elapsed().as_secs_f64() * 1e9);
    }
    took.sort_by(f64::total_cmp);
    let once_in = took.get(took.len() / 2).filter(|_| took.len() >= FEWEST)?;
    Some(once_in + all_out / took.len() as f64)
}
