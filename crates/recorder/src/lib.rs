//! Keep it: a machine recorded over time into files of a directory, and moments of the past read from them.
//!
//! | module | what it is |
//! |---|---|
//! | `place` | the directory: names of files, what may be used |
//! | `store` | writing: one recorder at a time, a cap that always holds, a disk that may be full |
//! | `seconds` | the last ten minutes, a frame a second, in memory |
//! | `recording` | the loop that looks and writes |
//! | `import` | old data of sysstat, written as history |
//! | `archive` | reading: in which file of a directory a moment lies, and why one is not there |
//! | `part` | reading: one file, its moments as snapshots, what is missing between them |
//! | `steps` | reading: the moment before, the moment after |
//! | `gaps` | where nothing was recorded, and why |
//!
//! The format of the files is `ramline-history`'s.

mod archive;
mod gaps;
mod import;
mod part;
mod place;
mod recording;
mod seconds;
mod steps;
mod store;

pub use archive::{Archive, NotFound};
pub use gaps::{Gap, GapReason};
pub use import::import;
pub use part::{Checked, Instant, Part, Recorded};
pub use place::{HistoryFile, files, prepare};
pub use recording::{Options, PROCESSORS, RecordSummary, record};
pub use steps::Step;
pub use store::{Limits, Store};

/// What goes wrong with history.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The system said no.
    #[error(transparent)]
    Kernel(#[from] ramline_kernel::KernelError),
    /// Another recorder writes there.
    #[error(
        "{dir} is being written by another recorder{holder}\n  try: ramline record --history ANOTHER_DIR, or end that one"
    )]
    Busy {
        /// The directory.
        dir: String,
        /// ` (process 123)`, where that is known.
        holder: String,
    },
    /// A snapshot could not be written as JSON.
    #[error("what was seen cannot be written as JSON: {0}")]
    Json(#[from] serde_json::Error),
}

/// What functions here return.
pub type Result<T, E = Error> = std::result::Result<T, E>;
