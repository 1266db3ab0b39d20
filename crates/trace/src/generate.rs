//! Loads whose touches are known exactly: the same seed gives the same touches to the kernel and to a simulator.
//!
//! A [`Load`] says what its regions are, and gives touches: first those that fill memory, then those of its rounds, one after the other.
//!
//! ```
//! use ramline_trace::generate::{CodePlusData, Load};
//! let load = Load::CodePlusData(CodePlusData { unit: 1 << 20, code: 3, data: 14, rounds: 11, seed: 256, shared: false });
//! assert_eq!(load.regions().len(), 2);
//! assert_eq!(load.rounds().count() as u64, u64::from(load.round_count()) * load.touches_of_a_round());
//! ```

mod code_plus_data;

pub use code_plus_data::CodePlusData;

/// What a region of memory is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Memory {
    /// A file of its own.
    File,
    /// Private anonymous memory.
    Anonymous,
    /// Shared anonymous memory, as a tmpfs has it.
    Shared,
}

/// A region of a load.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Region {
    /// What it is.
    pub memory: Memory,
    /// Its length.
    pub bytes: u64,
}

/// How memory is touched.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Access {
    /// One byte is read through a mapping.
    Load,
    /// One byte is written through a mapping.
    Store,
    /// So many bytes are read with read(2); of a file only.
    Read(u32),
}

/// One touch of a load.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Touch {
    /// Which of its regions.
    pub region: u32,
    /// How.
    pub access: Access,
    /// The byte, or the first of them.
    pub offset: u64,
}

/// Touches, one after the other.
pub type Touches = Box<dyn Iterator<Item = Touch> + Send>;

/// One of the loads.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Load {
    /// See [`CodePlusData`].
    CodePlusData(CodePlusData),
}

impl Load {
    /// What its regions are.
    #[must_use]
    pub fn regions(&self) -> Vec<Region> {
        match self {
            Load::CodePlusData(load) => load.regions().to_vec(),
        }
    }

    /// What is touched before the rounds begin: memory is filled.
    #[must_use]
    pub fn fill(&self) -> Touches {
        match self {
            Load::CodePlusData(load) => Box::new(load.fill()),
        }
    }

    /// The touches of all rounds.
    #[must_use]
    pub fn rounds(&self) -> Touches {
        match self {
            Load::CodePlusData(load) => Box::new(load.rounds()),
        }
    }

    /// How many rounds there are.
    #[must_use]
    pub fn round_count(&self) -> u32 {
        match self {
            Load::CodePlusData(load) => load.rounds,
        }
    }

    /// Touches of one round.
    #[must_use]
    pub fn touches_of_a_round(&self) -> u64 {
        match self {
            Load::CodePlusData(load) => load.steps() * CodePlusData::TOUCHES_OF_A_STEP as u64,
        }
    }
}
