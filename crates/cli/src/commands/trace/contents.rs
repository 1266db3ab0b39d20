//! What a recorded program's pages hold, as far as it matters: what a sample of them compresses to.
//!
//! The sample is taken while the program runs, again each time it has grown by a quarter or run for twice as long, so that the last one is of nearly all it has.
//! It is compressed when the recording is over, and only lengths are kept.

use ramline_capture::{Recorded, Target};
use ramline_measure::pages::{Sampled, sampled};
use ramline_trace::summary::CompressedSummary;
use ramline_trace::touches::Sample;

use crate::prelude::*;

/// Bytes of a page of a recording: it is made on x86-64 alone.
const PAGE: u32 = 4096;
/// Pages of a sample: 2 MiB, and the share of those that do not compress within a twentieth.
const PAGES: usize = 512;
/// The time it may take: reads of files are not taken in meanwhile.
const TIME: Duration = Duration::from_millis(250);
/// The algorithms of zram that have a library here.
const ALGORITHMS: [&str; 6] = ["lz4", "lz4hc", "lzo", "lzo-rle", "zstd", "deflate"];

/// Samples the pages of what is recorded.
pub struct Contents {
    target: Target,
    latest: Option<Sampled>,
    /// State at the last sample: the most pages that were resident, and the time recorded.
    resident: u64,
    passed: Duration,
    /// Share of time that sampling may take, and the earliest time of the next sample by that.
    overhead: f64,
    next: Duration,
    /// Why there is no sample.
    why: Option<String>,
}

impl Contents {
    /// For this target; nothing is read yet.
    pub fn new(target: &Target, overhead: f64) -> Contents {
        let (passed, next) = (Duration::ZERO, Duration::ZERO);
        Contents { target: target.clone(), latest: None, resident: 0, passed, overhead, next, why: None }
    }

    /// Takes a sample where the program has grown or much time has passed. What cannot be read is left as it is.
    pub fn look(&mut self, so_far: &Recorded) {
        let has_grown = so_far.resident_peak > self.resident + self.resident / 4;
        if so_far.passed < self.next || !has_grown && so_far.passed < self.passed * 2 {
            return;
        }
        let begun = Instant::now();
        (self.resident, self.passed) = (so_far.resident_peak, so_far.passed);
        let root = Root::live();
        let Some(ids) = self.target.pids(&root).ok().filter(|ids| !ids.is_empty()) else { return };
        match sampled(&root, &ids, PAGES, TIME) {
            Ok(found) if found.count() == 0 => {
                let none = if found.present() == 0 { "it has no private memory" } else { "reading took too long" };
                self.why = Some(none.to_owned());
            }
            // Of a program that is about to end and has given back most of its memory, and where the time was over early, the sample before says more.
            Ok(found) if self.latest.as_ref().is_some_and(|known| is_less(&found, known)) => {}
            Ok(found) => self.latest = Some(found),
            Err(error) => self.why = Some(error.to_string().lines().next().unwrap_or_default().to_owned()),
        }
        self.next = so_far.passed + begun.elapsed().div_f64(self.overhead.max(1e-4));
    }

    /// What the pages of the last sample compress to, or why there is none.
    pub fn finish(self) -> Result<Sample, String> {
        let none = || self.why.clone().unwrap_or_else(|| "it ended before a sample was taken".to_owned());
        let algorithms = ALGORITHMS.map(str::to_owned);
        let found = self.latest.as_ref().and_then(|sampled| sampled.lengths(&algorithms).ok());
        let sample = found.map(|by_algorithm| Sample { by_algorithm });
        sample.filter(|sample| !sample.is_empty()).ok_or_else(none)
    }
}

fn is_less(found: &Sampled, known: &Sampled) -> bool {
    found.present() < known.present() / 2 || found.count() < known.count() / 2
}

/// The algorithms that a sentence names, where the sample has them.
const USUAL: [&str; 3] = ["lz4", "lzo-rle", "zstd"];

/// What was found, as part of a sentence: `lz4 to 35 %, lzo-rle to 36 %, zstd to 20 %`.
pub fn shares(sample: &Sample) -> String {
    let all: Vec<CompressedSummary> = CompressedSummary::from_sample(sample, PAGE);
    let is_usual = |one: &&CompressedSummary| USUAL.contains(&one.algorithm.as_str());
    let any_usual = all.iter().any(|one| is_usual(&one));
    let share = |one: &CompressedSummary| {
        Some(format!("{} to {:.0} %", ramline_view::escape(&one.algorithm), one.share? * 100.0))
    };
    all.iter().filter(|one| !any_usual || is_usual(one)).filter_map(share).collect::<Vec<_>>().join(", ")
}
