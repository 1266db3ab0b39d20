//! A pointer chase: each page of anonymous memory says which is next, in one circle by chance through all of them.
//!
//! The worst case for any recency: a page comes back when all others have been touched.

use ramline_evidence::rng::SplitMix64;

use super::zipf::circle;
use super::{Access, Memory, Region, STEP, Touch, places};

/// Its size, and where chance begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Chase {
    /// Bytes, a multiple of 4 KiB.
    pub bytes: u64,
    /// Rounds.
    pub rounds: u32,
    /// Seed.
    pub seed: u64,
}

impl Chase {
    /// What its region is.
    #[must_use]
    pub fn region(&self) -> Region {
        Region { memory: Memory::Anonymous, bytes: self.bytes }
    }

    /// Two laps.
    #[must_use]
    pub fn touches_of_a_round(&self) -> u64 {
        2 * self.bytes / STEP
    }

    /// The touches of all rounds.
    pub fn rounds(&self) -> impl Iterator<Item = Touch> + use<> {
        let next = circle(places(self.bytes, STEP), &mut SplitMix64::new(self.seed));
        let mut page = 0_u32;
        (0..u64::from(self.rounds) * self.touches_of_a_round()).map(move |_| {
            let offset = u64::from(page) * STEP;
            page = next[page as usize];
            Touch { region: 0, access: Access::Load, offset }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lap_visits_each_page_once_and_all_laps_are_alike() {
        let load = Chase { bytes: 4 << 20, rounds: 2, seed: 256 };
        let laps: Vec<u64> = load.rounds().map(|touch| touch.offset / STEP).collect();
        let first = &laps[..1024];
        let mut sorted = first.to_vec();
        sorted.sort_unstable();
        assert!(sorted.into_iter().eq(0..1024));
        assert!(laps.len() == 4 * 1024 && laps.chunks(1024).all(|lap| lap == first));
    }
}
