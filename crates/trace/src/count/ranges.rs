//! A set of pages as ranges.

use std::collections::BTreeMap;

/// Pages of one file; ranges do not touch each other.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Ranges(BTreeMap<u64, u64>);

impl Ranges {
    /// Puts `first..end` in and returns how many of them are new.
    pub fn insert(&mut self, first: u64, end: u64) -> u64 {
        if end <= first {
            return 0;
        }
        let (mut from, mut to, mut known) = (first, end, 0);
        while let Some((&start, &stop)) = self.0.range(..=to).next_back() {
            if stop < from {
                break;
            }
            known += stop.min(end).saturating_sub(start.max(first));
            (from, to) = (from.min(start), to.max(stop));
            self.0.remove(&start);
        }
        self.0.insert(from, to);
        end - first - known
    }

    /// Takes `first..end` out and returns how many of them were in.
    pub fn remove(&mut self, first: u64, end: u64) -> u64 {
        let mut taken = 0;
        while let Some((&start, &stop)) = self.0.range(..end).next_back() {
            if stop <= first {
                break;
            }
            self.0.remove(&start);
            taken += stop.min(end) - start.max(first);
            if stop > end {
                self.0.insert(end, stop);
            }
            if start < first {
                self.0.insert(start, first);
                break;
            }
        }
        taken
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_of_ranges_counts_as_a_set_of_pages_does() {
        let (mut ranges, mut pages) = (Ranges::default(), std::collections::BTreeSet::new());
        let mut seed = 256u64;
        for _ in 0..4000 {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let (first, long) = ((seed >> 33) % 200, (seed >> 50) % 20);
            let end = first + long;
            let before = pages.len();
            if seed >> 62 == 0 {
                pages.retain(|page| !(first..end).contains(page));
                assert_eq!(usize::try_from(ranges.remove(first, end)).unwrap(), before - pages.len());
            } else {
                pages.extend(first..end);
                assert_eq!(usize::try_from(ranges.insert(first, end)).unwrap(), pages.len() - before);
            }
        }
    }
}
