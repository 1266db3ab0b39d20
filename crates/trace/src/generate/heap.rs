//! Anonymous memory at places of Zipf's law, read and written.

use ramline_evidence::rng::SplitMix64;

use super::zipf::Zipf;
use super::{Access, Memory, Region, STEP, Skew, Touch, places};

/// Its size, and where chance begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Heap {
    /// Bytes, a multiple of 4 KiB.
    pub bytes: u64,
    /// Shared instead of private.
    pub shared: bool,
    /// Of 1000 touches, how many are stores.
    pub stores: u32,
    /// How unequal its pages are.
    pub skew: Skew,
    /// Rounds.
    pub rounds: u32,
    /// Seed.
    pub seed: u64,
}

impl Heap {
    /// What its region is.
    #[must_use]
    pub fn region(&self) -> Region {
        Region { memory: if self.shared { Memory::Shared } else { Memory::Anonymous }, bytes: self.bytes }
    }

    /// Three times as many as there are pages.
    #[must_use]
    pub fn touches_of_a_round(&self) -> u64 {
        3 * self.bytes / STEP
    }

    /// The touches of all rounds.
    pub fn rounds(&self) -> impl Iterator<Item = Touch> + use<> {
        let stores = u64::from(self.stores);
        let mut random = SplitMix64::new(self.seed);
        let law = Zipf::new(places(self.bytes, STEP), self.skew, &mut random);
        (0..u64::from(self.rounds) * self.touches_of_a_round()).map(move |_| {
            let offset = law.place(&mut random) * STEP;
            Touch { region: 0, access: load_or_store(stores, &mut random), offset }
        })
    }
}

/// A store in so many of 1000 cases.
#[inline]
pub(super) fn load_or_store(stores: u64, random: &mut SplitMix64) -> Access {
    if random.below(1000) < stores { Access::Store } else { Access::Load }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stores_have_their_share() {
        let skew = Skew { thousandths: 900 };
        let load = Heap { bytes: 16 << 20, shared: false, stores: 300, skew, rounds: 2, seed: 256 };
        let stores = load.rounds().filter(|touch| touch.access == Access::Store).count() as u64;
        let all = 2 * load.touches_of_a_round();
        assert_eq!(all, 2 * 3 * 4096);
        assert!(stores.abs_diff(all * 3 / 10) < all / 40, "{stores} of {all}");
    }
}
