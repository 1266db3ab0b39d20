//! The one vocabulary of touches: what is touched and how, whoever says it. Generators ([`crate::generate`]), files ([`crate::touches`]) and recorders are sources of it.
//!
//! ```
//! use ramline_trace::generate::Load;
//! use ramline_trace::touch::Touches;
//! let load = Load::named("heap", 1 << 20, 2, 7).unwrap();
//! let source: &dyn Touches = &load;
//! assert_eq!((source.size(), source.fill().count(), source.round_count()), (1 << 20, 256, Some(2)));
//! ```

use crate::error::TouchesError;

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
    /// No touch: the page is given back, and what was in it is gone. Of memory, in a recording only.
    Free,
    /// No touch: so many microseconds of CPU time pass. In a recording only, as what follows.
    Compute(u32),
    /// No touch: an epoch begins.
    Begin,
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

/// Touches, one after the other, of a source that may fail: a file may be damaged.
pub type Touched<'a> = Box<dyn Iterator<Item = Result<Touch, TouchesError>> + 'a>;

/// A source of touches that lives in this process: generators, files of touches, recordings. Another file format needs none: it is imported (`oracle_general`). Its regions, and how many touches there are, are known before any is given.
pub trait Touches: Send + Sync {
    /// What its regions are, in whole pages of 4 KiB.
    fn regions(&self) -> Vec<Region>;

    /// What is touched before the rounds begin.
    fn fill(&self) -> Touched<'_>;

    /// The touches of all rounds; all touches of a source that has none.
    fn rounds(&self) -> Touched<'_>;

    /// How many rounds there are; `None` where all of it counts as one.
    fn round_count(&self) -> Option<u32>;

    /// How many touches [`Touches::rounds`] gives.
    fn touch_count(&self) -> u64;

    /// Touches of one round: of rounds of unlike lengths the mean.
    fn touches_of_a_round(&self) -> u64;

    /// Some read(2) is of more than one page.
    fn reads_several_pages(&self) -> bool;

    /// Bytes of the tables that giving its touches takes at most.
    fn table_bytes(&self) -> u64;

    /// It is made of a recording: what fills memory is of the time before it, and is not counted.
    fn is_recorded(&self) -> bool {
        false
    }

    /// Bytes of all its regions.
    fn size(&self) -> u64 {
        self.regions().iter().fold(0, |sum, region| sum.saturating_add(region.bytes))
    }
}
