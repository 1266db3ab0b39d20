//! Data to stdout, messages to stderr. A reader that goes away is no error.

use std::io::{self, IsTerminal, Write};

use anyhow::Result;
use serde::Serialize;

/// Writes text to stdout; a broken pipe ends the program quietly.
///
/// # Errors
/// stdout cannot be written for another reason.
pub fn text(text: &str) -> Result<()> {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(e) if e.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        other => Ok(other?),
    }
}

/// Writes a value as JSON, one line per document.
///
/// # Errors
/// As [`text`].
pub fn json(value: &impl Serialize) -> Result<()> {
    text(&(serde_json::to_string(value)? + "\n"))
}

/// Colour and progress are for terminals, and NO_COLOR is honoured.
pub fn colour() -> bool {
    io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|v| v.is_empty())
}
