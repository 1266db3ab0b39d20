//! Timing single operations: the clock's own cost, batches, percentiles.
//!
//! Every duration goes into a histogram (3 significant digits), but for those during which
//! another task had the CPU: they are counted. The median of each batch is
//! kept as well, because 5 medians that disagree show a disturbed machine which one percentile would hide.
//!
//! ```
//! use ramline_measure::tiers::timing::{Clock, TimingPlan};
//! use std::time::Duration;
//! let clock = Clock::calibrate();
//! let plan = TimingPlan { batches: 5, budget: Duration::from_millis(5), least: 10, most: 1000 };
//! let series = plan.time(&clock, 1, |_| Ok::<(), ()>(())).unwrap();
//! assert!(series.latency().unwrap().n >= 50);
//! ```

use hdrhistogram::Histogram;
use ramline_evidence::{LatencyStats, ranks_of_p99};
use ramline_units::Nanos;

use crate::prelude::*;

/// A clock whose own cost is known.
#[derive(Debug, Clone, Copy)]
pub struct Clock {
    /// Median time between two readings, which is subtracted from every duration.
    pub overhead: Nanos,
}

impl Clock {
    /// Measures 20,001 pairs of readings.
    #[must_use]
    pub fn calibrate() -> Clock {
        let mut pairs: Vec<u64> = (0..20_001).map(|_| Nanos::from(Instant::now().elapsed()).0).collect();
        pairs.sort_unstable();
        Clock { overhead: Nanos(pairs.get(pairs.len() / 2).copied().unwrap_or(0)) }
    }
}

/// How long and how often to time something.
#[derive(Debug, Clone, Copy)]
pub struct TimingPlan {
    /// Number of batches, whose medians give the spread.
    pub batches: u32,
    /// Time for all batches together.
    pub budget: Duration,
    /// At least so many operations a batch, also when the time is over.
    pub least: u64,
    /// At most so many operations a batch.
    pub most: u64,
}

impl TimingPlan {
    /// Five batches within `millis`.
    #[must_use]
    pub const fn within_ms(millis: u64) -> TimingPlan {
        TimingPlan { batches: 5, budget: Duration::from_millis(millis), least: 20, most: 200_000 }
    }

    /// Times `operation` (its argument counts from 0); each call stands for `group` equal steps and its duration is
    /// divided by that.
    ///
    /// # Errors
    /// The first error of `operation` ends it.
    pub fn time<E>(
        &self,
        clock: &Clock,
        group: u64,
        mut operation: impl FnMut(u64) -> Result<(), E>,
    ) -> Result<Series, E> {
        let mut series = Series::default();
        let mut count = 0;
        let mut preemptions = process::preemptions();
        for _ in 0..self.batches {
            let start = Instant::now();
            let share = self.budget / self.batches.max(1);
            let mut done = 0;
            while done < self.most && (done < self.least || start.elapsed() < share) {
                let before = Instant::now();
                operation(count)?;
                let took = Nanos::from(before.elapsed()).0.saturating_sub(clock.overhead.0);
                // Looked at only where it can have happened: the look costs a system call.
                let before = preemptions;
                if took > SHORTEST_TURN_NS {
                    preemptions = process::preemptions();
                }
                if preemptions > before {
                    series.preempted += 1;
                } else {
                    series.record(took / group.max(1));
                }
                count += 1;
                done += 1;
            }
            series.close_batch();
        }
        Ok(series)
    }
}

/// Durations of one kind of operation.
#[derive(Debug, Clone)]
pub struct Series {
    all: Histogram<u64>,
    batch: Histogram<u64>,
    medians: Vec<f64>,
    /// Operations during which another task had the CPU: what they took is not the tier's, and they are not recorded.
    pub preempted: u64,
}

impl Default for Series {
    fn default() -> Series {
        Series { all: empty(), batch: empty(), medians: Vec::new(), preempted: 0 }
    }
}

/// No other task has the CPU for less than this before it is ours again.
const SHORTEST_TURN_NS: u64 = 20_000;
/// One minute is longer than any single operation here; longer ones count as that.
const LONGEST_NS: u64 = 60_000_000_000;

fn empty() -> Histogram<u64> {
    // The bounds are constants the constructor accepts; were they not, a growing histogram does as well.
    Histogram::new_with_bounds(1, LONGEST_NS, 3)
        .or_else(|_| Histogram::new(3))
        .unwrap_or_else(|_| unreachable!("3 digits are allowed"))
}

impl Series {
    /// Adds one duration.
    pub fn record(&mut self, ns: u64) {
        self.all.saturating_record(ns);
        self.batch.saturating_record(ns);
    }

    /// Ends a batch; one without a duration is not counted.
    #[expect(clippy::cast_precision_loss, reason = "durations far below 2^53 ns")]
    pub fn close_batch(&mut self) {
        if !self.batch.is_empty() {
            self.medians.push(self.batch.value_at_quantile(0.5) as f64);
            self.batch.reset();
        }
    }

    /// n, p50, p99, mean, shortest, longest; `None` when nothing was timed.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "far fewer than 2^53 operations")]
    pub fn latency(&self) -> Option<LatencyStats> {
        let (low, high) = ranks_of_p99(self.all.len());
        let at = |rank: u64| Nanos(self.all.value_at_quantile(rank as f64 / self.all.len() as f64));
        (!self.all.is_empty()).then(|| LatencyStats {
            n: self.all.len(),
            p50_ns: Nanos(self.all.value_at_quantile(0.5)),
            p99_ns: Nanos(self.all.value_at_quantile(0.99)),
            p99_low_ns: Some(at(low)),
            p99_high_ns: high.map(at),
            mean_ns: self.all.mean(),
            min_ns: Nanos(self.all.min()),
            max_ns: Nanos(self.all.max()),
        })
    }

    /// The medians of the batches, in ns.
    #[must_use]
    pub fn spread(&self, method: &str) -> Option<Measurement> {
        Measurement::from_values(&self.medians, "ns", method, &[])
    }
}

/// Bytes/s of passes that moved `bytes` each, with n and range.
#[must_use]
#[expect(clippy::cast_precision_loss, reason = "a rate does not need the last bits")]
pub fn throughput(bytes: u64, passes: &[Duration], method: &str) -> Option<Measurement> {
    let rates: Vec<f64> =
        passes.iter().filter(|time| !time.is_zero()).map(|time| bytes as f64 / time.as_secs_f64()).collect();
    Measurement::from_values(&rates, "bytes/s", method, &[])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn series(batches: &[&[u64]]) -> Series {
        let mut series = Series::default();
        for batch in batches {
            batch.iter().for_each(|ns| series.record(*ns));
            series.close_batch();
        }
        series
    }

    #[test]
    fn percentiles_are_those_of_all_batches_and_the_spread_is_that_of_their_medians() {
        let hundred: Vec<u64> = (1..=100).collect();
        let series = series(&[&hundred, &[200; 50], &[300; 50]]);
        let latency = series.latency().unwrap();
        assert_eq!((latency.n, latency.p50_ns, latency.p99_ns), (200, Nanos(100), Nanos(300)));
        assert_eq!((latency.min_ns, latency.max_ns), (Nanos(1), Nanos(300)));
        assert!((latency.mean_ns - 150.25).abs() < 1e-9, "{}", latency.mean_ns);
        let spread = series.spread("medians of batches").unwrap();
        assert_eq!((spread.n, spread.min, spread.median, spread.max), (3, 50.0, 200.0, 300.0));
    }

    #[test]
    fn nothing_timed_has_no_median() {
        let nothing = series(&[&[], &[]]);
        assert!(nothing.latency().is_none() && nothing.spread("").is_none());
        assert!(throughput(4096, &[], "").is_none());
        assert!(throughput(4096, &[Duration::ZERO], "").is_none());
    }

    #[test]
    fn throughput_is_bytes_over_seconds() {
        let passes = [Duration::from_millis(500), Duration::from_millis(250), Duration::from_millis(125)];
        let rate = throughput(1000, &passes, "").unwrap();
        assert_eq!((rate.min, rate.median, rate.max, rate.unit.as_str()), (2000.0, 4000.0, 8000.0, "bytes/s"));
    }

    #[test]
    fn a_plan_ends_with_its_count_and_an_error_ends_it_at_once() {
        let plan = TimingPlan { batches: 3, budget: Duration::from_secs(60), least: 1, most: 7 };
        let clock = Clock { overhead: Nanos(0) };
        let series = plan.time(&clock, 1, |_| Ok::<(), ()>(())).unwrap();
        assert_eq!(series.latency().unwrap().n, 21);
        let mut calls = 0;
        let failed = plan.time(&clock, 1, |count| {
            calls += 1;
            if count == 4 { Err("stop") } else { Ok(()) }
        });
        assert_eq!((failed.unwrap_err(), calls), ("stop", 5));
    }

    #[test]
    fn a_group_divides_its_duration_and_the_clock_is_subtracted() {
        let plan = TimingPlan { batches: 1, budget: Duration::ZERO, least: 3, most: 3 };
        let dear = Clock { overhead: Nanos(LONGEST_NS) };
        let none = plan.time(&dear, 1, |_| Ok::<(), ()>(())).unwrap();
        assert_eq!(none.latency().unwrap().max_ns, Nanos(0));
        let sleep = |_| {
            std::thread::sleep(Duration::from_millis(2));
            Ok::<(), ()>(())
        };
        let grouped = plan.time(&Clock { overhead: Nanos(0) }, 1_000_000, sleep).unwrap();
        assert!(grouped.latency().unwrap().min_ns >= Nanos(2), "2 ms over a million steps is 2 ns or more each");
    }
}
