//! SIGINT, SIGTERM and SIGHUP as a flag that long work looks at, so that interruption cleans up.
//!
//! A blocking system call that restarts is not stopped: loops must look at the flag.
//!
//! ```
//! ramline_kernel::signals::install();
//! assert!(!ramline_kernel::signals::interrupted());
//! ```

#![expect(unsafe_code, reason = "sigaction, signalfd")]

use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, Once};

use crate::limits::Limited;
use crate::prelude::*;
use crate::sys::monotonic;

static RECEIVED: AtomicI32 = AtomicI32::new(0);
/// A thread of ours has failed: all work is to end, as after a signal.
static BROKEN: AtomicBool = AtomicBool::new(false);
/// When the first signal came, in nanoseconds of CLOCK_MONOTONIC.
static SINCE: AtomicU64 = AtomicU64::new(0);
/// Runs with steps that are to be undone.
static TO_PUT_BACK: AtomicUsize = AtomicUsize::new(0);
/// So long a clean-up may take before another signal ends it: a swapoff, a group to empty, a busy device, 2 s each.
const PATIENCE_NS: u64 = 10_000_000_000;
/// One interruption may come twice: timeout(1) signals its child and its own group.
const TWICE_NS: u64 = 500_000_000;
/// As the kernel gives the main thread where nothing limits it, and with how much all commands work.
const STACK: u64 = 8 << 20;
const ENOUGH: u64 = 2 << 20;
/// A handler needs less.
const A_MOMENT: Duration = Duration::from_millis(200);

extern "C" fn remember(signal: libc::c_int) {
    // Only atomics and clock_gettime, which are async-signal-safe.
    let now = monotonic().0;
    if RECEIVED.compare_exchange(0, signal, Ordering::SeqCst, Ordering::SeqCst).is_ok() {
        SINCE.store(now, Ordering::SeqCst);
    } else if is_over(SINCE.load(Ordering::SeqCst), now, TO_PUT_BACK.load(Ordering::SeqCst) > 0) {
        // SAFETY: _exit is async-signal-safe; the journal lets the next run clean up.
        unsafe { libc::_exit(128 + signal) };
    }
}

/// 0 is the moment between the two stores of the first signal.
fn is_over(since: u64, now: u64, to_put_back: bool) -> bool {
    since != 0 && now.saturating_sub(since) >= if to_put_back { PATIENCE_NS } else { TWICE_NS }
}

const CAUGHT: [libc::c_int; 3] = [libc::SIGINT, libc::SIGTERM, libc::SIGHUP];

/// Makes SIGINT, SIGTERM and SIGHUP (the terminal is gone) set the flag; one that is ignored, as under nohup, stays
/// ignored. May be called more than once. A second signal ends the process at once, also while it waits for a file system that does
/// not answer; but where something is being put back, what comes within 10 s of the first is ignored, so that an impatient second Ctrl-C
/// does not stop that. What is left then the next `checkup`, `lab` or `lab clean` removes.
pub fn install() {
    static INSTALLED: Once = Once::new();
    INSTALLED.call_once(|| {
        let mut caught = Vec::new();
        for signal in CAUGHT {
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
            caught.push(signal);
        }
        // Where no thread can be made, a wait that never ends needs SIGKILL.
        drop(std::thread::Builder::new().stack_size(64 << 10).spawn(move || watch(&caught)));
    });
}

/// A handler runs when its thread leaves the kernel. One that waits there for a server that is gone never does, and the signal stays where
/// it is: this thread sees it come (signalfd), gives the handler a moment, and takes it itself if it is still there.
fn watch(caught: &[libc::c_int]) {
    // SAFETY: a zeroed set is emptied before it is used; signalfd, poll and read get buffers of their own sizes.
    unsafe {
        let mut set: libc::sigset_t = std::mem::zeroed();
        libc::sigemptyset(&raw mut set);
        for signal in caught {
            libc::sigaddset(&raw mut set, *signal);
        }
        // Of this thread alone: what others catch they catch as before.
        libc::pthread_sigmask(libc::SIG_BLOCK, &raw const set, std::ptr::null_mut());
        let fd = libc::signalfd(-1, &raw const set, libc::SFD_CLOEXEC | libc::SFD_NONBLOCK);
        if fd < 0 {
            return;
        }
        loop {
            let mut polled = libc::pollfd { fd, events: libc::POLLIN, revents: 0 };
            if libc::poll(&raw mut polled, 1, -1) < 0 && *libc::__errno_location() != libc::EINTR {
                return;
            }
            std::thread::sleep(A_MOMENT);
            let mut info: libc::signalfd_siginfo = std::mem::zeroed();
            let size = std::mem::size_of::<libc::signalfd_siginfo>();
            while usize::try_from(libc::read(fd, (&raw mut info).cast(), size)) == Ok(size) {
                remember(libc::c_int::try_from(info.ssi_signo).unwrap_or(libc::SIGTERM));
            }
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

/// Does a command's work, with a stack as large as usual whatever `ulimit -s` says: the limit is raised where that is allowed, and else the
/// work is done in a thread of its own. `None` when it panicked.
pub fn with_a_usual_stack<T: Send>(work: impl FnOnce() -> T + Send) -> Option<T> {
    // Whoever has less than enough gets the usual size, or a thread that has it.
    let enough = Limited::Stack.now().is_none_or(|now| now >= ENOUGH) || Limited::Stack.at_least(STACK);
    let work = Mutex::new(Some(work));
    let take = || work.lock().unwrap_or_else(std::sync::PoisonError::into_inner).take();
    let here = || std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| take().map(|work| work()))).ok().flatten();
    if enough {
        return here();
    }
    std::thread::scope(|scope| {
        let size = usize::try_from(STACK).unwrap_or(8 << 20);
        let begun = std::thread::Builder::new().stack_size(size).spawn_scoped(scope, || take().map(|work| work()));
        match begun {
            Ok(thread) => thread.join().ok().flatten(),
            Err(_) => here(),
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
    fn the_panic_of_work_is_told() {
        assert_eq!(with_a_usual_stack(|| 7), Some(7));
        assert_eq!(with_a_usual_stack(|| -> u8 { panic!("injected") }), None);
    }
}
