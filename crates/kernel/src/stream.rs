//! Ways of reading that ask the page cache to forget: posix_fadvise(2) on an open file, and reads that drop what they read in
//! (RWF_DONTCACHE, Linux 6.14).
//!
//! Advice is taken where the kernel knows it; whether it was shows in the residency afterwards.
//!
//! ```no_run
//! use ramline_kernel::stream::{self, Hint};
//! let path = std::path::Path::new("/var/tmp/big");
//! let file = std::fs::File::open(path).map_err(|e| ramline_kernel::KernelError::io("open", path, e))?;
//! stream::advise(&file, path, 0, 1 << 20, Hint::DontNeed)?;
//! # Ok::<(), ramline_kernel::KernelError>(())
//! ```

use std::io::IoSliceMut;
use std::num::NonZeroU64;

use rustix::fs::fadvise;
use rustix::io::{ReadWriteFlags, preadv2};

use crate::prelude::*;

/// linux/fs.h, since Linux 6.14.
const RWF_DONTCACHE: ReadWriteFlags = ReadWriteFlags::from_bits_retain(0x80);

/// What posix_fadvise(2) can say: pages are not wanted any more (clean ones that are not mapped are dropped at once), no read-ahead,
/// or accesses through this open file shall not count as use (Linux 6.3, for mapped pages only).
pub use rustix::fs::Advice as Hint;

/// Gives advice on `length` bytes from `start`; length 0 means up to the end.
///
/// # Errors
/// As posix_fadvise(2). A kernel that knows nothing of it succeeds all the same.
pub fn advise(file: &File, path: &Path, start: u64, length: u64, hint: Hint) -> Result<()> {
    fadvise(file, start, NonZeroU64::new(length), hint).tried("advise the kernel on", path)
}

/// Reads at `at` and lets the kernel drop the pages that had to be read in for it; returns the bytes read, 0 at the end.
///
/// # Errors
/// `Unsupported` where the kernel or the file system does not know how.
pub fn read_uncached(file: &File, path: &Path, buffer: &mut [u8], at: u64) -> Result<usize> {
    let tried = "read without caching";
    preadv2(file, &mut [IoSliceMut::new(buffer)], at, RWF_DONTCACHE).map_err(|error| match error {
        Errno::OPNOTSUPP | Errno::NOSYS | Errno::INVAL => {
            KernelError::unsupported(tried, path, "RWF_DONTCACHE (Linux 6.14; ext4, xfs, btrfs)")
        }
        _ => KernelError::io(tried, path, error.into()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    #[test]
    fn advice_and_uncached_reads_leave_the_bytes_as_they_are() {
        let mut file = tempfile::tempfile_in(".").unwrap();
        file.write_all(&[7; 8192]).unwrap();
        file.sync_all().unwrap();
        let path = Path::new("scratch");
        advise(&file, path, 0, 0, Hint::NoReuse).unwrap();
        advise(&file, path, 0, 4096, Hint::DontNeed).unwrap();
        let mut bytes = [0; 8192];
        match read_uncached(&file, path, &mut bytes, 0) {
            Err(error) => assert!(error.is_unsupported(), "{error}"),
            Ok(read) => assert_eq!((read, bytes), (8192, [7; 8192])),
        }
    }
}
