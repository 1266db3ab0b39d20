//! The kernel's log as text: out-of-memory reports, allocation failures, stalls, and what user-space killers print beside them.
//!
//! Lines come in with any prefix (dmesg, syslog, journal, /dev/kmsg, container logs) and go out as [`LogEvent`]s. Nothing is concluded here: what
//! filled memory is a question for `ramline-model`. Memory is bounded however long the log is; what was dropped is counted.
//!
//! ```
//! use ramline_snapshot::kernel_log::{LogEvent, LogReader};
//! let mut reader = LogReader::default();
//! reader.feed(b"[  1.5] Out of memory: Killed process 42 (leak) total-vm:8kB, anon-rss:4kB, file-rss:0kB, shmem-rss:0kB\n");
//! let log = reader.finish();
//! let LogEvent::Report(report) = &log.events[0] else { return };
//! assert_eq!((report.kills[0].pid, report.kills[0].name.as_str()), (42, "leak"));
//! ```

mod build;
mod daemon;
mod daemon_lines;
mod dates;
mod decode;
mod fields;
mod group;
mod json_line;
mod kill_line;
mod memory;
mod open;
mod prefix;
mod reader;
mod report;
mod rows;
mod stamp;
mod tasks;
mod trigger;

pub use daemon::{DaemonKill, DaemonKind, Policy};
pub use group::{GroupFigures, GroupUse};
pub use kill_line::KillLine;
pub use memory::{HugePool, MemoryFigures, NodeFigures, ZoneFigures};
pub use reader::{KernelLog, LogReader};
pub use report::{LogEvent, Report, ReportKind, Stuck, StuckKind};
pub use stamp::Stamp;
pub use tasks::{LoggedTask, NameTotal, TaskTable};
pub use trigger::{Gfp, Trigger};
