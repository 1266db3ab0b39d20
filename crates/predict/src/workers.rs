//! Work that may be done side by side: who calls decides by what, since nothing here begins a thread.
//!
//! ```
//! use ramline_predict::workers::Workers;
//! assert_eq!(Workers::ONE.map(3, |number| number * number), [Some(0), Some(1), Some(4)]);
//! ```

use std::sync::{Mutex, PoisonError};

/// Does something for each number below a count, all at the same time or one after the other, and comes back when all are done.
pub type Each<'a> = &'a (dyn Fn(usize, &(dyn Fn(usize) + Sync)) + Sync);

/// Threads that do the work.
#[derive(Clone, Copy)]
pub struct Workers<'a> {
    /// So many things are done at the same time.
    pub count: usize,
    /// Does so many.
    pub each: Each<'a>,
}

impl Workers<'static> {
    /// One after the other.
    pub const ONE: Workers<'static> = Workers { count: 1, each: &|count, what| (0..count).for_each(what) };
}

impl Workers<'_> {
    /// Result for each number below `count`, in their order; `None` where the work broke off.
    pub fn map<T: Send>(&self, count: usize, what: impl Fn(usize) -> T + Sync) -> Vec<Option<T>> {
        let done: Vec<Mutex<Option<T>>> = (0..count).map(|_| Mutex::new(None)).collect();
        (self.each)(count, &|number| {
            let value = what(number);
            if let Some(place) = done.get(number) {
                *place.lock().unwrap_or_else(PoisonError::into_inner) = Some(value);
            }
        });
        done.into_iter().map(|place| place.into_inner().unwrap_or_else(PoisonError::into_inner)).collect()
    }

    /// What becomes of each, in their order, in as many parts as there are workers.
    ///
    /// # Panics
    /// Where the work broke off.
    pub fn in_parts<T: Sync, U: Send>(&self, all: &[T], what: impl Fn(&T) -> U + Sync) -> Vec<U> {
        let parts: Vec<&[T]> = all.chunks(all.len().div_ceil(self.count.max(1)).max(1)).collect();
        let done =
            self.map(parts.len(), |part| parts.get(part).copied().unwrap_or_default().iter().map(&what).collect());
        done.into_iter().flat_map(|part: Option<Vec<U>>| part.unwrap_or_else(|| broke_off())).collect()
    }
}

#[expect(clippy::panic, reason = "the worker's own panic goes on")]
fn broke_off() -> ! {
    panic!("a worker broke off")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_done_in_any_order_and_given_in_their_own() {
        let backwards = Workers { count: 3, each: &|count, what| (0..count).rev().for_each(what) };
        let all: Vec<u32> = (0..10).collect();
        assert_eq!(backwards.in_parts(&all, |one| one * 2), (0..10).map(|one| one * 2).collect::<Vec<_>>());
        assert_eq!(Workers::ONE.in_parts(&[0_u32; 0], |one| *one), Vec::<u32>::new());
        let lazy = Workers { count: 2, each: &|_, what| what(1) };
        assert_eq!(lazy.map(2, |number| number), [None, Some(1)]);
    }
}
