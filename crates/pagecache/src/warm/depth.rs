//! How many readers at a time a device likes, found out while it works: more are tried while they gain a twentieth, then fewer
//! while they lose nothing.
//!
//! Worked example: 4 give 1.0 GB/s, 8 give 1.9, 16 give 1.95: it stays at 8.

use std::sync::{Condvar, Mutex};

use ramline_kernel::signals::is_broken;

use crate::shared::{lock, wait};

/// Where it begins, and the most that is tried.
pub const FIRST: u64 = 4;
pub const MOST: u64 = 16;

const GAIN: f64 = 1.05;
const AS_GOOD: f64 = 0.97;

#[derive(Debug, Clone, PartialEq)]
pub struct Depth {
    now: u64,
    best: Option<(u64, f64)>,
    settled: bool,
    tried: Vec<(u64, f64)>,
}

impl Depth {
    /// Settled already where it was chosen.
    pub fn new(chosen: Option<u64>) -> Depth {
        let now = chosen.unwrap_or(FIRST).clamp(1, MOST);
        Depth { now, best: None, settled: chosen.is_some(), tried: Vec::new() }
    }

    pub const fn now(&self) -> u64 {
        self.now
    }

    /// What was tried: depth and bytes a second.
    pub fn tried(&self) -> &[(u64, f64)] {
        &self.tried
    }

    /// A rate was measured at the present depth; says the next one.
    pub fn measured(&mut self, rate: f64) -> u64 {
        if self.settled || rate <= 0.0 {
            return self.now;
        }
        self.tried.push((self.now, rate));
        let (depth, best) = *self.best.get_or_insert((self.now, rate));
        self.now = if self.now > depth {
            if rate > best * GAIN { self.better(rate) } else { self.settle_or_try_fewer(depth) }
        } else if self.now < depth {
            let fewer = if rate >= best * AS_GOOD { self.now } else { depth };
            self.settle(fewer)
        } else {
            (depth * 2).min(MOST)
        };
        self.now
    }

    fn better(&mut self, rate: f64) -> u64 {
        self.best = Some((self.now, rate));
        if self.now >= MOST { self.settle(self.now) } else { self.now * 2 }
    }

    /// Fewer were tried on the way up, unless the first step up gained nothing.
    fn settle_or_try_fewer(&mut self, depth: u64) -> u64 {
        if depth == FIRST { FIRST / 2 } else { self.settle(depth) }
    }

    fn settle(&mut self, depth: u64) -> u64 {
        self.settled = true;
        depth
    }
}

/// How many may read at a time; the number can change.
pub struct Permits {
    state: Mutex<(u64, u64)>,
    wake: Condvar,
}

impl Permits {
    pub fn new(most: u64) -> Permits {
        Permits { state: Mutex::new((0, most)), wake: Condvar::new() }
    }

    pub fn set(&self, most: u64) {
        lock(&self.state).1 = most;
        self.wake.notify_all();
    }

    /// Takes one, or keeps the one that was taken if no fewer are wanted by now; else waits for another.
    pub fn keep<'a>(&'a self, permit: &mut Option<Permit<'a>>) {
        let mut state = lock(&self.state);
        if permit.is_some() {
            if state.0 <= state.1 {
                return;
            }
            drop(state);
            *permit = None;
            state = lock(&self.state);
        }
        while state.0 >= state.1 && !is_broken() {
            state = wait(&self.wake, state);
        }
        state.0 += 1;
        *permit = Some(Permit(self));
    }
}

pub struct Permit<'a>(&'a Permits);

impl Drop for Permit<'_> {
    fn drop(&mut self) {
        lock(&self.0.state).0 -= 1;
        self.0.wake.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    fn settles(rate: impl Fn(u64) -> f64) -> (u64, Vec<u64>) {
        let mut depth = Depth::new(None);
        for _ in 0..10 {
            depth.measured(rate(depth.now()));
        }
        (depth.now(), depth.tried().iter().map(|tried| tried.0).collect())
    }

    #[test]
    fn it_settles_where_more_gains_nothing() {
        assert_eq!(settles(|_| 1e9), (2, vec![4, 8, 2]));
        assert_eq!(settles(|depth| if depth < 4 { 0.5e9 } else { 1e9 }), (4, vec![4, 8, 2]));
        assert_eq!(settles(|depth| if depth < 8 { 1e9 } else { 1.9e9 }), (8, vec![4, 8, 16]));
        assert_eq!(settles(|depth| if depth < 16 { 1e9 * if depth < 8 { 1.0 } else { 2.0 } } else { 3e9 }).0, 16);
    }

    #[test]
    fn what_was_chosen_stays() {
        let mut depth = Depth::new(Some(1));
        assert_eq!((depth.measured(1e9), depth.measured(9e9)), (1, 1));
    }

    #[test]
    fn a_permit_is_kept_until_fewer_are_wanted() {
        let permits = Permits::new(2);
        let (mut one, mut other) = (None, None);
        permits.keep(&mut one);
        permits.keep(&mut other);
        permits.keep(&mut one);
        assert_eq!(lock(&permits.state).0, 2);
        permits.set(1);
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| permits.keep(&mut one));
            std::thread::sleep(Duration::from_millis(20));
            assert!(!waiting.is_finished(), "it gave its own back and waits");
            drop(other);
        });
        assert_eq!((one.is_some(), lock(&permits.state).0), (true, 1));
    }
}
