//! Child processes: this binary again, or a command that is not ours, started inside a group, followed to its end, and judged.
//!
//! A child of ours gets its task as an argument and reports in JSON, a line each, on standard output; where it waits, a word on
//! standard input lets it go on. It dies with the thread that started it. One [`Supervisor`] follows any child: reports,
//! ticks, its end; one function ([`End::verdict`]) makes a verdict of that end.

pub mod command;
mod end;
mod entry;
pub mod keeper;
pub mod lines;
pub mod outside;
mod request;
mod supervisor;
pub mod worker;

pub use end::End;
pub use entry::{ARGUMENT, ChildKind, command, main, report, report_and_wait, task};
pub use request::{ReadMethod, Request, Response};
pub use supervisor::{Event, Reach, Supervisor};
pub use worker::{Polled, Worker};
