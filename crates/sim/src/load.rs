//! A load decoded once: every touch is a number of 32 bits, so that many settings, and many runs of one, share it.
//!
//! The upper two bits say how a page is touched, the lower 29 which of all pages. A read of several pages takes two numbers: the first page, and how
//! many. Not the trace format: it lives in memory for as long as a forecast takes.
//!
//! ```
//! use ramline_sim::load::{Compact, word};
//! use ramline_trace::generate::{Access, Memory, Region, Touch};
//! let files = [Region { memory: Memory::File, bytes: 1 << 20 }; 2];
//! let touches = [Touch { region: 1, access: Access::Read(4096), offset: 8192 }, Touch { region: 0, access: Access::Read(6000), offset: 0 }];
//! let load = Compact::new(&files, [].into_iter(), touches.into_iter(), 2).unwrap();
//! assert_eq!(load.rounds, [word::READ | 258, word::MANY | word::INSIDE, 2]);
//! ```

use ramline_trace::generate::Load;
use ramline_trace::touch::{Access, Memory, Region, Touch, Touches};
use ramline_trace::touches::TouchesError;

use crate::footprint::Footprint;
use crate::page::bit;

/// Regions of a load, at most: a page keeps the number of its own in 12 bits.
pub const REGIONS: usize = 1 << (u32::BITS - bit::REGION);
/// Pages that one page table points to.
pub const OF_A_TABLE: u32 = 512;
/// Bytes of a page: the simulator knows no other.
pub const PAGE: u64 = 4096;

/// Memory that a group is charged for beside the pages that its load touches.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Overhead {
    /// Pages of anonymous memory that are filled before the load and not touched again.
    pub idle: u32,
    /// The idle pages, and what the kernel keeps for the group besides page tables: the least and the most, in pages.
    pub pages: [u64; 2],
}

/// The parts of a number.
pub mod word {
    /// A byte is read through a mapping.
    pub const LOAD: u32 = 0;
    /// A byte is written through a mapping.
    pub const STORE: u32 = 1 << 30;
    /// read(2) in one page.
    pub const READ: u32 = 2 << 30;
    /// read(2) of several pages: the next number says how many.
    pub const MANY: u32 = 3 << 30;
    /// The bits of the access.
    pub const ACCESS: u32 = MANY;
    /// The read ends before the end of its last page.
    pub const INSIDE: u32 = 1 << 29;
    /// The bits of the page.
    pub const PAGE: u32 = INSIDE - 1;
    /// No touch: this number of microseconds of CPU time passes; none where an epoch begins.
    pub const COMPUTE: u32 = LOAD | INSIDE;
    /// No touch: the page is given back.
    pub const FREE: u32 = STORE | INSIDE;

    /// It is a touch, and none of what a recording has beside touches.
    #[must_use]
    pub const fn is_touch(word: u32) -> bool {
        word & MANY >= READ || word & INSIDE == 0
    }
}

/// Pages of one region, among all pages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Extent {
    /// Its first.
    pub first: u32,
    /// How many.
    pub pages: u32,
    /// What it is.
    pub memory: Memory,
    /// Some touch goes through a mapping.
    pub mapped: bool,
}

impl Extent {
    /// The page behind its last.
    #[must_use]
    pub const fn end(self) -> u32 {
        self.first + self.pages
    }
}

/// A load, decoded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Compact {
    /// Its regions.
    pub regions: Vec<Extent>,
    /// What is touched before the rounds.
    pub fill: Vec<u32>,
    /// What the rounds touch.
    pub rounds: Vec<u32>,
    /// Touches of one round.
    pub of_a_round: u64,
    /// What its group is charged for beside it.
    pub overhead: Overhead,
    /// It is of a recording: its fill is of the time before, and epochs are told apart.
    pub recorded: bool,
}

impl Compact {
    /// Decodes a load; `None` if it has more pages or regions than have numbers.
    #[must_use]
    pub fn decode(load: &Load) -> Option<Compact> {
        Compact::from_touches(load).ok().flatten()
    }

    /// Decodes any source of touches; `None` if it has more pages or regions than have numbers.
    ///
    /// # Errors
    /// The source fails.
    pub fn from_touches(source: &dyn Touches) -> Result<Option<Compact>, TouchesError> {
        let wanted = Footprint::for_load(source, 0);
        let touches = (source.fill(), source.rounds());
        let load =
            Compact::decoded(&source.regions(), touches, (wanted.fill, wanted.rounds), source.touches_of_a_round())?;
        Ok(load.map(|load| match source.is_recorded() {
            // Known only now: how many words its epochs are.
            true => Compact { of_a_round: (load.rounds.len() as u64).max(1), recorded: true, ..load },
            false => load,
        }))
    }

    /// The load in a group that is charged for more; as it is where there is no number left for the idle pages.
    #[must_use]
    pub fn with_overhead(mut self, overhead: Overhead) -> Compact {
        let (first, pages) = (self.pages(), overhead.idle);
        if pages == 0 {
            self.overhead = overhead;
        } else if self.regions.len() < REGIONS && first + pages <= word::PAGE {
            self.regions.push(Extent { first, pages, memory: Memory::Anonymous, mapped: true });
            self.fill.splice(..0, (first..first + pages).map(|id| id | word::STORE));
            self.overhead = overhead;
        }
        self
    }

    /// Decodes touches; `None` if there are more pages or regions than have numbers, or a touch lies in none of the regions.
    pub fn new(
        regions: &[Region],
        fill: impl Iterator<Item = Touch>,
        rounds: impl Iterator<Item = Touch>,
        of_a_round: u64,
    ) -> Option<Compact> {
        Compact::decoded(regions, (fill.map(Ok), rounds.map(Ok)), (0, 0), of_a_round).ok().flatten()
    }

    /// With capacity for this number of words, so that it does not double.
    fn decoded(
        regions: &[Region],
        (fill, rounds): (impl Iterator<Item = Touched>, impl Iterator<Item = Touched>),
        (of_fill, of_rounds): (u64, u64),
        of_a_round: u64,
    ) -> Result<Option<Compact>, TouchesError> {
        let Some(regions) = extents(regions) else { return Ok(None) };
        let mut load = Compact {
            regions,
            fill: Vec::new(),
            rounds: Vec::new(),
            of_a_round,
            overhead: Overhead::default(),
            recorded: false,
        };
        let Some(fill) = load.words(fill, of_fill)? else { return Ok(None) };
        load.fill = fill;
        let Some(rounds) = load.words(rounds, of_rounds)? else { return Ok(None) };
        load.rounds = rounds;
        Ok(Some(load))
    }

    /// All its pages.
    #[must_use]
    pub fn pages(&self) -> u32 {
        self.regions.last().map_or(0, |region| region.end())
    }

    /// It has files that are not mapped, and such that are.
    #[must_use]
    pub fn files(&self) -> [bool; 2] {
        let of = |mapped: bool| self.regions.iter().any(|one| one.memory == Memory::File && one.mapped == mapped);
        [false, true].map(of)
    }

    /// Rounds, with the part of one.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "touches of a run")]
    pub fn round_count(&self) -> f64 {
        let mut touches = 0_u64;
        let mut words = self.rounds.iter();
        while let Some(word) = words.next() {
            if word & word::ACCESS == word::MANY {
                words.next();
            }
            touches += 1;
        }
        touches as f64 / self.of_a_round.max(1) as f64
    }

    /// The region of a page.
    #[must_use]
    pub fn region_of(&self, id: u32) -> Option<&Extent> {
        self.regions.get(self.regions.partition_point(|region| region.end() <= id))
    }

    /// Gives each page that is touched, in order, with the bits of its access.
    pub fn each(&self, mut see: impl FnMut(u32, u32)) {
        for words in [&self.fill, &self.rounds] {
            let mut words = words.iter();
            while let Some(word) = words.next() {
                if !word::is_touch(*word) {
                    continue;
                }
                let (id, access) = (word & word::PAGE, word & word::ACCESS);
                let n = if access == word::MANY { words.next().copied().unwrap_or(1) } else { 1 };
                (id..id + n).for_each(|id| see(id, access));
            }
        }
    }

    fn words(&mut self, touches: impl Iterator<Item = Touched>, count: u64) -> Result<Option<Vec<u32>>, TouchesError> {
        let Ok(count) = usize::try_from(count) else { return Ok(None) };
        let mut words = Vec::with_capacity(count.max(touches.size_hint().0));
        for touch in touches {
            if self.push(touch?, &mut words).is_none() {
                return Ok(None);
            }
        }
        Ok(Some(words))
    }

    /// One touch in numbers; `None` if it lies in none of the regions.
    fn push(&mut self, touch: Touch, words: &mut Vec<u32>) -> Option<()> {
        if let Access::Compute(us) = touch.access {
            let whole = us / word::PAGE;
            words.extend((0..whole).map(|_| word::COMPUTE | word::PAGE));
            words.extend((us % word::PAGE > 0).then_some(word::COMPUTE | (us % word::PAGE)));
            return Some(());
        }
        if touch.access == Access::Begin {
            words.push(word::COMPUTE);
            return Some(());
        }
        let region = self.regions.get_mut(touch.region as usize)?;
        let page = touch.offset / PAGE;
        let last = match touch.access {
            Access::Read(length) => (touch.offset + u64::from(length.max(1)) - 1) / PAGE,
            _ => page,
        };
        if last >= u64::from(region.pages) {
            return None;
        }
        let id = region.first + u32::try_from(page).ok()?;
        let n = u32::try_from(last - page + 1).ok()?;
        let inside = |length: u32| match (touch.offset + u64::from(length)) % PAGE {
            0 => 0,
            _ => word::INSIDE,
        };
        match touch.access {
            Access::Load | Access::Store => {
                region.mapped = true;
                // What is stored to a file is not followed until it is written.
                let is_store = touch.access == Access::Store && region.memory != Memory::File;
                words.push(id | if is_store { word::STORE } else { word::LOAD });
            }
            Access::Free => words.push(id | word::FREE),
            // Answered above.
            Access::Compute(_) | Access::Begin => {}
            Access::Read(length) if n == 1 => words.push(id | word::READ | inside(length)),
            Access::Read(length) => words.extend([id | word::MANY | inside(length), n]),
        }
        Some(())
    }
}

/// What a source gives.
type Touched = Result<Touch, TouchesError>;

/// Pages of each region, one behind the other; `None` if there are more than have numbers.
fn extents(regions: &[Region]) -> Option<Vec<Extent>> {
    (regions.len() <= REGIONS).then_some(())?;
    let (mut first, mut extents) = (0_u32, Vec::with_capacity(regions.len() + 1));
    for region in regions {
        let pages = u32::try_from(region.bytes / PAGE).ok()?;
        extents.push(Extent { first, pages, memory: region.memory, mapped: false });
        first = first.checked_add(pages).filter(|all| *all <= word::PAGE)?;
    }
    Some(extents)
}

#[cfg(test)]
mod tests {
    use super::*;

    const REGIONS: [Region; 2] =
        [Region { memory: Memory::File, bytes: 8 * PAGE }, Region { memory: Memory::Anonymous, bytes: 4 * PAGE }];

    fn decoded(access: Access, offset: u64, region: u32) -> Option<Vec<u32>> {
        let touch = Touch { region, access, offset };
        Compact::new(&REGIONS, [].into_iter(), [touch].into_iter(), 1).map(|load| load.rounds)
    }

    #[test]
    fn a_touch_becomes_its_page_and_how_it_is_touched() {
        assert_eq!(decoded(Access::Store, 3 * PAGE, 1), Some(vec![word::STORE | 11]));
        assert_eq!(decoded(Access::Store, 3 * PAGE, 0), Some(vec![word::LOAD | 3]));
        assert_eq!(decoded(Access::Read(100), PAGE + 50, 0), Some(vec![word::READ | word::INSIDE | 1]));
        assert_eq!(decoded(Access::Read(8192), PAGE, 0), Some(vec![word::MANY | 1, 2]));
        assert_eq!(decoded(Access::Read(2), PAGE - 1, 0), Some(vec![word::MANY | word::INSIDE, 2]));
    }

    #[test]
    fn a_touch_outside_its_region_is_no_load() {
        assert_eq!(decoded(Access::Load, 8 * PAGE, 0), None);
        assert_eq!(decoded(Access::Read(8192), 7 * PAGE, 0), None);
        assert_eq!(decoded(Access::Load, 0, 2), None);
    }
}
