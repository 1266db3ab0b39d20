//! Threads of ours that work beside others: one that fails ends the whole command, with an error and everything put back, and never
//! leaves the others waiting for what it was to do.
//!
//! What it is not: a pool. It wraps what a thread does.

use std::thread::{Builder, JoinHandle, Scope, ScopedJoinHandle};

use crate::signals;

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

/// Threads can be begun here at all.
#[must_use]
pub fn are_allowed() -> bool {
    Builder::new().stack_size(64 << 10).spawn(|| ()).is_ok_and(|thread| thread.join().is_ok())
}

/// Begins a thread of its own with [`run`].
pub fn spawn<T: Send + 'static>(kind: &'static str, work: impl FnOnce() -> T + Send + 'static) -> JoinHandle<T> {
    std::thread::spawn(move || run(kind, work))
}
