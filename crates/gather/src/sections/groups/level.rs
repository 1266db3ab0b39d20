//! One level of the tree of groups, shared among threads.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use ramline_kernel::worker;

/// Threads of one walk: more would take processors from what the machine is there for.
const THREADS: usize = 4;
/// Groups a thread takes at a time: 1 to 4 ms of reading. A level of fewer is read by one.
const AT_A_TIME: usize = 64;

/// Does `work` on each of `these` and gives what each thread has found. False where time was up before the last.
pub fn shared<W: Sync, T: Default + Send>(
    these: &[W],
    is_late: impl Fn() -> bool + Sync,
    work: impl Fn(&W, &mut T) + Sync,
) -> (Vec<T>, bool) {
    let (begun, late) = (AtomicUsize::new(0), AtomicBool::new(false));
    let all = Mutex::new(Vec::new());
    let one = || {
        let mut found = T::default();
        loop {
            let from = begun.fetch_add(AT_A_TIME, Ordering::Relaxed);
            let portion = these.iter().skip(from).take(AT_A_TIME);
            if portion.len() == 0 {
                break;
            }
            for this in portion {
                if late.load(Ordering::Relaxed) || is_late() {
                    late.store(true, Ordering::Relaxed);
                    break;
                }
                work(this, &mut found);
            }
        }
        all.lock().unwrap_or_else(PoisonError::into_inner).push(found);
    };
    let cpus = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    std::thread::scope(|scope| {
        for _ in 1..cpus.min(THREADS).min(these.len().div_ceil(AT_A_TIME)) {
            worker::beside(scope, "groups", one);
        }
        one();
    });
    (all.into_inner().unwrap_or_else(PoisonError::into_inner), !late.into_inner())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_is_worked_on_once_and_what_is_late_is_said() {
        let these: Vec<usize> = (0..1000).collect();
        let (found, complete) = shared(&these, || false, |n, out: &mut Vec<usize>| out.push(*n));
        let mut all = found.concat();
        all.sort_unstable();
        assert!(complete && all == these);
        let (found, complete) = shared(&these, || true, |n, out: &mut Vec<usize>| out.push(*n));
        assert!(!complete && found.concat().is_empty());
        assert!(shared(&[], || true, |(), _: &mut Vec<usize>| ()).1);
    }
}
