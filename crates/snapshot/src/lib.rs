//! What was seen: the files of the kernel as plain data, one section each.
//!
//! Parsers (text in, struct out), the [`Snapshot`] they fill, the [`Window`] of two
//! snapshots of one boot. It opens no file and asks no clock; `ramline-kernel` reads,
//! from the live machine or from a captured tree, and hands the text over.
//!
//! Rules of the parsers: unknown keys are kept and counted, missing keys are `None`, a line that is not understood costs that line and is
//! noted with path, number and text; a file without a line that is understood is an error. Only [`Window`] subtracts counters.
//!
//! ```
//! use ramline_snapshot::meminfo::Meminfo;
//! let seen = Meminfo::parse("/proc/meminfo", "MemTotal: 1024 kB\nFuture: 7 kB\n")?;
//! assert_eq!(seen.mem_total.map(|b| b.to_string()).as_deref(), Some("1.0 MiB"));
//! assert_eq!(seen.mem_free, None);
//! assert_eq!(seen.unknown["Future"], "7 kB");
//! # Ok::<(), ramline_snapshot::Malformed>(())
//! ```

#[macro_use]
mod table;

pub mod blocks;
pub mod buddyinfo;
pub mod cache;
pub mod cgroup;
pub mod configured;
pub mod containers;
pub mod dirs;
pub mod evictors;
pub mod groups;
pub mod hugepages;
pub mod kernel_log;
pub mod killers;
mod lines;
pub mod machine;
pub mod maps;
pub mod meminfo;
mod meminfo_impossible;
mod meminfo_lxcfs;
pub mod mounts;
pub mod page_size;
pub mod parsers;
mod prelude;
pub mod pressure;
pub mod processes;
mod redact;
mod seen;
pub mod setup;
pub mod shmem;
pub mod slab;
mod snapshot;
pub mod swapped;
pub mod swaps;
pub mod switches;
pub mod sysctl;
pub mod vmstat;
mod window;
pub mod zfs;
pub mod zoneinfo;
pub mod zram;
pub mod zswap;

use lines::parse_lines;
pub use lines::{Noted, Origin};
pub use redact::redact;
pub use seen::{Malformed, Seen, Unseen};
pub use snapshot::{LoadError, SCHEMA_VERSION, Snapshot, Wanted};
pub use window::{NotAWindow, Window};
