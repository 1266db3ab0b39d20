//! Sets of pages of one file as ranges, and its folios that are larger than a page, as far as it was seen how they were added.

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

/// Where they begin, and their ends. They do not overlap.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Folios(BTreeMap<u64, u64>);

impl Folios {
    /// `first..end` was added as one.
    pub fn add(&mut self, first: u64, end: u64) {
        self.remove(first, end);
        if end - first > 1 {
            self.0.insert(first, end);
        }
    }

    /// `first..end` are gone: what they were part of was split before.
    pub fn remove(&mut self, first: u64, end: u64) {
        while let Some((&from, _)) = self.0.range(..end).next_back().filter(|(_, to)| **to > first) {
            self.0.remove(&from);
        }
    }

    /// `first..end` with all of the folios at both ends, up to the length of the file.
    pub fn around(&self, first: u64, end: u64, length: Option<u64>) -> (u64, u64) {
        let from = self.range_at(first).map_or(first, |(from, _)| from);
        let to = self
            .range_at(end.saturating_sub(1))
            .map_or(end, |(_, to)| length.map_or(to, |length| to.min(length)).max(end));
        (from, to)
    }

    fn range_at(&self, index: u64) -> Option<(u64, u64)> {
        let (from, to) = self.0.range(..=index).next_back()?;
        (index < *to).then_some((*from, *to))
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

    #[test]
    fn a_range_is_widened_to_whole_folios_and_a_split_one_is_forgotten() {
        let mut folios = Folios::default();
        folios.add(0, 4);
        folios.add(8, 16);
        assert_eq!(folios.around(2, 10, None), (0, 16));
        assert_eq!(folios.around(4, 8, None), (4, 8));
        assert_eq!(folios.around(9, 10, Some(12)), (8, 12));
        folios.remove(12, 13);
        assert_eq!(folios.around(9, 10, None), (9, 10));
        folios.add(2, 3);
        assert_eq!(folios.around(1, 2, None), (1, 2));
    }
}
