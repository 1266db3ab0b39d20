//! Asking before anything global is made: on a terminal; otherwise only `--prove` is a yes.

use std::io::{self, BufRead, IsTerminal, Write};

use crate::prelude::*;

/// True when the reader agreed, by `--prove` or by answering.
///
/// # Errors
/// The terminal cannot be read.
pub fn given(prove: bool, what: &[String]) -> Result<bool> {
    if prove || what.is_empty() {
        return Ok(true);
    }
    agreed("This would touch more than its own sandbox:", what, "Go on? It is put back afterwards.")
}

/// Asks on a terminal; elsewhere the answer is no.
///
/// # Errors
/// The terminal cannot be read.
pub fn agreed(title: &str, what: &[String], question: &str) -> Result<bool> {
    if !io::stdin().is_terminal() || !io::stderr().is_terminal() {
        return Ok(false);
    }
    stdio::tell(title);
    for line in what {
        stdio::tell(&format!("  - {line}"));
    }
    io::stderr().write_all(format!("{question} [y/N] ").as_bytes())?;
    let mut answer = String::new();
    io::stdin().lock().read_line(&mut answer)?;
    Ok(matches!(answer.trim(), "y" | "Y" | "yes"))
}
