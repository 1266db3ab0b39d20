//! What several threads add to and do together, pages in bytes, names in documents, and who else evicts here.
//!
//! A thread that panicked while it held a lock left whole what is behind it: every change is one push
//! or one sum, and the panic itself ends the command when its thread is joined.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Condvar, MutexGuard, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use ramline_snapshot::cache::Name;

use crate::prelude::*;

/// Pages of this machine in bytes.
pub fn bytes(pages: u64) -> Bytes {
    Bytes(pages.saturating_mul(process::page_size()))
}

/// Milliseconds since 1970.
pub fn now_ms() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(now.as_millis()).unwrap_or(u64::MAX)
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

/// Waits to be woken, and not for ever: a thread that has failed wakes nobody, and then the caller must look at
/// [`is_broken`](ramline_kernel::signals::is_broken).
pub fn wait<'a, T>(wake: &Condvar, held: MutexGuard<'a, T>) -> MutexGuard<'a, T> {
    wake.wait_timeout(held, Duration::from_millis(200)).unwrap_or_else(PoisonError::into_inner).0
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

/// The name of a path in a document.
pub fn name(path: &Path) -> Name {
    Name::new(path.as_os_str().as_bytes())
}

#[derive(Debug, Default)]
pub struct Remarks(Mutex<BTreeMap<String, (u64, Option<Name>)>>);

impl Remarks {
    /// Adds files to a remark; the first example stays.
    pub fn add(&self, text: &str, files: u64, example: Option<&Path>) {
        if files == 0 {
            return;
        }
        let mut all = lock(&self.0);
        let entry = all.entry(text.to_owned()).or_default();
        entry.0 += files;
        if entry.1.is_none() {
            entry.1 = example.map(name);
        }
    }

    /// All of them, those true of most files first.
    pub fn take(&self) -> Vec<Remark> {
        let all = std::mem::take(&mut *lock(&self.0));
        let mut out: Vec<Remark> =
            all.into_iter().map(|(text, (files, example))| Remark { text, files, example }).collect();
        ramline_units::sort_by_key(&mut out, |remark| std::cmp::Reverse(remark.files));
        out
    }
}

/// Named, as far as they can be seen (root sees more).
pub fn evictors(root: &Root) -> Vec<String> {
    let seen = ramline_gather::evictors(root);
    let Some(found) = seen.data() else { return Vec::new() };
    let mut out = Vec::new();
    for scheme in found.schemes.iter().filter(|scheme| scheme.state == "on" && scheme.action == "pageout") {
        out.push(format!("a DAMON pageout scheme (kdamond {})", scheme.kdamond));
    }
    if found.damon_reclaim.get("enabled").is_some_and(|value| value == "Y") {
        out.push("damon_reclaim".to_owned());
    }
    // One that only watches (damon_stat) takes no page away.
    let threads = found.hidden_threads();
    if out.is_empty() && threads > 0 {
        let word = if threads == 1 { "thread" } else { "threads" };
        out.push(format!("perhaps DAMON, which has {threads} {word} whose scheme cannot be seen"));
    }
    out.dedup();
    out
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
