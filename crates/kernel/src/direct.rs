//! Reading and writing past the page cache (O_DIRECT).
//!
//! One request at a time, which is what a page fault waits for.
//!
//! ```no_run
//! use ramline_kernel::direct::{Buffer, Direct};
//! let disk = Direct::open("/dev/vda".as_ref())?;
//! let mut page = Buffer::new(4096)?;
//! disk.read_at(&mut page, 0)?;
//! # Ok::<(), ramline_kernel::KernelError>(())
//! ```

use std::io;
use std::os::unix::fs::FileExt;

use crate::map::{Map, Sharing};
use crate::prelude::*;
use crate::sys::size_of_target;

/// A buffer aligned to a page, as direct I/O needs it.
#[derive(Debug)]
pub struct Buffer {
    map: Map,
    length: usize,
}

impl Buffer {
    /// `length` bytes, zeroed and touched.
    ///
    /// # Errors
    /// ENOMEM, or EINVAL for length 0.
    pub fn new(length: usize) -> Result<Buffer> {
        let size = u64::try_from(length).unwrap_or(u64::MAX);
        let mut map = Map::anonymous(Bytes(size), Sharing::Private)?;
        if let Some(bytes) = map.as_mut_slice() {
            // Faults belong here, not into the first timed request.
            bytes.fill(0);
        }
        Ok(Buffer { map, length })
    }

    /// Its bytes.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.map.as_slice()[..self.length]
    }

    /// Its bytes, to fill.
    #[must_use]
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        // An anonymous mapping is always writable.
        self.map.as_mut_slice().unwrap_or_default()
    }
}

/// A file or block device opened with O_DIRECT.
#[derive(Debug)]
pub struct Direct {
    file: File,
    path: PathBuf,
    size: Bytes,
}

impl Direct {
    /// Opens for reading.
    ///
    /// # Errors
    /// `Unsupported` when the file system has no direct I/O (EINVAL on open).
    pub fn open(path: &Path) -> Result<Direct> {
        Direct::open_with(path, false)
    }

    /// Opens for reading and writing; never creates.
    ///
    /// # Errors
    /// As [`Direct::open`].
    pub fn open_writable(path: &Path) -> Result<Direct> {
        Direct::open_with(path, true)
    }

    fn open_with(path: &Path, write: bool) -> Result<Direct> {
        let open = OpenOptions::new().read(true).write(write).custom_flags(libc::O_DIRECT).open(path);
        let file = open.map_err(|error| failed_directly("open past the page cache", path, error))?;
        let size = Bytes(size_of_target(&file, path)?);
        Ok(Direct { file, path: path.to_owned(), size })
    }

    /// Size of the file or device.
    #[must_use]
    pub fn size(&self) -> Bytes {
        self.size
    }

    /// Fills `buffer` from `offset`; both must be aligned.
    ///
    /// # Errors
    /// EINVAL when not aligned, UnexpectedEof beyond the end.
    pub fn read_at(&self, buffer: &mut Buffer, offset: u64) -> Result<()> {
        self.file
            .read_exact_at(buffer.bytes_mut(), offset)
            .map_err(|error| KernelError::io(format!("read at {offset} of"), &self.path, error))
    }

    /// The same into memory of the caller, aligned too: for what must not be copied elsewhere ([`crate::arena::Arena`]).
    ///
    /// # Errors
    /// As [`Direct::read_at`].
    pub fn read_into(&self, bytes: &mut [u8], offset: u64) -> Result<()> {
        let read = self.file.read_exact_at(bytes, offset);
        read.map_err(|error| KernelError::io(format!("read at {offset} of"), &self.path, error))
    }

    /// Writes `buffer` at `offset`; both must be aligned.
    ///
    /// # Errors
    /// EINVAL when not aligned, ENOSPC or EIO as the device says.
    pub fn write_at(&self, buffer: &Buffer, offset: u64) -> Result<()> {
        self.file
            .write_all_at(buffer.bytes(), offset)
            .map_err(|error| KernelError::io(format!("write at {offset} of"), &self.path, error))
    }
}

/// Where direct I/O is refused, the file system has none.
pub(crate) fn failed_directly(tried: &str, path: &Path, error: io::Error) -> KernelError {
    match error.raw_os_error() {
        Some(libc::EINVAL) => KernelError::unsupported(tried, path, "direct I/O on this file system"),
        _ => KernelError::io(tried, path, error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn direct_reads_see_what_direct_writes_wrote() {
        let dir = tempfile::tempdir_in(".").unwrap();
        let path = dir.path().join("ramline-direct");
        std::fs::write(&path, vec![0u8; 16384]).unwrap();
        let able = ramline_testkit::able::opens_directly(&path);
        if ramline_testkit::skip_if(!able, "direct reads and writes", "no direct I/O on this file system") {
            return;
        }
        let direct = Direct::open_writable(&path).unwrap();
        let mut page = Buffer::new(4096).unwrap();
        page.bytes_mut().fill(9);
        direct.write_at(&page, 8192).unwrap();
        page.bytes_mut().fill(0);
        direct.read_at(&mut page, 8192).unwrap();
        assert!(page.bytes().iter().all(|byte| *byte == 9));
        assert!(direct.read_at(&mut page, 16384).is_err());
    }
}
