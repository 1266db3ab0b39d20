//! The text of a trace buffer (the file `trace`) to the steps of one system call.
//!
//! Two forms: a line per function or tracepoint (`comm-pid [cpu] flags time: name …`, and for functions `name <-caller`), and the
//! indented form of function_graph. Time is nanoseconds, or ticks of the processor's counter where the clock is `x86-tsc`
//! ([`Clock`]). At most [`KEPT`] steps are kept of a call; `CallPath::cut` says how many are not.
//!
//! ```
//! use ramline_trace::text;
//! let trace = " 0)               |  __x64_sys_pread64() {\n 0)   2.000 us    |    vfs_read();\n 0)   2.500 us    |  }\n";
//! let path = text::graph(trace, "pread64").unwrap();
//! assert_eq!((path.took.0, path.steps[1].own.0), (2500, 2000));
//! ```

mod call;
mod graph;
mod line;

pub use call::{Sleep, call, sleeps};
pub use graph::graph;
pub use line::{Clock, KEPT, MARK};

#[cfg(test)]
mod tests;
