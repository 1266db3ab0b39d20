//! The largest of many, in the memory of the few that are kept.

use std::collections::BTreeMap;

/// Keeps at most `room` things by size.
pub struct Largest<T> {
    room: usize,
    /// By size and, of the same size, the first last.
    kept: BTreeMap<(u64, u64), T>,
    left: u64,
}

impl<T> Largest<T> {
    pub const fn new(room: usize) -> Self {
        Largest { room, kept: BTreeMap::new(), left: u64::MAX }
    }

    /// True when a thing of this size would be kept: only then it is worth making. Nothing of size 0 is.
    pub fn takes(&self, size: u64) -> bool {
        let smallest = self.kept.first_key_value().map(|((size, _), _)| *size);
        size > 0 && (self.kept.len() < self.room || smallest.is_some_and(|smallest| smallest < size))
    }

    pub fn add(&mut self, size: u64, thing: T) {
        if self.takes(size) {
            if self.kept.len() >= self.room {
                self.kept.pop_first();
            }
            self.left -= 1;
            self.kept.insert((size, self.left), thing);
        }
    }

    /// Largest first.
    pub fn into_vec(self) -> Vec<T> {
        self.kept.into_values().rev().collect()
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
