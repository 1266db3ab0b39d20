//! Work that makes more work, for several threads: the last pushed is taken first, and all are done when all are idle.
//!
//! Taking the last first keeps a walk deep and few directories open.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex};

use ramline_kernel::signals::is_broken;

use crate::shared::{lock, wait};

pub struct Queue<T> {
    state: Mutex<State<T>>,
    wake: Condvar,
    threads: usize,
    idle: AtomicBool,
}

struct State<T> {
    items: Vec<T>,
    idle: usize,
    /// Threads that were never begun.
    missing: usize,
}

impl<T> State<T> {
    const fn are_all_idle(&self, threads: usize) -> bool {
        self.idle + self.missing >= threads
    }
}

impl<T> Queue<T> {
    /// With its first items, for so many threads, each of which must call [`Queue::take`] until it says `None`.
    pub fn new(items: Vec<T>, threads: usize) -> Queue<T> {
        Queue {
            state: Mutex::new(State { items, idle: 0, missing: 0 }),
            wake: Condvar::new(),
            threads,
            idle: AtomicBool::new(false),
        }
    }

    pub fn push(&self, item: T) {
        let mut state = lock(&self.state);
        state.items.push(item);
        self.idle.store(state.idle > state.items.len(), Ordering::Relaxed);
        drop(state);
        self.wake.notify_one();
    }

    /// The next item; waits for one while others may still push. `None` once nobody can.
    pub fn take(&self) -> Option<T> {
        let mut state = lock(&self.state);
        loop {
            if let Some(item) = state.items.pop() {
                self.idle.store(state.idle > state.items.len(), Ordering::Relaxed);
                return Some(item);
            }
            state.idle += 1;
            if state.are_all_idle(self.threads) {
                self.wake.notify_all();
                return None;
            }
            self.idle.store(true, Ordering::Relaxed);
            // Woken for no reason it waits on, idle all the while.
            while state.items.is_empty() && !state.are_all_idle(self.threads) && !is_broken() {
                state = wait(&self.wake, state);
            }
            if state.are_all_idle(self.threads) || is_broken() {
                return None;
            }
            state.idle -= 1;
        }
    }

    /// So many of its threads could not be begun: nobody waits for them.
    pub fn without(&self, threads: usize) {
        let mut state = lock(&self.state);
        state.missing += threads;
        drop(state);
        self.wake.notify_all();
    }

    /// True while a thread waits: work worth sharing should be shared.
    pub fn has_idle_thread(&self) -> bool {
        self.idle.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicU64;

    #[test]
    fn every_item_is_taken_once_and_all_threads_come_to_an_end() {
        let (queue, sum) = (Queue::new(vec![10u64], 4), AtomicU64::new(0));
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    while let Some(n) = queue.take() {
                        sum.fetch_add(1, Ordering::Relaxed);
                        (0..2).filter(|_| n > 0).for_each(|_| queue.push(n - 1));
                    }
                });
            }
        });
        assert_eq!(sum.load(Ordering::Relaxed), (1 << 11) - 1);
    }
}
