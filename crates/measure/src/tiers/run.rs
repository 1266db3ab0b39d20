//! A measurement in progress: what is wanted, what a tier is made of, how one is timed.

use ramline_act::{ActError, RunLock};
use ramline_evidence::TierReport;
use ramline_kernel::signals;
use ramline_sandbox::progress::Progress;

use super::disk;
use super::sample::PageSample;
use super::timing::{self, Clock, Series, TimingPlan};
use crate::prelude::*;

/// The unit of all random accesses: what one fault or one read of a page brings.
pub(super) const BLOCK: u64 = 4096;
/// The unit of all sequential accesses.
pub(super) const PIECE: u64 = 1 << 20;

/// What is measured, where, and what it may touch.
#[derive(Debug, Clone)]
pub struct TierOptions {
    /// The machine. Measuring needs the live one.
    pub root: Root,
    /// A directory on the disk to measure; `/` stands for the disk under it.
    pub dir: PathBuf,
    /// At most 6 s, and nothing is written to a disk.
    pub quick: bool,
    /// Consent to a scratch zram device, and the lock under whose journal it is made; without it zram is estimated in user
    /// space. Not used when quick.
    pub scratch_zram: Option<RunLock>,
    /// Real pages to compress besides the generated ones.
    pub sample: Option<PageSample>,
    /// When it must have ended: tiers that were not measured by then are named.
    pub until: Option<Instant>,
    /// Seed of the generated pages and of the random offsets.
    pub seed: u64,
}

impl TierOptions {
    /// Everything that needs no consent, within 15 s.
    #[must_use]
    pub fn full() -> TierOptions {
        TierOptions {
            root: Root::live(),
            dir: PathBuf::from("/"),
            quick: false,
            scratch_zram: None,
            sample: None,
            until: None,
            seed: 256,
        }
    }

    /// Within 6 s, reading only.
    #[must_use]
    pub fn quick() -> TierOptions {
        TierOptions { quick: true, ..TierOptions::full() }
    }

    /// The bytes that will be written to the file system of `dir`, to be said beforehand.
    #[must_use]
    pub fn bytes_to_write(&self) -> Bytes {
        if self.quick { Bytes::ZERO } else { disk::SCRATCH }
    }

    /// What will be written and where, in one sentence; `None` when nothing is.
    #[must_use]
    pub fn announcement(&self) -> Option<String> {
        let bytes = Some(self.bytes_to_write()).filter(|bytes| *bytes > Bytes::ZERO)?;
        let dir = disk::scratch_dir(self);
        Some(format!("up to {bytes} will be written to scratch files without a name in {}", dir.display()))
    }
}

/// Why there is no report.
#[derive(Debug, thiserror::Error)]
pub enum TiersError {
    /// SIGINT or SIGTERM; everything made has been removed.
    #[error("the measurement was interrupted; nothing was left behind\n  try: ramline measure tiers")]
    Interrupted,
    /// The time given was up; [`measure`] turns it into a line of `report.skipped`.
    #[error("time was up")]
    TimeUp,
    /// One tier could not be measured; [`measure`] turns it into a line of `report.skipped`.
    #[error(transparent)]
    Kernel(#[from] KernelError),
    /// A scratch device could not be removed; the journal names it.
    #[error(transparent)]
    Act(#[from] ActError),
    /// Asked to measure a captured tree.
    #[error(
        "cannot measure the tiers of {0}: it is a captured tree, not a running machine\n  try: ramline show tiers --root {0}"
    )]
    NotLive(String),
}

/// A measurement in progress.
pub(super) struct Run<'a> {
    pub(super) options: &'a TierOptions,
    pub(super) progress: &'a mut dyn Progress,
    pub(super) clock: Clock,
    pub(super) report: TierReport,
    pub(super) written: Bytes,
    pub(super) scratch: Option<disk::Source>,
    pub(super) step: usize,
    pub(super) steps: usize,
}

/// What is put into the report for one tier.
#[derive(Default)]
pub(super) struct Tier {
    pub(super) id: String,
    pub(super) label: String,
    pub(super) series: Option<Series>,
    pub(super) throughput: Option<Measurement>,
    pub(super) method: String,
    pub(super) notes: Vec<String>,
}

impl Run<'_> {
    pub(super) fn begin(&mut self, what: &str) {
        self.step += 1;
        self.progress.step(&format!("measuring tiers, {} of {}: {what}", self.step, self.steps));
    }

    pub(super) fn tell_what_is_written(&mut self) {
        if let Some(sentence) = self.options.announcement() {
            self.progress.step(&sentence);
        }
    }

    /// A budget of milliseconds for a full run, and for a quick one.
    pub(super) fn millis(&self, full: u64, quick: u64) -> u64 {
        if self.options.quick { quick } else { full }
    }

    /// Times an operation in five batches; a signal ends it.
    pub(super) fn time(
        &self,
        plan: TimingPlan,
        group: u64,
        mut operation: impl FnMut(u64) -> Result<(), KernelError>,
    ) -> Result<Series, TiersError> {
        plan.time(&self.clock, group, |count| {
            self.go_on()?;
            operation(count).map_err(TiersError::from)
        })
    }

    /// Sequential accesses of 1 MiB through `total` bytes, over and over, for `millis`; the rate of each stretch of 16 MiB
    /// is one value, at least 3, at most 100.
    pub(super) fn sequential(
        &self,
        total: u64,
        millis: u64,
        method: &str,
        mut access: impl FnMut(u64) -> Result<(), KernelError>,
    ) -> Result<Option<Measurement>, TiersError> {
        let pieces = total / PIECE;
        let stretch = pieces.min(16);
        if stretch == 0 {
            return Ok(None);
        }
        let (start, budget) = (Instant::now(), Duration::from_millis(millis));
        let mut piece = 0;
        let mut times = Vec::new();
        while times.len() < 3 || (start.elapsed() < budget && times.len() < 100) {
            let began = Instant::now();
            for _ in 0..stretch {
                self.go_on()?;
                access(piece * PIECE)?;
                piece = (piece + 1) % pieces;
            }
            times.push(began.elapsed());
        }
        Ok(timing::throughput(stretch * PIECE, &times, method))
    }

    /// Refuses to go on after a signal, and when time is up.
    pub(super) fn go_on(&self) -> Result<(), TiersError> {
        if signals::interrupted() {
            return Err(TiersError::Interrupted);
        }
        let is_late = self.options.until.is_some_and(|until| Instant::now() >= until);
        if is_late { Err(TiersError::TimeUp) } else { Ok(()) }
    }

    pub(super) fn add(&mut self, mut tier: Tier) {
        if let Some(preempted) = tier.series.as_ref().map(|series| series.preempted).filter(|n| *n > 0) {
            tier.method.push_str(&format!("; {preempted} timings are left out: another task had the CPU during them"));
        }
        self.report.tiers.push(TierMeasurement {
            tier: tier.id,
            label: tier.label,
            latency: tier.series.as_ref().and_then(Series::latency),
            batches: tier.series.as_ref().and_then(|series| series.spread("medians of batches")),
            throughput: tier.throughput,
            method: tier.method,
            notes: tier.notes,
        });
    }

    pub(super) fn skip(&mut self, what: impl Into<String>) {
        self.report.skipped.push(what.into());
    }

    /// What the kernel refuses is skipped; every other error ends the measurement.
    pub(super) fn or_skip(&mut self, what: &str, result: Result<(), TiersError>) -> Result<(), TiersError> {
        match result {
            Err(error @ (TiersError::Kernel(_) | TiersError::TimeUp)) => self.skip(format!("{what}: {error}")),
            other => other?,
        }
        Ok(())
    }
}
