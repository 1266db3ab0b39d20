//! `ramline explain kill`: who was killed, by whom and why, from a log of this machine or another.

use ramline_advice::kill::explained;
use ramline_kernel::log;
use ramline_model::kill;
use ramline_snapshot::kernel_log::{KernelLog, LogReader, Stamp};

use crate::prelude::*;

/// The name of the topic.
pub const TOPIC: &str = "kill";

/// Runs the command.
///
/// # Errors
/// The log cannot be read, the time is none, or nothing was killed then.
pub fn run(file: Option<&Path>, at: Option<&str>, format: Format, source: &Source) -> Result<u8> {
    let at = at.map(asked).transpose()?;
    let log = match file {
        Some(file) => read(file)?,
        None => of_this_machine(source)?,
    };
    let kill = kill::explain(&log, at.as_ref()).map_err(|error| {
        Failure::usage(format!(
            "{error}\n  try: ramline explain kill{}",
            file.map(|file| format!(" {}", ramline_units::quoted_path(file))).unwrap_or_default()
        ))
    })?;
    format.versioned(&explained(kill))?;
    Ok(exit::DONE)
}

fn asked(text: &str) -> Result<Stamp> {
    let error = || {
        let text = ramline_view::escape(text);
        Failure::usage(format!(
            "--at {text}: no time\n  try: --at 00:46, --at '2026-11-30 00:46', or seconds since boot: --at 2760.5"
        ))
    };
    Ok(Stamp::from_asked(text).ok_or_else(error)?)
}

fn read(file: &Path) -> Result<KernelLog> {
    let mut reader = LogReader::default();
    log::named("read the log", file, |piece| reader.feed(piece))?;
    Ok(reader.finish())
}

/// The journal, which holds earlier boots and the programs that kill; without one, or without a kill in it, the kernel's own buffer.
fn of_this_machine(source: &Source) -> Result<KernelLog> {
    source.must_be_live("explain kill")?;
    let mut reader = LogReader::default();
    let journal = log::journal(|piece| reader.feed(piece));
    let read = reader.finish();
    if !read.events.is_empty() {
        return Ok(read);
    }
    let mut reader = LogReader::default();
    match (log::buffer(&source.kernel_root()?, |piece| reader.feed(piece)), journal) {
        (Ok(()), _) => Ok(reader.finish()),
        // The journal was there, and holds no kill that this user may see.
        (Err(_), Ok(())) if read.lines > 0 => Ok(read),
        (Err(error), _) => Err(error.or_hint("sudo ramline explain kill, or: ramline explain kill FILE").into()),
    }
}
