//! Small helpers around system calls that several modules share. Not public.

#![expect(unsafe_code, reason = "the thin layer over libc")]

use std::ffi::{CStr, CString};
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, RawFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::time::{Duration, Instant};

use crate::error::{KernelError, Result};

/// The path as C wants it; a NUL byte inside is an error of ours, not undefined behaviour.
pub fn c_path(operation: &str, path: &Path) -> Result<CString> {
    CString::new(path.as_os_str().as_bytes())
        .map_err(|_| KernelError::io(operation, path, io::Error::from_raw_os_error(libc::EINVAL)))
}

/// The size of a page of this machine in bytes.
#[must_use]
pub fn page_size() -> u64 {
    u64::try_from(rustix::param::page_size()).unwrap_or(4096)
}

/// ioctl with an integer argument.
pub fn ioctl_int(file: &impl AsRawFd, request: libc::Ioctl, argument: libc::c_ulong) -> io::Result<libc::c_int> {
    // SAFETY: the requests of this crate that come here take an integer and touch no memory of ours.
    check(unsafe { libc::ioctl(file.as_raw_fd(), request, argument) })
}

/// ioctl that reads or writes one value of `T`.
///
/// # Safety
/// `T` must be the type the kernel documents for `request`, `repr(C)` and valid for any bits.
pub unsafe fn ioctl_with<T>(file: &File, request: libc::Ioctl, argument: &mut T) -> io::Result<libc::c_int> {
    // SAFETY: the caller vouches for the type; the reference is valid for the whole call.
    check(unsafe { libc::ioctl(file.as_raw_fd(), request, std::ptr::from_mut(argument)) })
}

/// -1 to the error of the last call.
pub fn check(result: libc::c_int) -> io::Result<libc::c_int> {
    if result == -1 { Err(io::Error::last_os_error()) } else { Ok(result) }
}

/// Calls `attempt` until it is not busy any more or `limit` has passed; the last error is returned.
pub fn retry_busy<T>(limit: Duration, mut attempt: impl FnMut() -> Result<T>) -> Result<T> {
    let start = Instant::now();
    loop {
        match attempt() {
            Err(error) if error.is_busy() && start.elapsed() < limit => std::thread::sleep(Duration::from_millis(20)),
            other => return other,
        }
    }
}

/// A usable offset for the calls that take a signed one.
pub fn offset(value: u64) -> io::Result<libc::off_t> {
    libc::off_t::try_from(value).map_err(|_| io::Error::from_raw_os_error(libc::EOVERFLOW))
}

/// True when `fd` is a block device.
pub fn is_block_device(file: &File) -> bool {
    use std::os::unix::fs::FileTypeExt;
    file.metadata().is_ok_and(|meta| meta.file_type().is_block_device())
}

/// The size in bytes of a file or block device.
pub fn size_of_target(file: &File, path: &Path) -> Result<u64> {
    size_of_fd(file.as_fd()).map_err(|error| KernelError::io("size", path, error))
}

/// The same by descriptor.
pub fn size_of_fd(file: BorrowedFd<'_>) -> io::Result<u64> {
    const BLKGETSIZE64: libc::Ioctl = 0x8008_1272;
    let stat = rustix::fs::fstat(file)?;
    if rustix::fs::FileType::from_raw_mode(stat.st_mode) != rustix::fs::FileType::BlockDevice {
        return Ok(u64::try_from(stat.st_size).unwrap_or(0));
    }
    let mut size = 0u64;
    // SAFETY: BLKGETSIZE64 (linux/fs.h) writes one u64.
    check(unsafe { libc::ioctl(file.as_raw_fd(), BLKGETSIZE64, &raw mut size) })?;
    Ok(size)
}

/// An extended attribute of a file as text; `None` when it has none of that name, or the file system keeps none.
pub fn attribute(path: &Path, name: &CStr) -> Option<String> {
    let path = c_path("look at", path).ok()?;
    let mut text = [0u8; 64];
    // SAFETY: both strings end in NUL, and no more is written than the buffer holds.
    let length = unsafe { libc::getxattr(path.as_ptr(), name.as_ptr(), text.as_mut_ptr().cast(), text.len()) };
    let length = usize::try_from(length).ok()?;
    Some(String::from_utf8_lossy(text.get(..length)?).into_owned())
}

/// Whether files may be made in a directory, or a file written to, by who we are in effect.
pub fn is_writable(path: &Path) -> bool {
    let Ok(name) = c_path("look at", path) else { return false };
    let mode = if path.is_dir() { libc::W_OK | libc::X_OK } else { libc::W_OK };
    // SAFETY: the string ends in NUL; faccessat touches no other memory of ours.
    unsafe { libc::faccessat(libc::AT_FDCWD, name.as_ptr(), mode, libc::AT_EACCESS) == 0 }
}

/// fsync-like advice on a range of the page cache.
pub fn fadvise(fd: RawFd, start: u64, len: u64, advice: libc::c_int) -> io::Result<()> {
    // SAFETY: posix_fadvise touches no memory of ours; a bad descriptor is an error.
    let result = unsafe { libc::posix_fadvise(fd, offset(start)?, offset(len)?, advice) };
    if result == 0 { Ok(()) } else { Err(io::Error::from_raw_os_error(result)) }
}
