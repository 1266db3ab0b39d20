//! What a run tells while it goes on, so that a terminal can draw it, and how long the rest will take.
//!
//! What it is not: a renderer. [`Silent`] is for scripts and tests.
//!
//! ```
//! use ramline_sandbox::progress::Pace;
//! use std::time::Duration;
//! let second = Duration::from_secs;
//! let mut pace = Pace::default();
//! assert_eq!(pace.left("a", 0, 4, second(1)), None); // nothing is known before the first run has ended
//! pace.ended("a", second(10));
//! pace.ended("b", second(30));
//! // The third of four has run for 4 s of about 10; the fourth takes about 20.
//! assert_eq!(pace.left("a", 2, 4, second(4)), Some(second(26)));
//! ```

use crate::prelude::*;

/// Listener of a run; every method may be left out.
pub trait Progress {
    /// What is being set up or taken down.
    fn step(&mut self, _what: &str) {}
    /// What the run that goes on is doing; nothing when its samples tell.
    fn phase(&mut self, _what: &str) {}
    /// Run number `order` (from 0) of `total` begins; `total` is 0 where the runs themselves tell when it is enough.
    fn begin(&mut self, _order: u32, _total: u32, _arm: &str) {}
    /// The picture of now, every 100 ms.
    fn sample(&mut self, _sample: &Sample) {}
    /// A run ended; the record is on disk.
    fn end(&mut self, _record: &RunRecord) {}
}

/// How long the runs took, and from that how long the rest will take.
#[derive(Debug, Clone, Default)]
pub struct Pace {
    done: Vec<(String, Duration)>,
}

impl Pace {
    /// A run of `arm` took so long, from its beginning to its end.
    pub fn ended(&mut self, arm: &str, took: Duration) {
        self.done.push((arm.to_owned(), took));
    }

    /// How long it will take from now on, when run number `order` of `total` (from 0) is one of `arm` and began `so_far` ago: the
    /// mean of the runs of that arm, or of all, and that of all for each run to come. `None` before a run has ended, and where nobody
    /// knows how many there will be (`total` is 0).
    #[must_use]
    pub fn left(&self, arm: &str, order: u32, total: u32, so_far: Duration) -> Option<Duration> {
        let mean = |of: &dyn Fn(&str) -> bool| {
            let took: Vec<Duration> = self.done.iter().filter(|(name, _)| of(name)).map(|(_, took)| *took).collect();
            Some(took.iter().sum::<Duration>() / u32::try_from(took.len()).ok().filter(|n| *n > 0)?)
        };
        let all = mean(&|_| true).filter(|_| total > 0)?;
        let this = mean(&|name| name == arm).unwrap_or(all).saturating_sub(so_far);
        Some(this + all.saturating_mul(total.saturating_sub(order).saturating_sub(1)))
    }
}

/// No listener.
#[derive(Debug, Clone, Copy, Default)]
pub struct Silent;

impl Progress for Silent {}
