//! Ways of reading that ask the page cache to forget: posix_fadvise(2) on an open file, and reads that drop what they brought in
//! (RWF_DONTCACHE, Linux 6.14).
//!
//! What it is not: a promise. Advice is taken where the kernel knows it; whether it was shows in the residency afterwards.
//!
//! ```no_run
//! use ramline_kernel::stream::{self, Hint};
//! let path = std::path::Path::new("/var/tmp/big");
//! let file = std::fs::File::open(path).map_err(|e| ramline_kernel::KernelError::io("open", path, e))?;
//! stream::advise(&file, path, 0, 1 << 20, Hint::DontNeed)?;
//! # Ok::<(), ramline_kernel::KernelError>(())
//! ```

#![expect(unsafe_code, reason = "preadv2")]

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::path::Path;

use crate::error::{KernelError, Result};
use crate::sys::{fadvise, offset};

/// linux/fs.h, since Linux 6.14.
const RWF_DONTCACHE: libc::c_int = 0x80;

/// What posix_fadvise(2) can say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Hint {
    /// These pages are not wanted any more: clean ones that nobody maps are dropped at once.
    DontNeed,
    /// No read-ahead: only what is asked for is read.
    Random,
    /// Accesses through this open file shall not count as use (Linux 6.3, for mapped pages only).
    NoReuse,
}

/// Gives advice on `length` bytes from `start`; length 0 means up to the end.
///
/// # Errors
/// As posix_fadvise(2). A kernel that knows nothing of it succeeds all the same.
pub fn advise(file: &File, path: &Path, start: u64, length: u64, hint: Hint) -> Result<()> {
    let number = match hint {
        Hint::DontNeed => libc::POSIX_FADV_DONTNEED,
        Hint::Random => libc::POSIX_FADV_RANDOM,
        Hint::NoReuse => libc::POSIX_FADV_NOREUSE,
    };
    fadvise(file.as_raw_fd(), start, length, number)
        .map_err(|error| KernelError::io("advise the kernel on", path, error))
}

/// Reads at `at` and lets the kernel drop the pages that had to be brought in for it; returns the bytes read, 0 at the end.
///
/// # Errors
/// `Unsupported` where the kernel or the file system does not know how.
pub fn read_uncached(file: &File, path: &Path, buffer: &mut [u8], at: u64) -> Result<usize> {
    let tried = "read without caching";
    let failed = |error: io::Error| match error.raw_os_error() {
        Some(libc::EOPNOTSUPP | libc::ENOSYS | libc::EINVAL) => {
            KernelError::unsupported(tried, path, "RWF_DONTCACHE (Linux 6.14; ext4, xfs, btrfs)")
        }
        _ => KernelError::io(tried, path, error),
    };
    let at = offset(at).map_err(failed)?;
    let piece = libc::iovec { iov_base: buffer.as_mut_ptr().cast(), iov_len: buffer.len() };
    // SAFETY: one piece, which is exactly `buffer`, exclusively borrowed for the call.
    let read = unsafe { libc::preadv2(file.as_raw_fd(), &raw const piece, 1, at, RWF_DONTCACHE) };
    usize::try_from(read).map_err(|_| failed(io::Error::last_os_error()))
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
