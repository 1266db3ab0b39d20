//! The whole curve of a group or of the machine: the share of its page cache misses that is left with more memory, at even distances.
//!
//! Worked example: of a group whose evicted pages all return within 96 MiB, the curve has the steps +16, +32, … +96 MiB, and the last leaves next to
//! nothing. Beyond what was evicted while it was watched nothing is answered.

use ramline_evidence::GhostCurve;

use super::{Need, NeedAnswer, NeedStep, READ_AHEAD_WORST, step_at};
use crate::prelude::*;

/// Steps of a curve: as many rows as a screen has beside its sentences.
const MOST_STEPS: u64 = 12;

/// What more memory would save.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CurveAnswer {
    /// With so much more, next to nothing (1 %) of the misses is left.
    Knee(Bytes),
    /// The knee is beyond this much more, where this share of the misses is left.
    Beyond(Bytes, f64),
    /// Not answered: hardly anything was read again.
    NothingReturns,
    /// Not answered: it still grows.
    Fills,
    /// Not answered: what is read was not evicted while it was watched.
    FirstReads,
}

/// The share of misses that is left with more memory.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RoomCurve {
    /// Path below the mount of the hierarchy; `/` is the machine.
    pub group: String,
    /// What it uses.
    pub current: Bytes,
    /// The limit in force.
    pub limit: Option<Bytes>,
    /// What the curve says.
    pub answer: CurveAnswer,
    /// Steps of the curve, ascending.
    pub steps: Vec<NeedStep>,
    /// No more than this was evicted and is still out, less a margin: nothing is answered beyond.
    pub reach: Bytes,
    /// Pages read with a miss, where read(2) meets the kernel's read-ahead: then `at_most` of the steps is the other bound.
    pub reads_ahead: Option<f64>,
    /// What was seen.
    pub curve: GhostCurve,
}

impl From<Need> for RoomCurve {
    fn from(need: Need) -> RoomCurve {
        let knee = need.curve.knee();
        let reach = need.curve.reach();
        let answer = match (need.answer, knee) {
            (NeedAnswer::Fills, _) => CurveAnswer::Fills,
            (NeedAnswer::FirstReads, _) => CurveAnswer::FirstReads,
            (NeedAnswer::Enough | NeedAnswer::AtMost(_), _) => CurveAnswer::NothingReturns,
            (_, Some(more)) => CurveAnswer::Knee(more),
            (_, None) => CurveAnswer::Beyond(reach, need.curve.left(reach).unwrap_or(1.0)),
        };
        let is_answered = matches!(answer, CurveAnswer::Knee(_) | CurveAnswer::Beyond(..));
        // How far it goes, and a bit beyond the knee.
        let end = if is_answered { knee.unwrap_or(reach) } else { Bytes::ZERO };
        let base = need.limit.filter(|limit| *limit <= need.current).unwrap_or(need.current);
        let steps = distances(end, need.curve.page_size).map(|more| {
            let mut step = step_at(base, more, &need.curve);
            step.at_most =
                step.left.filter(|_| need.reads_ahead.is_some()).map(|left| (left * READ_AHEAD_WORST).min(1.0));
            step
        });
        RoomCurve {
            steps: steps.collect(),
            group: need.group,
            current: need.current,
            limit: need.limit,
            answer,
            reach,
            reads_ahead: need.reads_ahead,
            curve: need.curve,
        }
    }
}

/// Even distances up to the end, a power of two apart, at most twelve and the end itself.
fn distances(end: Bytes, page: Bytes) -> impl Iterator<Item = Bytes> {
    let apart = end.0.div_ceil(MOST_STEPS).max(page.0).next_power_of_two();
    let even = (1..=end.0 / apart).map(move |n| Bytes(n * apart)).filter(move |more| *more < end);
    even.chain((end > Bytes::ZERO).then_some(end))
}

#[cfg(test)]
mod tests {
    use super::super::tests::{curve, empty, group};
    use super::*;

    fn mib(bytes: Bytes) -> u64 {
        bytes.0 >> 20
    }

    #[test]
    fn the_curve_goes_to_the_knee_in_even_steps() {
        let seen = RoomCurve::from(super::super::need(&group(200, 200, 200, 0), curve(10_000, 10_000, 1), 2));
        assert_eq!(seen.answer, CurveAnswer::Knee(Bytes::from_mib(345)));
        let steps: Vec<_> = seen.steps.iter().map(|step| (mib(step.more), step.left)).collect();
        assert_eq!(steps[0], (32, Some(1.0)));
        assert_eq!(steps.last(), Some(&(345, Some(0.0))));
        assert_eq!((steps.len(), mib(seen.steps[0].size)), (11, 232));
    }

    #[test]
    fn a_knee_that_was_not_seen_ends_the_curve_at_its_reach() {
        let seen = RoomCurve::from(super::super::need(&group(200, 200, 200, 0), curve(10_000, 9_000, 3), 2));
        let reach = seen.curve.reach();
        assert!(matches!(seen.answer, CurveAnswer::Beyond(at, left) if at == reach && left > 0.0), "{:?}", seen.answer);
        assert_eq!(seen.steps.last().map(|step| step.more), Some(reach));
        assert!(seen.steps.iter().all(|step| step.at_most >= step.left), "both bounds, as the kernel reads ahead");
    }

    #[test]
    fn what_is_not_answered_has_no_steps() {
        for (answer, said) in [
            (NeedAnswer::Fills, CurveAnswer::Fills),
            (NeedAnswer::FirstReads, CurveAnswer::FirstReads),
            (NeedAnswer::Enough, CurveAnswer::NothingReturns),
        ] {
            let seen = RoomCurve::from(Need { answer, curve: curve(10_000, 10_000, 1), ..empty() });
            assert_eq!((seen.answer, seen.steps.len()), (said, 0));
        }
    }
}
