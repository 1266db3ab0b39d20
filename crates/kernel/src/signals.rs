//! SIGINT, SIGTERM and SIGHUP as a flag that long work looks at, so that interruption cleans up.
//!
//! What it is not: a way to stop a blocking system call that restarts; loops must look at the flag.
//!
//! ```
//! ramline_kernel::signals::install();
//! assert!(!ramline_kernel::signals::interrupted());
//! ```

#![expect(unsafe_code, reason = "sigaction")]

use std::sync::atomic::{AtomicI32, Ordering};

static RECEIVED: AtomicI32 = AtomicI32::new(0);

extern "C" fn remember(signal: libc::c_int) {
    // Only the flag: anything else is not async-signal-safe. A second signal of the same kind kills at once.
    if RECEIVED.swap(signal, Ordering::SeqCst) != 0 {
        // SAFETY: _exit is async-signal-safe; the journal lets the next run clean up.
        unsafe { libc::_exit(128 + signal) };
    }
}

/// Makes SIGINT, SIGTERM and SIGHUP (the terminal is gone) set the flag; one that is ignored, as under nohup, stays
/// ignored. May be called more than once. The second signal ends the process at once; then the next `checkup`, `lab` or
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
