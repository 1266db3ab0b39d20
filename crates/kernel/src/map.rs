//! Memory mappings with safe access: anonymous (the data of a workload) and of a file (its code).
//!
//! A mapped file must not be shortened by others: a page beyond its end is SIGBUS, which ends the process. Memory is reserved by the kernel's own rules (no MAP_NORESERVE).
//!
//! ```
//! use ramline_kernel::map::{Map, Sharing};
//! use ramline_units::Bytes;
//! let mut map = Map::anonymous(Bytes::from_mib(1), Sharing::Private)?;
//! map.write_at(4096, &[7, 8])?;
//! assert_eq!(map.touch_read(4097)?, 8);
//! # Ok::<(), ramline_kernel::KernelError>(())
//! ```

#![expect(unsafe_code, reason = "mmap and access through its pointer")]

use std::io;

use rustix::mm::{MapFlags, MsyncFlags, ProtFlags, mlock, mmap, mmap_anonymous, msync, munmap};

use crate::prelude::*;
use crate::sys::size_of_target;

/// Private pages are anonymous memory; shared anonymous pages are shmem, which the kernel treats like tmpfs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sharing {
    /// MAP_PRIVATE.
    Private,
    /// MAP_SHARED.
    Shared,
}

/// madvise(2) for the whole mapping.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(i32)]
pub enum Advice {
    /// Small pages only.
    NoHugePages = libc::MADV_NOHUGEPAGE,
    /// Huge pages where the kernel is set to `madvise`.
    HugePages = libc::MADV_HUGEPAGE,
    /// No read-ahead around faults.
    Random = libc::MADV_RANDOM,
    /// Reclaim now (Linux 5.4).
    PageOut = libc::MADV_PAGEOUT,
    /// Drop the pages: private anonymous ones read as zeros afterwards.
    DontNeed = libc::MADV_DONTNEED,
    /// Leave the pages out of core dumps.
    DontDump = libc::MADV_DONTDUMP,
    /// A child does not get the pages.
    DontFork = libc::MADV_DONTFORK,
}

/// A mapping; unmapped when dropped.
#[derive(Debug)]
pub struct Map {
    start: *mut u8,
    length: usize,
    writable: bool,
}

// SAFETY: the mapping belongs to this value alone; a pointer into it may be used from any thread.
unsafe impl Send for Map {}
// SAFETY: shared access only reads; writing needs `&mut`.
unsafe impl Sync for Map {}

impl Map {
    /// Anonymous memory of `size` bytes, readable and writable, all zeros and not yet touched.
    ///
    /// # Errors
    /// ENOMEM when the kernel will not commit that much, EINVAL for size 0.
    pub fn anonymous(size: Bytes, sharing: Sharing) -> Result<Map> {
        let flags = if sharing == Sharing::Private { MapFlags::PRIVATE } else { MapFlags::SHARED };
        let protection = ProtFlags::READ | ProtFlags::WRITE;
        let done = long(size.0).and_then(|length| {
            // SAFETY: no address is asked for, so no mapping of ours is replaced.
            let start = unsafe { mmap_anonymous(std::ptr::null_mut(), length, protection, flags) }?;
            Ok(Map { start: start.cast(), length, writable: true })
        });
        done.map_err(|error| KernelError::io("map", format!("{size} of anonymous memory"), error))
    }

    /// The whole file, read-only and shared: its pages are those of the page cache.
    ///
    /// # Errors
    /// EINVAL for an empty file.
    pub fn file(file: &File, path: &Path) -> Result<Map> {
        Map::shared(file, path, false)
    }

    /// The whole file, shared, for writing: what is stored there becomes the file's contents.
    ///
    /// # Errors
    /// EINVAL for an empty file, EACCES for one that is not open for reading and writing.
    pub fn file_to_write(file: &File, path: &Path) -> Result<Map> {
        Map::shared(file, path, true)
    }

    fn shared(file: &File, path: &Path, writable: bool) -> Result<Map> {
        let length = long(size_of_target(file, path)?).tried("map", path)?;
        let start = map_file(file, 0, length, writable).tried("map", path)?;
        Ok(Map { start: start.cast(), length, writable })
    }

    /// Maps `length` bytes of what a descriptor stands for, shared and writable; for descriptors that have no size.
    pub(crate) fn from_descriptor(fd: &OwnedFd, length: usize) -> io::Result<Map> {
        Ok(Map { start: map_file(fd, 0, length, true)?.cast(), length, writable: true })
    }

    fn failed(&self, tried: &str, error: impl Into<io::Error>) -> KernelError {
        KernelError::io(tried, format!("a mapping of {} bytes", self.length), error.into())
    }

    /// Writes what was stored back to the file and waits for it (msync MS_SYNC).
    ///
    /// # Errors
    /// When writing back fails.
    pub fn sync(&self) -> Result<()> {
        // SAFETY: the range is exactly our mapping; msync changes no memory.
        unsafe { msync(self.start.cast(), self.length, MsyncFlags::SYNC) }.map_err(|error| self.failed("sync", error))
    }

    /// Its length in bytes.
    #[must_use]
    pub fn len(&self) -> usize {
        self.length
    }

    /// Never true: an empty mapping cannot be made.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.length == 0
    }

    /// Reads one byte, and with it touches its page; the compiler cannot leave it out.
    ///
    /// # Errors
    /// EFAULT beyond the end.
    #[inline]
    pub fn touch_read(&self, offset: usize) -> Result<u8> {
        if offset >= self.length {
            return Err(out_of_bounds("read", offset, self.length));
        }
        // SAFETY: the offset is inside the mapping, which lives as long as `self`.
        Ok(unsafe { self.start.add(offset).read_volatile() })
    }

    /// Copies `bytes` to `offset`.
    ///
    /// # Errors
    /// EFAULT beyond the end or in a mapping that is read-only.
    #[inline]
    pub fn write_at(&mut self, offset: usize, bytes: &[u8]) -> Result<()> {
        let end = offset.checked_add(bytes.len());
        if !self.writable || end.is_none_or(|end| end > self.length) {
            return Err(out_of_bounds("write", offset, self.length));
        }
        // SAFETY: the range is inside the mapping, which is writable and exclusively borrowed; a caller's slice cannot
        // overlap it, because slices of it borrow `self`.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), self.start.add(offset), bytes.len()) };
        Ok(())
    }

    /// The mapping as bytes. Of a file that others change meanwhile the contents are whatever they wrote.
    #[must_use]
    pub fn as_slice(&self) -> &[u8] {
        // SAFETY: the mapping is readable, initialised (zeros or file contents) and lives as long as the borrow.
        unsafe { std::slice::from_raw_parts(self.start, self.length) }
    }

    /// The mapping as bytes to write; `None` when it is read-only.
    #[must_use]
    pub fn as_mut_slice(&mut self) -> Option<&mut [u8]> {
        // SAFETY: writable, initialised, and exclusively borrowed for as long as the slice lives.
        self.writable.then(|| unsafe { std::slice::from_raw_parts_mut(self.start, self.length) })
    }

    /// Gives the kernel advice on the whole mapping. `DontNeed` needs the exclusive borrow because
    /// it changes the contents.
    ///
    /// # Errors
    /// EINVAL when this kernel does not know it: `Unsupported` for huge pages on a kernel built without them.
    pub fn advise(&mut self, advice: Advice) -> Result<()> {
        // SAFETY: the range is exactly our mapping; none of these advices unmaps it.
        match check(unsafe { libc::madvise(self.start.cast(), self.length, advice as libc::c_int) }) {
            // A kernel without huge pages cannot give any: the wish is granted.
            Err(error) if advice == Advice::NoHugePages && error.raw_os_error() == Some(libc::EINVAL) => Ok(()),
            done => done.map(drop).map_err(|error| self.failed("advise the kernel on", error)),
        }
    }

    /// Fills the mapping with zeros, which the compiler cannot leave out although nothing reads them; nothing where it is read-only.
    pub fn wipe(&mut self) {
        if !self.writable {
            return;
        }
        // SAFETY: the range is exactly our mapping, which is writable and exclusively borrowed.
        unsafe { libc::explicit_bzero(self.start.cast(), self.length) };
    }

    /// Locks the whole mapping in memory; meant for small buffers.
    ///
    /// # Errors
    /// `Denied` or ENOMEM beyond RLIMIT_MEMLOCK.
    pub fn lock(&self) -> Result<()> {
        // SAFETY: the range is exactly our mapping; munmap unlocks it.
        unsafe { mlock(self.start.cast(), self.length) }.map_err(|error| self.failed("lock in memory", error))
    }

    /// Lets the mapping be swapped again, also where all later memory is locked (mlockall).
    ///
    /// # Errors
    /// When the kernel refuses.
    pub fn unlock(&self) -> Result<()> {
        // SAFETY: the range is exactly our mapping; munlock changes no memory.
        check(unsafe { libc::munlock(self.start.cast(), self.length) })
            .map(drop)
            .map_err(|error| KernelError::io("unlock", format!("a mapping of {} bytes", self.length), error))
    }

    /// Whether the page at `offset` is resident (mincore).
    ///
    /// # Errors
    /// EFAULT beyond the end.
    pub fn is_resident(&self, offset: usize) -> Result<bool> {
        let page = usize::try_from(crate::sys::page_size()).unwrap_or(4096);
        if offset >= self.length {
            return Err(out_of_bounds("look at", offset, self.length));
        }
        let mut present = 0u8;
        // SAFETY: the page that holds the offset is inside our mapping, which begins at a page; one byte is written.
        check(unsafe { libc::mincore(self.start.add(offset / page * page).cast(), 1, &raw mut present) })
            .map_err(|error| KernelError::io("look at", format!("a mapping of {} bytes", self.length), error))?;
        Ok(present & 1 == 1)
    }

    /// How many pages of the mapping are resident (mincore).
    ///
    /// # Errors
    /// When the kernel refuses.
    pub fn resident_pages(&self) -> Result<u64> {
        let mut present = vec![0u8; self.length.div_ceil(rustix::param::page_size())];
        // SAFETY: the range is our mapping and `present` has one byte per page of it.
        check(unsafe { libc::mincore(self.start.cast(), self.length, present.as_mut_ptr()) })
            .map_err(|error| self.failed("count the resident pages of", error))?;
        Ok(present.iter().map(|byte| u64::from(byte & 1)).sum())
    }
}

/// Maps a part of a file, shared.
pub(crate) fn map_file(file: impl AsFd, at: u64, length: usize, write: bool) -> io::Result<*mut libc::c_void> {
    let protection = if write { ProtFlags::READ | ProtFlags::WRITE } else { ProtFlags::READ };
    // SAFETY: no address is asked for, so no mapping of ours is replaced.
    Ok(unsafe { mmap(std::ptr::null_mut(), length, protection, MapFlags::SHARED, file, at) }?)
}

/// A length as addresses count.
pub(crate) fn long(length: u64) -> io::Result<usize> {
    usize::try_from(length).map_err(|_| io::Error::from_raw_os_error(libc::EFBIG))
}

#[cold]
fn out_of_bounds(operation: &str, offset: usize, length: usize) -> KernelError {
    let object = format!("offset {offset} of a mapping of {length} bytes");
    KernelError::io(operation, object, io::Error::from_raw_os_error(libc::EFAULT))
}

impl Drop for Map {
    fn drop(&mut self) {
        // SAFETY: exactly the range that was mapped; no slice of it outlives `self`.
        unsafe { munmap(self.start.cast(), self.length) }.ok();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    #[test]
    fn beyond_the_end_is_an_error_and_not_a_crash() {
        let mut map = Map::anonymous(Bytes(8192), Sharing::Shared).unwrap();
        assert!(map.touch_read(8192).is_err());
        assert!(map.write_at(8191, &[1, 2]).is_err());
        assert!(map.write_at(usize::MAX, &[1, 2]).is_err());
        map.write_at(8190, &[1, 2]).unwrap();
        assert_eq!(map.as_slice()[8191], 2);
    }

    #[test]
    fn only_touched_pages_of_anonymous_memory_are_resident() {
        let page = usize::try_from(crate::process::page_size()).unwrap();
        let mut map = Map::anonymous(Bytes::from_mib(1), Sharing::Private).unwrap();
        map.advise(Advice::NoHugePages).unwrap();
        for index in 0..3 {
            map.write_at(index * page, &[1]).unwrap();
        }
        assert_eq!(map.resident_pages().unwrap(), 3);
        map.advise(Advice::DontNeed).unwrap();
        assert_eq!(map.resident_pages().unwrap(), 0);
    }

    #[test]
    fn what_is_stored_in_a_shared_mapping_is_in_the_file() {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(b"code").unwrap();
        let mut map = Map::file_to_write(&file, Path::new("code")).unwrap();
        map.write_at(1, b"a").unwrap();
        map.sync().unwrap();
        assert_eq!(Map::file(&file, Path::new("code")).unwrap().as_slice(), b"cade");
    }

    #[test]
    fn a_file_is_mapped_read_only() {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(b"code").unwrap();
        let mut map = Map::file(&file, Path::new("code")).unwrap();
        assert_eq!(map.as_slice(), b"code");
        assert!(map.write_at(0, b"x").is_err());
        assert!(map.as_mut_slice().is_none());
    }
}
