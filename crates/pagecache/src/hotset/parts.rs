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

    /// The page behind the last one.
    #[must_use]
    pub fn end(&self) -> u64 {
        self.iter().last().map_or(0, |(first, pages)| first.saturating_add(pages))
    }

    /// Bytes.
    #[must_use]
    pub const fn size(&self) -> usize {
        self.0.len()
    }

    /// In pieces of so many runs at most.
    #[must_use]
    pub fn split(&self, runs: usize) -> Vec<Parts> {
        let (mut pieces, mut piece, mut count) = (Vec::new(), Parts::builder(), 0);
        for (first, pages) in self.iter() {
            if count == runs.max(1) {
                pieces.push(std::mem::take(&mut piece).finish());
                count = 0;
            }
            piece.push(first, pages);
            count += 1;
        }
        pieces.push(piece.finish());
        pieces
    }
}

/// As the numbers of a line.
impl serde::Serialize for Parts {
    fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_seq(self.numbers())
    }
}

/// Read one by one: what the numbers take is never more than what is kept of them.
impl<'de> serde::Deserialize<'de> for Parts {
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Parts, D::Error> {
        from.deserialize_seq(Pairs)
    }
}

struct Pairs;

impl<'de> serde::de::Visitor<'de> for Pairs {
    type Value = Parts;

    fn expecting(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str("gap and length in pages by turns")
    }

    fn visit_seq<A: serde::de::SeqAccess<'de>>(self, mut numbers: A) -> Result<Parts, A::Error> {
        use serde::de::Error;
        let (mut parts, mut runs) = (Parts::builder(), 0);
        while let Some(gap) = numbers.next_element::<u64>()? {
            let pages = numbers.next_element::<u64>()?.ok_or_else(|| A::Error::custom("a gap without a length"))?;
            runs += 1;
            if runs > super::MOST_NUMBERS / 2 {
                return Err(A::Error::custom("more parts than a line may have"));
            }
            parts.run(gap, pages).ok_or_else(|| A::Error::custom("parts that make no sense"))?;
        }
        Ok(parts.finish())
    }
}

impl Building {
    /// Adds a run by the gap before it; `None` where that makes no sense.
    fn run(&mut self, gap: u64, pages: u64) -> Option<()> {
        let end = self.last.map_or(0, |(start, length)| start + length);
        let first = end.checked_add(gap)?;
        // A run that touches the one before is one with it, and a run of nothing is none.
        if pages == 0 || (gap == 0 && end > 0) {
            return None;
        }
        first.checked_add(pages)?;
        self.push(first, pages);
        Some(())
    }

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

    fn read(json: &str) -> Option<Parts> {
        serde_json::from_str(json).ok()
    }

    #[test]
    fn runs_come_back_as_they_were_and_neighbours_are_one() {
        let runs = [(0u64, 1u64), (5, 1000), (1 << 40, 1 << 20)];
        let mut parts = Parts::builder();
        runs.iter().for_each(|(first, pages)| parts.push(*first, *pages));
        let parts = parts.finish();
        assert_eq!(parts.iter().collect::<Vec<_>>(), runs);
        assert_eq!(parts.pages(), 1001 + (1 << 20));
        let numbers: Vec<u64> = parts.numbers().collect();
        assert_eq!(read(&serde_json::to_string(&numbers).unwrap()), Some(parts.clone()));
        let pieces = parts.split(2);
        assert_eq!(pieces.iter().flat_map(|piece| piece.iter().collect::<Vec<_>>()).collect::<Vec<_>>(), runs);
        assert_eq!((pieces.len(), parts.end()), (2, (1 << 40) + (1 << 20)));
    }

    #[test]
    fn numbers_that_make_no_sense_are_no_parts() {
        for bad in ["[1]", "[0,0]", "[0,1,0,1]", "[18446744073709551615,1]", "[1,18446744073709551615]", "{}", "[-1,1]"]
        {
            assert_eq!(read(bad), None, "{bad}");
        }
        assert_eq!(read("[]"), Some(Parts::default()));
    }
}
