//! The smallest memory limit at which a command still runs within x % of its unlimited time: from raw records, step by step.
//!
//! Runs without a limit and runs at a limit alternate. A limit is **enough** when every run there (from three on) stayed within x %
//! of the median of all unlimited runs, **too small** when every run was beyond it (or did not end), or one was killed. Where the
//! runs disagree there are more, up to seven, and then the 95 % interval of their median decides, or the limit stays undecided. The
//! search begins at what the command used, then at the part of it that cannot be reclaimed, and halves the largest open gap, in
//! ratios, until no gap is wider than the resolution. Far from the knee one run is enough to go on: one within half of x %, or one
//! beyond four times x % (or given up, or killed). The two limits of the answer get all their runs before the search ends, and where
//! those disagree with the one, it goes on from there. At the end it looks once above and once below, whether more memory is still
//! enough and less is still too small. "Surely" is said of a limit with [`SURE`] runs or more, killed ones included.
//!
//! ```
//! use ramline_evidence::knee::{KneeAsked, Knee};
//! use ramline_units::Bytes;
//! let asked = KneeAsked { within: 0.1, resolution: 0.05, runs: 3, start: Bytes::from_mib(100), ..KneeAsked::default() };
//! assert_eq!(Knee::new(&[], asked).next(), Some(Bytes::from_mib(100)));
//! ```

mod said;

use crate::prelude::*;
use crate::record::Verdict;

/// The arm without a limit.
pub const UNLIMITED: &str = "unlimited";
/// The setting of the other arm, in bytes.
pub const LIMIT: &str = "limit_bytes";
/// The setting of every arm that says where the search began, in bytes.
pub const START: &str = "start_bytes";
/// The setting of every arm that says how much of that cannot be reclaimed, in bytes: memory without a file behind it, where there is no swap.
pub const LEAST: &str = "least_bytes";
/// The setting of every arm below which no limit is set, in bytes: a service that is in use must not be killed.
pub const FLOOR: &str = "floor_bytes";
/// The setting of every arm that names the service the limit was set on.
pub const SERVICE: &str = "service";
/// Limits are multiples of this: the kernel charges a group in batches of 64 pages per processor.
pub const STEP: Bytes = Bytes::from_kib(256);
/// So many runs at a limit make sure of it.
pub const SURE: usize = 3;
/// Runs at a limit where they disagree.
const MOST_RUNS: usize = 7;
/// The search goes down to this part of where it began.
const LOWEST_PART: u64 = 64;
/// Within this part of x % one run is enough to go on.
const WELL_WITHIN: f64 = 0.5;
/// Beyond this multiple of x % one run is enough to go on.
const FAR_BEYOND: f64 = 4.0;

/// What was asked for.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct KneeAsked {
    /// How much slower than without a limit is still acceptable: 0.1 is 10 %.
    pub within: f64,
    /// The interval is narrow enough at this ratio less 1.
    pub resolution: f64,
    /// Runs at a limit where they agree.
    pub runs: usize,
    /// The first limit: what the command used at most without one.
    pub start: Bytes,
    /// The second: what of it cannot be reclaimed; 0 where all can.
    pub least: Bytes,
    /// No limit is tried below this.
    pub floor: Bytes,
}

/// What the runs at one limit say.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "Judged")]
pub enum LimitVerdict {
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
    /// Of these, ended by themselves with an error, which the command does not without a limit.
    #[serde(default)]
    pub failed: usize,
    /// Of these, not ended in time.
    pub late: usize,
    /// Median time over the unlimited median; of runs that ended.
    pub ratio: Option<f64>,
    /// The smallest and largest of these ratios.
    pub range: Option<(f64, f64)>,
    /// Median of what was read again because it had been evicted (bytes); `None` where the kernel does not count it for a group.
    #[serde(default)]
    pub reread: Option<Bytes>,
    /// What follows.
    pub judged: LimitVerdict,
}

impl Probe {
    /// Runs that ended by themselves.
    #[must_use]
    pub const fn completed(&self) -> usize {
        self.n.saturating_sub(self.killed).saturating_sub(self.late).saturating_sub(self.failed)
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
    /// The service outside the command's group that the limit was set on; `None`: on the command itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub service: Option<String>,
    /// More runs are needed: the search was ended before its end.
    pub unfinished: bool,
    /// What qualifies it, in sentences.
    pub doubts: Vec<String>,
}

struct Run<'a> {
    limit: Option<Bytes>,
    verdict: &'a Verdict,
    wall: f64,
    reread: Option<Bytes>,
}

impl Run<'_> {
    /// Its time, where it ended by itself.
    fn completed(&self) -> Option<f64> {
        (*self.verdict == Verdict::Completed).then_some(self.wall)
    }
}

impl Knee {
    /// The knee in the records of a series, in any order.
    #[must_use]
    pub fn new(records: &[RunRecord], asked: KneeAsked) -> Knee {
        let runs: Vec<Run<'_>> = records.iter().filter_map(run).collect();
        let free: Vec<f64> = runs.iter().filter(|run| run.limit.is_none()).filter_map(Run::completed).collect();
        let unlimited = Measurement::from_values(&free, "s", "wall clock, no limit", &[]);
        let mut probes = Vec::new();
        if let Some(time) = unlimited.as_ref().map(|measured| measured.median).filter(|median| *median > 0.0) {
            let mut limits: Vec<Bytes> = runs.iter().filter_map(|run| run.limit).collect();
            limits.sort_unstable();
            limits.dedup();
            probes = limits.into_iter().map(|limit| probe(limit, &runs, time, asked)).collect();
        }
        let is = |judged: LimitVerdict| move |probe: &&Probe| probe.judged == judged;
        let too_small = probes.iter().filter(is(LimitVerdict::TooSmall)).map(|probe| probe.limit).max();
        let above = |probe: &&Probe| too_small.is_none_or(|small| probe.limit > small);
        let enough = probes.iter().filter(is(LimitVerdict::Enough)).filter(above).map(|probe| probe.limit).min();
        let least_enough = probes.iter().filter(is(LimitVerdict::Enough)).map(|probe| probe.limit).min();
        let monotonic = too_small.zip(least_enough).is_none_or(|(small, enough)| enough > small);
        let of_unlimited = records.iter().filter(|record| record.arm.name == UNLIMITED);
        let unlimited_peak =
            of_unlimited.filter_map(|record| record.after.get("group.peak_bytes")).max().copied().map(Bytes);
        let service = records.iter().find_map(|record| record.arm.settings.get(SERVICE).cloned());
        let (doubts, unfinished) = (Vec::new(), false);
        let mut knee = Knee {
            asked,
            unlimited,
            unlimited_peak,
            probes,
            too_small,
            enough,
            monotonic,
            service,
            unfinished,
            doubts,
        };
        knee.unfinished = knee.next().is_some();
        knee.doubts = knee.doubts();
        knee
    }

    /// The knee with the options in the records themselves; `None` without any.
    #[must_use]
    pub fn from_records(records: &[RunRecord]) -> Option<Knee> {
        let first = records.first()?;
        let text = |name: &str| first.parameters.get(name)?.first().map(String::as_str);
        let asked = KneeAsked {
            within: text("within").and_then(share)?,
            resolution: text("resolution").and_then(share)?,
            runs: text("runs")?.parse().ok()?,
            start: setting(first, START)?,
            least: setting(first, LEAST).unwrap_or_default(),
            floor: setting(first, FLOOR).unwrap_or_default(),
        };
        Some(Knee::new(records, asked))
    }

    /// The limit to try next; `None` when the knee is found, or cannot be.
    #[must_use]
    pub fn next(&self) -> Option<Bytes> {
        let KneeAsked { start, resolution, least, floor, .. } = self.asked;
        // A limit that was begun is finished before another is tried.
        if let Some(open) = self.probes.iter().find(|probe| probe.judged == LimitVerdict::Open) {
            return Some(open.limit);
        }
        let Some(largest) = self.probes.last().map(|probe| probe.limit) else {
            return Some(rounded(start.as_f64()).max(above(floor)));
        };
        let Some(enough) = self.enough else {
            // Not even what it used without a limit was enough: perhaps a little more is. Then the machine is not quiet enough.
            let more = rounded(largest.as_f64() * 1.5);
            return (more.0 <= start.0.saturating_mul(4)).then_some(more);
        };
        let lowest = above(floor).max(rounded(Bytes(start.0 / LOWEST_PART).as_f64()));
        let low = self.too_small.unwrap_or(lowest).max(lowest);
        let first = rounded(least.as_f64());
        // Where what cannot be reclaimed alone fills the limit, the command does not fit: nothing below need be tried.
        if self.too_small.is_none() && first > low && first + STEP < enough && !self.was_tried(first) {
            return Some(first);
        }
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

    /// Judged by all its runs.
    const fn is_sure(&self, probe: &Probe) -> bool {
        probe.n >= self.asked.runs
    }

    fn was_tried(&self, limit: Bytes) -> bool {
        self.probes.iter().any(|probe| probe.limit == limit)
    }

    /// Runs at one of the limits of the answer.
    fn runs_at(&self, limit: Bytes) -> usize {
        self.probes.iter().find(|probe| probe.limit == limit).map_or(0, |probe| probe.n)
    }

    /// Once a little above and once a little below what was found.
    fn counter_check(&self, low: Bytes, enough: Bytes) -> Option<Bytes> {
        let above = rounded(enough.as_f64() * 1.25);
        if !self.was_tried(above) && !self.probes.iter().any(|probe| probe.limit > enough && probe.limit <= above) {
            return Some(above);
        }
        let below = rounded(low.as_f64() * 0.8);
        let looked = self.probes.iter().any(|probe| probe.limit < low && probe.limit >= below);
        (self.too_small.is_some() && below > self.asked.floor && below < low && !looked).then_some(below)
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
    let wall = record.figures.iter().find(|figure| figure.name == "wall").map(|figure| figure.value);
    // A run that was cut off took no time that could be compared.
    let wall = if record.verdict == Verdict::Completed { wall? } else { wall.unwrap_or_default() };
    let limit = setting(record, LIMIT);
    let pages = record.reclaim.refault_file.map(|file| file.saturating_add(record.reclaim.refault_anon.unwrap_or(0)));
    let reread = pages.map(|pages| Bytes(pages.saturating_mul(record.machine.page_size)));
    (limit.is_some() || record.arm.name == UNLIMITED).then_some(Run { limit, verdict: &record.verdict, wall, reread })
}

fn probe(limit: Bytes, runs: &[Run<'_>], time: f64, asked: KneeAsked) -> Probe {
    let here: Vec<&Run<'_>> = runs.iter().filter(|run| run.limit == Some(limit)).collect();
    let count = |what: fn(&Verdict) -> bool| here.iter().filter(|run| what(run.verdict)).count();
    let late = count(|verdict| matches!(verdict, Verdict::Thrashing(_)));
    let killed = count(|verdict| matches!(verdict, Verdict::Killed(_)));
    // A command that gives up under a limit, and not without one, had too little as well.
    let failed = count(|verdict| matches!(verdict, Verdict::Failed(_)));
    let ended: Vec<f64> = here.iter().filter_map(|run| Some(run.completed()? / time)).collect();
    let measured = Measurement::from_values(&ended, "", "", &[]);
    // A run that was given up is beyond any share; on a busy machine that may be chance, so alone it decides nothing.
    let all: Vec<f64> = ended.iter().copied().chain(std::iter::repeat_n(f64::INFINITY, late)).collect();
    let judged = if killed + failed > 0 { LimitVerdict::TooSmall } else { judge(&all, asked) };
    let mut reread: Vec<Bytes> = here.iter().filter_map(|run| run.reread).collect();
    reread.sort_unstable();
    Probe {
        limit,
        n: here.len(),
        killed,
        failed,
        reread: reread.get(reread.len() / 2).copied(),
        late,
        ratio: measured.as_ref().map(|measured| measured.median),
        range: measured.as_ref().map(|measured| (measured.min, measured.max)),
        judged,
    }
}

fn judge(ratios: &[f64], asked: KneeAsked) -> LimitVerdict {
    let threshold = 1.0 + asked.within;
    let within = ratios.iter().filter(|ratio| **ratio <= threshold).count();
    // Runs at a bound that are still to come, and the one that showed the way, are judged alike.
    let near = |ratio: &f64| *ratio > 1.0 + asked.within * WELL_WITHIN && *ratio <= 1.0 + asked.within * FAR_BEYOND;
    if ratios.len() < asked.runs && (ratios.is_empty() || ratios.iter().any(near)) {
        return LimitVerdict::Open;
    }
    if ratios.len() < MOST_RUNS.max(asked.runs) {
        return match within {
            n if n == ratios.len() => LimitVerdict::Enough,
            0 => LimitVerdict::TooSmall,
            _ => LimitVerdict::Open,
        };
    }
    let sorted = study::sorted(ratios);
    match sorted.and_then(|sorted| study::bootstrap_median(&sorted, study::SEED)) {
        Some(interval) if interval.high <= threshold => LimitVerdict::Enough,
        Some(interval) if interval.low > threshold => LimitVerdict::TooSmall,
        _ => LimitVerdict::Between,
    }
}

/// The smallest limit above a floor; 0 where there is none.
fn above(floor: Bytes) -> Bytes {
    if floor == Bytes::ZERO { floor } else { Bytes(floor.0.div_ceil(STEP.0).saturating_mul(STEP.0)) }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped to what a machine may have")]
fn rounded(bytes: f64) -> Bytes {
    let steps = (bytes.clamp(0.0, 1e15) / STEP.as_f64()).round() as u64;
    Bytes(steps.max(1) * STEP.0)
}

#[cfg(test)]
mod tests;
