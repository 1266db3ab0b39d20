//! What a recorded program's pages hold, as far as it matters: what a sample of them compresses to.
//!
//! The sample is taken while the program runs, again each time it has grown by a quarter or run for twice as long, so that the last one is of nearly all it has.
//! It is compressed when the recording is over, and only lengths are kept.

use ramline_capture::{Recorded, Target};
use ramline_kernel::cgroup;
use ramline_measure::pages::{Sampled, sampled};
use ramline_trace::touches::Sample;

use crate::prelude::*;

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
    /// The most pages that were resident, and how long it had been recorded, when the last sample was taken.
    resident: u64,
    passed: Duration,
    /// The share of time that sampling may take, and when the next sample may be taken by that.
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
        let Some(ids) = ids(&root, &self.target).filter(|ids| !ids.is_empty()) else { return };
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
    let share = |(name, lengths): &(String, Vec<u16>)| {
        let sum: u64 = lengths.iter().map(|length| u64::from(*length)).sum();
        let share = Bytes(sum).share_of(Bytes(lengths.len() as u64 * 4096))?;
        Some((USUAL.contains(&name.as_str()), format!("{} to {:.0} %", ramline_view::escape(name), share * 100.0)))
    };
    let all: Vec<(bool, String)> = sample.by_algorithm.iter().filter_map(share).collect();
    let any_usual = all.iter().any(|(is_usual, _)| *is_usual);
    let named = all.into_iter().filter(|(is_usual, _)| *is_usual || !any_usual).map(|(_, text)| text);
    named.collect::<Vec<_>>().join(", ")
}

/// The processes there are now.
fn ids(root: &Root, target: &Target) -> Option<Vec<u32>> {
    match target {
        Target::Process(pid) => Some(vec![*pid]),
        Target::Group(dir) => cgroup::processes_below(root, dir).ok(),
        Target::Descendants => {
            let (mut out, mut left) = (Vec::new(), vec![std::process::id()]);
            while let Some(pid) = left.pop() {
                let children = process::process_children(root, pid).unwrap_or_default();
                left.extend(&children);
                out.extend(children);
            }
            Some(out)
        }
    }
}
