//! Scratch files: without a name, so that nothing can be left behind, whatever ends the process; or, where something must
//! find them by a name (a loop device), with one and with all their blocks.
//!
//! A file with a name is removed by the caller.
//!
//! ```no_run
//! use ramline_kernel::scratch;
//! let file = scratch::unnamed_file("/var/tmp".as_ref())?;
//! # Ok::<(), ramline_kernel::KernelError>(())
//! ```

use std::io::{self, Write};

use rustix::fs::{FallocateFlags, MemfdFlags, fallocate, fcntl_getfl, fcntl_setfl, memfd_create};

use crate::direct::failed_directly;
use crate::place::{self, Place};
use crate::prelude::*;

/// A new file in `dir` that has no name (O_TMPFILE), mode 0600, open for reading and writing.
///
/// # Errors
/// `Unsupported` where the file system has no O_TMPFILE; `Denied` or `Io` as open(2) says.
pub fn unnamed_file(dir: &Path) -> Result<File> {
    let tried = "create a scratch file in";
    let open = OpenOptions::new().read(true).write(true).mode(0o600).custom_flags(libc::O_TMPFILE).open(dir);
    open.map_err(|error| match error.raw_os_error() {
        // Kernels and file systems without it see O_DIRECTORY with write access.
        Some(libc::EISDIR | libc::EOPNOTSUPP) => {
            KernelError::unsupported(tried, dir, "files without a name (O_TMPFILE)")
        }
        _ => KernelError::io(tried, dir, error),
    })
}

/// Switches direct I/O of an open file on or off (fcntl F_SETFL): the same scratch file serves for the disk and for the
/// page cache. With direct I/O, buffers, lengths and offsets must be aligned.
///
/// # Errors
/// `Unsupported` where the file system has no direct I/O.
pub fn set_direct(file: &File, path: &Path, direct: bool) -> Result<()> {
    let tried = if direct { "switch on direct I/O for" } else { "switch off direct I/O for" };
    let mut flags = fcntl_getfl(file).tried(tried, path)?;
    flags.set(OFlags::DIRECT, direct);
    fcntl_setfl(file, flags).map_err(|error| failed_directly(tried, path, error.into()))
}

/// A new file in memory (memfd_create): tmpfs without a mount, so without its size limit. `name` is only a label.
///
/// # Errors
/// ENOSYS before Linux 3.17, or as memfd_create(2) says.
pub fn memory_file(name: &str) -> Result<File> {
    memfd_create(name, MemfdFlags::CLOEXEC).map(File::from).tried("create the memory file", name)
}

/// Creates the file of an image (a file system behind a loop device) without holes: mode 0600, never an existing one, no
/// link followed. Unlike a swap file it may be copy-on-write, so btrfs will do.
///
/// # Errors
/// `Refused` off the disks of this machine or when less than twice the size is free; `Io` (EEXIST) when the name is taken.
pub fn image_file(path: &Path, size: Bytes) -> Result<()> {
    let tried = "create the image file";
    let place = place::describe(path.parent().unwrap_or(Path::new(".")))?;
    place.refuse_unless_disk(tried)?;
    allocated_file(tried, path, &place, size)
}

/// A new file at `path`, on `place`, with blocks for all of it.
pub(crate) fn allocated_file(tried: &str, path: &Path, place: &Place, size: Bytes) -> Result<()> {
    if place.available.0 / 2 < size.0 {
        let numbers = format!("{} needed, {} available", size, place.available);
        return Err(KernelError::refused(tried, path, "twice its size must be free", numbers));
    }
    let failed = |error| KernelError::io(tried, path, error);
    let mut options = OpenOptions::new();
    options.write(true).create_new(true).mode(0o600).custom_flags(libc::O_NOFOLLOW);
    let file = options.open(path).map_err(failed)?;
    let filled = allocate(&file, size).and_then(|()| file.sync_all());
    filled.map_err(|error| {
        // The caller has no file to clean up when this function fails.
        drop(std::fs::remove_file(path));
        failed(error)
    })
}

/// Keeps blocks for so many bytes behind `from` in a file, whose length stays: what is appended later needs no room then.
///
/// # Errors
/// The file system has no room, or cannot keep any.
pub fn reserve_behind(file: &File, from: u64, bytes: u64) -> std::io::Result<()> {
    Ok(fallocate(file, FallocateFlags::KEEP_SIZE, from, bytes)?)
}

/// Blocks for the whole file: by fallocate (no bytes are written), else by writing zeros.
fn allocate(mut file: &File, size: Bytes) -> io::Result<()> {
    const CHUNK: u64 = 1 << 20;
    match fallocate(file, FallocateFlags::empty(), 0, size.0) {
        Err(Errno::OPNOTSUPP) => {}
        done => return Ok(done?),
    }
    let zeros = vec![0u8; usize::try_from(CHUNK).unwrap_or(1 << 20)];
    let mut left = size.0;
    while left > 0 {
        let step = usize::try_from(left.min(CHUNK)).unwrap_or(zeros.len());
        file.write_all(&zeros[..step])?;
        left -= left.min(CHUNK);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use ramline_testkit::able::{opens_directly, skip_if};

    #[test]
    fn an_image_file_has_all_its_blocks_and_never_replaces_a_file() {
        use std::os::unix::fs::MetadataExt;
        let dir = tempfile::tempdir_in(".").unwrap();
        if skip_if(!place::describe(dir.path()).unwrap().is_disk(), "an image file", "not on a disk") {
            return;
        }
        let path = dir.path().join("ramline-image");
        image_file(&path, Bytes::from_mib(2)).unwrap();
        let meta = std::fs::metadata(&path).unwrap();
        assert!(meta.len() == 2 << 20 && meta.blocks() * 512 >= 2 << 20);
        assert_eq!(image_file(&path, Bytes::from_mib(1)).unwrap_err().errno(), Some(libc::EEXIST));
        assert!(image_file(&dir.path().join("huge"), Bytes(u64::MAX / 4)).unwrap_err().is_refused());
    }

    #[test]
    fn an_unnamed_file_leaves_its_directory_empty() {
        let dir = tempfile::tempdir_in(".").unwrap();
        let mut file = unnamed_file(dir.path()).unwrap();
        file.write_all(b"x").unwrap();
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);
        assert!(unnamed_file(&dir.path().join("missing")).unwrap_err().is_absent());
    }

    #[test]
    fn direct_writes_reach_the_file_and_direct_io_can_be_switched_off_again() {
        use crate::direct::Buffer;
        use std::os::unix::fs::FileExt;
        let file = unnamed_file(".".as_ref()).unwrap();
        let probe = tempfile::NamedTempFile::new_in(".").unwrap();
        if skip_if(!opens_directly(probe.path()), "direct I/O switched on", "no direct I/O on this file system") {
            return;
        }
        set_direct(&file, ".".as_ref(), true).unwrap();
        let mut page = Buffer::new(4096).unwrap();
        page.bytes_mut().fill(5);
        file.write_all_at(page.bytes(), 0).unwrap();
        assert_eq!(crate::residency::count(&file, ".".as_ref()).unwrap().cached, 0);
        set_direct(&file, ".".as_ref(), false).unwrap();
        // Not aligned: only possible without direct I/O.
        let mut odd = [0u8; 3];
        file.read_exact_at(&mut odd, 1001).unwrap();
        assert_eq!(odd, [5; 3]);
    }
}
