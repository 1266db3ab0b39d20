//! Where nothing was recorded, and why, as far as the frames around it tell.

use ramline_history::{Moment, Note};
use serde::Serialize;

/// Reason of a gap.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "why", rename_all = "snake_case")]
pub enum GapReason {
    /// The recorder was asked to end.
    Ended,
    /// It ended without a word: killed, or the power was cut.
    Killed,
    /// The machine was started anew.
    Rebooted,
    /// Frames could not be written.
    NotWritten {
        /// What the system said.
        error: String,
    },
    /// The recorder ran and had no processor, or the machine stood still.
    Late,
    /// Damaged frames lie there.
    Damaged,
    /// The clock was set forward: no time passed.
    ClockSet,
}

/// A time of which nothing is known.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Gap {
    /// The last frame before, in milliseconds since 1970.
    pub from_ms: u64,
    /// The first behind.
    pub to_ms: u64,
    /// Why.
    #[serde(flatten)]
    pub why: GapReason,
}

/// What the frames between two moments say.
#[derive(Debug, Clone, Default)]
pub struct Between {
    /// Notes, in order.
    pub notes: Vec<Note>,
    /// Bytes that are no frame, or frames that could not be decoded.
    pub damaged: bool,
}

/// More than so many intervals are a gap: one that is late by its own work is none.
const LATE: u64 = 3;
/// And so many milliseconds, whatever the interval is.
const LEAST_MS: u64 = 3_000;

/// The gap between two frames that follow each other, if there is one.
pub fn gap(before: Moment, after: Moment, interval_ms: u64, boot_id: Option<&str>, between: &Between) -> Option<Gap> {
    let began = between.notes.iter().rev().find_map(|note| match note {
        Note::Began { boot_id, .. } => Some(boot_id.as_deref()),
        _ => None,
    });
    let same_boot = began.is_none_or(|began| began == boot_id);
    let wall = after.wall_ms.checked_sub(before.wall_ms);
    let boot = after.boot_ms.checked_sub(before.boot_ms).filter(|_| same_boot);
    let most = interval_ms.saturating_mul(LATE).max(LEAST_MS);
    let is_long = |ms: Option<u64>| ms.is_some_and(|ms| ms > most);
    // The clock since boot decides where it can; the other one may have been set.
    if !is_long(boot) && (boot.is_some() || !is_long(wall)) {
        let set = boot.is_some() && is_long(wall);
        return set.then_some(Gap { from_ms: before.wall_ms, to_ms: after.wall_ms, why: GapReason::ClockSet });
    }
    let not_written = between.notes.iter().find_map(|note| match note {
        Note::NotWritten { why, .. } => Some(why.clone()),
        _ => None,
    });
    let ended = between.notes.iter().any(|note| matches!(note, Note::Ended {}));
    let why = match (not_written, ended, began) {
        (Some(error), ..) => GapReason::NotWritten { error },
        (_, true, _) => GapReason::Ended,
        _ if !same_boot => GapReason::Rebooted,
        (_, _, Some(_)) => GapReason::Killed,
        _ if between.damaged => GapReason::Damaged,
        _ => GapReason::Late,
    };
    Some(Gap { from_ms: before.wall_ms, to_ms: after.wall_ms, why })
}

impl GapReason {
    /// In words.
    #[must_use]
    pub fn words(&self) -> String {
        match self {
            GapReason::Ended => "the recorder was stopped".to_owned(),
            GapReason::Killed => "the recorder was killed, or the power was cut".to_owned(),
            GapReason::Rebooted => "the machine was started anew".to_owned(),
            GapReason::NotWritten { error } => error.clone(),
            GapReason::Late => "the machine slept or stood still".to_owned(),
            GapReason::Damaged => "what was recorded is damaged".to_owned(),
            GapReason::ClockSet => "the clock was set forward".to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(wall_s: u64, boot_s: u64) -> Moment {
        Moment { wall_ms: wall_s * 1000, boot_ms: boot_s * 1000 }
    }

    fn began(boot: &str) -> Note {
        Note::Began { version: String::new(), boot_id: Some(boot.to_owned()), interval_ms: 5000 }
    }

    fn why(before: Moment, after: Moment, notes: Vec<Note>) -> Option<GapReason> {
        gap(before, after, 5000, Some("a"), &Between { notes, damaged: false }).map(|gap| gap.why)
    }

    #[test]
    fn a_gap_says_why_and_a_clock_that_was_set_is_none() {
        assert_eq!(why(at(100, 10), at(105, 15), vec![]), None);
        assert_eq!(why(at(100, 10), at(160, 70), vec![]), Some(GapReason::Late));
        assert_eq!(why(at(100, 10), at(160, 70), vec![began("a")]), Some(GapReason::Killed));
        assert_eq!(why(at(100, 10), at(160, 70), vec![Note::Ended {}, began("a")]), Some(GapReason::Ended));
        assert_eq!(why(at(100, 10), at(160, 2), vec![began("b")]), Some(GapReason::Rebooted));
        assert_eq!(why(at(100, 10), at(3705, 15), vec![]), Some(GapReason::ClockSet));
        assert_eq!(why(at(100, 10), at(50, 15), vec![]), None, "set back: nothing is missing");
        let full = Note::NotWritten { since_ms: 105_000, frames: 9, why: "no space".to_owned() };
        assert_eq!(
            why(at(100, 10), at(160, 70), vec![full]),
            Some(GapReason::NotWritten { error: "no space".to_owned() })
        );
    }
}
