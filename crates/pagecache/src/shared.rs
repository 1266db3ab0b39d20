//! What several threads add to, and pages in bytes. A thread that panicked while it held a lock left whole what is behind it: every change is one push
//! or one sum, and the panic itself ends the command when its thread is joined.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use ramline_kernel::{process, signals};
use ramline_units::Bytes;

/// Pages of this machine in bytes.
pub fn bytes(pages: u64) -> Bytes {
    Bytes(pages.saturating_mul(process::page_size()))
}

/// A sum.
#[derive(Debug, Default)]
pub struct Count(AtomicU64);

impl Count {
    pub fn add(&self, more: u64) {
        self.0.fetch_add(more, Ordering::Relaxed);
    }

    pub fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

pub fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

pub fn owned<T>(mutex: Mutex<T>) -> T {
    mutex.into_inner().unwrap_or_else(PoisonError::into_inner)
}

/// Waits to be woken, and not for ever: a thread that has failed wakes nobody, and then the caller must look at [`signals::is_broken`].
pub fn wait<'a, T>(wake: &Condvar, held: MutexGuard<'a, T>) -> MutexGuard<'a, T> {
    wake.wait_timeout(held, Duration::from_millis(200)).unwrap_or_else(PoisonError::into_inner).0
}

/// A thread has failed: what is waited for may never come.
pub fn is_broken() -> bool {
    signals::is_broken()
}
