//! What it means: the ledger, watermarks, tiers, pressure and settings of one machine, as plain data.
//!
//! Pure functions from [`ramline_snapshot::Snapshot`] (and [`ramline_snapshot::Window`] where a
//! rate is needed) to structs that text, JSON and HTML render alike. It reads no file and
//! asks no clock; it gives no advice (`ramline-advice`) and prints nothing (`ramline-view`).
//!
//! Rules: absent is `None` and is named, never shown as zero; a counter since boot is never judged as a
//! rate; sizes are [`ramline_units::Bytes`], differences [`SignedBytes`].
//!
//! ```
//! use ramline_model::ledger::{Ledger, Term};
//! use ramline_snapshot::{Seen, Snapshot, machine::Machine, meminfo::Meminfo};
//! let mut seen = Snapshot::new(Machine::default());
//! seen.meminfo = Seen::new(Meminfo::parse("meminfo", "MemTotal: 4096 kB\nMemFree: 1024 kB\n")?);
//! let ledger = Ledger::from_snapshot(&seen).ok_or("no MemTotal")?;
//! assert_eq!(ledger.line(Term::Free).map(|l| l.bytes.to_string()).as_deref(), Some("1.0 MiB"));
//! assert_eq!(ledger.leftover.to_string(), "3.0 MiB");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod available;
pub mod balance;
pub mod changed;
pub mod costs;
pub mod fragmentation;
pub mod group;
pub mod groups;
pub mod kill;
pub mod ledger;
mod low_mark;
pub mod maps;
pub mod moments;
pub mod need;
pub mod pages;
mod prelude;
pub mod pressure;
pub mod processes;
pub mod recorded;
pub mod sar;
pub mod settings;
pub mod shmem;
pub mod stalled;
pub mod swap;
pub mod swapped;
pub mod tiers;
pub mod tmpfs;
pub mod translate;
pub mod unowned;
pub mod verdict;
pub mod watermarks;
mod worded;
pub mod zram;
pub mod zsmalloc;

pub use ramline_units::SignedBytes;
