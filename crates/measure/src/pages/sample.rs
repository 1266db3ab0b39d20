//! Drawing the sample: ranges of processes, ranks, places, and at last the contents, into the arena.
//!
//! What it is not: a copy for later. The pages lie in locked memory that is zeroed when the sample goes, and no text or file is made of them.
//! Pages in swap are brought back by being read, so only few of them are taken. Cold pages are taken before others, up to three quarters.

use std::fmt;

use ramline_evidence::pages::{OwnerPages, Sampling};
use ramline_evidence::rng::SplitMix64;
use ramline_gather::pages::{self as gathered, Contents, Flags, Located, OfProcess, Ranges, Ranks, Warmth};
use ramline_kernel::arena::Arena;
use ramline_kernel::{Root, signals};

use super::choose::{evenly, split, thin};
use super::error::PagesError;

/// Of the pages in RAM at most so many of a sample are cold, of four.
const COLD_OF_FOUR: usize = 3;
/// Pages that are looked at for warmth, as a multiple of those wanted.
const LOOKED_AT: u64 = 2;

/// Pages with what is known of each but its contents.
pub struct Sample {
    arena: Arena,
    page: usize,
    /// Of each page, which owner it is of.
    pub owner_of: Vec<usize>,
    /// Owners, without lengths.
    pub owners: Vec<OwnerPages>,
    /// Group of each owner.
    pub groups: Vec<Option<String>>,
    /// How it was drawn.
    pub sampling: Sampling,
}

/// The contents stay out of logs.
impl fmt::Debug for Sample {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Sample({} pages of {} processes)", self.owner_of.len(), self.owners.len())
    }
}

impl Sample {
    /// How many pages.
    pub fn len(&self) -> usize {
        self.owner_of.len()
    }

    /// Bytes of a page.
    pub fn page_bytes(&self) -> usize {
        self.page
    }

    /// One page.
    pub fn page(&self, index: usize) -> &[u8] {
        self.arena.bytes().get(index * self.page..(index + 1) * self.page).unwrap_or_default()
    }
}

/// The word a page consists of, where it is one repeated machine word: zram keeps the word alone (page_same_filled).
pub fn repeated(page: &[u8]) -> Option<&[u8]> {
    let mut words = page.chunks_exact(size_of::<usize>());
    let first = words.next()?;
    words.all(|word| word == first).then_some(first)
}

/// What is to be drawn.
pub struct Wish<'a> {
    pub root: &'a Root,
    pub scope: String,
    pub seed: u64,
    /// Pages, of which at most so many from swap.
    pub pages: usize,
    pub swapped: usize,
    /// The time is over.
    pub over: &'a dyn Fn() -> bool,
}

/// One page on its way into the sample.
#[derive(Clone, Copy)]
struct Place {
    owner: usize,
    at: Located,
    cold: Option<bool>,
}

/// Draws from these ranges into an arena of `page` bytes a page.
pub fn draw(wish: &Wish<'_>, ranges: &Ranges, arena: Arena, page: usize) -> Result<Sample, PagesError> {
    let mut random = SplitMix64::new(wish.seed);
    let mut sampling = Sampling {
        scope: wish.scope.clone(),
        seed: wish.seed,
        processes: wide(ranges.processes.len()),
        ended: ranges.ended,
        denied: ranges.denied,
        left_out: ranges.left_out,
        locked: ranges.locked,
        present: ranges.processes.iter().map(OfProcess::present).sum(),
        swapped: ranges.processes.iter().map(OfProcess::swapped).sum(),
        ..Sampling::default()
    };
    let places = places(wish, ranges, &mut sampling, &mut random)?;
    let mut sample = Sample {
        arena,
        page,
        owner_of: Vec::with_capacity(places.len()),
        owners: ranges.processes.iter().map(owner).collect(),
        groups: ranges.processes.iter().map(|process| process.group.clone()).collect(),
        sampling,
    };
    read(wish, ranges, &places, &mut sample)?;
    Ok(sample)
}

fn owner(process: &OfProcess) -> OwnerPages {
    OwnerPages {
        pid: Some(process.pid),
        name: process.name.clone(),
        present: process.present(),
        swapped: process.swapped(),
        ..OwnerPages::default()
    }
}

/// Where the pages are, in the order of processes and addresses.
fn places(
    wish: &Wish<'_>,
    ranges: &Ranges,
    sampling: &mut Sampling,
    random: &mut SplitMix64,
) -> Result<Vec<Place>, PagesError> {
    let flags = Flags::open(wish.root);
    let from_swap = wide(wish.swapped).min(sampling.swapped).min(wide(wish.pages) / 4);
    let from_ram = wide(wish.pages) - from_swap;
    let look_at = if flags.is_some() { from_ram * LOOKED_AT } else { from_ram };
    let present = split(&evenly(sampling.present, look_at, random), ranges.processes.iter().map(OfProcess::present));
    let swapped = split(&evenly(sampling.swapped, from_swap, random), ranges.processes.iter().map(OfProcess::swapped));
    let (mut ram, mut swap) = (Vec::new(), Vec::new());
    for (owner, process) in ranges.processes.iter().enumerate() {
        stop_if_interrupted()?;
        let ranks = Ranks {
            present: present.get(owner).map(Vec::as_slice).unwrap_or_default(),
            swapped: swapped.get(owner).map(Vec::as_slice).unwrap_or_default(),
        };
        if ranks.present.is_empty() && ranks.swapped.is_empty() {
            continue;
        }
        let wanted = wide(ranks.present.len() + ranks.swapped.len());
        let Ok(located) = gathered::locate(wish.root, process, &ranks, wish.over) else {
            sampling.lost += wanted;
            continue;
        };
        sampling.lost += wanted.saturating_sub(wide(located.len()));
        for at in located {
            let warmth = at.frame.and_then(|frame| flags.as_ref()?.warmth(frame));
            match (at.swapped, warmth) {
                (true, _) => swap.push(Place { owner, at, cold: None }),
                (false, Some(Warmth::Never)) => {}
                (false, warmth) => ram.push(Place { owner, at, cold: warmth.map(|w| w == Warmth::Cold) }),
            }
        }
    }
    let (cold, others): (Vec<Place>, Vec<Place>) = ram.iter().partition(|place| place.cold == Some(true));
    if ram.iter().any(|place| place.cold.is_some()) {
        sampling.cold_of = Some((wide(cold.len()), wide(ram.len())));
    }
    let room = usize::try_from(from_ram).unwrap_or(0);
    // Three of four are cold where there are so many; the rest is of the others, or cold again where there are no others.
    let most_cold = (room * COLD_OF_FOUR / 4).max(room.saturating_sub(others.len()));
    let cold = thin(&cold, most_cold, random);
    let others = thin(&others, room - cold.len(), random);
    let mut all = [cold, others, swap].concat();
    ramline_units::sort_by_key(&mut all, |place| (place.owner, place.at.address));
    Ok(all)
}

/// Reads the pages; what cannot be read is counted and left out.
fn read(wish: &Wish<'_>, ranges: &Ranges, places: &[Place], sample: &mut Sample) -> Result<(), PagesError> {
    let mut open: Option<(usize, Option<Contents>)> = None;
    for place in places {
        stop_if_interrupted()?;
        let at = sample.owner_of.len() * sample.page;
        if (wish.over)() {
            sample.sampling.lost += 1;
            continue;
        }
        if open.as_ref().is_none_or(|(owner, _)| *owner != place.owner) {
            let contents = ranges.processes.get(place.owner).and_then(|of| Contents::open(wish.root, of).ok());
            open = Some((place.owner, contents));
        }
        let Some(to) = sample.arena.bytes_mut().get_mut(at..at + sample.page) else { break };
        let contents = open.as_ref().and_then(|(_, contents)| contents.as_ref());
        if contents.is_none_or(|contents| contents.read(place.at.address, to).is_err()) {
            sample.sampling.lost += 1;
            continue;
        }
        let word = repeated(to);
        let zeros = word.is_some_and(|word| word.iter().all(|byte| *byte == 0));
        if zeros && !place.at.exclusive && !place.at.swapped && place.cold.is_none() {
            // Most likely the kernel's one page of zeros, which it never swaps.
            continue;
        }
        let same = u64::from(word.is_some());
        sample.sampling.taken += 1;
        sample.sampling.taken_swapped += u64::from(place.at.swapped);
        sample.sampling.taken_cold += u64::from(place.cold == Some(true));
        sample.sampling.same_filled += same;
        sample.sampling.zero_filled += u64::from(zeros);
        if let Some(owner) = sample.owners.get_mut(place.owner) {
            owner.sampled += 1;
            owner.same_filled += same;
        }
        sample.owner_of.push(place.owner);
    }
    Ok(())
}

pub fn stop_if_interrupted() -> Result<(), PagesError> {
    if signals::interrupted() { Err(PagesError::Interrupted) } else { Ok(()) }
}

pub fn wide(n: usize) -> u64 {
    u64::try_from(n).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_of_one_repeated_word_is_same_filled_and_one_odd_byte_is_enough_not_to_be() {
        assert_eq!(repeated(&[0; 4096]), Some(&[0; 8][..]));
        assert_eq!(repeated(&[1, 2, 3, 4, 5, 6, 7, 8].repeat(512)), Some(&[1, 2, 3, 4, 5, 6, 7, 8][..]));
        let mut odd = [7; 4096];
        odd[4095] = 8;
        assert_eq!(repeated(&odd), None);
        assert_eq!(repeated(&[1, 2, 3].repeat(2000)[..4096]), None, "a period of three bytes is no word");
    }
}
