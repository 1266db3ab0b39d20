//! Times in which tasks waited for memory, found in pressure that was recorded at intervals: a freeze that killed nothing and ended by itself.
//!
//! What it is not: why they waited, which is the verdict's over that time. An interval counts where all tasks stood still for a tenth of it (a machine
//! that thrashes), or some task for half of it. Intervals that are nearer to each other than the recorder reads who holds memory are one time.
//!
//! Worked example: of intervals of 5 s with 0, 40, 2, 35 and 0 % of `full`, the second to the fourth are one time of 15 s, in which all tasks stood still for 3.9 s.

use crate::prelude::*;
use crate::pressure::{THRASH_PERCENT, from_snapshot};
use crate::verdict::OFTEN;

/// Such times that are no further apart are one.
const JOINED_MS: u64 = 15_000;

/// A time in which tasks waited for memory.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct StalledTime {
    /// When it began, in milliseconds since 1970.
    pub from_unix_ms: u64,
    /// When it ended.
    pub to_unix_ms: u64,
    /// So long some task waited.
    pub some: Nanos,
    /// So long all tasks that were not idle waited at once.
    pub full: Nanos,
}

impl StalledTime {
    /// How long it was.
    #[must_use]
    pub const fn length(&self) -> Nanos {
        Nanos(self.to_unix_ms.saturating_sub(self.from_unix_ms) * 1_000_000)
    }

    /// The share of it in which some task waited, 0 to 1.
    #[must_use]
    pub fn share(&self) -> f64 {
        (self.some.as_secs_f64() / self.length().as_secs_f64().max(1e-9)).min(1.0)
    }
}

/// Looks for them, given snapshots in order.
#[derive(Debug, Default)]
pub struct StallSearch {
    last: Option<(u64, Snapshot)>,
    found: Vec<StalledTime>,
}

impl StallSearch {
    /// The next snapshot, of which pressure and machine suffice, and when it was taken.
    pub fn take(&mut self, unix_ms: u64, seen: Snapshot) {
        if let Some((from, before)) = &self.last {
            self.found.extend(interval((*from, before), (unix_ms, &seen)));
            self.join();
        }
        self.last = Some((unix_ms, seen));
    }

    fn join(&mut self) {
        let [.., one, next] = self.found.as_mut_slice() else { return };
        if next.from_unix_ms.saturating_sub(one.to_unix_ms) <= JOINED_MS {
            let both = |a: Nanos, b: Nanos| Nanos(a.0.saturating_add(b.0));
            (one.to_unix_ms, one.some, one.full) =
                (next.to_unix_ms, both(one.some, next.some), both(one.full, next.full));
            self.found.pop();
        }
    }

    /// All that were found, in order.
    #[must_use]
    pub fn finish(self) -> Vec<StalledTime> {
        self.found
    }
}

/// What tasks waited between two snapshots, if that was much. Nothing across a boot.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a part of a time")]
fn interval((from, before): (u64, &Snapshot), (to, after): (u64, &Snapshot)) -> Option<StalledTime> {
    let psi = from_snapshot(after, Some(Window::new(before, after).ok()?)).memory?;
    let (some, full) = (psi.some_percent?, psi.full_percent.unwrap_or_default());
    let of_it = |percent: f64| Nanos((percent / 100.0 * to.saturating_sub(from) as f64 * 1e6) as u64);
    let much = full >= THRASH_PERCENT || some >= OFTEN;
    much.then(|| StalledTime { from_unix_ms: from, to_unix_ms: to, some: of_it(some), full: of_it(full) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use ramline_snapshot::Seen;
    use ramline_snapshot::machine::Machine;
    use ramline_snapshot::pressure::{Pressure, Stall};

    /// A moment every 5 s, in which tasks have waited so many percent of the time before.
    fn search(boots: &str, percent: &[(u64, u64)]) -> Vec<StalledTime> {
        let (mut search, mut some_us, mut full_us) = (StallSearch::default(), 0, 0);
        for ((some, full), (at, boot)) in percent.iter().zip((1..).zip(boots.chars())) {
            (some_us, full_us) = (some_us + some * 50_000, full_us + full * 50_000);
            let machine =
                Machine { boot_id: Some(boot.into()), uptime: Some(Nanos(at * 5_000_000_000)), ..Machine::default() };
            let mut seen = Snapshot::new(machine);
            let stall = |total_us| Some(Stall { total_us, ..Stall::default() });
            seen.pressure_memory = Seen::new(Pressure { some: stall(some_us), full: stall(full_us) });
            search.take(at * 5_000, seen);
        }
        search.finish()
    }

    #[test]
    fn a_pause_of_some_seconds_is_part_of_a_stall_and_a_minute_is_not() {
        let all = search("aaaaaa", &[(0, 0), (2, 0), (60, 40), (5, 2), (55, 35), (0, 0)]);
        let expected = StalledTime {
            from_unix_ms: 10_000,
            to_unix_ms: 25_000,
            some: Nanos(5_750_000_000),
            full: Nanos(3_750_000_000),
        };
        assert_eq!(all, [expected]);
        let mut calm = vec![(0, 0), (60, 40)];
        calm.extend([(0, 0); 12]);
        calm.push((60, 40));
        assert_eq!(search("aaaaaaaaaaaaaaa", &calm).len(), 2);
    }

    #[test]
    fn little_waiting_is_no_stall_and_nothing_is_known_across_a_boot() {
        assert_eq!(search("aaa", &[(0, 0), (30, 5), (49, 9)]), []);
        assert_eq!(search("aaa", &[(0, 0), (50, 0), (0, 0)]).len(), 1);
        assert_eq!(search("aab", &[(0, 0), (0, 0), (90, 90)]), []);
    }
}
