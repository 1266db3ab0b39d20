//! The lab's thread that lowers a group's limit as its zram pool grows, so that their sum stays constant; the load pauses while the sum is too large
//! (`Follower`, crates/lab/src/limited/pool.rs). Left out: the thread may read the pool in the middle of a fault.

use ramline_sim::beside::{Beside, LimitedGroup};
use ramline_sim::load::PAGE;

/// Nanoseconds between looks, with what a sleep is late.
const EVERY: u64 = 1_055_000;
/// A look at the pool, and a write of the limit beside the reclaim it may need: 200 writes held loads for 40 to 52 ms, with 30 reclaims of 0.3 ms.
const LOOK: u64 = 15_000;
const WRITE: u64 = 130_000;
/// A load that is held looks so often whether it may go on, with what a sleep is late.
const HELD: u64 = 255_000;
/// The limit moves once the pool has by one part of so many, and is lowered by no more at a time.
const STEP: u64 = 1000;

/// The thread.
#[derive(Debug)]
pub struct Follower {
    /// Bytes that limit and pool may be together.
    nominal: u64,
    /// The limit as last written.
    limit: u64,
    next: u64,
}

impl Follower {
    /// For a group that may have so many pages.
    #[must_use]
    pub fn beside(pages: u64) -> Box<dyn Beside> {
        let nominal = pages * PAGE;
        Box::new(Follower { nominal, limit: nominal, next: 0 })
    }
}

impl Beside for Follower {
    /// All looks until now; the clock goes on as long as the load is held.
    fn act(&mut self, group: &mut dyn LimitedGroup) -> u64 {
        let step = (self.nominal / STEP).max(1);
        let (mut now, mut held) = (self.next, None);
        while held.is_some() || now <= group.clock() {
            now += LOOK;
            let wanted = self.nominal.saturating_sub(group.pool_bytes());
            if wanted + step <= self.limit {
                if held.is_none() {
                    now = now.max(group.clock());
                    held = Some(now);
                }
                self.limit = wanted.max(self.limit.saturating_sub(step));
                now += WRITE + group.write_limit(self.limit, now);
            } else {
                if let Some(since) = held.take() {
                    group.sleep_until(since + slept(since, now));
                }
                if wanted >= self.limit + step {
                    self.limit = wanted;
                    now += WRITE + group.write_limit(wanted, now);
                } else {
                    now += EVERY;
                }
            }
            if group.is_killed() {
                break;
            }
        }
        self.next = now;
        now
    }
}

/// The load sees at its next look that it may go on.
fn slept(since: u64, now: u64) -> u64 {
    now.saturating_sub(since).div_ceil(HELD) * HELD
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use ramline_sim::chance::Chance;
    use ramline_sim::kernel::PRESETS;
    use ramline_sim::load::Compact;
    use ramline_sim::memory::{Setting, SwapTo};
    use ramline_sim::run;
    use ramline_trace::generate::{Access, Memory as Kind, Region, Touch};

    use super::*;

    /// Limit, pool and charged pages at each look.
    static LOOKS: Mutex<Vec<(u64, u64, u64)>> = Mutex::new(Vec::new());

    /// The follower, and what it leaves at each look.
    #[derive(Debug)]
    struct Noted(Box<dyn Beside>);

    impl Beside for Noted {
        fn act(&mut self, group: &mut dyn LimitedGroup) -> u64 {
            let next = self.0.act(group);
            LOOKS.lock().unwrap().push((group.limit(), group.pool_bytes(), group.charged()));
            next
        }
    }

    fn noted(pages: u64) -> Box<dyn Beside> {
        Box::new(Noted(Follower::beside(pages)))
    }

    #[test]
    fn limit_and_pool_together_stay_what_they_were() {
        // 20,000 pages of anonymous memory where 16,000 may be there with what the zram takes, filled and touched again in turn.
        let touch = |page: u64| Touch { region: 0, access: Access::Store, offset: page * PAGE };
        let regions = [Region { memory: Kind::Anonymous, bytes: 20_000 * PAGE }];
        let load = Compact::new(&regions, (0..20_000).map(touch), (0..20_000).map(touch), 20_000).unwrap();
        let setting = Setting { swap: SwapTo::Zram, slots: 40_000, ..Setting::without_limit(16_000, PRESETS[2]) };
        let with = |beside| {
            let setting = Setting { beside, ..setting.clone() };
            run::compact(&load, run::pages(&load, |_, _| 1500), setting, u64::MAX, Chance::default())
        };
        let (held, free) = (with(Some(noted as _)), with(None));
        let looks = LOOKS.lock().unwrap();
        let &(limit, pool, _) = looks.last().unwrap();
        // What a millisecond of faults adds to a pool is not seen yet.
        assert!((limit + pool).abs_diff(16_000 * PAGE) < 4 * 16_000 * PAGE / STEP, "{limit} and {pool}");
        assert!(looks.iter().all(|(limit, _, charged)| *charged <= limit / PAGE));
        assert!(held.fill + held.took > free.fill + free.took, "the load is held for it");
    }

    #[test]
    fn a_load_that_is_held_sleeps_whole_turns() {
        assert_eq!([slept(5, 5), slept(5, 6), slept(0, HELD), slept(0, HELD + 1)], [0, HELD, HELD, 2 * HELD]);
    }
}
