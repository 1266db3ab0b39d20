//! The folios of a file that are larger than a page, as far as it was seen how they were added.

use std::collections::BTreeMap;

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
        let from = self.of(first).map_or(first, |(from, _)| from);
        let to =
            self.of(end.saturating_sub(1)).map_or(end, |(_, to)| length.map_or(to, |length| to.min(length)).max(end));
        (from, to)
    }

    fn of(&self, index: u64) -> Option<(u64, u64)> {
        let (from, to) = self.0.range(..=index).next_back()?;
        (index < *to).then_some((*from, *to))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
