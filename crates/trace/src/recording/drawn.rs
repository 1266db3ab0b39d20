//! One of the access traces that would leave a recording.
//!
//! What is open is drawn: the order within an epoch, and which touches are stores. Touches of an epoch are given in blocks of neighbours, the blocks in an order of
//! chance, but reads and writes of files in their own, each read(2) whole; between them passes the CPU time of the epoch. A page of anonymous memory is stored to when it is touched for the first time, since else it is the kernel's page of zeros.

use std::sync::Arc;

use ramline_evidence::rng::SplitMix64;

use super::{EpochParts, PAGE, Recording, Stretch};
use crate::touch::{Access, Memory, Region, Touch, Touched, Touches};
use crate::touches::EpochAccess;

/// Pages that one call may ask for: MAX_RW_COUNT, 2 GiB less a page.
const MOST_OF_A_CALL: u32 = (i32::MAX as u32) / PAGE;

/// What a recording leaves open, and this trace has.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Open {
    /// The share of touches that are stores, 0 to 1.
    pub stores: f64,
    /// Pages of an epoch that were touched one after the other where they are neighbours.
    pub block: u32,
    /// Seed of orders and stores.
    pub seed: u64,
}

/// A recording with what it leaves open.
#[derive(Debug, Clone)]
pub struct Drawn {
    recording: Arc<Recording>,
    open: Open,
}

/// Of each page of each region, whether something holds of it.
struct Marks(Vec<Vec<bool>>);

impl Marks {
    fn none(regions: &[Region]) -> Marks {
        let pages = |region: &Region| usize::try_from(region.bytes / u64::from(PAGE)).unwrap_or_default();
        Marks(regions.iter().map(|region| vec![false; pages(region)]).collect())
    }

    /// Sets it of a page; what it was.
    fn replace(&mut self, region: u32, page: u32, to: bool) -> bool {
        let mark = self.0.get_mut(region as usize).and_then(|pages| pages.get_mut(page as usize));
        mark.is_some_and(|mark| std::mem::replace(mark, to))
    }
}

impl Recording {
    /// The trace that this draw makes of it.
    #[must_use]
    pub fn drawn(self: &Arc<Self>, open: Open) -> Drawn {
        Drawn { recording: Arc::clone(self), open: Open { block: open.block.max(1), ..open } }
    }

    fn is_file(&self, region: u32) -> bool {
        self.regions.get(region as usize).is_some_and(|region| region.memory == Memory::File)
    }

    pub(super) fn held(&self) -> &[Stretch] {
        self.stretches.get(..self.held).unwrap_or_default()
    }

    /// What was in memory before it, where its program began before: what that held, and the pages of files that are touched in it, which were read then. What is touched in most
    /// epochs was touched last: so it lies on the lists about as the program has left it.
    fn before(&self) -> Vec<Touch> {
        if !self.began_later() {
            return Vec::new();
        }
        let pages = |region: &Region| usize::try_from(region.bytes / u64::from(PAGE)).unwrap_or_default();
        let mut epochs: Vec<Vec<u32>> = self.regions.iter().map(|region| vec![0; pages(region)]).collect();
        let mut mapped = Marks::none(&self.regions);
        let touched =
            self.epochs.iter().flat_map(|epoch| self.stretches.get(epoch.touched..epoch.end).unwrap_or_default());
        for one in touched {
            let all = epochs.get_mut(one.region as usize).map(|pages| &mut pages[..]).unwrap_or_default();
            all.iter_mut().skip(one.first as usize).take(one.count as usize).for_each(|count| *count += 1);
            if one.by == EpochAccess::Mapped {
                (one.first..one.first + one.count).for_each(|page| _ = mapped.replace(one.region, page, true));
            }
        }
        let count = |region: u32, page: u32| {
            epochs.get(region as usize).and_then(|pages| pages.get(page as usize)).copied().unwrap_or_default()
        };
        let held = self.held().iter().flat_map(|one| each(one, Access::Store));
        let files = (0_u32..).zip(&self.regions).filter(|(region, _)| self.is_file(*region));
        let files = files.flat_map(|(region, one)| {
            let pages = u32::try_from(one.bytes / u64::from(PAGE)).unwrap_or(u32::MAX);
            let touched = (0..pages).filter(move |page| count(region, *page) > 0);
            touched.map(move |page| (region, page))
        });
        let files = files.map(|(region, page)| {
            let is_mapped = mapped.replace(region, page, true);
            touch(region, page, if is_mapped { Access::Load } else { Access::Read(PAGE) })
        });
        let mut all: Vec<Touch> = files.chain(held).collect();
        let number = |touch: &Touch| u32::try_from(touch.offset / u64::from(PAGE)).unwrap_or_default();
        all.sort_by_key(|touch| count(touch.region, number(touch)));
        all
    }
}

fn touch(region: u32, page: u32, access: Access) -> Touch {
    Touch { region, access, offset: u64::from(page) * u64::from(PAGE) }
}

fn each(stretch: &Stretch, access: Access) -> impl Iterator<Item = Touch> + use<> {
    let Stretch { region, first, count, .. } = *stretch;
    (first..first + count).map(move |page| touch(region, page, access))
}

/// One read(2) of all of it, which the kernel takes for one request; of what no call can ask for, several.
fn calls(stretch: &Stretch) -> impl Iterator<Item = Touch> + use<> {
    let Stretch { region, first, count, .. } = *stretch;
    (0..count)
        .step_by(MOST_OF_A_CALL as usize)
        .map(move |at| touch(region, first + at, Access::Read((count - at).min(MOST_OF_A_CALL).saturating_mul(PAGE))))
}

/// The touches of an epoch; `stored` are the pages of memory that there are.
fn epoch_touches(
    recording: &Recording,
    open: Open,
    (number, epoch): (usize, EpochParts),
    stored: &mut Marks,
) -> Vec<Touch> {
    let part = |from: usize, to: usize| recording.stretches.get(from..to).unwrap_or_default();
    let mut random = SplitMix64::new(open.seed ^ (number as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15));
    let mut out = vec![touch(0, 0, Access::Begin)];
    out.extend(part(epoch.freed, epoch.touched).iter().flat_map(|stretch| each(stretch, Access::Free)));
    for stretch in part(epoch.freed, epoch.touched) {
        (stretch.first..stretch.first + stretch.count).for_each(|page| _ = stored.replace(stretch.region, page, false));
    }
    let blocks = shuffled(part(epoch.touched, epoch.end), open.block, &mut random);
    let (time, all) = (u128::from(epoch.state.cpu_ns / 1000), u128::from(epoch.pages.max(1)));
    let (mut done, mut passed) = (0, 0);
    for block in &blocks {
        match block.by {
            EpochAccess::Mapped => {
                let is_file = recording.is_file(block.region);
                out.extend((block.first..block.first + block.count).map(|page| {
                    let is_chosen = share(&mut random) < open.stores;
                    let is_store = !is_file && (!stored.replace(block.region, page, true) || is_chosen);
                    touch(block.region, page, if is_store { Access::Store } else { Access::Load })
                }));
            }
            EpochAccess::ReadCall => out.extend(calls(block)),
            // What is written is there as what is read is; that it must be written before it goes is not simulated.
            EpochAccess::Read | EpochAccess::Written => out.extend(each(block, Access::Read(PAGE))),
        }
        done += u128::from(block.count);
        compute(&mut out, time * done / all - passed);
        passed = time * done / all;
    }
    compute(&mut out, time - passed);
    out
}

/// So many microseconds pass.
fn compute(out: &mut Vec<Touch>, us: u128) {
    let us = u32::try_from(us).unwrap_or(u32::MAX);
    out.extend((us > 0).then(|| touch(0, 0, Access::Compute(us))));
}

/// A part of one.
#[expect(clippy::cast_precision_loss, reason = "53 bits are exact")]
fn share(random: &mut SplitMix64) -> f64 {
    (random.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
}

/// Blocks of neighbours in an order of chance; they begin where they would if all of the region were touched.
fn shuffled(stretches: &[Stretch], block: u32, random: &mut SplitMix64) -> Vec<Stretch> {
    let mut blocks: Vec<Stretch> = Vec::new();
    for stretch in stretches {
        if stretch.by == EpochAccess::ReadCall {
            blocks.push(*stretch);
            continue;
        }
        let (mut first, end) = (stretch.first, stretch.first + stretch.count);
        while first < end {
            let count = (block - first % block).min(end - first);
            blocks.push(Stretch { first, count, ..*stretch });
            first += count;
        }
    }
    let is_read = |block: &Stretch| block.by != EpochAccess::Mapped;
    let reads: Vec<Stretch> = blocks.iter().copied().filter(is_read).collect();
    for at in (1..blocks.len()).rev() {
        blocks.swap(at, usize::try_from(random.below(at as u64 + 1)).unwrap_or_default());
    }
    // Chance decides where reads stand among the others, and nothing else of them.
    blocks.iter_mut().filter(|block| is_read(block)).zip(reads).for_each(|(block, read)| *block = read);
    blocks
}

impl Touches for Drawn {
    fn regions(&self) -> Vec<Region> {
        self.recording.regions.clone()
    }

    fn fill(&self) -> Touched<'_> {
        Box::new(self.recording.before().into_iter().map(Ok))
    }

    fn rounds(&self) -> Touched<'_> {
        let (recording, open) = (&*self.recording, self.open);
        let mut stored = Marks::none(&recording.regions);
        for stretch in recording.held() {
            (stretch.first..stretch.first + stretch.count)
                .for_each(|page| _ = stored.replace(stretch.region, page, true));
        }
        let epochs = recording.epochs.iter().copied().enumerate();
        Box::new(epochs.flat_map(move |epoch| epoch_touches(recording, open, epoch, &mut stored)).map(Ok))
    }

    fn round_count(&self) -> Option<u32> {
        None
    }

    /// At most: there may be no time behind a block.
    fn touch_count(&self) -> u64 {
        let of = |from: usize, to: usize| self.recording.stretches.get(from..to).unwrap_or_default().iter();
        let block = u64::from(self.open.block);
        let epoch = |epoch: &EpochParts| {
            let touched = of(epoch.touched, epoch.end).map(|one| match one.by {
                // A read of several pages takes the room of two touches.
                EpochAccess::ReadCall => 2 + 2 * u64::from(one.count.div_ceil(MOST_OF_A_CALL)),
                _ => u64::from(one.count) + u64::from(one.count) / block + 2,
            });
            2 + of(epoch.freed, epoch.touched).map(|one| u64::from(one.count)).sum::<u64>() + touched.sum::<u64>()
        };
        self.recording.epochs.iter().map(epoch).sum()
    }

    fn touches_of_a_round(&self) -> u64 {
        self.touch_count()
    }

    /// Those of recorded calls are counted among the touches.
    fn reads_several_pages(&self) -> bool {
        false
    }

    fn table_bytes(&self) -> u64 {
        self.recording.regions.iter().map(|region| region.bytes / u64::from(PAGE)).sum()
    }

    fn is_recorded(&self) -> bool {
        true
    }
}
