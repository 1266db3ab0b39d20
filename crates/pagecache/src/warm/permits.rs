//! How many readers may read at a time.

use std::sync::{Condvar, Mutex};

use crate::shared::{is_broken, lock, wait};

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
