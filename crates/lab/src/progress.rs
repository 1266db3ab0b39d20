//! What a run tells while it goes on, so that a terminal can draw it.
//!
//! What it is not: a renderer. [`Silent`] is for scripts and tests.

use ramline_evidence::{RunRecord, Sample};

/// Listener of a run; every method may be left out.
pub trait Progress {
    /// What is being set up or taken down.
    fn step(&mut self, what: &str) {
        let _ = what;
    }
    /// Run number `order` of `total` begins.
    fn begin(&mut self, order: u32, total: u32, arm: &str) {
        let _ = (order, total, arm);
    }
    /// The picture of now, every 100 ms.
    fn sample(&mut self, sample: &Sample) {
        let _ = sample;
    }
    /// A run ended; the record is on disk.
    fn end(&mut self, record: &RunRecord) {
        let _ = record;
    }
}

/// Tells nobody.
#[derive(Debug, Clone, Copy, Default)]
pub struct Silent;

impl Progress for Silent {}
