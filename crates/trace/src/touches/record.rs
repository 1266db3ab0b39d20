//! What a file of touches is made of.

use super::MOST_BYTES;

/// One entry of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Record {
    /// A page was touched.
    Touch(PageTouch),
    /// Round so many begins, counted from 0; what stands before the first one fills memory.
    Round(u32),
    /// Pages touched in a stretch of time.
    Epoch(Epoch),
    /// How things were when an epoch ended; stands before what was touched in it.
    State(EpochState),
    /// A mapping changed.
    Mapping {
        /// Of which region.
        region: u32,
        /// What became of it.
        change: Change,
    },
}

/// A touch of one page, or of the pages of one read(2) or write(2).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct PageTouch {
    /// Which region.
    pub region: u32,
    /// Which of its pages, or the first of them.
    pub page: u64,
    /// How.
    pub access: Access,
    /// By which thread, as the maker numbers them.
    pub thread: u32,
    /// What this thread computed since its touch before, in nanoseconds of CPU time.
    pub cpu_ns: u64,
}

impl PageTouch {
    /// The pages that are touched.
    #[must_use]
    pub fn pages(&self, page_size: u32) -> std::ops::Range<u64> {
        let count = match self.access {
            Access::Load | Access::Store => 1,
            Access::Read { within, bytes } | Access::Write { within, bytes } => {
                (u64::from(within) + u64::from(bytes)).div_ceil(u64::from(page_size.max(1)))
            }
        };
        self.page..self.page.saturating_add(count)
    }
}

/// How a page is touched.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Access {
    /// Read through a mapping.
    Load,
    /// Written through a mapping.
    Store,
    /// Read with read(2).
    Read {
        /// Bytes of the first page before the first byte that is read; less than a page.
        within: u32,
        /// How many bytes, 1 to [`MOST_BYTES`].
        bytes: u32,
    },
    /// Written with write(2).
    Write {
        /// As of a read.
        within: u32,
        /// As of a read.
        bytes: u32,
    },
}

impl Access {
    /// Something is written.
    #[must_use]
    pub const fn is_write(self) -> bool {
        matches!(self, Access::Store | Access::Write { .. })
    }

    /// The extent of a read or a write is one the format has.
    pub(super) fn is_sound(self, page: u32) -> bool {
        match self {
            Access::Load | Access::Store => true,
            Access::Read { within, bytes } | Access::Write { within, bytes } => {
                within < page && (1..=MOST_BYTES).contains(&bytes)
            }
        }
    }
}

/// The pages of one region that were touched since the last epoch. Records of the same time are one epoch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Epoch {
    /// When it ended, in nanoseconds since the file begins.
    pub time_ns: u64,
    /// Which region.
    pub region: u32,
    /// How they were touched.
    pub by: EpochAccess,
    /// Its pages: ascending, and apart.
    pub pages: Vec<Run>,
}

/// How the pages of an epoch were touched.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum EpochAccess {
    /// Through a mapping, read or written.
    #[default]
    Mapped,
    /// With read(2), of which it is not known how many pages each call asked for, or one page after the other. Records of one epoch stand in the order of the reads.
    Read,
    /// With read(2), each run by one call; in order, as those before.
    ReadCall,
    /// With write(2), or through a mapping that is shared: a clean page of a file became dirty. They stand in the order of the writes, between the reads.
    Written,
}

/// How things were when an epoch ended. A recorder writes one for every epoch, also where nothing was touched.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct EpochState {
    /// When it ended, in nanoseconds since the file begins: that of its [`Epoch`] records.
    pub time_ns: u64,
    /// CPU time that all recorded processes used in it.
    pub cpu_ns: u64,
    /// Pages that were present in their page tables.
    pub resident_pages: u64,
    /// Memory was reclaimed meanwhile, which clears the same bits: pages may have been touched that are not named.
    pub reclaimed: bool,
    /// Some page tables, or a whole process, could not be read: their touches are missing.
    pub incomplete: bool,
}

/// Pages beside each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Run {
    /// The first.
    pub first: u64,
    /// How many, at least 1.
    pub count: u64,
}

impl Run {
    /// The first page behind it.
    #[must_use]
    pub const fn end(self) -> u64 {
        self.first.saturating_add(self.count)
    }
}

/// What became of a mapping.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    /// These pages are mapped from here on.
    Map(Run),
    /// These pages are mapped no more; anonymous ones are gone.
    Unmap(Run),
    /// The region has so many bytes now.
    Grow(u64),
}
