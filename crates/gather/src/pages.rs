//! Anonymous pages of running processes: in which ranges they are, where each is, and what is in a few of them.
//!
//! What it is not: a choice. The caller says which pages, by their rank among all, and lends the memory their contents go to; nothing read
//! here is kept. Left out are pages the kernel would not swap: of locked ranges, of devices, hugetlb pages, and shared memory.
//!
//! ```no_run
//! use ramline_gather::pages::{self, Contents, Ranks};
//! use ramline_kernel::Root;
//! let root = Root::live();
//! let found = pages::read_ranges(&root, &[4711], &|| false);
//! let process = found.processes.first().ok_or("nothing to see")?;
//! let located = pages::locate(&root, process, &Ranks { present: &[0], swapped: &[] }, &|| false)?;
//! let mut page = vec![0; 4096];
//! Contents::open(&root, process)?.read(located[0].address, &mut page)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod contents;
mod flags;
mod ranges;
mod tables;

pub use crate::proc_dir::{NotRead, pids};
pub use contents::Contents;
pub use flags::{Flags, Warmth};
pub use ranges::{OfProcess, Ranges, Span, read_ranges};
pub use tables::{Located, Ranks, locate};

impl std::fmt::Display for NotRead {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(match self {
            NotRead::Vanished => "the process ended",
            NotRead::Denied => "not for this user",
            NotRead::Absent => "there is no such file",
            NotRead::Unusable => "it could not be read",
        })
    }
}

impl std::error::Error for NotRead {}
