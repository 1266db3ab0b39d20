//! Real swap-ins: the sample in memory that can be swapped, paged out to a scratch zram area, and touched again page by page.
//!
//! What it is not: done where another swap area is on. The kernel may put a page into any area, and no page of a sample goes to a disk.
//! Nothing reads ahead: zram is synchronous, so each fault brings one page.

use ramline_act::Run;
use ramline_evidence::rng::SplitMix64;
use ramline_kernel::map::{Advice, Map, Sharing};
use ramline_kernel::zram::Device;
use ramline_kernel::{KernelError, swap};
use ramline_units::Bytes;

use super::bench::Bench;
use super::error::PagesError;
use super::sample::{stop_if_interrupted, wide};
use super::timed::{BATCHES, Timed};

/// The highest: what is paged out while the area is on goes there.
const PRIORITY: i32 = 32767;

/// Memory that is zeroed when it goes, but may be swapped.
struct Swappable(Map);

impl Drop for Swappable {
    fn drop(&mut self) {
        self.0.wipe();
    }
}

/// Leaves the area on, in the journal; the caller undoes it.
pub fn measure(bench: &Bench<'_>, run: &mut Run, device: &Device, algorithm: &str) -> Result<Timed, PagesError> {
    if let Some(other) = swap::areas(bench.root)?.first() {
        let numbers = format!("{} is on", other.path);
        return Err(KernelError::refused("page out", "the sample", "no other swap area may be on", numbers).into());
    }
    let page = bench.sample.page_bytes();
    let all = bench.sample.len();
    device.set_algorithm(algorithm)?;
    // Twice as large as is needed: it must never be full.
    device.set_disksize(Bytes(wide(2 * all * page) + (1 << 20)))?;
    run.swap_on(device.node(), Some(PRIORITY))?;
    let mut pages = Swappable(Map::anonymous(Bytes(wide(all * page)), Sharing::Private)?);
    let map = &mut pages.0;
    for advice in [Advice::NoHugePages, Advice::DontDump, Advice::DontFork] {
        map.advise(advice)?;
    }
    map.unlock()?;
    for index in 0..all {
        map.write_at(index * page, bench.sample.page(index))?;
    }
    map.advise(Advice::PageOut)?;
    let left = map.resident_pages()?;
    if left * 10 > wide(all) {
        let numbers = format!("{left} of {all} pages are still in RAM");
        return Err(KernelError::refused("page out", "the sample", "most of it must go", numbers).into());
    }
    let mut order: Vec<usize> = (0..all).collect();
    let mut random = SplitMix64::new(bench.sample.sampling.seed);
    for at in (1..all).rev() {
        order.swap(at, usize::try_from(random.below(wide(at) + 1)).unwrap_or(0));
    }
    let mut timed = Timed::begin();
    for batch in order.chunks(all.div_ceil(BATCHES)) {
        for index in batch {
            stop_if_interrupted()?;
            // A page that did not go is no swap-in.
            if !map.is_resident(index * page)? {
                timed.one(&bench.clock, || map.touch_read(index * page))?;
            }
        }
        timed.close_batch();
    }
    Ok(timed)
}
