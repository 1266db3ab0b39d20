//! The index at the end of a file: where every part of it stands.

use super::code::{Numbers, put};
use super::frame::{Frame, Kind};

/// The last bytes of a file that is whole.
pub const END: &[u8; 8] = b"touchend";
/// Bytes behind the index: where it stands, and [`END`].
pub const TAIL: usize = 16;

/// Where everything stands.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Index {
    entries: Vec<Entry>,
}

/// A frame and where it stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Entry {
    pub at: u64,
    pub is_block: bool,
    pub records: u32,
    pub time_ns: u64,
}

impl Index {
    pub(super) fn add(&mut self, at: u64, frame: Frame) {
        let Frame { kind, records, time_ns, .. } = frame;
        self.entries.push(Entry { at, is_block: kind == Kind::Block, records, time_ns });
    }

    pub(super) fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// Records of the whole file.
    #[must_use]
    pub fn records(&self) -> u64 {
        self.blocks().map(|block| u64::from(block.records)).sum()
    }

    /// How many blocks there are.
    #[must_use]
    pub fn block_count(&self) -> usize {
        self.blocks().count()
    }

    /// The last block whose clock is not beyond this time, counted from 0; `None` where there is none.
    #[must_use]
    pub fn block_at(&self, time_ns: u64) -> Option<usize> {
        self.blocks().take_while(|block| block.time_ns <= time_ns).count().checked_sub(1)
    }

    pub(super) fn blocks(&self) -> impl Iterator<Item = &Entry> {
        self.entries.iter().filter(|entry| entry.is_block)
    }

    pub(super) fn put(&self, out: &mut Vec<u8>) {
        put(out, self.entries.len() as u64);
        let (mut at, mut time) = (0, 0);
        for entry in &self.entries {
            put(out, (entry.at - at) << 1 | u64::from(entry.is_block));
            put(out, u64::from(entry.records));
            put(out, entry.time_ns.saturating_sub(time));
            (at, time) = (entry.at, entry.time_ns);
        }
    }

    /// `None` where it makes no sense.
    pub(super) fn get(bytes: &[u8]) -> Option<Index> {
        let mut from = Numbers::new(bytes);
        let count = from.number()?;
        let (mut index, mut at, mut time_ns) = (Index::default(), 0u64, 0u64);
        for _ in 0..count {
            let place = from.number()?;
            at = at.checked_add(place >> 1)?;
            let records = from.small()?;
            time_ns = time_ns.checked_add(from.number()?)?;
            // A frame has a head, so that no two stand at one place.
            (place > 1).then_some(())?;
            index.entries.push(Entry { at, is_block: place & 1 == 1, records, time_ns });
        }
        (from.left() == 0).then_some(index)
    }
}
