//! Loads whose touches are known exactly: the same seed gives the same touches to the kernel and to a simulator.
//!
//! A [`Load`] says what its regions are, and gives touches: first those that fill memory, then those of its rounds, one after the other.
//! Each is made by its name and a size ([`Load::named`]), or from parameters of its own. Tables are made when touches are asked for; none
//! is made for a touch. Nothing here depends on a machine, its C library or its page size: a page is 4 KiB.
//!
//! ```
//! use ramline_trace::generate::{CodePlusData, Load};
//! let load = Load::CodePlusData(CodePlusData { unit: 1 << 20, code: 3, data: 14, rounds: 11, seed: 256, shared: false });
//! assert_eq!(load.regions().len(), 2);
//! assert_eq!(load.rounds().count() as u64, u64::from(load.round_count()) * load.touches_of_a_round());
//! ```

mod chase;
mod code_plus_data;
mod heap;
mod named;
mod phases;
mod power;
mod readers;
mod server;
mod zipf;

pub use chase::Chase;
pub use code_plus_data::CodePlusData;
pub use heap::Heap;
pub use phases::Phases;
pub use readers::Readers;
pub use server::Server;
pub use zipf::Skew;

use crate::error::TouchesError;
pub use crate::touch::{Access, Memory, Region, Touch};
use crate::touch::{Touched, Touches};

/// Bytes of a page: loads count in 4 KiB on every machine.
const STEP: u64 = 4096;
/// Bytes of the reads of a load unless others are asked for, and what sizes are multiples of.
const READ: u32 = 16 << 10;
/// See [`READ`].
const BLOCK: u64 = READ as u64;

/// Touches, one after the other, which cannot fail.
pub type Stream = Box<dyn Iterator<Item = Touch> + Send>;

/// One of the loads.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Load {
    /// See [`CodePlusData`].
    CodePlusData(CodePlusData),
    /// See [`Readers`].
    Readers(Readers),
    /// See [`Heap`].
    Heap(Heap),
    /// See [`Server`].
    Server(Server),
    /// See [`Chase`].
    Chase(Chase),
    /// See [`Phases`].
    Phases(Phases),
}

impl Load {
    /// What its regions are.
    #[must_use]
    pub fn regions(&self) -> Vec<Region> {
        match self {
            Load::CodePlusData(load) => load.regions().to_vec(),
            Load::Readers(load) => load.regions().collect(),
            Load::Heap(load) => vec![load.region()],
            Load::Server(load) => load.regions().to_vec(),
            Load::Chase(load) => vec![load.region()],
            Load::Phases(load) => load.regions().to_vec(),
        }
    }

    /// What is touched before the rounds begin: anonymous memory is written once, page after page, region after region.
    #[must_use]
    pub fn fill(&self) -> Stream {
        let anonymous = (0..).zip(self.regions()).filter(|(_, region)| region.memory != Memory::File);
        Box::new(anonymous.flat_map(|(region, Region { bytes, .. })| {
            (0..bytes / STEP).map(move |page| Touch { region, access: Access::Store, offset: page * STEP })
        }))
    }

    /// The touches of all rounds.
    #[must_use]
    pub fn rounds(&self) -> Stream {
        match self {
            Load::CodePlusData(load) => Box::new(load.rounds()),
            Load::Readers(load) => Box::new(load.rounds()),
            Load::Heap(load) => Box::new(load.rounds()),
            Load::Server(load) => Box::new(load.rounds()),
            Load::Chase(load) => Box::new(load.rounds()),
            Load::Phases(load) => Box::new(load.rounds()),
        }
    }

    /// How many rounds there are.
    #[must_use]
    pub fn round_count(&self) -> u32 {
        match self {
            Load::CodePlusData(CodePlusData { rounds, .. })
            | Load::Readers(Readers { rounds, .. })
            | Load::Heap(Heap { rounds, .. })
            | Load::Server(Server { rounds, .. })
            | Load::Chase(Chase { rounds, .. })
            | Load::Phases(Phases { rounds, .. }) => *rounds,
        }
    }

    /// Bytes of each of its reads by read(2); 0 if it has none.
    #[must_use]
    pub fn read_length(&self) -> u32 {
        match self {
            Load::Readers(Readers { mapped: false, length, .. }) => *length,
            Load::Server(_) => READ,
            _ => 0,
        }
    }

    /// Bytes of all its regions.
    #[must_use]
    pub fn size(&self) -> u64 {
        self.regions().iter().fold(0, |sum, region| sum.saturating_add(region.bytes))
    }

    /// Bytes of the tables that giving its touches takes at most: known from its sizes before any is made.
    #[must_use]
    pub fn table_bytes(&self) -> u64 {
        let zipf = |bytes: u64, grain: u64| (bytes / grain).saturating_mul(zipf::BYTES_OF_A_PLACE);
        match self {
            Load::CodePlusData(_) => 0,
            Load::Readers(load) => zipf(load.file, STEP),
            Load::Heap(load) => zipf(load.bytes, STEP),
            Load::Server(load) => zipf(load.heap, STEP).saturating_add(zipf(load.file, BLOCK)),
            Load::Phases(load) => zipf(load.heap, STEP).saturating_add(zipf(load.file, STEP)),
            Load::Chase(load) => load.bytes / STEP * 4,
        }
    }

    /// Touches of one round.
    #[must_use]
    pub fn touches_of_a_round(&self) -> u64 {
        match self {
            Load::CodePlusData(load) => load.steps() * CodePlusData::TOUCHES_OF_A_STEP as u64,
            Load::Readers(load) => load.touches_of_a_round(),
            Load::Heap(load) => load.touches_of_a_round(),
            Load::Server(load) => load.touches_of_a_round(),
            Load::Chase(load) => load.touches_of_a_round(),
            Load::Phases(load) => load.touches_of_a_round(),
        }
    }
}

impl Touches for Load {
    fn regions(&self) -> Vec<Region> {
        Load::regions(self)
    }

    /// Code-plus-data reads a byte of its code first, so that its group pays for the file.
    fn fill(&self) -> Touched<'_> {
        let first = matches!(self, Load::CodePlusData(_)).then_some(Touch {
            region: CodePlusData::CODE,
            access: Access::Load,
            offset: 0,
        });
        Box::new(first.into_iter().chain(Load::fill(self)).map(Ok::<_, TouchesError>))
    }

    fn rounds(&self) -> Touched<'_> {
        Box::new(Load::rounds(self).map(Ok::<_, TouchesError>))
    }

    fn round_count(&self) -> Option<u32> {
        Some(Load::round_count(self))
    }

    fn touch_count(&self) -> u64 {
        Load::touches_of_a_round(self).saturating_mul(Load::round_count(self).into())
    }

    fn touches_of_a_round(&self) -> u64 {
        Load::touches_of_a_round(self)
    }

    fn reads_several_pages(&self) -> bool {
        u64::from(self.read_length()) > STEP
    }

    fn table_bytes(&self) -> u64 {
        Load::table_bytes(self)
    }
}

/// How many places of so many bytes a region has.
fn places(bytes: u64, grain: u64) -> u32 {
    u32::try_from(bytes / grain).unwrap_or(u32::MAX)
}
