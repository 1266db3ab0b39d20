//! How a recording went, and why there is none.

use std::time::Duration;

use ramline_kernel::KernelError;
use ramline_trace::touches::TouchesError;
use ramline_units::Nanos;

use crate::proof::Proof;

/// Reason for the end of a recording.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EndReason {
    /// All its processes have ended.
    Processes,
    /// The time was over.
    Time,
    /// A signal came.
    Signal,
    /// The disk is nearly full.
    Disk,
}

/// Whether reads and writes of files are recorded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FilesSeen {
    /// Both.
    All,
    /// Reads alone.
    Reads,
    /// Neither, and why.
    Unseen(String),
}

/// How a recording went.
#[derive(Debug, Clone, PartialEq)]
pub struct Recorded {
    /// What our own pages said before it.
    pub proof: Proof,
    /// What read(2) and write(2) did.
    pub files: FilesSeen,
    /// What of DAMON runs, which uses the same bits.
    pub damon: Vec<String>,
    /// Why it ended.
    pub ended: EndReason,
    /// How long it was.
    pub passed: Duration,
    /// Epochs.
    pub epochs: u64,
    /// Epochs with reclaim.
    pub reclaimed: u64,
    /// Epochs of which something could not be read.
    pub incomplete: u64,
    /// Processes that were seen.
    pub processes: u64,
    /// Processes whose last epoch could not be read, since they had ended.
    pub last_lost: u64,
    /// Processes that may not be read.
    pub unreadable: u64,
    /// Pages touched, summed over epochs.
    pub touched: u64,
    /// The most pages that were present at once.
    pub resident_peak: u64,
    /// Of these, pages of huge pages.
    pub huge_at_peak: u64,
    /// CPU time of the processes.
    pub cpu: Nanos,
    /// CPU time of the recorder.
    pub own_cpu: Nanos,
    /// Time in which bits were read and cleared, as the clock has it.
    pub looking: Duration,
    /// The longest single look.
    pub longest: Duration,
    /// The length of epochs at the end.
    pub epoch: Duration,
}

/// Why there is no recording.
#[derive(Debug)]
pub enum CaptureError {
    /// The kernel does not allow it, or a process is not to be had.
    Kernel(KernelError),
    /// It could not be written.
    Write(TouchesError),
}

impl From<KernelError> for CaptureError {
    fn from(error: KernelError) -> CaptureError {
        CaptureError::Kernel(error)
    }
}

impl From<TouchesError> for CaptureError {
    fn from(error: TouchesError) -> CaptureError {
        CaptureError::Write(error)
    }
}
