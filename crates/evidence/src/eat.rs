//! The series of the experiment eat-memory: what a sandbox and the machine showed while memory was taken step by step.
//!
//! The record's `detail`, and the conclusions that are functions of it. Claims between arms are the table's.

use crate::free::FreeGauges;
use crate::prelude::*;

/// From here on swap in use is a decision of the kernel and not the noise of counters kept per processor.
pub const SWAPPING_FROM: Bytes = Bytes::from_mib(1);

/// What the eater is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum EatStage {
    /// Nothing yet.
    #[default]
    Start,
    /// Writing the memory that nobody will look at again.
    Idle,
    /// Reading the files.
    Cache,
    /// Eating.
    Eat,
    /// Reading the files again.
    Refill,
}

impl EatStage {
    /// In a word.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            EatStage::Start => "start",
            EatStage::Idle => "idle",
            EatStage::Cache => "read",
            EatStage::Eat => "eat",
            EatStage::Refill => "read again",
        }
    }
}

/// One look. The eater stands still meanwhile.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct EatPoint {
    /// Since the eater was let go.
    pub at: Nanos,
    /// What it was doing.
    pub stage: EatStage,
    /// Eaten so far.
    pub eaten: Bytes,
    /// Read so far in this stage.
    pub read: Bytes,
    /// The group as a small machine: its limit is the total.
    pub sandbox: FreeGauges,
    /// Anonymous memory of the group.
    pub anon: Bytes,
    /// Dirty or under writeback in the group.
    pub dirty: Bytes,
    /// The whole machine.
    pub host: FreeGauges,
}

/// All looks of one run.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct EatRun {
    /// One step.
    pub step: Bytes,
    /// Limit of the group; `None` in an arm without.
    pub limit: Option<Bytes>,
    /// Size of the files.
    pub tree: Bytes,
    /// Eaten in whole steps at the end, also of those after the last look.
    pub eaten: Bytes,
    /// In order.
    pub points: Vec<EatPoint>,
}

/// What eating took from the rest of the sandbox.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EatTaken {
    /// From the page cache.
    pub cached: Bytes,
    /// Swapped out meanwhile.
    pub swapped: Bytes,
}

/// Where swapping began, of settings that differ in swappiness only, one run of each.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SwapStart {
    /// What else the settings say, joined by `+`; empty where there is nothing.
    pub rest: String,
    /// The largest swappiness below `first` without swapping (0 to 200).
    pub without: u32,
    /// The smallest with swapping.
    pub first: u32,
    /// A larger one than `first` went without, too.
    pub uneven: bool,
}

/// Of the names of settings (`cache+swap:60`) and their runs; settings where swapping began always or never say nothing.
#[must_use]
pub fn swap_starts(runs: &[(&str, &EatRun)]) -> Vec<SwapStart> {
    let mut series: Vec<(String, Vec<(u32, bool)>)> = Vec::new();
    for (name, run) in runs {
        let value = name.split('+').find_map(|part| part.strip_prefix("swap:")?.parse().ok());
        let Some(value) = value else { continue };
        let rest: Vec<&str> = name.split('+').filter(|part| !part.starts_with("swap:")).collect();
        let rest = rest.join("+");
        let began = (value, run.swapping_began().is_some());
        match series.iter_mut().find(|(known, _)| *known == rest) {
            Some((_, all)) => all.push(began),
            None => series.push((rest, vec![began])),
        }
    }
    let start = |(rest, all): (String, Vec<(u32, bool)>)| {
        let first = all.iter().filter(|(_, began)| *began).map(|(value, _)| *value).min()?;
        let without = all.iter().filter(|(value, began)| !began && *value < first).map(|(value, _)| *value).max()?;
        let uneven = all.iter().any(|(value, began)| !began && *value > first);
        Some(SwapStart { rest, without, first, uneven })
    };
    series.into_iter().filter_map(start).collect()
}

impl EatRun {
    /// The run in the detail of a record of this experiment.
    #[must_use]
    pub fn from_detail(detail: &serde_json::Value) -> Option<EatRun> {
        EatRun::deserialize(detail).ok()
    }

    /// What was shown just before eating began.
    #[must_use]
    pub fn before(&self) -> Option<&EatPoint> {
        self.points.iter().rfind(|point| point.stage != EatStage::Refill && point.eaten == Bytes::ZERO)
    }

    /// The last look while it ate.
    #[must_use]
    pub fn last(&self) -> Option<&EatPoint> {
        self.points.iter().rfind(|point| point.stage == EatStage::Eat && point.eaten > Bytes::ZERO)
    }

    /// The last look after the files were read again.
    #[must_use]
    pub fn refilled(&self) -> Option<&EatPoint> {
        self.points.iter().rfind(|point| point.stage == EatStage::Refill)
    }

    /// The first look at which the sandbox had swapped.
    #[must_use]
    pub fn swapping_began(&self) -> Option<&EatPoint> {
        self.points.iter().find(|point| point.sandbox.swap_used >= SWAPPING_FROM)
    }

    /// Obtained for each byte that `free` called free; `None` where it said nothing was.
    #[must_use]
    pub fn times_free(&self) -> Option<f64> {
        self.eaten.share_of(self.before()?.sandbox.free)
    }

    /// What left the page cache while it ate, and what was swapped; `None` where the cache did not shrink.
    #[must_use]
    pub fn taken(&self) -> Option<EatTaken> {
        let (before, last) = (&self.before()?.sandbox, &self.last()?.sandbox);
        let cached = before.cached.saturating_sub(last.cached);
        (cached > Bytes::ZERO).then(|| EatTaken { cached, swapped: last.swap_used.saturating_sub(before.swap_used) })
    }

    /// True where the sandbox could swap at all.
    #[must_use]
    pub fn has_swap(&self) -> bool {
        self.points.iter().any(|point| point.sandbox.swap_total > Bytes::ZERO)
    }

    /// So many looks, evenly spread, with the first and the last of each stage, and the one at which swapping began.
    #[must_use]
    pub fn thinned(&self, most: usize) -> Vec<&EatPoint> {
        let every = self.points.len().div_ceil(most.max(1)).max(1);
        let turns = |index: usize| {
            let stage = |index: usize| self.points.get(index).map(|point| point.stage);
            index == 0 || stage(index) != stage(index + 1)
        };
        let began = self.swapping_began();
        let keep = |index: usize, point: &EatPoint| {
            turns(index) || began == Some(point) || (index.is_multiple_of(every) && !turns(index + 1))
        };
        self.points.iter().enumerate().filter(|(index, point)| keep(*index, point)).map(|(_, point)| point).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn point(stage: EatStage, eaten: u64, swap: Bytes) -> EatPoint {
        let sandbox = FreeGauges { free: Bytes::from_mib(10), swap_used: swap, ..FreeGauges::default() };
        EatPoint { stage, eaten: Bytes::from_mib(eaten), sandbox, ..EatPoint::default() }
    }

    fn run() -> EatRun {
        let (none, some) = (Bytes::from_kib(900), Bytes::from_mib(3));
        EatRun {
            eaten: Bytes::from_mib(45),
            points: vec![
                point(EatStage::Start, 0, Bytes::ZERO),
                point(EatStage::Cache, 0, Bytes::ZERO),
                point(EatStage::Eat, 20, none),
                point(EatStage::Eat, 40, some),
                point(EatStage::Refill, 45, some),
            ],
            ..EatRun::default()
        }
    }

    #[test]
    fn what_was_obtained_stands_against_what_was_free_before() {
        let run = run();
        assert_eq!(run.before().map(|point| point.stage), Some(EatStage::Cache));
        assert_eq!(run.last().map(|point| point.eaten), Some(Bytes::from_mib(40)));
        assert_eq!(run.times_free(), Some(4.5));
        assert_eq!(EatRun::default().times_free(), None);
    }

    #[test]
    fn less_than_a_mebibyte_is_not_yet_swapping() {
        assert_eq!(run().swapping_began().map(|point| point.eaten), Some(Bytes::from_mib(40)));
        assert_eq!(EatRun::default().swapping_began(), None);
    }

    #[test]
    fn what_left_the_cache_stands_beside_what_was_swapped() {
        let mut run = run();
        assert_eq!(run.taken(), None, "the cache did not shrink");
        run.points[1].sandbox.cached = Bytes::from_mib(224);
        run.points[3].sandbox.cached = Bytes::from_mib(45);
        assert_eq!(run.taken(), Some(EatTaken { cached: Bytes::from_mib(179), swapped: Bytes::from_mib(3) }));
        assert!(!run.has_swap());
    }

    #[test]
    fn where_swapping_begins_lies_between_two_settings_that_differ_in_swappiness_only() {
        let (never, some) = (EatRun::default(), run());
        let mut runs = vec![
            ("cache+swap:0", &never),
            ("cache+swap:20", &never),
            ("cache+swap:60", &some),
            ("idle+swap:60", &some),
        ];
        let start = SwapStart { rest: "cache".to_owned(), without: 20, first: 60, uneven: false };
        assert_eq!(swap_starts(&runs), std::slice::from_ref(&start));
        runs.push(("cache+swap:100", &never));
        assert_eq!(swap_starts(&runs), [SwapStart { uneven: true, ..start }]);
        runs.remove(2);
        assert_eq!(swap_starts(&runs), []);
    }

    #[test]
    fn thinning_keeps_the_ends_of_stages_and_where_swapping_began() {
        let mut long = EatRun::default();
        for index in 0..100 {
            let swap = if index >= 33 { Bytes::from_mib(2) } else { Bytes::ZERO };
            long.points.push(point(if index < 50 { EatStage::Cache } else { EatStage::Eat }, index, swap));
        }
        let kept: Vec<u64> = long.thinned(10).iter().map(|point| point.eaten.0 >> 20).collect();
        for must in [0, 33, 49, 99] {
            assert!(kept.contains(&must), "{must} of {kept:?}");
        }
        assert!(kept.len() <= 14, "{kept:?}");
    }
}
