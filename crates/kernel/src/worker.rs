//! Threads of ours that work beside others: one that fails ends the whole command, with an error and everything put back, and never
//! leaves the others waiting for what it was to do.
//!
//! What it is not: a pool. It wraps what a thread does.

use std::thread::JoinHandle;

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

/// Begins a thread of its own with [`run`].
pub fn spawn<T: Send + 'static>(kind: &'static str, work: impl FnOnce() -> T + Send + 'static) -> JoinHandle<T> {
    std::thread::spawn(move || run(kind, work))
}
