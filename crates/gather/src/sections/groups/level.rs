//! One level of the tree of groups, shared among threads.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use ramline_kernel::worker;

/// Threads of one walk: more would take processors from what the machine is there for.
const THREADS: usize = 4;
/// Groups a thread takes at a time: 1 to 4 ms of reading. A level of fewer is read by one.
pub const AT_A_TIME: usize = 64;
/// The same of groups that are open from the walk before.
pub const OPEN_AT_A_TIME: usize = 256;

/// Does `work` on each of `these` and gives what each thread has found. False where time was up before the last.
pub fn shared<W: Sync, T: Default + Send>(
    these: &[W],
    at_a_time: usize,
    is_late: impl Fn() -> bool + Sync,
    work: impl Fn(&W, &mut T) + Sync,
) -> (Vec<T>, bool) {
    let (begun, late) = (AtomicUsize::new(0), AtomicBool::new(false));
    let all = Mutex::new(Vec::new());
    let one = || {
        let mut found = T::default();
        loop {
            let from = begun.fetch_add(at_a_time, Ordering::Relaxed);
            let portion = these.iter().skip(from).take(at_a_time);
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
    let portions = these.len().div_ceil(at_a_time);
    // Asking how many processors may be used reads files.
    let cpus = if portions > 1 { std::thread::available_parallelism().map_or(1, std::num::NonZero::get) } else { 1 };
    std::thread::scope(|scope| {
        for _ in 1..cpus.min(THREADS).min(portions) {
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
        let (found, complete) = shared(&these, AT_A_TIME, || false, |n, out: &mut Vec<usize>| out.push(*n));
        let mut all = found.concat();
        all.sort_unstable();
        assert!(complete && all == these);
        let (found, complete) = shared(&these, AT_A_TIME, || true, |n, out: &mut Vec<usize>| out.push(*n));
        assert!(!complete && found.concat().is_empty());
        assert!(shared(&[], AT_A_TIME, || true, |(), _: &mut Vec<usize>| ()).1);
    }
}
