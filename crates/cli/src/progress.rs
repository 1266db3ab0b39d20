//! Progress on a terminal, on stderr; nothing when stderr is not one.

use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};
use ramline_evidence::{RunRecord, Sample};
use ramline_lab::progress::Progress;
use ramline_view::text::Style;

/// A line on the terminal that says what is going on, for how long, and what it looks like.
#[derive(Debug)]
pub struct Terminal {
    bar: ProgressBar,
    rounds: u32,
    run: (String, u32, u32),
}

impl Terminal {
    /// Starts drawing; on anything but a terminal it stays silent.
    pub fn new() -> Self {
        Terminal::rounds(ramline_lab::settings::ROUNDS)
    }

    /// The same for runs of so many rounds.
    pub fn rounds(rounds: u32) -> Self {
        let bar = ProgressBar::new_spinner();
        if let Ok(style) = ProgressStyle::with_template("{spinner} {elapsed:>4} {wide_msg}") {
            bar.set_style(style);
        }
        bar.enable_steady_tick(Duration::from_millis(120));
        Terminal { bar, rounds, run: (String::new(), 0, 0) }
    }
}

impl Progress for Terminal {
    fn step(&mut self, what: &str) {
        self.bar.set_message(ramline_view::escape(what).into_owned());
    }

    fn begin(&mut self, order: u32, total: u32, arm: &str) {
        self.run = (arm.to_owned(), order, total);
        self.bar.set_message(format!("run {}/{total} {arm}", order + 1));
    }

    fn sample(&mut self, sample: &Sample) {
        let (arm, order, total) = &self.run;
        self.bar.set_message(ramline_view::screen::live(arm, *order, *total, self.rounds, sample, &Style::default()));
    }

    fn end(&mut self, _record: &RunRecord) {
        self.bar.set_message(format!("{}: recorded", self.run.0));
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
