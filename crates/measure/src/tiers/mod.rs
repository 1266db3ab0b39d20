//! What every tier of memory costs on this machine: RAM, page cache, tmpfs, zram, disk, swap areas.
//!
//! Not a device at its best: one request at a time, 4 KiB at random, because that is what a page
//! fault waits for. Scratch files have no name and a scratch zram device is in the journal: nothing is left behind.
//! From the result [`cost::cost_ratio`] derives what the balance between cache and swap would follow from the costs alone.
//!
//! ```no_run
//! use ramline_sandbox::progress::Silent;
//! use ramline_measure::tiers::{self, TierOptions};
//! let measured = tiers::measure(&TierOptions::quick(), &mut Silent)?;
//! for tier in &measured.report.tiers {
//!     println!("{:32} {:?}", tier.label, tier.latency.map(|latency| latency.p50_ns));
//! }
//! # Ok::<(), ramline_measure::tiers::TiersError>(())
//! ```

mod areas;
mod cache;
mod conditions;
mod disk;
mod existing;
mod ram;
mod run;
mod sample;
pub mod timing;
mod zram;

use ramline_evidence::TierReport;
use ramline_sandbox::progress::Progress;
use ramline_units::JsonSchema;
use serde::{Deserialize, Serialize};

pub use conditions::Trust;
pub(crate) use disk::{reached, refuse_unless_reached};
pub use ramline_model::costs::{self as cost, CostRatio};
use run::Run;
pub use run::{TierOptions, TiersError};
pub use sample::PageSample;
use timing::Clock;

use crate::prelude::*;

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

/// Measures all tiers.
///
/// # Errors
/// `Interrupted` by a signal (when [`signals::install`] has been called); `Act` when a scratch device could not be removed;
/// `NotLive` for a captured tree. A tier that cannot be measured is no error: it is named in `report.skipped`.
pub fn measure(options: &TierOptions, progress: &mut dyn Progress) -> Result<Measured, TiersError> {
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
        steps: PARTS.len() + 1,
    };
    let before = conditions::look(&options.root);
    run.tell_what_is_written();
    for (what, part) in PARTS {
        run.begin(what);
        let result = run.go_on().and_then(|()| part(&mut run));
        run.or_skip(what, result)?;
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

#[cfg(test)]
mod tests {
    use super::*;
    use ramline_kernel::Root;

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
        assert_eq!(TierOptions::quick().bytes_to_write(), Bytes::ZERO);
        assert_eq!(TierOptions::full().bytes_to_write(), Bytes::from_mib(256));
    }

    #[test]
    fn a_captured_tree_cannot_be_measured() {
        let options = TierOptions { root: Root::new("/fixtures/x"), ..TierOptions::quick() };
        let error = measure(&options, &mut ramline_sandbox::progress::Silent).unwrap_err();
        assert!(
            error.to_string().contains("captured tree") && error.to_string().contains("try: ramline show tiers"),
            "{error}"
        );
    }
}
