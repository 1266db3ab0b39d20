//! What the observer tells the workload, and the lines the workload sends back.
//!
//! The task goes in as one argument; `go` on standard input lets the workload start and `end` lets it go after its last
//! line; end of file there means that the observer is gone. Lines are JSON of at most [`LONGEST`] bytes on standard output.
//!
//! ```
//! use ramline_lab::protocol::Line;
//! let line = Line { rounds: 3, ..Line::default() };
//! assert_eq!(Line::parse(&line.render()), Some(line));
//! ```

use std::path::PathBuf;

use ramline_evidence::Phase;
use ramline_units::{Bytes, Nanos};
use serde::{Deserialize, Serialize};

use crate::fill::Fill;

/// Longest line in bytes; a longer one is not from our workload. Below PIPE_BUF, so a write is never split.
pub const LONGEST: usize = 1024;

/// What the workload is to do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Task {
    /// One unit.
    pub unit: Bytes,
    /// Units of data.
    pub data_units: u32,
    /// Units of code.
    pub code_units: u32,
    /// Units of ballast.
    pub ballast_units: u32,
    /// Rounds.
    pub rounds: u32,
    /// Shared anonymous memory (shmem) instead of private.
    pub shared: bool,
    /// Contents of data and ballast.
    pub fill: Fill,
    /// Seed of the access pattern.
    pub seed: u64,
    /// The code file.
    pub code: PathBuf,
    /// A file whose first byte holds the workload while it is not 0; only where a pool must be followed.
    pub hold: Option<PathBuf>,
    /// When the rounds are given up.
    pub timeout: Nanos,
    /// Pid of the observer: without it the workload ends.
    pub observer: u32,
}

/// One report of the workload.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Line {
    /// What it is doing; `Done` is the last line.
    pub phase: Phase,
    /// CLOCK_MONOTONIC when the line was written.
    pub now: Nanos,
    /// Rounds completed.
    pub rounds: u32,
    /// Share of the phase or round done.
    pub fraction: f64,
    /// Sum of all bytes read in the round just completed, or so far.
    pub checksum: u64,
    /// How long the phase or round took that this line ends.
    pub took: Option<Nanos>,
    /// User time so far.
    pub user: Nanos,
    /// System time so far.
    pub system: Nanos,
    /// Major faults so far.
    pub major_faults: u64,
    /// How long it was held so far.
    pub held: Nanos,
    /// In the last line: share of the ballast that is still resident.
    pub ballast_resident: Option<f64>,
    /// In the last line: the clock ended it.
    pub timed_out: bool,
    /// It could not go on.
    pub error: Option<String>,
}

impl Line {
    /// As sent, with the newline. An error text is cut so that the line stays short.
    #[must_use]
    pub fn render(&self) -> String {
        let error = self.error.as_ref().map(|text| text.chars().filter(|c| !c.is_control()).take(300).collect());
        let cut = Line { error, ..self.clone() };
        serde_json::to_string(&cut).map_or_else(|_| "{}\n".to_owned(), |text| text + "\n")
    }

    /// Reads a line; `None` for anything else.
    #[must_use]
    pub fn parse(text: &str) -> Option<Line> {
        (text.len() <= LONGEST).then(|| serde_json::from_str(text).ok()).flatten()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_line_fits_and_longer_ones_are_not_read() {
        let line = Line {
            now: Nanos(u64::MAX),
            checksum: u64::MAX,
            fraction: 0.123_456_789_012_345_6,
            ballast_resident: Some(1.0 / 3.0),
            took: Some(Nanos(u64::MAX)),
            held: Nanos(u64::MAX),
            error: Some("\u{7f}é".repeat(5000)),
            ..Line::default()
        };
        assert!(line.render().len() <= LONGEST, "{}", line.render().len());
        assert!(Line::parse(&line.render()).is_some());
        assert_eq!(Line::parse(&" ".repeat(LONGEST + 1)), None);
        assert_eq!(Line::parse("thrashing"), None);
    }
}
