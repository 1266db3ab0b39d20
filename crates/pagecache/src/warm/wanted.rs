//! What is to be read and how: files by number, each asked what of it is missing when its turn comes; and how far it is.

use crate::prelude::*;

/// Files to be read, in their order, by number.
pub trait Wanted: Sync {
    fn count(&self) -> usize;
    fn path(&self, number: usize) -> &Path;
    /// What is wanted of it at most.
    fn bytes(&self, number: usize) -> u64;
    /// Opens a file and sets how it is to be read; nothing when nothing of it is to be read. Called again for other stretches of it.
    fn open(&self, number: usize) -> Option<File>;
    /// What of it is missing and has data behind it, as offset and length.
    ///
    /// # Errors
    /// When that cannot be found out.
    fn missing(&self, number: usize, file: &File) -> Result<Vec<(u64, u64)>, KernelError>;
    /// It will not be read, because the room is used up.
    fn pass(&self, _number: usize) {}
    /// Bytes of the total that turned out not to need reading.
    fn settled(&self) -> u64 {
        0
    }
}

/// What is to be read, and how.
#[derive(Clone, Copy, Default)]
pub struct WarmOptions<'a> {
    /// Only find out what is missing.
    pub dry: bool,
    /// Only this part of each file, as offset and length.
    pub range: Option<(u64, u64)>,
    /// At most so many bytes a second.
    pub rate: Option<Bytes>,
    /// So many readers at a time; found out by measuring when left out.
    pub depth: Option<u64>,
    /// Told now and then how far it is.
    pub progress: Option<&'a (dyn Fn(&Progress) + Sync)>,
}

/// How far it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Progress {
    /// Read so far.
    pub done: Bytes,
    /// To be read.
    pub total: Bytes,
    /// Bytes a second, over the last moments.
    pub rate: Bytes,
    /// At that rate; `None` while nothing moves.
    pub left: Option<Duration>,
    /// Readers at a time.
    pub depth: u64,
}
