//! The same work on many items, by several threads.

use std::sync::Mutex;

use ramline_kernel::worker;

use crate::shared::lock;

/// What `work` makes of each item, in their order: by so many threads, this one among them; where no other is allowed, by this one alone.
pub fn map<T: Sync, R: Send>(items: &[T], threads: usize, work: impl Fn(&T) -> R + Sync) -> Vec<R> {
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
            assert_eq!(super::map(&items, threads, |item| item * 2), (0..11).map(|n| n * 2).collect::<Vec<_>>());
        }
        assert!(super::map(&[], 4, |item: &u32| *item).is_empty());
    }
}
