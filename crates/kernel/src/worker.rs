//! Threads of ours that work beside others: one that fails ends the whole command, with an error and everything put back, and never
//! leaves the others waiting for what it was to do.

#![expect(unsafe_code, reason = "unshare")]

use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::thread::{Builder, JoinHandle, Scope, ScopedJoinHandle};
use std::time::Duration;

use crate::signals;

/// Enough for some system calls.
const SMALL_STACK: usize = 64 << 10;
/// For tests: a worker of this kind panics when it begins.
const PANIC_IN: &str = "RAMLINE_TEST_PANIC_IN";

/// Does the work of a thread; `kind` names it for tests. Should it panic, all other work ends as after a signal ([`signals::break_off`]).
pub fn run<T>(kind: &str, work: impl FnOnce() -> T) -> T {
    let _watched = Watched;
    if std::env::var(PANIC_IN).is_ok_and(|wanted| wanted == kind) {
        injected(kind);
    }
    work()
}

#[expect(clippy::panic, reason = "what the tests ask for")]
fn injected(kind: &str) -> ! {
    panic!("injected into a worker: {kind}")
}

struct Watched;

impl Drop for Watched {
    fn drop(&mut self) {
        if std::thread::panicking() {
            signals::break_off();
        }
    }
}

/// Begins one of several threads that share the work; `None` where no more threads are allowed, and then the others do it.
pub fn beside<'scope, T: Send + 'scope>(
    scope: &'scope Scope<'scope, '_>,
    kind: &'static str,
    work: impl FnOnce() -> T + Send + 'scope,
) -> Option<ScopedJoinHandle<'scope, T>> {
    Builder::new().spawn_scoped(scope, move || run(kind, work)).ok()
}

/// Does something for each number below `count`, in a thread for each, and waits for all; what panics leaves the others be. Where no more threads are allowed it
/// is done here.
pub fn side_by_side(kind: &'static str, count: usize, what: &(dyn Fn(usize) + Sync)) {
    std::thread::scope(|scope| {
        let begun: Vec<_> = (0..count).map(|number| (number, beside(scope, kind, move || what(number)))).collect();
        for (number, thread) in begun {
            match thread {
                // Who counts what was done finds out.
                Some(thread) => drop(thread.join()),
                None => what(number),
            }
        }
    });
}

/// A thread with a table of descriptors of its own, which begins as a copy: opening and closing in it waits for no other thread. Where that is
/// forbidden (a container's filter), the table is shared. `kind` names it, as in [`run`].
///
/// # What must not be
/// A descriptor that goes from one table to another: what is opened in this thread must be closed in it, and what others open while it
/// lives must not be used here, since the same number would be that of something else. `work` must not own anything that is open.
///
/// False where no more threads are allowed (`ulimit -u`, a container): then the work is not done, and the caller does it itself.
#[must_use]
pub fn with_own_descriptors<'scope>(
    scope: &'scope Scope<'scope, '_>,
    kind: &'static str,
    work: impl FnOnce() + Send + 'scope,
) -> bool {
    let begun = Builder::new().spawn_scoped(scope, || {
        // SAFETY: unshare touches no memory of ours; nothing open comes back from the thread.
        unsafe { libc::unshare(libc::CLONE_FILES) };
        run(kind, work);
    });
    begun.is_ok()
}

/// What `work` gives, if it does within this time; otherwise it is left behind: a thread that waits in the kernel cannot be ended, and ends
/// with the program. Where no more threads are allowed it is done here, however long it takes.
pub fn within<T: Send + 'static>(
    kind: &'static str,
    most: Duration,
    work: impl FnOnce() -> T + Send + 'static,
) -> Option<T> {
    let (give, take) = mpsc::sync_channel(1);
    let work = Arc::new(Mutex::new(Some(work)));
    let theirs = Arc::clone(&work);
    let next = |work: &Mutex<Option<_>>| work.lock().unwrap_or_else(PoisonError::into_inner).take();
    let begun = Builder::new().spawn(move || {
        if let Some(work) = next(&theirs) {
            // Nothing waits for it any more once it is late.
            drop(give.send(run(kind, work)));
        }
    });
    match begun {
        Ok(_) => take.recv_timeout(most).ok(),
        Err(_) => next(&work).map(|work| work()),
    }
}

/// Threads can be begun here at all.
#[must_use]
pub fn are_allowed() -> bool {
    Builder::new().stack_size(64 << 10).spawn(|| ()).is_ok_and(|thread| thread.join().is_ok())
}

/// A thread that does little and has a small stack; `None` where no more threads are allowed.
pub fn small<T: Send + 'static>(
    kind: &'static str,
    work: impl FnOnce() -> T + Send + 'static,
) -> Option<JoinHandle<T>> {
    Builder::new().stack_size(SMALL_STACK).spawn(move || run(kind, work)).ok()
}

/// Begins a thread of its own with [`run`].
pub fn spawn<T: Send + 'static>(kind: &'static str, work: impl FnOnce() -> T + Send + 'static) -> JoinHandle<T> {
    std::thread::spawn(move || run(kind, work))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_that_waits_for_ever_is_left_behind_and_other_work_is_not() {
        assert_eq!(within("test", Duration::from_secs(600), || 7), Some(7));
        let (hold, wait) = mpsc::channel::<()>();
        assert_eq!(within("test", Duration::from_millis(20), move || wait.recv().is_ok()), None);
        drop(hold);
    }
}
