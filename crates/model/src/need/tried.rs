//! What is tried of a group, and the need that a trial shows.

use ramline_evidence::{FEWEST_RETURNS, NOTHING_LEFT, SizeTrial, SizeVerified, TrialDirection};

use super::{LARGEST_BATCHES, Need, NeedAnswer, NeedStep, STEPS, has_room};
use crate::groups::GroupTree;
use crate::prelude::*;

/// The most a group is given, as a multiple of its size.
const MOST_TIMES: u64 = 4;
/// Less than this much more is no trial.
const LEAST_PERCENT: u64 = 5;

/// What to try.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Direction {
    /// From its limit up to this one.
    Up {
        /// Its limit.
        limit: Bytes,
        /// The limit to try.
        ceiling: Bytes,
    },
    /// Down from what it uses; what of it may be swapped out.
    Down {
        /// Free swap that it may use.
        swap: Bytes,
    },
    /// The limit of another group is in force, to be named instead.
    Above(String),
    /// So much could be given, too little to try.
    NoMemory(Bytes),
    /// It grows: neither.
    Grows,
}

/// What to try of the group at this place of the tree, of which `need` was seen; so much memory and swap is free on the machine.
#[must_use]
pub fn direction(tree: &GroupTree, at: usize, need: &Need, available: Bytes, swap: Bytes) -> Direction {
    let Some(group) = tree.groups.get(at) else { return Direction::Grows };
    if need.answer == NeedAnswer::Fills {
        return Direction::Grows;
    }
    let reads_again = need.curve.returns >= FEWEST_RETURNS || need.curve.misses >= FEWEST_RETURNS;
    let swaps = need.swap_ins.is_some_and(|rate| rate * need.curve.watched.as_secs_f64() >= FEWEST_RETURNS as f64);
    if has_room(group) || !(reads_again || swaps) {
        let own = match group.bound.swap_room {
            Some(Limit::At(room)) => room.min(swap),
            _ => swap,
        };
        let never = group.bound.swappiness == Some(0);
        return Direction::Down { swap: if never { Bytes::ZERO } else { own } };
    }
    let limit = match (group.bound.max.and_then(Limit::bytes), &group.bound.effective_at) {
        (Some(limit), Some(at)) if *at == group.path => limit,
        (_, Some(at)) => return Direction::Above(at.clone()),
        _ => return Direction::Down { swap },
    };
    // Half of what is free stays free.
    let above = std::iter::successors(group.parent, |parent| tree.groups.get(*parent)?.parent);
    let rooms = above.filter_map(|parent| tree.groups.get(parent)?.bound.room);
    let free = rooms.fold(Bytes(available.0 / 2), Bytes::min);
    let most = limit.scale(MOST_TIMES, 1).unwrap_or(limit);
    let ceiling = most.min(limit + free);
    let least = limit.scale(100 + LEAST_PERCENT, 100).unwrap_or(limit);
    if ceiling < least { Direction::NoMemory(free) } else { Direction::Up { limit, ceiling } }
}

impl Need {
    /// With what a trial showed.
    #[must_use]
    pub fn tried(mut self, trial: SizeTrial) -> Need {
        match trial.direction {
            TrialDirection::Up => {
                let base = self.limit.unwrap_or(self.current);
                self.answer = answer_up(&trial, self.current);
                self.steps = STEPS.iter().map(|percent| step(base, *percent, &trial, self.answer)).collect();
                self.reads_ahead = None;
                self.disk = None;
            }
            TrialDirection::Down => {
                self.steps = Vec::new();
                self.current = trial.before.size;
                self.answer = match (trial.held, trial.tripped) {
                    (Some(held), Some(_)) => NeedAnswer::Size(held),
                    (Some(held), None) => NeedAnswer::AtMost(held),
                    (None, _) => NeedAnswer::Size(trial.before.size),
                };
            }
        }
        self.trial = Some(trial);
        self
    }
}

impl Need {
    /// The size of the answer; `None` where there is no answer to set.
    fn size(&self) -> Option<Bytes> {
        match self.answer {
            NeedAnswer::Size(size) | NeedAnswer::MoreThan(size, _) | NeedAnswer::AtMost(size) => Some(size),
            NeedAnswer::Enough | NeedAnswer::Fills | NeedAnswer::FirstReads => None,
        }
    }

    /// The limit that leaves it the size of the answer; `None` where there is no answer to set. Where it was made smaller, that was a limit already.
    #[must_use]
    pub fn new_limit(&self) -> Option<Bytes> {
        let size = self.size()?;
        let ahead = self.batches.min(Bytes(size.0 / LARGEST_BATCHES));
        Some(if self.grew() { size + ahead } else { size })
    }

    /// With what was measured at the answer, beside what was predicted for it.
    #[must_use]
    pub fn with_verified(mut self, verified: SizeVerified) -> Need {
        let share = match self.answer {
            NeedAnswer::Size(_) if self.grew() => Some(NOTHING_LEFT),
            NeedAnswer::MoreThan(_, left) => Some(left),
            _ => None,
        };
        self.verified = Some(SizeVerified { predicted: share.map(|share| share * verified.before.misses), ..verified });
        self
    }

    /// The answer is about more memory than it has.
    pub(super) fn grew(&self) -> bool {
        self.trial.as_ref().is_none_or(|trial| trial.direction == TrialDirection::Up)
    }
}

fn answer_up(trial: &SizeTrial, current: Bytes) -> NeedAnswer {
    if trial.before.misses <= 0.0 {
        return NeedAnswer::Enough;
    }
    let last = trial.last().copied().unwrap_or(trial.before);
    match trial.settled_at(NOTHING_LEFT) {
        Some(size) => NeedAnswer::Size(size.max(current)),
        None => NeedAnswer::MoreThan(last.size.max(current), last.misses / trial.before.misses),
    }
}

fn step(base: Bytes, percent: u64, trial: &SizeTrial, answer: NeedAnswer) -> NeedStep {
    let more = base.scale(percent - 100, 100).unwrap_or_default();
    let size = base + more;
    let beyond = trial.last().filter(|_| matches!(answer, NeedAnswer::Size(_))).map(|last| last.misses);
    let misses_per_second = trial.misses_at(size).or(beyond);
    let left = misses_per_second.filter(|_| trial.before.misses > 0.0).map(|misses| misses / trial.before.misses);
    NeedStep { size, more, left, at_most: None, misses_per_second }
}

#[cfg(test)]
mod tests {
    use super::super::tests::empty as need;
    use super::*;
    use ramline_evidence::{TrialEnd, TrialSample};

    fn sample(mib: u64, misses: f64) -> TrialSample {
        TrialSample { size: Bytes::from_mib(mib), misses, ..TrialSample::default() }
    }

    #[test]
    fn a_fill_gives_the_size_at_which_nothing_is_missed_and_what_is_missed_below() {
        let samples = [(349, 38_829.0), (473, 33_915.0), (518, 13_081.0), (535, 350.0), (535, 32.0)];
        let samples = samples.map(|(mib, misses)| sample(mib, misses)).to_vec();
        let up = |samples: &[TrialSample]| SizeTrial {
            before: sample(200, 38_000.0),
            samples: samples.to_vec(),
            end: TrialEnd::Settled,
            ..SizeTrial::default()
        };
        let whole = need().tried(up(&samples));
        assert_eq!(whole.answer, NeedAnswer::Size(Bytes::from_mib(535)));
        let misses: Vec<_> = whole.steps.iter().map(|step| step.misses_per_second).collect();
        assert_eq!(misses, [Some(38_829.0), Some(38_829.0), Some(38_829.0), Some(33_915.0)]);
        let part = need().tried(up(&samples[..3]));
        assert_eq!(part.answer, NeedAnswer::MoreThan(Bytes::from_mib(518), 13_081.0 / 38_000.0));
    }

    #[test]
    fn a_ramp_gives_the_last_size_that_it_bore() {
        let down = |held, tripped| SizeTrial {
            direction: TrialDirection::Down,
            before: sample(328, 0.0),
            held,
            tripped,
            ..SizeTrial::default()
        };
        let mib = |n| Some(Bytes::from_mib(n));
        assert_eq!(need().tried(down(mib(190), mib(187))).answer, NeedAnswer::Size(Bytes::from_mib(190)));
        assert_eq!(need().tried(down(mib(100), None)).answer, NeedAnswer::AtMost(Bytes::from_mib(100)));
        assert_eq!(need().tried(down(None, mib(323))).answer, NeedAnswer::Size(Bytes::from_mib(328)));
    }
}
