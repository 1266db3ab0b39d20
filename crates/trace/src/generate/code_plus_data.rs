//! Programs and data that do not fit together: code at random places, data in a window that moves on.
//!
//! Round k reads, in steps of 4 KiB over the code's size, one byte of the code at a multiple of 8 by chance, and the byte of the data at the
//! step's place behind k units. Neighbouring windows of data overlap by all but one unit.

use ramline_evidence::rng::SplitMix64;

use super::{Access, Memory, Region, STEP, Touch};

/// Its sizes, and where chance begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CodePlusData {
    /// Bytes of a unit.
    pub unit: u64,
    /// Units of code.
    pub code: u32,
    /// Units of data.
    pub data: u32,
    /// Rounds.
    pub rounds: u32,
    /// Seed.
    pub seed: u64,
    /// Data in shared instead of private anonymous memory.
    pub shared: bool,
}

impl CodePlusData {
    /// The region of code, and that of data.
    pub const CODE: u32 = 0;
    /// See [`CodePlusData::CODE`].
    pub const DATA: u32 = 1;

    /// One of code, one of data.
    pub const TOUCHES_OF_A_STEP: usize = 2;

    /// What its regions are.
    #[must_use]
    pub fn regions(&self) -> [Region; 2] {
        let data = if self.shared { Memory::Shared } else { Memory::Anonymous };
        [(Memory::File, self.code), (data, self.data)]
            .map(|(memory, units)| Region { memory, bytes: self.unit * u64::from(units) })
    }

    /// Steps of a round; each is a touch of code and one of data.
    #[must_use]
    pub fn steps(&self) -> u64 {
        self.unit * u64::from(self.code) / STEP
    }

    /// The data is written once, page after page.
    pub fn fill(&self) -> impl Iterator<Item = Touch> + use<> {
        let data = self.unit * u64::from(self.data);
        (0..data / STEP).map(|page| Touch { region: Self::DATA, access: Access::Store, offset: page * STEP })
    }

    /// The touches of all rounds, in pairs of code and data.
    pub fn rounds(&self) -> impl Iterator<Item = Touch> + use<> {
        let (this, steps) = (*self, self.steps());
        let slots = this.unit * u64::from(this.code) / 8;
        let mut random = SplitMix64::new(this.seed);
        (0..u64::from(this.rounds)).flat_map(move |round| (0..steps).map(move |step| (round, step))).flat_map(
            move |(round, step)| {
                let code = random.below(slots) * 8;
                let data = round * this.unit + step * STEP;
                [(Self::CODE, code), (Self::DATA, data)].map(|(region, offset)| Touch {
                    region,
                    access: Access::Load,
                    offset,
                })
            },
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_round_reads_code_by_chance_and_its_window_of_data() {
        let load = CodePlusData { unit: 1 << 20, code: 3, data: 14, rounds: 2, seed: 256, shared: false };
        assert_eq!(load.fill().count(), 14 * 256);
        let touches: Vec<Touch> = load.rounds().collect();
        assert_eq!(touches.len(), 2 * 2 * 768);
        let second = &touches[2 * 768..];
        assert_eq!((second[1].region, second[1].offset), (CodePlusData::DATA, 1 << 20));
        assert!(touches.iter().step_by(2).all(|touch| touch.region == CodePlusData::CODE && touch.offset < 3 << 20));
        let mut random = SplitMix64::new(256);
        assert_eq!(touches[0].offset, random.below(3 << 17) * 8);
    }
}
