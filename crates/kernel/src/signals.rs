//! SIGINT, SIGTERM and SIGHUP as a flag that long work looks at, so that interruption cleans up.
//!
//! What it is not: a way to stop a blocking system call that restarts; loops must look at the flag.
//!
//! ```
//! ramline_kernel::signals::install();
//! assert!(!ramline_kernel::signals::interrupted());
//! ```

#![expect(unsafe_code, reason = "sigaction")]

use std::sync::atomic::{AtomicI32, AtomicU64, Ordering};

static RECEIVED: AtomicI32 = AtomicI32::new(0);
/// When the first signal came, in nanoseconds of CLOCK_MONOTONIC.
static SINCE: AtomicU64 = AtomicU64::new(0);
/// So long a clean-up may take before another signal ends it: a swapoff, a group to empty, a busy device, 2 s each.
const PATIENCE_NS: u64 = 10_000_000_000;

extern "C" fn remember(signal: libc::c_int) {
    // Only atomics and clock_gettime, which are async-signal-safe.
    let now = crate::process::monotonic().0;
    if RECEIVED.compare_exchange(0, signal, Ordering::SeqCst, Ordering::SeqCst).is_ok() {
        SINCE.store(now, Ordering::SeqCst);
    } else if is_over(SINCE.load(Ordering::SeqCst), now) {
        // SAFETY: _exit is async-signal-safe; the journal lets the next run clean up.
        unsafe { libc::_exit(128 + signal) };
    }
}

/// 0 is the moment between the two stores of the first signal.
fn is_over(since: u64, now: u64) -> bool {
    since != 0 && now.saturating_sub(since) >= PATIENCE_NS
}

/// Makes SIGINT, SIGTERM and SIGHUP (the terminal is gone) set the flag; one that is ignored, as under nohup, stays
/// ignored. May be called more than once. What comes within 10 s of the first is ignored, so that an impatient second
/// Ctrl-C does not stop the clean-up; after that a signal ends the process at once, and the next `checkup`, `lab` or
/// `lab clean` removes what is left.
pub fn install() {
    for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGHUP] {
        // SAFETY: a zeroed sigaction is valid; the handler only touches an atomic and _exit.
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

/// The signal that asked us to stop, if one did.
#[must_use]
pub fn received() -> Option<i32> {
    match RECEIVED.load(Ordering::SeqCst) {
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
    fn a_repeated_signal_is_ignored_until_ten_seconds_after_the_first() {
        assert!(!is_over(5, 5) && !is_over(5, 4 + PATIENCE_NS) && is_over(5, 5 + PATIENCE_NS));
        assert!(!is_over(0, u64::MAX), "the first is just being noted");
    }
}
