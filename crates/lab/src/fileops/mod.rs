//! Operations on files, timed: the workload of tmpfs-vs-disk and page-cache-vs-tmpfs, the places it works in, its observer.
//!
//! What it is: one operation (write, read, make, delete) per child process, which brings its file into the state the
//! operation needs, proves it, times the loop and the same loop without the calls, and reports what it took. What it is not: a
//! benchmark of devices; a place is a directory, whatever lies below.

pub mod child;
pub mod figures;
pub mod ground;
pub(crate) mod loops;
pub mod pressure;
pub mod task;
pub mod work;

pub use task::{Cost, FileReport, FileTask, Op};
