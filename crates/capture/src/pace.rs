//! How long an epoch is: as short as the wanted overhead allows, and not below 100 ms.
//!
//! Clearing takes time for every resident page, and the process cannot change its mappings meanwhile. An epoch is therefore so long that reading and clearing
//! are at most the wanted share of it. It ends when that much CPU time was used, for a busy machine gives a process less; a process that waits is looked at
//! after ten times as long all the same.

use std::time::Duration;

/// The shortest epoch. Below it, what is touched between reading and clearing is no longer small: 97 % of pages were seen with 50 ms, 95 % with 20 ms.
pub const SHORTEST: Duration = Duration::from_millis(100);
/// Time to clear a resident page, before it was measured (75 to 300 ns here).
const NS_A_PAGE: u64 = 100;
/// Longest epoch of an idle process, as a multiple of its length at work.
const IDLE: u32 = 10;

/// The length of epochs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pace {
    overhead: f64,
    length: Duration,
}

impl Pace {
    /// For processes with so many resident pages; `overhead` is a share, 0.02 for 2 %.
    #[must_use]
    pub fn new(overhead: f64, resident_pages: u64) -> Pace {
        let mut pace = Pace { overhead, length: SHORTEST };
        pace.cost(expected_pause(resident_pages));
        pace
    }

    /// Reading and clearing took so much CPU time in the last epoch.
    pub fn cost(&mut self, took: Duration) {
        // Half of what is new: one epoch in which a processor was taken away does not lengthen all that follow.
        let wanted = took.div_f64(self.overhead.max(1e-4)).max(SHORTEST);
        self.length = if self.length == SHORTEST { wanted } else { (self.length + wanted) / 2 };
    }

    /// The length of the next epoch.
    #[must_use]
    pub const fn length(&self) -> Duration {
        self.length
    }

    /// Whether an epoch ends now.
    #[must_use]
    pub fn is_over(&self, passed: Duration, cpu: Duration) -> bool {
        passed >= self.length && (cpu >= self.length || passed >= self.length * IDLE)
    }

    /// How long to wait until it is worth to ask again.
    #[must_use]
    pub fn wait(&self, passed: Duration) -> Duration {
        self.length.saturating_sub(passed).max(self.length / 8).min(Duration::from_secs(1))
    }
}

/// How long clearing so many pages will hold up the process, roughly.
#[must_use]
pub const fn expected_pause(resident_pages: u64) -> Duration {
    Duration::from_nanos(resident_pages.saturating_mul(NS_A_PAGE))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_epoch_of_a_gibibyte_at_two_percent_is_over_a_second_and_a_small_process_has_the_shortest() {
        assert_eq!(Pace::new(0.02, 1000).length(), SHORTEST);
        let large = Pace::new(0.02, 262_144).length();
        assert!((1300..1320).contains(&large.as_millis()), "{large:?}");
        let mut pace = Pace::new(0.02, 1000);
        pace.cost(Duration::from_millis(4));
        assert_eq!(pace.length(), Duration::from_millis(200));
        pace.cost(Duration::from_millis(1));
        assert_eq!(pace.length(), Duration::from_millis(150));
    }

    #[test]
    fn an_epoch_counts_cpu_time_and_ends_for_one_that_waits() {
        let (pace, ms) = (Pace::new(0.02, 10), Duration::from_millis);
        assert!(!pace.is_over(ms(99), ms(400)) && pace.is_over(ms(100), ms(100)));
        assert!(!pace.is_over(ms(900), ms(5)) && pace.is_over(ms(1000), ms(0)));
    }
}
