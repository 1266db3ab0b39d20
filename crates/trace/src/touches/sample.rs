//! What a sample of a recorded program's pages compresses to: lengths by algorithm, never what the pages hold.

use super::code::{Numbers, put, put_bytes};
use crate::error::TouchesError;

/// More algorithms than any kernel has.
const MOST_ALGORITHMS: u64 = 64;
/// More pages than a recorder takes.
const MOST_PAGES: u64 = 1 << 16;

/// Compressed lengths of sampled pages.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Sample {
    /// Of each algorithm its name, and the length of each page in bytes: 0 for a page of one repeated word, the size of a page for one that does not compress.
    pub by_algorithm: Vec<(String, Vec<u16>)>,
}

impl Sample {
    /// No page was sampled.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.by_algorithm.iter().all(|(_, lengths)| lengths.is_empty())
    }

    pub(super) fn put(&self, out: &mut Vec<u8>) -> Result<(), TouchesError> {
        let pages = self.by_algorithm.iter().map(|(_, lengths)| lengths.len() as u64).max().unwrap_or(0);
        if self.by_algorithm.len() as u64 > MOST_ALGORITHMS || pages > MOST_PAGES {
            return Err(TouchesError::Beyond("a sample has more than 64 algorithms or 65,536 pages"));
        }
        put(out, self.by_algorithm.len() as u64);
        for (name, lengths) in &self.by_algorithm {
            put_bytes(out, name.as_bytes());
            put(out, lengths.len() as u64);
            lengths.iter().for_each(|length| put(out, u64::from(*length)));
        }
        Ok(())
    }

    /// `None` where it makes no sense: of pages of this size none compresses to more.
    pub(super) fn get(bytes: &[u8], page: u32) -> Option<Sample> {
        let mut from = Numbers::new(bytes);
        let algorithms = from.number().filter(|count| *count <= MOST_ALGORITHMS)?;
        let mut out = Sample::default();
        for _ in 0..algorithms {
            let name = from.text()?;
            let pages = from.number().filter(|count| *count <= MOST_PAGES)?;
            let length = |_| u16::try_from(from.number()?).ok().filter(|length| u32::from(*length) <= page);
            let lengths: Option<Vec<u16>> = (0..pages).map(length).collect();
            let is_new = !name.is_empty() && out.by_algorithm.iter().all(|(known, _)| *known != name);
            is_new.then_some(())?;
            out.by_algorithm.push((name, lengths?));
        }
        (from.left() == 0).then_some(out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sample_is_read_as_it_was_written_and_no_longer_one_is_taken() {
        let sample =
            Sample { by_algorithm: vec![("lz4".to_owned(), vec![0, 1500, 4096]), ("zstd".to_owned(), vec![])] };
        let mut out = Vec::new();
        sample.put(&mut out).unwrap();
        assert_eq!(Sample::get(&out, 4096), Some(sample));
        assert_eq!(Sample::get(&out[..out.len() - 1], 4096), None);
        assert_eq!(Sample::get(&out, 2048), None, "a page of 2048 bytes never takes 4096");
        out.push(0);
        assert_eq!(Sample::get(&out, 4096), None);
        let long = Sample { by_algorithm: vec![("lz4".to_owned(), vec![1; 65_537])] };
        assert!(long.put(&mut Vec::new()).is_err());
    }
}
