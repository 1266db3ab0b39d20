//! The line that moves while files are read, on a terminal only.

use indicatif::{ProgressBar, ProgressStyle};
use ramline_kernel::KernelError;
use ramline_pagecache::warm::Progress;
use ramline_view::cache::moving;

/// The line.
#[derive(Debug)]
pub struct Moving(ProgressBar);

impl Moving {
    /// Begins with nothing.
    pub fn new() -> Self {
        let bar = ProgressBar::new_spinner();
        if let Ok(style) = ProgressStyle::with_template("{spinner} {elapsed:>4} {wide_msg}") {
            bar.set_style(style);
        }
        Moving(bar)
    }

    /// How far it is.
    pub fn show(&self, at: &Progress) {
        let left = at.left.map(|left| left.as_secs());
        self.0.set_message(moving(at.done, at.total, at.rate, left, at.depth));
        self.0.tick();
    }

    /// A failure, above the line.
    pub fn tell(&self, error: &KernelError) {
        self.0.suspend(|| super::tell(error));
    }
}

impl Drop for Moving {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}
