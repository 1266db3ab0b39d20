//! What several threads add to and do together, and pages in bytes. A thread that panicked while it held a lock left whole what is behind it: every change is one push
//! or one sum, and the panic itself ends the command when its thread is joined.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use ramline_kernel::{process, signals, worker};
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

/// What `work` makes of each item, in their order: by so many threads, this one among them; where no other is allowed, by this one alone.
pub fn parallel_map<T: Sync, R: Send>(items: &[T], threads: usize, work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let mut out: Vec<Option<R>> = items.iter().map(|_| None).collect();
    let piece = items.len().div_ceil(threads.max(1)).max(1);
    let pieces: Vec<_> = out.chunks_mut(piece).zip(items.chunks(piece)).collect();
    let (others, pieces) = (pieces.len().saturating_sub(1), Mutex::new(pieces));
    let next = || lock(&pieces).pop();
    let all = || {
        while let Some((out, items)) = next() {
            out.iter_mut().zip(items).for_each(|(out, item)| *out = Some(work(item)));
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..others {
            if !worker::with_own_descriptors(scope, "asking-again", all) {
                break;
            }
        }
        all();
    });
    drop(pieces);
    out.into_iter().flatten().collect()
}

#[cfg(test)]
mod tests {
    #[test]
    fn results_stand_in_the_order_of_the_items() {
        let items: Vec<u32> = (0..11).collect();
        for threads in [0, 1, 4, 99] {
            assert_eq!(
                super::parallel_map(&items, threads, |item| item * 2),
                (0..11).map(|n| n * 2).collect::<Vec<_>>()
            );
        }
        assert!(super::parallel_map(&[], 4, |item: &u32| *item).is_empty());
    }
}
