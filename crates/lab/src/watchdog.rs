//! What ends a run that would go on for ever or hurt the machine.
//!
//! Four rules: the fill takes too long; the rounds take longer than their timeout (the workload ends those itself, this
//! is the second line); the whole machine runs short of available memory; everything on the machine has stood still for
//! memory for 10 s (PSI full above 80 %), as the pressure of the host. What it is not: a verdict; it names the reason.
//!
//! ```
//! use ramline_evidence::{Phase, Sample};
//! use ramline_lab::watchdog::{Watchdog, Limits};
//! use ramline_units::{Bytes, Nanos};
//! let mut dog = Watchdog::new(Limits { available: Bytes::from_mib(256), ..Limits::default() });
//! let mut sample = Sample { phase: Phase::Rounds, ..Sample::default() };
//! sample.host.available = Bytes::from_mib(100);
//! assert!(dog.look(&sample).is_some_and(|why| why.contains("100.0 MiB available")));
//! ```

use ramline_evidence::{Phase, Sample};
use ramline_units::{Bytes, Nanos};

/// When to bark.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Limits {
    /// Longest time from the start to the end of the fill.
    pub fill: Nanos,
    /// Longest time of the rounds.
    pub rounds: Nanos,
    /// Least MemAvailable of the machine.
    pub available: Bytes,
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
            available: Bytes::ZERO,
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
    stalled_since: Option<Nanos>,
}

impl Watchdog {
    /// With these limits.
    #[must_use]
    pub fn new(limits: Limits) -> Watchdog {
        Watchdog { limits, rounds_since: None, stalled_since: None }
    }

    /// The reason to end the run now, if there is one.
    pub fn look(&mut self, sample: &Sample) -> Option<String> {
        let limits = self.limits;
        if sample.host.available < limits.available {
            return Some(format!(
                "the machine had only {} available, less than {}",
                sample.host.available, limits.available
            ));
        }
        let stalled = sample.psi_full_avg10.is_some_and(|psi| psi > limits.psi_full);
        self.stalled_since = stalled.then(|| self.stalled_since.unwrap_or(sample.at));
        if self.stalled_since.is_some_and(|since| sample.at.0.saturating_sub(since.0) > limits.psi_for.0) {
            return Some(format!(
                "everything stood still for memory for {} (PSI full above {:.0} %)",
                limits.psi_for, limits.psi_full
            ));
        }
        let began = match sample.phase {
            Phase::Start | Phase::Map | Phase::Fill if sample.at > limits.fill => {
                return Some(format!("the data was not filled within {}", limits.fill));
            }
            Phase::Start | Phase::Map | Phase::Fill => return None,
            Phase::Rounds | Phase::Done => *self.rounds_since.get_or_insert(sample.at),
        };
        (sample.at.0.saturating_sub(began.0) > limits.rounds.0)
            .then(|| format!("the rounds did not end within {}", limits.rounds))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: u64, phase: Phase, psi: Option<f64>) -> Sample {
        Sample { at: Nanos(seconds * 1_000_000_000), phase, psi_full_avg10: psi, ..Sample::default() }
    }

    #[test]
    fn the_clock_of_the_rounds_starts_with_the_rounds() {
        let mut dog = Watchdog::new(Limits::default());
        assert_eq!(dog.look(&at(50, Phase::Fill, None)), None);
        assert_eq!(dog.look(&at(55, Phase::Rounds, None)), None);
        assert_eq!(dog.look(&at(79, Phase::Rounds, None)), None);
        assert!(dog.look(&at(81, Phase::Rounds, None)).unwrap().contains("25.0 s"));
        assert!(Watchdog::new(Limits::default()).look(&at(61, Phase::Fill, None)).is_some());
    }

    #[test]
    fn pressure_must_last_and_a_pause_starts_it_anew() {
        let mut dog = Watchdog::new(Limits::default());
        assert_eq!(dog.look(&at(1, Phase::Rounds, Some(90.0))), None);
        assert_eq!(dog.look(&at(9, Phase::Rounds, Some(10.0))), None);
        assert_eq!(dog.look(&at(10, Phase::Rounds, Some(90.0))), None);
        assert_eq!(dog.look(&at(19, Phase::Rounds, Some(95.0))), None);
        assert!(dog.look(&at(21, Phase::Rounds, Some(95.0))).unwrap().contains("PSI full"));
    }
}
