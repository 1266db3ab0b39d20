//! Belady's choice: the page that goes is the one whose next touch is farthest.

use std::collections::BinaryHeap;

/// A page that is touched no more.
const NEVER: u32 = u32::MAX;

/// Misses in a memory of so many pages. `order` are dense page numbers, fewer than 2^32 of them.
///
/// Every page that is touched is loaded; the page that goes is one of those held before.
#[must_use]
pub fn belady_misses(order: &[u32], pages: u64) -> u64 {
    let count = order.iter().max().map_or(0, |&last| last as usize + 1);
    let next = next_touches(order, count);
    // When each page that is held is touched next; a page that is not held has none.
    let mut due: Vec<Option<u32>> = vec![None; count];
    // What is held by when it is touched next, and what was held so: an entry counts where `due` still says the same. Touches that are over
    // are smaller than all to come, so what is taken from the top counts.
    let mut farthest: BinaryHeap<(u32, u32)> = BinaryHeap::new();
    let (mut held, mut misses) = (0u64, 0);
    for (now, (&page, &again)) in (0u32..).zip(order.iter().zip(&next)) {
        if due.get(page as usize).is_none_or(Option::is_none) {
            misses += 1;
            held += 1;
            while held > pages {
                let Some((when, gone)) = farthest.pop() else { break };
                if let Some(entry) = due.get_mut(gone as usize).filter(|entry| **entry == Some(when)) {
                    *entry = None;
                    held -= 1;
                }
            }
        }
        if let Some(entry) = due.get_mut(page as usize) {
            *entry = Some(again);
        }
        farthest.push((again, page));
        if farthest.len() as u64 > pages.saturating_mul(2).saturating_add(1 << 12) {
            farthest.retain(|(when, _)| *when > now);
        }
    }
    misses
}

/// For each touch, when its page is touched again.
fn next_touches(order: &[u32], count: usize) -> Vec<u32> {
    let mut next = vec![NEVER; order.len()];
    let mut seen = vec![NEVER; count];
    for (at, (page, next)) in order.iter().zip(&mut next).enumerate().rev() {
        if let (Some(seen), Ok(now)) = (seen.get_mut(*page as usize), u32::try_from(at)) {
            *next = *seen;
            *seen = now;
        }
    }
    next
}
