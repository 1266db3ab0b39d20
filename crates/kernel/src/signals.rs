//! SIGINT, SIGTERM and SIGHUP as a flag that long work looks at, so that interruption cleans up.
//!
//! What it is not: a way to stop a blocking system call that restarts; loops must look at the flag.
//!
//! ```
//! ramline_kernel::signals::install();
//! assert!(!ramline_kernel::signals::interrupted());
//! ```

#![expect(unsafe_code, reason = "sigaction, tgkill")]

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU64, AtomicUsize, Ordering};

static RECEIVED: AtomicI32 = AtomicI32::new(0);
/// A thread of ours has failed: all work is to end, as after a signal.
static BROKEN: AtomicBool = AtomicBool::new(false);
/// When the first signal came, in nanoseconds of CLOCK_MONOTONIC.
static SINCE: AtomicU64 = AtomicU64::new(0);
/// Runs with steps that are to be undone.
static TO_PUT_BACK: AtomicUsize = AtomicUsize::new(0);
/// The thread that does the work, where it is not the main one.
static WORKER: AtomicI32 = AtomicI32::new(0);
/// So long a clean-up may take before another signal ends it: a swapoff, a group to empty, a busy device, 2 s each.
const PATIENCE_NS: u64 = 10_000_000_000;
/// One interruption may come twice: timeout(1) signals its child and its own group.
const TWICE_NS: u64 = 500_000_000;
/// As the kernel gives the main thread where nothing limits it.
const STACK: usize = 8 << 20;

extern "C" fn remember(signal: libc::c_int) {
    // Only atomics, clock_gettime and system calls, which are async-signal-safe.
    let now = crate::process::monotonic().0;
    if RECEIVED.compare_exchange(0, signal, Ordering::SeqCst, Ordering::SeqCst).is_ok() {
        SINCE.store(now, Ordering::SeqCst);
        let worker = WORKER.load(Ordering::SeqCst);
        if worker != 0 {
            // A system call in which it waits ends with EINTR.
            // SAFETY: tgkill touches no memory of ours; the signal has a handler that does nothing.
            unsafe { libc::syscall(libc::SYS_tgkill, libc::getpid(), worker, libc::SIGURG) };
        }
    } else if is_over(SINCE.load(Ordering::SeqCst), now, TO_PUT_BACK.load(Ordering::SeqCst) > 0) {
        // SAFETY: _exit is async-signal-safe; the journal lets the next run clean up.
        unsafe { libc::_exit(128 + signal) };
    }
}

/// 0 is the moment between the two stores of the first signal.
fn is_over(since: u64, now: u64, to_put_back: bool) -> bool {
    since != 0 && now.saturating_sub(since) >= if to_put_back { PATIENCE_NS } else { TWICE_NS }
}

/// Makes SIGINT, SIGTERM and SIGHUP (the terminal is gone) set the flag; one that is ignored, as under nohup, stays
/// ignored. May be called more than once. A second signal ends the process at once, also while it waits for a file system that does
/// not answer; but where something is being put back, what comes within 10 s of the first is ignored, so that an impatient second Ctrl-C
/// does not stop that. What is left then the next `checkup`, `lab` or `lab clean` removes.
pub fn install() {
    for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGHUP] {
        // SAFETY: a zeroed sigaction is valid; the handler only touches atomics and makes system calls.
        unsafe {
            let mut action: libc::sigaction = std::mem::zeroed();
            libc::sigaction(signal, std::ptr::null(), &raw mut action);
            if action.sa_sigaction == libc::SIG_IGN {
                continue;
            }
            action = std::mem::zeroed();
            let handler: extern "C" fn(libc::c_int) = remember;
            action.sa_sigaction = handler as libc::sighandler_t;
            libc::sigaction(signal, &raw const action, std::ptr::null_mut());
        }
    }
}

/// While it lives, something must be put back before the process may end.
#[derive(Debug)]
pub struct ToPutBack(());

impl ToPutBack {
    /// From here on.
    #[must_use]
    pub fn begins() -> ToPutBack {
        TO_PUT_BACK.fetch_add(1, Ordering::SeqCst);
        ToPutBack(())
    }
}

impl Drop for ToPutBack {
    fn drop(&mut self) {
        TO_PUT_BACK.fetch_sub(1, Ordering::SeqCst);
    }
}

/// Does all of a command's work in a thread of its own, while the main thread only takes signals: so a second one ends the process also
/// when the work waits in the kernel for what never comes. Its stack is as large as usual whatever `ulimit -s` says. `None` when it panicked.
pub fn work_apart<T: Send>(work: impl FnOnce() -> T + Send) -> Option<T> {
    extern "C" fn nothing(_: libc::c_int) {}
    let handler: extern "C" fn(libc::c_int) = nothing;
    // SAFETY: a zeroed sigaction is valid, and the handler does nothing; without SA_RESTART it ends what waits.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = handler as libc::sighandler_t;
        libc::sigaction(libc::SIGURG, &raw const action, std::ptr::null_mut());
    }
    let work = Mutex::new(Some(work));
    let take = || work.lock().unwrap_or_else(std::sync::PoisonError::into_inner).take();
    std::thread::scope(|scope| {
        let begun = std::thread::Builder::new().stack_size(STACK).spawn_scoped(scope, || {
            // SAFETY: gettid always succeeds.
            WORKER.store(unsafe { libc::gettid() }, Ordering::SeqCst);
            let done = take().map(|work| work());
            WORKER.store(0, Ordering::SeqCst);
            done
        });
        match begun {
            Ok(thread) => thread.join().ok().flatten(),
            // No more threads are allowed here.
            Err(_) => {
                let work = take()?;
                std::panic::catch_unwind(std::panic::AssertUnwindSafe(work)).ok()
            }
        }
    })
}

/// Ends all work as a signal would: a thread of ours has failed, and what it was to do will not be done.
pub fn break_off() {
    BROKEN.store(true, Ordering::SeqCst);
}

/// A thread of ours has failed.
#[must_use]
pub fn is_broken() -> bool {
    BROKEN.load(Ordering::SeqCst)
}

/// The signal that asked us to stop, if one did; SIGABRT where a thread of ours has failed.
#[must_use]
pub fn received() -> Option<i32> {
    match RECEIVED.load(Ordering::SeqCst) {
        0 if is_broken() => Some(libc::SIGABRT),
        0 => None,
        signal => Some(signal),
    }
}

/// True once one of them has come.
#[must_use]
pub fn interrupted() -> bool {
    received().is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_repeated_signal_waits_ten_seconds_for_what_is_put_back_and_for_nothing_else() {
        assert!(!is_over(5, 5, true) && !is_over(5, 4 + PATIENCE_NS, true) && is_over(5, 5 + PATIENCE_NS, true));
        assert!(!is_over(5, 4 + TWICE_NS, false) && is_over(5, 5 + TWICE_NS, false));
        assert!(!is_over(0, u64::MAX, false), "the first is just being noted");
    }

    #[test]
    fn work_has_a_stack_of_its_own_and_its_panic_is_told() {
        assert_eq!(work_apart(|| 7), Some(7));
        assert_eq!(work_apart(|| -> u8 { panic!("injected") }), None);
    }
}
