//! What every tier of memory costs on this machine: RAM, page cache, tmpfs, zram, disk, swap areas.
//!
//! What it is not: a benchmark of a device at its best. One request at a time, 4 KiB at random, because that is what a page
//! fault waits for. Scratch files have no name and a scratch zram device is in the journal: nothing is left behind.
//! From the result [`cost::cost_ratio`] derives what the balance between cache and swap would follow from the costs alone.
//!
//! ```no_run
//! use ramline_lab::progress::Silent;
//! use ramline_lab::tiers::{self, Options};
//! let measured = tiers::measure(&Options::quick(), &mut Silent)?;
//! for tier in &measured.report.tiers {
//!     println!("{:32} {:?}", tier.label, tier.latency.map(|latency| latency.p50_ns));
//! }
//! # Ok::<(), ramline_lab::tiers::TiersError>(())
//! ```

mod areas;
mod cache;
mod codec;
mod conditions;

mod disk;
mod existing;
mod ram;
mod sample;
pub mod timing;
mod zram;

use std::path::PathBuf;
use std::time::{Duration, Instant};

use ramline_act::{ActError, RunLock};
use ramline_evidence::{Measurement, TierMeasurement, TierReport};
use ramline_kernel::{KernelError, Root, signals};
use ramline_units::Bytes;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::progress::Progress;

pub use conditions::Trust;
pub use ramline_model::costs::{self as cost, CostRatio};
pub use sample::PageSample;

use timing::{Clock, Plan, Series};

/// The unit of all random accesses: what one fault or one read of a page brings.
const BLOCK: u64 = 4096;
/// The unit of all sequential accesses.
const PIECE: u64 = 1 << 20;

/// What is measured, where, and what it may touch.
#[derive(Debug, Clone)]
pub struct Options {
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
    /// Seed of the generated pages and of the random offsets.
    pub seed: u64,
}

impl Options {
    /// Everything that needs no consent, within 15 s.
    #[must_use]
    pub fn full() -> Options {
        Options {
            root: Root::live(),
            dir: PathBuf::from("/"),
            quick: false,
            scratch_zram: None,
            sample: None,
            seed: 256,
        }
    }

    /// Within 6 s, reading only.
    #[must_use]
    pub fn quick() -> Options {
        Options { quick: true, ..Options::full() }
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

/// The report and what is needed to judge it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Measured {
    /// The tiers.
    pub report: TierReport,
    /// Whether the machine was quiet enough.
    pub trust: Trust,
    /// The cost ratio and what it implies, where a disk and a swap tier were measured.
    pub cost: Option<CostRatio>,
    /// Bytes that were written to a disk.
    pub written: Bytes,
}

/// Why there is no report.
#[derive(Debug, thiserror::Error)]
pub enum TiersError {
    /// SIGINT or SIGTERM; everything made has been removed.
    #[error("the measurement was interrupted; nothing was left behind\n  try: ramline measure tiers")]
    Interrupted,
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

/// Measures all tiers.
///
/// # Errors
/// `Interrupted` by a signal (when [`signals::install`] has been called); `Act` when a scratch device could not be removed;
/// `NotLive` for a captured tree. A tier that cannot be measured is no error: it is named in `report.skipped`.
pub fn measure(options: &Options, progress: &mut dyn Progress) -> Result<Measured, TiersError> {
    if !options.root.is_live() {
        return Err(TiersError::NotLive(options.root.path("/").display().to_string()));
    }
    let start = Instant::now();
    let mut run = Run {
        options,
        progress,
        clock: Clock::calibrate(),
        report: TierReport::default(),
        written: Bytes::ZERO,
        scratch: None,
        step: 0,
    };
    let before = conditions::look(&options.root);
    run.tell_what_is_written();
    for (what, part) in PARTS {
        run.begin(what);
        match part(&mut run) {
            Err(TiersError::Kernel(error)) => run.skip(format!("{what}: {error}")),
            other => other?,
        }
    }
    run.begin("was the machine quiet?");
    let after = conditions::look(&options.root);
    let trust = conditions::trust(&before, &after, &run.report.tiers);
    let mut report = run.report;
    ramline_units::sort_by_key(&mut report.tiers, |tier| rung(&tier.tier));
    report.conditions = conditions::describe(options, &run.clock, &trust);
    report.took_s = start.elapsed().as_secs_f64();
    let cost = cost::cost_ratio(&report);
    Ok(Measured { report, trust, cost, written: run.written })
}

/// The place of a tier on the ladder of the report.
fn rung(tier: &str) -> usize {
    const LADDER: &[&str] = &[
        "ram-load",
        "ram",
        "page-cache-mmap",
        "page-cache-read",
        "page-cache-mmap-fault",
        "tmpfs",
        "zram",
        "disk",
        "swap",
    ];
    // The longest name that fits: `ram-load` is not `ram`.
    let matching = LADDER.iter().enumerate().filter(|(_, name)| tier.starts_with(**name));
    matching.max_by_key(|(_, name)| name.len()).map_or(LADDER.len(), |(rung, _)| rung)
}

type Part = fn(&mut Run<'_>) -> Result<(), TiersError>;

/// In the order of measuring; each adds its tiers.
const PARTS: &[(&str, Part)] = &[
    ("RAM", ram::measure),
    // The disk comes before the page cache, which reads the same scratch file.
    ("disk", disk::measure),
    ("page cache", cache::page_cache),
    ("tmpfs", cache::tmpfs),
    ("zram", zram::measure),
    ("swap areas", areas::measure),
];

/// A measurement in progress.
struct Run<'a> {
    options: &'a Options,
    progress: &'a mut dyn Progress,
    clock: Clock,
    report: TierReport,
    written: Bytes,
    scratch: Option<disk::Source>,
    step: usize,
}

/// What is put into the report for one tier.
struct Tier {
    id: String,
    label: String,
    series: Option<Series>,
    throughput: Option<Measurement>,
    method: String,
    notes: Vec<String>,
}

impl Run<'_> {
    fn begin(&mut self, what: &str) {
        self.step += 1;
        self.progress.step(&format!("measuring tiers, {} of {}: {what}", self.step, PARTS.len() + 1));
    }

    fn tell_what_is_written(&mut self) {
        if let Some(sentence) = self.options.announcement() {
            self.progress.step(&sentence);
        }
    }

    /// A budget of milliseconds for a full run, and for a quick one.
    fn millis(&self, full: u64, quick: u64) -> u64 {
        if self.options.quick { quick } else { full }
    }

    /// Times an operation in five batches; a signal ends it.
    fn time(
        &self,
        plan: Plan,
        group: u64,
        mut operation: impl FnMut(u64) -> Result<(), KernelError>,
    ) -> Result<Series, TiersError> {
        plan.time(&self.clock, group, |count| {
            if signals::interrupted() {
                return Err(TiersError::Interrupted);
            }
            operation(count).map_err(TiersError::from)
        })
    }

    /// Sequential accesses of 1 MiB through `total` bytes, over and over, for `millis`; the rate of each stretch of 16 MiB
    /// is one value, at least 3, at most 100.
    fn sequential(
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
                if signals::interrupted() {
                    return Err(TiersError::Interrupted);
                }
                access(piece * PIECE)?;
                piece = (piece + 1) % pieces;
            }
            times.push(began.elapsed());
        }
        Ok(timing::throughput(stretch * PIECE, &times, method))
    }

    fn add(&mut self, mut tier: Tier) {
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

    fn skip(&mut self, what: impl Into<String>) {
        self.report.skipped.push(what.into());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_report_follows_the_ladder_from_ram_to_swap() {
        let mut ids = [
            "swap:/dev/sdb",
            "disk:/",
            "zram-lz4/write",
            "tmpfs",
            "page-cache-mmap-fault",
            "page-cache-read",
            "page-cache-mmap",
            "ram",
            "ram-load",
        ];
        ids.sort_by_key(|id| rung(id));
        assert_eq!(
            ids,
            [
                "ram-load",
                "ram",
                "page-cache-mmap",
                "page-cache-read",
                "page-cache-mmap-fault",
                "tmpfs",
                "zram-lz4/write",
                "disk:/",
                "swap:/dev/sdb"
            ]
        );
    }

    #[test]
    fn a_quick_run_says_that_it_writes_nothing() {
        assert_eq!(Options::quick().bytes_to_write(), Bytes::ZERO);
        assert_eq!(Options::full().bytes_to_write(), Bytes::from_mib(256));
    }

    #[test]
    fn a_captured_tree_cannot_be_measured() {
        let options = Options { root: Root::new("/fixtures/x"), ..Options::quick() };
        let error = measure(&options, &mut crate::progress::Silent).unwrap_err();
        assert!(
            error.to_string().contains("captured tree") && error.to_string().contains("try: ramline show tiers"),
            "{error}"
        );
    }
}
