//! Data to stdout, messages to stderr. A reader that goes away is no error.

use std::io::{self, IsTerminal, Write};
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::Result;
use clap::Args;
use ramline_kernel::{KernelError, stdio};
use ramline_units::{escape_json, printable};
use ramline_view::text::Style;
use serde::Serialize;

/// The option every command with data has.
#[derive(Debug, Clone, Copy, Args)]
pub struct Format {
    /// Print one JSON document, sizes in bytes
    #[arg(long)]
    pub json: bool,
}

static EVERYWHERE: AtomicBool = AtomicBool::new(false);

impl Format {
    /// `ramline --json COMMAND` says it for the command.
    pub fn for_all_commands(self) {
        EVERYWHERE.store(self.json, Ordering::Relaxed);
    }

    /// One JSON document is wanted.
    pub fn is_json(self) -> bool {
        self.json || EVERYWHERE.load(Ordering::Relaxed)
    }

    /// Prints a view-model as text or as JSON.
    ///
    /// # Errors
    /// stdout cannot be written.
    pub fn print<T: Serialize>(self, model: &T, render: impl FnOnce(&T, &Style) -> String) -> Result<()> {
        if self.is_json() { json(model) } else { text(&render(model, &style())) }
    }
}

/// A document whose data carry no version of their own.
#[derive(Debug, Serialize)]
pub struct Versioned<'a, T> {
    schema_version: u64,
    #[serde(flatten)]
    data: &'a T,
}

impl<'a, T> Versioned<'a, T> {
    /// The data as a document of the current version.
    pub const fn new(data: &'a T) -> Self {
        Versioned { schema_version: ramline_view::SCHEMA_VERSION, data }
    }

    /// The data.
    pub const fn data(&self) -> &'a T {
        self.data
    }
}

/// Writes text to stdout, with what a terminal would act on written out; a broken pipe ends the program quietly.
///
/// # Errors
/// stdout is closed, or cannot be written for another reason.
pub fn text(text: &str) -> Result<()> {
    stdio::refuse_closed_stdout()?;
    let mut out = io::stdout().lock();
    match out.write_all(printable(text, style().colour).as_bytes()).and_then(|()| out.flush()) {
        Err(e) if e.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        other => Ok(other.map_err(|error| KernelError::io("write to", "standard output", error))?),
    }
}

/// Writes a value as JSON, one line per document.
///
/// # Errors
/// As [`text`].
pub fn json(value: &impl Serialize) -> Result<()> {
    text(&document(value)?)
}

/// A value as JSON on one line, for a file or a stream.
///
/// # Errors
/// It cannot be written as JSON.
pub fn document(value: &impl Serialize) -> Result<String> {
    Ok(escape_json(&serde_json::to_string(value)?).into_owned() + "\n")
}

/// Colour is for terminals, and NO_COLOR is honoured; text is at most 100 columns wide.
pub fn style() -> Style {
    let terminal = io::stdout().is_terminal();
    let colour = terminal && std::env::var_os("NO_COLOR").is_none_or(|v| v.is_empty());
    let columns = terminal_size::terminal_size_of(io::stdout()).map_or(100, |(w, _)| usize::from(w.0));
    Style { colour, width: columns.clamp(40, 100) }
}
