//! A file locked into memory: mapped whole, each page locked at the moment it is there (MLOCK_ONFAULT), so that nothing is read twice.
//!
//! The mapping is never read through, so a file that shrinks does no harm.
//!
//! ```no_run
//! use ramline_kernel::pin::Locked;
//! let path = std::path::Path::new("/usr/bin/env");
//! let file = std::fs::File::open(path).map_err(|e| ramline_kernel::KernelError::io("open", path, e))?;
//! let locked = Locked::new(&file, path, 4096)?;
//! locked.read_in(path, 0, 4096)?;
//! # Ok::<(), ramline_kernel::KernelError>(())
//! ```

#![expect(unsafe_code, reason = "mmap, mlock2, mremap and madvise")]

use rustix::mm::{Advice, MlockFlags, MremapFlags, madvise, mlock, mlock_with, mremap, munmap};

use crate::map::{long, map_file};
use crate::prelude::*;

/// A mapping of which every page that is read in stays; released when dropped.
#[derive(Debug)]
pub struct Locked {
    start: *mut libc::c_void,
    length: usize,
}

// SAFETY: the mapping belongs to this value alone, and nothing reads or writes through it.
unsafe impl Send for Locked {}

impl Locked {
    /// Maps so much of a file and has what will be there locked; nothing is read yet.
    ///
    /// # Errors
    /// ENOMEM beyond RLIMIT_MEMLOCK or vm.max_map_count, `Denied` where nothing may be locked, EINVAL for length 0.
    pub fn new(file: &File, path: &Path, length: u64) -> Result<Locked> {
        let length = long(length).tried("map", path)?;
        let locked = Locked { start: map_file(file, 0, length, false).tried("map", path)?, length };
        // SAFETY: exactly our mapping.
        unsafe { mlock_with(locked.start, length, MlockFlags::ONFAULT) }.tried("lock", path)?;
        Ok(locked)
    }

    /// Reads a part in, which is locked by that. Beyond the end of the file nothing happens.
    ///
    /// # Errors
    /// When it cannot be read: EFAULT where the file is shorter by now.
    pub fn read_in(&self, path: &Path, offset: u64, length: u64) -> Result<()> {
        let tried = "read into memory";
        let (offset, length) = (long(offset).tried(tried, path)?, long(length).tried(tried, path)?);
        let length = length.min(self.length.saturating_sub(offset));
        if length == 0 {
            return Ok(());
        }
        // SAFETY: offset and length lie inside our mapping.
        let done = match unsafe { madvise(self.start.add(offset), length, Advice::LinuxPopulateRead) } {
            // Before Linux 5.14: locking all of it reads all of it.
            // SAFETY: as above.
            Err(Errno::INVAL) => unsafe { mlock(self.start.add(offset), length) },
            done => done,
        };
        done.tried(tried, path)
    }

    /// Follows the file to another length; what was locked stays locked.
    ///
    /// # Errors
    /// As [`Locked::new`]; then it is as it was.
    pub fn resize(&mut self, path: &Path, length: u64) -> Result<()> {
        let length = long(length.max(1)).tried("lock", path)?;
        // SAFETY: our mapping; whatever its new place is, only this value knows it.
        self.start = unsafe { mremap(self.start, self.length, length, MremapFlags::MAYMOVE) }.tried("lock", path)?;
        self.length = length;
        Ok(())
    }
}

impl Drop for Locked {
    fn drop(&mut self) {
        // SAFETY: exactly our mapping, which is not used any more.
        unsafe { munmap(self.start, self.length) }.ok();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::residency;
    use ramline_testkit::able::{CAP_IPC_LOCK, has_capability, skip_if};
    use std::io::Write;

    #[test]
    fn a_locked_file_stays_when_it_is_evicted_and_grows_with_the_file() {
        let page = crate::process::page_size();
        let mut file = tempfile::NamedTempFile::new_in(".").unwrap();
        let bytes = vec![1; usize::try_from(16 * page).unwrap()];
        file.write_all(&bytes).unwrap();
        let path = file.path().to_owned();
        let limit = rustix::process::getrlimit(rustix::process::Resource::Memlock).current;
        let able = has_capability(CAP_IPC_LOCK) || limit.is_none_or(|bytes| bytes >= 32 * page);
        if skip_if(!able, "a locked file", "needs 32 pages that may be locked (RLIMIT_MEMLOCK), or root") {
            return;
        }
        let mut locked = Locked::new(file.as_file(), &path, 16 * page).unwrap();
        locked.read_in(&path, 0, 16 * page).unwrap();
        assert_eq!(residency::evict(file.as_file(), &path).unwrap().after.cached, 16);
        file.write_all(&bytes).unwrap();
        locked.resize(&path, 32 * page).unwrap();
        locked.read_in(&path, 0, 32 * page).unwrap();
        assert_eq!(residency::evict(file.as_file(), &path).unwrap().after.cached, 32);
        // A file that shrinks takes its pages with it, and nobody is harmed.
        file.as_file().set_len(page).unwrap();
        assert!(locked.read_in(&path, 0, 32 * page).is_err());
    }
}
