//! The smallest memory limit at which a command still runs within x % of its unlimited time: from raw records, step by step.
//!
//! Runs without a limit and runs at a limit alternate. A limit is **enough** when every run there (from three on) stayed within x %
//! of the median of all unlimited runs, **too small** when every run was beyond it (or did not end), or one was killed. Where the
//! runs disagree there are more, up to seven, and then the 95 % interval of their median decides, or the limit stays undecided. The
//! search halves the largest open gap, in ratios, until no gap is wider than the resolution. Far from the knee one run is enough to
//! go on: one within half of x %, or one beyond four times x % (or given up). The two limits of the answer get all their runs
//! before the search ends, and where those disagree with the one, it goes on from there. At the end it looks once above and once
//! below, whether more memory is still enough and less is still too small.
//!
//! ```
//! use ramline_evidence::knee::{KneeAsked, Knee};
//! use ramline_units::Bytes;
//! let asked = KneeAsked { within: 0.1, resolution: 0.05, runs: 3, start: Bytes::from_mib(100) };
//! assert_eq!(Knee::of(&[], asked).next(), Some(Bytes::from_mib(100)));
//! ```

use crate::prelude::*;
use crate::record::Verdict;

/// The arm without a limit.
pub const UNLIMITED: &str = "unlimited";
/// The setting of the other arm, in bytes.
pub const LIMIT: &str = "limit_bytes";
/// The setting of every arm that says where the search began, in bytes.
pub const START: &str = "start_bytes";
/// Limits are multiples of this: the kernel charges a group in batches of 64 pages per processor.
pub const STEP: Bytes = Bytes::from_kib(256);
/// Runs at a limit where they disagree.
const MOST_RUNS: usize = 7;
/// The search goes down to this part of where it began.
const LOWEST_PART: u64 = 64;
/// Within this part of x % one run is enough to go on.
const WELL_WITHIN: f64 = 0.5;
/// Beyond so many times x % one run is enough to go on.
const FAR_BEYOND: f64 = 4.0;

/// What was asked for.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct KneeAsked {
    /// So much slower than unlimited is still well: 0.1 is 10 %.
    pub within: f64,
    /// The interval is narrow enough at this ratio less 1.
    pub resolution: f64,
    /// Runs at a limit where they agree.
    pub runs: usize,
    /// The first limit: what the command used at most without one.
    pub start: Bytes,
}

/// What the runs at one limit say.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Judged {
    /// More runs are needed.
    Open,
    /// Within x % of the unlimited time.
    Enough,
    /// Beyond it, not ended in time, or killed.
    TooSmall,
    /// The runs disagree, also after seven: the knee is here.
    Between,
}

/// One limit that was tried.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Probe {
    /// The limit (bytes).
    pub limit: Bytes,
    /// Runs.
    pub n: usize,
    /// Of these, killed because the group was out of memory.
    pub killed: usize,
    /// Of these, not ended in time.
    pub late: usize,
    /// Median time over the unlimited median; of runs that ended.
    pub ratio: Option<f64>,
    /// The smallest and largest of these ratios.
    pub range: Option<(f64, f64)>,
    /// What follows.
    pub judged: Judged,
}

impl Probe {
    /// Runs that ended by themselves.
    #[must_use]
    pub const fn completed(&self) -> usize {
        self.n.saturating_sub(self.killed).saturating_sub(self.late)
    }
}

/// What the records say so far.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Knee {
    /// What was asked for.
    pub asked: KneeAsked,
    /// The unlimited time (seconds); `None` before the first run.
    pub unlimited: Option<Measurement>,
    /// The most memory the unlimited runs used (bytes): with page cache, which is used because it is there.
    pub unlimited_peak: Option<Bytes>,
    /// The limits that were tried, from small to large.
    pub probes: Vec<Probe>,
    /// The largest limit that is surely too small.
    pub too_small: Option<Bytes>,
    /// The smallest limit that is surely enough, and above which none was too small.
    pub enough: Option<Bytes>,
    /// No limit was enough below one that was too small.
    pub monotonic: bool,
    /// What qualifies it, in sentences.
    pub doubts: Vec<String>,
}

struct Run<'a> {
    limit: Option<Bytes>,
    verdict: &'a Verdict,
    wall: f64,
}

impl Run<'_> {
    /// Its time, where it ended by itself.
    fn completed(&self) -> Option<f64> {
        (*self.verdict == Verdict::Completed).then_some(self.wall)
    }
}

impl Knee {
    /// From the records of a series, in any order.
    #[must_use]
    pub fn of(records: &[RunRecord], asked: KneeAsked) -> Knee {
        let runs: Vec<Run<'_>> = records.iter().filter_map(run).collect();
        let free: Vec<f64> = runs.iter().filter(|run| run.limit.is_none()).filter_map(Run::completed).collect();
        let unlimited = Measurement::of(&free, "s", "wall clock, no limit", &[]);
        let mut probes = Vec::new();
        if let Some(time) = unlimited.as_ref().map(|measured| measured.median).filter(|median| *median > 0.0) {
            let mut limits: Vec<Bytes> = runs.iter().filter_map(|run| run.limit).collect();
            limits.sort_unstable();
            limits.dedup();
            probes = limits.into_iter().map(|limit| probe(limit, &runs, time, asked)).collect();
        }
        let is = |judged: Judged| move |probe: &&Probe| probe.judged == judged;
        let too_small = probes.iter().filter(is(Judged::TooSmall)).map(|probe| probe.limit).max();
        let above = |probe: &&Probe| too_small.is_none_or(|small| probe.limit > small);
        let enough = probes.iter().filter(is(Judged::Enough)).filter(above).map(|probe| probe.limit).min();
        let least_enough = probes.iter().filter(is(Judged::Enough)).map(|probe| probe.limit).min();
        let monotonic = too_small.zip(least_enough).is_none_or(|(small, enough)| enough > small);
        let of_unlimited = records.iter().filter(|record| record.arm.name == UNLIMITED);
        let unlimited_peak =
            of_unlimited.filter_map(|record| record.after.get("group.peak_bytes")).max().copied().map(Bytes);
        let mut knee =
            Knee { asked, unlimited, unlimited_peak, probes, too_small, enough, monotonic, doubts: Vec::new() };
        knee.doubts = knee.doubts();
        knee
    }

    /// The same with what was asked for taken from the records themselves; `None` without any.
    #[must_use]
    pub fn from_records(records: &[RunRecord]) -> Option<Knee> {
        let first = records.first()?;
        let text = |name: &str| first.parameters.get(name)?.first().map(String::as_str);
        let asked = KneeAsked {
            within: text("within").and_then(share)?,
            resolution: text("resolution").and_then(share)?,
            runs: text("runs")?.parse().ok()?,
            start: setting(first, START)?,
        };
        Some(Knee::of(records, asked))
    }

    /// The limit to try next; `None` when the knee is found, or cannot be.
    #[must_use]
    pub fn next(&self) -> Option<Bytes> {
        let KneeAsked { start, resolution, .. } = self.asked;
        // A limit that was begun is finished before another is tried.
        if let Some(open) = self.probes.iter().find(|probe| probe.judged == Judged::Open) {
            return Some(open.limit);
        }
        let Some(largest) = self.probes.last().map(|probe| probe.limit) else {
            return Some(rounded(start.as_f64()));
        };
        let Some(enough) = self.enough else {
            // Not even what it used without a limit was enough: perhaps a little more is. Then the machine is not quiet enough.
            let more = rounded(largest.as_f64() * 1.5);
            return (more.0 <= start.0.saturating_mul(4)).then_some(more);
        };
        let floor = rounded(Bytes(start.0 / LOWEST_PART).as_f64());
        let low = self.too_small.unwrap_or(floor);
        let mut points: Vec<Bytes> = vec![low, enough];
        points.extend(self.probes.iter().map(|probe| probe.limit).filter(|limit| *limit > low && *limit < enough));
        points.sort_unstable();
        let gaps = points.windows(2).filter_map(|pair| pair.first().zip(pair.last()));
        let wide = |(low, high): &(&Bytes, &Bytes)| {
            high.as_f64() > low.as_f64() * (1.0 + resolution) && high.0 - low.0 > STEP.0
        };
        let ratio = |(low, high): &(&Bytes, &Bytes)| high.as_f64() / low.as_f64();
        if let Some((low, high)) = gaps.filter(wide).max_by(|a, b| ratio(a).total_cmp(&ratio(b))) {
            let middle = rounded((low.as_f64() * high.as_f64()).sqrt());
            // Limits of records from elsewhere may be less than two steps apart.
            return Some(middle.min(high.saturating_sub(STEP)).max(*low + STEP));
        }
        // The answer rests on all runs, not on the one that showed the way.
        if let Some(bound) = self.probes.iter().find(|probe| self.is_bound(probe) && !self.is_sure(probe)) {
            return Some(bound.limit);
        }
        self.counter_check(low, enough)
    }

    fn is_bound(&self, probe: &Probe) -> bool {
        [self.too_small, self.enough].contains(&Some(probe.limit))
    }

    /// Judged by all its runs, or by one that was killed.
    const fn is_sure(&self, probe: &Probe) -> bool {
        probe.n >= self.asked.runs || probe.killed > 0
    }

    /// Once a little above and once a little below what was found.
    fn counter_check(&self, low: Bytes, enough: Bytes) -> Option<Bytes> {
        let tried = |limit: Bytes| self.probes.iter().any(|probe| probe.limit == limit);
        let above = rounded(enough.as_f64() * 1.25);
        if !tried(above) && !self.probes.iter().any(|probe| probe.limit > enough && probe.limit <= above) {
            return Some(above);
        }
        let below = rounded(low.as_f64() * 0.8);
        let looked = self.probes.iter().any(|probe| probe.limit < low && probe.limit >= below);
        (self.too_small.is_some() && below.0 > 0 && below < low && !looked).then_some(below)
    }

    fn doubts(&self) -> Vec<String> {
        let mut out = Vec::new();
        let percent = |share: f64| format!("{:.0} %", share * 100.0);
        if let Some(free) = &self.unlimited {
            let spread = (free.max - free.min) / free.median;
            if spread > self.asked.within {
                let (spread, within) = (percent(spread), percent(self.asked.within));
                let finer = format!("{within} is finer than what this machine can tell");
                out.push(format!("the unlimited runs alone differ by {spread}: {finer}"));
            }
        }
        if !self.monotonic {
            let why = "the command, or the machine, is not steady";
            out.push(format!("more memory was once too small where less was enough: {why}"));
        }
        for probe in self.probes.iter().filter(|probe| probe.judged == Judged::Between) {
            // Above a limit that was enough it cannot be the memory.
            let above = self.enough.is_some_and(|enough| probe.limit > enough);
            let why = if above { "though less was enough: the machine was not steady" } else { "the knee is there" };
            out.push(format!("at {} the runs disagree, also after {}: {why}", probe.limit, probe.n));
        }
        out
    }

    /// The time at each limit that was tried, in their order, of the longest (0 to 1); `None` where no run ended.
    pub fn shares(&self) -> impl Iterator<Item = Option<f64>> + '_ {
        let longest = self.probes.iter().filter_map(|probe| probe.ratio).reduce(f64::max).filter(|most| *most > 0.0);
        self.probes.iter().map(move |probe| Some(probe.ratio? / longest?))
    }

    /// The result in one sentence.
    #[must_use]
    pub fn sentence(&self) -> String {
        let within = format!("{:.0} %", self.asked.within * 100.0);
        let stay = format!("enough to stay within {within} of the unlimited time");
        match (self.too_small, self.enough) {
            (Some(small), Some(enough)) => format!("{enough} is surely {stay}, {small} surely is not"),
            (None, Some(enough)) => format!("{enough} is {stay}; no limit tried was too small"),
            (_, None) => format!("no limit was found at which the command stays within {within} of its unlimited time"),
        }
    }
}

/// `10%` or `0.1` as a share.
#[must_use]
pub fn share(text: &str) -> Option<f64> {
    let value: f64 = match text.trim().strip_suffix('%') {
        Some(percent) => percent.trim().parse::<f64>().ok()? / 100.0,
        None => text.trim().parse().ok()?,
    };
    (value.is_finite() && value > 0.0 && value <= 10.0).then_some(value)
}

fn setting(record: &RunRecord, name: &str) -> Option<Bytes> {
    record.arm.settings.get(name)?.parse().ok().map(Bytes)
}

fn run(record: &RunRecord) -> Option<Run<'_>> {
    let wall = record.figures.iter().find(|figure| figure.name == "wall")?.value;
    let limit = setting(record, LIMIT);
    (limit.is_some() || record.arm.name == UNLIMITED).then_some(Run { limit, verdict: &record.verdict, wall })
}

fn probe(limit: Bytes, runs: &[Run<'_>], time: f64, asked: KneeAsked) -> Probe {
    let here: Vec<&Run<'_>> = runs.iter().filter(|run| run.limit == Some(limit)).collect();
    let count = |what: fn(&Verdict) -> bool| here.iter().filter(|run| what(run.verdict)).count();
    let late = count(|verdict| matches!(verdict, Verdict::Thrashing(_)));
    // A command that gives up under a limit, and not without one, had too little as well.
    let killed = count(|verdict| matches!(verdict, Verdict::Killed(_) | Verdict::Failed(_)));
    let ended: Vec<f64> = here.iter().filter_map(|run| Some(run.completed()? / time)).collect();
    let measured = Measurement::of(&ended, "", "", &[]);
    // A run that was given up is beyond any share; on a busy machine that may be chance, so alone it decides nothing.
    let all: Vec<f64> = ended.iter().copied().chain(std::iter::repeat_n(f64::INFINITY, late)).collect();
    let judged = if killed > 0 { Judged::TooSmall } else { judge(&all, asked) };
    Probe {
        limit,
        n: here.len(),
        killed,
        late,
        ratio: measured.as_ref().map(|measured| measured.median),
        range: measured.as_ref().map(|measured| (measured.min, measured.max)),
        judged,
    }
}

fn judge(ratios: &[f64], asked: KneeAsked) -> Judged {
    let threshold = 1.0 + asked.within;
    let within = ratios.iter().filter(|ratio| **ratio <= threshold).count();
    // Runs at a bound that are still to come, and the one that showed the way, are judged alike.
    let near = |ratio: &f64| *ratio > 1.0 + asked.within * WELL_WITHIN && *ratio <= 1.0 + asked.within * FAR_BEYOND;
    if ratios.len() < asked.runs && (ratios.is_empty() || ratios.iter().any(near)) {
        return Judged::Open;
    }
    if ratios.len() < MOST_RUNS.max(asked.runs) {
        return match within {
            n if n == ratios.len() => Judged::Enough,
            0 => Judged::TooSmall,
            _ => Judged::Open,
        };
    }
    let sorted = study::sorted(ratios);
    match sorted.and_then(|sorted| study::bootstrap_median(&sorted, study::SEED)) {
        Some(interval) if interval.high <= threshold => Judged::Enough,
        Some(interval) if interval.low > threshold => Judged::TooSmall,
        _ => Judged::Between,
    }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped to what a machine may have")]
fn rounded(bytes: f64) -> Bytes {
    let steps = (bytes.clamp(0.0, 1e15) / STEP.as_f64()).round() as u64;
    Bytes(steps.max(1) * STEP.0)
}

#[cfg(test)]
mod tests;
