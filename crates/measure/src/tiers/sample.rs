//! Pages to compress: generated ones, and a type through which real ones can be passed.
//!
//! Generated pages say what an algorithm costs on data of a known kind; only a
//! sample of real pages says what *your* pages compress to. Contents never leave the process.
//!
//! ```
//! use ramline_measure::tiers::PageSample;
//! use ramline_sandbox::fill::Fill;
//! let text = PageSample::generated(Fill::Text, 256, 4096, 7);
//! assert_eq!((text.len(), text.page_bytes(), text.label()), (256, 4096, "text (generated, seed 7)"));
//! ```

use ramline_sandbox::fill::{Fill, Filler};

use crate::prelude::*;

/// Pages of one size, with a name for what they are.
#[derive(Clone)]
pub struct PageSample {
    label: String,
    page_bytes: usize,
    bytes: Vec<u8>,
}

/// The contents stay out of logs.
impl std::fmt::Debug for PageSample {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "PageSample({}, {} pages of {} bytes)", self.label, self.len(), self.page_bytes)
    }
}

impl PageSample {
    /// Pages from elsewhere, for example sampled from a process. A last piece shorter than a page is left out.
    #[must_use]
    pub fn from_bytes(label: impl Into<String>, page_bytes: usize, mut bytes: Vec<u8>) -> PageSample {
        let page_bytes = page_bytes.max(1);
        bytes.truncate(bytes.len() / page_bytes * page_bytes);
        PageSample { label: label.into(), page_bytes, bytes }
    }

    /// Pages as the experiments of the lab fill theirs: `Text` compresses to about a third, `Random` not at all.
    #[must_use]
    pub fn generated(fill: Fill, pages: usize, page_bytes: usize, seed: u64) -> PageSample {
        let page_bytes = page_bytes.max(1);
        let mut filler = Filler::new(fill, seed);
        let mut bytes = vec![0; pages.saturating_mul(page_bytes)];
        for (number, page) in (0..).zip(bytes.chunks_exact_mut(page_bytes)) {
            filler.fill(number, page);
        }
        PageSample { label: format!("{fill} (generated, seed {seed})"), page_bytes, bytes }
    }

    /// What the pages are.
    #[must_use]
    pub fn label(&self) -> &str {
        &self.label
    }

    /// Bytes in a page.
    #[must_use]
    pub fn page_bytes(&self) -> usize {
        self.page_bytes
    }

    /// How many pages.
    #[must_use]
    pub fn len(&self) -> usize {
        self.bytes.len() / self.page_bytes
    }

    /// No page at all.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// One page after the other.
    pub fn pages(&self) -> std::slice::ChunksExact<'_, u8> {
        self.bytes.chunks_exact(self.page_bytes)
    }

    /// Page `index`, modulo the number of pages; an empty slice when there is none.
    #[must_use]
    pub fn page(&self, index: usize) -> &[u8] {
        let Some(index) = index.checked_rem(self.len()) else { return &[] };
        self.bytes.get(index * self.page_bytes..(index + 1) * self.page_bytes).unwrap_or_default()
    }
}

/// A position in a list of `len` entries.
pub(super) fn index(random: &mut SplitMix64, len: usize) -> usize {
    let bound = u64::try_from(len).unwrap_or(u64::MAX);
    usize::try_from(random.below(bound)).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_gives_the_same_pages_and_no_two_pages_are_alike() {
        for fill in [Fill::Text, Fill::Random] {
            let sample = PageSample::generated(fill, 512, 4096, 256);
            assert_eq!(sample.bytes, PageSample::generated(fill, 512, 4096, 256).bytes);
            assert_ne!(sample.bytes, PageSample::generated(fill, 512, 4096, 257).bytes);
            let distinct: std::collections::HashSet<&[u8]> = sample.pages().collect();
            assert_eq!(distinct.len(), 512);
        }
    }

    #[test]
    fn a_piece_shorter_than_a_page_is_left_out_and_contents_stay_out_of_debug_text() {
        let sample = PageSample::from_bytes("pages of pid 1", 4096, vec![b's'; 4096 * 2 + 100]);
        assert_eq!(sample.len(), 2);
        assert_eq!(sample.page(3).len(), 4096);
        assert_eq!(format!("{sample:?}"), "PageSample(pages of pid 1, 2 pages of 4096 bytes)");
        assert!(PageSample::from_bytes("none", 4096, vec![]).page(5).is_empty());
    }
}
