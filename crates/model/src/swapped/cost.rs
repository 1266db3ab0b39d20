//! What pages of one owner in one zram pool cost.

use ramline_snapshot::swapped::{AreaSlots, BlockState, Owner, Place, Sampled};

use super::CostBy;
use crate::prelude::*;
use crate::processes::Spread;
use crate::processes::estimate::Part;

/// A sample is compressed by a library of another version than the kernel's: ratios differ by up to so much (docs/measuring-pages.md).
const OTHER_VERSION: f64 = 0.03;
/// What a pool may take beyond its classes (pages partly filled) and still be believed.
const BEYOND_CLASSES: std::ops::RangeInclusive<f64> = 0.8..=4.0;

/// One zram device in use as swap.
#[derive(Debug)]
pub struct Pool {
    page: f64,
    /// RAM it takes, in all and without incompressible pages.
    total: f64,
    rest: f64,
    /// Incompressible pages; 0 where the kernel does not count them.
    huge: f64,
    counts_huge: bool,
    /// Slots in use, zero-filled pages included.
    slots: f64,
    state: Option<BlockState>,
    /// What it takes for each byte of its classes.
    beyond: f64,
    /// Pages are on a backing device, and which is not known: a sample counts them as if in RAM.
    blurred: bool,
}

impl Pool {
    /// The pool of an area; `None` on a disk.
    pub fn from_area(area: &AreaSlots, seen: &Snapshot, owners: &[Owner]) -> Option<Pool> {
        let path = area.path.as_ref()?;
        let swap = seen.swaps.data()?.iter().find(|swap| &swap.path == path)?;
        let device = crate::swap::device_of(swap, seen)?;
        let mm = device.mm.as_ref()?;
        let bytes = seen.machine.page_size;
        let page = Bytes(bytes.0).as_f64();
        let huge = mm.huge_pages.map_or(0.0, |huge| huge.bytes(bytes).as_f64() / page);
        let total = mm.mem_used_total.as_f64();
        let rest = (total - huge * page).max(0.0);
        let payload = (mm.compr_data_size.as_f64() - huge * page).max(0.0);
        Some(Pool {
            page,
            total,
            rest,
            huge,
            counts_huge: mm.huge_pages.is_some(),
            slots: swap.used.as_f64() / page,
            state: area.state,
            beyond: beyond(area.number, owners, rest, payload),
            blurred: area.state.is_none() && device.bd.is_some_and(|bd| bd.count.0 > 0),
        })
    }

    /// What the pages of one owner cost, and how that is known.
    pub fn cost(&self, place: &Place) -> (Spread, CostBy) {
        let sample = place.sample.filter(|sample| sample.pages > 0 && !self.blurred);
        let (part, by) = match (place.state.zip(self.state), sample) {
            (Some((own, all)), sample) => self.by_list(&own, &all, sample),
            (None, Some(sample)) => (self.by_sample(count(place.pages.0), &sample), CostBy::Sample),
            (None, None) => (self.average(count(place.pages.0)), CostBy::Average),
        };
        (part.spread(), by)
    }

    fn by_list(&self, own: &BlockState, all: &BlockState, sample: Option<Sampled>) -> (Part, CostBy) {
        let whole = count(own.huge.0) * self.page;
        let (mine, of) = (count(own.compressed().0), count(all.compressed().0));
        let most = (mine * self.page).min(self.rest);
        let least = (self.rest - (of - mine).max(0.0) * self.page).clamp(0.0, most);
        let compressed = sample
            .and_then(|sample| Some((sample, sample.pages.checked_sub(sample.same + sample.huge).filter(|n| *n > 0)?)));
        if let Some((sample, n)) = compressed {
            let mid = (sample.taken / count(n) * mine * self.beyond).clamp(least, most);
            let off = mid * OTHER_VERSION + 2.0 * sample.deviation * mine / count(n).sqrt();
            let part =
                Part { low: whole + (mid - off).max(least), mid: whole + mid, high: whole + (mid + off).min(most) };
            return (part, CostBy::ListAndSample);
        }
        let mid = (self.rest * mine / of.max(1.0)).clamp(least, most);
        (Part { low: whole + least, mid: whole + mid, high: whole + most }, CostBy::List)
    }

    fn by_sample(&self, pages: f64, sample: &Sampled) -> Part {
        let n = count(sample.pages);
        let compressed = sample.taken * self.beyond / n * pages;
        let mid = compressed + count(sample.huge) * self.page / n * pages;
        // Of pages that were all read there is no chance left.
        let chance = (1.0 - n / pages.max(n)).max(0.0).sqrt();
        // Where none of a sample was compressed, up to three in so many others may still be (the rule of three, 95 %).
        let unlike = if compressed > 0.0 { 0.0 } else { 3.0 / n * (pages - n).max(0.0) * self.page };
        let off = compressed * OTHER_VERSION + 2.0 * sample.deviation * pages / n.sqrt() * chance + unlike;
        let most = self.total.min(pages * self.page);
        Part { low: (mid - off).clamp(0.0, most), mid: mid.min(most), high: (mid + off).min(most) }
    }

    fn average(&self, pages: f64) -> Part {
        let high = self.most(pages);
        let low = (self.total - self.most((self.slots - pages).max(0.0))).clamp(0.0, high);
        Part { low, mid: (self.total * pages / self.slots.max(1.0)).clamp(low, high), high }
    }

    /// What so many pages cost at most: as many incompressible ones as there are, and of the rest all, a page each.
    fn most(&self, pages: f64) -> f64 {
        let huge = if self.counts_huge { pages.min(self.huge) } else { 0.0 };
        let rest = if self.counts_huge { self.rest } else { self.total };
        huge * self.page + ((pages - huge) * self.page).min(rest)
    }
}

/// What the pool takes for each byte that its classes would: pages of the allocator that are partly filled. Without samples 1.
fn beyond(number: u32, owners: &[Owner], rest: f64, payload: f64) -> f64 {
    let places = owners.iter().flat_map(|owner| &owner.places).filter(|place| place.number == number);
    let (mut stored, mut taken) = (0.0, 0.0);
    for (place, sample) in places.filter_map(|place| Some((place, place.sample.filter(|sample| sample.pages > 0)?))) {
        let weight = count(place.pages.0) / count(sample.pages);
        stored += weight * sample.stored;
        taken += weight * sample.taken;
    }
    if stored <= 0.0 || payload <= 0.0 {
        return 1.0;
    }
    // Of the payload the kernel knows the sum; the sample says what the classes make of it.
    let factor = rest / (payload * taken / stored);
    if BEYOND_CLASSES.contains(&factor) { factor } else { 1.0 }
}

/// Pages as a number to reckon with: below 2^53.
fn count(n: u64) -> f64 {
    Bytes(n).as_f64()
}
