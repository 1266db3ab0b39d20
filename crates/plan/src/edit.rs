//! Configuration files with one setting changed and everything else as it was, to the last byte.
//!
//! Each takes the text as it is (`None`: no such file) and gives the text as it would be, or says why it leaves a file alone whose syntax it does
//! not know.

pub mod fstab;
pub mod ini;
pub mod sysctl;

/// How files that are ramline's alone begin.
pub const OWN: &str = "# Written by ramline; `ramline tune undo` takes it away.\n";

/// Why a file is left alone: its line, counted from 1, and the rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeftAlone {
    /// The line.
    pub line: usize,
    /// What it would have to be.
    pub rule: String,
}

impl std::fmt::Display for LeftAlone {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "line {}: {}", self.line, self.rule)
    }
}
