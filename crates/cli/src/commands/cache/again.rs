//! The same answer again and again: on a terminal in the place of the one before, elsewhere below it.

use std::io::{self, ErrorKind, IsTerminal, Write};
use std::time::{Duration, Instant};

use anyhow::Result;
use ramline_kernel::{KernelError, signals, stdio};
use ramline_units::printable;

use crate::exit;
use crate::output;

/// A signal is seen within this time.
const SLICE: Duration = Duration::from_millis(50);
/// The upper left corner, and nothing below it.
const CLEAR: &str = "\x1b[H\x1b[2J\x1b[3J";

/// Answers until a signal comes or the reader goes away: the usual ends, exit status 0. `replaces`: a later answer may take the place of
/// an earlier one on a terminal.
///
/// # Errors
/// Those of `answer`; stdout cannot be written.
pub fn again(every: Duration, replaces: bool, mut answer: impl FnMut(bool) -> Result<String>) -> Result<u8> {
    signals::install();
    stdio::refuse_closed_stdout()?;
    let in_place = replaces && io::stdout().is_terminal() && std::env::var_os("TERM").is_none_or(|term| term != "dumb");
    let mut first = true;
    loop {
        let text = answer(first)?;
        // What was cut short by a signal is no answer.
        if signals::interrupted() {
            return Ok(exit::DONE);
        }
        let text = printable(&text, output::style().colour).into_owned();
        let text = if in_place { format!("{CLEAR}{}", top_of(&text)) } else { text };
        let mut out = io::stdout().lock();
        match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
            Err(error) if error.kind() == ErrorKind::BrokenPipe => return Ok(exit::DONE),
            other => other.map_err(|error| KernelError::io("write to", "standard output", error))?,
        }
        drop(out);
        first = false;
        let shown = Instant::now();
        while shown.elapsed() < every {
            std::thread::sleep(SLICE.min(every));
            if signals::interrupted() {
                return Ok(exit::DONE);
            }
        }
    }
}

/// As many lines as the terminal has, so that the first one stays in sight.
fn top_of(text: &str) -> String {
    let rows = terminal_size::terminal_size_of(io::stdout()).map_or(usize::MAX, |(_, rows)| usize::from(rows.0));
    text.split_inclusive('\n').take(rows.saturating_sub(1).max(1)).collect()
}
