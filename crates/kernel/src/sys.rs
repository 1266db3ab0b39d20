//! Small helpers around system calls that several modules share. Not public.

#![expect(unsafe_code, reason = "the thin layer over libc")]

use std::ffi::{CStr, CString};
use std::io;
use std::os::fd::{BorrowedFd, FromRawFd};
use std::os::unix::ffi::OsStrExt;

use ramline_units::Nanos;
use rustix::fs::{Access, AtFlags, CWD, accessat};
use rustix::time::{ClockId, clock_gettime};

use crate::prelude::*;

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

/// Where [`fnv1a`] begins.
pub const FNV1A: u64 = 0xcbf2_9ce4_8422_2325;

/// Fowler, Noll and Vo's hash of 64 bits (FNV-1a), gone on with from `hash`.
#[must_use]
pub fn fnv1a(hash: u64, bytes: &[u8]) -> u64 {
    bytes.iter().fold(hash, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3))
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
pub unsafe fn ioctl_with<T>(file: &impl AsRawFd, request: libc::Ioctl, argument: &mut T) -> io::Result<libc::c_int> {
    // SAFETY: the caller vouches for the type; the reference is valid for the whole call.
    check(unsafe { libc::ioctl(file.as_raw_fd(), request, std::ptr::from_mut(argument)) })
}

/// -1 to the error of the last call.
pub fn check(result: libc::c_int) -> io::Result<libc::c_int> {
    if result == -1 { Err(io::Error::last_os_error()) } else { Ok(result) }
}

/// What a system call says that makes a descriptor.
///
/// # Safety
/// `result` must come from such a call, and the descriptor have no other owner.
pub unsafe fn new_fd(result: libc::c_long) -> io::Result<OwnedFd> {
    let fd = check(libc::c_int::try_from(result).unwrap_or(-1))?;
    // SAFETY: the caller vouches for it.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
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

/// Removes a directory of the kernel's, which may be busy for up to 2 s; gone already is success.
pub fn remove_dir(tried: &str, dir: &Path) -> Result<()> {
    retry_busy(Duration::from_secs(2), || match std::fs::remove_dir(dir) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        other => other.tried(tried, dir),
    })
}

/// The size in bytes of a file or block device.
pub fn size_of_target(file: &File, path: &Path) -> Result<u64> {
    size_of_fd(file.as_fd()).tried("size", path)
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
    unsafe { ioctl_with(&file, BLKGETSIZE64, &mut size) }?;
    Ok(size)
}

/// An extended attribute of a file as text; `None` when it has none of that name, or the file system keeps none.
pub fn attribute(path: &Path, name: &CStr) -> Option<String> {
    let mut text = [0u8; 64];
    let length = rustix::fs::getxattr(path, name, &mut text).ok()?;
    Some(String::from_utf8_lossy(text.get(..length)?).into_owned())
}

/// Whether files may be made in a directory, or a file written to, by who we are in effect.
pub fn is_writable(path: &Path) -> bool {
    let mode = if path.is_dir() { Access::WRITE_OK | Access::EXEC_OK } else { Access::WRITE_OK };
    accessat(CWD, path, mode, AtFlags::EACCESS).is_ok()
}

/// CLOCK_MONOTONIC: comparable between processes of one boot.
#[must_use]
pub fn monotonic() -> Nanos {
    nanos_of(ClockId::Monotonic)
}

/// CLOCK_BOOTTIME: time since boot, suspended time included.
#[must_use]
pub fn boottime() -> Nanos {
    nanos_of(ClockId::Boottime)
}

fn nanos_of(clock: ClockId) -> Nanos {
    let time = clock_gettime(clock);
    let part = |value| u64::try_from(value).unwrap_or_default();
    Nanos(part(time.tv_sec).saturating_mul(1_000_000_000).saturating_add(part(time.tv_nsec)))
}

/// Writes back a directory entry after creating, renaming or removing in it.
///
/// # Errors
/// When the directory cannot be opened or synced.
pub fn sync_dir(dir: &Path) -> Result<()> {
    File::open(dir).and_then(|file| file.sync_all()).tried("sync", dir)
}

/// Gives a symbolic link itself, not what it leads to, its owner and the time of its last change, in nanoseconds since 1970.
///
/// # Errors
/// When the file system or the user may not.
pub fn restore_link(link: &Path, uid: u32, gid: u32, mtime_ns: i64) -> Result<()> {
    let tried = "put back the owner and time of the link";
    std::os::unix::fs::lchown(link, Some(uid), Some(gid)).tried(tried, link)?;
    let modified = rustix::fs::Timespec {
        tv_sec: mtime_ns.div_euclid(1_000_000_000),
        tv_nsec: mtime_ns.rem_euclid(1_000_000_000),
    };
    let now = rustix::fs::Timespec { tv_sec: 0, tv_nsec: rustix::fs::UTIME_NOW };
    let times = rustix::fs::Timestamps { last_access: now, last_modification: modified };
    rustix::fs::utimensat(CWD, link, &times, AtFlags::SYMLINK_NOFOLLOW).tried(tried, link)
}

/// Writes back everything dirty of the file system that `dir` is on and waits for it (syncfs).
///
/// # Errors
/// When the directory cannot be opened or writing back fails.
pub fn sync_file_system(dir: &Path) -> Result<()> {
    let tried = "sync the file system of";
    rustix::fs::syncfs(File::open(dir).tried(tried, dir)?).tried(tried, dir)
}
