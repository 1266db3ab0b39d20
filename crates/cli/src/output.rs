//! Data to stdout, messages to stderr. A reader that goes away is no error.

use std::io::{self, Write};
use std::sync::atomic::{AtomicBool, Ordering};

use ramline_units::{escape_json, printable};
use ramline_view::text::plain;

use crate::prelude::*;
use crate::terminal;
pub use crate::terminal::style;

/// The option every command with data has.
#[derive(Debug, Clone, Copy, Args)]
pub struct Format {
    /// Print one JSON document, sizes in bytes
    #[arg(long)]
    pub json: bool,
}

static EVERYWHERE: AtomicBool = AtomicBool::new(false);
/// The reader of standard output has closed it: what goes on printing may end.
static READER_GONE: AtomicBool = AtomicBool::new(false);

/// What a command has to say, and its exit code.
#[derive(Debug)]
pub struct Shown {
    /// Text, or a line of JSON.
    pub text: String,
    /// It is JSON.
    pub json: bool,
    /// The exit code.
    pub code: u8,
}

impl Format {
    /// `ramline --json COMMAND` says it for the command.
    pub fn for_all_commands(self) {
        EVERYWHERE.store(self.json, Ordering::Relaxed);
    }

    /// One JSON document is wanted.
    pub fn is_json(self) -> bool {
        self.json || EVERYWHERE.load(Ordering::Relaxed)
    }

    /// A view-model as text or as JSON, not printed yet.
    ///
    /// # Errors
    /// It cannot be written as JSON.
    pub fn shown(self, model: &impl Serialize, code: u8, render: impl FnOnce(&Style) -> String) -> Result<Shown> {
        let json = self.is_json();
        Ok(Shown { text: if json { document(model)? } else { render(&style()) }, json, code })
    }

    /// Prints a view-model as text or as JSON.
    ///
    /// # Errors
    /// stdout cannot be written.
    pub fn print(self, model: &impl Serialize, render: impl FnOnce(&Style) -> String) -> Result<()> {
        self.shown(model, 0, render)?.print()
    }

    /// The same of data without a version of their own.
    ///
    /// # Errors
    /// As [`Format::print`].
    pub fn versioned(self, data: &(impl Serialize + Screen)) -> Result<()> {
        self.print(&Versioned::new(data), |style| data.text(style))
    }

    /// The same of what is a screen.
    ///
    /// # Errors
    /// As [`Format::print`].
    pub fn screen(self, model: &(impl Serialize + Screen)) -> Result<()> {
        self.print(model, |style| model.text(style))
    }
}

impl Shown {
    /// Prints it.
    ///
    /// # Errors
    /// stdout cannot be written.
    pub fn print(&self) -> Result<()> {
        if self.json { put(&self.text) } else { text(&self.text) }
    }
}

/// Writes text to stdout, with what a terminal would act on written out, and in ASCII where nothing else can be shown; a broken pipe
/// ends the program quietly.
///
/// # Errors
/// stdout is closed, or cannot be written for another reason.
pub fn text(text: &str) -> Result<()> {
    if terminal::is_plain() { put(&plain(text)) } else { put(text) }
}

/// Draws over what was drawn before: `frame` is made of lines of ours. Only this and the live screen (`ramline top`) move the cursor.
///
/// # Errors
/// As [`text`].
pub fn redraw(frame: &[&str]) -> Result<()> {
    const HOME: &[u8] = b"\x1b[H";
    const CLEAR_LINE: &[u8] = b"\x1b[K\n";
    const CLEAR_BELOW: &[u8] = b"\x1b[J";
    let colour = style().colour;
    let ascii = terminal::is_plain();
    let mut out = HOME.to_vec();
    for line in frame {
        let line = if ascii { plain(line) } else { (*line).into() };
        out.extend_from_slice(printable(&line, colour).as_bytes());
        out.extend_from_slice(CLEAR_LINE);
    }
    out.extend_from_slice(CLEAR_BELOW);
    put_bytes(&out)
}

/// The reader of standard output is gone.
pub fn reader_is_gone() -> bool {
    READER_GONE.load(Ordering::Relaxed)
}

/// A message on standard error, in ASCII where nothing else can be shown.
pub fn tell(message: &str) {
    if terminal::is_plain() { stdio::tell(&plain(message)) } else { stdio::tell(message) }
}

fn put(text: &str) -> Result<()> {
    put_bytes(printable(text, style().colour).as_bytes())
}

fn put_bytes(bytes: &[u8]) -> Result<()> {
    stdio::refuse_closed_stdout()?;
    let mut out = io::stdout().lock();
    match out.write_all(bytes).and_then(|()| out.flush()) {
        Err(e) if e.kind() == io::ErrorKind::BrokenPipe => {
            READER_GONE.store(true, Ordering::Relaxed);
            Ok(())
        }
        other => Ok(other.map_err(|error| KernelError::io("write to", "standard output", error))?),
    }
}

/// Writes a value as JSON, one line per document.
///
/// # Errors
/// As [`text`].
pub fn json(value: &impl Serialize) -> Result<()> {
    put(&document(value)?)
}

/// Writes text that is JSON already.
///
/// # Errors
/// As [`text`].
pub fn json_text(text: &str) -> Result<()> {
    put(&escape_json(text))
}

/// A value as JSON on one line, for a file or a stream.
///
/// # Errors
/// It cannot be written as JSON.
pub fn document(value: &impl Serialize) -> Result<String> {
    Ok(escape_json(&serde_json::to_string(value)?).into_owned() + "\n")
}
