//! The largest of many, in the memory of the few that are kept.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Keeps at most `room` things by size.
pub struct Largest<T> {
    room: usize,
    heap: BinaryHeap<Reverse<Entry<T>>>,
}

struct Entry<T> {
    size: u64,
    thing: T,
}

impl<T> PartialEq for Entry<T> {
    fn eq(&self, other: &Self) -> bool {
        self.size == other.size
    }
}
impl<T> Eq for Entry<T> {}
impl<T> PartialOrd for Entry<T> {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}
impl<T> Ord for Entry<T> {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.size.cmp(&other.size)
    }
}

impl<T> Largest<T> {
    pub fn new(room: usize) -> Self {
        Largest { room, heap: BinaryHeap::new() }
    }

    /// True when a thing of this size would be kept: only then it is worth making. Nothing of size 0 is.
    pub fn takes(&self, size: u64) -> bool {
        size > 0 && (self.heap.len() < self.room || self.heap.peek().is_some_and(|smallest| smallest.0.size < size))
    }

    pub fn add(&mut self, size: u64, thing: T) {
        if self.takes(size) {
            if self.heap.len() >= self.room {
                self.heap.pop();
            }
            self.heap.push(Reverse(Entry { size, thing }));
        }
    }

    /// Largest first.
    pub fn into_vec(self) -> Vec<T> {
        self.heap.into_sorted_vec().into_iter().map(|entry| entry.0.thing).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_largest_are_kept_largest_first() {
        let mut kept = Largest::new(3);
        for size in [5, 1, 9, 0, 7, 3, 8] {
            kept.add(size, size);
        }
        assert!(!kept.takes(7) && kept.takes(8));
        assert_eq!(kept.into_vec(), [9, 8, 7]);
        assert!(!Largest::<u8>::new(3).takes(0));
    }
}
