//! How far a long look is, on stderr: a line that moves on a terminal; elsewhere one after 3 s, and then every 10 s.

use std::cell::Cell;
use std::io::IsTerminal;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};

/// Quick looks need no word.
const FIRST: Duration = Duration::from_secs(3);
const NEXT: Duration = Duration::from_secs(10);
const MOVING: Duration = Duration::from_millis(120);

/// The line.
#[derive(Debug)]
pub struct Waiting {
    bar: ProgressBar,
    lines: bool,
    next: Cell<Duration>,
}

impl Waiting {
    /// Nothing is shown yet.
    pub fn new() -> Self {
        let bar = ProgressBar::new_spinner();
        if let Ok(style) = ProgressStyle::with_template("{spinner} {wide_msg}") {
            bar.set_style(style);
        }
        Waiting { bar, lines: !std::io::stderr().is_terminal(), next: Cell::new(FIRST) }
    }

    /// After so long; `text` is asked when it is time to show it.
    pub fn show(&self, took: Duration, text: impl FnOnce() -> String) {
        if took < self.next.get() {
            return;
        }
        let text = format!("{} so far ({} s)", text(), took.as_secs());
        if self.lines {
            ramline_kernel::stdio::tell(&format!("ramline: {text}"));
        } else {
            self.bar.set_message(text);
            self.bar.tick();
        }
        self.next.set(took + if self.lines { NEXT } else { MOVING });
    }

    /// Prints something else, which the line does not disturb.
    pub fn aside(&self, print: impl FnOnce()) {
        self.bar.suspend(print);
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
