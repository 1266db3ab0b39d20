//! A heap and a mapped file whose hot pages are others in every round.
//!
//! Places are drawn by Zipf's law; with each round all ranks move on by an eighth of the places, so that what was hottest becomes the
//! coldest and comes up again later.

use ramline_evidence::rng::SplitMix64;

use super::heap::load_or_store;
use super::zipf::Zipf;
use super::{Access, Memory, Region, STEP, Skew, Touch, places};

/// Rounds until the same pages are hot again.
const TURN: u64 = 8;

/// Its sizes, and where chance begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Phases {
    /// Bytes of the heap, a multiple of 4 KiB as is the file.
    pub heap: u64,
    /// Bytes of the file.
    pub file: u64,
    /// Of 1000 touches of the heap, how many are stores.
    pub stores: u32,
    /// How unequal places are.
    pub skew: Skew,
    /// Rounds.
    pub rounds: u32,
    /// Seed.
    pub seed: u64,
}

impl Phases {
    const HEAP: u32 = 0;
    const FILE: u32 = 1;

    /// What its regions are.
    #[must_use]
    pub fn regions(&self) -> [Region; 2] {
        [(Memory::Anonymous, self.heap), (Memory::File, self.file)].map(|(memory, bytes)| Region { memory, bytes })
    }

    /// Three times as many as there are pages.
    #[must_use]
    pub fn touches_of_a_round(&self) -> u64 {
        3 * (self.heap + self.file) / STEP
    }

    /// The touches of all rounds.
    pub fn rounds(&self) -> impl Iterator<Item = Touch> + use<> {
        let (this, touches) = (*self, self.touches_of_a_round());
        let mut random = SplitMix64::new(this.seed);
        let heap = Zipf::new(places(this.heap, STEP), this.skew, &mut random);
        let file = Zipf::new(places(this.file, STEP), this.skew, &mut random);
        let (all, of_heap, stores) = (this.heap + this.file, this.heap, u64::from(this.stores));
        let (mut left, mut round, mut shifts) = (0, 0, (0, 0));
        (0..u64::from(this.rounds) * touches).map(move |_| {
            if left == 0 {
                (shifts, left, round) = ((shift(&heap, round), shift(&file, round)), touches, round + 1);
            }
            left -= 1;
            if random.below(all) < of_heap {
                let offset = heap.moved(shifts.0, &mut random) * STEP;
                return Touch { region: Self::HEAP, access: load_or_store(stores, &mut random), offset };
            }
            Touch { region: Self::FILE, access: Access::Load, offset: file.moved(shifts.1, &mut random) * STEP }
        })
    }
}

/// By how many places the ranks have moved on in a round.
fn shift(law: &Zipf, round: u64) -> usize {
    usize::try_from(round % TURN * law.len() as u64 / TURN).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;

    #[test]
    fn the_hottest_page_is_another_in_each_round_and_the_first_again_after_eight() {
        let skew = Skew { thousandths: 1200 };
        let load = Phases { heap: 2 << 20, file: 1 << 20, stores: 300, skew, rounds: 9, seed: 256 };
        let all: Vec<Touch> = load.rounds().collect();
        let hottest = |round: &[Touch]| {
            let mut seen: HashMap<u64, u32> = HashMap::new();
            round
                .iter()
                .filter(|touch| touch.region == Phases::HEAP)
                .for_each(|touch| *seen.entry(touch.offset).or_default() += 1);
            seen.into_iter().max_by_key(|(_, count)| *count).map(|(offset, _)| offset)
        };
        let hot: Vec<_> = all.chunks(usize::try_from(load.touches_of_a_round()).unwrap()).map(hottest).collect();
        assert!(hot.len() == 9 && hot[0] == hot[8] && hot.windows(2).all(|pair| pair[0] != pair[1]), "{hot:?}");
    }
}
