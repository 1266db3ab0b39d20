//! What a running group missed while its size was changed: upwards by raising its limit, downwards by a slow ramp.
//!
//! Upwards the cache fills, and what is missed at each size on the way is the curve of need itself, the kernel's read-ahead included. Downwards
//! the size at which it began to lose time is the answer. It is true for what the group did in that time and no other.

use crate::prelude::*;

/// Which way the size was changed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TrialDirection {
    /// The limit was raised.
    #[default]
    Up,
    /// The group was made smaller.
    Down,
}

/// Why a trial ended.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TrialEnd {
    /// Upwards: next to nothing was missed any more.
    Settled,
    /// Upwards: it filled all that could be given.
    Full,
    /// The time was over.
    #[default]
    TimeUp,
    /// Downwards: it lost more time than the guard allows, for as long as the trial waits.
    LostTime,
    /// Downwards: it suddenly lost many times more than the guard allows.
    Burst,
    /// Downwards: nothing more could be reclaimed.
    Stuck,
    /// Downwards: without swap its anonymous memory must stay.
    Anonymous,
}

/// One moment of a trial, over the time since the one before.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TrialSample {
    /// Since the trial began.
    pub at: Nanos,
    /// What the group used at its end.
    pub size: Bytes,
    /// The limit that was tried, downwards.
    pub limit: Option<Bytes>,
    /// Misses and swap-ins a second.
    pub misses: f64,
    /// Of those, swap-ins; `None` where the kernel does not count them.
    pub swap_ins: Option<f64>,
    /// The share of the time lost by waiting for memory; `None` where it cannot be measured.
    pub lost: Option<f64>,
}

/// A whole trial.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct SizeTrial {
    /// Which way.
    pub direction: TrialDirection,
    /// Before anything was changed.
    pub before: TrialSample,
    /// On the way.
    pub samples: Vec<TrialSample>,
    /// How it ended.
    pub end: TrialEnd,
    /// Downwards: the smallest size at which it lost no more than the guard allows.
    pub held: Option<Bytes>,
    /// Downwards: the largest at which it lost more.
    pub tripped: Option<Bytes>,
    /// The share of the time that it was allowed to lose.
    pub guard: Option<f64>,
    /// Who says how much time was lost.
    pub time_lost_by: TimeLostBy,
    /// How long it took.
    pub took: Nanos,
    /// How long it lost more than the guard allows.
    pub over_guard: Nanos,
}

/// Who says how much time a group lost.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TimeLostBy {
    /// The kernel, of the group (PSI, version 2).
    GroupPressure,
    /// The kernel, of the whole machine (PSI); taken for the group's while the group missed something.
    MachinePressure,
    /// Estimated: misses, each as long as a read took the disk.
    #[default]
    Misses,
}

/// The answer, set as the limit and measured.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SizeVerified {
    /// The limit that was set.
    pub limit: Bytes,
    /// Misses a second that were predicted for it, at most.
    pub predicted: Option<f64>,
    /// Before it was set.
    pub before: TrialSample,
    /// At it.
    pub after: TrialSample,
    /// It stays; else it was put back.
    pub kept: bool,
    /// What puts it back by hand.
    pub undo: Vec<String>,
}

impl SizeTrial {
    /// Upwards: the largest size of the last samples, in which no more than this share of the first misses was left. What was missed
    /// in them belongs to it as well.
    #[must_use]
    pub fn settled_at(&self, share: f64) -> Option<Bytes> {
        let most = self.before.misses * share;
        let quiet = self.samples.iter().rev().take_while(|sample| sample.misses <= most);
        quiet.map(|sample| sample.size).max()
    }

    /// Upwards: misses a second when it had grown to this size; `None` beyond the sizes that were seen.
    #[must_use]
    pub fn misses_at(&self, size: Bytes) -> Option<f64> {
        let first = self.samples.iter().position(|sample| sample.size >= size)?;
        self.samples.get(first).map(|sample| sample.misses)
    }

    /// The last sample.
    #[must_use]
    pub fn last(&self) -> Option<&TrialSample> {
        self.samples.last()
    }

    /// The largest share of the time lost in one sample.
    #[must_use]
    pub fn worst(&self) -> Option<f64> {
        self.samples.iter().filter_map(|sample| sample.lost).max_by(f64::total_cmp)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(mib: u64, misses: f64) -> TrialSample {
        TrialSample { size: Bytes::from_mib(mib), misses, ..TrialSample::default() }
    }

    #[test]
    fn the_fill_is_the_curve_and_a_lull_on_the_way_is_not_its_end() {
        let samples = [(349, 38_829.0), (473, 300.0), (518, 13_081.0), (534, 350.0), (535, 32.0)];
        let samples = samples.map(|(mib, misses)| sample(mib, misses)).to_vec();
        let trial = SizeTrial { before: sample(200, 38_000.0), samples, ..SizeTrial::default() };
        assert_eq!(trial.settled_at(0.01), Some(Bytes::from_mib(535)));
        assert_eq!(trial.settled_at(0.0001), None);
        assert_eq!(
            [250, 400, 520, 600].map(|mib| trial.misses_at(Bytes::from_mib(mib))),
            [Some(38_829.0), Some(300.0), Some(350.0), None]
        );
    }
}
