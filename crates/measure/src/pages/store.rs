//! Where compressed pages are kept for reading back: locked memory that is zeroed when it goes, as the sample itself.
//!
//! What it is not: zsmalloc. As zram does, a page that hardly compresses is kept as it is, and one of a repeated word as that word.

use ramline_kernel::Result;
use ramline_kernel::arena::Arena;
use ramline_units::Bytes;

use super::sample::wide;
use crate::codec::Codec;

/// Pages of the largest cluster, which are read back beside each other.
const CLUSTER: usize = 8;
/// What a page that does not compress may grow to.
const GROWN: usize = 2;

#[derive(Clone, Copy)]
enum Kept {
    Nothing,
    Word(usize),
    /// From where, how long, and what it was compressed to.
    At(usize, usize, usize),
}

/// Compressed pages.
pub struct Store {
    page: usize,
    /// A length from which on a page is kept as it is.
    huge_from: usize,
    kept: Vec<Kept>,
    used: usize,
    pages: Arena,
    scratch: Arena,
    back: Arena,
}

/// Bytes that a store for so many pages locks.
pub fn size(pages: usize, page: usize) -> Bytes {
    Bytes(wide((pages + GROWN + CLUSTER) * page))
}

impl Store {
    pub fn new(pages: usize, page: usize, huge_from: usize) -> Result<Store> {
        Ok(Store {
            page,
            huge_from,
            kept: Vec::new(),
            used: 0,
            pages: Arena::new(Bytes(wide(pages * page)))?,
            scratch: Arena::new(Bytes(wide(GROWN * page)))?,
            back: Arena::new(Bytes(wide(CLUSTER * page)))?,
        })
    }

    pub fn clear(&mut self, pages: usize) {
        self.kept = vec![Kept::Nothing; pages];
        self.used = 0;
    }

    /// Where the next page is compressed to.
    pub fn scratch(&mut self) -> &mut [u8] {
        self.scratch.bytes_mut()
    }

    /// The room for all pages, for another use; what was kept is lost.
    pub fn lend(&mut self) -> &mut [u8] {
        self.clear(0);
        self.pages.bytes_mut()
    }

    pub fn put_word(&mut self, index: usize, word: &[u8]) {
        let word = word.try_into().map_or(0, usize::from_ne_bytes);
        if let Some(kept) = self.kept.get_mut(index) {
            *kept = Kept::Word(word);
        }
    }

    /// Keeps what was compressed to the scratch place, or the page itself.
    pub fn keep(&mut self, index: usize, length: usize, page: &[u8]) {
        let from = if length < self.huge_from { self.scratch.bytes().get(..length) } else { Some(page) };
        let from = from.unwrap_or_default();
        let to = self.pages.bytes_mut().get_mut(self.used..self.used + from.len());
        if let (Some(to), Some(kept)) = (to, self.kept.get_mut(index)) {
            to.copy_from_slice(from);
            *kept = Kept::At(self.used, from.len(), length);
            self.used += from.len();
        }
    }

    /// What a page was compressed to; `None` for one of a repeated word.
    pub fn length(&self, index: usize) -> Option<u64> {
        match self.kept.get(index)? {
            Kept::At(_, _, length) => Some(wide(*length)),
            Kept::Word(_) | Kept::Nothing => None,
        }
    }

    /// Reads a page back into place `n` of a cluster; false where it does not come back.
    pub fn fetch(&mut self, index: usize, n: usize, codec: &mut dyn Codec) -> bool {
        let Some(to) = self.back.bytes_mut().get_mut(n * self.page..(n + 1) * self.page) else { return false };
        match self.kept.get(index).copied().unwrap_or(Kept::Nothing) {
            Kept::Nothing => false,
            Kept::Word(word) => {
                to.chunks_exact_mut(size_of::<usize>()).for_each(|to| to.copy_from_slice(&word.to_ne_bytes()));
                true
            }
            Kept::At(start, length, _) => {
                let stored = self.pages.bytes().get(start..start + length).unwrap_or_default();
                if length == self.page {
                    to.copy_from_slice(stored);
                    true
                } else {
                    codec.decompress(stored, to)
                }
            }
        }
    }
}
