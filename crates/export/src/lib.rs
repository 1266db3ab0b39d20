//! Metrics: what ramline knows of a machine, as numbers for Prometheus and whatever else reads its formats.
//!
//! What it is: a table of metric families ([`FAMILIES`]), each with kind, unit, help and the word for `ramline explain`, filled from a
//! snapshot and written as text. What it is not: a server, nor a reader of files; and no family holds a number that was not seen: what is
//! not known has no sample, which is not 0.
//!
//! Names stay: dashboards and alerts rest on them. A family whose meaning changes gets a new name.
//!
//! ```
//! use ramline_export::{Form, Limits, text};
//! use ramline_snapshot::{Seen, Snapshot, machine::Machine, meminfo::Meminfo};
//! let mut seen = Snapshot::new(Machine::default());
//! seen.meminfo = Seen::new(Meminfo::parse("meminfo", "MemTotal: 4096 kB\nMemAvailable: 3072 kB\n")?);
//! let text = text(&seen, None, &Limits::default(), Form::OpenMetrics);
//! assert!(text.contains("# TYPE ramline_memory_total_bytes gauge\n"));
//! assert!(text.contains("\nramline_memory_total_bytes 4194304\n"));
//! assert!(!text.contains("ramline_swap_used_bytes{"), "swap was not looked at");
//! assert!(text.ends_with("# EOF\n"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod families;
mod family;
mod label;
mod reading;
mod spelled;
mod write;

pub use families::{FAMILIES, all, table};
pub use family::{Family, Kind, Unit};
pub use reading::Limits;
pub use write::{Form, text};
