//! What several threads add to. A thread that panicked while it held a lock left whole what is behind it: every change is one push
//! or one sum, and the panic itself ends the command when its thread is joined.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

pub fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

pub fn owned<T>(mutex: Mutex<T>) -> T {
    mutex.into_inner().unwrap_or_else(PoisonError::into_inner)
}

pub fn wait<'a, T>(wake: &Condvar, held: MutexGuard<'a, T>) -> MutexGuard<'a, T> {
    wake.wait(held).unwrap_or_else(PoisonError::into_inner)
}
