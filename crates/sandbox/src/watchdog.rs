//! What ends a run that would go on for ever or hurt the machine.
//!
//! Six rules: the fill takes too long; the rounds take longer than their timeout (the workload ends those itself, this is
//! the second line); the workload has said its last word and does not end; the time for the whole run is over; the memory
//! we may take is nearly gone; everything on the machine has stood still for memory for 10 s (PSI full above 80 %), as the
//! pressure of the host. What it is not: a verdict; it names the reason.
//!
//! ```
//! use ramline_evidence::{Phase, Sample};
//! use ramline_sandbox::watchdog::{Watchdog, Limits};
//! use ramline_units::{Bytes, Nanos};
//! let mut dog = Watchdog::new(Limits { room: Bytes::from_mib(256), ..Limits::default() });
//! let sample = Sample { phase: Phase::Rounds, ..Sample::default() };
//! assert!(dog.look(&sample, Bytes::from_mib(100)).is_some_and(|why| why.contains("only 100.0 MiB")));
//! ```

use ramline_evidence::Phase;

use crate::prelude::*;

/// When to bark.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Limits {
    /// Longest time from the start to the end of the fill.
    pub fill: Nanos,
    /// Longest time of the rounds.
    pub rounds: Nanos,
    /// Longest time from the last word to the end.
    pub ending: Nanos,
    /// Longest time from the start to the end of everything.
    pub whole: Nanos,
    /// Least memory that may be left to take, by the machine and by every limit above us.
    pub room: Bytes,
    /// PSI full avg10 of the machine, in per cent.
    pub psi_full: f64,
    /// For how long it may stay above that.
    pub psi_for: Nanos,
}

impl Default for Limits {
    fn default() -> Limits {
        const SECOND: u64 = 1_000_000_000;
        Limits {
            fill: Nanos(60 * SECOND),
            rounds: Nanos(25 * SECOND),
            ending: Nanos(5 * SECOND),
            whole: Nanos(u64::MAX),
            room: Bytes::ZERO,
            psi_full: 80.0,
            psi_for: Nanos(10 * SECOND),
        }
    }
}

/// Looks at samples in order.
#[derive(Debug)]
pub struct Watchdog {
    limits: Limits,
    rounds_since: Option<Nanos>,
    done_since: Option<Nanos>,
    stalled_since: Option<Nanos>,
}

impl Watchdog {
    /// With these limits.
    #[must_use]
    pub fn new(limits: Limits) -> Watchdog {
        Watchdog { limits, rounds_since: None, done_since: None, stalled_since: None }
    }

    /// The reason to end the run now, if there is one. `room` is the memory that can be taken at this moment.
    pub fn look(&mut self, sample: &Sample, room: Bytes) -> Option<String> {
        let limits = self.limits;
        if room < limits.room {
            return Some(format!("only {room} of memory were left to take, less than {}", limits.room));
        }
        if sample.at > limits.whole {
            return Some(format!("it did not end within {}", limits.whole));
        }
        let stalled = sample.psi_full_avg10.is_some_and(|psi| psi > limits.psi_full);
        self.stalled_since = stalled.then(|| self.stalled_since.unwrap_or(sample.at));
        if self.stalled_since.is_some_and(|since| sample.at.saturating_sub(since) > limits.psi_for) {
            return Some(format!(
                "everything stood still for memory for {} (PSI full above {:.0} %)",
                limits.psi_for, limits.psi_full
            ));
        }
        let late = |since: &mut Option<Nanos>, limit: Nanos| {
            let since = *since.get_or_insert(sample.at);
            sample.at.saturating_sub(since) > limit
        };
        match sample.phase {
            Phase::Start | Phase::Map | Phase::Fill => {
                (sample.at > limits.fill).then(|| format!("the data was not filled within {}", limits.fill))
            }
            Phase::Rounds => late(&mut self.rounds_since, limits.rounds)
                .then(|| format!("the rounds did not end within {}", limits.rounds)),
            Phase::Done => late(&mut self.done_since, limits.ending)
                .then(|| format!("the workload did not end within {} of its last word", limits.ending)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLENTY: Bytes = Bytes(u64::MAX);

    fn at(seconds: u64, phase: Phase, psi: Option<f64>) -> Sample {
        Sample { at: Nanos(seconds * 1_000_000_000), phase, psi_full_avg10: psi, ..Sample::default() }
    }

    #[test]
    fn the_clock_of_the_rounds_starts_with_the_rounds() {
        let mut dog = Watchdog::new(Limits::default());
        assert_eq!(dog.look(&at(50, Phase::Fill, None), PLENTY), None);
        assert_eq!(dog.look(&at(55, Phase::Rounds, None), PLENTY), None);
        assert_eq!(dog.look(&at(79, Phase::Rounds, None), PLENTY), None);
        assert!(dog.look(&at(81, Phase::Rounds, None), PLENTY).unwrap().contains("25.0 s"));
        assert!(Watchdog::new(Limits::default()).look(&at(61, Phase::Fill, None), PLENTY).is_some());
    }

    #[test]
    fn pressure_must_last_and_a_pause_starts_it_anew() {
        let mut dog = Watchdog::new(Limits::default());
        assert_eq!(dog.look(&at(1, Phase::Rounds, Some(90.0)), PLENTY), None);
        assert_eq!(dog.look(&at(9, Phase::Rounds, Some(10.0)), PLENTY), None);
        assert_eq!(dog.look(&at(10, Phase::Rounds, Some(90.0)), PLENTY), None);
        assert_eq!(dog.look(&at(19, Phase::Rounds, Some(95.0)), PLENTY), None);
        assert!(dog.look(&at(21, Phase::Rounds, Some(95.0)), PLENTY).unwrap().contains("PSI full"));
    }

    #[test]
    fn one_who_has_said_the_last_word_must_go_and_nothing_outlasts_the_whole() {
        let mut dog = Watchdog::new(Limits { whole: Nanos(70_000_000_000), ..Limits::default() });
        assert_eq!(dog.look(&at(50, Phase::Done, None), PLENTY), None);
        assert_eq!(dog.look(&at(55, Phase::Done, None), PLENTY), None);
        assert!(dog.look(&at(56, Phase::Done, None), PLENTY).unwrap().contains("last word"));
        assert!(dog.look(&at(71, Phase::Fill, None), PLENTY).unwrap().contains("70.0 s"));
    }
}
