//! A file read at places of Zipf's law, by read(2) or through a mapping; and beside it, if asked for, a scan of a second file.
//!
//! The scan goes through its file page after page and begins again at its end, as a backup or a search does.

use ramline_evidence::rng::SplitMix64;

use super::zipf::Zipf;
use super::{Access, Memory, Region, STEP, Skew, Touch, places};

/// Its sizes, and where chance begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Readers {
    /// Bytes of the file.
    pub file: u64,
    /// Bytes of the file that is scanned; 0 without one.
    pub scanned: u64,
    /// Of 1000 touches, how many belong to the scan.
    pub scan: u32,
    /// Through a mapping, a page at a time.
    pub mapped: bool,
    /// Bytes of a read(2), a multiple of 4 KiB; both files are multiples of it.
    pub length: u32,
    /// How unequal the places of the file are.
    pub skew: Skew,
    /// Rounds.
    pub rounds: u32,
    /// Seed.
    pub seed: u64,
}

impl Readers {
    const FILE: u32 = 0;
    const SCANNED: u32 = 1;

    /// What its regions are.
    pub fn regions(&self) -> impl Iterator<Item = Region> + use<> {
        [self.file, self.scanned]
            .into_iter()
            .filter(|bytes| *bytes > 0)
            .map(|bytes| Region { memory: Memory::File, bytes })
    }

    /// Bytes of a touch.
    fn grain(&self) -> u64 {
        if self.mapped { STEP } else { u64::from(self.length) }
    }

    /// Three times as many pages as there are.
    #[must_use]
    pub fn touches_of_a_round(&self) -> u64 {
        3 * (self.file + self.scanned) / self.grain()
    }

    /// The touches of all rounds.
    pub fn rounds(&self) -> impl Iterator<Item = Touch> + use<> {
        let (this, grain) = (*self, self.grain());
        let access = if this.mapped { Access::Load } else { Access::Read(this.length) };
        let mut random = SplitMix64::new(this.seed);
        let law = Zipf::new(places(this.file, grain), this.skew, &mut random);
        let (scan, mut at) = (if this.scanned > 0 { u64::from(this.scan) } else { 0 }, 0);
        (0..u64::from(this.rounds) * this.touches_of_a_round()).map(move |_| {
            if scan > 0 && random.below(1000) < scan {
                let offset = at;
                at = if at + grain < this.scanned { at + grain } else { 0 };
                return Touch { region: Self::SCANNED, access, offset };
            }
            Touch { region: Self::FILE, access, offset: law.place(&mut random) * grain }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOAD: Readers = Readers {
        file: 4 << 20,
        scanned: 1 << 20,
        scan: 200,
        mapped: false,
        length: 16 << 10,
        skew: Skew { thousandths: 900 },
        rounds: 4,
        seed: 256,
    };

    #[test]
    fn a_scan_has_its_share_and_goes_through_its_file_again_and_again() {
        let scan: Vec<u64> =
            LOAD.rounds().filter(|touch| touch.region == Readers::SCANNED).map(|touch| touch.offset).collect();
        let all = LOAD.touches_of_a_round() * 4;
        assert!((scan.len() as u64).abs_diff(all / 5) < all / 20, "{} of {all}", scan.len());
        assert!(scan.len() > 64 && scan.iter().enumerate().all(|(n, offset)| *offset == n as u64 % 64 * (16 << 10)));
    }

    #[test]
    fn a_mapped_file_is_touched_page_by_page_and_without_a_scan_there_is_one_file() {
        let load = Readers { mapped: true, scanned: 0, ..LOAD };
        assert_eq!((load.regions().count(), load.touches_of_a_round()), (1, 3 * 1024));
        assert!(load.rounds().all(|touch| touch.region == 0 && touch.access == Access::Load));
    }
}
