//! What is to be read: files by number, each asked what of it is missing when its turn comes.

use std::fs::File;
use std::path::Path;

use ramline_kernel::KernelError;

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
