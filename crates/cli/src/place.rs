//! Files that a command writes, refused before any work where they cannot be.

use ramline_kernel::output::{Format, Output};

use crate::prelude::*;

/// A report, a snapshot or anything else that is one JSON object.
pub const JSON: Format = Format { begins: b"{\"", mode: 0o644 };
/// A page.
pub const HTML: Format = Format { begins: b"<!DOCTYPE html>", mode: 0o644 };

/// Checks a place; `hint` is a command that would work.
///
/// # Errors
/// It cannot be written.
pub fn open(path: &Path, format: Format, hint: &str) -> Result<Output> {
    Ok(Output::open(path, format, hint).map_err(|error| Failure::usage(error.to_string()))?)
}
