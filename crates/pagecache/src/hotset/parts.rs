//! Runs of pages in few bytes: gap and length by turns, each in as many bytes as it needs (seven bits a byte, LEB128).
//!
//! A file of which every other page is hot costs two bytes a run here, sixteen as a pair of numbers.

/// Runs of pages, in order and apart from each other.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Parts(Box<[u8]>);

/// Parts that are being collected.
#[derive(Debug, Default)]
pub struct Building {
    bytes: Vec<u8>,
    end: u64,
    last: Option<(u64, u64)>,
}

impl Parts {
    /// Begins with none.
    #[must_use]
    pub fn builder() -> Building {
        Building::default()
    }

    /// First page and number of pages of each run.
    pub fn iter(&self) -> impl Iterator<Item = (u64, u64)> {
        let mut numbers = self.numbers();
        let mut end = 0u64;
        std::iter::from_fn(move || {
            let (gap, pages) = (numbers.next()?, numbers.next()?);
            let first = end.saturating_add(gap);
            end = first.saturating_add(pages);
            Some((first, pages))
        })
    }

    /// Gap and length by turns.
    pub fn numbers(&self) -> impl Iterator<Item = u64> {
        let mut bytes = self.0.iter();
        std::iter::from_fn(move || {
            let (mut value, mut shift) = (0u64, 0u32);
            loop {
                let byte = bytes.next()?;
                value |= u64::from(byte & 0x7f).checked_shl(shift).unwrap_or(0);
                if byte & 0x80 == 0 {
                    return Some(value);
                }
                shift += 7;
            }
        })
    }

    /// All pages.
    #[must_use]
    pub fn pages(&self) -> u64 {
        self.iter().fold(0, |sum, (_, pages)| sum.saturating_add(pages))
    }

    /// From gaps and lengths; `None` where they make no sense.
    #[must_use]
    pub fn from_numbers(numbers: &[u64]) -> Option<Parts> {
        let (mut parts, mut end) = (Parts::builder(), 0u64);
        for pair in numbers.chunks(2) {
            let [gap, pages] = pair else { return None };
            let first = end.checked_add(*gap)?;
            // A run that touches the one before is one with it, and a run of nothing is none.
            if *pages == 0 || (*gap == 0 && end > 0) {
                return None;
            }
            end = first.checked_add(*pages)?;
            parts.push(first, *pages);
        }
        Some(parts.finish())
    }
}

impl Building {
    /// Adds a run behind the last one; one that touches it makes it longer.
    pub fn push(&mut self, first: u64, pages: u64) {
        match &mut self.last {
            Some((start, length)) if *start + *length == first => *length += pages,
            _ => {
                self.flush();
                self.last = Some((first, pages));
            }
        }
    }

    fn flush(&mut self) {
        let Some((first, pages)) = self.last.take() else { return };
        self.number(first.saturating_sub(self.end));
        self.number(pages);
        self.end = first + pages;
    }

    fn number(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.bytes.push(u8::try_from(value & 0x7f).unwrap_or(0) | 0x80);
            value >>= 7;
        }
        self.bytes.push(u8::try_from(value).unwrap_or(0));
    }

    /// Done.
    #[must_use]
    pub fn finish(mut self) -> Parts {
        self.flush();
        Parts(self.bytes.into_boxed_slice())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_come_back_as_they_were_and_neighbours_are_one() {
        let runs = [(0u64, 1u64), (5, 1000), (1 << 40, 1 << 20)];
        let mut parts = Parts::builder();
        runs.iter().for_each(|(first, pages)| parts.push(*first, *pages));
        let parts = parts.finish();
        assert_eq!(parts.iter().collect::<Vec<_>>(), runs);
        assert_eq!(parts.pages(), 1001 + (1 << 20));
        let numbers: Vec<u64> = parts.numbers().collect();
        assert_eq!(Parts::from_numbers(&numbers), Some(parts));
    }

    #[test]
    fn numbers_that_make_no_sense_are_no_parts() {
        for bad in [&[1][..], &[0, 0], &[0, 1, 0, 1], &[u64::MAX, 1], &[1, u64::MAX]] {
            assert_eq!(Parts::from_numbers(bad), None, "{bad:?}");
        }
        assert_eq!(Parts::from_numbers(&[]), Some(Parts::default()));
    }
}
