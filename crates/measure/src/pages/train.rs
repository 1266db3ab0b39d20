//! A dictionary from sample pages: the pieces of 64 bytes whose words most pages share, the best of them last, where it is nearest.
//!
//! What it is not: an optimum, or zstd's trainer, which keeps contents in memory of its own. Every aligned 8 bytes is counted once a page; a
//! piece is worth the counts of its words, and a word that is in the dictionary already is worth nothing more.
//!
//! Worked example: in 10 pages that all hold the same header of 64 bytes and nothing else in common, the header is the only piece worth
//! anything, and the dictionary is 64 bytes.

/// Bytes of a piece, and of the words that are counted.
const PIECE: usize = 64;
const WORD: usize = 8;
/// A piece with fewer shared words than it has words is shared by chance: hashes collide.
const LEAST: u32 = 8;
/// Counters, by the hash of a word.
const SLOTS: u32 = 18;

/// Pages in which each word occurs, by its hash.
struct Counts {
    pages: Vec<u16>,
    last: Vec<u16>,
}

impl Counts {
    fn from_bytes(bytes: &[u8], page: usize) -> Counts {
        let mut counts = Counts { pages: vec![0; 1 << SLOTS], last: vec![0; 1 << SLOTS] };
        for (number, page) in (1..u16::MAX).zip(bytes.chunks_exact(page)) {
            for slot in page.chunks_exact(WORD).filter_map(slot) {
                if counts.last[slot] != number {
                    counts.last[slot] = number;
                    counts.pages[slot] += 1;
                }
            }
        }
        counts
    }

    /// What is shared with pages other than its own.
    fn worth(&self, piece: &[u8]) -> u32 {
        piece.chunks_exact(WORD).filter_map(slot).map(|slot| u32::from(self.pages[slot].saturating_sub(1))).sum()
    }

    fn forget(&mut self, piece: &[u8]) {
        piece.chunks_exact(WORD).filter_map(slot).for_each(|slot| self.pages[slot] = 0);
    }
}

/// The counter of a word; none for zeros, which every algorithm has in any page.
fn slot(word: &[u8]) -> Option<usize> {
    let word = u64::from_ne_bytes(word.try_into().ok()?);
    let hash = word.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> (64 - SLOTS);
    usize::try_from(hash).ok().filter(|_| word != 0)
}

/// Fills `dictionary` from its end with the best pieces of the pages in `bytes`; how many bytes it has become.
pub fn train(bytes: &[u8], page: usize, dictionary: &mut [u8]) -> usize {
    let mut counts = Counts::from_bytes(bytes, page);
    let pieces = bytes.chunks_exact(PIECE);
    let mut ranked: Vec<(u32, usize)> = pieces.clone().map(|piece| counts.worth(piece)).zip(0..).collect();
    ranked.retain(|(worth, _)| *worth >= LEAST);
    ramline_units::sort_by_key(&mut ranked, |(worth, at)| (std::cmp::Reverse(*worth), *at));
    let mut free = dictionary.len();
    for (before, at) in ranked {
        let piece = bytes.get(at * PIECE..(at + 1) * PIECE).unwrap_or_default();
        // One that shares most of its words with those taken already is no longer worth its room.
        if free >= PIECE && counts.worth(piece) * 2 > before {
            free -= PIECE;
            dictionary[free..free + PIECE].copy_from_slice(piece);
            counts.forget(piece);
        }
    }
    dictionary.len() - free
}

#[cfg(test)]
mod tests {
    use super::*;
    use ramline_evidence::rng::SplitMix64;

    #[test]
    fn only_what_pages_share_is_in_the_dictionary() {
        let mut random = SplitMix64::new(3);
        let mut pages = vec![0; 10 * 4096];
        pages.iter_mut().for_each(|byte| *byte = random.next_u64().to_le_bytes()[0]);
        let header: Vec<u8> = (100..164).collect();
        pages.chunks_exact_mut(4096).for_each(|page| page[..64].copy_from_slice(&header));
        let mut dictionary = vec![0; 4096];
        assert_eq!(train(&pages, 4096, &mut dictionary), 64);
        assert_eq!(dictionary[4096 - 64..], header);
        assert_eq!(train(&[0; 8192], 4096, &mut dictionary), 0, "zeros are nothing to remember");
    }
}
